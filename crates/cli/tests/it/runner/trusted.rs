//! Nothing of a repository is started before its user trusts it.

use super::Workshop;
use crate::serve::Served;

#[test]
fn a_cloned_repository_starts_nothing_before_it_is_trusted_nor_after_a_change() {
    let workshop = Workshop::new("curl", "");
    let clone =
        Workshop { project: crate::Project(tempfile::tempdir().unwrap()), state: workshop.state };
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
