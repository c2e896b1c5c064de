//! Which files of a project the words of a command name: whole, as a part of a word, by a pattern, or behind
//! the shell's own name of the folder. Whatever else a program finds in its workspace is not looked for.

use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::path::{Component, Path, PathBuf};

use baton_core::hash::Hash;
use baton_files::{Dir, FileError};

use super::commands::programs;
use super::{MOST_PROGRAM_BYTES, NO_TRUST};

/// A pattern that means more files than anyone reads before they allow them.
#[derive(Debug, thiserror::Error)]
#[error("it means more than {MOST_MATCHES} files; name them, or their folder")]
pub(super) struct TooManyMatches {
    pub(super) pattern: String,
}

const MOST_MATCHES: usize = 200;

/// The hash of a file of the project, or why it has none.
pub(super) fn file_hash(dir: &Dir, path: &Path) -> String {
    match dir.read(path, MOST_PROGRAM_BYTES) {
        Ok(bytes) => format!("sha256:{}", Hash::of(&bytes)),
        Err(error) => format!("{NO_TRUST}: {error}"),
    }
}

/// What a word is to a project.
pub(super) enum NamedPath {
    /// A regular file.
    File(PathBuf),
    /// A link, or something behind one: it could be another file tomorrow.
    Unsafe(PathBuf),
    Other,
}

pub(super) fn named(project: &Dir, word: &str) -> NamedPath {
    let Some(path) = path_inside(project, word) else { return NamedPath::Other };
    match project.entry(&path) {
        Ok(Some(entry)) if entry.is_file() => NamedPath::File(path),
        Ok(Some(entry)) if entry.is_folder() => NamedPath::Other,
        Ok(Some(_)) => NamedPath::Unsafe(path),
        Ok(None) => NamedPath::Other,
        Err(FileError::Link { .. }) => NamedPath::Unsafe(path),
        Err(_) => NamedPath::Other,
    }
}

/// A word as a path below the project, if it can be one: `./a`, `b/../a` and the absolute path too.
pub(super) fn path_inside(project: &Dir, word: &str) -> Option<PathBuf> {
    if word.is_empty() || word.starts_with('-') {
        return None;
    }
    let word = Path::new(word);
    let word = match project.real_path() {
        Ok(root) if word.is_absolute() => word.strip_prefix(root).ok()?.to_owned(),
        Ok(_) | Err(_) => word.to_owned(),
    };
    let mut path = PathBuf::new();
    for part in word.components() {
        match part {
            Component::CurDir => {}
            Component::Normal(name) => path.push(name),
            Component::ParentDir if path.pop() => {}
            Component::ParentDir | Component::RootDir | Component::Prefix(_) => return None,
        }
    }
    (!path.as_os_str().is_empty()).then_some(path)
}

/// Every file of the project that these words name, whole or as a part: `--config=tools/a`,
/// `sh -c "tools/a; tools/b"`, `$PWD/tools/a`, `tools/*.sh`.
pub(super) fn named_files(
    project: &Dir,
    words: &[String],
) -> Result<BTreeSet<PathBuf>, TooManyMatches> {
    let mut files = matching_files(project, words)?;
    for part in words.iter().flat_map(|word| parts(word)) {
        for name in [Some(part), part.strip_prefix('/'), part.strip_prefix("PWD/")] {
            match name.map(|it| named(project, it)) {
                Some(NamedPath::File(path) | NamedPath::Unsafe(path)) => {
                    files.insert(path);
                }
                Some(NamedPath::Other) | None => {}
            }
        }
    }
    Ok(files)
}

/// A word, and what a shell or a program may find in it.
pub(super) fn parts(word: &str) -> impl Iterator<Item = &str> {
    let is_border = |it: char| it.is_whitespace() || ";&|()<>\"'`$=,:{}[]@".contains(it);
    std::iter::once(word).chain(word.split(is_border).filter(move |it| it.len() < word.len()))
}

/// The words within a line for a shell, or within code.
pub(super) fn words_within(words: &[String]) -> Vec<String> {
    let is_border = |it: char| it.is_whitespace() || ";&|()<>\"'`$=,:{}[]@".contains(it);
    let within = words.iter().flat_map(|word| word.split(is_border));
    within.filter(|it| !it.is_empty()).map(str::to_owned).collect()
}

/// The parts of a word whose meaning is known only when the program has started: by then it can be any
/// file.
pub(super) fn unknowable(word: &str) -> impl Iterator<Item = (&str, &'static str)> {
    const WHY: &str = "what it names is known only once it is started; write the path of the file";
    parts(word).filter(|it| leads_through_a_process(it)).map(|it| (it, WHY))
}

