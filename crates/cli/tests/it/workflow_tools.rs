//! The tools for authors of workflows: new, check, simulate, diff, docs, and an agent that is added by
//! files alone.

use expect_test::expect;
use serde_json::Value;

use crate::Project;

const ALL: [&str; 5] =
    ["story-pipeline", "issue-to-merge", "feature-phases", "bmad-delivery", "gated-project"];

fn fixture(name: &str) -> String {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../wire/tests/fixtures/xml");
    std::fs::read_to_string(format!("{folder}/{name}.xml")).unwrap()
}

#[test]
fn every_built_in_workflow_is_sound_and_none_of_its_runs_gets_stuck() {
    let project = Project::new();
    for name in ALL {
        project.ok(&["workflow", "check", name]);
        let report = project.json(&["workflow", "simulate", name, "--runs", "200", "--seed", "7"]);
        assert_eq!(report["stuck"], 0, "{name}: {report}");
        assert!(report["completed"].as_u64().unwrap() > 50, "{name}: {report}");
        let ends = ["completed", "aborted", "waiting", "stuck"];
        let n_runs: u64 = ends.iter().map(|it| report[it].as_u64().unwrap()).sum();
        assert_eq!(n_runs, 200, "{name}");
    }
}

#[test]
fn the_same_seed_gives_the_same_bytes() {
    let project = Project::new();
    let run = |seed: &str| {
        project.ok(&[
            "workflow",
            "simulate",
            "issue-to-merge",
            "--runs",
            "50",
            "--seed",
            seed,
            "--json",
        ])
    };
    assert_eq!(run("3"), run("3"));
    assert_ne!(run("3"), run("4"));
}

