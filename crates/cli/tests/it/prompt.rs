//! What an agent is told, and that doing what it says works.

use std::process::Command;

use crate::{Project, Said};

/// A name that a shell, an address and JSON would each take apart in their own way.
const ODD: &str = "it's \"a\" & b#1 $(x)";

fn odd() -> Project {
    let project = Project::new();
    project.ok(&["story", "add", ODD]);
    project.ok(&["run", "start", ODD]);
    project
}

#[test]
fn a_prompt_opens_with_the_lines_of_the_pipeline_api() {
    let project = Project::started();
    let prompt = project.ok(&["prompt", "1", "--url", "http://localhost:3000"]);
    assert!(prompt.starts_with(
        "DASHBOARD_URL = http://localhost:3000\nSTORY_ID = s1\nBRANCH = feat/story-s1\nHANDOFF_ID = 1\n"
    ));
    assert!(prompt.contains("# Analyst"), "{prompt}");
    assert!(prompt.contains("curl -sS -X POST http://localhost:3000/api/handoffs"), "{prompt}");
    let by_label = project.ok(&["prompt", "s1/HO-001"]);
    assert!(by_label.contains("baton handoff complete 1 --outcome success --to implementer"));
}

#[test]
fn a_program_gets_the_prompt_with_its_hashes() {
    let project = Project::new();
    let description = "Sessions live in a table, so that they can be revoked. ".repeat(20);
    project.ok(&["story", "add", "s1", "--description", &description]);
    project.ok(&["run", "start", "s1"]);
    let whole = project.json(&["prompt", "1"]);
    assert_eq!(whole["leftOut"].as_array().unwrap().len(), 0);
    assert_eq!(whole["hash"].as_str().unwrap().len(), 64);
    assert_eq!(whole["packageHash"].as_str().unwrap().len(), 64);
    let short = project.json(&["prompt", "1", "--budget", "10", "--face", "block"]);
    assert_eq!(short["leftOut"], serde_json::json!(["the end of the package"]));
    assert!(short["tokens"].as_u64() < whole["tokens"].as_u64());
}

#[test]
fn what_cannot_be_told_says_why() {
    let project = Project::started();
    project.fails(&["prompt", "9"], 3, "[no_such_handoff]");
    project.fails(&["prompt", "1", "--url", "localhost"], 2, "begins with `http://`");
    project.ok(&["handoff", "cancel", "1"]);
    project.fails(&["prompt", "1"], 4, "[finished]");
    let agent = "---\nname: analyst\ndescription: d\n---\nFix {{TICKET}} now.\n";
    let own = Project::new();
    std::fs::write(own.path().join(".baton/agents/analyst.md"), agent).unwrap();
    own.ok(&["story", "add", "s1"]);
    own.ok(&["run", "start", "s1"]);
    own.fails(&["prompt", "1"], 1, "`{{TICKET}}`; known: DASHBOARD_URL, STORY_ID");
}

