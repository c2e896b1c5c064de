//! A runner that is started once leaves nothing that it could do.

use super::{Workshop, text};

const WORKFLOW: &str = "\
name: small
start: implement
limits: { checks_within: 60s, retries: 2 }
steps:
  implement:
    agent: implementer
    on: { success: { to: review, checks: [package], rounds: 2 } }
  review:
    agent: reviewer
    on: { success: complete }
";

/// Fails the first time, and then hands on.
const AGENT: &str = r#"#!/bin/sh
cat >/dev/null
if [ "$1" = fails ] && [ ! -e was-here ]; then touch was-here; exit 1; fi
printf '```json\n{"agent":"%s","status":"complete","summary":"README.md says it, 1 line"}\n```\n' "$BATON_AGENT"
"#;

/// A workflow that asks for the check `package`, in a project without commands for checks.
fn workshop(way: &str) -> Workshop {
    let workshop = Workshop::new("curl", "");
    workshop.write(".baton/workflows/small.yaml", WORKFLOW);
    workshop.write("tools/small.sh", AGENT);
    workshop.write(
        ".baton/baton.toml",
        &format!(
            "[project]\nworkflow = \"small\"\n[runner]\nlease = \"2s\"\n[executors.mine]\nkind = \"command\"\n\
             run = [\"sh\", \"tools/small.sh\", \"{way}\"]\ntimeout = \"20s\"\n[agents.\"*\"]\nexecutors = [\"mine\"]\n"
        ),
    );
    workshop.commit("Work");
    workshop.ok(&["trust", "--yes"]);
    workshop
}

#[test]
fn work_that_waits_for_the_check_of_its_package_alone_goes_on_without_commands_for_checks() {
    let workshop = workshop("works");
    let _served = workshop.serves();
    workshop.start("s1");
    workshop.until_completed("s1");
    let evidence = workshop.json(&["handoff", "list", "--run", "s1", "--all"]);
    let review =
        evidence["items"].as_array().unwrap().iter().find(|it| text(it, "toAgent") == "reviewer");
    let shown = workshop.ok(&["handoff", "show", &review.unwrap()["number"].to_string()]);
    assert!(shown.contains("package"), "{shown}");
}

#[test]
fn a_runner_that_works_once_waits_for_retries_and_runs_the_check_of_packages() {
    let workshop = workshop("fails");
    let _served = workshop.serves_alone();
    workshop.start("s1");
    workshop.ok(&["runner", "--once"]);
    let run = workshop.json(&["run", "show", "s1"]);
    assert_eq!(run["status"], "completed", "{run}");
    assert!(workshop.attempts("s1", "implementer") >= 2);
}
