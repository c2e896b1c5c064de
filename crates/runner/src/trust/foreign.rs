//! What a command would take from its workspace, compared with what the user trusted right before the start: the
//! programs that it names, the files that say what its tools start, and modules of Python that stand in the way.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use baton_files::Dir;

use super::commands::{SimpleCommand, programs, simple_commands};
use super::named_files::{
    file_hash, matching_files, named_files, path_inside, project_file, words_within,
};
use super::python_modules::foreign_module;
use super::well_known::{ToolOption, WellKnownTool, is_left_out_often, is_same, tools};

/// The first file that a program with these words and variables would take from its workspace, or that a tool
/// among them would obey there, and that is not the project's own.
pub(crate) fn foreign_file(
    project: &Dir,
    workspace: &Dir,
    words: &[String],
    env: &[(String, String)],
) -> Option<PathBuf> {
    let named = named_foreign_file(project, workspace, words, env);
    named.or_else(|| foreign_tool_file(project, workspace, words))
}

/// The first program that a command would start from its workspace, and that is not the project's own. Files
/// that it only works on may be any; where it cannot be followed, no file that it names may.
pub(crate) fn foreign_program(
    project: &Dir,
    workspace: &Dir,
    words: &[String],
    env: &[(String, String)],
) -> Option<PathBuf> {
    let of_variables = named_foreign_file(project, workspace, &[], env);
    let of_tools = || foreign_tool_file(project, workspace, words);
    let Some(commands) = simple_commands(words) else {
        let named = || named_foreign_file(project, workspace, words, env);
        return of_variables.or_else(named).or_else(of_tools);
    };
    let is_foreign = |path: &PathBuf| {
        let is_there = workspace.entry(path).ok().flatten().is_some_and(|it| !it.is_folder());
        is_there && file_hash(workspace, path) != file_hash(project, path)
    };
    let is_own = |word: &String| words.contains(word) && project_file(project, word).is_some();
    let mut started = commands.iter().flat_map(|command| {
        programs(command).into_iter().map(|at| &command[at]).filter(|it| !is_own(it))
    });
    let found = started.find_map(|it| path_inside(project, it).filter(&is_foreign));
    of_variables.or(found).or_else(of_tools)
}

fn named_foreign_file(
    project: &Dir,
    workspace: &Dir,
    words: &[String],
    env: &[(String, String)],
) -> Option<PathBuf> {
    let is_taken_along = |word: &&String| project_file(project, word).is_none();
    let mut texts: Vec<String> = words.iter().filter(is_taken_along).cloned().collect();
    texts.extend(env.iter().map(|(_, value)| value.clone()));
    let differs = |path: &PathBuf| {
        let in_workspace = workspace.entry(path).ok().flatten().is_some();
        in_workspace && file_hash(workspace, path) != file_hash(project, path)
    };
    // What a pattern means there may be more than it means in the project.
    let named = named_files(project, &texts)
        .and_then(|own| Ok(own.into_iter().chain(matching_files(workspace, &texts)?)));
    let named = match named {
        Ok(mut files) => files.find(differs),
        Err(many) => Some(PathBuf::from(many.pattern)),
    };
    // What an interpreter is given first, if only the workspace has it.
    let script = words.iter().skip(1).find(|it| !it.starts_with('-'));
    let script = script.filter(is_taken_along).and_then(|it| path_inside(project, it));
    let is_file =
        |path: &PathBuf| workspace.entry(path).ok().flatten().is_some_and(|it| it.is_file());
    let is_new = |path: &PathBuf| matches!(project.entry(path), Ok(None)) && is_file(path);
    named.or_else(|| script.filter(is_new))
}

/// The first file of the workspace that says what a tool starts, or what Python imports in the place of its own
/// modules, and that is not as the user trusted it: changed, added or removed.
fn foreign_tool_file(project: &Dir, workspace: &Dir, words: &[String]) -> Option<PathBuf> {
    match simple_commands(words) {
        Some(commands) => commands.iter().find_map(|command| {
            let given = tools(command).into_iter().flat_map(|tool| {
                let mut files = files_in(&tool, &folders(project, command));
                files.extend(given_files(project, words, command));
                files
            });
            let differing = given.into_iter().find(|it| differs(project, workspace, it));
            differing.or_else(|| foreign_module(project, workspace, command))
        }),
        // Whatever is named in it may be started in any folder that is named.
        None => {
            let command = words_within(words);
            let folders: BTreeSet<PathBuf> = std::iter::once(PathBuf::new())
                .chain(command.iter().filter_map(|it| path_inside(project, it)))
                .filter(|it| is_folder(project, it) || is_folder(workspace, it))
                .collect();
            let named = (0..command.len()).flat_map(|at| tools(&command[at..=at]));
            let mut files = named.flat_map(|tool| files_in(&tool, &folders));
            let differing = files.find(|it| differs(project, workspace, it));
            differing.or_else(|| foreign_module(project, workspace, &command))
        }
    }
}

