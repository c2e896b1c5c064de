//! Scenarios: an edge with checks holds work like a gate. Its receiver gets the work by passed checks, by
//! a person's answer, or by an operator's move that is on record.

use expect_test::expect;

use super::First;
use super::fixture::*;
use super::scenarios::{check, check_refused};
use crate::command::{Command, StartAt};
use crate::event::{Event, GateEvent};
use crate::evidence::Verdict;
use crate::gate::{Answer, GateCause, GateKind};
use crate::names::{CheckName, Principal, StepId};
use crate::outcome::Outcome;
use crate::run::RunStatus;
use crate::workflow::{EdgeGate, Workflow};

fn name(check: &str) -> CheckName {
    CheckName::parse(check).unwrap()
}

/// The edge from the implementer to the reviewer has the check `tests`, without a command.
fn with_checks() -> Workflow {
    let mut workflow = pipeline();
    let step = workflow.steps.iter_mut().find(|it| it.id.as_str() == "implement").unwrap();
    step.edges[0].checks = vec![name("tests")];
    workflow
}

/// The implementer holds `HO-002`.
fn at_implement(workflow: Workflow) -> Tester {
    let first = create("orchestrator", "analyst", story());
    let mut tester = Tester::begun_in(workflow, &first).unwrap();
    tester.accepts(1);
    tester.hands("analyst", "implementer", plan());
    tester.accepts(2);
    tester
}

/// `HO-003` waits for `tests`.
fn parked() -> Tester {
    let mut tester = at_implement(with_checks());
    tester.completes(2, Outcome::Success, nothing());
    tester
}

fn passed(tester: &Tester) -> Vec<String> {
    let passed = tester.run.passed().unwrap_or_default().iter();
    passed.map(|it| format!("{}→{}", it.from, it.to)).collect()
}

fn offers(to: &str) -> Command {
    Command::Create(create("orchestrator", to, nothing()))
}

fn start_at(step: &str) -> StartAt {
    StartAt {
        step: StepId::parse(step).unwrap(),
        to: None,
        package: sent(nothing()),
        reason: reason("the checks run elsewhere today"),
        by: Principal::parse("grace").unwrap(),
    }
}

#[test]
fn work_whose_checks_were_taken_back_does_not_reach_the_receiver_without_them() {
    for ended in [cancel(3), time_out(3), Command::CleanUp { reason: None }] {
        let mut tester = parked();
        tester.does(&ended);
        check_refused(
            &mut tester,
            &offers("reviewer"),
            expect![
                "behind_gate: `review` is behind `checks: tests` (implement → review), which this work has not passed; hand it to `implement` and on from there, or waive the gate with `baton run start --at review --reason TEXT s1`"
            ],
        );
        let on = Command::Create(create("reviewer", "refactorer", nothing()));
        assert_eq!(tester.would(&on).unwrap_err().code(), "behind_gate");
        tester.does(&offers("implementer"));
        let no = tester.run.n_handoffs;
        tester.accepts(no);
        tester.completes(no, Outcome::Success, nothing());
        assert!(tester.run.current().unwrap().checks.is_some(), "it is checked");
    }
}

#[test]
fn a_run_is_not_begun_behind_checks() {
    let first = create("reviewer", "refactorer", nothing());
    let refusal = Tester::begun_in(with_checks(), &first).err().unwrap();
    assert_eq!(refusal.code(), "behind_gate");
}

#[test]
fn passed_checks_are_on_record_until_the_work_goes_back() {
    let mut tester = parked();
    assert_eq!(passed(&tester), Vec::<String>::new());
    let decision = tester.does(&record(3, "tests", Verdict::Passed));
    assert_eq!(passed(&tester), ["implement→review"]);
    let is_passed = |it: &&Event| it.name() == "gate.passed";
    let Some(Event::Gate(GateEvent::Passed { evidence, on, .. })) =
        decision.events.iter().find(is_passed)
    else {
        panic!("{:?}", decision.events)
    };
    assert_eq!((evidence[0].check.as_str(), *on), ("tests", Some(Outcome::Success)));
    // Loose behind the checks: the orchestrator may offer what has passed again.
    tester.does(&cancel(4));
    tester.does(&offers("reviewer"));
    check(&tester, expect!["HO-005 orchestrator→reviewer pending; offered"]);
    tester.rejects(5, "not so");
    tester.accepts(6);
    tester.completes(6, Outcome::Success, nothing());
    assert_eq!(passed(&tester), Vec::<String>::new(), "what is new has not passed");
    tester.does(&cancel(7));
    assert_eq!(tester.would(&offers("reviewer")).unwrap_err().code(), "behind_gate");
}

#[test]
fn checks_that_passed_before_the_work_is_handed_on_count() {
    let mut tester = at_implement(with_checks());
    tester.does(&record(2, "tests", Verdict::Passed));
    tester.completes(2, Outcome::Success, nothing());
    check(&tester, expect!["HO-003 implementer→reviewer pending; offered"]);
    assert_eq!(passed(&tester), ["implement→review"]);
}

