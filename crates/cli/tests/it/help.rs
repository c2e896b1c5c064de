//! What the program says about itself.

use crate::Project;

#[test]
fn baton_alone_greets() {
    let project = Project::new();
    let said = project.run(&[]);
    assert_eq!((said.code, said.stderr.as_str()), (0, ""));
    for line in ["To begin:", "baton init", "Start here:", "Handing off:", "  take         Accept"]
    {
        assert!(said.stdout.contains(line), "{line}: {}", said.stdout);
    }
}

#[test]
fn the_short_help_is_short_and_the_long_one_has_examples() {
    let project = Project::new();
    for args in [&["handoff", "accept"][..], &["run", "start"], &["take"], &["story", "edit"]] {
        let short = project.ok(&[args, &["-h"]].concat());
        let long = project.ok(&[args, &["--help"]].concat());
        assert!(short.lines().count() < long.lines().count(), "{args:?}");
        assert!(!short.contains("Examples:") && !short.contains("--server"), "{short}");
        assert!(long.contains("Examples:\n  baton "), "{long}");
        let (own, global) = long.split_once("Global options:").unwrap();
        assert!(!own.contains("--server") && global.contains("--server"), "{long}");
    }
    let long = project.ok(&["completions", "--help"]);
    assert!(!long.contains("--server"), "{long}");
    assert!(long.contains("~/.local/share/bash-completion/completions/baton"), "{long}");
    assert!(project.ok(&["--help"]).contains("Exit codes:"));
    assert!(project.ok(&["help", "run", "start"]).contains("Examples:"));
}

#[test]
fn short_names_are_those_of_other_tools() {
    let project = Project::started();
    for (short, long) in [
        (&["st", "--json"][..], &["status", "--json"][..]),
        (&["story", "ls"], &["story", "list"]),
        (&["ho", "ls", "--json"], &["handoff", "list", "--json"]),
        (&["wf", "ls"], &["workflow", "list"]),
        (&["agent", "ls"], &["agent", "list"]),
        (&["run", "ls", "--json"], &["run", "list", "--json"]),
    ] {
        assert_eq!(project.ok(short), project.ok(long), "{short:?}");
    }
    project.fails(&["statsu"], 2, "'status'");
}

#[test]
fn options_that_mean_nothing_are_still_taken() {
    let project = Project::new();
    project.ok(&["schema", "--project", "."]);
    project.fails(&["schema", "--server", "http://127.0.0.1:1"], 2, "leave `--server` out");
}
