//! What a command can reach of a project: files and folders that its words name, or, where that cannot be known
//! from the words, everything that git tracks.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Component, Path, PathBuf};

use baton_core::hash::Hash;
use baton_files::Dir;

use super::NO_TRUST;
use super::commands::{base_name, followed_commands, is_reader, modules, programs};
use super::companions::Companions;
use super::named_files::{
    file_hash, matching_files, named_files, parts, path_inside, project_file,
};
use super::well_known::{self, tools};
use crate::git::{GitFolder, TrackedFile};

/// Whatever the program may start in the project.
pub(super) struct Reach {
    /// Words whose files are named by them: looked for in them as a whole, and in their parts.
    pub(super) words: Vec<String>,
    pub(super) folders: BTreeSet<PathBuf>,
    pub(super) is_everything: bool,
    /// Files that are not named, and started all the same.
    files: BTreeSet<PathBuf>,
    /// Tools that start what files of the project say, and those files.
    tools: BTreeSet<String>,
    tool_files: BTreeSet<PathBuf>,
}

enum WordReach {
    /// No file of the project, or one that is found by its name.
    Named,
    Folder(PathBuf),
    Unknown,
}

/// A folder with more than that is not looked through.
const MOST_FILES: usize = 20_000;
const MOST_BYTES: u64 = 512 << 20;

impl Reach {
    /// `words`: a program and its arguments.
    pub(super) fn of(project: &Dir, words: &[String]) -> Self {
        let mut reach = Self::naming(words);
        let Some(commands) = followed_commands(words) else {
            reach.is_everything = true;
            return reach;
        };
        reach.words.clear();
        let mut companions = Companions::default();
        for command in &commands {
            let words = &command.words;
            if is_reader(words) && !command.feeds {
                continue;
            }
            if modules(words).into_iter().any(|it| has_module(project, it)) {
                reach.add(WordReach::Unknown);
            }
            for word in words {
                reach.add(of_word(project, word));
            }
            let mut starter = None;
            for at in programs(words) {
                match project_file(project, &words[at]) {
                    Some(script) => companions.add(project, &script, starter),
                    None => starter = Some(base_name(&words[at])),
                }
            }
            for tool in tools(words) {
                let is_there = |it: &&&str| project.entry(it).is_ok_and(|it| it.is_some());
                reach.tool_files.extend(tool.files.iter().filter(is_there).map(PathBuf::from));
                reach.tools.insert(tool.name);
            }
            reach.words.extend(words.iter().cloned());
        }
        reach.files.append(&mut companions.files);
        reach.folders.append(&mut companions.folders);
        reach
    }

    /// Values that programs see, such as those of variables.
    pub(super) fn of_values(project: &Dir, values: &[String]) -> Self {
        let mut reach = Self::naming(values);
        for value in values {
            reach.add(of_word(project, value));
        }
        reach
    }

    fn naming(words: &[String]) -> Self {
        Self {
            words: words.to_vec(),
            folders: BTreeSet::new(),
            is_everything: false,
            files: BTreeSet::new(),
            tools: BTreeSet::new(),
            tool_files: BTreeSet::new(),
        }
    }

    fn add(&mut self, word: WordReach) {
        match word {
            WordReach::Named => {}
            WordReach::Folder(path) => {
                self.folders.insert(path);
            }
            WordReach::Unknown => self.is_everything = true,
        }
    }

    /// As a part of what is trusted.
    pub(super) fn described(&self, project: &Dir, env: &[(String, String)]) -> String {
        let mut text = String::new();
        match named_files(project, &self.words) {
            Ok(mut files) => {
                files.extend(self.files.iter().cloned());
                for file in files {
                    text += &format!("; {} {}", file.display(), file_hash(project, &file));
                }
            }
            Err(many) if self.is_everything => drop(many),
            Err(many) => text += &format!("; {} {NO_TRUST}: {many}", many.pattern),
        }
        let mut is_everything = self.is_everything;
        for folder in &self.folders {
            match folder_hash(project, folder, env) {
                Some(hash) => text += &format!("; all files of {} {hash}", folder.display()),
                None => is_everything = true,
            }
        }
        if is_everything {
            let hash = tracked_hash(project, env);
            text += &format!("; {CANNOT_FOLLOW}; all that git tracks {hash}");
        } else {
            for file in &self.tool_files {
                text += &format!("; {}", well_known::described(project, file));
            }
            for tool in &self.tools {
                text += &format!("; {tool} {STARTS_MORE}");
            }
        }
        text
    }
}

