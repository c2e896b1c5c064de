//! Every cycle ends: scenarios of what is counted, what is not, and what a person's answer does.

use expect_test::{Expect, expect};
use jiff::Timestamp;

use super::fixture::*;
use super::outcome_scenarios::{delegate, part};
use super::scenarios::check;
use crate::command::{Command, Create, StartAt, Way};
use crate::document::Node;
use crate::event::{Event, FrameEvent, GateEvent, HandoffEvent, RunEvent, replay};
use crate::evidence::Verdict;
use crate::gate::{Answer, Gate, GateCause, GateKind};
use crate::names::{CheckName, Principal, StepId};
use crate::outcome::Outcome;
use crate::run::{CounterScope, HandoffNo, Run, RunStatus};
use crate::workflow::{Edge, EdgeGate, RejectRule, Step, StepLimits, Target, Workflow};

pub(super) fn on(outcome: Outcome, step: &str) -> Edge {
    Edge { on: outcome, ..to(step) }
}

pub(super) fn done() -> Edge {
    Edge { to: Target::Complete, ..to("x") }
}

pub(super) fn id(step: &str) -> StepId {
    StepId::parse(step).unwrap()
}

/// A reviewer that sends what it does not like to a fixer, and gets it back from there.
fn review_and_fix() -> Workflow {
    Workflow {
        start: to("review"),
        steps: vec![
            step("review", "reviewer", vec![done(), on(Outcome::Failure, "fix")]),
            step("fix", "implementer", vec![to("review")]),
        ],
        ..pipeline()
    }
}

/// As [`review_and_fix`], begun.
fn reviewing() -> Tester {
    begun(review_and_fix(), "reviewer")
}

pub(super) fn begun(workflow: Workflow, first: &str) -> Tester {
    Tester::begun_in(workflow, &create("orchestrator", first, story())).unwrap()
}

fn fails(tester: &mut Tester, package: Node) {
    let create =
        Create { outcome: Some(Outcome::Failure), ..create("reviewer", "implementer", package) };
    tester.does(&Command::Create(create));
}

/// Another review each time: the findings differ.
fn fails_anew(tester: &mut Tester) {
    let at = format!("a:{}", tester.run.n_handoffs);
    fails(tester, findings(&[&at]));
}

/// Goes round until a person is asked.
fn turns(tester: &mut Tester) -> u32 {
    for n in 0..50 {
        fails_anew(tester);
        if tester.run.gate().is_some() {
            return n;
        }
        tester.hands("implementer", "reviewer", plan());
        if tester.run.gate().is_some() {
            return n + 1;
        }
    }
    panic!("no person is asked");
}

pub(super) fn gate(tester: &Tester) -> (u32, &Gate) {
    let (row, gate) = tester.run.gate().expect("a person is asked");
    (row.no.0, gate)
}

#[track_caller]
pub(super) fn check_asked(tester: &Tester, expected: Expect) {
    let (_, gate) = gate(tester);
    let parties = format!("{} asks, {} would work", gate.asker.place, gate.worker.place);
    expected.assert_eq(&format!("{}; {parties}; {}", gate.sentence(), gate.choices().join(" ")));
}

#[test]
fn a_review_loop_through_another_step_ends() {
    let mut tester = reviewing();
    assert_eq!(turns(&mut tester), 4);
    check_asked(
        &tester,
        expect![
            "`review` was entered 4 times; its limit is 4; review asks, review would work; continue accept hand_to abort"
        ],
    );
    check(&tester, expect!["HO-009 implementer→human pending; parked"]);
}

#[test]
fn going_on_grants_as_many_entries_again() {
    let mut tester = reviewing();
    turns(&mut tester);
    let (no, _) = gate(&tester);
    tester.answers(no, Answer::Continue);
    check(&tester, expect!["HO-010 implementer→reviewer pending; offered"]);
    assert_eq!(tester.run.counters, [], "both steps are counted anew");
    assert_eq!(turns(&mut tester), 4);
}

