use expect_test::{Expect, expect};

use baton_core::names::CheckName;

use super::super::agents::{KnownAgents, outcomes_without_edge};
use super::super::{parse_file, parse_for};
use crate::agent_file;

fn agents(texts: &[(&str, &str)]) -> Vec<(String, agent_file::AgentFile)> {
    let read = |(name, text): &(&str, &str)| {
        (format!(".baton/agents/{name}.md"), agent_file::parse_file(name, text).unwrap())
    };
    texts.iter().map(read).collect()
}

const PLANNER: &str = "\
---
name: planner
description: Plans
accepts: [story]
produces:
  success: [sketch]
---
Plan the work.
";

#[track_caller]
fn check(text: &str, expected: &Expect) {
    let agents = agents(&[("planner", PLANNER), ("coder", "Write the code.")]);
    let unread = [("tester".to_owned(), ".baton/agents/tester.md".to_owned())];
    let known = KnownAgents { agents: &agents, unread: &unread };
    let found = parse_for("team", text, &known, &[]);
    let lines: Vec<String> =
        found.err().unwrap_or_default().iter().map(ToString::to_string).collect();
    expected.assert_eq(&lines.join("\n"));
}

#[test]
fn structure_and_references_are_told_together() {
    check(
        "\
name: teams
start: { to: plan, contract: story }
steps:
  plan: { agent: planer, on: { succes: code, blocked: nowhere, success: code } }
  code: { agent: coder, optional: maybe, on: { success: { to: complete, contract: none } } }
  test: { agents: [], on: { failure: { to: plan, about: a, b } } }
",
        &expect![[r#"
            line 1, column 7: name: is `teams`, but the file is `team.yaml`; write `name: team`, or rename the file to `teams.yaml` [misnamed]
            line 2, column 30: start.contract: there is no contract `story`; the workflow declares none, and no built-in one is called so [no_such_contract]
            line 4, column 18: steps.plan.agent: there is no agent `planer`; did you mean `planner`? `baton agent new planer` makes one [no_such_agent]
            line 4, column 32: steps.plan.on.succes: is not an outcome; did you mean `success`? [unknown_outcome]
            line 4, column 55: steps.plan.on.blocked.to: there is no step `nowhere`; known: plan, code, test; `complete` is the end of the run [no_such_step]
            line 5, column 35: steps.code.optional: is text, not `true` or `false` [wrong_type]
            line 5, column 83: steps.code.on.success.contract: there is no contract `none`; the workflow declares none, and no built-in one is called so [no_such_contract]
            line 6, column 19: steps.test.agents: names no agent [no_agent]
            line 6, column 50: steps.test.on.failure.about: is not a key here; known: `to`, `join`, `back`, `contract`, `profile`, `rounds`, `budget`, `min_score`, `gate`, `checks`, `ask_in`, `ask_below`, `raise` [unknown_key]
            line 6, column 60: steps.test.on.failure.b: is not a key here; text with a comma needs quotes around it in `{ ... }` [unknown_key]"#]],
    );
}

#[test]
fn an_agent_that_does_not_fit_is_told_with_its_file_and_line() {
    check(
        "\
name: team
start: { to: plan, contract: plan }
steps:
  plan: { agent: planner, on: { success: { to: code, contract: plan } } }
  code: { agent: coder, delegates: [tester, nobody], on: { success: { to: complete, contract: plan } } }
contracts:
  plan: { must: [{ field: plan, about: what is done }] }
",
        &expect![[r#"
            line 4, column 18: steps.plan.agent: `planner` does not say that it accepts `plan`; add it to `accepts` in .baton/agents/planner.md, line 4 [not_accepted]
            line 4, column 33: steps.plan.on.success: `planner` does not say that it produces `plan`; add it to `produces.success` in .baton/agents/planner.md, line 5 [not_produced]
            line 5, column 37: steps.code.delegates[0]: the file of `tester` has problems; mend .baton/agents/tester.md [unread_agent]
            line 5, column 45: steps.code.delegates[1]: there is no agent `nobody`; `baton agent new nobody` makes one [no_such_agent]"#]],
    );
}

#[test]
fn an_empty_list_says_nothing() {
    let silent = PLANNER.replace("[story]", "[]").replace("[sketch]", "[]");
    let agents = agents(&[("planner", &silent)]);
    let text = "\
name: team
start: { to: plan, contract: plan }
steps:
  plan: { agent: planner, on: { success: { to: complete, contract: plan } } }
contracts:
  plan: { must: [{ field: plan, about: what is done }] }
";
    assert!(parse_for("team", text, &KnownAgents { agents: &agents, unread: &[] }, &[]).is_ok());
}

#[test]
fn a_workflow_has_the_name_of_its_file() {
    let text = "name: teams\nstart: a\nsteps:\n  a: { agent: b, on: { success: complete } }\n";
    assert!(parse_file("teams", text).is_ok());
    let problems = parse_file("team", text).unwrap_err();
    assert_eq!(
        problems[0].to_string(),
        "line 1, column 7: name: is `teams`, but the file is `team.yaml`; write `name: team`, or rename the file to `teams.yaml` [misnamed]"
    );
}

#[test]
fn a_slip_in_the_name_of_a_check_is_told_and_a_check_without_a_command_is_not() {
    let agents = agents(&[("planner", PLANNER)]);
    let text = "\
name: team
start: plan
steps:
  plan:
    agent: planner
    on:
      success:
        - { to: complete, checks: [tests, lnit, ci, package] }
        - to: plan
          gate: { type: automatic, checks: [lint, tset] }
";
    let known = KnownAgents { agents: &agents, unread: &[] };
    let checks = ["tests", "lint"].map(|it| CheckName::parse(it).unwrap());
    let problems = parse_for("team", text, &known, &checks).unwrap_err();
    let lines: Vec<String> = problems.iter().map(ToString::to_string).collect();
    expect![[r#"
        line 8, column 43: steps.plan.on.success[0].checks[1]: `lnit` is no check of `[checks]` in baton.toml; did you mean `lint`? If its result comes from elsewhere, give it a name that is not so near [unknown_check]
        line 10, column 51: steps.plan.on.success[1].gate.checks[1]: `tset` is no check of `[checks]` in baton.toml; did you mean `tests`? If its result comes from elsewhere, give it a name that is not so near [unknown_check]"#]]
    .assert_eq(&lines.join("\n"));
    let posted = text.replace("lnit", "lint").replace("tset", "tests");
    let workflow = parse_for("team", &posted, &known, &checks).unwrap();
    expect!["`steps.plan.on.success[0].checks`: `ci` has no command in baton.toml; add `[checks.ci]`, or post its result with `baton evidence HANDOFF ci passed`"]
        .assert_eq(&crate::workflow_file::checks::posted_checks(&workflow, &checks).join("\n"));
    // A project without checks of its own has nothing that a name could be a slip of.
    assert!(parse_for("team", text, &known, &[]).is_ok());
}

#[test]
fn a_contract_that_no_package_keeps_in_strict_is_found() {
    let agents = agents(&[("coder", "Write the code.")]);
    let known = KnownAgents { agents: &agents, unread: &[] };
    let text = "\
name: team
start: code
steps:
  code: { agent: coder, on: { success: { to: complete, contract: c } } }
contracts:
  c:
    must: [ { field: status, none_of: [failed], about: x } ]
    should: [ { field: status, one_of: [failed], about: y } ]
";
    let problems = parse_for("team", text, &known, &[]).unwrap_err();
    let lines: Vec<String> = problems.iter().map(ToString::to_string).collect();
    expect!["line 6, column 3: contracts.c: no package can keep this contract in strict: its rules about `status`, `must` and `should`, contradict each other [contradictory_contract]"].assert_eq(&lines.join("\n"));
}

#[test]
fn a_way_to_the_end_that_became_a_cycle_is_found_at_its_line() {
    let agents = agents(&[("coder", "Write the code.")]);
    let known = KnownAgents { agents: &agents, unread: &[] };
    let text = "\
name: team
start: code
steps:
  code: { agent: coder, on: { success: close } }
  close: { agent: coder, on: { success: spin } }
  spin: { agent: coder, on: { success: close } }
";
    let problems = parse_for("team", text, &known, &[]).unwrap_err();
    let lines: Vec<String> = problems.iter().map(ToString::to_string).collect();
    expect!["line 6, column 40: steps.spin.on.success: no run can end: all work goes round between close, spin for ever; let `spin` or another of them lead towards `complete` [no_end]"].assert_eq(&lines.join("\n"));
    let (_, phases) = crate::builtin::workflows()[2];
    let turned = phases.replace("{ to: complete, contract", "{ to: testing, contract");
    let problems = super::super::parse(&turned).unwrap_err();
    let lines: Vec<String> = problems.iter().map(ToString::to_string).collect();
    expect!["line 47, column 7: steps.testing.on.success: no run can end: all work goes round between implementation, testing for ever; let `testing` or another of them lead towards `complete` [no_end]"].assert_eq(&lines.join("\n"));
}

#[test]
fn work_that_an_agent_produces_on_failure_has_an_edge_or_is_noted() {
    let reviewer = "---\nname: reviewer\ndescription: Reviews\nproduces:\n  failure: [feedback]\n---\nReview it.\n";
    let agents = agents(&[("reviewer", reviewer), ("coder", "Write the code.")]);
    let known = KnownAgents { agents: &agents, unread: &[] };
    let flow = |on_failure: &str| {
        let text = format!(
            "name: team\nstart: code\nsteps:\n  code: {{ agent: coder, on: {{ success: review }} }}\n  \
             review: {{ agent: reviewer, on: {{ success: complete{on_failure} }} }}\n"
        );
        outcomes_without_edge(&parse_file("team", &text).unwrap(), &known)
    };
    assert_eq!(
        flow(""),
        [
            "`steps.review`: `reviewer` says that it produces `feedback` on failure, and the step has \
             no edge on failure; add `failure: { to: STEP }` to its `on`"
        ]
    );
    assert_eq!(flow(", failure: { to: code, back: true }"), [""; 0]);
}
