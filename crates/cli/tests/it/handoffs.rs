//! Handing off from the command line.

use crate::Project;

const PLAN: &str =
    r#"{"plan":"p","files_to_modify":[],"approach":"a","risks":[],"questions_resolved":true}"#;

#[test]
fn a_story_goes_through_the_whole_pipeline_by_hand() {
    let project = Project::started();
    project.ok(&["handoff", "accept", "1", "--acknowledgement", "I plan the login"]);
    let to_implementer =
        ["handoff", "create", "--story", "s1", "--from", "analyst", "--to", "implementer"];
    project.ok(&[&to_implementer[..], &["--payload", PLAN]].concat());
    for no in 2..=5 {
        let no = no.to_string();
        project.ok(&["handoff", "accept", &no]);
        project.ok(&["handoff", "complete", &no, "--profile", "lenient"]);
    }
    let run = project.json(&["run", "show", "s1"]);
    assert_eq!(run["status"], "completed");
    assert_eq!(run["phase"], "complete");
    let handoffs = project.json(&["handoff", "list", "--run", "s1", "--all"]);
    assert_eq!(handoffs["items"].as_array().unwrap().len(), 6);
    assert_eq!(handoffs["items"][0]["acknowledgement"], "I plan the login");
    assert!(project.ok(&["verify"]).contains("every chain is whole"));
    assert!(project.ok(&["story", "list"]).contains("finished"));
}

#[test]
fn a_payload_comes_back_as_it_was_written() {
    let project = Project::started();
    project.ok(&["handoff", "accept", "1"]);
    let payload = r#"{"plan":"p","n":1.50,"big":12345678901234567890,"z":null,"a":"ü 🚀"}"#;
    std::fs::write(project.path().join("plan.json"), payload).unwrap();
    project.ok(&["handoff", "complete", "1", "--profile", "lenient", "--payload", "@plan.json"]);
    let shown = project.ok(&["handoff", "show", "2", "--json"]);
    for kept in ["1.50", "12345678901234567890", "ü 🚀"] {
        assert!(shown.contains(kept), "{shown}");
    }
}

#[test]
fn a_refusal_names_every_problem_and_shows_what_would_pass() {
    let project = Project::started();
    project.ok(&["handoff", "accept", "1"]);
    let said = project.run(&["handoff", "complete", "1"]);
    assert_eq!(said.code, 1, "{said:?}");
    for complaint in [
        "[contract]",
        "- plan: is missing",
        "- risks: is missing",
        "\"plan\": \"<text: the steps to take",
    ] {
        assert!(said.stderr.contains(complaint), "{complaint}: {}", said.stderr);
    }
}