#[test]
fn accepting_follows_the_success_edge_of_the_step_that_asked_for_rework() {
    let mut tester = reviewing();
    turns(&mut tester);
    let (no, _) = gate(&tester);
    tester.answers(no, Answer::Accept);
    assert_eq!(tester.run.status, RunStatus::Completed);

    // The same where the limit of another step on the way is reached.
    let mut workflow = review_and_fix();
    workflow.steps[0].edges = vec![to("publish"), on(Outcome::Failure, "fix")];
    workflow.steps[1].edges = vec![to("proof")];
    let limits = StepLimits { entries: Some(1), ..StepLimits::default() };
    workflow.steps.push(Step { limits, ..step("proof", "refactorer", vec![to("review")]) });
    workflow.steps.push(step("publish", "documenter", vec![done()]));
    let mut tester = begun(workflow, "reviewer");
    fails_anew(&mut tester);
    tester.hands("implementer", "refactorer", plan());
    tester.hands("refactorer", "reviewer", plan());
    fails_anew(&mut tester);
    tester.hands("implementer", "refactorer", plan());
    check_asked(
        &tester,
        expect![
            "`proof` was entered once; its limit is 1; review asks, proof would work; continue accept hand_to abort"
        ],
    );
    let package = tester.run.package;
    let (no, _) = gate(&tester);
    tester.answers(no, Answer::Accept);
    check(&tester, expect!["HO-007 reviewer→documenter pending; offered"]);
    assert_eq!(tester.run.handoffs[0].package, package, "the fixer's work, as it is");
}

#[test]
fn another_agent_may_take_over_and_a_person_may_abort() {
    let mut tester = reviewing();
    turns(&mut tester);
    let (no, _) = gate(&tester);
    tester.answers(no, Answer::HandTo(agent("helper")));
    check(&tester, expect!["HO-010 implementer→helper pending; offered"]);
    let mut tester = reviewing();
    turns(&mut tester);
    let (no, _) = gate(&tester);
    tester.answers(no, Answer::Abort);
    assert_eq!(tester.run.status, RunStatus::Cancelled);
}

#[test]
fn the_same_findings_twice_in_a_row_ask_at_once_through_other_steps_too() {
    for is_back in [false, true] {
        let mut workflow = review_and_fix();
        workflow.steps[0].edges[1].is_back = is_back;
        let mut tester = begun(workflow, "reviewer");
        fails(&mut tester, findings(&["a:1"]));
        tester.hands("implementer", "reviewer", plan());
        fails(&mut tester, findings(&["a:1"]));
        check_asked(
            &tester,
            expect![
                "`review` found the same twice in a row; a person decides how to go on; review asks, fix would work; continue accept hand_to abort"
            ],
        );
        let (no, _) = gate(&tester);
        tester.answers(no, Answer::Continue);
        tester.hands("implementer", "reviewer", plan());
        fails(&mut tester, findings(&["a:1"]));
        assert!(tester.run.gate().is_none(), "a person has decided since");
        // Another review in between breaks the row.
        tester.hands("implementer", "reviewer", plan());
        fails(&mut tester, findings(&["a:2"]));
        tester.hands("implementer", "reviewer", plan());
        fails(&mut tester, findings(&["a:1"]));
        assert!(tester.run.gate().is_none(), "is_back: {is_back}");
    }
}

#[test]
fn a_step_may_say_how_often_it_is_entered() {
    let mut workflow = review_and_fix();
    workflow.steps[1].limits.entries = Some(2);
    let mut tester = begun(workflow.clone(), "reviewer");
    turns(&mut tester);
    check_asked(
        &tester,
        expect![
            "`fix` was entered 2 times; its limit is 2; review asks, fix would work; continue accept hand_to abort"
        ],
    );
    workflow.steps[0].limits.entries = Some(30);
    workflow.steps[1].limits.entries = Some(40);
    let mut tester = begun(workflow, "reviewer");
    assert_eq!(turns(&mut tester), 30);
}

