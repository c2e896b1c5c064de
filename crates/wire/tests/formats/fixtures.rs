//! The printed examples, as files.

use std::path::{Path, PathBuf};

use baton_core::document::Node;
use baton_wire::formats::{self, Format};

pub(crate) struct Fixture {
    /// Such as `xml/error.xml`.
    pub(crate) name: String,
    pub(crate) format: Format,
    pub(crate) text: String,
}

impl Fixture {
    #[track_caller]
    pub(crate) fn document(&self) -> Node {
        match formats::decode(self.format, &self.text) {
            Ok(document) => document,
            Err(error) => panic!("{}: {error}", self.name),
        }
    }
}

/// All of them, in the order of their names.
pub(crate) fn all() -> Vec<Fixture> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures");
    let mut paths = Vec::new();
    for folder in files_in(&root).into_iter().filter(|it| it.is_dir()) {
        paths.extend(files_in(&folder));
    }
    let fixture = |path: &PathBuf| {
        let extension = path.extension().unwrap().to_str().unwrap();
        Fixture {
            name: path.strip_prefix(&root).unwrap().to_str().unwrap().to_owned(),
            format: Format::parse(extension).unwrap(),
            text: std::fs::read_to_string(path).unwrap(),
        }
    };
    let fixtures: Vec<Fixture> = paths.iter().map(fixture).collect();
    assert!(fixtures.len() > 30, "the fixtures are not where they should be");
    fixtures
}

fn files_in(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).unwrap();
    let mut paths: Vec<PathBuf> = entries.map(|it| it.unwrap().path()).collect();
    paths.sort();
    paths
}
