//! The projects in `examples/projects`: each is copied, and the commands of its README are typed.

use std::path::Path;

use crate::Project;

const PROJECTS: [(&str, &str, &str); 6] = [
    ("story-pipeline", "shop:12", "analyst"),
    ("issue-to-merge", "acme/shop#42", "issue-manager"),
    ("issue-to-merge-parallel", "acme/shop#42", "issue-manager"),
    ("feature-phases", "login", "frontend-lead"),
    ("bmad-delivery", "invoices", "product-manager"),
    ("gated-project", "portal", "specification"),
];

fn example(name: &str) -> Project {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/projects");
    let project = Project(tempfile::tempdir().unwrap());
    copy(&Path::new(folder).join(name), project.path());
    project
}

fn copy(from: &Path, to: &Path) {
    for entry in std::fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let target = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            std::fs::create_dir_all(&target).unwrap();
            copy(&entry.path(), &target);
        } else {
            std::fs::copy(entry.path(), target).unwrap();
        }
    }
}

/// The commands of the `sh` blocks of a README.
fn commands(project: &Project) -> Vec<String> {
    let page = std::fs::read_to_string(project.path().join("README.md")).unwrap();
    let blocks = page.split("```sh\n").skip(1).filter_map(|it| it.split("```").next());
    blocks.flat_map(str::lines).map(str::to_owned).collect()
}

#[test]
fn the_commands_of_every_example_project_work() {
    for (name, story, agent) in PROJECTS {
        let project = example(name);
        let commands = commands(&project);
        assert!(commands.len() >= 4, "{name}");
        for line in commands {
            let words: Vec<&str> = line.split_whitespace().skip(1).collect();
            project.ok(&words);
        }
        let run = project.json(&["run", "show", story]);
        assert_eq!(
            (&run["currentAgent"], &run["status"]),
            (&agent.into(), &"open".into()),
            "{name}"
        );
        assert!(project.run(&["verify"]).code == 0, "{name}");
    }
}