#[test]
fn rejects_count_as_entries() {
    let mut workflow = pipeline();
    workflow.steps[1].limits.entries = Some(2);
    let mut tester = begun(workflow, "analyst");
    tester.hands("analyst", "implementer", plan());
    tester.hands("implementer", "reviewer", plan());
    tester.rejects(3, "not yet");
    tester.hands("implementer", "reviewer", plan());
    let decision = tester.rejects(5, "still not");
    assert_eq!(decision.done.returned, None);
    assert!(decision.done.gate.is_some());
    check_asked(
        &tester,
        expect![
            "`implement` was entered 2 times; its limit is 2; review asks, implement would work; continue accept hand_to abort"
        ],
    );
}

#[test]
fn what_no_agent_moved_does_not_count() {
    let mut tester = Tester::started();
    let n = |tester: &Tester| tester.run.entries(0, &id("analyze"));
    assert_eq!(n(&tester), 1, "the start");
    tester.accepts(1);
    tester.completes(1, Outcome::Failure, nothing());
    assert_eq!(n(&tester), 1, "a retry");
    tester.does(&time_out(2));
    tester.hands("orchestrator", "analyst", nothing());
    assert_eq!(n(&tester), 1, "the orchestrator's new offer");
    tester.accepts(3);
    tester.does(&goto("analyze"));
    assert_eq!(n(&tester), 1, "a goto");
    tester.does(&cancel(4));
    let start = StartAt {
        step: id("analyze"),
        to: None,
        package: sent(nothing()),
        reason: reason("again"),
        by: Principal::parse("ada").unwrap(),
    };
    tester.does(&Command::StartAt(start));
    assert_eq!(n(&tester), 1, "a start at the step");
    tester.accepts(5);
    tester.does(&way(Way::Delegation, create("analyst", "helper", plan())));
    tester.hands("helper", "analyst", plan());
    tester.accepts(7);
    assert_eq!(n(&tester), 1, "a delegate's return");
    tester.completes(5, Outcome::Blocked, nothing());
    tester.answers(8, Answer::Continue);
    assert_eq!(n(&tester), 0, "an answer counts anew");
}

#[test]
fn an_agent_that_withdraws_and_takes_up_again_is_counted() {
    let mut tester = Tester::started();
    tester.hands("analyst", "implementer", plan());
    let mut n = 1;
    while tester.run.gate().is_none() {
        let no = tester.run.n_handoffs;
        tester.does(&Command::Cancel {
            handoff: HandoffNo(no),
            by: Some(agent("analyst")),
            reason: None,
        });
        tester.hands("analyst", "implementer", plan());
        n += 1;
        assert!(n < 20, "it never ends");
    }
    let most = tester.workflow.entries_of(&id("implement"));
    assert_eq!(n, most + 1);
    check_asked(
        &tester,
        expect![
            "`implement` was entered 7 times; its limit is 7; analyze asks, implement would work; continue accept hand_to abort"
        ],
    );
}

#[test]
fn a_correction_of_work_that_the_receiver_had_begun_is_counted() {
    let released = |tester: &mut Tester, handoff: HandoffNo| {
        tester.accepts(handoff.0);
        tester.does(&release(handoff.0));
    };
    let asked = |tester: &mut Tester, handoff: HandoffNo| {
        tester.does(&clarify(handoff.0, "Which table?"));
        tester.does(&reply(tester.run.n_handoffs, "The sessions"));
    };
    type Begin<'a> = &'a dyn Fn(&mut Tester, HandoffNo);
    for begin in [&released as Begin<'_>, &asked] {
        let mut tester = Tester::started();
        tester.hands("analyst", "implementer", plan());
        let mut n = 1;
        while tester.run.gate().is_none() {
            let old = tester.run.current().unwrap().no;
            begin(&mut tester, old);
            let better =
                Create { supersedes: Some(old), ..create("analyst", "implementer", plan()) };
            tester.does(&Command::Create(better));
            n += 1;
            assert!(n < 20, "it never ends");
        }
        assert_eq!(n, tester.workflow.entries_of(&id("implement")) + 1);
    }
}

