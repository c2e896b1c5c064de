//! Documents on the command line: converted, looked at, found, sent.

use std::io::Write as _;
use std::process::Stdio;

use serde_json::Value;

use crate::{Project, Said};

const REVIEW: &str = r#"<handoff>
  <from>reviewer-agent</from>
  <to>fixer-agent</to>
  <pr_number>456</pr_number>
  <issue_number>123</issue_number>
  <review_status>changes_requested</review_status>
  <critical_count>1</critical_count>
  <blocking_issues>
    <issue location="src/auth/login.ts:42" severity="critical">SQL injection</issue>
  </blocking_issues>
</handoff>
"#;

const PLAN: &str = "handoff:
  from:
    agent: analyst
  to:
    agent: implementer
    reason: Planned
  context:
    summary: Planned the login in 2 steps, src/login.rs and its tests
  plan: [Write src/login.rs, Test each refusal]
  files_to_modify: [src/login.rs]
  approach: Tokens in a table, since they can be revoked
  risks: []
  questions_resolved: true
";

impl Project {
    fn has(&self, file: &str, text: &str) {
        std::fs::write(self.path().join(file), text).unwrap();
    }

    fn told(&self, args: &[&str], input: &str) -> Said {
        let mut child = self
            .command(args)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
        Said::from(child.wait_with_output().unwrap())
    }
}