#[test]
fn a_finding_of_the_linter_is_marked_in_its_place() {
    let project = Project::started();
    project.ok(&["handoff", "accept", "1"]);
    let package = PLAN.replace('}', r#","summary":"Done with the work"}"#);
    let said = project.run(&["handoff", "complete", "1", "--payload", &package]);
    assert_eq!(said.code, 1, "{said:?}");
    assert!(said.stderr.contains("[lint]"), "{}", said.stderr);
    assert!(said.stderr.contains("refused was 'Done with the work'>"), "{}", said.stderr);
    let whole = "JWT sessions expire after 15 minutes in src/session.rs";
    let package = package.replace("Done with the work", whole);
    project.ok(&["handoff", "complete", "1", "--payload", &package]);
}

#[test]
fn of_a_long_package_only_what_has_to_change_is_shown() {
    let project = Project::started();
    project.ok(&["handoff", "accept", "1"]);
    let steps: Vec<String> = (1..=100).map(|it| format!("step {it} of `src/a{it}.rs`")).collect();
    let package = serde_json::json!({ "plan": steps, "files_to_modify": [], "approach": "a",
        "risks": [], "questions_resolved": "soon", "decisions": ["Use PostgreSQL"] });
    std::fs::write(project.path().join("plan.json"), package.to_string()).unwrap();
    let complete = ["handoff", "complete", "1", "--payload", "@plan.json"];
    let said = project.run(&complete);
    assert_eq!(said.code, 1, "{said:?}");
    let (problems, rest) = said.stderr.split_once("what has to change").unwrap();
    assert!(problems.contains("- questions_resolved: is text"), "{}", said.stderr);
    for part in [
        "  questions_resolved: <true or false, without quotes: ",
        "  decisions[0].rationale: <text: why",
        "`--json` has the whole",
    ] {
        assert!(rest.contains(part), "{part}: {}", said.stderr);
    }
    assert!(!said.stderr.contains("step 77"), "{}", said.stderr);
    let said = project.run(&[&complete[..], &["--json"]].concat());
    assert!(said.stderr.contains("step 77"), "{}", said.stderr);
}

#[test]
fn a_template_is_to_be_had_before_the_first_try() {
    let project = Project::started();
    let template = project.json(&["handoff", "template", "1"]);
    let mark = |key: &str| template[key].as_str().unwrap().to_owned();
    assert!(mark("questions_resolved").starts_with("<true or false, without quotes: "));
    assert!(mark("plan").starts_with("<text: "));
    let yaml = ["handoff", "template", "--run", "1", "--format", "yaml"];
    assert!(project.ok(&yaml).contains("\nrisks:\n"), "{}", project.ok(&yaml));
    let xml = project.ok(&["handoff", "template", "--story", "s1", "--format", "xml"]);
    assert!(xml.contains("<plan>&lt;text: "), "{xml}");
    project.fails(&["handoff", "template"], 2, "required");
    project.fails(&["handoff", "template", "1", "--to", "documenter"], 1, "[not_an_edge]");
}

#[test]
fn every_kind_of_no_has_its_exit_code() {
    let project = Project::started();
    project.fails(&["handoff", "accept", "99"], 3, "[no_such_handoff]");
    project.fails(&["handoff", "accept", "7/HO-001"], 3, "there is no run `7`");
    project.fails(
        &["handoff", "accept", "HO-001"],
        2,
        "say which with `--run 1` (in the API `run`)",
    );
    project.fails(&["handoff", "accept", "1", "--by", "reviewer"], 4, "[not_yours]");
    project.fails(&["handoff", "complete", "1", "--payload", "{"], 2, "line 1, column 2");
    project.fails(&["handoff", "complete", "1", "--outcome", "great"], 2, "there are success");
    project.fails(&["handoff", "reject", "1", "--reason", "  "], 2, "cannot be empty");
    project.fails(&["run", "start", "s1"], 4, "[already_open]");
    project.fails(&["run", "start"], 4, "[nothing_ready]");
    project.fails(&["run", "goto", "s1", "document", "--reason", "r"], 1, "[not_visited]");
    project.fails(&["run", "skip", "s1", "--reason", "r"], 1, "[not_optional]");
    project.fails(&["story", "add", "s1"], 4, "there is a story `s1` already");
    project.fails(&["story", "show", "s2"], 3, "[no_such_story]");
    project.fails(&["story", "add", "a\u{202e}b"], 2, "invisible character U+202E");
    project.fails(&["handoff", "explode"], 2, "unrecognized subcommand");
    let elsewhere = tempfile::tempdir().unwrap();
    let path = elsewhere.path().to_str().unwrap();
    project.fails(&["status", "--project", path], 3, "is no Baton project");
}

#[test]
fn a_handoff_has_many_names() {
    let project = Project::started();
    let id = project.json(&["handoff", "show", "1"])["id"].as_str().unwrap().to_owned();
    for name in [id.as_str(), "1/HO-001", "s1/HO-001"] {
        assert_eq!(project.json(&["handoff", "show", name])["number"], 1, "{name}");
    }
    assert_eq!(project.json(&["handoff", "show", "HO-001", "--run", "s1"])["number"], 1);
}

#[test]
fn a_dry_run_says_what_would_happen_and_changes_nothing() {
    let project = Project::started();
    let before = project.ok(&["run", "show", "s1", "--json"]);
    let said = project.run(&["handoff", "accept", "1", "--dry-run"]);
    assert_eq!((said.code, said.stdout.trim()), (0, "HO-001 would be accepted"));
    assert_eq!(project.ok(&["run", "show", "s1", "--json"]), before);
    project.fails(&["handoff", "accept", "1", "--by", "reviewer", "--dry-run"], 4, "[not_yours]");
}

#[test]
fn the_same_key_gives_the_same_answer() {
    let project = Project::started();
    let first = project.ok(&["handoff", "accept", "1", "--key", "k1"]);
    let second = project.run(&["handoff", "accept", "1", "--key", "k1"]);
    assert_eq!(second.stdout, first);
    assert!(second.stderr.contains("nothing was done again"), "{second:?}");
    project.fails(&["handoff", "accept", "1", "--lease", "9", "--key", "k1"], 1, "[key_reused]");
    project.fails(
        &["handoff", "accept", "1", "--key", "k1", "--as", "eve"],
        4,
        "[already_accepted]",
    );
}

#[test]
fn a_review_that_goes_in_circles_ends_with_a_person() {
    let project = Project::started();
    let complete = |no: u64| {
        let no = no.to_string();
        project.ok(&["handoff", "accept", &no]);
        project.ok(&["handoff", "complete", &no, "--profile", "lenient", "--payload", PLAN]);
    };
    complete(1);
    complete(2);
    let mut no = 3;
    for _ in 0..3 {
        project.ok(&["handoff", "reject", &no.to_string(), "--reason", "not yet"]);
        complete(no + 1);
        no += 2;
    }
    let said = project.json(&["handoff", "reject", &no.to_string(), "--reason", "still not"]);
    assert!(said["returnHandoff"].is_null(), "{said}");
    let gate = said["gate"]["number"].to_string();
    let status = project.ok(&["status"]);
    assert!(status.contains("waits for you"), "{status}");
    assert!(
        status.contains("baton answer 1/HO-010 CHOICE (continue, accept, hand-to, abort)"),
        "{status}"
    );
    let inbox = project.ok(&["inbox"]);
    for line in [
        "went back 3 times; its limit is 3",
        "baton answer 1/HO-010 continue",
        "HO-011 goes to implementer, for the step implement",
        "HO-011 goes to refactorer, for the step refactor",
        "the run is cancelled",
    ] {
        assert!(inbox.contains(line), "{line}: {inbox}");
    }
    project.fails(&["answer", &gate, "approve"], 1, "[not_a_choice]");
    project.fails(&["answer", &gate, "continue", "reviewer"], 2, "only `hand-to` takes an agent");
    let asks = project.ok(&["handoff", "show", &gate]);
    assert!(asks.contains("baton answer 10 CHOICE (continue, accept, hand-to, abort)"), "{asks}");
    project.ok(&["answer", &gate, "accept", "--comment", "good enough"]);
    let answered = project.json(&["handoff", "show", &gate]);
    assert_eq!(answered["question"]["answer"], "accept");
    assert_eq!(answered["question"]["by"], "ada");
    assert_eq!(answered["question"]["comment"], "good enough");
    let taken = project.json(&["handoff", "show", "11"]);
    assert_eq!(
        (&taken["approvedBy"], &taken["warnings"][0]),
        (&"ada".into(), &"waived approval".into())
    );
    let status = project.ok(&["status"]);
    assert!(status.contains("offered to refactorer"), "{status}");
}

#[test]
fn what_is_piped_has_no_colours() {
    let project = Project::started();
    for args in [&["status"][..], &["run", "list"], &["handoff", "list"], &["workflow", "list"]] {
        assert!(!project.ok(args).contains('\u{1b}'), "{args:?}");
    }
}

#[test]
fn a_loose_baton_is_shown_with_what_to_type() {
    let project = Project::started();
    project.ok(&["handoff", "cancel", "1", "--reason", "too early"]);
    let status = project.ok(&["status"]);
    assert!(status.contains("lies loose at orchestrator"), "{status}");
    assert!(status.contains("baton run start s1"), "{status}");
    let inbox = project.json(&["inbox"]);
    assert_eq!(inbox["items"][0]["choices"][0]["command"], "baton run start s1");
    assert_eq!(
        inbox["items"][0]["choices"][0]["then"],
        "HO-002 goes to analyst, for the step analyze"
    );
    project.ok(&["run", "start", "s1"]);
    assert!(project.ok(&["status"]).contains("offered to analyst with HO-002"));
    assert_eq!(project.json(&["inbox"])["items"].as_array().unwrap().len(), 0);
}

/// The inbox says how the last handoff ended and why, and how often the work was offered again.
#[test]
fn a_loose_baton_is_shown_with_the_words_of_its_end_and_every_new_offer() {
    let project = Project::started();
    let waits = || project.json(&["inbox"])["items"][0].clone();
    project.ok(&["handoff", "cancel", "1", "--reason", "too early"]);
    let item = waits();
    assert_eq!(item["words"], "too early");
    assert_eq!(item.get("wordsBy"), None, "an operator's words are no agent's");
    let why = "The baton lies loose at orchestrator: HO-001 to analyst was cancelled, and no agent \
               has the work";
    assert_eq!(item["why"], why);
    assert!(!project.ok(&["run", "show", "1"]).contains("offered again"));
    project.ok(&["run", "start", "s1"]);
    project.ok(&["handoff", "timeout", "2", "--reason", "no answer for a day"]);
    let item = waits();
    assert_eq!(item["words"], "no answer for a day");
    let why = item["why"].as_str().unwrap();
    assert!(why.contains("HO-002 to analyst timed out"), "{why}");
    assert!(why.ends_with("; the orchestrator has offered it again once"), "{why}");
    assert!(project.ok(&["inbox"]).contains("no answer for a day"));
    assert!(project.ok(&["run", "show", "1"]).contains("once, by the orchestrator"));
    project.ok(&["run", "start", "s1"]);
    project.ok(&["handoff", "timeout", "3"]);
    let item = waits();
    assert_eq!(item["words"], serde_json::Value::Null, "nothing was said");
    let why = item["why"].as_str().unwrap();
    assert!(why.ends_with("; the orchestrator has offered it again 2 times"), "{why}");
    assert!(project.ok(&["run", "show", "1"]).contains("2 times, by the orchestrator"));
}

/// A name that does not exist, a number that is none: the answer says what to type.
#[test]
fn a_slip_in_a_name_or_a_number_is_answered_with_what_to_type() {
    let project = Project::started();
    for (args, code, words) in [
        (&["handoff", "accept", "9"][..], 3, "`baton handoff list --all` lists all handoffs"),
        (&["run", "show", "nope"], 3, "`baton run list --all` lists all runs"),
        (&["prompt", "1", "--budget", "abc"], 2, "give a whole number, such as 12"),
        (&["handoff", "list", "--limit", "0"], 2, "give a whole number from 1 to 500"),
        (&["handoff", "accept", "1", "--lease", "1h"], 2, "give a whole number from 1 to 3600"),
        (&["serve", "--listen", "nonsense"], 2, "such as 127.0.0.1:4180"),
    ] {
        project.fails(args, code, words);
    }
}

#[test]
fn a_table_names_the_agent_for_which_a_person_is_asked() {
    let project = Project::started();
    project.ok(&["handoff", "accept", "1"]);
    let blocked = r#"{"reason":"the tracker does not answer","blockers":["no access to the tracker"],"attempted":["asked for access twice"]}"#;
    project.ok(&["handoff", "complete", "1", "--outcome", "blocked", "--payload", blocked]);
    for args in [&["handoff", "list", "--all"][..], &["run", "show", "1"]] {
        let table = project.ok(args);
        assert!(table.contains("orchestrator → human, for analyst"), "{table}");
        assert!(table.contains("orchestrator → analyst "), "{table}");
    }
    // Its handoff to the blocked agent is not in this list, and the question stands alone.
    let open = project.ok(&["handoff", "list"]);
    assert!(open.contains("orchestrator → human"), "{open}");
}
