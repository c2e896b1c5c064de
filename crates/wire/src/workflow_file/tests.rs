use baton_core::budget::Budget;
use baton_core::contract::{Check, Contract, ContractRule, Profile, ValueKind, When};
use baton_core::gate::GateKind;
use baton_core::names::{AgentId, CheckName, Reason, StepId, WorkflowName};
use baton_core::outcome::Outcome;
use baton_core::workflow::{
    BlockerRouting, Delegate, Edge, EdgeGate, LazyGraph, Limits, Mode, RejectRule, Step,
    StepLimits, Target, Workflow,
};
use expect_test::{Expect, expect};
use jiff::SignedDuration;
use proptest::prelude::*;

use super::*;

mod agents;
mod approvers;
mod asked;
mod branches;
mod ways;

use asked::{full_edge, full_routing, threshold, words};

#[track_caller]
fn check_bad(text: &str, expected: &Expect) {
    let lines: Vec<String> = parse(text).unwrap_err().iter().map(ToString::to_string).collect();
    expected.assert_eq(&lines.join("\n"));
}

fn step_id(name: &str) -> StepId {
    StepId::parse(name).unwrap()
}

fn agent(name: &str) -> AgentId {
    AgentId::parse(name).unwrap()
}

/// As one word declares it.
fn gate(kind: GateKind, name: &str) -> EdgeGate {
    EdgeGate::plain(kind, name)
}

fn rule(field: &str, check: Check) -> ContractRule {
    let field = field.to_owned();
    ContractRule { field, others: Vec::new(), about: "why".to_owned(), check, when: Vec::new() }
}

const SMALL: &str = "\
name: small
start: work
steps:
  work:
    agent: worker
    on: { success: complete }
";

#[test]
fn what_may_be_left_out_has_a_value() {
    let workflow = parse(SMALL).unwrap();
    let work = Step {
        id: step_id("work"),
        title: "Work".to_owned(),
        agents: vec![agent("worker")],
        phase: "work".to_owned(),
        reason: None,
        is_optional: false,
        work_within: SignedDuration::from_mins(30),
        expiry: None,
        reject: RejectRule::ToSender,
        delegates: vec![],
        limits: StepLimits::default(),
        at_once: None,
        edges: vec![Edge::plain(Outcome::Success, Target::Complete)],
    };
    assert_eq!(
        workflow,
        Workflow {
            name: WorkflowName::parse("small").unwrap(),
            title: "Small".to_owned(),
            description: String::new(),
            hash: workflow.hash,
            profile: None,
            start: Edge::plain(Outcome::Success, Target::Step(step_id("work"))),
            steps: vec![work],
            contracts: vec![],
            escalation: None,
            limits: Limits::default(),
            routing: BlockerRouting::default(),
            graph: LazyGraph::default(),
        }
    );
}

const FULL: &str = "\
name: full
title: All of it
description: >
  Every key
  there is.
profile: strict
limits:
  { rounds: 5, retries: 0, questions: 0, releases: 4, stale_after: 2h, escalate_after: 10m, run_within: 8h, run_handoffs: 200, budget: '5usd, 1000tokens', checks_within: 3m, expire_after: 1h, on_expire: return }
domain: web
routing:
  prefixes: { python: data }
  reasons:
    security_concern: { web: web-security, data: human }
    unknown: helper
