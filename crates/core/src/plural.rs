//! Numbers of things in messages: `1 run`, `2 runs`.

/// A number of things whose name takes an `s`.
pub fn counted(n: u64, what: &str) -> String {
    counted_as(n, what, &format!("{what}s"))
}

/// A number of things, with the names of one and of several.
pub fn counted_as(n: u64, one: &str, several: &str) -> String {
    if n == 1 { format!("1 {one}") } else { format!("{n} {several}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_is_singular_and_none_is_not() {
        assert_eq!(counted(0, "run"), "0 runs");
        assert_eq!(counted(1, "earlier handoff"), "1 earlier handoff");
        assert_eq!(counted(2, "run"), "2 runs");
        assert_eq!(counted_as(1, "story waits", "stories wait"), "1 story waits");
        assert_eq!(counted_as(3, "story waits", "stories wait"), "3 stories wait");
    }
}
