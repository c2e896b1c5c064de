//! Files that well-known tools read in the folder where they are started, and that say what they start: how they are
//! named, and what of them is compared.

use std::path::Path;

use baton_core::hash::Hash;
use baton_files::Dir;
use serde_json::Value;

use super::commands::{base_name, modules, programs};
use super::named_files::file_hash;
use super::{MOST_PROGRAM_BYTES, NO_TRUST};

const MAKE: &[&str] = &["GNUmakefile", "makefile", "Makefile"];
const JUST: &[&str] = &["justfile", "Justfile", ".justfile"];
const NODE: &[&str] = &[
    "package.json",
    "package.json5",
    "package.yaml",
    "pnpm-workspace.yaml",
    ".npmrc",
    ".yarnrc",
    ".yarnrc.yml",
    ".pnpmfile.cjs",
    ".pnpmfile.mjs",
    ".pnp.cjs",
    "bunfig.toml",
];
const CARGO: &[&str] = &[
    "Cargo.toml",
    "build.rs",
    ".cargo/config.toml",
    ".cargo/config",
    "rust-toolchain.toml",
    "rust-toolchain",
];
const PYTHON: &[&str] = &[
    "pyproject.toml",
    "setup.py",
    "setup.cfg",
    "tox.ini",
    "tox.toml",
    "noxfile.py",
    "conftest.py",
    "pytest.ini",
    ".pytest.ini",
    "pytest.toml",
    ".pytest.toml",
    "dodo.py",
    "tasks.py",
    "Pipfile",
    "uv.toml",
    "poetry.toml",
    "pdm.toml",
    "hatch.toml",
    ".python-version",
    "sitecustomize.py",
    "usercustomize.py",
];
const PYTEST: &[&str] = &[
    "pyproject.toml",
    "setup.cfg",
    "tox.ini",
    "conftest.py",
    "pytest.ini",
    ".pytest.ini",
    "pytest.toml",
    ".pytest.toml",
    "sitecustomize.py",
    "usercustomize.py",
];
const UNITTEST: &[&str] = &["sitecustomize.py", "usercustomize.py"];
const RUBY: &[&str] = &[
    "Rakefile",
    "rakefile",
    "Rakefile.rb",
    "rakefile.rb",
    "Gemfile",
    "gems.rb",
    ".rspec",
    ".bundle/config",
];
const GRADLE: &[&str] = &[
    "build.gradle",
    "build.gradle.kts",
    "settings.gradle",
    "settings.gradle.kts",
    "gradle.properties",
    "gradle/wrapper/gradle-wrapper.properties",
    "gradle/wrapper/gradle-wrapper.jar",
];
const MAVEN: &[&str] = &["pom.xml", ".mvn/extensions.xml", ".mvn/jvm.config", ".mvn/maven.config"];
/// A user keeps them for himself, with a token or a path of the machine: a repository often has none of them. Without
/// them a tool does what it does everywhere.
const OFTEN_LEFT_OUT: [&str; 11] = [
    ".npmrc",
    ".yarnrc",
    ".yarnrc.yml",
    "bunfig.toml",
    "config.toml",
    "config",
    "gradle.properties",
    "poetry.toml",
    "pdm.toml",
    "uv.toml",
    ".python-version",
];
const OTHERS: [(&str, &[&str]); 13] = [
    ("go", &["go.mod", "go.work"]),
    ("composer", &["composer.json"]),
    ("mix", &["mix.exs"]),
    ("deno", &["deno.json", "deno.jsonc"]),
    ("task", &["Taskfile.yml", "Taskfile.yaml", "taskfile.yml", "taskfile.yaml"]),
    ("rake", RUBY),
    ("rspec", RUBY),
    ("bundle", RUBY),
    ("mvn", MAVEN),
    ("mvnw", MAVEN),
    ("gradle", GRADLE),
    ("gradlew", GRADLE),
    ("cmake", &["CMakeLists.txt", "CMakePresets.json"]),
];

/// A tool that starts what files of the project say, and those files.
pub(super) struct WellKnownTool {
    pub(super) name: String,
    pub(super) files: &'static [&'static str],
}

/// The tools that a simple command starts.
pub(super) fn tools(command: &[String]) -> Vec<WellKnownTool> {
    let started = programs(command).into_iter().map(|at| base_name(&command[at]));
    let module = modules(command);
    let named = started.chain(module).filter_map(|name| Some((name, files_of(name)?)));
    named.map(|(name, files)| WellKnownTool { name: name.to_owned(), files }).collect()
}

fn files_of(tool: &str) -> Option<&'static [&'static str]> {
    match tool {
        "make" | "gmake" => Some(MAKE),
        "just" => Some(JUST),
        "npm" | "npx" | "pnpm" | "pnpx" | "yarn" | "bun" | "bunx" | "corepack" => Some(NODE),
        "cargo" => Some(CARGO),
        "pytest" | "py.test" => Some(PYTEST),
        "unittest" => Some(UNITTEST),
        "tox" | "nox" | "uv" | "uvx" | "poetry" | "pdm" | "hatch" | "pipenv" | "pip" | "pip3"
        | "invoke" | "doit" | "build" => Some(PYTHON),
        _ => OTHERS.iter().find(|(name, _)| *name == tool).map(|(_, files)| *files),
    }
}

