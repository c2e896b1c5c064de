//! Documents that pass and should not, and documents that should pass and do not.

use crate::Project;

fn write(project: &Project, file: &str, text: &str) {
    let path = project.path().join(file);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, text).unwrap();
}

/// A workflow of two agents of its own, with these lines for its first step.
fn two_steps(first: &str) -> Project {
    let project = Project::new();
    for name in ["arch", "dev"] {
        let agent = format!("---\nname: {name}\ndescription: The {name}\n---\n# {name}\nDo it.\n");
        write(&project, &format!(".baton/agents/{name}.md"), &agent);
    }
    let workflow = format!(
        "name: w\nprofile: strict\nstart: {{ to: a }}\nsteps:\n  a: {{ agent: arch, on: {{ {first} }} }}\n  \
         b: {{ agent: dev, on: {{ success: complete }} }}\n"
    );
    write(&project, ".baton/workflows/w.yaml", &workflow);
    project.ok(&["story", "add", "s"]);
    project.ok(&["run", "start", "s", "--workflow", "w"]);
    project.ok(&["handoff", "accept", "1"]);
    project
}

#[test]
fn blocked_work_says_what_blocks_and_what_was_tried_on_every_way() {
    let project = two_steps("success: { to: b, contract: metadata/*->* }");
    let create = ["handoff", "create", "--file", "b.json", "--run", "s"];
    write(
        &project,
        "b.json",
        r#"{"status":"blocked","agent":"arch","handoff":{"next_agent":null}}"#,
    );
    let said = project.run(&create);
    for rule in
        ["blocked_reason: is missing", "attempted: is missing", "handoff.context: is missing"]
    {
        assert!(said.code == 1 && said.stderr.contains(rule), "{rule}: {said:?}");
    }
    let blocked = r#"{"status":"blocked","agent":"arch","output_type":"design-blocked",
        "timestamp":"2025-12-30T15:45:00Z","feature_directory":".claude/.output/features/dashboard",
        "skills_invoked":["gateway"],"library_skills_read":[],"source_files_verified":["b.json:1-1"],
        "blocked_reason":"missing_requirements","attempted":["Searched docs/ for the API"],
        "handoff":{"next_agent":NEXT,"context":"The metrics API is not documented: response shape, pages"}}"#;
    // Who comes next after a blocked agent is not its own to say.
    write(&project, "b.json", &blocked.replace("NEXT", r#""dev""#));
    project.fails(&create, 1, "handoff.next_agent: has to be null here");
    write(&project, "b.json", &blocked.replace("NEXT", "null"));
    project.ok(&create);
    // A payload says it in its own words.
    let project = two_steps("success: b");
    let complete = ["handoff", "complete", "1", "--outcome", "blocked", "--payload"];
    project.fails(&[&complete[..], &["{}"]].concat(), 1, "attempted: is missing");
    let payload = r#"{"blockers":["No access to the queue"],"attempted":["Asked for it twice"]}"#;
    project.ok(&[&complete[..], &[payload]].concat());
}

#[test]
fn an_error_to_the_orchestrator_says_what_went_wrong() {
    for status in ["failure", "blocked"] {
        let project = two_steps("success: b");
        let create = ["handoff", "create", "--file", "e.xml", "--run", "s", "--profile", "lenient"];
        let xml = |error: &str| {
            format!(
                "<handoff><from>arch</from><to>orchestrator</to><status>{status}</status>{error}</handoff>"
            )
        };
        write(&project, "e.xml", &xml(""));
        project.fails(&create, 1, "handoff.error.message: is missing");
        assert_eq!(project.run(&["lint", "e.xml"]).code, 1);
        let error = "<error><type>NetworkError</type><message>npm ci timed out</message>\
            <details>ETIMEDOUT after 300 s</details><recoverable>true</recoverable>\
            <suggested_action>Run it again</suggested_action></error>";
        write(&project, "e.xml", &xml(error));
        project.ok(&create);
    }
}

#[test]
fn what_the_linter_calls_an_error_is_not_handed_on_in_strict() {
    let project = Project::started();
    project.ok(&["handoff", "accept", "1"]);
    let plan = r#"{"plan":"Write src/login.rs, then test each refusal","files_to_modify":["src/login.rs"],
        "approach":"Tokens in a table, since they can be revoked","risks":[],"questions_resolved":true,
        "artifacts":["docs/plan.md"]}"#;
    write(&project, "plan.json", plan);
    let said = project.run(&["lint", "plan.json", "--edge", "analyst:implementer"]);
    assert!(said.code == 1 && said.stdout.contains("[artifact_missing]"), "{said:?}");
    let hand = [
        "handoff",
        "create",
        "--story",
        "s1",
        "--from",
        "analyst",
        "--to",
        "implementer",
        "--payload",
        plan,
    ];
    project.fails(&hand, 1, "artifacts[0]: does not exist");
    project.fails(&["handoff", "complete", "1", "--payload", plan], 1, "[artifact_missing]");
    write(&project, "docs/plan.md", "# Plan\n");
    project.ok(&hand);
}

