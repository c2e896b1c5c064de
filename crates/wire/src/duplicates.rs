//! Finds duplicate keys, in time linear in the number of keys.

use std::collections::HashSet;

/// Comparing a few keys is cheaper than hashing them.
const FEW: usize = 8;

/// The index of the first duplicate key.
pub(crate) fn first_duplicate<'a>(keys: &[&'a str]) -> Option<usize> {
    if keys.len() <= FEW {
        return (1..keys.len()).find(|it| keys[..*it].contains(&keys[*it]));
    }
    let mut seen: HashSet<&'a str> = HashSet::with_capacity(keys.len());
    keys.iter().position(|it| !seen.insert(it))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_second_of_two_is_found_among_few_and_among_many() {
        assert_eq!(first_duplicate(&[]), None);
        assert_eq!(first_duplicate(&["a", "b", "a", "b"]), Some(2));
        let many: Vec<String> = (0..100).map(|it| it.to_string()).collect();
        let mut many: Vec<&str> = many.iter().map(String::as_str).collect();
        assert_eq!(first_duplicate(&many), None);
        many.push("7");
        assert_eq!(first_duplicate(&many), Some(100));
    }
}
