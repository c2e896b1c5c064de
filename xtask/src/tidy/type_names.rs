//! A type that is found by its name is found once.

use std::collections::BTreeMap;

use anyhow::Result;

use super::project::{self, File};

pub(super) fn check() -> Result<Vec<String>> {
    let files = project::rust_files()?;
    Ok(problems(files.iter().filter(|it| is_product(&it.path))))
}

/// The sources of the crates, without their tests and without the suite for stores.
fn is_product(path: &str) -> bool {
    let is_test = path.contains("/tests/") || path.ends_with("/tests.rs");
    path.starts_with("crates/")
        && path.contains("/src/")
        && !path.starts_with("crates/store-tests/")
        && !is_test
}

fn problems<'a>(files: impl Iterator<Item = &'a File>) -> Vec<String> {
    let mut places: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for file in files {
        for (number, line) in file.lines_before_tests() {
            if let Some(name) = declared(line) {
                places.entry(name).or_default().push(format!("{}:{number}", file.path));
            }
        }
    }
    let repeated = places.into_iter().filter(|(_, places)| places.len() > 1);
    repeated
        .map(|(name, places)| {
            format!("`{name}` is declared more than once: {}; say what each is", places.join(", "))
        })
        .collect()
}

/// The name of the struct, enum or trait that a line declares.
fn declared(line: &str) -> Option<&str> {
    let line = line.trim_start();
    let line = match line.strip_prefix("pub") {
        Some(rest) if rest.starts_with('(') => rest.split_once(')')?.1.trim_start(),
        Some(rest) => rest.strip_prefix(' ')?,
        None => line,
    };
    let name = ["struct ", "enum ", "trait "].iter().find_map(|it| line.strip_prefix(it))?;
    name.split(|it: char| !it.is_alphanumeric() && it != '_').next().filter(|it| !it.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::project::file;

    #[test]
    fn no_type_has_the_name_of_another() {
        crate::tidy::assert_holds(check);
    }

    #[test]
    fn what_declares_a_type_is_seen() {
        for (line, expected) in [
            ("pub struct Run {", Some("Run")),
            ("    pub(crate) enum Way<'a> {", Some("Way")),
            ("trait Work: Send {", Some("Work")),
            ("pub(in crate::a) struct At(u8);", Some("At")),
            ("/// A struct of two.", None),
            ("let structure = 1;", None),
            ("impl Trait for Run {", None),
            ("public struct", None),
        ] {
            assert_eq!(declared(line), expected, "{line}");
        }
    }

    #[test]
    fn the_second_one_is_named_with_its_place() {
        let files = [
            file("crates/a/src/a.rs", "struct Run;\nstruct Other;\n"),
            file(
                "crates/b/src/b.rs",
                "\nenum Run {}\n#[cfg(test)]\nmod tests {\nstruct Other;\n}\n",
            ),
        ];
        let expected = "`Run` is declared more than once: crates/a/src/a.rs:1, crates/b/src/b.rs:2; \
                        say what each is";
        assert_eq!(problems(files.iter()), [expected]);
        assert!(is_product("crates/core/src/run.rs"));
        for path in
            ["crates/core/src/run/tests.rs", "crates/core/tests/it/run.rs", "xtask/src/a.rs"]
        {
            assert!(!is_product(path), "{path}");
        }
    }
}
