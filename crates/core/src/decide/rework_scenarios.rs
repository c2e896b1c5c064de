//! Scenarios: work that came back stays its receiver's, with the reason; and what receivers and
//! delegates could do to each other without end.

use expect_test::expect;

use super::cycle_scenarios::{begun, check_asked, gate};
use super::fixture::*;
use super::outcome_scenarios::delegate;
use super::scenarios::{at_review, check, created};
use crate::command::{Command, Create, Way};
use crate::document::Node;
use crate::event::{Event, StepEvent};
use crate::gate::Answer;
use crate::names::AgentId;
use crate::outcome::Outcome;
use crate::run::{HandoffNo, Kind};
use crate::workflow::{Expiry, Limits, OnExpire, Workflow};

/// What the orchestrator does where no agent is named: the `start` of a loose baton.
fn starts_again(tester: &mut Tester) -> super::Decision {
    let to = tester.run.restarts_with(&tester.workflow).expect("the baton lies loose");
    tester.hands("orchestrator", to.as_str(), nothing())
}

/// The reviewer has rejected the implementer's work: HO-004 is the return.
fn sent_back() -> Tester {
    let mut tester = at_review();
    tester.rejects(3, "The migration is missing");
    check(&tester, expect!["HO-004 reviewer→implementer pending; offered"]);
    tester
}

#[track_caller]
fn check_again(tester: &mut Tester, no: u32) {
    let package = tester.run.package;
    let decision = starts_again(tester);
    let again = created(&decision);
    assert_eq!((again.handoff.0, again.to.agent.as_str()), (no, "implementer"));
    assert_eq!(tester.text(again.reason), "The migration is missing");
    assert_eq!(again.package, package);
}

#[test]
fn work_that_came_back_and_was_dropped_is_offered_to_its_receiver_with_the_reason() {
    let drops = |tester: &mut Tester, accepted: bool, command: Command| {
        if accepted {
            tester.accepts(4);
        }
        tester.does(&command);
        assert_eq!(tester.run.current_place().unwrap().to_string(), "implement");
        check_again(tester, 5);
        // Dropped once more, it is still the same work.
        tester.does(&time_out(5));
        check_again(tester, 6);
        // Rejected by the implementer, it goes to the reviewer that had sent it back.
        tester.rejects(6, "There is one");
        check(tester, expect!["HO-007 implementer→reviewer pending; offered"]);
    };
    drops(&mut sent_back(), false, time_out(4));
    drops(&mut sent_back(), true, time_out(4));
    drops(&mut sent_back(), false, cancel(4));
    drops(&mut sent_back(), false, Command::CleanUp { reason: None });
}

#[test]
fn an_expired_return_is_offered_to_its_receiver_with_the_reason() {
    let mut tester = sent_back();
    let after = jiff::SignedDuration::from_mins(5);
    for then in [OnExpire::Loose, OnExpire::Return] {
        tester.workflow.steps[1].expiry = Some(Expiry { after, then });
        tester.wait(6);
        let no = tester.run.n_handoffs;
        tester.does(&Command::Expire { handoff: HandoffNo(no) });
        check_again(&mut tester, no + 1);
    }
}

#[test]
fn a_return_whose_holder_died_or_failed_keeps_its_reason() {
    let mut tester = sent_back();
    let fence = tester.does(&accept_with(4, 20)).done.fence.unwrap();
    tester.wait_seconds(20);
    let decision = tester.does(&lose(4, fence));
    let again = created(&decision);
    assert_eq!((again.kind, again.to.agent.as_str()), (Kind::Return, "implementer"));
    assert_eq!(tester.text(again.reason), "The migration is missing");

    let mut tester = sent_back();
    tester.accepts(4);
    let decision = tester.completes(4, Outcome::Failure, nothing());
    assert_eq!(tester.text(created(&decision).reason), "The migration is missing");
    // What went wrong now comes first; the reason is not forgotten over it.
    tester.accepts(5);
    let error = Node::map([("error", Node::text("npm ci timed out"))]);
    let decision = tester.completes(5, Outcome::Failure, error);
    assert_eq!(tester.text(created(&decision).reason), "npm ci timed out");
    tester.does(&time_out(6));
    check_again(&mut tester, 7);
}

#[test]
fn a_sender_that_takes_its_return_back_has_the_work_again() {
    let mut tester = sent_back();
    let by = Some(agent("reviewer"));
    tester.does(&Command::Cancel { handoff: HandoffNo(4), by, reason: None });
    assert_eq!(tester.run.current_place().unwrap().to_string(), "review");
    assert_eq!(tester.run.restarts_with(&tester.workflow), Some(agent("reviewer")));
}