fn leads_through_a_process(part: &str) -> bool {
    if !part.starts_with('/') {
        return false;
    }
    let mut names: Vec<&str> = Vec::new();
    for name in part.split('/').filter(|it| !it.is_empty() && *it != ".") {
        if name == ".." {
            names.pop();
        } else {
            names.push(name);
        }
    }
    matches!(
        names.as_slice(),
        ["proc", _, "cwd" | "root" | "exe" | "fd" | "task" | "map_files", ..]
            | ["dev", "fd", ..]
            | ["dev", "stdin"]
    )
}

/// Every file that a shell would put in the place of a pattern. A bare `*` is no pattern here: it is in
/// calculations and regular expressions too.
pub(super) fn matching_files(
    dir: &Dir,
    words: &[String],
) -> Result<BTreeSet<PathBuf>, TooManyMatches> {
    let mut files = BTreeSet::new();
    for pattern in words.iter().flat_map(|word| patterns(word)) {
        let trimmed = pattern.strip_prefix("PWD/").unwrap_or(pattern).trim_start_matches('/');
        let absolute = path_inside(dir, pattern).filter(|_| pattern.starts_with('/'));
        let paths = [absolute, path_inside(dir, trimmed)];
        for path in paths.into_iter().flatten() {
            files.extend(matching(dir, &path));
        }
        if files.len() > MOST_MATCHES {
            return Err(TooManyMatches { pattern: pattern.to_owned() });
        }
    }
    Ok(files)
}

fn patterns(word: &str) -> impl Iterator<Item = &str> {
    let is_border = |it: char| it.is_whitespace() || ";&|()<>\"'`$=:@".contains(it);
    word.split(is_border).filter(|it| is_pattern(it) && !it.chars().all(|it| "*?".contains(it)))
}

fn is_pattern(text: &str) -> bool {
    let has_list = text.split_once('{').is_some_and(|(_, rest)| rest.contains(','));
    text.contains(['*', '?', '[']) || has_list
}

/// The files below a folder that a pattern means, as far as there are too many.
fn matching(dir: &Dir, pattern: &Path) -> Vec<PathBuf> {
    let mut found = vec![PathBuf::new()];
    for name in pattern.components().map(|it| it.as_os_str().to_string_lossy()) {
        let mut next = Vec::new();
        for folder in found {
            if !is_pattern(&name) {
                next.push(folder.join(&*name));
                continue;
            }
            let opened =
                if folder.as_os_str().is_empty() { dir.again() } else { dir.subdir(&folder) };
            let names = opened.and_then(|it| it.list()).unwrap_or_default().into_iter();
            let is_meant = |it: &OsStr| fits(&wildcards(&name), &it.to_string_lossy());
            next.extend(names.filter(|(it, _)| is_meant(it)).map(|(it, _)| folder.join(it)));
            if next.len() > MOST_MATCHES {
                break;
            }
        }
        found = next;
    }
    let is_there = |it: &PathBuf| match dir.entry(it) {
        Ok(Some(entry)) => !entry.is_folder(),
        Err(FileError::Link { .. }) => true,
        Ok(None) | Err(_) => false,
    };
    found.into_iter().filter(is_there).collect()
}

/// A pattern with `?` for each set of characters and `*` for each list: it means no less than before.
fn wildcards(pattern: &str) -> Vec<char> {
    let mut simple = Vec::new();
    let mut chars = pattern.chars();
    while let Some(it) = chars.next() {
        match it {
            '[' if chars.as_str().contains(']') => {
                chars.by_ref().find(|it| *it == ']');
                simple.push('?');
            }
            '{' if chars.as_str().contains('}') => {
                chars.by_ref().find(|it| *it == '}');
                simple.push('*');
            }
            it => simple.push(it),
        }
    }
    simple
}

/// Whether a name fits a pattern of `*` and `?`, in time linear in their product.
fn fits(pattern: &[char], name: &str) -> bool {
    let is_hidden = name.starts_with('.') && !pattern.starts_with(&['.']);
    let mut reached = vec![false; pattern.len() + 1];
    reached[0] = true;
    for n in 0..pattern.len() {
        reached[n + 1] = reached[n] && pattern[n] == '*';
    }
    for it in name.chars() {
        let mut next = vec![false; pattern.len() + 1];
        for (n, wanted) in pattern.iter().enumerate() {
            next[n + 1] = match wanted {
                '*' => next[n] || reached[n + 1],
                '?' => reached[n],
                wanted => reached[n] && *wanted == it,
            };
        }
        reached = next;
    }
    !is_hidden && reached[pattern.len()]
}

/// The path of a file of the project that a word of a command names as a whole. It is started from the
/// project: an agent could have changed the one in the workspace.
pub(crate) fn project_file(project: &Dir, word: &str) -> Option<PathBuf> {
    match named(project, word) {
        NamedPath::File(path) => Some(path),
        NamedPath::Unsafe(_) | NamedPath::Other => None,
    }
}