/// What `baton trust` says of a command that is tied to the whole repository.
pub(super) const CANNOT_FOLLOW: &str =
    "cannot be followed: it may start anything in this repository";

/// What `baton trust` says of a tool that is tied to its own files alone.
pub(super) const STARTS_MORE: &str = "also starts code of this project that is not compared";

/// Whether a Python module is the project's own.
fn has_module(project: &Dir, module: &str) -> bool {
    let first = module.split('.').next().unwrap_or(module);
    let is_there = |it: &str| matches!(project.entry(it), Ok(Some(_)) | Err(_));
    !first.is_empty() && (is_there(first) || is_there(&format!("{first}.py")))
}

fn of_word(project: &Dir, word: &str) -> WordReach {
    if word.is_empty() {
        return WordReach::Named;
    }
    if word.chars().any(char::is_whitespace) {
        if word.contains(['$', '`', '\\', '*', ';', '|', '&', '<']) {
            return WordReach::Unknown;
        }
        // A text to be read. If it names something, it may be a command.
        let names =
            |it: &str| !matches!(of_word(project, it), WordReach::Named) || is_entry(project, it);
        let is_any = parts(word).filter(|it| it.len() < word.len()).any(names);
        return if is_any { WordReach::Unknown } else { WordReach::Named };
    }
    if word.contains(['$', '`', '\\', '~', '\'', '"']) && (word.contains('/') || word.contains('$'))
    {
        return WordReach::Unknown;
    }
    if word.contains(['*', '?', '[']) {
        let is_known = !word.contains('/') && !word.contains("**");
        let is_none = matching_files(project, &[word.to_owned()]).is_ok_and(|it| it.is_empty());
        return if is_known && is_none { WordReach::Named } else { WordReach::Unknown };
    }
    if let Some((name, value)) = word.split_once('=') {
        return if name.contains('/') { WordReach::Unknown } else { of_word(project, value) };
    }
    if let Some(option) = word.strip_prefix('-') {
        return of_option(project, option);
    }
    if let Some(many) = [':', ',', '@'].iter().find(|it| word.contains(**it)) {
        let folders = word.split(*many).map(|it| of_word(project, it));
        return folders.fold(WordReach::Named, |all, it| match (all, it) {
            (WordReach::Named, it) => it,
            (all, WordReach::Named) => all,
            // Two folders in one word are rare, and everything is more than both.
            (_, _) => WordReach::Unknown,
        });
    }
    of_path(project, word)
}

/// `-C`, `--release`; and `-ftools/Makefile`, whose file is glued to it.
fn of_option(project: &Dir, option: &str) -> WordReach {
    let glued = option.chars().next().map_or("", |it| &option[it.len_utf8()..]);
    let is_glued = !option.starts_with('-') && !glued.is_empty() && is_entry(project, glued);
    if option.contains('/') || is_glued { WordReach::Unknown } else { WordReach::Named }
}

fn of_path(project: &Dir, word: &str) -> WordReach {
    let path = Path::new(word);
    if path.components().any(|it| it == Component::ParentDir) {
        return WordReach::Unknown;
    }
    let Ok(root) = project.real_path() else { return WordReach::Unknown };
    if path.is_absolute() && !path.starts_with(&root) {
        // By another way, such as a link, it may still lead into the project.
        let leads_in = path.canonicalize().is_ok_and(|it| it.starts_with(&root));
        return if leads_in { WordReach::Unknown } else { WordReach::Named };
    }
    let Some(path) = path_inside(project, word) else { return WordReach::Unknown };
    match project.entry(&path) {
        Ok(Some(entry)) if entry.is_folder() => WordReach::Folder(path),
        Ok(_) | Err(_) => WordReach::Named,
    }
}

fn is_entry(project: &Dir, word: &str) -> bool {
    let path = path_inside(project, word);
    path.is_some_and(|it| matches!(project.entry(it), Ok(Some(_))))
}

