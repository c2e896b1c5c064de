//! Worst-case documents: texts that are made to cost a reader, a rule or a printer more than their
//! size. Tests hold every one of them to linear time, and `cargo xtask bench hostile` sends them.
//!
//! A pattern belongs here once it is known, whether or not it ever did harm.

mod cpu;
mod documents;
mod output;
mod texts;
mod xml;
mod yaml;

pub use cpu::{Growth, Steep, growth};

/// What reads a pattern.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum PatternTarget {
    Json,
    Xml,
    Yaml,
    Markdown,
    /// What an agent printed, with a handoff somewhere in it.
    Output,
    /// A text inside a document: a value, a key, a title. Every rule and printer sees it.
    Text,
}

/// A way to make a text of any size that is as hard on its reader as can be.
#[derive(Debug, Clone, Copy)]
pub struct Pattern {
    pub name: &'static str,
    pub target: PatternTarget,
    make: fn(usize) -> String,
}

impl Pattern {
    /// The pattern with about `n_bytes`, and never more.
    pub fn text(&self, n_bytes: usize) -> String {
        let mut text = (self.make)(n_bytes);
        // Only what has to be whole is made to measure; the rest may be cut anywhere.
        text.truncate(text.floor_char_boundary(n_bytes));
        text
    }
}

/// Every pattern that is known, the two that once stopped a server first.
pub fn patterns() -> Vec<Pattern> {
    let mut all = vec![xml::ATTRIBUTES_AND_KEYS, texts::BEGINNINGS_OF_KEYS];
    all.extend(xml::patterns());
    all.extend(yaml::patterns());
    all.extend(documents::patterns());
    all.extend(output::patterns());
    all.extend(texts::patterns());
    all
}

/// The patterns for one reader.
pub fn patterns_for(target: PatternTarget) -> Vec<Pattern> {
    patterns().into_iter().filter(|it| it.target == target).collect()
}

/// A text as a string of JSON.
pub fn quoted(text: &str) -> String {
    let mut quoted = String::with_capacity(text.len() + 2);
    quoted.push('"');
    for it in text.chars() {
        match it {
            '"' | '\\' => quoted.extend(['\\', it]),
            '\n' => quoted.push_str("\\n"),
            it if (it as u32) < 0x20 => quoted.push_str(&format!("\\u{:04x}", it as u32)),
            it => quoted.push(it),
        }
    }
    quoted.push('"');
    quoted
}

/// `unit` over and over, with `n_bytes` at most.
fn repeat(unit: &str, n_bytes: usize) -> String {
    unit.repeat(n_bytes / unit.len())
}

/// `part(0)`, `part(1)` and so on between two ends, as many as fit in `n_bytes`.
fn series(head: &str, part: impl Fn(usize) -> String, tail: &str, n_bytes: usize) -> String {
    let mut text = head.to_owned();
    for index in 0.. {
        let part = part(index);
        if part.is_empty() || text.len() + part.len() + tail.len() > n_bytes {
            break;
        }
        text.push_str(&part);
    }
    text + tail
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn there_are_many_patterns_and_each_has_its_own_name() {
        let all = patterns();
        assert!(all.len() >= 150, "{}", all.len());
        let names: HashSet<(&str, PatternTarget)> =
            all.iter().map(|it| (it.name, it.target)).collect();
        assert_eq!(names.len(), all.len());
    }

    #[test]
    fn a_pattern_has_the_size_that_is_asked_for() {
        for pattern in patterns() {
            for n_bytes in [4096, 65_536] {
                let length = pattern.text(n_bytes).len();
                assert!(length <= n_bytes, "{}: {length}", pattern.name);
                assert!(length * 2 > n_bytes, "{}: {length} of {n_bytes}", pattern.name);
            }
        }
    }
}
