//! Whoever has to move an open run has something to say that is not refused. Found by dry runs.

use baton_core::contract::Profile;
use baton_core::gate::{Answer, Gate};
use baton_core::names::AgentId;
use baton_core::outcome::Outcome;
use baton_core::run::{Baton, Handoff, HandoffNo, Run, RunStatus, State, Wait};
use baton_store::RunRow;

use crate::act::{Act, Answered, Complete, Create, Order, Says, What};
use crate::flows::{AGENTS, HUMAN, ORCHESTRATOR, PEOPLE, Parcel};
use crate::random::all_answers;
use crate::world::{World, dry};

pub(super) async fn somebody_can_move(world: &World, story: usize, row: &RunRow) {
    let run = &row.run;
    let moves = match run.status {
        RunStatus::Completed | RunStatus::Cancelled => return,
        RunStatus::Paused => vec![What::On(Order::Resume)],
        RunStatus::Open => moves(run),
    };
    for what in moves {
        if would(world, story, what).await {
            return;
        }
    }
    panic!("nobody can move this: {row:#?}");
}

fn moves(run: &Run) -> Vec<What> {
    match (run.baton(), run.current()) {
        (Baton::Offered { .. }, Some(current)) => match current.state {
            State::Clarification => replies(run, current),
            State::Pending | State::Accepted | State::Parked => take(current),
        },
        (Baton::Held { .. }, Some(current)) => finish(current),
        (Baton::Parked { on: Wait::Person, .. }, Some(current)) => {
            let gate = current.gate.as_ref().expect("a person is asked");
            answers(current, gate).into_iter().filter(is_no_end).collect()
        }
        // It will be offered by itself, and until then an operator can do without it.
        (Baton::Parked { on: Wait::Timer, handoff }, Some(_)) => {
            let no = handoff.0;
            vec![What::On(Order::TimeOut { no })]
        }
        (Baton::Loose { .. }, _) => AGENTS.map(hand_in).to_vec(),
        (baton, _) => panic!("open, and the baton is {baton:?}"),
    }
}

/// To give up is not to move.
fn is_no_end(what: &What) -> bool {
    !matches!(what, What::On(Order::Answer(Answered { answer: Answer::Abort, .. })))
}

fn take(handoff: &Handoff) -> Vec<What> {
    let (no, by) = (handoff.no.0, Some(known(&handoff.to.agent)));
    vec![What::On(Order::Accept { no, by, says: Says::Understood, lease: None })]
}

fn replies(run: &Run, handoff: &Handoff) -> Vec<What> {
    let question = handoff.question.and_then(|it| run.handoff(it)).expect("it is unclear");
    let (no, fence) = (question.no.0, Some(question.fence));
    let by = Some(known(&question.to.agent));
    vec![What::On(Order::Reply { no, by, fence })]
}

fn finish(handoff: &Handoff) -> Vec<What> {
    let receivers = std::iter::once(None).chain(AGENTS.into_iter().map(Some));
    let complete = |to| {
        What::On(Order::Complete(Complete {
            no: handoff.no.0,
            by: Some(known(&handoff.to.agent)),
            outcome: Outcome::Success,
            parcel: Parcel::Full,
            serial: 1,
            to,
            fence: Some(handoff.fence),
            profile: Profile::Strict,
        }))
    };
    receivers.map(complete).collect()
}

fn hand_in(to: &'static str) -> What {
    What::Create(Create {
        from: ORCHESTRATOR,
        to,
        parcel: Parcel::Full,
        serial: 1,
        outcome: None,
        supersedes: None,
        way: None,
        token: None,
        profile: Profile::Strict,
    })
}

/// Whatever a person may choose at a gate, it is taken; and a person may answer every question.
pub(super) async fn every_answer_is_taken(world: &World, story: usize, row: &RunRow) {
    for (handoff, gate) in row.run.gates() {
        for what in answers(handoff, gate) {
            assert!(would(world, story, what.clone()).await, "{what:?} is refused: {row:#?}");
        }
    }
    for question in row.run.questions() {
        let what = answer(question.no, Answer::Reply, "grace");
        assert!(would(world, story, what).await, "nobody can answer {question:#?}: {row:#?}");
    }
}

fn answers(handoff: &Handoff, gate: &Gate) -> Vec<What> {
    let nobody = |it: &Answer| matches!(it, Answer::HandTo(agent) if agent.as_str() == "nobody");
    let is_unclear = handoff.state == State::Clarification;
    all_answers()
        .into_iter()
        .filter(|it| gate.takes(it) && !nobody(it))
        // One question at a time.
        .filter(|it| *it != Answer::Question || !is_unclear)
        .map(|it| answer(handoff.no, it, answering(gate)))
        .collect()
}

/// Somebody whose answer the gate takes.
fn answering(gate: &Gate) -> &'static str {
    let open = gate.approval.as_ref().and_then(|it| it.open().next());
    let is_it = |it: &&'static str| open.is_some_and(|open| open.as_str() == *it);
    PEOPLE.into_iter().find(is_it).unwrap_or("grace")
}

fn answer(handoff: HandoffNo, answer: Answer, by: &'static str) -> What {
    let parcel = Some((Parcel::Full, 1)).filter(|_| answer == Answer::Modify);
    What::On(Order::Answer(Answered { no: handoff.0, by, answer, has_words: true, parcel }))
}

async fn would(world: &World, story: usize, what: What) -> bool {
    world.tries(&dry("ada"), &Act { story, what }).await.is_ok()
}

fn known(agent: &AgentId) -> &'static str {
    let names = AGENTS.into_iter().chain([ORCHESTRATOR, HUMAN]);
    names.into_iter().find(|it| *it == agent.as_str()).expect("somebody from the flows")
}