/// Of every file below a folder; `None` where a link leads out of it. Of caches only what git tracks: they change
/// whenever a program runs.
fn folder_hash(project: &Dir, folder: &Path, env: &[(String, String)]) -> Option<String> {
    let (mut found, mut has_cache) = (Vec::new(), false);
    let hash = match list_files(project, folder, &mut found, &mut has_cache) {
        Ok(()) => {
            let is_file =
                |it: &PathBuf| project.entry(it).is_ok_and(|it| it.is_some_and(|it| it.is_file()));
            if !folder.as_os_str().is_empty() && !found.iter().all(is_file) {
                return None;
            }
            let found =
                found.into_iter().map(|path| (path.clone(), TrackedFile { path, other: None }));
            let mut files: BTreeMap<PathBuf, TrackedFile> = found.collect();
            let in_folder = |it: &TrackedFile| it.path.starts_with(folder) && is_in_cache(&it.path);
            let tracked = has_cache.then(|| tracked(project, env)).flatten();
            for file in tracked.into_iter().flatten().filter(in_folder) {
                files.entry(file.path.clone()).or_insert(file);
            }
            files_hash(project, files.into_values())
        }
        Err(why) => format!("{NO_TRUST}: {why}"),
    };
    Some(hash)
}

/// Of every file that git tracks, as it is in the folder; without git, of every file.
fn tracked_hash(project: &Dir, env: &[(String, String)]) -> String {
    match tracked(project, env) {
        Some(files) => files_hash(project, files.into_iter()),
        None => folder_hash(project, Path::new(""), env).unwrap_or_default(),
    }
}

fn tracked(project: &Dir, env: &[(String, String)]) -> Option<Vec<TrackedFile>> {
    GitFolder::new(project.real_path().ok()?, env).tracked().ok()
}

const CACHES: [&str; 2] = ["__pycache__", "node_modules"];

fn is_in_cache(path: &Path) -> bool {
    path.components().any(|it| CACHES.iter().any(|name| it.as_os_str() == *name))
}

pub(super) fn list_files(
    project: &Dir,
    folder: &Path,
    found: &mut Vec<PathBuf>,
    has_cache: &mut bool,
) -> Result<(), String> {
    let opened = match folder.as_os_str().is_empty() {
        true => project.again(),
        false => project.subdir(folder),
    };
    let mut entries = opened.and_then(|it| it.list()).map_err(|it| it.to_string())?;
    entries.sort_by(|one, two| one.0.cmp(&two.0));
    for (name, entry) in entries {
        let path = folder.join(&name);
        if entry.is_folder() {
            // Git's own files, and what Baton writes all the time.
            let is_own = name == ".git" || path == Path::new(".baton/data");
            let is_cache = CACHES.iter().any(|it| name == *it);
            *has_cache |= is_cache;
            if !is_own && !is_cache {
                list_files(project, &path, found, has_cache)?;
            }
            continue;
        }
        found.push(path);
        if found.len() > MOST_FILES {
            return Err(format!(
                "it has more than {MOST_FILES} files; name those that are started"
            ));
        }
    }
    Ok(())
}

fn files_hash(project: &Dir, files: impl Iterator<Item = TrackedFile>) -> String {
    let mut text = String::new();
    let mut n_bytes = 0;
    for (n, file) in files.enumerate() {
        let content = match (&file.other, project.entry(&file.path)) {
            (Some(other), _) => other.clone(),
            (None, Ok(Some(entry))) if entry.is_file() => {
                n_bytes += entry.n_bytes;
                if n_bytes > MOST_BYTES || n >= MOST_FILES {
                    return format!(
                        "{NO_TRUST}: it is too much to be looked through; name the files that are started"
                    );
                }
                let hash = file_hash(project, &file.path);
                if hash.starts_with(NO_TRUST) {
                    return hash;
                }
                hash
            }
            (None, Ok(None)) => "missing".to_owned(),
            // A link, or something behind one.
            (None, Ok(Some(_)) | Err(_)) => "no file".to_owned(),
        };
        text += &format!("{} {content}\n", file.path.display());
    }
    format!("sha256:{}", Hash::of(text.as_bytes()))
}
