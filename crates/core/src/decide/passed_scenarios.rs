//! Scenarios: work is taken up behind a gate, comes back before it, or is let past it.

use expect_test::{Expect, expect};

use super::First;
use super::fixture::*;
use super::project::*;
use super::scenarios::at_review;
use crate::agent::Agent;
use crate::command::{Command, Create, GateAnswer, StartAt};
use crate::event::{Event, GateEvent};
use crate::evidence::Verdict;
use crate::gate::{Answer, GateCause};
use crate::names::{AgentId, Principal, StepId};
use crate::outcome::Outcome;
use crate::refusal::Refusal;
use crate::registry::Agents;
use crate::run::HandoffNo;

fn hands(from: &str, to: &str) -> Command {
    Command::Create(create(from, to, summary("Built it, 3 files")))
}

#[track_caller]
fn check_behind(tester: &mut Tester, command: &Command, expected: Expect) {
    let refusal = tester.tries(command).unwrap_err();
    assert_eq!(refusal.code(), "behind_gate", "{refusal}");
    expected.assert_eq(&refusal.to_string());
}

#[test]
fn an_agent_of_the_workflow_opens_no_gate_and_goes_past_none_under_its_own_name() {
    let mut tester = at_the_gate();
    let no = tester.run.handoffs.last().unwrap().no;
    let by = |name: &str| Principal::parse(name).unwrap();
    let answer = |name: &str, answer: Answer| {
        Command::Answer(GateAnswer {
            handoff: no,
            answer,
            by: by(name),
            comment: None,
            package: None,
        })
    };
    // Also in another notation, under the shown name, and with letters that look alike.
    let alike = ["Specification", "ＳＰＥＣＩＦＩＣＡＴＩＯＮ", "specificatiоn", "Security Check"];
    let spoken = ["agent:specification", "AGENT:Specification", "аgent:specification", "agent:x"];
    let reserved = ["human", "Human", "orchestrator", "agent:human", "baton:runner"];
    // Of the registry, though no step of this workflow is theirs.
    let others = ["reviewer", "agent:reviewer"];
    let named = ["specification", "implementation", "security-check"].into_iter().chain(alike);
    for name in named.chain(spoken).chain(reserved).chain(others) {
        for said in [Answer::Approve, Answer::Reject] {
            let refusal = tester.tries(&answer(name, said)).unwrap_err();
            assert_eq!(refusal.code(), "not_a_person", "{name}: {refusal}");
        }
        let goto = Command::Goto {
            step: StepId::parse("specification").unwrap(),
            reason: reason("again, please"),
            by: by(name),
        };
        assert_eq!(tester.tries(&goto).unwrap_err().code(), "not_a_person");
    }
    assert_eq!(passed(&tester), Vec::<String>::new());
    // Each name of an agent is its own: the id, and the name that it is shown by.
    let id = AgentId::parse("specification").unwrap();
    let shown = Agent { name: "Sam Writer".to_owned(), ..Agent::unknown(id) };
    tester.agents = Agents::new([shown]);
    for name in ["specification", "sam-writer"] {
        let refusal = tester.tries(&answer(name, Answer::Approve)).unwrap_err();
        assert_eq!(refusal.code(), "not_a_person", "{name}: {refusal}");
    }
    tester.does(&answer("ada", Answer::Approve));
    assert_eq!(passed(&tester), ["specification→architecture"]);
}

fn passed(tester: &Tester) -> Vec<String> {
    let passed = tester.run.passed().unwrap_or_default().iter();
    passed.map(|it| format!("{}→{}", it.from, it.to)).collect()
}

fn start_at(step: &str) -> StartAt {
    StartAt {
        step: StepId::parse(step).unwrap(),
        to: None,
        package: sent(nothing()),
        reason: reason("the client agreed by mail"),
        by: Principal::parse("grace").unwrap(),
    }
}