fn files_in(tool: &WellKnownTool, folders: &BTreeSet<PathBuf>) -> Vec<PathBuf> {
    folders.iter().flat_map(|folder| tool.files.iter().map(|it| folder.join(it))).collect()
}

/// Where a tool looks for its files: where it is started, and where its options send it.
fn folders(project: &Dir, command: &SimpleCommand) -> BTreeSet<PathBuf> {
    let mut folders = BTreeSet::from([PathBuf::new()]);
    for option in ToolOption::all(command) {
        let Some(path) = path_inside(project, option.value) else { continue };
        if option.names_folder() {
            folders.insert(path);
        } else if option.names_file() {
            folders.extend(path.parent().map(Path::to_owned));
        }
    }
    folders
}

/// Files that a tool is told to obey, but for those that it gets from the project itself.
fn given_files(project: &Dir, words: &[String], command: &SimpleCommand) -> Vec<PathBuf> {
    let of_project = programs(words).into_iter().map(|at| words[at].as_str());
    let of_project: Vec<&str> =
        of_project.filter(|it| project_file(project, it).is_some()).collect();
    let given = ToolOption::all(command).into_iter().filter(ToolOption::names_file);
    let given = given.filter(|it| !of_project.contains(&it.value));
    given.filter_map(|it| path_inside(project, it.value)).collect()
}

fn differs(project: &Dir, workspace: &Dir, path: &Path) -> bool {
    // Behind a link, or unreadable, is there.
    let is_there = |dir: &Dir| !matches!(dir.entry(path), Ok(None));
    match (is_there(project), is_there(workspace)) {
        (false, false) => false,
        (true, false) => !is_left_out_often(path),
        (false, true) => true,
        (true, true) => !is_same(project, workspace, path),
    }
}

fn is_folder(dir: &Dir, path: &Path) -> bool {
    path.as_os_str().is_empty() || dir.entry(path).ok().flatten().is_some_and(|it| it.is_folder())
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "tests make files of their own")]
mod tests {
    use super::*;

    /// A project, and a workspace with the same files but for those that an agent has changed.
    struct Copied {
        project: tempfile::TempDir,
        workspace: tempfile::TempDir,
    }

    impl Copied {
        fn new(files: &[(&str, &str)]) -> Self {
            let (project, workspace) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
            let copied = Self { project, workspace };
            for (path, text) in files {
                write(copied.project.path(), path, text);
                copied.changed(path, text);
            }
            copied
        }

        fn changed(&self, path: &str, text: &str) {
            write(self.workspace.path(), path, text);
        }

        #[track_caller]
        fn check(&self, run: &[&str], expected: Option<&str>) {
            let words: Vec<String> = run.iter().map(|it| (*it).to_owned()).collect();
            let project = Dir::open(self.project.path()).unwrap();
            let workspace = Dir::open(self.workspace.path()).unwrap();
            for found in [
                foreign_program(&project, &workspace, &words, &[]),
                foreign_file(&project, &workspace, &words, &[]),
            ] {
                assert_eq!(found.as_deref(), expected.map(Path::new), "{run:?}");
            }
        }
    }

    fn write(folder: &Path, path: &str, text: &str) {
        let path = folder.join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }

