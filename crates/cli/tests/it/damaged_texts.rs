//! A text that a bad disk has changed, as the commands of a person and the archive tell of it.

use std::fs;

use rusqlite::Connection;

use crate::Project;

/// A project with a question that waits, of which one byte was changed.
fn with_a_changed_question() -> Project {
    let project = Project::started();
    project.ok(&["handoff", "accept", "1"]);
    project.ok(&[
        "handoff",
        "escalate",
        "1",
        "--reason",
        "cloud or not?",
        "--payload",
        "{}",
        "--profile",
        "lenient",
    ]);
    let database = project.path().join(".baton/data/baton.db");
    let sql = "update contents set text = 'cloud or hot?' where text = 'cloud or not?'";
    assert_eq!(Connection::open(database).unwrap().execute(sql, []).unwrap(), 1);
    project
}

#[test]
fn a_changed_text_is_never_shown_and_every_command_says_what_to_do() {
    let project = with_a_changed_question();
    let inbox = project.ok(&["inbox"]);
    let expected = "damaged: words; `baton verify` says more, `baton recover` saves what is whole";
    assert!(inbox.contains(expected), "{inbox}");
    for list in [&["run", "show", "1"][..], &["handoff", "list"]] {
        let listed = project.ok(list);
        assert!(listed.contains("(damaged: see `baton verify`)"), "{list:?}: {listed}");
    }
    let what = "run 1: the reason of HO-002 is not the one that was written";
    for reader in [&["handoff", "show", "2"][..], &["prompt", "1"]] {
        project.fails(reader, 5, what);
        project.fails(reader, 5, "`baton verify` lists what is wrong, `baton recover` saves");
    }
    for said in [&["inbox"][..], &["run", "show", "1"], &["handoff", "list"], &["status"]] {
        let said = project.run(said);
        assert!(!format!("{said:?}").contains("cloud or hot"), "{said:?}");
    }
    let said = project.run(&["verify"]);
    assert_eq!(said.code, 1, "{said:?}");
}

#[test]
fn a_changed_text_does_not_replace_its_archived_copy() {
    let project = with_a_changed_question();
    let told = |project: &Project| {
        let sessions = project.path().join(".project/07-audit/sessions");
        let session = fs::read_dir(sessions).unwrap().next().unwrap().unwrap().path();
        fs::read_to_string(session.join("handoffs/HO-002.yaml")).unwrap()
    };
    let before = told(&project);
    assert!(before.contains("cloud or not?"), "{before}");
    let rebuilt = project.run(&["archive", "rebuild"]);
    assert!(format!("{rebuilt:?}").contains("cannot be read"), "{rebuilt:?}");
    assert_eq!(told(&project), before);
}

/// As `baton recover` leaves a text that is nowhere any more.
#[test]
fn a_text_that_was_lost_in_a_recovery_is_called_lost_and_counted() {
    let project = Project::started();
    assert_eq!(project.json(&["verify"])["lostTexts"], 0);
    assert!(!project.ok(&["verify"]).contains("lost"));
    project.ok(&["handoff", "clarify", "1", "--question", "cloud or not?"]);
    let database = project.path().join(".baton/data/baton.db");
    let sql = "insert into lost_texts (run_number, id)
                   select run_number, id from contents where text = 'cloud or not?';
               delete from contents where id in (select id from lost_texts)";
    Connection::open(database).unwrap().execute_batch(sql).unwrap();
    for args in [&["handoff", "show", "2"][..], &["handoff", "list", "--all"]] {
        let shown = project.ok(args);
        assert!(shown.contains("(lost)"), "{args:?}: {shown}");
    }
    let verified = project.ok(&["verify"]);
    assert!(verified.contains("1 text recorded as lost in a recovery"), "{verified}");
    assert_eq!(project.json(&["verify"])["lostTexts"], 1);
}
