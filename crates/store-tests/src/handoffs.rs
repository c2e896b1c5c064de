//! A handoff's row: made once, moved while it is open.

use baton_core::event::{Created, Event, HandoffEvent, RunEvent};
use baton_core::outcome::Outcome;
use baton_core::run::{Ended, HandoffNo, HandoffState, Kind, Party, State};
use baton_core::workflow::Place;
use baton_store::{Append, HandoffRef, HandoffRow, Store};

use crate::sample::*;

pub async fn a_new_handoff_is_pending(store: &dyn Store) {
    let first = start(1, "s-1");
    let reason = words("a person is to look");
    let created = Created {
        kind: Kind::Escalation,
        from: Party { agent: agent("orchestrator"), place: Place::Orchestrator },
        to: Party { agent: agent("human"), place: Place::Human },
        attempt: 3,
        follows: Some(HandoffNo(7)),
        approved_by: Some(principal("Ada Ł.")),
        warnings: vec!["missing context.\"x\"".to_owned(), "second".to_owned()],
        score: Some(85),
        ..created(&first, "human", &reason)
    };
    let mut second = then(&first, &[Event::Handoff(HandoffEvent::Created(created.clone()))]);
    open(&mut second, &created);
    put_all(store, &[first, second.clone()]).await;
    let expected = HandoffRow {
        number: 1,
        id: handoff_id(run_id(1), 1),
        run: run_id(1),
        story: story_key("s-1"),
        no: HandoffNo(1),
        kind: Kind::Escalation,
        from: Party { agent: agent("orchestrator"), place: Place::Orchestrator },
        to: Party { agent: agent("human"), place: Place::Human },
        state: HandoffState::Open(State::Pending),
        outcome: None,
        package: None,
        reason: reason.id,
        ended_reason: None,
        acknowledgement: None,
        attempt: 3,
        follows: Some(HandoffNo(7)),
        approved_by: Some(principal("Ada Ł.")),
        warnings: vec!["missing context.\"x\"".to_owned(), "second".to_owned()],
        score: Some(85),
        is_stale: false,
        created_at: second.at,
        accepted_at: None,
        ended_at: None,
    };
    assert_eq!(row(store, 1).await, expected);
}

pub async fn a_handoff_is_found_by_every_reference(store: &dyn Store) {
    put_all(store, &tale(1, "s-1")).await;
    put_all(store, &tale(2, "s-2")).await;
    let expected = row(store, 4).await;
    assert_eq!((expected.run, expected.no), (run_id(2), HandoffNo(2)));
    for which in
        [HandoffRef::Id(handoff_id(run_id(2), 2)), HandoffRef::InRun(run_id(2), HandoffNo(2))]
    {
        let found = store.handoff(&which).await.unwrap();
        assert_eq!(found.as_ref(), Some(&expected), "{which:?}");
    }
}

pub async fn a_changed_row_is_stored_whole(store: &dyn Store) {
    let mut last = opened(store).await;
    for state in HandoffState::ALL {
        let mut next = then(&last, &[Event::Run(RunEvent::Resumed)]);
        let at = next.at;
        let row_now = row_mut(&mut next, 1);
        row_now.state = state;
        row_now.is_stale = !row_now.is_stale;
        row_now.outcome = Some(Outcome::NeedsReview).filter(|_| row_now.is_stale);
        row_now.ended_reason = Some(words(state.name()).id);
        row_now.acknowledgement = row_now.ended_reason.filter(|_| !row_now.is_stale);
        row_now.accepted_at = Some(at).filter(|_| row_now.is_stale);
        row_now.ended_at = (!state.is_open()).then_some(at);
        let expected = HandoffRow { number: 1, ..row_now.clone() };
        put(store, &next).await;
        assert_eq!(row(store, 1).await, expected);
        if !state.is_open() {
            return;
        }
        last = next;
    }
}