#[test]
fn a_script_says_what_happens_and_the_path_is_shown() {
    let project = Project::new();
    let script = "\
# The review asks for changes once.
issue: success
prep: success
implement: success
review: failure
fix: success -> reviewer-agent
review: success
validate: success
close: success
";
    std::fs::write(project.path().join("once.txt"), script).unwrap();
    let path = project.ok(&["workflow", "simulate", "issue-to-merge", "--script", "once.txt"]);
    expect![[r#"
        start → issue-manager
        issue success → prep-agent
        prep success → implementer-agent
        implement success → reviewer-agent
        review failure → fixer-agent
        fix success → reviewer-agent
        review success → validator-agent
        validate success → closer-agent
        close success → orchestrator

        completed
    "#]]
    .assert_eq(&path);
    std::fs::write(project.path().join("odd.txt"), "issue: success\nreview: success\n").unwrap();
    let odd = ["workflow", "simulate", "issue-to-merge", "--script", "odd.txt"];
    project.fails(
        &odd,
        1,
        "line 2, column 1: this line is for `review`, but HO-002 is with `prep-agent`",
    );
    std::fs::write(project.path().join("bad.txt"), "issue: succes\n").unwrap();
    let bad = ["workflow", "simulate", "issue-to-merge", "--script", "bad.txt"];
    project.fails(&bad, 1, "`succes` is not an outcome; did you mean `success`?");
}

#[test]
fn a_script_answers_for_the_person_and_a_mode_asks_one() {
    let project = Project::new();
    let script = "requirements: success\nhuman: approve\narchitecture: blocked\nhuman: abort\n";
    std::fs::write(project.path().join("gate.txt"), script).unwrap();
    let simulate = ["workflow", "simulate", "bmad-delivery", "--script", "gate.txt"];
    project.fails(&simulate, 1, "line 2");
    let supervised = [&simulate[..], &["--mode", "supervised"]].concat();
    let path = project.ok(&supervised);
    assert!(path.contains("human approve → architect"), "{path}");
    assert!(path.contains("aborted"), "{path}");
    let pipeline = ["workflow", "simulate", "story-pipeline", "--mode", "supervised"];
    project.fails(&pipeline, 2, "has no mode `supervised`");
}

#[test]
fn a_new_workflow_is_sound_once_its_agents_are_there() {
    let project = Project::new();
    let new =
        ["workflow", "new", "hotfix", "--step", "fix=implementer", "--step", "check=reviewer"];
    let new = [&new[..], &["--review", "check", "--title", "A \"hot\" fix"]].concat();
    let said = project.ok(&new);
    assert!(said.contains("hotfix.yaml"), "{said}");
    let text =
        std::fs::read_to_string(project.path().join(".baton/workflows/hotfix.yaml")).unwrap();
    expect![[r#"
        name: hotfix
        title: "A \"hot\" fix"

        limits: { rounds: 3, retries: 2, stale_after: 30m }

        start: fix

        steps:
          fix:
            agent: implementer
            on:
              success: check

          check:
            agent: reviewer
            on:
              success: complete
              failure: { to: fix, back: true }
    "#]]
    .assert_eq(&text);
    project.ok(&["workflow", "check", "hotfix"]);
    project.fails(&new, 4, "hotfix.yaml");
    project.fails(&["workflow", "new", "x", "--step", "a", "--review", "a"], 2, "--review a");
    project.fails(&["workflow", "new", "x", "--step", "A B"], 2, "is not a step");
    project.ok(&["workflow", "new", "later", "--step", "nobody-yet"]);
    project.fails(&["workflow", "check", "later"], 1, "there is no agent `nobody-yet`");
}

#[test]
fn a_page_and_a_picture_of_a_workflow() {
    let project = Project::new();
    let page = project.ok(&["workflow", "docs", "feature-phases"]);
    for part in [
        "# Feature phases",
        "```mermaid",
        "A run can be `autonomous`, `semi-autonomous`, `supervised`.",
        "| `security_concern` | frontend | `frontend-security` |",
        "| success | `implementation` | `metadata/*→*` | in semi-autonomous and supervised |",
    ] {
        assert!(page.contains(part), "{part}: {page}");
    }
    expect![[r#"
        orchestrator
          │
          ▼
        issue  ·  issue-manager
          │
          ▼
        prep  ·  prep-agent
          │
          ▼
        implement  ·  implementer-agent
          │
          ▼
        review  ·  reviewer-agent
          ├─ success → validate
          ├─ failure → fix

        fix (optional)  ·  fixer-agent
          ├─ success → review
          ├─ skipped → validate
          │
          ▼
        validate  ·  validator-agent
          ├─ failure → fix
          │
          ▼
        close  ·  closer-agent
          │
          ▼
        complete
    "#]]
    .assert_eq(&project.ok(&["workflow", "graph", "issue-to-merge", "--text"]));
}

#[test]
fn what_changed_since_a_run_began_is_shown() {
    let project = Project::new();
    project.ok(&["run", "start", "s1", "--new-story", "--workflow", "bmad-delivery"]);
    let said = project.run(&["workflow", "diff", "s1"]);
    assert_eq!(said.code, 0, "{said:?}");
    assert!(said.stderr.contains("letter for letter"), "{said:?}");
    project.ok(&["workflow", "eject", "bmad-delivery"]);
    let path = project.path().join(".baton/workflows/bmad-delivery.yaml");
    let text = std::fs::read_to_string(&path).unwrap();
    std::fs::write(&path, text.replace("rounds: 3", "rounds: 5")).unwrap();
    expect![[r#"
        + # yaml-language-server: $schema=../schemas/workflow.schema.json
          name: bmad-delivery
          title: BMAD delivery
        …
            approves it before it goes on.

        - limits: { rounds: 3, retries: 2, questions: 3, stale_after: 30m }
        + limits: { rounds: 5, retries: 2, questions: 3, stale_after: 30m }

          start: { to: requirements, contract: idea }
        …
    "#]]
    .assert_eq(&project.ok(&["workflow", "diff", "s1"]));
    let both: Value = project.json(&["workflow", "diff", "s1"]);
    assert!(both["text"].as_str().unwrap().contains("rounds: 3"));
    assert!(both["current"].as_str().unwrap().contains("rounds: 5"));
}

/// The fenced blocks of a page, without the indentation that a list gives them.
fn blocks(page: &str, language: &str) -> Vec<String> {
    let opening = format!("   ```{language}\n");
    let block = |it: &str| {
        let lines = it.split("   ```").next().unwrap().lines();
        lines.map(|it| it.strip_prefix("   ").unwrap_or(it)).collect::<Vec<_>>().join("\n")
    };
    page.split(&opening).skip(1).map(block).collect()
}

#[test]
fn an_agent_is_added_between_two_others_by_files_alone() {
    let page = include_str!("../../../../docs/how-to/add-an-agent.md");
    let (_, page) = page.split_once("## Between two agents of a workflow").unwrap();
    let project = Project::new();
    let agent = blocks(page, "markdown").remove(0);
    let folder = project.path().join("workflow-agents");
    std::fs::create_dir(&folder).unwrap();
    std::fs::write(folder.join("security-agent.md"), agent).unwrap();
    project.ok(&["workflow", "eject", "issue-to-merge"]);
    let path = project.path().join(".baton/workflows/issue-to-merge.yaml");
    let file = std::fs::read_to_string(&path).unwrap();
    let [edge, passed_on, step] = blocks(page, "yaml").try_into().unwrap();
    // Each line of the page stands for the one that begins as it does and leads to the validator.
    let new: Vec<&str> = edge.lines().chain(passed_on.lines()).collect();
    let begins = |line: &str| line.split('{').next().unwrap().trim().to_owned();
    let contract = |line: &str| {
        line.split("contract: ").nth(1).map(|it| it.split(',').next().unwrap().to_owned())
    };
    let replaced = |it: &'_ str| {
        let is_it = |new: &&&str| begins(new) == begins(it) && contract(new) == contract(it);
        let new = new.iter().find(is_it).filter(|_| it.contains("to: validate"))?;
        let indent = it.len() - it.trim_start().len();
        Some(format!("{}{}", &it[..indent], new.trim_start()))
    };
    let lines: Vec<String> =
        file.lines().map(|it| replaced(it).unwrap_or_else(|| it.to_owned())).collect();
    let file = lines.join("\n").replace("\n  validate:\n", &format!("\n{step}\n\n  validate:\n"));
    std::fs::write(&path, &file).unwrap();
    let sound = project.ok(&["workflow", "check", "issue-to-merge"]);
    assert!(sound.contains("8 steps, 14 edges"), "{sound}");
    assert_eq!(file.matches("to: validate").count(), 1, "no way goes past the new agent: {file}");

    let send = |name: &str, from_to: &[(&str, &str)]| {
        let text = from_to.iter().fold(fixture(name), |text, (old, new)| text.replace(old, new));
        std::fs::write(project.path().join("sent.xml"), text).unwrap();
        project.run(&["handoff", "create", "--file", "sent.xml", "--profile", "lenient", "--json"])
    };
    for name in [
        "issue-manager-to-prep-agent",
        "prep-agent-to-implementer-agent",
        "implementer-agent-to-reviewer-agent",
    ] {
        let said = send(name, &[]);
        assert_eq!(said.code, 0, "{name}: {said:?}");
    }
    let past = send("reviewer-agent-to-validator-agent", &[]);
    assert!(past.stderr.contains("not_an_edge"), "the way past it is gone: {past:?}");
    let to_security = ("<to>validator-agent</to>", "<to>security-agent</to>");
    let received = send("reviewer-agent-to-validator-agent", &[to_security]);
    assert_eq!(received.code, 0, "{received:?}");
    let by_security = ("<from>reviewer-agent</from>", "<from>security-agent</from>");
    let critical = ("<critical_count>0", "<critical_count>1");
    let refused = send("reviewer-agent-to-validator-agent", &[by_security, critical]);
    assert_eq!(refused.code, 1, "{refused:?}");
    assert!(refused.stderr.contains("critical_count"), "{refused:?}");
    let handed_on = send("reviewer-agent-to-validator-agent", &[by_security]);
    assert_eq!(handed_on.code, 0, "{handed_on:?}");
    let run = project.json(&["run", "show", "owner/repo#123"]);
    assert_eq!(run["currentAgent"], "validator-agent", "{run}");

    // The approval before the merge is still there.
    let start = ["run", "start", "m", "--new-story", "--workflow", "issue-to-merge"];
    let at = ["--mode", "semi-autonomous", "--at", "security", "--reason", "The review is done"];
    project.ok(&[&start[..], &at[..]].concat());
    let run = project.json(&["run", "show", "m"]);
    assert_eq!(run["currentAgent"], "security-agent", "{run}");
    std::fs::write(
        project.path().join("sent.xml"),
        fixture("reviewer-agent-to-validator-agent").replace(by_security.0, by_security.1),
    )
    .unwrap();
    project.ok(&["handoff", "create", "--file", "sent.xml", "--run", "m", "--profile", "lenient"]);
    let run = project.json(&["run", "show", "m"]);
    assert_eq!(run["currentAgent"], "human", "a person approves before the merge: {run}");
}

#[test]
fn what_is_wrong_with_a_workflow_is_found_at_its_line() {
    let project = Project::new();
    project.ok(&["workflow", "eject", "feature-phases"]);
    let path = project.path().join(".baton/workflows/feature-phases.yaml");
    let sound = std::fs::read_to_string(&path).unwrap();
    let broken = |old: &str, new: &str| {
        assert!(sound.contains(old), "{old}");
        std::fs::write(&path, sound.replacen(old, new, 1)).unwrap();
        let said = project.run(&["workflow", "check", "feature-phases"]);
        assert_eq!(said.code, 1, "{said:?}");
        said.stderr.lines().skip(1).map(str::trim).collect::<Vec<_>>().join("\n")
    };
    let found = [
        broken("agents: [frontend-lead, backend-lead]", "agents: [frontend-led, backend-lead]"),
        broken(
            "security_concern: { frontend: frontend-security",
            "security_concern: { frontend: x",
        ),
        broken("unknown: human", "unknown: orchestrator"),
        broken(
            "contract: metadata/*→*, ask_in: supervised",
            "contract: metadata, ask_in: supervised",
        ),
        broken("{ to: complete, contract: metadata/*→*,", "{ to: testing, contract: metadata/*→*,"),
        broken("ask_in: supervised", "ask_in: autonomous"),
        broken("back: true", "back: true, ask_below: 0.7"),
        broken("ask_in: supervised", "ask_below: high"),
    ];
    expect![[r#"
        - line 29, column 3: steps.architecture.agent: there is no agent `frontend-led`; did you mean `frontend-lead`? `baton agent new frontend-led` makes one [no_such_agent]
        - line 15, column 35: routing.reasons.security_concern.frontend: there is no agent `x`; `baton agent new x` makes one [no_such_agent]
        - line 24, column 14: routing.reasons.unknown: the orchestrator resolves nothing; name an agent, or `human` [reserved_agent]
        - line 41, column 7: steps.implementation.on.success: `frontend-developer` does not say that it produces `metadata`; it comes with Baton: `baton agent new frontend-developer` copies it, then add it to `produces.success` [not_produced]
        - line 41, column 7: steps.implementation.on.success: `backend-developer` does not say that it produces `metadata`; it comes with Baton: `baton agent new backend-developer` copies it, then add it to `produces.success` [not_produced]
        - line 41, column 41: steps.implementation.on.success.contract: there is no contract `metadata`; known: request, metadata/*→*; did you mean the built-in `metadata/*→*`? [no_such_contract]
        - line 43, column 3: steps.testing.agent: `frontend-tester` does not say that it accepts `metadata`; it comes with Baton: `baton agent new frontend-tester` copies it, then add it to `accepts` [not_accepted]
        - line 43, column 3: steps.testing.agent: `backend-tester` does not say that it accepts `metadata`; it comes with Baton: `baton agent new backend-tester` copies it, then add it to `accepts` [not_accepted]
        - line 48, column 7: steps.testing.on.success: no run can end: all work goes round between implementation, testing for ever; let `testing` or another of them lead towards `complete` [no_end]
        - line 41, column 63: steps.implementation.on.success.ask_in: cannot be `autonomous`; known: `semi-autonomous`, `supervised` [wrong_value]
        - line 49, column 61: steps.testing.on.failure.ask_below: a way back has no gate: a person is asked when it is taken too often [gate_on_back]
        - line 41, column 66: steps.implementation.on.success.ask_below: must be a number, such as 0.7 [not_a_number]"#]].assert_eq(&found.join("\n"));
}

#[test]
fn every_command_that_answers_with_data_answers_in_json() {
    let project = Project::new();
    let graph = project.json(&["workflow", "graph", "story-pipeline"]);
    assert!(graph["drawing"].as_str().unwrap().starts_with("flowchart"), "{graph}");
    assert_eq!(graph["workflow"], "story-pipeline");
    let docs = project.json(&["workflow", "docs", "story-pipeline"]);
    assert!(docs["page"].as_str().unwrap().starts_with("# Story pipeline"), "{docs}");
    let page = project.json(&["explain", "contract"]);
    assert_eq!(page["code"], "contract");
    let codes = project.json(&["explain"]);
    assert!(codes["items"].as_array().unwrap().len() > 50, "{codes}");
    let trust = project.json(&["trust"]);
    assert_eq!(trust["trusted"], true, "it starts nothing: {trust}");
}
