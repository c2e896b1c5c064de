//! What the rules read: the files of the repository, as text.

use std::fs;
use std::io::ErrorKind;

use anyhow::{Context, Result};

use crate::{git, project_root};

/// A text file of the repository.
pub(crate) struct File {
    /// From the root of the repository, with `/` between the parts.
    pub(crate) path: String,
    pub(crate) text: String,
}

impl File {
    pub(super) fn name(&self) -> &str {
        self.path.rsplit('/').next().unwrap_or(&self.path)
    }

    pub(super) fn text_before_tests(&self) -> &str {
        let tests = self.text.find("\n#[cfg(test)]\nmod tests {");
        tests.map_or(&self.text, |end| &self.text[..end])
    }

    /// The lines before the unit tests, with their numbers.
    pub(crate) fn lines_before_tests(&self) -> impl Iterator<Item = (usize, &str)> {
        let n_lines = self.n_lines_before_tests();
        self.numbered_lines().take(n_lines)
    }

    /// The unit tests are an inline module at the end: `#[cfg(test)]` on anything else does not
    /// end the code.
    pub(super) fn n_lines_before_tests(&self) -> usize {
        let lines: Vec<&str> = self.text.lines().collect();
        let tests = lines.windows(2).position(|pair| {
            pair[0] == "#[cfg(test)]" && pair[1].starts_with("mod ") && pair[1].ends_with('{')
        });
        tests.unwrap_or(lines.len())
    }

    pub(super) fn numbered_lines(&self) -> impl Iterator<Item = (usize, &str)> {
        self.text.lines().enumerate().map(|(i, line)| (i + 1, line))
    }
}

/// The Rust files of the crates and of xtask.
pub(super) fn rust_files() -> Result<Vec<File>> {
    let mut paths = walk("crates")?;
    paths.extend(walk("xtask")?);
    paths.retain(|it| it.ends_with(".rs"));
    read_all(paths)
}

/// Every text file that git would keep. Without git, as in an unpacked archive, every text file.
pub(super) fn kept_files() -> Result<Vec<File>> {
    let paths = match ask_git() {
        Some(paths) => paths,
        None => walk("")?,
    };
    read_all(paths)
}

/// The text of one file; none when there is no such file, or it is not text.
pub(super) fn read(path: &str) -> Result<Option<String>> {
    match fs::read(project_root().join(path)) {
        Ok(bytes) => Ok(String::from_utf8(bytes).ok()),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error).with_context(|| format!("cannot read {path}")),
    }
}

/// The names of what is in a directory, sorted; none when there is no such directory.
pub(super) fn names_in(dir: &str) -> Result<Vec<String>> {
    let path = project_root().join(dir);
    if !path.is_dir() {
        return Ok(Vec::new());
    }
    let mut names = Vec::new();
    for entry in fs::read_dir(&path).with_context(|| format!("cannot list {dir}"))? {
        names.push(entry?.file_name().to_string_lossy().into_owned());
    }
    names.sort();
    Ok(names)
}

pub(super) fn is_dir(path: &str) -> bool {
    project_root().join(path).is_dir()
}

fn walk(dir: &str) -> Result<Vec<String>> {
    const NOT_OURS: &[&str] = &[".git", "node_modules", "target"];
    let mut paths = Vec::new();
    for name in names_in(dir)? {
        let path = if dir.is_empty() { name.clone() } else { format!("{dir}/{name}") };
        if !is_dir(&path) {
            paths.push(path);
        } else if !NOT_OURS.contains(&name.as_str()) {
            paths.extend(walk(&path)?);
        }
    }
    Ok(paths)
}

/// Files not yet added count too: a rule should speak before the commit, not after it.
fn ask_git() -> Option<Vec<String>> {
    let paths = git::read(&["ls-files", "-z", "--cached", "--others", "--exclude-standard"])?;
    Some(paths.split_terminator('\0').map(str::to_owned).collect())
}

/// Leaves out what is not text, and what git still lists although it is gone.
fn read_all(paths: Vec<String>) -> Result<Vec<File>> {
    let mut files = Vec::new();
    for path in paths {
        if is_dir(&path) {
            continue;
        }
        if let Some(text) = read(&path)? {
            files.push(File { path, text });
        }
    }
    Ok(files)
}

#[cfg(test)]
pub(crate) fn file(path: &str, text: &str) -> File {
    File { path: path.to_owned(), text: text.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check_lines_before_tests(text: &str, expected: usize) {
        assert_eq!(file("a.rs", text).n_lines_before_tests(), expected);
    }

    #[test]
    fn code_ends_where_the_module_of_unit_tests_begins() {
        check_lines_before_tests("one\ntwo\n", 2);
        check_lines_before_tests("one\n#[cfg(test)]\nmod tests {\n}\n", 1);
        check_lines_before_tests("#[cfg(test)]\nmod tests;\ntwo\n", 3);
        check_lines_before_tests("#[cfg(test)]\nuse std::fmt;\n", 2);
    }

    #[test]
    fn the_files_of_the_repository_are_found() {
        let this_file = "xtask/src/tidy/project.rs";
        assert!(rust_files().unwrap().iter().any(|it| it.path == this_file));
        assert!(kept_files().unwrap().iter().any(|it| it.path == this_file));
        assert!(walk("").unwrap().iter().any(|it| it == this_file));
    }
}