#[test]
fn the_block_of_a_prompt_is_taken_as_a_file() {
    let project = Project::started();
    project.ok(&["handoff", "accept", "1"]);
    let prompt = project.ok(&["prompt", "1", "--face", "block"]);
    let is_create = |it: &&str| it.contains(r#""action": "create""#) && it.contains("implementer");
    let block = prompt.split("```baton\n").skip(1).find(is_create).unwrap();
    let mut block = block.split("\n```").next().unwrap().to_owned();
    while let Some((before, mark)) = block.split_once("\": <true") {
        let (_, behind) = mark.split_once('>').unwrap();
        block = format!("{before}\": true{behind}");
    }
    let mut filled = String::new();
    for part in block.split_inclusive('>') {
        let (before, mark) = part.split_once("\"<").unwrap_or((part, ""));
        filled.push_str(before);
        filled.push_str(match mark {
            "" => "",
            _ => "\"Sessions in src/login.rs, since they can be revoked",
        });
    }
    let output = format!("I had a look.\n\n```baton\n{filled}\n```\nDone.\n");
    write(&project, "out.txt", &output);
    write(&project, "h.json", &project.ok(&["extract", "out.txt"]));
    let said = project.run(&["lint", "h.json", "--no-workspace"]);
    assert!(said.code == 0 && said.stdout.contains("by the contract `plan`"), "{said:?}");
    project.ok(&["handoff", "create", "--file", "h.json", "--run", "1"]);
    let row = project.json(&["handoff", "show", "2"]);
    assert_eq!(row["toAgent"], "implementer", "{row}");
    assert!(row["package"]["plan"].is_string() || row["package"]["plan"].is_array(), "{row}");
    // The other blocks of a prompt as well.
    write(&project, "accept.json", r#"{"action":"accept","handoffId":2,"agent":"implementer"}"#);
    project.ok(&["handoff", "create", "--file", "accept.json"]);
    write(
        &project,
        "ask.json",
        r#"{"action":"clarify","handoffId":2,"agent":"implementer","question":"Which table?"}"#,
    );
    project.ok(&["handoff", "create", "--file", "ask.json"]);
    write(
        &project,
        "answer.json",
        r#"{"action":"answer","handoffId":2,"agent":"analyst","answer":"sessions"}"#,
    );
    project.ok(&["handoff", "create", "--file", "answer.json"]);
    write(
        &project,
        "no.json",
        r#"{"action":"reject","handoffId":2,"reason":"No tests","extra":1}"#,
    );
    project.fails(&["handoff", "create", "--file", "no.json"], 2, "a request to reject has only");
}

#[test]
fn a_delegation_is_looked_at_by_the_contract_of_the_delegate() {
    let project = Project::new();
    let asked = "handoff:\n  from: { agent: architecture, step: 3 }\n  \
        to: { agent: security-check, reason: Before the design is final }\n  \
        context:\n    summary: Designed the API with 4 routes and JWT sessions\n";
    write(&project, "ask.yaml", asked);
    let said = project.run(&["lint", "ask.yaml"]);
    assert!(said.stdout.contains("by the contract `security-request`"), "{said:?}");
    assert!(said.code == 1 && said.stdout.contains("expectations.deliverable"), "{said:?}");
    let back = asked.replace("{ agent: architecture, step: 3 }", "{ agent: SC, step: null }");
    let back = back.replace("{ agent: security-check", "{ agent: architecture");
    write(&project, "back.yaml", &back.replace("SC", "security-check"));
    let said = project.run(&["lint", "back.yaml"]);
    assert!(said.stdout.contains("by the contract `security-review`"), "{said:?}");
}

#[test]
fn either_arrow_and_either_kind_of_name_is_the_same_contract() {
    let project = two_steps("success: { to: b, contract: 001/prep-agent->implementer-agent }");
    let agent = "---\nname: NAME\ndescription: d\nKEYS\n---\n# x\nDo it.\n";
    let contract = "\"xml/prep-agent→implementer-agent\"";
    let arch = format!("produces: {{ success: [{contract}] }}");
    write(&project, ".baton/agents/arch.md", &agent.replace("NAME", "arch").replace("KEYS", &arch));
    let dev = format!("accepts: [{contract}]");
    write(&project, ".baton/agents/dev.md", &agent.replace("NAME", "dev").replace("KEYS", &dev));
    project.ok(&["workflow", "check", "w"]);
    let other = dev.replace("prep-agent", "other-agent");
    write(&project, ".baton/agents/dev.md", &agent.replace("NAME", "dev").replace("KEYS", &other));
    project.fails(&["workflow", "check", "w"], 1, "[not_accepted]");
}

#[test]
fn a_receiver_is_told_what_its_own_checks_found() {
    let project = Project::started();
    project.fails(
        &["handoff", "accept", "1", "--acknowledgement", "acknowledgment: {}"],
        2,
        "received: is missing: say `received: true`; understood: is missing",
    );
    let ack = "acknowledgment: {received: true, from: nobody, understood: {task: Plan it}}";
    project.fails(&["handoff", "accept", "1", "--acknowledgement", ack], 1, "[not_the_sender]");
    let partial = "acknowledgment: {received: true, understood: partial, blockers: [specs/feature.md is not there]}";
    let said = project.run(&["handoff", "accept", "1", "--acknowledgement", partial]);
    assert_eq!(said.code, 0, "{said:?}");
    let told = format!("{}{}", said.stdout, said.stderr);
    assert!(told.contains("received-artifacts: not every artifact"), "{said:?}");
    let shown = project.ok(&["handoff", "show", "1"]);
    assert!(
        shown.contains("clarification") && !shown.contains("received-artifacts passed"),
        "{shown}"
    );
}