#[test]
fn reviewers_work_at_once_and_the_reviewer_gets_what_all_have_found() {
    let project = example("issue-to-merge-parallel");
    let send = |name: &str| {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../wire/tests/fixtures/xml");
        let text = std::fs::read_to_string(format!("{folder}/{name}.xml")).unwrap();
        std::fs::write(project.path().join("sent.xml"), text).unwrap();
        project.ok(&["handoff", "create", "--file", "sent.xml", "--profile", "lenient"]);
    };
    // Its implementer names the reviewer, as it does without the others.
    send("issue-manager-to-prep-agent");
    send("prep-agent-to-implementer-agent");
    send("implementer-agent-to-reviewer-agent");
    let run = project.json(&["run", "show", "owner/repo#123"]);
    assert_eq!(run["currentAgents"], serde_json::json!(["reviewer-security", "reviewer-quality"]));
    assert_eq!(run["branches"].as_array().unwrap().len(), 2, "{run}");
    for (agent, words) in
        [("reviewer-security", "no secret in sight"), ("reviewer-quality", "two tests are missing")]
    {
        let handoff = format!("owner/repo#123/{agent}");
        project.ok(&["handoff", "accept", &handoff]);
        let report = format!(r#"{{"summary": "{words}", "pr_number": 456}}"#);
        project.ok(&[
            "handoff",
            "complete",
            &handoff,
            "--payload",
            &report,
            "--profile",
            "lenient",
        ]);
    }
    let run = project.json(&["run", "show", "owner/repo#123"]);
    assert_eq!(
        (&run["currentAgent"], &run["branches"]),
        (&"reviewer-agent".into(), &serde_json::Value::Null),
        "{run}"
    );
    let prompt = project.ok(&["prompt", "owner/repo#123"]);
    for words in ["WHAT EACH BRANCH BROUGHT", "no secret in sight", "two tests are missing"] {
        assert!(prompt.contains(words), "{words}: {prompt}");
    }
    project.ok(&["verify"]);
}

#[test]
fn every_receiver_of_a_fan_out_is_named_and_may_be_named() {
    let project = example("issue-to-merge-parallel");
    project.ok(&["story", "import", "stories.yaml"]);
    project.ok(&[
        "run",
        "start",
        "acme/shop#42",
        "--at",
        "implement",
        "--reason",
        "it is ready",
        "--mode",
        "supervised",
    ]);
    project.ok(&["handoff", "accept", "1"]);
    let prompt = project.ok(&["prompt", "acme/shop#42"]);
    for words in [
        "hand it to `reviewer-security` (for `review-security`) and `reviewer-quality` (for \
         `review-quality`) at once",
        "Each of them gets this same package; `reviewer-agent` goes on at `review` when all of them \
         have brought it there.",
        "--to reviewer-security,reviewer-quality",
    ] {
        assert!(prompt.contains(words), "{words}: {prompt}");
    }
    let complete = |to: &str| {
        let payload =
            r#"{"issue_number": 12, "pr_number": 456, "summary": "Built the cart, 3 files"}"#;
        let words = ["handoff", "complete", "1", "--payload", payload, "--profile", "lenient"];
        project.run(&words.into_iter().chain(["--to", to]).collect::<Vec<_>>())
    };
    let refused = complete("reviewer-security,closer-agent");
    assert_eq!(refused.code, 1, "{refused:?}");
    let known = "on success it goes to `reviewer-security`, `reviewer-quality` at once";
    assert!(refused.stderr.contains(known), "{refused:?}");
    let done = complete("reviewer-quality,reviewer-security");
    assert_eq!(done.code, 0, "{done:?}");
    // A person looks at it first, and is told who would get it.
    let inbox = project.ok(&["inbox"]);
    for words in
        ["goes to reviewer-security, for the step review-security", "goes to reviewer-quality"]
    {
        assert!(inbox.contains(words), "{words}: {inbox}");
    }
    project.ok(&["approve", "2"]);
    let run = project.json(&["run", "show", "acme/shop#42"]);
    assert_eq!(run["currentAgents"], serde_json::json!(["reviewer-security", "reviewer-quality"]));
}

#[test]
fn slips_in_the_names_of_checks_and_agents_are_found_at_their_lines() {
    let project = example("story-pipeline");
    project.ok(&["workflow", "eject", "story-pipeline"]);
    let file = project.path().join(".baton/workflows/story-pipeline.yaml");
    let text = std::fs::read_to_string(&file).unwrap();
    let old = "{ to: review,";
    assert!(text.contains(old), "{text}");
    let with = |checks: &str| text.replacen(old, &format!("{{ to: review, checks: [{checks}],"), 1);
    let settings = "[checks.tests]\nrun = [\"true\"]\n\n[executors.one]\nkind = \"command\"\nrun = [\"true\"]\n\n\
                    [agents.implementor]\nexecutors = [\"one\"]\n";
    std::fs::write(project.path().join(".baton/baton.toml"), settings).unwrap();
    std::fs::write(&file, with("tets")).unwrap();
    let slip = project.run(&["workflow", "check", "story-pipeline"]);
    assert_eq!(slip.code, 1, "{slip:?}");
    assert!(slip.stderr.contains("did you mean `tests`?"), "{slip:?}");
    let ill = project.run(&["doctor"]);
    assert_eq!(ill.code, 1, "{ill:?}");
    let said = format!("{}{}", ill.stdout, ill.stderr);
    for words in ["did you mean `tests`?", "line 8", "did you mean `implementer`?"] {
        assert!(said.contains(words), "{words}: {said}");
    }
    std::fs::write(&file, with("tests, ci")).unwrap();
    let noted = project.run(&["workflow", "check", "story-pipeline"]);
    assert_eq!(noted.code, 0, "{noted:?}");
    for words in ["`ci` has no command in baton.toml", "did you mean `implementer`?"] {
        assert!(noted.stderr.contains(words), "{words}: {noted:?}");
    }
    assert!(noted.stdout.contains("checks: tests, ci"), "{noted:?}");
}
