//! Handoffs by every name that people have for them: `take`, `done`, and the words of refusals.

use serde_json::json;

use crate::Project;

const PLAN: &str = r#"{"plan": "add a login form", "files_to_modify": ["src/login.rs"],
    "approach": "a form is what customers know", "risks": ["none known: the form is small"],
    "questions_resolved": true}"#;

#[test]
fn an_agent_takes_and_finishes_its_work_without_a_number() {
    let project = Project::started();
    project.fails(
        &["done"],
        3,
        "no agent holds a handoff; `baton take` accepts one that is offered",
    );
    let taken = project.ok(&["take"]);
    assert!(taken.contains("handoff 1 (HO-001) orchestrator → analyst: accepted"), "{taken}");
    project.fails(&["take"], 3, "no handoff is offered to an agent; `baton status`");
    let done = project.ok(&["done", "s1", "--payload", PLAN, "--profile", "lenient"]);
    assert!(done.contains("analyst → implementer: pending"), "{done}");
    project.fails(&["take", "--by", "reviewer"], 3, "no handoff is offered to `reviewer`");
    project.ok(&["story", "add", "s2"]);
    project.ok(&["run", "start", "s2"]);
    project.fails(&["take"], 4, "several handoffs are offered; type one of: `baton take 2` (HO-002 of s1, implementer), `baton take 3` (HO-001 of s2, analyst)");
    project.ok(&["take", "--by", "implementer"]);
    project.ok(&["take", "s2"]);
    project.fails(&["done"], 4, "several handoffs are held; type one of: `baton done 2`");
    project.fails(&["done", "--as", "analyst", "--payload", "[]"], 1, "the contract `plan`");
    project.fails(
        &["done", "2", "--outcome", "sucess"],
        2,
        "there is no outcome `sucess`; did you mean `success`?",
    );
}

#[test]
fn a_repeated_take_or_done_with_the_same_key_gets_the_first_answer() {
    let project = Project::started();
    let taken = project.ok(&["take", "--key", "t1"]);
    assert_eq!(project.ok(&["take", "--key", "t1"]), taken);
    let done = ["done", "s1", "--key", "d1", "--payload", PLAN, "--profile", "lenient"];
    let first = project.ok(&done);
    assert_eq!(project.ok(&done), first);
    assert_eq!(project.ok(&["take", "--key", "t1"]), taken, "its handoff is completed by now");
    let other = project.run(&["done", "s1", "--key", "d1", "--payload", "{}"]);
    assert!(other.stderr.contains("[key_reused]"), "{other:?}");
    // The same key of another command is another key.
    project.ok(&["take", "--key", "d1"]);
    project.ok(&["story", "add", "s2"]);
    project.ok(&["run", "start", "s2"]);
    project.fails(&["take", "s2", "--key", "t1"], 4, "the key `t1` was used for HO-001 of s1");
}

#[test]
fn a_handoff_has_many_names() {
    let project = Project::started();
    let id = project.json(&["handoff", "show", "1"])["id"].as_str().unwrap().to_owned();
    for name in ["1", "handoff:1", "1/HO-001", "s1/HO-001", "s1", "story:s1", "s1/analyst", &id] {
        assert_eq!(project.json(&["handoff", "show", name])["number"], 1, "{name}");
    }
    assert_eq!(project.json(&["handoff", "show", "HO-001", "--run", "s1"])["number"], 1);
    let show = |name: &'static str| ["handoff", "show", name];
    project.fails(
        &show("HO-001"),
        2,
        "`HO-001` is a label within a run; say which with `--run 1` (in the API `run`), or as `1/HO-001` (handoff 1)",
    );
    project.fails(&show("s1/reviewer"), 3, "there is no handoff `s1/reviewer`");
    project.fails(&show("nothing"), 3, "there is no handoff `nothing`");
    project.ok(&["story", "add", "s2"]);
    project.fails(&show("s2"), 3, "story `s2` has no run; `baton run start s2` starts one");
    project.ok(&["run", "cancel", "s1"]);
    project.fails(&show("s1"), 4, "run 1 is cancelled, so no handoff is open in it");
}

#[test]
fn the_id_that_a_sender_gave_names_its_handoff() {
    let project = Project::plain();
    project.ok(&["take"]);
    let package = |id: &str| json!({"id": id, "context": {"summary": "the login form is planned"}});
    let send = |number: &str, id: &str| {
        let package = package(id).to_string();
        let complete = ["handoff", "complete", number, "--profile", "lenient", "--payload"];
        project.ok(&[&complete[..], &[&package]].concat());
    };
    send("1", "HO-2024-001");
    assert_eq!(project.json(&["handoff", "show", "HO-2024-001"])["number"], 2);
    project.ok(&["take", "HO-2024-001"]);
    project.ok(&["handoff", "reject", "HO-2024-001", "--reason", "the form has no test"]);
    project.ok(&["take"]);
    send("s1", "HO-2024-001");
    // What is returned carries the package that was refused: of three, one is open.
    assert_eq!(project.json(&["handoff", "show", "HO-2024-001"])["number"], 4);
    project.ok(&["run", "cancel", "s1"]);
    project.fails(
        &["handoff", "show", "HO-2024-001"],
        4,
        "means both handoff 3 and handoff 4; say `3` or `4`",
    );
}