#[test]
fn a_gate_on_the_way_resets_what_it_leads_to_and_checks_do_not() {
    let gated = |kind, checks: &[&str]| {
        let mut workflow = review_and_fix();
        let checks = checks.iter().map(|it| CheckName::parse(it).unwrap()).collect();
        workflow.steps[1].edges[0].gate =
            Some(EdgeGate { checks, ..EdgeGate::plain(kind, "Fixed") });
        begun(workflow, "reviewer")
    };
    let mut tester = gated(GateKind::Blocking, &[]);
    for _ in 0..4 {
        fails_anew(&mut tester);
        tester.hands("implementer", "reviewer", plan());
        let (no, _) = gate(&tester);
        tester.answers(no, Answer::Approve);
        assert_eq!(tester.run.entries(0, &id("review")), 0);
    }
    fails_anew(&mut tester);
    check_asked(
        &tester,
        expect![
            "`fix` was entered 4 times; its limit is 4; review asks, fix would work; continue accept hand_to abort"
        ],
    );

    let mut tester = gated(GateKind::Automatic, &["tests"]);
    let mut n = 1;
    loop {
        fails_anew(&mut tester);
        tester.hands("implementer", "reviewer", plan());
        let (no, asked) = gate(&tester);
        assert_eq!(asked.kind, GateKind::Automatic);
        tester.does(&record(no, "tests", Verdict::Passed));
        if tester.run.gate().is_some() {
            break;
        }
        n += 1;
        assert_eq!(tester.run.entries(0, &id("review")), n);
    }
    assert_eq!(n, 4);
    check_asked(
        &tester,
        expect![
            "`review` was entered 4 times; its limit is 4; review asks, review would work; continue accept hand_to abort"
        ],
    );
}

#[test]
fn an_advisory_gate_is_not_asked_about_work_that_a_limit_stops() {
    let mut workflow = review_and_fix();
    workflow.steps[1].edges[0].gate = Some(EdgeGate::plain(GateKind::Advisory, "Fixed"));
    workflow.steps[0].limits.entries = Some(1);
    let mut tester = begun(workflow, "reviewer");
    fails_anew(&mut tester);
    tester.hands("implementer", "reviewer", plan());
    check(&tester, expect!["HO-003 implementer→human pending; parked"]);
    tester.answers(3, Answer::Continue);
    check(&tester, expect!["HO-004 implementer→reviewer pending; offered"]);
}

/// The limits that a workflow implies.
#[track_caller]
fn check_entries(workflow: &Workflow, expected: Expect) {
    let limits =
        workflow.steps.iter().map(|it| format!("{} {}", it.id, workflow.entries_of(&it.id)));
    expected.assert_eq(&limits.collect::<Vec<_>>().join(", "));
}

#[test]
fn a_step_is_entered_once_and_once_more_for_each_round_that_brings_work_back() {
    check_entries(&review_and_fix(), expect!["review 4, fix 4"]);
    check_entries(&pipeline(), expect!["analyze 4, implement 7, review 7, refactor 7, document 4"]);
    let mut workflow = review_and_fix();
    workflow.steps[1].edges[0].rounds = Some(1);
    workflow.steps[0].edges[1].rounds = Some(5);
    check_entries(&workflow, expect!["review 2, fix 6"]);
    // What cannot come back is entered once.
    let mut workflow = pipeline();
    for step in &mut workflow.steps {
        step.reject = RejectRule::Never;
        step.edges.truncate(1);
    }
    check_entries(&workflow, expect!["analyze 1, implement 1, review 1, refactor 1, document 1"]);
    // Rejected work of the last step goes to the first: so do all its ways in.
    // (A clone computes its own graph.)
    let mut workflow = workflow.clone();
    workflow.steps[4].reject = RejectRule::To(id("analyze"));
    check_entries(&workflow, expect!["analyze 4, implement 4, review 4, refactor 4, document 4"]);
    workflow.steps[4].limits.entries = Some(9);
    check_entries(&workflow, expect!["analyze 4, implement 4, review 4, refactor 4, document 9"]);
}

