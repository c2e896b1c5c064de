//! Scenarios: who may answer a question, and what a receiver checks when it takes a handoff.

use super::fixture::*;
use super::project::{at_architecture, at_implementation, summary};
use super::states::in_state;
use super::tables::cell;
use crate::acknowledgement::Acknowledgement;
use crate::command::{Accept, Command, Reply};
use crate::document::Node;
use crate::evidence::{Evidence, Verdict};
use crate::gate::GateCause;
use crate::names::CheckName;
use crate::outcome::Outcome;
use crate::run::{HandoffNo, State};

fn reply_by(no: u32, by: Option<&str>, fence: Option<u32>) -> Command {
    let answer = words("PostgreSQL");
    Command::Reply(Reply { handoff: HandoffNo(no), by: by.map(agent), answer, fence })
}

const ANSWERED: &str = "handoff.answered handoff.completed → offered";

#[test]
fn the_agent_that_was_asked_answers_or_a_person() {
    let tester = in_state(State::Clarification);
    for by in [None, Some("analyst"), Some("human")] {
        assert_eq!(cell(&tester, &reply_by(3, by, None)), ANSWERED, "{by:?}");
    }
    for by in ["implementer", "orchestrator"] {
        assert_eq!(cell(&tester, &reply_by(3, Some(by), None)), "(not_yours)", "{by}");
    }
}

/// A person's answer is welcome whichever holder of the question is alive.
#[test]
fn the_token_of_a_question_is_asked_for_only_while_it_is_held() {
    let mut tester = in_state(State::Clarification);
    tester.does(&accept_with(3, 20));
    tester.does(&lose(3, 1));
    assert_eq!(cell(&tester, &reply_by(4, None, None)), ANSWERED, "it has no holder");
    assert_eq!(cell(&tester, &reply_by(4, None, Some(1))), "(stale_fence)");
    let fence = tester.does(&accept_with(4, 20)).done.fence.unwrap();
    assert_eq!(cell(&tester, &reply_by(4, None, None)), "(fence_required)");
    assert_eq!(cell(&tester, &reply_by(4, None, Some(fence))), ANSWERED);
    assert_eq!(cell(&tester, &reply_by(4, Some("human"), None)), ANSWERED);
}

fn acknowledge(no: u32, document: &Node, checks: &[(&str, Verdict)]) -> Command {
    let read = Acknowledgement::read(document, "as I understand it").unwrap();
    let check = |(name, verdict): &(&str, Verdict)| Evidence {
        check: CheckName::parse(name).unwrap(),
        verdict: *verdict,
        fence: None,
        is_observed: false,
    };
    let acknowledgement =
        Some(Acknowledgement { checks: checks.iter().map(check).collect(), ..read });
    Command::Accept(Accept { handoff: HandoffNo(no), by: None, acknowledgement, lease: None })
}

#[test]
fn what_a_receiver_checked_is_recorded_whether_it_accepts_or_asks() {
    let asks = Node::map([
        ("understood", Node::text("partial")),
        ("questions", Node::List(vec![Node::text("Where is the summary?")])),
        ("action", Node::text("request_clarification")),
    ]);
    for (document, state) in [(nothing(), State::Accepted), (asks, State::Clarification)] {
        let mut tester = in_state(State::Pending);
        tester.does(&acknowledge(2, &document, &[("received-summary", Verdict::Failed)]));
        let handoff = tester.run.handoff(HandoffNo(2)).unwrap();
        let recorded: Vec<(&str, Verdict)> =
            handoff.evidence.iter().map(|it| (it.check.as_str(), it.verdict)).collect();
        assert_eq!((handoff.state, recorded), (state, vec![("received-summary", Verdict::Failed)]));
    }
}

/// The gate of the implementation asks for `lint` and `tests`: here its checks have the names of
/// those which a receiver makes.
#[test]
fn what_was_checked_on_receipt_opens_no_gate() {
    let mut tester = at_implementation();
    let gate = tester.workflow.steps[3].edges[0].gate.as_mut().unwrap();
    gate.checks = vec![CheckName::parse("received-summary").unwrap()];
    tester.does(&release(7));
    tester.does(&acknowledge(7, &nothing(), &[("received-summary", Verdict::Passed)]));
    tester.completes(7, Outcome::Success, summary("Built"));
    assert_eq!(tester.run.gate().unwrap().1.cause, GateCause::Checks);
}

#[test]
fn a_question_about_finished_work_is_not_asked() {
    let mut tester = at_architecture();
    tester.completes(3, Outcome::Success, summary("API designed"));
    assert_eq!(cell(&tester, &clarify(3, "Which database?")), "(finished)");
}
