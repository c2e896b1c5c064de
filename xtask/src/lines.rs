//! `cargo xtask lines`: how large the product is. A product line is a line of a Rust file in `crates/*/src` that is
//! not a test: modules under `#[cfg(test)]` are left out, inline ones and those with files of their own, and so are
//! the crates that no released binary contains. Comments and blank lines are in `lines`, and not in `code`.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::AddAssign;

use anyhow::{Context, Result, ensure};

use crate::git::git;
use crate::tidy::project::File;

/// Suites, worst-case documents and the load generator.
const NOT_PRODUCT: &[&str] = &["hostile", "load", "store-tests"];

/// `--at COMMIT` counts the files of a commit instead of those in the working tree.
pub(crate) fn run(args: &[&str]) -> Result<()> {
    let commit = match args {
        [] => None,
        ["--at", commit] => Some(*commit),
        other => {
            anyhow::bail!("`cargo xtask lines` takes `--at COMMIT`, not `{}`", other.join(" "))
        }
    };
    print!("{}", table(&count(&sources(commit)?)));
    Ok(())
}

#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Size {
    lines: usize,
    code: usize,
}

impl AddAssign for Size {
    fn add_assign(&mut self, other: Self) {
        self.lines += other.lines;
        self.code += other.code;
    }
}

/// The Rust sources of the crates, read with one call of git. Files that were not added yet count too.
fn sources(commit: Option<&str>) -> Result<Vec<File>> {
    let which = commit.unwrap_or("--untracked");
    let args = ["grep", "--null", "-I", "-e", "", which, "--", "crates/*/src/*.rs"];
    let output = git(&args).output().context("git could not be started")?;
    ensure!(output.status.success(), "`git grep`: {}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout).context("a source is not UTF-8")?;

    let mut files: Vec<File> = Vec::new();
    for (path, line) in text.lines().filter_map(|it| it.split_once('\0')) {
        let path = path.split_once(':').map_or(path, |(_, path)| path);
        if files.last().is_none_or(|it| it.path != path) {
            files.push(File { path: path.to_owned(), text: String::new() });
        }
        if let Some(file) = files.last_mut() {
            file.text.push_str(line);
            file.text.push('\n');
        }
    }
    Ok(files)
}

/// Product lines by crate.
fn count(files: &[File]) -> BTreeMap<&str, Size> {
    let tests: BTreeSet<String> = files.iter().flat_map(test_modules).collect();
    let is_test = |path: &str| {
        let module = path.trim_end_matches(".rs");
        tests.iter().any(|it| {
            module.strip_prefix(it.as_str()).is_some_and(|it| it.is_empty() || it.starts_with('/'))
        })
    };
    let mut crates = BTreeMap::new();
    for file in files.iter().filter(|it| !is_test(&it.path)) {
        let Some(name) = file.path.split('/').nth(1) else { continue };
        let size = crates.entry(name).or_insert(Size::default());
        for (_, line) in file.lines_before_tests() {
            let is_code = !line.trim().is_empty() && !line.trim_start().starts_with("//");
            *size += Size { lines: 1, code: usize::from(is_code) };
        }
    }
    crates
}

/// The modules that a file declares under `#[cfg(test)]`, as paths without `.rs`.
fn test_modules(file: &File) -> Vec<String> {
    let stem = file.path.trim_end_matches(".rs");
    let (folder, name) = stem.rsplit_once('/').unwrap_or(("", stem));
    let folder = if matches!(name, "lib" | "main") { folder } else { stem };
    let lines: Vec<&str> = file.text.lines().collect();
    lines
        .windows(2)
        .filter(|pair| pair[0].trim() == "#[cfg(test)]")
        .filter_map(|pair| pair[1].trim().strip_suffix(';')?.rsplit_once("mod "))
        .map(|(_, module)| format!("{folder}/{module}"))
        .collect()
}

fn table(crates: &BTreeMap<&str, Size>) -> String {
    let mut total = Size::default();
    let mut rows = String::from("crate             lines      code\n");
    let mut row = |name: &str, size: Size| {
        rows.push_str(&format!("{name:<14} {:>8}  {:>8}\n", size.lines, size.code));
    };
    for (name, size) in crates.iter().filter(|(name, _)| !NOT_PRODUCT.contains(name)) {
        row(name, *size);
        total += *size;
    }
    row("product", total);
    for (name, size) in crates.iter().filter(|(name, _)| NOT_PRODUCT.contains(name)) {
        row(&format!("({name})"), *size);
    }
    rows
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::project::file;

    #[test]
    fn tests_and_crates_for_tests_are_not_product() {
        let files = [
            file("crates/core/src/lib.rs", "mod a;\n\n// Why.\n#[cfg(test)]\nmod checks;\n"),
            file("crates/core/src/checks.rs", "fn one() {}\n"),
            file("crates/core/src/checks/more.rs", "fn two() {}\n"),
            file("crates/core/src/a.rs", "fn a() {}\n#[cfg(test)]\nmod tests {\n}\n"),
            file("crates/core/src/checks_of_files.rs", "fn b() {}\n"),
            file("crates/load/src/main.rs", "fn main() {}\n"),
        ];
        let expected = "\
crate             lines      code
core                  7         5
product               7         5
(load)                1         1
";
        assert_eq!(table(&count(&files)), expected);
    }

    #[test]
    fn a_commit_is_counted_like_the_working_tree() {
        let now = sources(None).unwrap();
        assert!(now.iter().any(|it| it.path == "crates/core/src/lib.rs"));
        let Ok(committed) = sources(Some("HEAD")) else { return };
        assert!(committed.iter().any(|it| it.path == "crates/core/src/lib.rs"));
    }
}
