//! Files that well-known tools read in the folder where they are started, and that say what they start.

use std::path::Path;

use baton_core::hash::Hash;
use baton_files::Dir;
use serde_json::Value;

use super::MOST_PROGRAM_BYTES;
use super::commands::{base_name, modules, programs};
use super::named_files::file_hash;

const MAKE: &[&str] = &["GNUmakefile", "makefile", "Makefile"];
const JUST: &[&str] = &["justfile", "Justfile", ".justfile"];
const NODE: &[&str] = &[
    "package.json",
    "pnpm-workspace.yaml",
    ".npmrc",
    ".yarnrc",
    ".yarnrc.yml",
    ".pnpmfile.cjs",
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
    "noxfile.py",
    "conftest.py",
    "pytest.ini",
    "dodo.py",
    "tasks.py",
    "Pipfile",
    "sitecustomize.py",
];
const RUBY: &[&str] = &["Rakefile", "rakefile", "Gemfile", ".rspec"];
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
const OTHERS: [(&str, &[&str]); 12] = [
    ("go", &["go.mod", "go.work"]),
    ("composer", &["composer.json"]),
    ("mix", &["mix.exs"]),
    ("deno", &["deno.json", "deno.jsonc"]),
    ("task", &["Taskfile.yml", "Taskfile.yaml", "taskfile.yml", "taskfile.yaml"]),
    ("rake", RUBY),
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
        "pytest" | "py.test" | "tox" | "nox" | "uv" | "uvx" | "poetry" | "pdm" | "hatch"
        | "pipenv" | "pip" | "pip3" | "invoke" | "doit" | "unittest" | "build" => Some(PYTHON),
        _ => OTHERS.iter().find(|(name, _)| *name == tool).map(|(_, files)| *files),
    }
}

/// The hash of what such a file says, as a part of what is trusted. Dependencies are left out: agents add some all the
/// time, and they are code that is not compared anyway.
pub(super) fn described(project: &Dir, path: &Path) -> String {
    let text = project.read_text(path, MOST_PROGRAM_BYTES).ok();
    let rest = match path.to_str() {
        Some("package.json") => text.and_then(|it| without_packages(&it)),
        Some("Cargo.toml") => text.map(|it| without_dependencies(&it)),
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

fn without_packages(text: &str) -> Option<String> {
    let Value::Object(mut members) = serde_json::from_str(text).ok()? else { return None };
    members.retain(|name, _| name != "version" && !name.to_lowercase().ends_with("dependencies"));
    Some(Value::Object(members).to_string())
}

/// Without the tables of dependencies.
fn without_dependencies(text: &str) -> String {
    let mut is_left_out = false;
    let mut rest = String::new();
    for line in text.lines() {
        if line.trim_start().starts_with('[') {
            is_left_out = line.contains("dependencies");
        }
        if !is_left_out {
            rest += line;
            rest.push('\n');
        }
    }
    rest
}
