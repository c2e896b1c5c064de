//! The files of a project: workflows, agents, stories, `baton.toml`.

use expect_test::expect;

use crate::Project;

#[test]
fn a_workflow_is_drawn() {
    let project = Project::new();
    expect![[r#"
        flowchart LR
            orchestrator([orchestrator])
            s_analyze["analyze<br/>analyst"]
            s_implement["implement<br/>implementer"]
            s_review["review<br/>reviewer"]
            s_refactor["refactor<br/>refactorer"]
            s_document["document<br/>documenter"]
            complete([complete])
            orchestrator --> s_analyze
            s_analyze --> s_implement
            s_implement --> s_review
            s_review --> s_refactor
            s_review -.->|failure| s_implement
            s_refactor --> s_document
            s_document --> complete
    "#]]
    .assert_eq(&project.ok(&["workflow", "graph", "story-pipeline"]));
}

#[test]
fn gates_and_delegates_are_drawn_and_shown() {
    let project = Project::new();
    expect![[r#"
        flowchart LR
            orchestrator([orchestrator])
            s_specification["specification<br/>specification"]
            s_architecture["architecture<br/>architecture"]
            s_estimation["estimation<br/>estimation"]
            s_implementation["implementation<br/>implementation"]
            d_security_check(["security-check"])
            complete([complete])
            orchestrator --> s_specification
            s_specification -->|⛔ blocking| s_architecture
            s_architecture -->|👁 advisory| s_estimation
            s_architecture -.->|delegates| d_security_check
            s_estimation -->|⛔ blocking| s_implementation
            s_implementation -->|✔ automatic| complete
    "#]]
    .assert_eq(&project.ok(&["workflow", "graph", "gated-project"]));
    let page = project.ok(&["workflow", "show", "gated-project"]);
    for part in ["DELEGATES TO", "security-review", "gate: Budget approved", "lint, types"] {
        assert!(page.contains(part), "{part}: {page}");
    }
    let shown = project.json(&["workflow", "show", "gated-project"]);
    assert_eq!(shown["steps"][1]["delegates"][0]["returns"], "security-review");
    assert_eq!(shown["steps"][3]["edges"][0]["gate"]["checks"][3], "build");
}

#[test]
fn a_delegate_that_nobody_describes_or_that_gives_something_else_is_not_sound() {
    let project = Project::new();
    project.ok(&["workflow", "eject", "gated-project"]);
    let path = project.path().join(".baton/workflows/gated-project.yaml");
    let text = std::fs::read_to_string(&path).unwrap();
    assert!(project.ok(&["workflow", "check", "gated-project"]).contains("is sound: 4 steps"));
    for (from, to, complaint) in [
        ("agent: security-check", "agent: locksmith", "`baton agent new locksmith` makes one"),
        ("returns: security-review", "returns: estimate", "does not say that it produces"),
        ("contract: security-request", "contract: estimate", "does not say that it accepts"),
    ] {
        std::fs::write(&path, text.replace(from, to)).unwrap();
        project.fails(&["workflow", "check", "gated-project"], 1, complaint);
    }
}

#[test]
fn a_check_says_what_each_step_is_behind_and_names_the_cycles() {
    let project = Project::new();
    let said = project.ok(&["workflow", "check", "gated-project"]);
    for line in [
        "specification",
        "architecture    Specification validated",
        "implementation  Specification validated, Budget approved",
        "complete        Specification validated, Budget approved, Quality proven",
    ] {
        assert!(said.lines().any(|it| it.trim_end() == line), "{line}: {said}");
    }
    let said = project.ok(&["workflow", "check", "story-pipeline"]);
    let cycle = "implement, review  it enters implement more than 7× or review more than 7×";
    assert!(said.lines().any(|it| it.trim_end() == cycle), "{said}");
    let checked = project.json(&["workflow", "check", "story-pipeline"]);
    let review = &checked["cycles"][0]["endedBy"][1];
    assert_eq!(checked["cycles"][0]["steps"][1], "review");
    assert_eq!((&review["step"], &review["entries"]), (&"review".into(), &7.into()), "{checked}");
    let checked = project.json(&["workflow", "check", "gated-project"]);
    assert_eq!(checked["steps"][3]["behind"][1], "Budget approved");
    assert_eq!(checked["cycles"].as_array().map(Vec::len), Some(0));
    let forked = "name: forked\nstart: a\nsteps:\n  a:\n    agent: analyst\n    on:\n      success: { to: b, gate: { type: blocking, name: Left } }\n      needs_review: { to: c, gate: { type: blocking, name: Right } }\n  b:\n    agent: implementer\n    on:\n      success: d\n  c:\n    agent: reviewer\n    on:\n      success: d\n  d:\n    agent: documenter\n    on:\n      success: complete\n";
    std::fs::write(project.path().join(".baton/workflows/forked.yaml"), forked).unwrap();
    let said = project.run(&["workflow", "check", "forked"]).stdout;
    for line in
        ["b         Left", "d         one of (Left, Right)", "complete  one of (Left, Right)"]
    {
        assert!(said.lines().any(|it| it.trim_end() == line), "{line}: {said}");
    }
    let checked = project.json(&["workflow", "check", "forked"]);
    assert_eq!(checked["steps"][3]["behindOneOf"][0][1], "Right", "{checked}");
    let leaping = "name: leaping\nstart: a\nsteps:\n  a:\n    agent: analyst\n    reject_to: b\n    on:\n      success: { to: b, gate: blocking }\n  b:\n    agent: reviewer\n    on:\n      success: complete\n";
    std::fs::write(project.path().join(".baton/workflows/leaping.yaml"), leaping).unwrap();
    let said = project.run(&["workflow", "check", "leaping"]);
    assert!(said.stderr.contains("`steps.a.reject_to`: `b` is behind"), "{said:?}");
}

#[test]
fn a_check_complains_about_a_cycle_that_nothing_leads_out_of() {
    let project = Project::new();
    let trap = "name: trap\nstart: a\nsteps:\n  a:\n    agent: analyst\n    on:\n      success: complete\n      failure: b\n  b:\n    agent: implementer\n    on:\n      success: c\n  c:\n    agent: reviewer\n    on:\n      success: b\n";
    let path = project.path().join(".baton/workflows/trap.yaml");
    std::fs::write(&path, trap).unwrap();
    let complaint = "nothing leads out of the cycle b, c";
    project.fails(&["workflow", "check", "trap"], 1, complaint);
    std::fs::write(&path, trap.replace("success: b", "success: [b, complete]")).unwrap();
    project.ok(&["workflow", "check", "trap"]);
}

#[test]
fn a_run_starts_at_a_step_with_a_reason() {
    let project = Project::new();
    project.ok(&["story", "add", "s1"]);
    let at = ["run", "start", "s1", "--workflow", "gated-project", "--at", "implementation"];
    project.fails(&at, 2, "--reason");
    let with_reason: Vec<&str> = at.into_iter().chain(["--reason", "agreed by mail"]).collect();
    let said = project.ok(&with_reason);
    assert!(said.contains("orchestrator → implementation: pending"), "{said}");
    project.ok(&["handoff", "cancel", "1"]);
    project.fails(&["run", "start", "s1", "--at", "none", "--reason", "r"], 1, "[no_such_step]");
}

#[test]
fn a_built_in_workflow_is_sound_and_can_be_changed() {
    let project = Project::new();
    assert!(project.ok(&["workflow", "check", "story-pipeline"]).contains("is sound: 5 steps"));
    project.ok(&["workflow", "eject", "story-pipeline"]);
    project.fails(&["workflow", "eject", "story-pipeline"], 4, "is there already");
    let path = project.path().join(".baton/workflows/story-pipeline.yaml");
    let text = std::fs::read_to_string(&path).unwrap();
    std::fs::write(&path, text.replace("phase: analyzing", "phase: thinking")).unwrap();
    project.ok(&["story", "add", "s1"]);
    project.ok(&["run", "start"]);
    assert_eq!(project.json(&["run", "show", "s1"])["phase"], "thinking");
}

#[test]
fn a_run_keeps_the_workflow_that_it_began_with() {
    let project = Project::started();
    project.ok(&["workflow", "eject", "story-pipeline"]);
    let path = project.path().join(".baton/workflows/story-pipeline.yaml");
    let text = std::fs::read_to_string(&path).unwrap();
    std::fs::write(&path, text.replace("phase: analyzing", "phase: thinking")).unwrap();
    assert_eq!(project.json(&["run", "show", "s1"])["phase"], "analyzing");
}

#[test]
fn a_broken_workflow_is_told_line_by_line() {
    let project = Project::new();
    let text = "name: broken\nstart: work\nsteps:\n  work:\n    agent: analyst\n    phaze: x\n    on:\n      success: nowhere\n";
    std::fs::write(project.path().join("broken.yaml"), text).unwrap();
    let said = project.run(&["workflow", "check", "broken.yaml"]);
    assert_eq!(said.code, 1, "{said:?}");
    for complaint in ["line 6", "did you mean `phase`", "line 8", "there is no step `nowhere`"] {
        assert!(said.stderr.contains(complaint), "{complaint}: {}", said.stderr);
    }
    project.fails(&["workflow", "check", "missing"], 3, "there is no workflow or file `missing`");
}

#[test]
fn a_workflow_with_an_agent_that_nobody_describes_is_not_sound() {
    let project = Project::new();
    let text = "name: small\nstart: work\nsteps:\n  work:\n    agent: painter\n    on:\n      success: complete\n";
    std::fs::write(project.path().join(".baton/workflows/small.yaml"), text).unwrap();
    project.fails(&["workflow", "check", "small"], 1, "`baton agent new painter` makes one");
    project.ok(&["agent", "new", "painter", "--description", "Paints: \"well\""]);
    assert!(project.ok(&["workflow", "check", "small"]).contains("is sound"));
    assert_eq!(project.json(&["agent", "show", "painter"])["agentName"], "Painter");
    project.ok(&["story", "add", "s1"]);
    project.ok(&["run", "start", "s1", "--workflow", "small"]);
    project.ok(&["handoff", "accept", "1"]);
    project.ok(&["handoff", "complete", "1"]);
    assert_eq!(project.json(&["run", "show", "s1"])["status"], "completed");
}

#[test]
fn a_misspelt_setting_is_refused_with_a_suggestion() {
    let project = Project::new();
    std::fs::write(project.path().join(".baton/baton.toml"), "[project]\nworkflw = \"x\"\n")
        .unwrap();
    project.fails(&["status"], 1, "did you mean `workflow`");
}

#[test]
fn stories_come_from_a_file() {
    let project = Project::new();
    let text =
        "- key: b\n  priority: 1\n- key: a\n  title: First\n  depends_on: [b]\n  priority: 9\n";
    std::fs::write(project.path().join("stories.yaml"), text).unwrap();
    assert_eq!(project.ok(&["story", "import", "stories.yaml"]).trim(), "2 added, 0 updated");
    assert_eq!(project.ok(&["story", "import", "stories.yaml"]).trim(), "0 added, 2 updated");
    // `a` has the higher priority, and waits for `b`.
    let started = project.json(&["run", "start"]);
    assert_eq!(started["run"]["story"], "b");
}

#[test]
fn what_comes_with_baton_is_shown_outside_a_project_too() {
    let nowhere = Project(tempfile::tempdir().unwrap());
    assert!(nowhere.ok(&["workflow", "show", "story-pipeline"]).contains("contract plan"));
    assert!(nowhere.ok(&["agent", "show", "reviewer"]).contains("Reviewer"));
    assert!(nowhere.ok(&["agent", "show", "prep-agent"]).contains("/setup-environment"));
    assert_eq!(nowhere.json(&["agent", "show", "prep-agent"])["tool"], "/setup-environment");
    nowhere.fails(&["agent", "new", "painter"], 3, "`baton init` makes one");
    nowhere.fails(&["status"], 3, "`baton init` makes one");
}

#[test]
fn the_schemas_of_files_and_documents_are_printed() {
    let project = Project::new();
    let listed = project.ok(&["schema"]);
    assert!(listed.starts_with("workflow\nagent\nproject\n"), "{listed}");
    assert_eq!(listed.lines().count(), 10, "{listed}");
    for name in listed.lines() {
        let schema: serde_json::Value =
            serde_json::from_str(&project.ok(&["schema", name])).unwrap();
        assert_eq!(schema["$schema"], "https://json-schema.org/draft/2020-12/schema", "{name}");
    }
    let answered: serde_json::Value =
        serde_json::from_str(&project.ok(&["schema", "--json"])).unwrap();
    let names: Vec<&str> = listed.lines().collect();
    assert_eq!(answered, serde_json::json!({ "schemas": names }));
    project.fails(&["schema", "story"], 3, "known: workflow, agent, project");
}

#[test]
fn a_doctor_finds_what_is_wrong_and_says_what_to_type() {
    let project = Project::started();
    assert!(project.ok(&["doctor"]).contains("✔ 1 run and 2 events"));
    project.ok(&["handoff", "cancel", "1"]);
    assert!(project.ok(&["doctor"]).contains("1 item waits for a person: type `baton inbox`"));
    std::fs::write(project.path().join(".baton/agents/x.md"), "---\nname: X\n---\n").unwrap();
    let said = project.run(&["doctor"]);
    assert_eq!(said.code, 1, "{said:?}");
    assert!(said.stdout.contains("✘ the agent x"), "{said:?}");
    std::fs::remove_file(project.path().join(".baton/agents/x.md")).unwrap();
    std::fs::write(project.path().join(".baton/data/baton.db"), "garbage").unwrap();
    let said = project.run(&["doctor"]);
    assert_eq!(said.code, 1, "{said:?}");
    assert!(said.stdout.contains("baton restore FILE --replace"), "{said:?}");
}

#[test]
fn one_bad_file_keeps_nobody_from_a_run_under_way() {
    let project = Project::started();
    std::fs::write(project.path().join(".baton/workflows/bad.yaml"), "x").unwrap();
    std::fs::write(project.path().join(".baton/workflows/.hidden.yaml"), "x").unwrap();
    std::fs::write(project.path().join(".baton/agents/README.md"), "# Notes").unwrap();
    let said = project.run(&["handoff", "accept", "1"]);
    assert_eq!(said.code, 0, "{said:?}");
    assert!(said.stderr.contains("left out:") && said.stderr.contains("bad.yaml"), "{said:?}");
    project.fails(&["run", "start", "typo"], 3, "[no_such_story]");
}

#[test]
fn agents_are_listed_with_where_they_come_from() {
    let project = Project::new();
    let agents = project.ok(&["agent", "list"]);
    for agent in ["analyst", "implementer", "reviewer", "refactorer", "documenter"] {
        assert!(agents.contains(agent), "{agents}");
    }
    assert!(agents.contains("built in"), "{agents}");
    project.fails(&["agent", "new", "human"], 2, "is reserved");
}

#[test]
fn a_new_agent_of_a_built_in_name_is_a_copy_of_it() {
    let project = Project::new();
    project.ok(&["agent", "new", "validator-agent"]);
    let path = project.path().join(".baton/agents/validator-agent.md");
    let copied = std::fs::read_to_string(path).unwrap();
    assert!(copied.contains("produces:") && copied.contains("## Handoff format"), "{copied}");
    project.ok(&["workflow", "check", "issue-to-merge"]);
    project.ok(&["agent", "new", "closer-agent", "--description", "Closes: \"all\""]);
    let shown = project.json(&["agent", "show", "closer-agent"]);
    assert_eq!(shown["agentDescription"], "Closes: \"all\"");
}

#[test]
fn a_contract_is_the_same_by_its_old_name_in_a_workflow_and_in_an_agent() {
    let project = Project::new();
    let (old, new) = ("001/prep-agent->implementer-agent", "xml/prep-agent→implementer-agent");
    let file = |name: &str, text: &str| {
        let path = project.path().join(".baton").join(name);
        std::fs::write(path, text).unwrap();
    };
    project.ok(&["agent", "new", "prep-agent"]);
    project.ok(&["agent", "new", "implementer-agent"]);
    let flow = |contract: &str| {
        format!(
            "name: older\nstart: prep\nsteps:\n  prep:\n    agent: prep-agent\n    on:\n      \
             success: {{ to: implement, contract: {contract} }}\n  \
             implement: {{ agent: implementer-agent, on: {{ success: complete }} }}\n"
        )
    };
    std::fs::create_dir_all(project.path().join(".baton/workflows")).unwrap();
    for (in_workflow, in_agent) in [(old, new), (new, old), (old, old)] {
        file("workflows/older.yaml", &flow(in_workflow));
        let agent = |field: &str| {
            format!(
                "---\nname: NAME\ntitle: An agent\ndescription: Does it\n{field}\n---\n\n# An agent\n\n\
                 Does what it has to do.\n"
            )
        };
        let produces = format!("produces:\n  success: [\"{in_agent}\"]");
        let accepts = format!("accepts: [\"{in_agent}\"]");
        file("agents/prep-agent.md", &agent(&produces).replace("NAME", "prep-agent"));
        file("agents/implementer-agent.md", &agent(&accepts).replace("NAME", "implementer-agent"));
        assert!(project.ok(&["workflow", "check", "older"]).contains("is sound: 2 steps"));
        let shown = project.json(&["workflow", "show", "older"]);
        assert_eq!(shown["steps"][0]["edges"][0]["contract"], in_workflow);
        assert!(project.ok(&["workflow", "show", "older"]).contains("issue_url"));
    }
    project.ok(&["story", "add", "s1"]);
    project.ok(&["run", "start", "s1", "--workflow", "older"]);
    project.ok(&["handoff", "accept", "1"]);
    let complete = ["handoff", "complete", "1", "--payload", r#"{"handoff":{"status":"ready"}}"#];
    project.fails(&complete, 1, "breaks the contract");
    // From now on only the database has the workflow.
    std::fs::remove_file(project.path().join(".baton/workflows/older.yaml")).unwrap();
    project.fails(&complete, 1, &format!("breaks the contract `{old}`"));
    project.ok(&["verify"]);
}