#[test]
fn work_that_goes_on_forgets_why_it_once_came_back() {
    let mut tester = sent_back();
    tester.hands("implementer", "reviewer", plan());
    tester.does(&time_out(5));
    let decision = starts_again(&mut tester);
    let again = created(&decision);
    // The implementer had it as a return, and does not offer the review: it is asked to again.
    assert_eq!(again.to.agent.as_str(), "implementer");
    assert_eq!(tester.text(again.reason), "The migration is missing");
    tester.hands("implementer", "reviewer", plan());
    tester.accepts(7);
    tester.does(&time_out(7));
    let decision = starts_again(&mut tester);
    let again = created(&decision);
    assert_eq!(again.to.agent.as_str(), "reviewer");
    assert_ne!(tester.text(again.reason), "The migration is missing");
}

#[test]
fn a_persons_answer_to_an_escalation_is_in_the_persons_words() {
    for (answer, expected) in [
        (Answer::Approve, "A person approved it, without a comment"),
        (Answer::Reject, "A person rejected it, without a comment"),
    ] {
        let mut tester = Tester::started();
        tester.accepts(1);
        tester.does(&way(Way::Escalation, create("analyst", "human", plan())));
        let decision = tester.does(&answer_gate(2, answer.clone()));
        assert_eq!(tester.text(created(&decision).reason), expected);
        check(&tester, expect!["HO-001 orchestrator→analyst accepted; held"]);

        let mut tester = Tester::started();
        tester.accepts(1);
        tester.does(&way(Way::Escalation, create("analyst", "human", plan())));
        let decision = tester.does(&says(2, answer, "Not before the audit"));
        assert_eq!(tester.text(created(&decision).reason), "Not before the audit");
    }
}

/// `review unknown`, `review failure rejected`, for each step that ended.
fn ended_steps(decision: &super::Decision) -> Vec<String> {
    let ended = |event: &Event| {
        let Event::Step(StepEvent::Completed { step, outcome, is_rejected, .. }) = event else {
            return None;
        };
        let rejected = if *is_rejected { " rejected" } else { "" };
        Some(format!("{step} {}{rejected}", outcome.name()))
    };
    decision.events.iter().filter_map(ended).collect()
}

#[test]
fn a_step_ends_as_its_handoff_does() {
    let check = |accepted: bool, command: &Command, expected: &[&str]| {
        let mut tester = Tester::started();
        tester.hands("analyst", "implementer", plan());
        tester.hands("implementer", "reviewer", plan());
        if accepted {
            tester.accepts(3);
        }
        let decision = tester.does(command);
        assert_eq!(ended_steps(&decision), expected, "{command:?}");
    };
    check(true, &complete(3, Outcome::Success, nothing()), &["review success"]);
    check(true, &reject(3, "no"), &["review failure rejected"]);
    check(true, &time_out(3), &["review unknown"]);
    check(true, &goto("implement"), &["review unknown"]);
    // It may still be done by the same agent or the next, and has not ended.
    check(true, &release(3), &[]);
    check(true, &clarify(3, "Which?"), &[]);
    // A step that was never begun cannot end.
    check(false, &reject(3, "no"), &[]);
    check(false, &time_out(3), &[]);
    check(false, &goto("implement"), &[]);
    let mut tester = at_review();
    tester.does(&release(3));
    let fence = tester.does(&accept_with(3, 20)).done.fence.unwrap();
    tester.wait_seconds(20);
    assert_eq!(ended_steps(&tester.does(&lose(3, fence))), ["review unknown"]);
}

/// How often `turn` happens until a person is asked.
#[track_caller]
fn turns(tester: &mut Tester, turn: impl Fn(&mut Tester)) -> u32 {
    for n in 0..40 {
        turn(tester);
        if tester.run.gate().is_some() {
            return n + 1;
        }
    }
    panic!("no person is asked: {}", tester.shows());
}

fn accepts_and_releases(tester: &mut Tester) {
    let no = tester.run.current().unwrap().no.0;
    tester.accepts(no);
    tester.does(&release(no));
}

#[test]
fn accepting_and_releasing_without_end_asks_a_person() {
    let mut tester = Tester::started();
    assert_eq!(turns(&mut tester, accepts_and_releases), 9);
    check_asked(
        &tester,
        expect![
            "`analyze` accepted and released this work 8 times; its limit is 8; analyze asks, analyze would work; continue hand_to abort"
        ],
    );
    let (no, asked) = gate(&tester);
    assert_eq!(asked.package, asked.given, "the work itself is untouched");
    tester.answers(no, Answer::Continue);
    check(&tester, expect!["HO-003 human→analyst pending; offered"]);
    assert_eq!(turns(&mut tester, accepts_and_releases), 9, "a person has decided: counted anew");

    let workflow = Workflow { limits: Limits { releases: 0, ..Limits::default() }, ..pipeline() };
    let mut tester = begun(workflow, "analyst");
    assert_eq!(turns(&mut tester, accepts_and_releases), 1);
}

#[test]
fn a_release_past_the_limit_leaves_nothing_open_but_the_gate() {
    let mut tester = Tester::started();
    turns(&mut tester, accepts_and_releases);
    check(&tester, expect!["HO-002 analyst→human pending; parked"]);
    assert!(tester.run.counters.iter().all(|it| it.n < 8), "the handoff's own count is gone");
    tester.answers(2, Answer::HandTo(agent("helper")));
    check(&tester, expect!["HO-003 human→helper pending; offered"]);
}