#[test]
fn an_operator_goes_past_checks_on_record() {
    let mut tester = parked();
    tester.does(&cancel(3));
    let decision = tester.does(&Command::StartAt(start_at("review")));
    check(&tester, expect!["HO-004 orchestrator→reviewer pending; offered"]);
    assert!(decision.events.iter().any(|it| it.name() == "gate.waived"), "{decision:?}");
    assert_eq!(passed(&tester), ["implement→review"]);
    let begun = Tester::begun_by(with_checks(), First::AtStep(start_at("review"))).unwrap();
    assert_eq!(passed(&begun), ["implement→review"]);
}

#[test]
fn a_persons_answer_leads_past_checks() {
    // Nobody ran them.
    let mut tester = parked();
    tester.wait(11);
    tester.does(&Command::Wake { handoff: tester.run.current().unwrap().no });
    assert_eq!(tester.run.gate().unwrap().1.cause, GateCause::Checks);
    assert_eq!(passed(&tester), Vec::<String>::new());
    tester.answers(4, Answer::Approve);
    assert_eq!(tester.run.current_agent().unwrap().as_str(), "reviewer");
    assert_eq!(passed(&tester), ["implement→review"]);
    // The sender asks for a review instead.
    let mut reviewed = at_implement(with_checks());
    reviewed.completes(2, Outcome::NeedsReview, nothing());
    let decision = reviewed.answers(3, Answer::Approve);
    assert!(decision.events.iter().any(|it| it.name() == "gate.waived"), "{decision:?}");
    assert_eq!(passed(&reviewed), ["implement→review"]);
}

/// Beside a gate that stops the work the checks alone open nothing; an advisory gate stops nothing.
#[test]
fn checks_beside_a_gate_pass_with_the_gate() {
    for (kind, expected) in [
        (GateKind::Blocking, Vec::<String>::new()),
        (GateKind::Advisory, vec!["implement→review".to_owned()]),
    ] {
        let mut workflow = with_checks();
        let step = workflow.steps.iter_mut().find(|it| it.id.as_str() == "implement").unwrap();
        step.edges[0].gate = Some(EdgeGate::plain(kind, "Ready"));
        let mut tester = at_implement(workflow);
        tester.completes(2, Outcome::Success, nothing());
        tester.does(&record(3, "tests", Verdict::Passed));
        assert_eq!(passed(&tester), expected, "{kind:?}");
        let (no, gate) = tester.run.gates().map(|(row, gate)| (row.no, gate.kind)).next().unwrap();
        assert_eq!(gate, kind);
        tester.answers(no.0, Answer::Approve);
        assert_eq!(passed(&tester), ["implement→review"], "{kind:?}");
    }
}

/// The last edge may have checks too: the run does not end before they have passed.
#[test]
fn a_run_does_not_end_before_its_last_checks() {
    let mut workflow = pipeline();
    let last = workflow.steps.last_mut().unwrap();
    last.edges[0].checks = vec![name("tests")];
    let step = last.id.clone();
    let first = First::AtStep(start_at(step.as_str()));
    let mut tester = Tester::begun_by(workflow, first).unwrap();
    tester.accepts(1);
    tester.completes(1, Outcome::Success, nothing());
    assert_eq!(tester.run.status, RunStatus::Open);
    tester.does(&record(2, "tests", Verdict::Passed));
    assert_eq!(tester.run.status, RunStatus::Completed);
}

/// What a run began with it keeps: its events do not say which checks have passed.
#[test]
fn a_run_that_began_before_checks_held_goes_on_as_it_began() {
    let mut tester = Tester::started();
    tester.workflow = with_checks();
    tester.accepts(1);
    tester.hands("analyst", "implementer", plan());
    tester.accepts(2);
    tester.completes(2, Outcome::Success, nothing());
    tester.does(&cancel(3));
    let decision = tester.does(&offers("reviewer"));
    check(&tester, expect!["HO-004 orchestrator→reviewer pending; offered"]);
    assert_eq!(tester.run.passed(), None);
    assert!(!decision.events.iter().any(|it| it.name() == "gate.carried"), "{decision:?}");
    // With a gate beside it, only that counts.
    let mut gated = pipeline();
    let analyze = gated.steps.iter_mut().find(|it| it.id.as_str() == "analyze").unwrap();
    analyze.edges[0].gate = Some(EdgeGate::plain(GateKind::Blocking, "Plan"));
    let mut tester = Tester::begun_in(gated, &create("orchestrator", "analyst", story())).unwrap();
    let implement = tester.workflow.steps.iter_mut().find(|it| it.id.as_str() == "implement");
    implement.unwrap().edges[0].checks = vec![name("tests")];
    // The graph is computed once: a clone computes its own.
    tester.workflow = tester.workflow.clone();
    tester.accepts(1);
    tester.completes(1, Outcome::Success, plan());
    tester.answers(2, Answer::Approve);
    tester.accepts(3);
    tester.completes(3, Outcome::Success, nothing());
    tester.does(&cancel(4));
    tester.does(&offers("reviewer"));
    assert_eq!(passed(&tester), ["analyze→implement"]);
}