escalation: in
start: { to: work, contract: in, profile: lenient, rounds: 2 }
steps:
  work:
    agents: [a, b]
    title: The work
    phase: working
    reason: It has to be done
    optional: true
    work_within: 90s
    expire_after: 5m
    reject: never
    delegates:
      - d
      - { agent: e, contract: in, returns: in }
    entries: 5
    budget: 30m
    delegations: 2
    blocks: 0
    retries: 1
    at_once: 3
    on:
      success:
        - { to: check, budget: 30m, checks: [tests], gate: informative, ask_in: [semi-autonomous, supervised], ask_below: 0.70 }
        - to: complete
          contract: in
          gate:
            type: automatic
            name: Ready
            items: [Does it hold?, 2]
            options: { modify: Change it, approve: Let it go }
            checks: [lint, unit-tests]
            approvers: { need: 2, of: [ana, Ben B., carl], author_may_approve: true }
            remind_after: 4h
          raise: { cost: 500, days: { over: 2.5, field: plan.days }, risk: [high, critical], breaking_change: true, security: false, migration: { field: schema } }
      skipped: { to: check, ask_in: supervised, ask_below: { field: sure.of, value: 2 } }
  check:
    agent: c
    expire_after: 1s
    on_expire: ask
    reject_to: work
    on:
      success: complete
      failure: { to: work, back: true, contract: in, profile: strict, rounds: 3 }
contracts:
  in:
    must:
      - any: [story, story_id]
        about: why
    should:
      - { field: a.b, type: list, about: why }
      - { field: c, one_of: [x, 1, true], about: why }
      - { field: d, none_of: [false], about: why, when: { field: e, is: merged } }
";

/// What `FULL` says about its first step.
fn full_work() -> Step {
    let budget = Budget::parse("30m").unwrap();
    let few = StepLimits { delegations: 2, blocks: 0, ..StepLimits::default() };
    let options = [("approve", "Let it go"), ("modify", "Change it")];
    let ready = EdgeGate {
        kind: GateKind::Automatic,
        name: "Ready".to_owned(),
        items: words(&["Does it hold?", "2"]),
        options: options.map(|(key, text)| (key.to_owned(), text.to_owned())).to_vec(),
        checks: ["lint", "unit-tests"].map(|it| CheckName::parse(it).unwrap()).to_vec(),
        approvers: Some(asked::approvers(2, &["ana", "Ben B.", "carl"], true)),
        remind_after: Some(SignedDuration::from_hours(4)),
    };
    let in_contract = Some("in".to_owned());
    Step {
        id: step_id("work"),
        title: "The work".to_owned(),
        agents: vec![agent("a"), agent("b")],
        phase: "working".to_owned(),
        reason: Some(Reason::parse("It has to be done").unwrap()),
        is_optional: true,
        work_within: SignedDuration::from_secs(90),
        expiry: Some(Expiry { after: SignedDuration::from_mins(5), then: OnExpire::Loose }),
        reject: RejectRule::Never,
        delegates: vec![
            Delegate { agent: agent("d"), contract: None, returns: None },
            Delegate { agent: agent("e"), contract: in_contract.clone(), returns: in_contract },
        ],
        limits: StepLimits { entries: Some(5), retries: Some(1), budget, ..few },
        at_once: Some(3),
        edges: vec![
            Edge {
                budget,
                gate: Some(gate(GateKind::Advisory, "The work → check")),
                checks: vec![CheckName::parse("tests").unwrap()],
                ask_in: vec![Mode::SemiAutonomous, Mode::Supervised],
                threshold: Some(threshold("confidence", "0.70")),
                ..Edge::plain(Outcome::Success, Target::Step(step_id("check")))
            },
            Edge {
                gate: Some(ready),
                raise: asked::full_raise(),
                ..full_edge(Outcome::Success, Target::Complete, None, None)
            },
            Edge {
                ask_in: vec![Mode::Supervised],
                threshold: Some(threshold("sure.of", "2")),
                ..Edge::plain(Outcome::Skipped, Target::Step(step_id("check")))
            },
        ],
    }
}

