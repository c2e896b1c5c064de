//! What an event does to the row of its handoff. Commands, `rebuild` and `verify` apply it; a store
//! only writes the columns.

use baton_core::event::{Event, HandoffEvent};
use baton_core::run::{HandoffNo, HandoffState, State};
use baton_store::HandoffRow;
use jiff::Timestamp;

/// The handoff whose row the event creates or changes, if any.
pub(crate) fn changed_by(event: &Event) -> Option<HandoffNo> {
    let is_marked = matches!(event, Event::Handoff(HandoffEvent::Stale { .. }));
    // It was pending already.
    let is_woken = matches!(event, Event::Handoff(HandoffEvent::Woken { .. }));
    let is_moved = event.state_after().is_some() && !is_woken;
    event.handoff().filter(|_| is_marked || is_moved)
}

/// Changes the row of a handoff as an event about it says.
pub(crate) fn apply(row: &mut HandoffRow, event: &Event, at: Timestamp) {
    if changed_by(event).is_none() {
        return;
    }
    let Some(state) = event.state_after() else {
        // Staleness marks the state at that moment, not a later one.
        row.is_stale = true;
        return;
    };
    row.state = state;
    row.is_stale = false;
    let texts = event.texts();
    match state {
        // The previous holder has lost it.
        HandoffState::Open(State::Pending | State::Clarification) => row.accepted_at = None,
        // Waiting for another agent and going on is not a second acceptance.
        HandoffState::Open(State::Accepted) => row.accepted_at = row.accepted_at.or(Some(at)),
        HandoffState::Open(State::Parked) => {}
        HandoffState::Ended(_) => {
            row.ended_at = Some(at);
            row.ended_reason = texts.words;
        }
    }
    if let Event::Handoff(HandoffEvent::Completed { outcome, .. }) = event {
        row.outcome = Some(*outcome);
    }
    row.acknowledgement = texts.acknowledgement.or(row.acknowledgement);
}

#[cfg(test)]
mod tests {
    use baton_core::event::{FrameEvent, LeaseEvent, QuestionEvent};
    use baton_core::names::AgentId;
    use baton_core::outcome::Outcome;
    use baton_core::run::Ended;
    use baton_store_tests::sample::{created, start, words};
    use expect_test::{Expect, expect};

    use super::*;

    const NO: HandoffNo = HandoffNo(1);

    fn accepted() -> Event {
        let (by, acknowledgement) = (AgentId::human(), Some(words("I am to do it").id));
        HandoffEvent::Accepted {
            handoff: NO,
            by,
            is_implicit: false,
            acknowledgement,
            holder: None,
        }
        .into()
    }

    /// One line for each event: the row after it, with times in seconds after the creation.
    #[track_caller]
    fn check(events: &[Event], expected: &Expect) {
        let run = start(1, "s-1");
        let made = created(&run, "bea", &words("because"));
        let mut row = HandoffRow::opened(&run.run, &made, run.at);
        let since = |at: Timestamp| at.duration_since(run.at).as_secs();
        let mut lines = String::new();
        for (n, event) in (1..).zip(events) {
            apply(&mut row, event, run.at + jiff::SignedDuration::from_secs(n));
            let line = format!(
                "{:20} {:13} accepted {:?}, ended {:?}{}{}\n",
                event.name(),
                row.state.name(),
                row.accepted_at.map(since),
                row.ended_at.map(since),
                if row.is_stale { ", stale" } else { "" },
                if row.acknowledgement.is_some() { ", acknowledged" } else { "" },
            );
            lines += &line;
        }
        expected.assert_eq(&lines);
    }

    #[test]
    fn waiting_for_another_agent_and_going_on_is_not_a_second_acceptance() {
        let (caller, outcome) = (NO, Outcome::Success);
        check(
            &[
                accepted(),
                FrameEvent::Opened { caller, is_delegation: true }.into(),
                FrameEvent::Closed { caller, outcome }.into(),
                HandoffEvent::Completed { handoff: NO, outcome, package: None, answer: None }
                    .into(),
            ],
            &expect![[r#"
                handoff.accepted     accepted      accepted Some(1), ended None, acknowledged
                frame.opened         parked        accepted Some(1), ended None, acknowledged
                frame.closed         accepted      accepted Some(1), ended None, acknowledged
                handoff.completed    completed     accepted Some(1), ended Some(4), acknowledged
            "#]],
        );
    }

    #[test]
    fn a_holder_that_gives_the_work_back_has_not_accepted_it() {
        let by = AgentId::human();
        check(
            &[
                accepted(),
                QuestionEvent::Asked { handoff: NO, question: HandoffNo(2), by: by.clone() }.into(),
                QuestionEvent::Answered {
                    handoff: NO,
                    question: HandoffNo(2),
                    answer: words("yes").id,
                }
                .into(),
                accepted(),
                HandoffEvent::Released { handoff: NO, by, reason: None, is_counted: false }.into(),
            ],
            &expect![[r#"
                handoff.accepted     accepted      accepted Some(1), ended None, acknowledged
                handoff.clarified    clarification accepted None, ended None, acknowledged
                handoff.answered     pending       accepted None, ended None, acknowledged
                handoff.accepted     accepted      accepted Some(4), ended None, acknowledged
                handoff.released     pending       accepted None, ended None, acknowledged
            "#]],
        );
    }

    #[test]
    fn a_mark_is_no_move_and_lasts_until_the_next() {
        let handoff = NO;
        check(
            &[
                HandoffEvent::Stale { handoff, is_no_move: true }.into(),
                HandoffEvent::Woken { handoff }.into(),
                LeaseEvent::Lost { handoff, fence: 1 }.into(),
                accepted(),
                HandoffEvent::Stale { handoff, is_no_move: true }.into(),
                HandoffEvent::TimedOut { handoff, reason: None }.into(),
            ],
            &expect![[r#"
                handoff.stale        pending       accepted None, ended None, stale
                handoff.woken        pending       accepted None, ended None, stale
                lease.lost           pending       accepted None, ended None, stale
                handoff.accepted     accepted      accepted Some(4), ended None, acknowledged
                handoff.stale        accepted      accepted Some(4), ended None, stale, acknowledged
                handoff.timed_out    timed_out     accepted Some(4), ended Some(6), acknowledged
            "#]],
        );
    }

    #[test]
    fn why_it_ended_is_the_text_of_its_end() {
        let run = start(1, "s-1");
        let made = created(&run, "bea", &words("because"));
        let mut row = HandoffRow::opened(&run.run, &made, run.at);
        let reason = Some(words("nothing came").id);
        apply(&mut row, &HandoffEvent::Cancelled { handoff: NO, reason }.into(), run.at);
        assert_eq!(row.ended_reason, reason);
        assert_eq!(row.state, HandoffState::Ended(Ended::Cancelled));
        assert_eq!(row.reason, words("because").id);
    }
}