#[test]
fn a_document_comes_back_from_every_format() {
    let project = Project::new();
    project.has("review.xml", REVIEW);
    let mut last = "review.xml".to_owned();
    for (to, file) in
        [("yaml", "r.yaml"), ("json", "r.json"), ("markdown", "r.md"), ("xml", "r.xml")]
    {
        let text = project.ok(&["convert", &last, "--to", to]);
        project.has(file, &text);
        last = file.to_owned();
    }
    assert_eq!(project.ok(&["convert", "r.md", "--to", "xml"]), REVIEW);
    // Without a name to go by, by its first characters; agents are not looked at.
    let said = project.told(&["convert", "-", "--to", "json"], "handoff: {from: '[agent-id]'}");
    assert_eq!(said.stdout, "{\n  \"handoff\": {\n    \"from\": \"[agent-id]\"\n  }\n}\n");
    // What ends in blank lines ends in them.
    let kept = project.told(&["convert", "-", "--to", "yaml"], r#"{"a":"x\n\n"}"#);
    assert_eq!(
        project.told(&["convert", "-", "--to", "json"], &kept.stdout).stdout,
        "{\n  \"a\": \"x\\n\\n\"\n}\n"
    );
    let said = project.told(&["convert", "-", "--to", "json"], "<a><b></a>");
    assert_eq!((said.code, said.stdout.as_str()), (1, ""));
    assert!(said.stderr.contains("`-` cannot be read as XML: line 1, column 7"), "{said:?}");
    project.fails(&["convert", "nothing.xml", "--to", "json"], 3, "there is no file");
}

#[test]
fn a_handoff_is_looked_at_by_its_own_contract_and_every_rule() {
    let project = Project::new();
    project.has("good.xml", REVIEW);
    let said = project.run(&["lint", "good.xml"]);
    assert_eq!(said.code, 0, "{said:?}");
    assert!(said.stdout.contains("by the contract `xml/reviewer-agent→fixer-agent`"), "{said:?}");
    project.has("bad.xml", &REVIEW.replace("<critical_count>1", "<critical_count>0"));
    let said = project.run(&["lint", "good.xml", "bad.xml"]);
    assert_eq!(said.code, 1, "{said:?}");
    assert!(said.stderr.contains("errors in 1 of 2 files"), "{said:?}");
    let said = project.run(&["lint", "bad.xml", "--json"]);
    let found: Value = serde_json::from_str(&said.stdout).unwrap();
    assert_eq!(
        (&found[0]["isGood"], &found[0]["findings"][0]["severity"]),
        (&Value::Bool(false), &Value::from("error"))
    );
    let said = project.run(&["lint", "bad.xml", "--sarif"]);
    let sarif: Value = serde_json::from_str(&said.stdout).unwrap();
    assert_eq!((said.code, &sarif["version"]), (1, &Value::from("2.1.0")));
    assert_eq!(sarif["runs"][0]["results"][0]["level"], "error");
    // What cannot be read at all has a place.
    project.has("broken.yaml", "handoff:\n  from: [a\n");
    let said = project.run(&["lint", "broken.yaml", "--json"]);
    let found: Value = serde_json::from_str(&said.stdout).unwrap();
    assert_eq!((said.code, &found[0]["problem"]["code"]), (1, &Value::from("yaml_syntax")));
    assert_eq!(found[0]["problem"]["line"], 2);
}

#[test]
fn a_file_that_cannot_be_read_is_told_beside_the_others() {
    let project = Project::new();
    project.has("good.xml", REVIEW);
    std::fs::write(project.path().join("u16.xml"), b"\xff\xfe<\0").unwrap();
    let files = ["lint", "nofile", "good.xml", "u16.xml"];
    let said = project.run(&files);
    assert_eq!(said.code, 1, "{said:?}");
    assert!(said.stdout.contains("good.xml ") && said.stdout.contains(" of 100"), "{said:?}");
    assert!(said.stdout.contains("nofile cannot be read\n  there is no file `nofile`"), "{said:?}");
    assert!(said.stdout.contains("`u16.xml` is not UTF-8 text"), "{said:?}");
    assert!(said.stderr.contains("errors in 2 of 3 files"), "{said:?}");
    let said = project.run(&[&files[..], &["--json"]].concat());
    let found: Value = serde_json::from_str(&said.stdout).unwrap();
    assert_eq!((&found[0]["format"], &found[0]["isGood"]), (&Value::Null, &Value::Bool(false)));
    assert_eq!(found[0]["problem"]["code"], "not_found");
    assert_eq!(found[1]["isGood"], true);
    let said = project.run(&[&files[..], &["--sarif"]].concat());
    let sarif: Value = serde_json::from_str(&said.stdout).unwrap();
    assert_eq!(sarif["runs"][0]["results"][0]["ruleId"], "not_found");
    project.fails(&["lint", "nofile"], 3, "there is no file `nofile`");
}

#[test]
fn what_is_no_text_is_named_as_it_was_typed() {
    let project = Project::new();
    std::fs::write(project.path().join("u16.xml"), b"\xff\xfe<\0").unwrap();
    std::fs::create_dir(project.path().join("folder")).unwrap();
    for command in [
        &["lint"][..],
        &["convert", "--to", "json"],
        &["handoff", "create", "--from", "analyst", "--file"],
    ] {
        let on = |file: &'static str| [command, &[file]].concat();
        project.fails(&on("u16.xml"), 2, "error: `u16.xml` is not UTF-8 text");
        project.fails(&on("folder"), 2, "`folder` is a folder; name a file in it");
    }
    project.fails(&["extract", "folder"], 2, "`folder` is a folder");
    project.fails(&["story", "import", "u16.xml"], 2, "error: `u16.xml` is not UTF-8 text");
}

#[test]
fn what_a_document_is_written_in_can_be_said_in_the_way_that_is_advised() {
    let project = Project::started();
    project.has("unclear", "just words");
    project.fails(&["convert", "unclear", "--to", "json"], 2, "; say it with `--from` [usage]");
    project.fails(&["lint", "unclear"], 2, "; say it with `--from` [usage]");
    let create = ["handoff", "create", "--from", "analyst", "--file", "unclear"];
    project.fails(&create, 2, "; give the file an ending such as `.yaml` [usage]");
}

#[test]
fn what_a_handoff_says_about_files_is_compared_with_the_disk() {
    let project = Project::new();
    let artifact = "handoff:\n  from: {agent: specification}\n  to: {agent: architecture, reason: r}\n  \
        context:\n    summary: Wrote 3 user stories for the login, in docs/stories.md\n    \
        artifacts: [{path: docs/stories.md}]\n";
    project.has("h.yaml", artifact);
    let said = project.run(&["lint", "h.yaml"]);
    assert!(said.code == 1 && said.stdout.contains("[artifact_missing]"), "{said:?}");
    // Nobody looked: then nobody knows.
    let said = project.run(&["lint", "h.yaml", "--no-workspace"]);
    assert!(said.code == 0 && said.stdout.contains("unverified: "), "{said:?}");
    std::fs::create_dir(project.path().join("docs")).unwrap();
    project.has("docs/stories.md", "# Stories\n");
    project.ok(&["lint", "h.yaml"]);
    // Outside of a project the current folder counts.
    let elsewhere = tempfile::tempdir().unwrap();
    std::fs::write(elsewhere.path().join("h.yaml"), artifact).unwrap();
    let mut command = project.command(&["lint", "h.yaml"]);
    let said = Said::from(command.current_dir(elsewhere.path()).output().unwrap());
    assert!(said.code == 1 && said.stdout.contains("[artifact_missing]"), "{said:?}");
}

#[test]
fn a_rule_is_silenced_with_a_reason_and_a_score_may_be_asked_for() {
    let project = Project::new();
    project.has("h.json", r#"{"handoff":{"from":"a","to":"b","summary":"It is done"}}"#);
    let said = project.run(&["lint", "h.json"]);
    assert!(said.stdout.contains("[vague_summary]"), "{said:?}");
    let said = project.run(&["lint", "h.json", "--silence", "vague_summary=it is a test"]);
    assert!(said.stdout.contains("silenced: vague_summary (it is a test)"), "{said:?}");
    project.fails(&["lint", "h.json", "--silence", "vague_summary"], 2, "say why");
    project.fails(&["lint", "h.json", "--silence", "no_such=x"], 2, "vague_summary");
    let said = project.run(&["lint", "h.json", "--min-score", "100"]);
    assert!(said.code == 1 && said.stdout.contains("at least 100 is asked for"), "{said:?}");
    // The edge of a workflow, for a payload that does not say where it goes.
    project.has("p.json", r#"{"notes":"n"}"#);
    let said = project.run(&["lint", "p.json", "--edge", "analyst:implementer"]);
    assert!(said.code == 1 && said.stdout.contains("by the contract `plan`"), "{said:?}");
    project.fails(&["lint", "p.json", "--edge", "analyst"], 2, "analyst:implementer");
    project.fails(&["lint", "p.json", "--workflow", "nothing"], 3, "story-pipeline");
}

#[test]
fn what_the_project_silences_is_silent_for_the_linter_and_for_whoever_sends() {
    let project = Project::started();
    let vague =
        PLAN.replace("Planned the login in 2 steps, src/login.rs and its tests", "It is done");
    project.has("plan.yaml", &vague);
    project.ok(&["handoff", "accept", "1"]);
    let create = ["handoff", "create", "--file", "plan.yaml", "--run", "1", "--dry-run"];
    project.fails(&create, 1, "[vague_summary]");
    let file = project.path().join(".baton/baton.toml");
    let settings = std::fs::read_to_string(&file).unwrap();
    let silence = "\n[lint]\nsilence = [{ rule = \"vague_summary\", reason = \"a test\" }]\n";
    std::fs::write(&file, settings + silence).unwrap();
    project.ok(&create);
    let said = project.run(&["lint", "plan.yaml", "--no-workspace"]);
    assert!(said.code == 0 && said.stdout.contains("silenced: vague_summary (a test)"), "{said:?}");
}

#[test]
fn the_handoff_in_what_an_agent_printed_is_found() {
    let project = Project::new();
    let output = format!("I had a look.\n\u{1b}[32mDone!\u{1b}[0m\n\n```yaml\n{PLAN}```\n\nBye.\n");
    project.has("out.txt", &output);
    assert_eq!(project.ok(&["extract", "out.txt"]), PLAN);
    assert!(project.ok(&["extract", "out.txt", "--to", "xml"]).starts_with("<handoff>\n"));
    let found = project.json(&["extract", "out.txt", "--all"]);
    assert_eq!((&found[0]["format"], &found[0]["problem"]), (&Value::from("yaml"), &Value::Null));
    project.has("none.txt", "nothing to see\n");
    project.fails(&["extract", "none.txt"], 3, "there is no handoff in the output");
    // A good one before a broken one is not what was meant.
    project.has("broken.txt", &format!("{REVIEW}\nand then\n<handoff><from>a</from>"));
    project.fails(&["extract", "broken.txt"], 1, "cannot be read as XML");
}

#[test]
fn a_file_is_handed_over_as_it_is_written() {
    let project = Project::started();
    project.has("plan.yaml", PLAN);
    project.fails(&["handoff", "create", "--file", "plan.yaml"], 4, "[accept_first]");
    project.ok(&[
        "handoff",
        "accept",
        "1",
        "--acknowledgement",
        "acknowledgment: {received: true, understood: {task: Plan it}}",
    ]);
    let poor = PLAN.replace("  risks: []\n", "");
    let said = project.told(&["handoff", "create", "--file", "-", "--run", "1"], &poor);
    // What would pass is told in the sender's own format.
    assert!(said.code == 1 && said.stderr.contains("\n  risks:\n    - \"<"), "{said:?}");
    project.ok(&["handoff", "create", "--file", "plan.yaml", "--run", "1"]);
    let shown = project.ok(&["handoff", "show", "2"]);
    let behind_margin = PLAN.lines().map(|it| format!("  | {it}")).collect::<Vec<_>>().join("\n");
    assert!(shown.contains(&behind_margin), "{shown}");
    project.fails(
        &["handoff", "create", "--file", "plan.yaml", "--payload", "{}"],
        2,
        "cannot be used",
    );
}

#[test]
fn the_example_of_the_formats_runs_as_it_stands() {
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/formats.sh");
    let mut command = std::process::Command::new("sh");
    let output = command.arg(script).arg(env!("CARGO_BIN_EXE_baton")).output().unwrap();
    let said = Said::from(output);
    assert_eq!(said.code, 0, "{said:?}");
    for line in ["same\n", "by the contract `xml/reviewer-agent→fixer-agent`", "status: blocked\n"]
    {
        assert!(said.stdout.contains(line), "{said:?}");
    }
}

/// A plan in prose, with its fields in a metadata block.
const PROSE: &str = "# The plan

Tokens live in a table, since they can be revoked.

## Metadata

```json
{
  \"plan\": [\"Write src/login.rs\", \"Test each refusal\"],
  \"files_to_modify\": [\"src/login.rs\"],
  \"approach\": \"Tokens in a table, since they can be revoked\",
  \"risks\": [],
  \"questions_resolved\": true
}
```
";

#[test]
fn a_package_may_be_markdown_wherever_it_may_be_json() {
    let project = Project::started();
    project.has("plan.md", PROSE);
    project.ok(&["handoff", "accept", "1"]);
    project.has("poor.md", &PROSE.replace("\"risks\": [],\n", ""));
    let complete = |file| ["handoff", "complete", "1", "--payload", file];
    project.fails(&complete("@poor.md"), 1, "risks: is missing");
    project.has("words.md", "# Only words\n");
    project.fails(&complete("@words.md"), 1, "[no_metadata]");
    project.ok(&complete("@plan.md"));
    let shown = project.ok(&["handoff", "show", "2"]);
    assert!(shown.contains("Tokens live in a table"), "{shown}");
    // By YAML, and by a pipe.
    let other = Project::started();
    other.ok(&["handoff", "accept", "1"]);
    other.has("plan.yaml", "plan: [a]\nfiles_to_modify: [src/a.rs]\napproach: By table\nrisks: []\nquestions_resolved: true\n");
    other.ok(&["handoff", "complete", "1", "--payload", "@plan.yaml", "--dry-run"]);
    let said = other.told(&["handoff", "complete", "1", "--payload", "-"], PROSE);
    assert_eq!(said.code, 0, "{said:?}");
}

#[test]
fn the_answer_of_an_agent_program_is_unwrapped_and_sent() {
    let project = Project::started();
    project.ok(&["handoff", "accept", "1"]);
    let answer = serde_json::to_string(&format!("Done.\n\n```yaml\n{PLAN}```\n")).unwrap();
    project.has("out.json", &format!(r#"{{"type":"result","result":{answer},"session_id":"x"}}"#));
    assert_eq!(project.ok(&["extract", "out.json"]), PLAN);
    let found = project.json(&["extract", "out.json"]);
    assert_eq!((&found["format"], &found["text"]), (&Value::from("yaml"), &Value::from(PLAN)));
    let said = project.told(
        &["handoff", "create", "--file", "-", "--run", "1"],
        &project.ok(&["extract", "out.json"]),
    );
    assert_eq!(said.code, 0, "{said:?}");
}

#[test]
fn a_finding_for_an_editor_has_its_line_and_its_file() {
    let project = Project::new();
    let file = "my file #1.xml";
    project.has(file, &REVIEW.replace("severity=\"critical\"", "severity=\"awful\""));
    let of = |said: &Said| serde_json::from_str::<Value>(&said.stdout).unwrap()["runs"][0].clone();
    let run = of(&project.run(&["lint", file, "--sarif"]));
    let result =
        run["results"].as_array().unwrap().iter().find(|it| it["ruleId"] == "unknown_word");
    let place = &result.unwrap()["locations"][0]["physicalLocation"];
    assert_eq!(place["region"], serde_json::json!({"startLine": 9, "startColumn": 5}));
    assert_eq!(place["artifactLocation"]["uri"], "my%20file%20%231.xml");
    assert!(run["tool"]["driver"]["rules"][0]["help"]["text"].is_string(), "{run}");
    let piped = of(&project.told(&["lint", "-", "--sarif"], "handoff:\n  from: [a\n"));
    let place = &piped["results"][0]["locations"][0]["physicalLocation"];
    assert_eq!(
        (&place["artifactLocation"]["uri"], &place["region"]["startLine"]),
        (&Value::from("stdin"), &Value::from(2))
    );
    let about = &piped["tool"]["driver"]["rules"][0]["shortDescription"]["text"];
    assert_eq!(about, "the file cannot be read, or is no document of its format");
}

#[test]
fn what_looks_like_another_systems_handoff_is_named_as_such() {
    let project = Project::new();
    project.has(
        "a2a.json",
        r#"{"kind":"message","role":"agent","messageId":"m","parts":[{"kind":"text","text":"hi"}]}"#,
    );
    let said = project.run(&["lint", "a2a.json"]);
    assert!(
        said.stdout.contains(
            "to_agent: this looks like an A2A message, which names no receiver; name the agent in"
        ),
        "{said:?}"
    );
    project.has("ack.json", r#"{"received":true,"understood":"somewhat"}"#);
    let said = project.run(&["lint", "ack.json"]);
    assert!(said.code == 1 && said.stdout.contains("error understood: must be"), "{said:?}");
}

#[test]
fn a_blocked_document_is_linted_by_the_contract_that_sending_asks_for() {
    let project = Project::started();
    project.ok(&["handoff", "accept", "1"]);
    project.has("blocked.xml", "<handoff><from>analyst</from><status>blocked</status></handoff>");
    let said = project.run(&["lint", "blocked.xml"]);
    assert!(said.stdout.contains("by the contract `implied/blocked`"), "{said:?}");
    let sent = ["handoff", "create", "--file", "blocked.xml", "--run", "1"];
    project.fails(&sent, 1, "implied/blocked");
}

#[test]
fn a_mistyped_story_in_a_file_is_refused_unless_it_is_called_new() {
    let project = Project::started();
    let story = project.json(&["story", "list"])["items"][0]["key"].as_str().unwrap().to_owned();
    project.ok(&["handoff", "accept", "1"]);
    let plan =
        |key: &str| PLAN.replacen("handoff:\n", &format!("handoff:\n  story_id: {key}\n"), 1);
    project.has("plan.yaml", &plan(&format!("{story}x")));
    let create = ["handoff", "create", "--file", "plan.yaml"];
    project.fails(&create, 3, &format!("did you mean `{story}`?"));
    let said = project.run(&[&create[..], &["--new-story"]].concat());
    assert!(said.code == 0 && said.stderr.contains("it was made"), "{said:?}");
}

#[test]
fn an_ejected_workflow_names_its_schema_for_editors() {
    let project = Project::new();
    project.ok(&["workflow", "eject", "story-pipeline"]);
    let file = std::fs::read_to_string(project.path().join(".baton/workflows/story-pipeline.yaml"));
    let file = file.unwrap();
    let (first, _) = file.split_once('\n').unwrap();
    let schema = first.strip_prefix("# yaml-language-server: $schema=").unwrap();
    let schema = project.path().join(".baton/workflows").join(schema);
    let schema: Value = serde_json::from_str(&std::fs::read_to_string(schema).unwrap()).unwrap();
    assert_eq!(schema["$id"], "urn:baton:schema:workflow");
    project.ok(&["workflow", "check", "story-pipeline"]);
}
