//! Two at once: they wait for each other.

use std::process::Stdio;

use crate::{Project, Said};

#[test]
fn commands_at_the_same_time_wait_for_each_other() {
    let project = Project::new();
    let children: Vec<_> = (0..8)
        .map(|n| {
            let key = format!("s{n}");
            let mut command = project.command(&["story", "add", &key]);
            command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
        })
        .collect();
    for child in children {
        let said = Said::from(child.wait_with_output().unwrap());
        assert_eq!(said.code, 0, "{said:?}");
    }
    assert_eq!(project.json(&["story", "list"])["items"].as_array().unwrap().len(), 8);
}

#[test]
fn a_backup_brings_everything_back() {
    let project = Project::started();
    let said = project.ok(&["backup", "copy.db"]);
    assert!(said.contains("1 run and 2 events, all verified"), "{said}");
    project.fails(&["backup", "copy.db"], 4, "is there already");
    let shown = project.ok(&["run", "show", "s1", "--json"]);
    project.ok(&["handoff", "accept", "1"]);
    project.fails(&["restore", "copy.db"], 4, "`--replace` puts it aside");
    project.ok(&["restore", "copy.db", "--replace"]);
    assert_eq!(project.ok(&["run", "show", "s1", "--json"]), shown, "as it was then");
    project.ok(&["handoff", "accept", "1"]);
    let other = Project::new();
    std::fs::copy(project.path().join("copy.db"), other.path().join("copy.db")).unwrap();
    other.ok(&["restore", "copy.db"]);
    assert_eq!(other.ok(&["run", "show", "s1", "--json"]), shown);
}

#[test]
fn a_backup_that_is_not_sound_is_not_restored() {
    let project = Project::started();
    project.ok(&["backup", "copy.db"]);
    let path = project.path().join("copy.db");
    let mut bytes = std::fs::read(&path).unwrap();
    let at = bytes.windows(12).position(|it| it == b"\"run.started").unwrap();
    bytes[at + 1] = b'X';
    std::fs::write(&path, bytes).unwrap();
    project.fails(&["restore", "copy.db", "--replace"], 1, "does not fit the chain");
    std::fs::write(&path, "not a database").unwrap();
    project.fails(&["restore", "copy.db", "--replace"], 5, "`copy.db` is no database");
    assert!(project.ok(&["status"]).contains("offered to analyst"), "what was there is there");
}

#[test]
fn these_changes_behind_batons_back_are_found() {
    // Not found: the tables beside the log (stories, answered, outbox), and when a lease ends.
    for edit in [
        "update handoffs set to_agent = 'reviewer'",
        "update handoffs set approved_by = 'boss'",
        "update handoffs set reason = package",
        "update handoffs set state = 'rejected', ended_at = created_at",
        "update handoffs set created_at = created_at + 1",
        "update runs set status = 'completed'",
        "update runs set workflow = 'other'",
        "update runs set baton = 'parked'",
        "update runs set current_agent = 'reviewer'",
        "update runs set moved_at = moved_at + 1",
        "update runs set state = 'x'",
        "update runs set version = 7",
        "update runs set state = replace(state, 'ada', 'eve')",
        "update events set name = 'run.resumed'",
        "update events set done_by = 'eve'",
        "update events set body = replace(body, 'analyst', 'reviewer')",
        "update events set happened_at = happened_at + 1",
        "delete from events where version = 2",
        "delete from contents",
        "update contents set text = 'x'",
        "update definitions set text = replace(text, 'analyst', 'reviewer')",
        "delete from handoffs",
        "delete from timers",
        "update timers set fence = fence + 1",
        "update timers set seconds = 1",
        "update timers set kind = 'wake', fence = null, seconds = null",
        "update timers set no = 2",
    ] {
        let project = Project::started();
        project.ok(&["handoff", "accept", "1", "--lease", "3600"]);
        project.ok(&["verify"]);
        let path = project.path().join(".baton/data/baton.db");
        let connection = rusqlite::Connection::open(path).unwrap();
        assert!(connection.execute(edit, []).unwrap() > 0, "{edit}");
        drop(connection);
        let said = project.run(&["verify"]);
        assert_eq!(said.code, 1, "{edit}: {said:?}");
    }
}

#[test]
fn of_many_who_accept_at_once_one_does() {
    let project = Project::started();
    let children: Vec<_> = (0..6)
        .map(|_| {
            let mut command = project.command(&["handoff", "accept", "1"]);
            command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
        })
        .collect();
    let codes: Vec<i32> =
        children.into_iter().map(|it| Said::from(it.wait_with_output().unwrap()).code).collect();
    assert_eq!(codes.iter().filter(|it| **it == 0).count(), 1, "{codes:?}");
    assert_eq!(codes.iter().filter(|it| **it == 4).count(), 5, "{codes:?}");
}
