//! The audit commands: the log, exports, checkpoints and their verification.

use std::os::unix::fs::PermissionsExt as _;

use crate::{Project, Said};

const KEPT: &str = "kept.checkpoint";

#[test]
fn the_log_and_its_exports_have_every_handoff() {
    let project = Project::started();
    let log = project.ok(&["audit", "log"]);
    assert!(log.contains("Orchestrator → Analyst") && log.contains("1/HO-001"), "{log}");
    let json = project.json(&["audit", "log", "--agent", "analyst"]);
    assert_eq!(json["items"][0]["story"], "s1");
    assert_eq!(project.ok(&["audit", "log", "--to", "2001-01-01"]).trim(), "no handoffs");
    project.fails(&["audit", "log", "--from", "yesterday"], 2, "for '--from <DATE>': it is a day");
    let csv = project.ok(&["audit", "export", "--format", "csv"]);
    assert_eq!(csv.lines().count(), 2, "{csv}");
    assert!(csv.starts_with("number,id,label,run,"), "{csv}");
    let lines = project.ok(&["audit", "export", "--format", "jsonl"]);
    assert_eq!(lines.lines().count(), 1);
    project.fails(&["audit", "export", "--format", "csv", "--events"], 2, "`--format jsonl` only");
}

#[test]
fn a_checkpoint_that_is_kept_elsewhere_tells_of_a_log_that_was_set_back() {
    let project = Project::started();
    let said = project.ok(&["audit", "verify"]);
    assert!(said.contains("there is no checkpoint, so no signature was checked"), "{said}");
    assert!(!said.contains("is the one that was signed"), "{said}");
    project.ok(&["backup", "before.db"]);
    project.ok(&["handoff", "accept", "1"]);
    let said = project.ok(&["audit", "checkpoint", "--out", KEPT]);
    assert!(said.starts_with("checkpoint 1 over "), "{said}");
    let said = project.ok(&["audit", "verify"]);
    assert!(said.contains("1 checkpoint verified: every chain is whole, and is the one"), "{said}");
    project.fails(&["audit", "checkpoint", "--out", KEPT], 4, "exists already");
    let key = project.path().join(".baton/data/audit.key");
    assert_eq!(std::fs::metadata(&key).unwrap().permissions().mode() & 0o777, 0o600);
    let public = project.json(&["audit", "checkpoint"])["key"].as_str().unwrap().to_owned();
    assert!(!std::fs::read_to_string(&key).unwrap().contains(&public));

    let json = project.json(&["audit", "verify", "--checkpoint", KEPT, "--key", &public]);
    assert_eq!((&json["checkpoints"], &json["problems"]), (&2.into(), &serde_json::json!([])));
    assert!(json["unverified"][0].as_str().unwrap().contains("a principal is"), "{json}");
    let other = "0".repeat(64);
    project.fails(&["audit", "verify", "--key", &other], 1, "signed by another key");
    project.fails(&["audit", "verify", "--key", "abc"], 2, "64 hexadecimal digits");

    project.ok(&["restore", "before.db", "--replace"]);
    project.ok(&["audit", "verify"]);
    project.fails(&["audit", "verify", "--checkpoint", KEPT], 1, "2 events at its end are missing");
    let forged = std::fs::read_to_string(project.path().join(KEPT)).unwrap();
    std::fs::write(project.path().join("forged"), forged.replace("runs 1", "runs 2")).unwrap();
    project.fails(&["audit", "verify", "--checkpoint", "forged"], 1, "proves nothing");
}

