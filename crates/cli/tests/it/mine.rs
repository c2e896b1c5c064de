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
        "`HO-001` is a label within a run; say which with `run`, or as `1/HO-001` (handoff 1)",
    );
    project.fails(&show("s1/reviewer"), 3, "there is no handoff `s1/reviewer`");
    project.fails(&show("nothing"), 3, "there is no handoff `nothing`");
    project.ok(&["story", "add", "s2"]);
    project.fails(&show("s2"), 3, "story `s2` has no run; `baton run start s2` starts one");
    project.ok(&["run", "cancel", "s1"]);
    project.fails(&show("s1"), 4, "no handoff is open in run 1");
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
