//! Nothing of a repository is started before its user trusts it.

use super::Workshop;
use crate::serve::Served;

#[test]
fn a_cloned_repository_starts_nothing_before_it_is_trusted_nor_after_a_change() {
    let workshop = Workshop::new("curl", "");
    let clone = Workshop {
        project: crate::Project(tempfile::tempdir().unwrap()),
        state: workshop.state,
        at: None,
        schema: None,
    };
    let from = workshop.project.path().display().to_string();
    clone.git(&["clone", "-q", &from, "."]);

    let served = Served::listening(clone.command(&["serve", "--listen", "127.0.0.1:0"]));
    clone.start("s1");
    let is_at_rest = |why: &str| {
        let run = clone.json(&["run", "show", "s1"]);
        assert_eq!(run["baton"], "offered", "{why}: {run}");
        let status = clone.json(&["runner", "status"]);
        assert_eq!(
            (&status["pid"], &status["isTrusted"]),
            (&serde_json::Value::Null, &false.into())
        );
    };
    is_at_rest("another folder is another project");
    let refused = clone.command(&["runner", "--once"]).output().unwrap();
    let stderr = String::from_utf8(refused.stderr).unwrap();
    assert_eq!(refused.status.code(), Some(1), "{stderr}");
    assert!(
        stderr.contains("executor mine: sh tools/agent.sh curl; tools/agent.sh sha256:"),
        "{stderr}"
    );
    let asked = clone.command(&["trust"]).stdin(std::process::Stdio::null()).output().unwrap();
    assert_eq!(asked.status.code(), Some(1), "nobody is there to say yes");
    is_at_rest("it was only shown");

    clone.ok(&["trust", "--yes"]);
    clone.write("tools/agent.sh", "touch evil\n");
    let refused = clone.command(&["runner", "--once"]).output().unwrap();
    assert_eq!(refused.status.code(), Some(1), "its program has changed");
    assert!(!clone.path().join("evil").exists());
    let shown = clone.command(&["trust"]).stdin(std::process::Stdio::null()).output().unwrap();
    let shown = String::from_utf8(shown.stdout).unwrap();
    assert!(shown.contains("- executor mine") && shown.contains("+ executor mine"), "{shown}");

    clone.git(&["checkout", "-q", "--", "tools/agent.sh"]);
    clone.ok(&["runner", "--once"]);
    clone.until_completed("s1");
    drop(served);
}

#[test]
fn an_agent_cannot_change_what_the_next_one_is_started_by() {
    let workshop = Workshop::new("rewrites", "");
    let _served = workshop.serves();
    workshop.start("s1");
    workshop.until_completed("s1");
    let tree = workshop.ok(&["workspace", "path", "s1"]);
    let tree = std::path::Path::new(tree.trim());
    assert_eq!(std::fs::read_to_string(tree.join("tools/agent.sh")).unwrap(), "touch evil\n");
    assert!(!tree.join("evil").exists(), "the project's own program was started, not the folder's");
}

#[test]
fn a_server_begins_when_it_is_trusted_and_stops_when_its_programs_change() {
    let workshop = Workshop::new("curl", "");
    let other = tempfile::tempdir().unwrap();
    let workshop = Workshop { state: other, ..workshop };
    let served = workshop.serves();
    workshop.start("s1");
    assert_eq!(workshop.json(&["run", "show", "s1"])["baton"], "offered", "not trusted here");
    workshop.ok(&["trust", "--yes"]);
    workshop.until_completed("s1");

    let agent = std::fs::read_to_string(workshop.path().join("tools/agent.sh")).unwrap();
    workshop.write("tools/agent.sh", &format!("{agent}\n# changed\n"));
    workshop.start("s2");
    let status = workshop.json(&["runner", "status"]);
    assert_eq!(status["isTrusted"], false);
    workshop.ok(&["trust", "--yes"]);
    workshop.until_completed("s2");
    drop(served);
}

#[test]
fn a_link_is_not_trusted_whatever_it_leads_to() {
    let workshop = Workshop::new("curl", "");
    let tools = workshop.path().join("tools");
    std::fs::rename(tools.join("agent.sh"), tools.join("real.sh")).unwrap();
    std::os::unix::fs::symlink("real.sh", tools.join("agent.sh")).unwrap();
    let refused = workshop.command(&["trust", "--yes"]).output().unwrap();
    assert_eq!(refused.status.code(), Some(1));
    let stderr = String::from_utf8(refused.stderr).unwrap();
    assert!(stderr.contains("cannot be trusted: executor mine"), "{stderr}");
    let refused = workshop.command(&["runner", "--once"]).output().unwrap();
    assert_eq!(refused.status.code(), Some(1));
}