#[test]
fn an_export_of_the_log_is_verified_without_its_database() {
    let project = Project::started();
    project.ok(&["handoff", "accept", "1"]);
    let checkpoint = project.json(&["audit", "checkpoint"]);
    let public = checkpoint["key"].as_str().unwrap();
    let log = project.ok(&["audit", "export", "--format", "jsonl", "--events"]);
    let elsewhere = tempfile::tempdir().unwrap();
    let verify = |log: &str| -> Said {
        std::fs::write(elsewhere.path().join("log.jsonl"), log).unwrap();
        let mut command =
            project.command(&["audit", "verify", "--export", "log.jsonl", "--key", public]);
        Said::from(command.current_dir(elsewhere.path()).output().unwrap())
    };
    let said = verify(&log);
    assert!(said.stdout.contains("1 run") && said.code == 0, "{said:?}");
    // A header, the checkpoint, and the events.
    let lines: Vec<&str> = log.lines().collect();
    let without_last = lines[..lines.len() - 1].join("\n");
    let swapped = [&lines[..2], &[lines[3], lines[2]], &lines[4..]].concat().join("\n");
    for (edited, words) in [
        (log.replacen("\"by\":\"", "\"by\":\"not-", 1), "does not fit the chain"),
        ([&lines[..2], &lines[3..]].concat().join("\n"), "is missing"),
        (without_last.clone(), "at its end is missing"),
        (without_last, "it was cut short"),
        (lines[..3].join("\n"), "it was cut short"),
        (String::new(), "it is no export"),
        (swapped, "is out of order"),
        (log.replacen("{\"position\":", "{\"note\":1,\"position\":", 1), "line 3 is no event"),
        (log.replace("\"checkpoint\":\"baton", "\"checkpoint\":\"bacon"), "not a checkpoint"),
        (format!("{log}nonsense\n"), "is no event"),
        (format!("nonsense\n{log}"), "line 1 is no event"),
    ] {
        let said = verify(&edited);
        assert_eq!(said.code, 1, "{words}: {said:?}");
        assert!(said.stderr.contains(words), "{words}: {said:?}");
        assert!(!said.stderr.contains("baton recover"), "{said:?}");
    }
    // As an earlier version wrote it: without a header, and the checkpoints at the end.
    let older = [&lines[2..], &lines[1..2]].concat().join("\n");
    let said = verify(&older);
    assert!(said.code == 0 && said.stderr.contains("without a header"), "{said:?}");
}

const SECRET: &str = "the customer is Xylophone Quuxley";

/// Whether any file below the project still has the secret.
fn is_anywhere(project: &Project) -> Vec<String> {
    let mut found = Vec::new();
    let mut folders = vec![project.path().to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            let bytes = std::fs::read(&path).unwrap();
            if bytes.windows(SECRET.len()).any(|it| it == SECRET.as_bytes()) {
                found.push(path.display().to_string());
            }
        }
    }
    found
}

#[test]
fn a_redacted_text_is_nowhere_and_the_log_still_verifies() {
    let project = Project::started();
    project.ok(&["handoff", "reject", "1", "--reason", SECRET]);
    assert!(project.ok(&["audit", "export", "--format", "csv"]).contains(SECRET));
    project.ok(&["audit", "checkpoint"]);
    assert!(!is_anywhere(&project).is_empty());
    let redact = ["audit", "redact", "s1", "HO-001", "--part", "endedReason"];
    let rehearsed = [&redact[..], &["--reason", "asked for", "--dry-run"]].concat();
    let said = project.ok(&rehearsed);
    assert!(said.contains("would redact 1 text") && said.contains("HO-001 endedReason"), "{said}");
    assert!(!is_anywhere(&project).is_empty(), "nothing has happened yet");
    project.fails(&["audit", "redact", "s1", "HO-001"], 2, "--reason");
    project.fails(
        &["audit", "redact", "s1", "HO-001", "--part", "package", "--reason", "x"],
        4,
        "is under way",
    );

    let said = project.run(&[&redact[..], &["--reason", "asked for"]].concat());
    assert_eq!(said.code, 0, "{said:?}");
    assert!(said.stderr.contains("`.baton/data/runner/attempts`"), "{said:?}");
    // The return has the same text as its reason, so nothing is left of it there either.
    let returned = ["audit", "redact", "s1", "HO-002", "--part", "reason", "--reason", "asked for"];
    let said = project.ok(&returned);
    assert!(said.contains("was already redacted on"), "{said}");
    assert_eq!(is_anywhere(&project), [""; 0]);
    let shown = project.json(&["handoff", "show", "1"]);
    assert_eq!(shown["endedReason"], "[redacted]", "{shown}");
    let said = project.json(&["audit", "verify"]);
    assert_eq!((&said["redactedTexts"], &said["problems"]), (&1.into(), &serde_json::json!([])));
    let events = project.ok(&["audit", "export", "--format", "jsonl", "--events"]);
    assert!(events.contains("content.redacted"), "{events}");
    let again = project.ok(&[&redact[..], &["--reason", "asked for"]].concat());
    assert!(again.contains("HO-001 endedReason was already redacted on"), "{again}");
}
