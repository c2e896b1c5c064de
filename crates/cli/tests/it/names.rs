//! Names on the command line.

use crate::Project;

#[test]
fn a_number_that_is_a_storys_key_too_cancels_nothing() {
    let project = Project::new();
    project.ok(&["story", "add", "2"]);
    project.ok(&["story", "add", "1"]);
    project.ok(&["run", "start", "2"]);
    project.ok(&["run", "start", "1"]);
    let refused = "`2` means both run 2 (of story `1`) and story `2`; say `run:2` or `story:2`";
    for args in [
        &["run", "cancel", "2", "--reason", "issue 2 is obsolete"][..],
        &["run", "show", "2"],
        &["handoff", "list", "--run", "2"],
        &["handoff", "accept", "2/HO-001"],
        &["prompt", "HO-001", "--run", "2"],
    ] {
        project.fails(args, 4, refused);
    }
    project.ok(&["run", "cancel", "story:2"]);
    assert_eq!(project.json(&["run", "show", "run:1"])["status"], "cancelled");
    assert_eq!(project.json(&["run", "show", "run:2"])["status"], "open");
    project.ok(&["handoff", "accept", "run:2/HO-001"]);
    project.ok(&["handoff", "show", "HO-001", "--run", "story:1"]);
    project.ok(&["handoff", "show", "handoff:2"]);
    project.ok(&["story", "show", "story:2"]);
}

#[test]
fn a_story_that_looks_like_another_is_added_with_a_warning() {
    let project = Project::new();
    project.ok(&["story", "add", "login"]);
    let said = project.run(&["story", "add", "lοgin"]);
    assert_eq!(said.code, 0, "{said:?}");
    let expected = "warning: `lοgin` (lU+03BFgin) is a new story, and looks like `login`";
    assert!(said.stderr.contains(expected), "{said:?}");
    project.fails(&["story", "add", "a\u{e0151}"], 2, "invisible character U+E0151");
    project.ok(&["story", "add", " spaced "]);
    project.ok(&["story", "show", "spaced"]);
}

/// The number of a run is not the key of its story: leaving the word out would name another one.
#[test]
fn advice_on_a_name_never_leads_to_another_story() {
    let project = Project::started();
    project.ok(&["story", "add", "1"]);
    for args in [["story", "show", "run:1"], ["run", "start", "run:1"]] {
        let said = project.run(&args);
        assert_eq!(said.code, 2, "{said:?}");
        assert!(said.stderr.contains("`baton run show` says which story"), "{said:?}");
        assert!(!said.stderr.contains("leave it out"), "{said:?}");
    }
    project.fails(
        &["run", "show", "story:1"],
        3,
        "story `1` has no run; `baton run start 1` starts one",
    );
    project.fails(&["run", "show", "story:2"], 3, "there is no run `story:2`");
}

#[test]
fn an_error_code_is_explained_as_it_was_printed() {
    let project = Project::new();
    for code in ["behind_gate", "[behind_gate]"] {
        let page = project.ok(&["explain", code]);
        assert!(page.starts_with("# `behind_gate`"), "{page}");
        assert!(page.contains("## What to do"), "{page}");
    }
    let codes = project.ok(&["explain"]);
    assert!(codes.lines().any(|it| it == "behind_gate") && !codes.contains("README"), "{codes}");
    let said = project.run(&["explain", "no_such_code"]);
    assert_eq!(said.code, 3, "{said:?}");
    assert!(said.stderr.contains("`baton explain` lists them all"), "{said:?}");
}

#[test]
fn an_account_without_a_name_is_recorded_by_its_number() {
    let project = Project::started();
    let mut command = project.command(&["handoff", "accept", "1", "--json"]);
    for name in ["USER", "LOGNAME", "USERNAME"] {
        command.env_remove(name);
    }
    assert!(command.output().unwrap().status.success());
    let database = project.path().join(".baton/data/baton.db");
    let connection = rusqlite::Connection::open(database).unwrap();
    let sql = "select done_by from events order by position desc limit 1";
    let who: String = connection.query_row(sql, [], |row| row.get(0)).unwrap();
    let number = who.strip_prefix("uid-").unwrap_or_else(|| panic!("{who}"));
    assert!(number.parse::<u32>().is_ok(), "{who}");
}