#[test]
fn a_loose_baton_is_not_taken_up_behind_a_gate() {
    let mut tester = project();
    tester.does(&cancel(1));
    check_behind(
        &mut tester,
        &hands("implementation", "orchestrator"),
        expect![[r#"
            `implementation` is behind `A gate` (specification → architecture), then `A gate` (estimation → implementation), which this work has not passed; hand it to `specification` and on from there, or waive the gate with `baton run start --at implementation --reason TEXT s1`"#]],
    );
    tester.does(&Command::Create(create("orchestrator", "specification", story())));
    tester.accepts(2);
    tester.does(&time_out(2));
    check_behind(
        &mut tester,
        &hands("architecture", "estimation"),
        expect![
            "`architecture` is behind `A gate` (specification → architecture), which this work has not passed; hand it to `specification` and on from there, or waive the gate with `baton run start --at architecture --reason TEXT s1`"
        ],
    );
}

#[test]
fn a_run_is_not_begun_behind_a_gate() {
    let first = create("implementation", "orchestrator", summary("Built it, 3 files"));
    let refusal = Tester::begun_in(gated_project(), &first).err().unwrap();
    assert_eq!(refusal.code(), "behind_gate");
    let first = create("specification", "architecture", summary("3 epics"));
    let tester = Tester::begun_in(gated_project(), &first).unwrap();
    assert_eq!(tester.shows(), "HO-001 specification→human pending; parked");
}

#[test]
fn work_that_has_passed_a_gate_is_taken_up_behind_it() {
    let mut tester = at_architecture();
    assert_eq!(passed(&tester), ["specification→architecture"]);
    tester.does(&time_out(3));
    tester.does(&hands("architecture", "estimation"));
    assert_eq!(passed(&tester), ["specification→architecture"]);
}

/// A rejected handoff has gone back only once its sender accepts it again.
#[test]
fn work_that_goes_back_has_to_pass_the_gate_again() {
    let mut tester = at_architecture();
    tester.rejects(3, "no measurable goals");
    assert_eq!(passed(&tester), ["specification→architecture"]);
    tester.accepts(4);
    assert_eq!(passed(&tester), [""; 0]);
    check_behind(
        &mut tester,
        &reject(4, "they are measurable"),
        expect![
            "`architecture` is behind `A gate` (specification → architecture), which this work has not passed; hand it to `specification` and on from there, or waive the gate with `baton run goto --reason TEXT s1 architecture`"
        ],
    );
    tester.does(&time_out(4));
    let again = Command::Create(create("orchestrator", "architecture", nothing()));
    assert_eq!(tester.tries(&again).unwrap_err().code(), "behind_gate");
    let refusal = tester.tries(&hands("architecture", "estimation")).unwrap_err();
    assert_eq!(refusal.code(), "behind_gate");
    tester.does(&hands("specification", "architecture"));
    assert_eq!(tester.shows(), "HO-005 specification→human pending; parked");
    tester.answers(5, Answer::Approve);
    assert_eq!(passed(&tester), ["specification→architecture"]);
}

#[test]
fn a_goto_past_a_gate_is_recorded_as_waived() {
    let mut tester = at_architecture();
    tester.rejects(3, "no measurable goals");
    tester.accepts(4);
    let decision = tester.does(&goto("architecture"));
    assert_eq!(tester.shows(), "HO-005 orchestrator→architecture pending; offered");
    assert_eq!(passed(&tester), ["specification→architecture"]);
    let waived = decision.events.iter().find(|it| it.name() == "gate.waived");
    let Some(Event::Gate(GateEvent::Waived { gates, by, reason, .. })) = waived else {
        panic!("{decision:?}")
    };
    assert_eq!((gates.len(), by.as_str(), reason.is_some()), (1, "ada", true));
}

#[test]
fn a_start_at_a_step_waives_the_gates_before_it() {
    let first = First::AtStep(start_at("implementation"));
    let tester = Tester::begun_by(gated_project(), first).unwrap();
    assert_eq!(tester.shows(), "HO-001 orchestrator→implementation pending; offered");
    assert_eq!(passed(&tester), ["specification→architecture", "estimation→implementation"]);
    let mut tester = project();
    let start = Command::StartAt(start_at("estimation"));
    assert_eq!(tester.tries(&start).unwrap_err().code(), "not_holder");
    tester.does(&cancel(1));
    tester.does(&start);
    assert_eq!(tester.shows(), "HO-002 orchestrator→estimation pending; offered");
    assert_eq!(passed(&tester), ["specification→architecture"]);
    tester.does(&cancel(2));
    let nowhere = Command::StartAt(start_at("nowhere"));
    let refusal = tester.tries(&nowhere).unwrap_err();
    assert!(matches!(refusal, Refusal::NoSuchStep { .. }), "{refusal}");
    let other = StartAt { to: Some(agent("estimation")), ..start_at("architecture") };
    let refusal = tester.tries(&Command::StartAt(other)).unwrap_err();
    assert_eq!(refusal.code(), "choose_receiver");
}

/// A person who accepts the work as it is follows the success edge, whatever gate is on it.
#[test]
fn what_a_person_takes_as_it_is_goes_past_the_gate_on_record() {
    let mut tester = project();
    tester.accepts(1);
    tester.completes(1, Outcome::Blocked, summary("no access"));
    assert_eq!(tester.run.gate().unwrap().1.cause, GateCause::Blocked);
    let decision = tester.answers(2, Answer::Accept);
    assert!(decision.events.iter().any(|it| it.name() == "gate.waived"), "{decision:?}");
    assert_eq!(passed(&tester), ["specification→architecture"]);
}

#[test]
fn what_was_checked_in_the_work_of_another_holder_opens_no_gate() {
    let mut tester = at_implementation();
    tester.does(&record(7, "lint", Verdict::Passed));
    tester.does(&record(7, "tests", Verdict::Passed));
    tester.does(&release(7));
    // It is pending: the result is about no holder's work.
    tester.does(&record(7, "lint", Verdict::Passed));
    tester.accepts(7);
    tester.does(&record(7, "tests", Verdict::Passed));
    tester.completes(7, Outcome::Success, summary("delivered"));
    assert_eq!(tester.run.gate().unwrap().1.cause, GateCause::Checks);
    let no = tester.run.n_handoffs;
    tester.does(&record(no, "lint", Verdict::Passed));
    assert!(tester.run.is_finished());
}

#[test]
fn a_take_up_from_further_back_is_a_round() {
    let mut tester = at_review();
    for round in 1..=3 {
        let no = tester.run.n_handoffs;
        tester.does(&time_out(no));
        tester.does(&Command::Create(create("implementer", "reviewer", nothing())));
        assert_eq!(tester.run.all_rounds().next().unwrap().1.n, round);
        tester.accepts(no + 1);
    }
    tester.does(&time_out(6));
    tester.does(&Command::Create(create("implementer", "reviewer", nothing())));
    assert_eq!(tester.shows(), "HO-007 reviewer→human pending; parked");
    tester.answers(7, Answer::Continue);
    assert_eq!(tester.shows(), "HO-008 reviewer→implementer pending; offered");
}

/// The sender withdraws it and sends it again: it was not reviewed.
#[test]
fn what_a_sender_withdraws_and_sends_again_is_no_round() {
    let mut tester = at_review();
    tester.does(&release(3));
    for _ in 0..5 {
        let no = tester.run.n_handoffs;
        tester.does(&cancel(no));
        tester.does(&Command::Create(create("implementer", "reviewer", nothing())));
    }
    assert_eq!(tester.run.all_rounds().count(), 0);
}

#[test]
fn gates_are_not_recorded_where_a_workflow_has_none() {
    let tester = Tester::started();
    assert_eq!(tester.run.passed(), None);
    let lenient =
        Create { supersedes: Some(HandoffNo(1)), ..create("orchestrator", "analyst", story()) };
    let mut tester = tester;
    let decision = tester.does(&Command::Create(lenient));
    assert!(decision.events.iter().all(|it| !it.name().starts_with("gate.")));
}
