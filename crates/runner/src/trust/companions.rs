//! What a script of the project starts that is not on the command line: what it imports from beside it, and,
//! for a script of a shell, the files beside it that its text names.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use baton_files::Dir;

use super::commands::is_shell;

/// Files and folders that are started with the scripts of a command.
#[derive(Default)]
pub(super) struct Companions {
    pub(super) files: BTreeSet<PathBuf>,
    pub(super) folders: BTreeSet<PathBuf>,
    seen: BTreeSet<PathBuf>,
}

enum ScriptKind {
    Shell,
    /// Of a language whose programs import the files beside them.
    Importing,
    /// No text.
    Binary,
}

const MOST_SCRIPTS: usize = 200;
const MOST_SCRIPT_BYTES: u64 = 1 << 20;
const SHELL_EXTENSIONS: [&str; 5] = ["sh", "bash", "zsh", "ksh", "fish"];
const CODE_EXTENSIONS: [&str; 17] = [
    "py", "pyc", "pth", "so", "js", "mjs", "cjs", "ts", "mts", "cts", "json", "node", "rb", "pl",
    "pm", "php", "lua",
];

impl Companions {
    /// `starter`: the program in front of the script, if there is one.
    pub(super) fn add(&mut self, project: &Dir, script: &Path, starter: Option<&str>) {
        if self.seen.len() >= MOST_SCRIPTS || !self.seen.insert(script.to_owned()) {
            return;
        }
        let Ok(bytes) = project.read(script, MOST_SCRIPT_BYTES) else { return };
        let text = String::from_utf8_lossy(&bytes);
        match kind(script, &text, starter) {
            ScriptKind::Binary => {}
            ScriptKind::Shell => self.add_named_by(project, script, &text),
            ScriptKind::Importing => self.add_imported(project, script, &text),
        }
    }

    /// The files beside the script, and below, that its text names.
    fn add_named_by(&mut self, project: &Dir, script: &Path, text: &str) {
        let folder = script.parent().unwrap_or(Path::new(""));
        let is_root = folder.as_os_str().is_empty();
        let tokens: BTreeSet<&str> =
            text.split(|it: char| !(it.is_ascii_alphanumeric() || "_-./".contains(it))).collect();
        for token in tokens {
            let name = token.trim_start_matches(['.', '/']);
            // The project's own files are named from its root by everything: only scripts count there.
            if name.is_empty() || is_root && (name.contains('/') || !is_code(Path::new(name))) {
                continue;
            }
            let names = [name, name.rsplit('/').next().unwrap_or(name)];
            for path in names.map(|it| folder.join(it)) {
                let is_file =
                    project.entry(&path).is_ok_and(|it| it.is_some_and(|it| it.is_file()));
                if is_file && path != script {
                    self.files.insert(path.clone());
                    self.add(project, &path, None);
                }
            }
        }
    }

    /// The whole folder; at the root of the project the code beside the script, and the folders that it imports.
    fn add_imported(&mut self, project: &Dir, script: &Path, text: &str) {
        let folder = script.parent().unwrap_or(Path::new(""));
        if !folder.as_os_str().is_empty() {
            self.folders.insert(folder.to_owned());
            return;
        }
        for (name, entry) in project.list().unwrap_or_default() {
            let path = PathBuf::from(name);
            if entry.is_file() && is_code(&path) && path != script {
                self.files.insert(path.clone());
                self.add(project, &path, None);
            }
        }
        const WORDS: [&str; 5] = ["import", "require", "from", "include", "load"];
        for line in text.lines().filter(|line| WORDS.iter().any(|it| line.contains(it))) {
            let tokens = line.split(|it: char| !(it.is_ascii_alphanumeric() || "_-/".contains(it)));
            for token in tokens.map(|it| it.trim_matches('/')).filter(|it| !it.is_empty()) {
                let first = token.split('/').next().unwrap_or(token);
                if project.entry(first).is_ok_and(|it| it.is_some_and(|it| it.is_folder())) {
                    self.folders.insert(PathBuf::from(first));
                }
            }
        }
    }
}

fn kind(script: &Path, text: &str, starter: Option<&str>) -> ScriptKind {
    if text.contains('\0') {
        return ScriptKind::Binary;
    }
    let extension = script.extension().and_then(|it| it.to_str()).unwrap_or_default();
    let of_starter = starter.map(is_shell);
    let first_line = text.lines().next().unwrap_or_default();
    let named = first_line.strip_prefix("#!").map(|it| it.split_whitespace().any(is_shell));
    let is_shell = of_starter.or(named).unwrap_or(SHELL_EXTENSIONS.contains(&extension));
    match is_shell {
        true => ScriptKind::Shell,
        false if of_starter.is_some() || named.is_some() || is_code(script) => {
            ScriptKind::Importing
        }
        // Data that a script reads.
        false => ScriptKind::Binary,
    }
}

fn is_code(path: &Path) -> bool {
    let extension = path.extension().and_then(|it| it.to_str()).unwrap_or_default();
    CODE_EXTENSIONS.contains(&extension) || SHELL_EXTENSIONS.contains(&extension)
}
