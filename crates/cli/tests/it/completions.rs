//! Completion, as a shell asks for it.

use std::process::Command;

use crate::Project;

fn candidates(project: &Project, words: &[&str]) -> Vec<String> {
    let said = project.run(&[&["__complete", "zsh", "--", "baton"], words].concat());
    assert_eq!((said.code, said.stderr.as_str()), (0, ""), "{words:?}");
    said.stdout.lines().map(str::to_owned).collect()
}

#[test]
fn values_are_completed_with_what_they_are() {
    let project = Project::started();
    project.ok(&["story", "add", "shop:12", "--title", "Customers can log in"]);
    for (words, expected) in [
        (&["run", "start", "--workflow", "story-"][..], &["story-pipeline\tStory pipeline"][..]),
        (&["story", "show", "shop"], &["shop:12\tCustomers can log in"]),
        (&["run", "show", ""], &["1\ts1, open"]),
        (&["handoff", "accept", ""], &["1\tHO-001 of s1: orchestrator → analyst"]),
        (&["take", "shop:"], &["shop:12\tCustomers can log in"]),
        (&["run", "goto", "1", "rev"], &["review"]),
        (&["handoff", "complete", "1", "--outcome", "succ"], &["success"]),
        (&["explain", "behind"], &["behind_gate"]),
        (&["run", "star"], &["start\tStart a story: offer it to the first agent of its workflow"]),
    ] {
        let found = candidates(&project, words);
        assert_eq!(found, [&[":values"], expected].concat(), "{words:?}");
    }
    let agents = candidates(&project, &["handoff", "create", "--to", "implementer"]);
    assert!(agents.len() == 2 && agents[1].starts_with("implementer\t"), "{agents:?}");
    assert_eq!(candidates(&project, &["convert", ""]), [":files"]);
}

#[test]
fn nothing_is_said_where_nothing_can_be_read() {
    let empty = tempfile::tempdir().unwrap();
    for words in [&["run", "show", ""][..], &["--project", "/nowhere", "story", "show", ""]] {
        let mut command = Command::new(env!("CARGO_BIN_EXE_baton"));
        command.current_dir(empty.path()).args(["__complete", "fish", "--", "baton"]).args(words);
        let output = command.output().unwrap();
        assert!(output.status.success(), "{output:?}");
        assert_eq!(String::from_utf8(output.stdout).unwrap(), ":values\n", "{words:?}");
    }
    assert_eq!(std::fs::read_dir(empty.path()).unwrap().count(), 0);
}

#[test]
fn bash_completes_a_key_with_a_colon() {
    let project = Project::started();
    project.ok(&["story", "add", "shop:12"]);
    project.ok(&["story", "add", "shop:13 b"]);
    let script = project.ok(&["completions", "bash"]);
    std::fs::write(project.path().join("baton.bash"), script).unwrap();
    let check = "source ./baton.bash; COMP_LINE=$1; COMP_POINT=${#COMP_LINE}; COMP_WORDS=(baton); \
                 _baton; printf '%s\\n' \"${COMPREPLY[@]}\"; complete -p baton";
    let folder = std::path::Path::new(env!("CARGO_BIN_EXE_baton")).parent().unwrap();
    let path = format!("{}:{}", folder.display(), std::env::var("PATH").unwrap());
    for (line, expected) in [
        ("baton story show shop:", "12\n13\\ b\n"),
        ("baton story show shop:12", "12\n"),
        ("baton run start --workflow=gated", "gated-project\n"),
        ("baton hand", "handoff\n"),
    ] {
        let mut bash = Command::new("bash");
        bash.current_dir(project.path()).env("PATH", &path).env_remove("BATON_URL");
        let output = bash.args(["--norc", "-c", check, "bash", line]).output().unwrap();
        let said = String::from_utf8(output.stdout).unwrap();
        assert_eq!(String::from_utf8(output.stderr).unwrap(), "", "{line}");
        assert!(said.starts_with(expected), "{line}: {said}");
        assert!(said.ends_with("-F _baton baton\n"), "{line}: {said}");
    }
}