#[test]
fn a_refusal_names_what_was_typed() {
    let project = Project::started();
    project.ok(&["take", "--lease", "60"]);
    project.fails(
        &["handoff", "accept", "1"],
        4,
        "handoff 1 (HO-001) is already accepted by `analyst`",
    );
    let create = ["handoff", "create", "--run", "1", "--from", "reviewer", "--to", "implementer"];
    let create = [&create[..], &["--payload", "{}"]].concat();
    project.fails(&create, 4, "`analyst` holds it with handoff 1 (HO-001)");
    project.fails(&["reject", "1"], 4, "`baton reject` answers a gate; `baton handoff reject 1 --reason TEXT` gives an agent's work back");
    project.fails(&["approve", "s1"], 4, "`baton handoff complete s1`");
    project.fails(
        &["run", "goto", "1", "analyse", "--reason", "x"],
        1,
        "did you mean `analyze`? it has: analyze, implement",
    );
    let heartbeat = ["handoff", "heartbeat", "1", "--fence", "7"];
    project.fails(&heartbeat, 4, "fencing token 7 was never given out: handoff");
}

#[test]
fn a_gate_says_which_command_answers_it() {
    let project = Project::new();
    project.ok(&["story", "add", "s1"]);
    project.ok(&["run", "start", "s1", "--workflow", "gated-project"]);
    project.ok(&["take"]);
    let package = r#"{"context": {"summary": "The login form of src/login.rs is specified."}}"#;
    project.ok(&["done", "--profile", "lenient", "--payload", package]);
    let gate = project.json(&["inbox"])["items"][0]["handoff"].as_str().unwrap().to_owned();
    let gate = format!("1/{gate}");
    project.fails(
        &["handoff", "reject", &gate, "--reason", "no"],
        4,
        &format!("a person says `baton approve {gate}` or `baton reject {gate}`"),
    );
}

#[test]
fn a_file_that_was_meant_is_named() {
    let project = Project::started();
    project.ok(&["take"]);
    std::fs::write(project.path().join("plan.json"), PLAN).unwrap();
    let done = |payload: &'static str| ["done", "--profile", "lenient", "--payload", payload];
    project.fails(&done("plan.json"), 2, "did you mean `@plan.json`, the file?");
    let said = project.run(&done("plans.json"));
    assert!(!said.stderr.contains("did you mean"), "{said:?}");
    project.ok(&done("@plan.json"));
}

#[test]
fn a_refusal_says_what_to_type_next() {
    let project = Project::started();
    project.fails(
        &["run", "start", "s1"],
        4,
        "under way as run 1 already; `baton run show 1` shows it",
    );
    project.fails(&["handoff", "show", "s1/analist"], 3, "did you mean `s1/analyst`?");
    project.ok(&["run", "pause", "s1"]);
    project.fails(&["take"], 4, "the run is paused; type `baton run resume RUN` first");
    project.ok(&["run", "resume", "s1"]);
    project.ok(&["take"]);
    project.ok(&["done", "--payload", PLAN, "--profile", "lenient"]);
    project.fails(&["handoff", "accept", "1"], 4, "`baton handoff list` shows those that are open");
}

#[test]
fn a_named_server_shows_its_own_project_and_warns_where_the_folder_has_another() {
    let (project, other) = (Project::started(), Project::started());
    let server = project.serves();
    let name = project.path().file_name().unwrap().to_str().unwrap();
    let named = |it: &Project| it.run(&["status", "--server", &server.url]);
    let own = named(&project);
    assert!(own.stdout.starts_with(&format!("baton {name} http://127.0.0.1:")), "{own:?}");
    assert_eq!(own.stderr, "");
    let said = named(&other);
    assert_eq!(said.stdout, own.stdout);
    assert!(said.stderr.contains("has the data of another project than"), "{said:?}");
    let written = other.run(&["story", "add", "s2", "--server", &server.url]);
    assert!(written.stderr.contains("named by `--server`, has the data of another"), "{written:?}");
    let found = project.json(&["status"]);
    assert_eq!(found["project"], name);
    // A copy without data works with any server.
    let copy = Project::new();
    let said = named(&copy);
    assert!(!said.stderr.contains("another project"), "{said:?}");
}