pub async fn a_question_keeps_its_answer(store: &dyn Store) {
    let second = opened(store).await;
    let asked = words("which table?");
    let created = Created {
        kind: Kind::Question,
        from: Party { agent: agent("bea"), place: step("review") },
        to: Party { agent: agent("cid"), place: Place::Delegate(agent("cid")) },
        ..created(&second, "cid", &asked)
    };
    let mut third = then(&second, &[Event::Handoff(HandoffEvent::Created(created.clone()))]);
    open(&mut third, &created);
    put(store, &third).await;
    let question = row(store, 2).await;
    assert_eq!((question.kind, question.reason), (Kind::Question, asked.id));
    assert_eq!(question.to.place, Place::Delegate(agent("cid")));

    let answer = words("the one of sessions");
    let mut fourth = complete(&third, 2);
    row_mut(&mut fourth, 2).ended_reason = Some(answer.id);
    put(store, &fourth).await;
    assert_eq!(row(store, 2).await.ended_reason, Some(answer.id));
}

pub async fn a_mark_does_not_count_as_a_move(store: &dyn Store) {
    let second = opened(store).await;
    let third = accept(&second, 1);
    put(store, &third).await;
    let before = row(store, 1).await;
    put(store, &mark_stale(&third, 1)).await;
    assert_eq!(row(store, 1).await, HandoffRow { is_stale: true, ..before });
}

pub async fn a_handoff_may_move_twice_in_one_append(store: &dyn Store) {
    let first = start(1, "s-1");
    let second = hand_to(&first, "bea");
    let third = accept(&second, 1);
    let fourth = complete(&third, 1);
    // All of it as one command, as a receiver does who hands on what it never accepted.
    let mut at_once = first;
    for next in [&second, &third, &fourth] {
        at_once.events.extend(next.events.clone());
        at_once.contents.extend(next.contents.clone());
    }
    at_once.opened = fourth.changed.clone();
    at_once.run = fourth.run.clone();
    let appended = put(store, &at_once).await;
    assert_eq!(appended.numbers, [(HandoffNo(1), 1)]);
    let row = row(store, 1).await;
    assert_eq!(row.state, HandoffState::Ended(Ended::Completed));
    assert_eq!((row.accepted_at, row.ended_at), (Some(third.at), Some(fourth.at)));
    assert_eq!(row.acknowledgement, Some(third.contents[0].id));
}

pub async fn every_state_can_be_stored(store: &dyn Store) {
    for (n, state) in (1..).zip(HandoffState::ALL) {
        for (index, outcome) in (0..).zip([
            Outcome::Success,
            Outcome::Failure,
            Outcome::Blocked,
            Outcome::NeedsReview,
            Outcome::NeedsClarification,
            Outcome::Skipped,
            Outcome::Unknown,
        ]) {
            let first = start(n * 10 + index, &format!("s-{n}-{index}"));
            let second = hand_to(&first, "bea");
            let mut third = then(
                &second,
                &[Event::Handoff(HandoffEvent::Stale { handoff: HandoffNo(1), is_no_move: true })],
            );
            to_state(&mut third, 1, state);
            row_mut(&mut third, 1).outcome = Some(outcome);
            put_all(store, &[first, second, third.clone()]).await;
            let which = HandoffRef::InRun(third.run.id, HandoffNo(1));
            let row = store.handoff(&which).await.unwrap().unwrap();
            assert_eq!((row.state, row.outcome), (state, Some(outcome)));
            assert_eq!(row.ended_at.is_none(), state.is_open());
        }
    }
    let kinds =
        [Kind::Sequential, Kind::Delegation, Kind::Escalation, Kind::Return, Kind::Question];
    for (n, kind) in (1..).zip(kinds) {
        let first = start(n, &format!("k-{n}"));
        let mut second = hand_to(&first, "bea");
        second.opened[0].kind = kind;
        put_all(store, &[first, second]).await;
        let which = HandoffRef::InRun(run_id(n), HandoffNo(1));
        assert_eq!(store.handoff(&which).await.unwrap().unwrap().kind, kind);
    }
}

/// A run with one pending handoff, stored.
async fn opened(store: &dyn Store) -> Append {
    let first = start(1, "s-1");
    let second = hand_to(&first, "bea");
    put_all(store, &[first, second.clone()]).await;
    second
}

async fn row(store: &dyn Store, number: u64) -> HandoffRow {
    store.handoff(&HandoffRef::Number(number)).await.unwrap().unwrap()
}