/// An option of a tool, and what it is given.
pub(super) struct ToolOption<'a> {
    name: &'a str,
    pub(super) value: &'a str,
}

impl<'a> ToolOption<'a> {
    /// `-C a`, `-Ca`, `--directory a` and `--directory=a`. Whether an option takes a value is not known: a word
    /// behind it is tried as one.
    pub(super) fn all(command: &'a [String]) -> Vec<Self> {
        let mut found = Vec::new();
        for (at, word) in command.iter().enumerate().filter(|(_, it)| it.starts_with('-')) {
            let next = command.get(at + 1).map_or("", String::as_str);
            found.push(Self { name: word, value: next });
            if let Some((name, value)) = word.split_once('=') {
                found.push(Self { name, value });
            } else if !word.starts_with("--") && word.is_char_boundary(2.min(word.len())) {
                let (name, value) = word.split_at(2.min(word.len()));
                found.push(Self { name, value });
            }
        }
        found
    }

    /// Whether the tool goes there first.
    pub(super) fn names_folder(&self) -> bool {
        const FOLDERS: [&str; 10] = [
            "-C",
            "--directory",
            "--prefix",
            "--cwd",
            "--dir",
            "--project",
            "--project-dir",
            "--working-directory",
            "--rootdir",
            "--chdir",
        ];
        FOLDERS.contains(&self.name)
    }

    /// Whether the tool obeys that file.
    pub(super) fn names_file(&self) -> bool {
        const FILES: [&str; 12] = [
            "-f",
            "--file",
            "--makefile",
            "--justfile",
            "--taskfile",
            "--rakefile",
            "--manifest-path",
            "--config",
            "--config-file",
            "--userconfig",
            "--gemfile",
            "--build-file",
        ];
        FILES.contains(&self.name)
    }
}

/// Whether a repository often has no such file, although the project's folder has it.
pub(super) fn is_left_out_often(path: &Path) -> bool {
    let name = path.file_name().and_then(|it| it.to_str()).unwrap_or_default();
    OFTEN_LEFT_OUT.contains(&name)
}

/// Whether such a file says the same in two folders.
pub(super) fn is_same(project: &Dir, workspace: &Dir, path: &Path) -> bool {
    let said = described(workspace, path);
    !said.contains(NO_TRUST) && said == described(project, path)
}

/// The hash of what such a file says, as a part of what is trusted. Dependencies are left out: agents add some all the
/// time, and they are code that is not compared anyway. So is what only describes a package.
pub(super) fn described(project: &Dir, path: &Path) -> String {
    let text = project.read_text(path, MOST_PROGRAM_BYTES).ok();
    let rest = match path.file_name().and_then(|it| it.to_str()) {
        Some("package.json" | "composer.json") => {
            text.and_then(|it| serde_json::from_str(&it).ok()).and_then(without_dependencies)
        }
        Some("Cargo.toml" | "pyproject.toml") => {
            text.and_then(|it| toml::from_str(&it).ok()).and_then(without_dependencies)
        }
        Some("go.mod") => text.map(|it| without_requirements(&it)),
        Some(_) | None => None,
    };
    match rest {
        Some(rest) => {
            let hash = Hash::of(rest.as_bytes());
            format!("{} without dependencies sha256:{hash}", path.display())
        }
        None => format!("{} {}", path.display(), file_hash(project, path)),
    }
}

fn without_dependencies(mut document: Value) -> Option<String> {
    /// Where tables of dependencies are; `*` is any name.
    const PLACES: [&[&str]; 9] = [
        &[],
        &["package"],
        &["project"],
        &["workspace"],
        &["target", "*"],
        &["tool", "poetry"],
        &["tool", "poetry", "group", "*"],
        &["tool", "uv"],
        &["tool", "pdm"],
    ];
    document.as_object()?;
    for place in PLACES {
        leave_out(&mut document, place);
    }
    Some(document.to_string())
}

fn leave_out(value: &mut Value, place: &[&str]) {
    const NAMES: [&str; 17] = [
        "require",
        "require-dev",
        "dependency-groups",
        "version",
        "description",
        "keywords",
        "homepage",
        "bugs",
        "license",
        "author",
        "authors",
        "contributors",
        "repository",
        "files",
        "readme",
        "categories",
        "classifiers",
    ];
    let Value::Object(members) = value else { return };
    let Some((first, rest)) = place.split_first() else {
        let is_left_out =
            |name: &str| NAMES.contains(&name) || name.to_lowercase().ends_with("dependencies");
        members.retain(|name, _| !is_left_out(name));
        return;
    };
    let below = members.iter_mut().filter(|(name, _)| *first == "*" || *name == first);
    below.for_each(|(_, value)| leave_out(value, rest));
}

/// Without the statements of `go.mod` that name dependencies alone.
fn without_requirements(text: &str) -> String {
    let mut is_in_list = false;
    let mut rest = String::new();
    for line in text.lines() {
        let said = line.split("//").next().unwrap_or_default().trim();
        if is_in_list {
            is_in_list = said != ")";
        } else if said.starts_with("require ") || said.starts_with("require(") {
            is_in_list = said.ends_with('(');
        } else if !said.is_empty() {
            rest += said;
            rest.push('\n');
        }
    }
    rest
}
