//! Scenarios: runs that are older than the record of passed gates, and the check after every command
//! that work is nowhere behind a gate.

use expect_test::expect;

use super::draft::Draft;
use super::fixture::*;
use super::gate::orchestrator;
use super::offer::{Offer, offer};
use super::passed;
use super::project::*;
use crate::command::Command;
use crate::event::{Event, GateEvent, RunEvent};
use crate::gate::Answer;
use crate::names::StepId;
use crate::outcome::Outcome;
use crate::refusal::Refusal;
use crate::run::{HandoffNo, Kind, Party, RunStatus};
use crate::workflow::{Place, RejectRule};

/// The gates that a run is taken to have passed, when it was stored before that was recorded.
fn carried(mut tester: Tester) -> Option<Vec<String>> {
    tester.run.branches[0].passed = None;
    let decision = tester.would(&Command::Post { by: None, words: words("hello") }).unwrap();
    let Event::Gate(GateEvent::Carried { gates, .. }) = &decision.events[0] else { return None };
    Some(gates.iter().map(|it| format!("{}→{}", it.from, it.to)).collect())
}

fn offered_to_architecture() -> Tester {
    let mut tester = at_the_gate();
    tester.answers(2, Answer::Approve);
    tester
}

#[test]
fn an_old_run_has_passed_the_gates_before_every_place_where_it_is() {
    let mut loose = offered_to_architecture();
    loose.does(&cancel(3));
    let mut asked = at_architecture();
    asked.does(&clarify(3, "Which database?"));
    let first = "specification→architecture";
    for (name, tester, expected) in [
        ("before the gate", project(), vec![]),
        ("at the gate", at_the_gate(), vec![]),
        ("offered behind it", offered_to_architecture(), vec![first]),
        ("held behind it", at_architecture(), vec![first]),
        ("asking about it", asked, vec![first]),
        ("loose between its two sides", loose, vec![first]),
        ("behind two", at_implementation(), vec![first, "estimation→implementation"]),
    ] {
        assert_eq!(carried(tester).unwrap(), expected, "{name}");
    }
    assert_eq!(carried(Tester::started()), None, "a workflow without gates");
}

/// What the check says when a rule made `change`, though no rule would.
fn check_after(tester: &Tester, before: RunStatus, change: impl FnOnce(&mut Draft<'_>)) -> String {
    let mut draft = Draft::new(tester.run.clone(), 0, tester.ground());
    change(&mut draft);
    passed::check_decision(&draft, before).map_or_else(|it| it.to_string(), |()| "good".to_owned())
}

fn at(step: &str) -> Party {
    Party { agent: agent(step), place: Place::Step(StepId::parse(step).unwrap()) }
}

#[test]
fn no_decision_leaves_work_behind_a_gate_that_it_has_not_passed() {
    let tester = project();
    let offered = |step: &'static str, kind: Kind| {
        check_after(&tester, RunStatus::Open, |draft| {
            let follows = Some(HandoffNo(1));
            offer(draft, Offer { kind, follows, ..Offer::new(orchestrator(), at(step), None) });
        })
    };
    assert_eq!(offered("specification", Kind::Sequential), "good");
    assert_eq!(offered("architecture", Kind::Question), "good", "a question is no work");
    expect!["`architecture` is behind `A gate` (specification → architecture), which this work has not passed; hand it to `specification` and on from there"].assert_eq(&offered("architecture", Kind::Sequential));
}

#[test]
fn no_decision_ends_a_run_before_a_gate() {
    let end = |tester: &Tester, before| {
        check_after(tester, before, |draft| draft.emit(RunEvent::Completed))
    };
    expect!["`the end` is behind `A gate` (specification → architecture), then `A gate` (estimation → implementation), then `A gate` (implementation → complete), which this work has not passed; hand it to `specification` and on from there"].assert_eq(&end(&project(), RunStatus::Open));
    // It was over before: what comes late does not end it again.
    assert_eq!(end(&project(), RunStatus::Completed), "good");
    assert_eq!(end(&Tester::started(), RunStatus::Open), "good", "a workflow without gates");
}

/// A person takes blocked work as it is, past the automatic gate before the end.
#[test]
fn a_person_ends_a_run_past_its_last_gate_on_record() {
    let mut tester = at_implementation();
    tester.completes(7, Outcome::Blocked, summary("no server"));
    let decision = tester.answers(8, Answer::Accept);
    assert_eq!(tester.run.status, RunStatus::Completed);
    assert!(decision.events.iter().any(|it| it.name() == "gate.waived"), "{decision:?}");
}

/// `baton run goto` takes a run only where it has been.
#[test]
fn a_refusal_names_only_a_command_that_would_be_accepted() {
    let mut tester = project();
    tester.workflow.steps[0].reject = RejectRule::To(StepId::parse("implementation").unwrap());
    tester.accepts(1);
    let refusal = tester.would(&reject(1, "build it first")).unwrap_err();
    let Refusal::BehindGate { instead, .. } = refusal else { panic!("{refusal}") };
    assert_eq!(instead, None);
}