    #[test]
    fn a_file_that_says_what_a_tool_starts_has_to_be_as_it_was_trusted() {
        for (run, file) in [
            (&["make", "-s", "agent"][..], "Makefile"),
            (&["make", "check"], "GNUmakefile"),
            (&["sh", "-c", "npm ci && make check"], "makefile"),
            (&["env", "A=b", "make"], "Makefile"),
            (&["sh", "-c", "cd . && make check"], "Makefile"),
            (&["sh", "-c", "cd sub && make check"], "sub/Makefile"),
            (&["make", "-C", "sub", "check"], "sub/GNUmakefile"),
            (&["make", "-Csub"], "sub/Makefile"),
            (&["make", "--directory=sub"], "sub/Makefile"),
            (&["make", "--file=sub/a.mk"], "sub/a.mk"),
            (&["npm", "test"], ".npmrc"),
            (&["npm", "--prefix", "sub", "test"], "sub/package.json"),
            (&["npx", "tsc"], ".npmrc"),
            (&["just", "check"], "justfile"),
            (&["cargo", "test"], "build.rs"),
            (&["cargo", "test"], ".cargo/config.toml"),
            (&["cargo", "test", "--manifest-path", "sub/Cargo.toml"], "sub/build.rs"),
            (&["pytest"], "conftest.py"),
            (&["python3", "-m", "pytest"], "pytest.ini"),
            (&["./gradlew", "test"], "build.gradle"),
        ] {
            let copied = Copied::new(&[("gradlew", "1"), ("sub/a.mk", "1")]);
            copied.check(run, None);
            copied.changed(file, "added");
            copied.check(run, Some(file));
            let copied = Copied::new(&[("gradlew", "1"), ("sub/a.mk", "1"), (file, "trusted")]);
            copied.check(run, None);
            copied.changed(file, "changed");
            copied.check(run, Some(file));
        }
    }

    #[test]
    fn a_trusted_file_that_was_removed_counts_as_changed_unless_repositories_often_leave_it_out() {
        let copied = Copied::new(&[("Makefile", "check:\n\ttrue\n"), ("a.txt", "1")]);
        write(copied.project.path(), ".npmrc", "//registry/:_authToken=x\n");
        copied.check(&["npm", "test"], None);
        std::fs::remove_file(copied.workspace.path().join("Makefile")).unwrap();
        copied.check(&["make", "check"], Some("Makefile"));
        std::os::unix::fs::symlink("a.txt", copied.workspace.path().join("Makefile")).unwrap();
        copied.check(&["make", "check"], Some("Makefile"));
    }