#[test]
fn a_set_up_script_that_is_another_one_on_the_story_s_branch_is_not_started() {
    let workshop =
        Workshop::new("curl", "[runner]\nlease = \"1s\"\nsetup = [\"sh tools/setup.sh\"]\n");
    workshop.git(&["checkout", "-q", "-b", "theirs"]);
    workshop.write("tools/setup.sh", "touch evil\n");
    workshop.commit("Set up");
    workshop.git(&["checkout", "-q", "main"]);
    workshop.write("tools/setup.sh", "true\n");
    workshop.ok(&["trust", "--yes"]);
    let _served = workshop.serves();
    workshop.ok(&["story", "add", "s1", "--title", "Say hello", "--branch", "theirs"]);
    workshop.ok(&["run", "start", "s1"]);
    workshop.until("s1", "a person is asked", |it| it["currentAgent"] == "human");
    let handoffs = workshop.handoffs("s1");
    let is_told = |it: &serde_json::Value| {
        it["reason"].as_str().unwrap_or_default().contains("`tools/setup.sh` in the workspace")
    };
    assert!(handoffs.iter().any(is_told), "{handoffs:#?}");
    let tree = workshop.ok(&["workspace", "path", "s1"]);
    assert!(!std::path::Path::new(tree.trim()).join("evil").exists());
}

/// An executor of this kind is not started where the story's branch has another program in its place.
#[track_caller]
fn is_not_started_from_the_branch(kind: &str) {
    let workshop = Workshop::new("curl", "");
    let settings = format!(
        "[project]\nworkflow = \"story-pipeline\"\n[runner]\nlease = \"1s\"\n[executors.own]\n\
         kind = \"{kind}\"\nrun = [\"sh\", \"-c\", \"exec tools/own.sh\"]\n\
         [agents.\"*\"]\nexecutors = [\"own\"]\n"
    );
    workshop.write(".baton/baton.toml", &settings);
    workshop.git(&["checkout", "-q", "-b", "theirs"]);
    workshop.write("tools/own.sh", "touch evil\n");
    workshop.commit("Another program");
    workshop.git(&["checkout", "-q", "main"]);
    workshop.write("tools/own.sh", "true\n");
    workshop.write(".baton/baton.toml", &settings);
    workshop.ok(&["trust", "--yes"]);
    let _served = workshop.serves();
    workshop.ok(&["story", "add", "s1", "--title", "Say hello", "--branch", "theirs"]);
    workshop.ok(&["run", "start", "s1"]);
    workshop.until("s1", "a person is asked", |it| it["currentAgent"] == "human");
    let handoffs = workshop.handoffs("s1");
    let is_told = |it: &serde_json::Value| {
        it["endedReason"].as_str().unwrap_or_default().contains("`tools/own.sh` in the workspace")
    };
    assert!(handoffs.iter().any(is_told), "{handoffs:#?}");
}

#[test]
fn a_program_of_any_kind_is_the_one_that_was_trusted() {
    for kind in ["command", "claude", "acp"] {
        is_not_started_from_the_branch(kind);
    }
}

#[test]
fn a_command_that_cannot_be_followed_is_trusted_with_all_that_git_tracks() {
    let workshop = Workshop::new("curl", "");
    let settings = std::fs::read_to_string(workshop.path().join(".baton/baton.toml")).unwrap();
    let line = r#"["sh", "-c", "cd tools && sh ./agent.sh curl"]"#;
    let settings = settings.replace(r#"["sh", "tools/agent.sh", "curl"]"#, line);
    workshop.write(".baton/baton.toml", &settings);
    workshop.commit("Go another way");
    let shown = workshop.ok(&["trust", "--yes"]);
    assert!(shown.contains("cannot be followed: it may start anything"), "{shown}");
    let is_trusted = || workshop.json(&["runner", "status"])["isTrusted"] == true;
    assert!(is_trusted());
    workshop.write("notes.txt", "of my own\n");
    assert!(is_trusted(), "git does not track it");

    let agent = std::fs::read_to_string(workshop.path().join("tools/agent.sh")).unwrap();
    workshop.write("tools/agent.sh", "touch evil\n");
    workshop.git(&["commit", "-q", "-a", "-m", "Do something else"]);
    assert!(!is_trusted(), "what it starts has changed");
    workshop.start("s1");
    for command in ["status", "inbox", "doctor"] {
        let said = workshop.command(&[command]).output().unwrap();
        let said = [said.stdout, said.stderr].map(|it| String::from_utf8(it).unwrap()).concat();
        assert!(said.contains("agents are not started"), "{command}: {said}");
        assert!(said.contains("`baton trust`"), "{command}: {said}");
    }
    let served = workshop.serves();
    let page = served.curl(&[], "/").body.to_string();
    assert!(page.contains("agents are not started"), "{page}");
    drop(served);
    assert!(!workshop.path().join("tools/evil").exists());
    workshop.write("tools/agent.sh", &agent);
    assert!(is_trusted(), "it is as it was");
    workshop.write("README.md", "Another greeting.\n");
    assert!(!is_trusted(), "it might start that too");
}