#[test]
fn every_key_is_read() {
    let workflow = parse(FULL).unwrap();
    let back =
        full_edge(Outcome::Failure, Target::Step(step_id("work")), Some(Profile::Strict), Some(3));
    let check = Step {
        id: step_id("check"),
        title: "Check".to_owned(),
        agents: vec![agent("c")],
        phase: "check".to_owned(),
        reason: None,
        is_optional: false,
        work_within: SignedDuration::from_mins(30),
        expiry: Some(Expiry { after: SignedDuration::from_secs(1), then: OnExpire::Ask }),
        reject: RejectRule::To(step_id("work")),
        delegates: vec![],
        limits: StepLimits::default(),
        at_once: None,
        edges: vec![
            Edge::plain(Outcome::Success, Target::Complete),
            Edge { is_back: true, ..back },
        ],
    };
    let contract = Contract {
        name: "in".to_owned(),
        must: vec![ContractRule { others: words(&["story_id"]), ..rule("story", Check::Present) }],
        should: vec![
            rule("a.b", Check::Kind(ValueKind::List)),
            rule("c", Check::OneOf(words(&["x", "1", "true"]))),
            ContractRule {
                when: vec![When::is("e", &["merged"])],
                ..rule("d", Check::NoneOf(words(&["false"])))
            },
        ],
    };
    assert_eq!(
        workflow,
        Workflow {
            name: WorkflowName::parse("full").unwrap(),
            title: "All of it".to_owned(),
            description: "Every key there is.".to_owned(),
            hash: workflow.hash,
            profile: Some(Profile::Strict),
            start: full_edge(
                Outcome::Success,
                Target::Step(step_id("work")),
                Some(Profile::Lenient),
                Some(2)
            ),
            steps: vec![full_work(), check],
            contracts: vec![contract],
            escalation: Some("in".to_owned()),
            limits: Limits {
                rounds: 5,
                retries: 0,
                questions: 0,
                releases: 4,
                expiry: Some(Expiry {
                    after: SignedDuration::from_hours(1),
                    then: OnExpire::Return,
                }),
                stale_after: SignedDuration::from_hours(2),
                escalate_after: Some(SignedDuration::from_mins(10)),
                run_within: Some(SignedDuration::from_hours(8)),
                run_handoffs: Some(200),
                budget: Budget::parse("5usd, 1000tokens").unwrap(),
                checks_within: SignedDuration::from_mins(3),
            },
            routing: full_routing(),
            graph: LazyGraph::default(),
        }
    );
}

#[test]
fn the_hash_is_of_the_text_and_not_of_its_meaning() {
    let hash = parse(SMALL).unwrap().hash;
    assert_eq!(parse(SMALL).unwrap().hash, hash);
    assert_ne!(parse(&format!("{SMALL}# a comment\n")).unwrap().hash, hash);
    expect!["25f2dee01905028b542e2498e61cbf24acced5052265b64a64f5f28ba19017d7"]
        .assert_eq(&hash.to_string());
}