    #[test]
    fn sources_tests_dependencies_and_what_describes_a_package_may_be_the_agent_s() {
        let package = r#"{"name": "a", "version": "1", "scripts": {"test": "a"}}"#;
        let cargo = "[package]\nname = \"a\"\nversion = \"1\"\n";
        let python = "[project]\nname = \"a\"\ndependencies = [\"b\"]\n";
        let module = "module a\n\ngo 1.24\n";
        let files = [
            ("package.json", package),
            ("Cargo.toml", cargo),
            ("pyproject.toml", python),
            ("go.mod", module),
            ("Makefile", "test:\n\tpython3 src/a.py\n"),
            ("src/a.py", "1"),
        ];
        let copied = Copied::new(&files);
        for (path, text) in [
            (
                "package.json",
                r#"{"name": "a", "version": "2", "files": ["b"], "devDependencies": {"c": "1"}, "scripts": {"test": "a"}}"#,
            ),
            (
                "Cargo.toml",
                "[package]\nname = \"a\"\nversion = \"2\"\n[dev-dependencies]\nb = \"1\"\n",
            ),
            (
                "pyproject.toml",
                "[project]\nname = \"a\"\ndependencies = [\n  \"b\",\n  \"c\",\n]\n[dependency-groups]\ndev = [\"d\"]\n",
            ),
            ("go.mod", "module a\n\ngo 1.24\n\nrequire (\n\tb v1\n)\nrequire c v1 // indirect\n"),
            ("src/a.py", "2"),
            ("src/new.py", "2"),
            ("tests/conftest.py", "2"),
        ] {
            copied.changed(path, text);
        }
        for run in [
            &["npm", "test"][..],
            &["cargo", "test"],
            &["pytest", "tests"],
            &["python3", "-m", "pytest"],
            &["go", "test"],
            &["make", "test"],
            &["python3", "-m", "py_compile", "src/a.py"],
            &["grep", "-q", "2", "src/a.py"],
        ] {
            let words: Vec<String> = run.iter().map(|it| (*it).to_owned()).collect();
            let (own, other) = (
                Dir::open(copied.project.path()).unwrap(),
                Dir::open(copied.workspace.path()).unwrap(),
            );
            assert_eq!(foreign_program(&own, &other, &words, &[]), None, "{run:?}");
        }
        for (path, text) in [
            ("package.json", r#"{"name": "a", "scripts": {"test": "true"}}"#),
            ("Cargo.toml", "[package] # dependencies\nbuild = \"evil.rs\"\n"),
            (
                "Cargo.toml",
                "[package]\nname = \"a\"\nmetadata.x = [\n[\"dependencies\"],\n]\nbuild = \"b.rs\"\n",
            ),
            (
                "pyproject.toml",
                "[project]\nname = \"a\"\n[tool.pytest.ini_options]\naddopts = \"-k none\"\n",
            ),
            ("go.mod", "module a\n\ngo 1.24\ntoolchain go1\n"),
        ] {
            let copied = Copied::new(&files);
            copied.changed(path, text);
            let tool = match path {
                "package.json" => &["npm", "test"][..],
                "Cargo.toml" => &["cargo", "test"],
                "go.mod" => &["go", "test"],
                _ => &["pytest"],
            };
            copied.check(tool, Some(path));
        }
    }

    #[test]
    fn a_module_of_the_workspace_that_stands_in_the_way_of_python_s_own_is_foreign() {
        let menu =
            [("src/menu.py", "1"), ("tools/agent.py", "1"), ("platform.py", "of the project")];
        for (run, file) in [
            (&["python3", "-m", "py_compile", "src/menu.py"][..], "py_compile.py"),
            (&["python3", "-m", "py_compile", "src/menu.py"], "argparse.py"),
            (&["python3", "-mpy_compile", "src/menu.py"], "py_compile/__init__.py"),
            (&["python3", "-m", "unittest"], "unittest/__main__.py"),
            (&["python3", "-m", "pytest"], "pytest.py"),
            (&["python3", "-m", "pytest"], "_pytest/__init__.py"),
            (&["uv", "run", "python", "-m", "pytest"], "pluggy.so"),
            (&["sh", "-c", "cd . && python3 -m py_compile src/menu.py"], "py_compile.py"),
            (&["python3", "-c", "import json"], "json.py"),
            (&["python3", "-m", "tools.agent"], "tools/agent.py"),
            (&["python3", "-m", "tools.agent"], "tools/new.py"),
        ] {
            let copied = Copied::new(&menu);
            copied.check(run, None);
            copied.changed(file, "added or changed");
            let module = file.split_once('/').map_or(file, |(folder, _)| folder);
            copied.check(run, Some(if module == "tools" { file } else { module }));
        }
        let copied = Copied::new(&menu);
        for path in ["argparse.py", "json/data.txt", "menu.py"] {
            copied.changed(path, "x");
        }
        copied.check(&["python3", "-I", "-m", "py_compile", "src/menu.py"], None);
        copied.check(&["python3", "-P", "-m", "py_compile", "src/menu.py"], None);
        std::fs::remove_file(copied.workspace.path().join("argparse.py")).unwrap();
        copied.changed("platform.py", "the agent's work: the project has it");
        copied.changed("build/lib/x.py", "no package");
        copied.check(&["python3", "-m", "build"], None);
        copied.check(&["python3", "-m", "unittest", "tests.test_menu"], None);
    }

    #[test]
    fn what_a_program_would_take_from_its_workspace_has_to_be_the_project_s_own() {
        let (project, workspace) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let (own, other) =
            (Dir::open(project.path()).unwrap(), Dir::open(workspace.path()).unwrap());
        for name in ["same", "changed"] {
            std::fs::write(project.path().join(name), "1").unwrap();
            std::fs::write(workspace.path().join(name), "1").unwrap();
        }
        std::fs::write(workspace.path().join("changed"), "2").unwrap();
        std::fs::write(workspace.path().join("new"), "1").unwrap();
        for (words, value, expected) in [
            (&["sh", "changed"][..], "", None),
            (&["sh", "-c", "sh same"], "", None),
            (&["sh", "-c", "sh changed"], "", Some("changed")),
            (&["sh", "-e", "new"], "", Some("new")),
            (&["agent", "--out", "x", "new"], "", None),
            (&["agent"], "./changed", Some("changed")),
        ] {
            let words: Vec<String> = words.iter().map(|it| (*it).to_owned()).collect();
            let env = [("BASH_ENV".to_owned(), value.to_owned())];
            let found = foreign_file(&own, &other, &words, &env);
            assert_eq!(found.as_deref(), expected.map(Path::new), "{words:?} {value}");
        }
    }

    #[test]
    fn a_pattern_that_means_another_file_in_the_workspace_means_a_foreign_one() {
        let (project, workspace) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let (own, other) =
            (Dir::open(project.path()).unwrap(), Dir::open(workspace.path()).unwrap());
        for folder in [&project, &workspace] {
            std::fs::write(folder.path().join("a.sh"), "1").unwrap();
        }
        let words = ["sh", "-c", "cat ./*.sh | sh"].map(str::to_owned);
        assert_eq!(foreign_file(&own, &other, &words, &[]), None);
        std::fs::write(workspace.path().join("b.sh"), "1").unwrap();
        assert_eq!(foreign_file(&own, &other, &words, &[]), Some("b.sh".into()));
    }
}