/// The command of a prompt that has this in it, with its marks filled in.
fn command(prompt: &str, part: &str) -> String {
    let commands = prompt.split("```sh\n").skip(1).map(|it| it.split_once("\n```").unwrap().0);
    let found = commands.into_iter().find(|it| it.contains(part)).unwrap();
    let mut parts = found.split("\"<");
    let mut filled = parts.next().unwrap().to_owned();
    for part in parts {
        let (_, behind) = part.split_once(">\"").unwrap();
        filled.push_str(r#""it's \"done\"""#);
        filled.push_str(behind);
    }
    while let Some((before, mark)) = filled.split_once("\": <true") {
        let (_, behind) = mark.split_once('>').unwrap();
        filled = format!("{before}\": true{behind}");
    }
    let filled = filled.replace("<your question>", "What's \"it\"?");
    filled.replace("<what has to change, and where>", "It's $(x)")
}

fn shell(project: &Project, line: &str) -> Said {
    let baton = std::path::Path::new(env!("CARGO_BIN_EXE_baton")).parent().unwrap();
    let path = format!("{}:{}", baton.display(), std::env::var("PATH").unwrap());
    let mut shell = Command::new("sh");
    shell.args(["-c", line]).current_dir(project.path()).env("PATH", path).env("USER", "ada");
    Said::from(shell.output().unwrap())
}

#[test]
fn what_the_prompt_says_can_be_typed_as_it_stands() {
    let project = odd();
    let prompt = project.ok(&["prompt", "1"]);
    for start in ["baton handoff accept 1", "baton handoff complete 1 --outcome success"] {
        let said = shell(&project, &command(&prompt, start));
        assert_eq!(said.code, 0, "{said:?}");
    }
    let handed = project.json(&["handoff", "show", "2"]);
    assert_eq!(handed["package"]["plan"], "it's \"done\"", "{handed}");
    let prompt = project.ok(&["prompt", "2"]);
    let said = shell(&project, &command(&prompt, "baton handoff clarify 2"));
    assert_eq!(said.code, 0, "{said:?}");
    assert_eq!(project.json(&["handoff", "show", "3"])["reason"], "What's \"it\"?");
    project.ok(&["handoff", "answer", "3", "--text", "That"]);
    let prompt = project.ok(&["prompt", "2"]);
    assert!(prompt.contains("| That\n"), "{prompt}");
    let said = shell(&project, &command(&prompt, "baton handoff reject 2"));
    assert_eq!(said.code, 0, "{said:?}");
    assert_eq!(project.json(&["handoff", "show", "4"])["reason"], "It's $(x)");
}

#[test]
fn a_curl_line_sends_the_very_story() {
    let project = odd();
    let prompt = project.ok(&["prompt", "1", "--url", "http://localhost:3000"]);
    let line = command(&prompt, "\"action\": \"create\"");
    // What curl would be given, without a server.
    let said = shell(&project, &format!("curl() {{ printf '%s\\n' \"$4\"; cat; }}\n{line}"));
    let (url, body) = said.stdout.split_once('\n').unwrap();
    assert_eq!(url, "http://localhost:3000/api/handoffs");
    let body: serde_json::Value = serde_json::from_str(body).unwrap();
    assert_eq!(body["storyId"], ODD);
    assert_eq!(body["payload"]["plan"], "it's \"done\"");
    let history = prompt.split("need it: `").nth(1).unwrap().split_once("'`").unwrap().0;
    let said = shell(&project, &format!("curl() {{ printf '%s' \"$2\"; }}\n{history}'"));
    let encoded = "it%27s%20%22a%22%20%26%20b%231%20%24%28x%29";
    assert_eq!(said.stdout, format!("http://localhost:3000/api/handoffs?storyId={encoded}"));
}

#[test]
fn a_long_text_may_be_yaml_and_a_reason_may_be_a_file() {
    let project = Project::started();
    project.ok(&["handoff", "accept", "1"]);
    let plan = "plan: |\n  1. Do \"this\" in a.py\n  2. Do that\nfiles_to_modify: [a.py]\napproach: One place, so that 3 tests show it\nrisks: []\nquestions_resolved: true\n";
    std::fs::write(project.path().join("plan.yaml"), plan).unwrap();
    let to = ["handoff", "complete", "1", "--outcome", "success", "--to", "implementer"];
    project.ok(&[&to[..], &["--payload", "@plan.yaml"]].concat());
    let shown = project.json(&["handoff", "show", "2"]);
    assert_eq!(shown["package"]["plan"], "1. Do \"this\" in a.py\n2. Do that\n");
    assert_eq!(shown["package"]["questions_resolved"], true);
    let reason = format!("{}The end.", "A point of the review. ".repeat(100));
    std::fs::write(project.path().join("review.txt"), &reason).unwrap();
    project.ok(&["handoff", "reject", "2", "--reason", "@review.txt"]);
    assert_eq!(project.json(&["handoff", "show", "3"])["reason"], *reason);
    assert!(project.ok(&["handoff", "show", "3"]).contains("The end."));
    assert!(project.ok(&["prompt", "3"]).contains("The end."));
    project.ok(&["handoff", "reject", "3", "--reason", "@ada: not like this"]);
}

#[test]
fn the_branches_and_the_checks_of_a_project_are_told() {
    let project = Project::started();
    let git = project.path().join(".git/refs/heads");
    std::fs::create_dir_all(&git).unwrap();
    std::fs::write(project.path().join(".git/HEAD"), "ref: refs/heads/main\n").unwrap();
    std::fs::write(git.join("main"), "a".repeat(40)).unwrap();
    let file = project.path().join(".baton/baton.toml");
    let toml = std::fs::read_to_string(&file).unwrap();
    let checks = "\n[checks.tests]\nrun = [\"python3\", \"-m\", \"unittest\", \"it's\"]\ntimeout = \"90s\"\n";
    std::fs::write(&file, format!("{toml}{checks}")).unwrap();
    let prompt = project.ok(&["prompt", "1"]);
    for line in [
        "with `git switch -c feat/story-s1 main`. To read only, read `main`.",
        "- Its base is the branch `main`, at commit aaaaaaaaaaaa.",
        r"tests: `python3 -m unittest 'it'\''s'` (at most 90s).",
        "writes `state`, `.project/07-audit/sessions` in this folder: leave them out of your commits.",
    ] {
        assert!(prompt.contains(line), "{line}\n{prompt}");
    }
}
