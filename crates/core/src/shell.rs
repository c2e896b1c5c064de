//! Quoting of names for a shell.

/// A name in the form that a shell accepts: quoted where necessary.
pub fn shell_word(name: &str) -> String {
    let is_plain = |it: char| it.is_ascii_alphanumeric() || "._:/@+-".contains(it);
    if name.chars().all(is_plain) && !name.starts_with('-') {
        return name.to_owned();
    }
    let quoted = format!("'{}'", name.replace('\'', "'\\''"));
    if name.starts_with('-') { format!("-- {quoted}") } else { quoted }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_quoted_where_a_shell_would_take_it_apart() {
        for (name, typed) in [
            ("v0.1:1.1.1", "v0.1:1.1.1"),
            ("s 1", "'s 1'"),
            ("it's", "'it'\\''s'"),
            ("a;b", "'a;b'"),
            ("-x", "-- '-x'"),
        ] {
            assert_eq!(shell_word(name), typed);
        }
    }
}
