//! One loader: `doctor`, `workflow check`, a start and a server say the same about a file.

use std::fs;
use std::process::Stdio;

use crate::{Project, Said};

const SMALL: &str = "name: team\nstart: work\nsteps:\n  work:\n    agent: coder\n    on:\n      success: complete\n";

impl Project {
    fn write(&self, path: &str, text: &str) {
        let path = self.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
}

#[track_caller]
fn says(said: &Said, part: &str) {
    assert!(said.stdout.contains(part) || said.stderr.contains(part), "{part}: {said:?}");
}

#[test]
fn every_command_tells_the_same_about_a_workflow_that_has_not_the_name_of_its_file() {
    let project = Project::new();
    project.write(".baton/agents/coder.md", "# Coder\n\nWrite the code.\n");
    project.write(".baton/workflows/team.yaml", &SMALL.replace("name: team", "name: teams"));
    project.ok(&["story", "add", "z"]);
    let problem = "line 1, column 7: name: is `teams`, but the file is `team.yaml`; write `name: team`, or rename the file to `teams.yaml` [misnamed]";
    let start = project.run(&["run", "start", "z", "--workflow", "team"]);
    assert_eq!(start.code, 3, "{start:?}");
    assert!(start.stderr.starts_with("left out: "), "{start:?}");
    says(&start, &format!(".baton/workflows/team.yaml: {problem}"));
    assert!(
        start.stderr.contains("there is no workflow `team`; its file is left out"),
        "{start:?}"
    );
    for command in [&["workflow", "check", "team"][..], &["doctor"]] {
        let said = project.run(command);
        assert_eq!(said.code, 1, "{said:?}");
        says(&said, problem);
    }
    says(&project.run(&["workflow", "list"]), problem);
    says(&project.run(&["status"]), problem);
}

#[test]
fn an_agent_file_without_front_matter_is_an_agent() {
    for folder in ["agents", "workflow-agents", ".baton/agents"] {
        let project = Project::new();
        project.write(
            &format!("{folder}/implementer.md"),
            "# Implementer\nMy own prompt for the implementer.\n",
        );
        project.write(&format!("{folder}/README.md"), "# About our agents\n");
        let shown = project.json(&["agent", "show", "implementer"]);
        assert_eq!(shown["agentId"], "implementer", "{shown}");
        assert_eq!(shown["agentDescription"], "My own prompt for the implementer.", "{shown}");
        assert!(project.ok(&["agent", "show", "implementer"]).contains("My own prompt"));
        project.ok(&["doctor"]);
        assert!(!project.ok(&["agent", "list"]).contains("README"));
    }
}

#[test]
fn a_broken_agent_file_is_never_silent_and_leads_into_no_dead_end() {
    let missing_line = "name: coder\ndescription: Codes\n---\nWrite the code.\n";
    let other_name = "---\nname: codr\ndescription: Codes\n---\nWrite the code.\n";
    for (text, problem) in [
        (missing_line, "add a line `---` at the top [no_front_matter]"),
        (other_name, "is `codr`, but the file is `coder.md`"),
    ] {
        let project = Project::new();
        project.write(".baton/agents/coder.md", text);
        project.write(".baton/workflows/team.yaml", SMALL);
        for (command, code) in [
            (&["status"][..], 0),
            (&["agent", "list"], 0),
            (&["agent", "show", "coder"], 1),
            (&["agent", "new", "coder"], 1),
            (&["workflow", "check", "team"], 1),
            (&["doctor"], 1),
        ] {
            let said = project.run(command);
            assert_eq!(said.code, code, "{command:?}: {said:?}");
            says(&said, problem);
        }
        let doctor = project.run(&["doctor"]);
        assert!(
            doctor.stdout.contains("✔ 0 runs"),
            "the data is looked at all the same: {doctor:?}"
        );
    }
}

#[test]
fn a_new_agent_fits_a_workflow_with_contracts_of_its_own() {
    let project = Project::new();
    project.ok(&["agent", "new", "coder"]);
    let contracts =
        "contracts:\n  plan:\n    must:\n      - { field: plan, about: what is done }\n";
    let text = SMALL
        .replace("start: work", "start: { to: work, contract: plan }")
        .replace("success: complete", "success: { to: complete, contract: plan }");
    project.write(".baton/workflows/team.yaml", &format!("{text}{contracts}"));
    assert!(
        project
            .ok(&["workflow", "check", "team"])
            .contains("is sound: 1 step, 2 edges, 1 contract")
    );
    project.fails(&["agent", "new", "coder"], 4, "describes `coder` already");
    project.write(
        ".baton/agents/coder.md",
        "---\nname: coder\ndescription: d\nproduces:\n  success: [code]\n---\nWrite the code.\n",
    );
    let said = project.run(&["workflow", "check", "team"]);
    assert_eq!(said.code, 1);
    says(
        &said,
        "line 7, column 7: steps.work.on.success: `coder` does not say that it produces `plan`",
    );
    says(&said, ".baton/agents/coder.md, line 4 [not_produced]");
}

#[test]
fn a_built_in_workflow_that_is_not_used_is_not_held_against_own_agents() {
    let project = Project::new();
    let reviewer =
        "---\nname: reviewer\ndescription: Reviews\naccepts: [mine]\n---\nReview the change.\n";
    project.write(".baton/agents/reviewer.md", reviewer);
    let said = project.ok(&["doctor"]);
    assert!(said.contains("• the workflow story-pipeline: it is built in"), "{said}");
    project.write(".baton/agents/coder.md", "Write the code.\n");
    project.write(".baton/workflows/team.yaml", SMALL);
    project.write(".baton/baton.toml", "[project]\nworkflow = \"team\"\n");
    let said = project.ok(&["doctor"]);
    assert!(!said.contains("the workflow story-pipeline"), "{said}");
    let checks = project.json(&["doctor"]);
    let of_pipeline = |it: &&serde_json::Value| it["what"] == "the workflow story-pipeline";
    let found = checks.as_array().unwrap().iter().find(of_pipeline).unwrap();
    assert_eq!(found["state"], "well");
}

#[test]
fn a_default_workflow_that_is_not_there_is_told_with_what_was_meant() {
    let project = Project::new();
    project.write(".baton/agents/coder.md", "Write the code.\n");
    project.write(".baton/workflows/team.yaml", SMALL);
    project.write(".baton/baton.toml", "[project]\nworkflow = \"teem\"\n");
    project.ok(&["story", "add", "z"]);
    let start = project.run(&["run", "start", "z"]);
    assert_eq!(start.code, 1, "{start:?}");
    says(
        &start,
        "warning: `baton.toml` names the workflow `teem`, which is not here; did you mean `team`?",
    );
    says(&start, "add `--workflow NAME`");
    let doctor = project.run(&["doctor"]);
    assert_eq!(doctor.code, 1, "{doctor:?}");
    says(&doctor, "did you mean `team`?");
}

#[test]
fn a_start_that_has_to_choose_says_what_to_add() {
    let project = Project::new();
    for name in ["coder", "tester"] {
        project.write(&format!(".baton/agents/{name}.md"), "Do the work well.\n");
    }
    project.write(
        ".baton/workflows/team.yaml",
        &SMALL.replace("agent: coder", "agents: [coder, tester]"),
    );
    project.ok(&["story", "add", "z"]);
    project.fails(
        &["run", "start", "z", "--workflow", "team"],
        1,
        "`work` has two agents: add `--to coder` or `--to tester` [choose_receiver]",
    );
    project.fails(
        &["run", "start", "z", "--workflow", "team", "--to", "codr"],
        2,
        "did you mean `coder`?",
    );
    project.fails(&["run", "start", "z", "--workflow", "tem"], 3, "did you mean `team`?");
    project.ok(&["run", "start", "z", "--workflow", "team", "--to", "coder"]);
    project.fails(&["run", "goto", "1", "wrk", "--reason", "r"], 1, "it has: work [no_such_step]");
    project.fails(&["run", "goto", "1", "work", "--reason", "r"], 1, "it has been at: no step yet");
}

#[test]
fn a_server_uses_new_and_changed_files_and_keeps_what_is_broken_as_it_was() {
    let project = Project::new();
    let server = project.serves();
    for key in ["a", "b", "c", "d"] {
        project.ok(&["story", "add", key]);
    }
    project.write(".baton/agents/coder.md", "Write the code.\n");
    project.write(".baton/workflows/team.yaml", SMALL);
    project.ok(&["run", "start", "a", "--workflow", "team"]);
    assert_eq!(project.json(&["run", "show", "a"])["phase"], "work");
    let changed = SMALL.replace("agent: coder", "agent: coder\n    phase: coding");
    project.write(".baton/workflows/team.yaml", &changed);
    project.ok(&["run", "start", "b", "--workflow", "team"]);
    assert_eq!(project.json(&["run", "show", "b"])["phase"], "coding");
    assert_eq!(project.json(&["run", "show", "a"])["phase"], "work", "a run keeps its workflow");
    project.write(".baton/workflows/team.yaml", "name: team\n");
    project.ok(&["run", "start", "c", "--workflow", "team"]);
    assert_eq!(project.json(&["run", "show", "c"])["phase"], "coding");
    let ready = server.curl(&[], "/readyz");
    let text = ready.body.as_str().unwrap();
    assert!(
        text.starts_with("ready, but a file is left out: ") && text.contains("team.yaml"),
        "{text}"
    );
    assert!(text.contains("the version before is used until it is mended"), "{text}");
    fs::remove_file(project.path().join(".baton/workflows/team.yaml")).unwrap();
    project.fails(&["run", "start", "d", "--workflow", "team"], 3, "there is no workflow `team`");
    project.write(".baton/baton.toml", "[project]\nworkflow = \"late\"\n");
    project.write(".baton/workflows/late.yaml", &SMALL.replace("name: team", "name: late"));
    project.ok(&["run", "start", "d"]);
    assert_eq!(project.json(&["run", "show", "d"])["workflow"], "late");
    assert_eq!(server.stop(), Some(0));
}

#[test]
fn a_server_says_at_its_start_what_is_broken() {
    let project = Project::new();
    project.write(".baton/workflows/team.yaml", SMALL);
    let mut command = project.command(&["serve", "--listen", "127.0.0.1:0"]);
    let mut child = command.stderr(Stdio::piped()).spawn().unwrap();
    let mut lines = std::io::BufRead::lines(std::io::BufReader::new(child.stderr.take().unwrap()));
    let said = lines.find(|it| it.as_ref().unwrap().contains("there is no agent `coder`"));
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(said.is_some());
}

#[test]
fn a_mistyped_story_creates_nothing() {
    let project = Project::new();
    project.ok(&["story", "add", "T-1"]);
    project.ok(&["run", "start", "T-1"]);
    let create = [
        "handoff",
        "create",
        "--story",
        "T-2",
        "--from",
        "analyst",
        "--to",
        "implementer",
        "--payload",
        "{\"plan\":\"x\"}",
        "--profile",
        "lenient",
    ];
    project.fails(&create, 3, "there is no story `T-2`; did you mean `T-1`? `baton story add T-2 --title \"...\"` adds it [no_such_story]");
    project.fails(&["run", "start", "T-2"], 3, "did you mean `T-1`?");
    project.write(
        "note.json",
        r#"{"status":"success","agent":"analyst","handoff":{"next_agent":"implementer"}}"#,
    );
    project.fails(
        &["handoff", "create", "--file", "note.json", "--story", "T-2"],
        3,
        "[no_such_story]",
    );
    assert_eq!(project.json(&["story", "list"])["items"].as_array().unwrap().len(), 1);
    let made = project.run(&[&create[..], &["--new-story"]].concat());
    assert_eq!(made.code, 0, "{made:?}");
    says(&made, "new: there was no story `T-2`: it was made");
    let made = project.json(&["run", "start", "T-3", "--new-story"]);
    assert_eq!(made["adopted"], true, "{made}");
}

#[test]
fn a_dependency_that_is_not_there_is_warned_about() {
    let project = Project::new();
    project.ok(&["story", "add", "login"]);
    let said = project.run(&["story", "add", "reset", "--depends-on", "logn"]);
    assert_eq!(said.code, 0, "{said:?}");
    says(&said, "it depends on `logn`, which is no story yet (did you mean `login`?)");
    project.write("stories.yaml", "- key: b\n  depends_on: [c]\n- key: c\n");
    let said = project.run(&["story", "import", "stories.yaml"]);
    assert!(!said.stderr.contains("depends on"), "{said:?}");
}

#[test]
fn a_prompt_names_no_server_but_that_of_its_project() {
    let other = Project::new();
    let _server = other.serves_with(&[]);
    let project = Project::started();
    let prompt = project.ok(&["prompt", "1"]);
    assert!(
        prompt.starts_with("DASHBOARD_URL = none: no server of this project is running"),
        "{prompt}"
    );
    assert!(!prompt.contains("127.0.0.1"), "{prompt}");
    project.fails(&["prompt", "1", "--face", "curl"], 1, "[no_server]");
    let server = project.serves();
    let prompt = project.ok(&["prompt", "1", "--face", "curl"]);
    assert!(prompt.starts_with(&format!("DASHBOARD_URL = {}\n", server.url)), "{prompt}");
}

/// The agent of that name that comes with Baton takes its place: nobody would notice.
#[test]
fn every_command_that_reads_the_files_says_that_an_agent_is_left_out() {
    let project = Project::new();
    project.write(
        ".baton/agents/validator-agent.md",
        "---\nname: validator\ndescription: Checks\n---\n\n# Validator\n\nCheck it.\n",
    );
    for command in [
        &["workflow", "check", "issue-to-merge"][..],
        &["workflow", "show", "issue-to-merge"],
        &["workflow", "docs", "issue-to-merge"],
        &["workflow", "graph", "issue-to-merge"],
        &["workflow", "simulate", "issue-to-merge", "--runs", "2"],
        &["workflow", "list"],
        &["agent", "show", "fixer-agent"],
        &["agent", "check", "fixer-agent"],
        &["agent", "list"],
        &["status"],
    ] {
        let said = project.run(command);
        // Where the workflow needs the agent, that is the error; else it is a warning.
        assert!(said.code == 1 || said.stderr.contains("left out: "), "{command:?}: {said:?}");
        assert!(said.stderr.contains("validator-agent.md"), "{command:?}: {said:?}");
    }
}