#[test]
fn all_problems_come_at_once_with_their_lines() {
    check_bad(
        "\
nmae: small
profile: harsh
limits: { rounds: 0, stale_after: 30, retires: 1 }
start: { to: wrok, back: true }
steps:
  work:
    agent: Worker
    agents: [a]
    phaze: x
    optional: maybe
    reject: sometimes
    on:
      approved: complete
      success: [Nowhere, { contract: c }]
      failure:
  human:
    work_within: 2 fortnights
contracts:
  bad name:
    must: yes
    should:
      - { field: a..b, about: x }
      - { about: x }
      - { field: a, any: [b], about: x }
      - { field: a }
      - { field: a, about: x, type: integer, one_of: [] }
      - { field: a, about: x, when: { feld: b, is: c } }
      - { field: a, about: x, none_of: [] }
      - text
",
        &expect![[r#"
            line 1, column 1: nmae: is not a key here; did you mean `name`? [unknown_key]
            line 1, column 1: name: is missing [missing]
            line 2, column 10: profile: cannot be `harsh`; known: `lenient`, `strict` [wrong_value]
            line 3, column 19: limits.rounds: must be a whole number from 1 to 100 [wrong_number]
            line 3, column 35: limits.stale_after: must be a time span of at most a year, such as `30m`, `2h` or `90s` [wrong_duration]
            line 3, column 39: limits.retires: is not a key here; did you mean `retries`? [unknown_key]
            line 4, column 14: start.to: there is no step `wrok`; known: work [no_such_step]
            line 4, column 20: start.back: is not a key here; known: `to`, `contract`, `profile`, `rounds`, `min_score` [unknown_key]
            line 7, column 12: steps.work.agent: `Worker` is not an agent id: use 1 to 64 lower-case letters and digits, joined by `-` [bad_name]
            line 8, column 13: steps.work.agents: cannot stand beside `agent` [not_both]
            line 9, column 5: steps.work.phaze: is not a key here; did you mean `phase`? [unknown_key]
            line 10, column 15: steps.work.optional: is text, not `true` or `false` [wrong_type]
            line 11, column 13: steps.work.reject: cannot be `sometimes`; known: `never` [wrong_value]
            line 13, column 7: steps.work.on.approved: is not an outcome; did you mean `success`? [unknown_outcome]
            line 14, column 17: steps.work.on.success[0]: `Nowhere` is not a step name: use 1 to 64 lower-case letters and digits, joined by `-` [bad_name]
            line 14, column 26: steps.work.on.success[1].to: is missing [missing]
            line 15, column 7: steps.work.on.failure: leads nowhere [missing]
            line 16, column 3: steps.human: `human` is reserved; give the step another name [reserved_step]
            line 17, column 5: steps.human.agent: is missing: who does the step [missing]
            line 17, column 18: steps.human.work_within: must be a time span of at most a year, such as `30m`, `2h` or `90s` [wrong_duration]
            line 19, column 3: contracts.bad name: `bad name` is not a contract name: use letters, digits, `-` and `_` [bad_name]
            line 20, column 11: contracts.bad name.must: is text, not a list [wrong_type]
            line 22, column 18: contracts.bad name.should[0].field: `a..b` is not a path such as `context.summary` [bad_path]
            line 23, column 9: contracts.bad name.should[1].field: is missing: name one with `field`, or several with `any` [missing]
            line 24, column 26: contracts.bad name.should[2].any: cannot stand beside `field` [not_both]
            line 25, column 9: contracts.bad name.should[3].about: is missing [missing]
            line 26, column 37: contracts.bad name.should[4].type: cannot be `integer`; known: `text`, `number`, `bool`, `list`, `map` [wrong_value]
            line 26, column 54: contracts.bad name.should[4].one_of: cannot stand beside `type` [not_both]
            line 27, column 37: contracts.bad name.should[5].when.field: is missing: name one with `field`, or several with `any` [missing]
            line 27, column 39: contracts.bad name.should[5].when.feld: is not a key here; did you mean `field`? [unknown_key]
            line 28, column 40: contracts.bad name.should[6].none_of: names no value [no_value]
            line 29, column 9: contracts.bad name.should[7]: is text, not a map [wrong_type]"#]],
    );
}

#[test]
fn a_workflow_that_cannot_work_is_told_so_where_it_says_it() {
    check_bad(
        "\
name: x
start: work
steps:
  work:
    agent: human
    reject_to: chekc
    on:
      success: check
      failure: { to: complete, back: true }
      blocked:
        - to: check
          contract: nothing
  check:
    agent: checker
    on:
      success: [complete, complete]
",
        &expect![[r#"
            line 5, column 12: steps.work.agent: `human` is reserved and cannot do a step [reserved_agent]
            line 6, column 16: steps.work.reject_to: there is no step `chekc`; known: work, check [no_such_step]
            line 9, column 38: steps.work.on.failure.back: a back edge leads to a step, not to the end [back_to_end]
            line 12, column 21: steps.work.on.blocked.contract: there is no contract `nothing`; the workflow declares none, and no built-in one is called so [no_such_contract]
            line 16, column 27: steps.check.on.success[1]: says the same edge twice [twice]"#]],
    );
    check_bad(
        "\
name: x
start: work
steps:
  work:
    agent: a
    on:
      failure: work
  island:
    agent: b
    on: { success: island }
",
        &expect![[r#"
            line 4, column 3: steps.work: no run can end: all work goes round in work for ever; let it lead towards `complete` [no_end]
            line 6, column 5: steps.work.on: has no edge on success, so good work would have nowhere to go [no_success]
            line 8, column 3: steps.island: no edge leads here from the start; name it in `to` of an edge, or remove it [unreachable]"#]],
    );
}

#[test]
fn the_machine_is_judged_even_where_a_detail_is_wrong() {
    check_bad(
        "name: X\nstart: nowhere\nsteps:\n  a:\n    agent: a\n    title: ''\n    on: { success: complete }\n",
        &expect![[r#"
            line 1, column 7: name: `X` is not a workflow name: use 1 to 64 lower-case letters and digits, joined by `-` [bad_name]
            line 2, column 8: start.to: there is no step `nowhere`; known: a [no_such_step]
            line 6, column 12: steps.a.title: is blank [blank]"#]],
    );
}

#[test]
fn what_is_no_workflow_at_all_is_refused() {
    for (text, expected) in [
        ("", expect!["line 1, column 1: is empty, not a map [wrong_type]"]),
        ("- a\n- b\n", expect!["line 1, column 1: is a list, not a map [wrong_type]"]),
        (
            "name: x\nstart: a\nsteps: {}\n",
            expect!["line 3, column 8: steps: a workflow needs at least one step [no_steps]"],
        ),
        (
            "name: x\nstart: complete\nsteps: [a]\n",
            expect!["line 3, column 8: steps: is a list, not a map [wrong_type]"],
        ),
        (
            "name: x\n\tstart: a",
            expect![
                "line 1, column 7: is not YAML: while scanning a plain scalar, found a tab [yaml_syntax]"
            ],
        ),
        (
            "name: x\nname: y\nstart: &a a\nsteps:\n  a: *a\n",
            expect![[r#"
            line 2, column 1: name: stands here a second time; keep one of them [duplicate_key]
            line 3, column 11: anchors are not read; leave the `&name` out [anchor]
            line 5, column 6: aliases are not read; write the value out [alias]
            line 5, column 6: steps.a: is empty, not a map [wrong_type]"#]],
        ),
    ] {
        check_bad(text, &expected);
    }
}

#[test]
fn a_workflow_has_a_hundred_steps_and_a_step_a_hundred_edges_and_no_more() {
    let file = |n_steps: usize| {
        let steps = (0..n_steps).map(|it| {
            format!(
                "  s{it}: {{ agent: a, on: {{ success: [s{}, complete] }} }}\n",
                (it + 1) % n_steps
            )
        });
        format!("name: x\nstart: s0\nsteps:\n{}", steps.collect::<String>())
    };
    assert_eq!(parse(&file(100)).map(|it| it.steps.len()), Ok(100));
    assert_eq!(parse(&file(101)).unwrap_err()[0].problem.rule, "too_many");
    let many = SMALL.replace("success: complete", &format!("success: [{}]", "work, ".repeat(101)));
    assert_eq!(parse(&many).unwrap_err()[0].problem.rule, "too_many");
}

proptest! {
    /// Any line of a good file may be lost, doubled or damaged.
    #[test]
    fn a_damaged_file_gives_problems_and_no_panic(
        line in any::<prop::sample::Index>(),
        cut in any::<prop::sample::Index>(),
        piece in "[ :\\-\\[\\]{}a-z\"'&*!|>#,0-9]{0,6}",
    ) {
        let mut lines: Vec<String> = FULL.lines().map(str::to_owned).collect();
        let at = line.index(lines.len());
        let cut = cut.index(lines[at].len() + 1);
        lines[at].insert_str(cut, &piece);
        let _ = parse(&lines.join("\n"));
        lines[at].truncate(cut);
        let _ = parse(&lines.join("\n"));
        let double = lines[at].clone();
        lines.insert(at, double);
        let _ = parse(&lines.join("\n"));
    }
}