#[test]
fn a_delegated_part_is_not_released_without_end_whatever_its_caller_corrects() {
    let mut tester = Tester::started();
    tester.accepts(1);
    tester.does(&delegate("analyst", "helper"));
    let n = turns(&mut tester, |tester| {
        accepts_and_releases(tester);
        if tester.run.gate().is_none() {
            corrects(tester, "analyst", "helper");
        }
    });
    assert_eq!(n, 9);
    let (no, _) = gate(&tester);
    tester.answers(no, Answer::Continue);
    assert_eq!(tester.run.current().unwrap().to.agent, agent("helper"));
    assert_eq!(tester.run.frames.len(), 1, "the caller still waits");
}

fn corrects(tester: &mut Tester, from: &str, to: &str) {
    let supersedes = Some(tester.run.current().unwrap().no);
    tester.does(&Command::Create(Create { supersedes, ..create(from, to, plan()) }));
}

#[test]
fn a_delegated_part_is_not_asked_about_without_end_whatever_its_caller_corrects() {
    let asks = |tester: &mut Tester, from: &str, to: &str| {
        let no = tester.run.current().unwrap().no.0;
        tester.does(&clarify(no, "Which table?"));
        if tester.run.gate().is_none() {
            tester.does(&reply(tester.run.n_handoffs, "The sessions"));
            corrects(tester, from, to);
        }
    };
    let mut tester = Tester::started();
    tester.accepts(1);
    tester.does(&delegate("analyst", "helper"));
    assert_eq!(turns(&mut tester, |it| asks(it, "analyst", "helper")), 4);
    assert_eq!(gate(&tester).1.cause.name(), "questions");

    // The same about what the delegate brings back.
    let mut tester = Tester::started();
    tester.accepts(1);
    tester.does(&delegate("analyst", "helper"));
    tester.hands("helper", "analyst", plan());
    assert_eq!(turns(&mut tester, |it| asks(it, "helper", "analyst")), 4);
    assert_eq!(gate(&tester).1.cause.name(), "questions");
}

#[test]
fn a_question_that_is_taken_and_released_without_end_goes_to_a_person() {
    let mut tester = at_review();
    tester.does(&clarify(3, "Which table?"));
    for _ in 0..9 {
        let question = tester.run.questions().next().unwrap();
        assert_eq!(question.to.agent, agent("implementer"));
        let no = question.no.0;
        tester.accepts(no);
        tester.does(&release(no));
    }
    let question = tester.run.questions().next().unwrap();
    assert_eq!(question.to.agent, AgentId::human());
    assert_eq!(tester.text(question.asks.unwrap()), "Which table?");
    tester.does(&reply(question.no.0, "The sessions"));
    check(&tester, expect!["HO-003 implementer→reviewer pending; offered"]);
}

#[test]
fn findings_are_a_set_whatever_their_order_and_case() {
    let review = |findings: Vec<(&str, &str)>| {
        let one = |(location, severity): (&str, &str)| {
            Node::map([("location", Node::text(location)), ("severity", Node::text(severity))])
        };
        let issues = findings.into_iter().map(one).collect();
        Node::map([("feedback", Node::text("see below")), ("issues", Node::List(issues))])
    };
    let mut tester = at_review();
    tester.hands("reviewer", "implementer", review(vec![("a:1", "critical"), ("b:2", "minor")]));
    tester.hands("implementer", "reviewer", plan());
    let other = vec![("b:2", " Minor"), ("a:1", "CRITICAL"), ("b:2", "minor")];
    tester.hands("reviewer", "implementer", review(other));
    assert_eq!(gate(&tester).1.cause.name(), "same_findings");

    // The same places with other severities are other findings.
    let mut tester = at_review();
    tester.hands("reviewer", "implementer", review(vec![("a:1", "critical"), ("b:2", "minor")]));
    tester.hands("implementer", "reviewer", plan());
    let other = vec![("a:1", "minor"), ("b:2", "critical")];
    tester.hands("reviewer", "implementer", review(other));
    assert!(tester.run.gate().is_none());
}

/// The sender of a return has the work again where it takes the return back; where an operator does,
/// the work stays its receiver's.
#[test]
fn a_return_that_is_cancelled_leaves_the_work_with_the_party_that_it_is_for() {
    for (by, at) in
        [(Some("reviewer"), "review"), (Some("orchestrator"), "implement"), (None, "implement")]
    {
        let mut tester = super::records::reviewing();
        tester.rejects(3, "the tests fail");
        let (handoff, by) = (crate::run::HandoffNo(4), by.map(agent));
        tester.does(&Command::Cancel { handoff, by: by.clone(), reason: None });
        let crate::run::Baton::Loose { at: place, .. } = tester.run.baton() else {
            panic!("{by:?}: {}", tester.shows());
        };
        assert_eq!(place.to_string(), at, "{by:?}");
    }
}