/// A command of the project as it is started in a workspace.
pub(crate) struct OwnCommand {
    pub(crate) words: Vec<OsString>,
    /// The programs that are the project's own. Every other file that the command names is the workspace's.
    pub(crate) programs: Vec<PathBuf>,
}

/// A command whose programs are the project's own: an agent could have changed those in the workspace.
pub(crate) fn own_command(project: &Dir, words: &[String]) -> OwnCommand {
    let places = programs(words);
    let mut own = OwnCommand { words: Vec::new(), programs: Vec::new() };
    for (at, word) in words.iter().enumerate() {
        let file = places.contains(&at).then(|| project_file(project, word)).flatten();
        own.words.push(match &file {
            Some(path) => project.path().join(path).into_os_string(),
            None => word.into(),
        });
        own.programs.extend(file);
    }
    own
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "tests make files of their own")]
mod tests {
    use super::*;

    #[test]
    fn only_files_inside_the_project_are_its_files() {
        let project = tempfile::tempdir().unwrap();
        std::fs::create_dir(project.path().join("tools")).unwrap();
        std::fs::write(project.path().join("tools/a"), "").unwrap();
        let dir = Dir::open(project.path()).unwrap();
        for (word, is_file) in [
            ("tools/a", true),
            ("./tools/a", true),
            ("tools/../tools//./a", true),
            ("tools/b", false),
            ("tools", false),
            ("../a", false),
            ("/etc/passwd", false),
            ("-c", false),
            ("", false),
        ] {
            assert_eq!(project_file(&dir, word).is_some(), is_file, "{word}");
        }
        let whole = project.path().canonicalize().unwrap().join("tools/a");
        assert!(project_file(&dir, whole.to_str().unwrap()).is_some());
    }

    #[test]
    fn a_pattern_means_every_file_that_a_shell_would_put_in_its_place() {
        let project = tempfile::tempdir().unwrap();
        std::fs::create_dir(project.path().join("tools")).unwrap();
        for name in ["tools/a.sh", "tools/b.sh", "tools/.c.sh", "tools/d.py"] {
            std::fs::write(project.path().join(name), "").unwrap();
        }
        let dir = Dir::open(project.path()).unwrap();
        let whole = project.path().canonicalize().unwrap().join("tools/?.sh");
        for (word, expected) in [
            ("sh tools/*.sh", &["tools/a.sh", "tools/b.sh"][..]),
            ("to*ls/a.sh", &["tools/a.sh"]),
            ("./*/b.??", &["tools/b.sh"]),
            ("tools/[ab].sh", &["tools/a.sh", "tools/b.sh"]),
            ("bash -c 'tools/{a,b}.sh'", &["tools/a.sh", "tools/b.sh"]),
            ("$PWD/tools/*.py", &["tools/d.py"]),
            ("$(pwd)/tools/*.py", &["tools/d.py"]),
            (". \"$PWD\"/tools/d.py", &["tools/d.py"]),
            ("${PWD}/tools/d.py", &["tools/d.py"]),
            ("tools/.*.sh", &["tools/.c.sh"]),
            (whole.to_str().unwrap(), &["tools/a.sh", "tools/b.sh"]),
            ("echo $((2 * 3)) *", &[]),
            ("grep -q 'x.*y' tools/", &[]),
            ("../tools/*", &[]),
        ] {
            let found = named_files(&dir, &[word.to_owned()]).unwrap();
            let expected: BTreeSet<PathBuf> = expected.iter().map(PathBuf::from).collect();
            assert_eq!(found, expected, "{word}");
        }
        for n in 0..=MOST_MATCHES {
            std::fs::write(project.path().join(format!("tools/{n}.many")), "").unwrap();
        }
        let many = named_files(&dir, &["tools/*.many".to_owned()]).unwrap_err();
        assert_eq!(many.pattern, "tools/*.many");
    }

    #[test]
    fn what_leads_through_a_process_is_known_only_when_it_is_started() {
        for (word, is_unknowable) in [
            ("/proc/self/cwd/tools/a", true),
            ("/proc//self/./cwd/a", true),
            ("sh -c '. /proc/thread-self/cwd/a'", true),
            ("/proc/1/root/a", true),
            ("--config=/dev/fd/3", true),
            ("/dev/stdin", true),
            ("/proc/cpuinfo", false),
            ("/proc/self/../cpuinfo", false),
            ("proc/self/cwd/a", false),
            ("/dev/null", false),
        ] {
            assert_eq!(unknowable(word).next().is_some(), is_unknowable, "{word}");
        }
    }
}