/// The events as a Baton wrote them that counted nothing but rejects.
fn as_before(log: &[(Event, Timestamp)]) -> Vec<(Event, Timestamp)> {
    let mut log = log.to_vec();
    for (event, _) in &mut log {
        if let Event::Handoff(HandoffEvent::Created(created)) = event {
            created.entry = None;
        }
        if let Event::Frame(FrameEvent::Opened { is_delegation, .. }) = event {
            *is_delegation = false;
        }
        if let Event::Gate(GateEvent::Answered { resets, .. }) = event {
            resets.clear();
        }
        if let Event::Gate(GateEvent::Opened { gate, .. }) = event {
            gate.limit = None;
        }
        if let Event::Run(RunEvent::BatonLoose { meant_for, .. }) = event {
            *meant_for = None;
        }
    }
    log
}

#[test]
fn a_run_from_before_has_only_its_rounds_and_is_counted_from_now_on() {
    let mut tester = Tester::started();
    tester.accepts(1);
    part(&mut tester);
    tester.completes(1, Outcome::Blocked, nothing());
    tester.answers(4, Answer::Continue);
    tester.accepts(5);
    tester.does(&delegate("analyst", "helper"));
    tester.hands("helper", "analyst", plan());
    tester.accepts(7);
    tester.completes(5, Outcome::Success, plan());
    tester.rejects(8, "no");
    let run = replay(tester.run.id, as_before(tester.log())).unwrap();
    let scopes: Vec<&CounterScope> = run.counters.iter().map(|it| &it.scope).collect();
    assert!(matches!(scopes[..], [CounterScope::Rounds(_)]), "{scopes:?}");
    let rest = Run { counters: tester.run.counters.clone(), ..run.clone() };
    assert!(run.given.iter().all(|it| !it.is_rework), "not known then");
    assert_eq!(rest.handoffs, tester.run.handoffs, "nothing else differs");

    tester.run = run;
    let create = Command::Create(create("analyst", "implementer", plan()));
    let decision = tester.would(&create).unwrap();
    assert_eq!(decision.run.entries(0, &id("implement")), 1);
    assert_eq!(decision.run.all_rounds().next().unwrap().1.n, 1);
}

#[test]
fn the_limit_of_the_run_is_over_all_steps_and_a_person_grants_as_much_again() {
    let mut workflow = pipeline();
    workflow.limits.run_handoffs = Some(3);
    let mut tester =
        Tester::begun_in(workflow, &create("orchestrator", "analyst", story())).unwrap();
    tester.completes(1, Outcome::Success, plan());
    tester.completes(2, Outcome::Success, nothing());
    let asked = tester.completes(3, Outcome::Success, nothing());
    let gate = asked.done.gate.unwrap();
    assert_eq!(tester.shows(), "HO-004 reviewer→human pending; parked");
    let (_, open) = tester.run.gate().unwrap();
    assert_eq!(open.cause, GateCause::RunLimit);
    assert_eq!(open.sentence(), "The run has had 3 handoffs; its limit is 3");
    tester.answers(gate.0, Answer::Continue);
    assert_eq!(tester.shows(), "HO-005 reviewer→refactorer pending; offered");
    tester.completes(5, Outcome::Success, nothing());
    tester.accepts(6);
}
