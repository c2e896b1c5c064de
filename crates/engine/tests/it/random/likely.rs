//! What somebody would do next, as a run stands.

use baton_core::outcome::Outcome;
use proptest::prelude::*;
use proptest::sample::select;

use super::{Choices, draws, pick};
use crate::act::{Create, Order, What};
use crate::flows::{EdgeGate, ORCHESTRATOR, Parcel, is_delegate};
use crate::model::{Baton, Handoff, Run, State, Stops, flow_of};

pub(super) fn likely(story: usize, run: &Run) -> BoxedStrategy<What> {
    let mut choices = match run.baton {
        Baton::Offered(no) if run.row(no).state == State::Clarification => unclear(story, run, no),
        Baton::Offered(no) => offered(story, run.row(no)),
        Baton::HeldBack(no) => held_back(story, run.row(no)),
        Baton::Held(no) => held(story, run.row(no)),
        Baton::Asked(no) => asked(story, run, no),
        Baton::Loose { at, other } => loose(story, &[at, other]),
        Baton::Done => loose(story, &[]),
    };
    choices.extend(beside(run));
    pick(choices)
}

fn offered(story: usize, handoff: &Handoff) -> Choices {
    let no = handoff.no;
    let by_sender = draws::some_create(story, Just(handoff.from.agent).boxed());
    // To the same again, as often as not: inside a frame there is nothing else.
    let same = handoff.to.agent;
    let again = (by_sender, any::<bool>()).prop_map(move |(create, is_same)| {
        let to = if is_same { same } else { create.to };
        draws::superseding(Create { to, ..create }, no)
    });
    let by_receiver = draws::create_by(story, handoff);
    vec![
        (16, draws::accept(handoff)),
        (3, draws::reject(handoff)),
        (3, draws::clarify(handoff)),
        (3, draws::complete(story, handoff, draws::outcome())),
        (3, by_receiver),
        (1, draws::delegate(story, handoff)),
        (2, again.boxed()),
        (2, wait_minutes()),
        (2, on(Order::Expire { no })),
        (1, on(Order::Cancel { no, by: Some(handoff.from.agent) })),
        (1, on(Order::TimeOut { no })),
        (1, on(Order::CleanUp)),
        (1, on(Order::Skip)),
        (1, on(Order::MarkStale { no })),
        (1, draws::record(no)),
    ]
}

fn unclear(story: usize, run: &Run, no: u32) -> Choices {
    let handoff = run.row(no);
    let mut choices = vec![
        (2, draws::reject(handoff)),
        (1, draws::accept(handoff)),
        (1, draws::create_by(story, handoff)),
        (1, on(Order::Cancel { no, by: Some(handoff.from.agent) })),
        (1, on(Order::TimeOut { no })),
        (1, on(Order::CleanUp)),
        (1, on(Order::Skip)),
        (1, on(Order::Expire { no })),
        (1, draws::goto(story)),
    ];
    let again = draws::some_create(story, Just(handoff.from.agent).boxed());
    choices.push((1, again.prop_map(move |it| draws::superseding(it, no)).boxed()));
    choices.extend(question(run, no));
    choices
}

/// What may be done to the question about a handoff.
fn question(run: &Run, about: u32) -> Choices {
    let Some(no) = run.row(about).question else { return Vec::new() };
    let question = run.row(no);
    let (fence, lease) = (question.fence, question.lease);
    let mut choices = vec![
        (12, draws::reply(question, about)),
        (3, draws::accept(question)),
        (2, draws::answer(no, run.choices(no))),
        (1, draws::answer(no, draws::all_answers())),
        (1, on(Order::MarkStale { no })),
    ];
    if question.state == State::Accepted {
        choices.push((2, draws::release(question)));
        choices.push((if lease.is_some() { 6 } else { 1 }, on(Order::LoseLease { no, fence })));
    }
    choices
}

fn held_back(story: usize, handoff: &Handoff) -> Choices {
    let no = handoff.no;
    vec![
        (8, wait_seconds()),
        (8, on(Order::Wake { no })),
        (4, draws::accept(handoff)),
        (1, draws::reject(handoff)),
        (1, draws::clarify(handoff)),
        (1, draws::complete(story, handoff, draws::outcome())),
        (1, draws::create_by(story, handoff)),
        (1, on(Order::Cancel { no, by: Some(handoff.from.agent) })),
        (1, on(Order::TimeOut { no })),
        (1, on(Order::CleanUp)),
        (1, on(Order::Skip)),
        (1, on(Order::Expire { no })),
        (1, draws::goto(story)),
    ]
}

fn held(story: usize, handoff: &Handoff) -> Choices {
    let (no, fence) = (handoff.no, handoff.fence);
    let lost = if handoff.lease.is_some() { 8 } else { 1 };
    vec![
        (10, straight_on(story, handoff)),
        (4, back(story, handoff)),
        (5, draws::complete(story, handoff, Just(Outcome::Success).boxed())),
        (5, draws::complete(story, handoff, draws::outcome())),
        (5, draws::create_by(story, handoff)),
        (6, draws::delegate(story, handoff)),
        (3, draws::escalate(handoff)),
        (5, draws::reject(handoff)),
        (3, draws::clarify(handoff)),
        (2, draws::release(handoff)),
        (if is_checked(story, handoff) { 16 } else { 2 }, draws::record(no)),
        (lost, on(Order::LoseLease { no, fence })),
        (1, on(Order::TimeOut { no })),
        (1, on(Order::Skip)),
        (1, on(Order::Pause)),
        (1, on(Order::MarkStale { no })),
        (1, draws::goto(story)),
    ]
}

fn asked(story: usize, run: &Run, no: u32) -> Choices {
    let gate = run.row(no).gate.as_ref();
    let is_automatic = gate.is_some_and(|it| matches!(it.stops, Stops::Until(_)));
    let mut choices = vec![
        (16, draws::answer(no, run.choices(no))),
        (2, draws::answer(no, draws::all_answers())),
        (if is_automatic { 16 } else { 2 }, draws::record(no)),
        (if story == 2 { 4 } else { 1 }, draws::delegate_vote(no)),
        (1, on(Order::Remind { no })),
        (1, draws::create(story, draws::anybody(story))),
        (1, on(Order::CleanUp)),
        (1, draws::goto(story)),
    ];
    choices.extend(question(run, no));
    if let Some(about) = run.row(no).about() {
        choices.push((2, draws::reject(run.row(about))));
        choices.push((1, on(Order::Cancel { no: about, by: None })));
    }
    choices
}

fn loose(story: usize, places: &[&'static str]) -> Choices {
    let steps = places.iter().filter(|it| flow_of(story).step(it).is_some());
    let again = steps.map(|it| (4, draws::hand_in(flow_of(story).agents_at(it)[0])));
    let others = vec![
        (2, Just(What::Start { to: None }).boxed()),
        (1, draws::start_at(story)),
        (4, draws::create(story, Just(ORCHESTRATOR).boxed())),
        (4, draws::create(story, draws::anybody(story))),
        (1, on(Order::Skip)),
        (1, on(Order::Pause)),
    ];
    again.chain(others).collect()
}

/// What those may do who only look on, or wait.
pub(super) fn beside(run: &Run) -> Choices {
    let mut choices = Vec::new();
    for handoff in run.open() {
        if handoff.advises() {
            choices.push((3, draws::answer(handoff.no, run.choices(handoff.no))));
        }
    }
    for caller in &run.frames {
        choices.push((1, draws::reject(run.row(*caller))));
    }
    choices
}

/// Whether somebody looks at what was found before the work goes on from here.
pub(super) fn is_checked(story: usize, handoff: &Handoff) -> bool {
    let edges = flow_of(story).edges_from(handoff.to.place);
    edges.iter().any(|it| matches!(it.gate, Some(EdgeGate::Automatic(_))))
}

/// Good work, to whoever comes next; or none, where that is allowed.
pub(super) fn straight_on(story: usize, handoff: &Handoff) -> BoxedStrategy<What> {
    let place = handoff.to.place;
    let edge = flow_of(story).edges_from(place).first();
    let to = edge.map(|it| flow_of(story).agents_at(it.to)[0]);
    let done = (Outcome::Success, Parcel::Full);
    let is_optional = flow_of(story).step(place).is_some_and(|it| it.is_optional);
    let works = if is_optional {
        vec![done, (Outcome::Skipped, Parcel::Full), (Outcome::Skipped, Parcel::Nothing)]
    } else {
        vec![done]
    };
    let handoff = handoff.clone();
    select(works)
        .prop_flat_map(move |(outcome, parcel)| {
            let (outcome, parcel) = (Just(outcome).boxed(), Just(parcel).boxed());
            draws::complete_to(&handoff, outcome, parcel, Just(to).boxed())
        })
        .boxed()
}

/// The work back along the edge that is there for it, with findings; to the caller, where there
/// is one; else an odd try.
pub(super) fn back(story: usize, handoff: &Handoff) -> BoxedStrategy<What> {
    let (no, from, place) = (handoff.no, handoff.to.agent, handoff.to.place);
    let edge = flow_of(story).edges_from(place).iter().find(|it| it.is_back);
    let to = match edge {
        Some(edge) => flow_of(story).agents_at(edge.to)[0],
        None if is_delegate(place) => handoff.from.agent,
        None => ORCHESTRATOR,
    };
    (draws::findings(), draws::serial(), draws::fence(handoff))
        .prop_map(move |(parcel, serial, fence)| {
            What::Create(Create {
                from,
                to,
                parcel,
                serial,
                outcome: None,
                supersedes: None,
                way: None,
                token: fence.map(|it| (no, it)),
                profile: baton_core::contract::Profile::Lenient,
            })
        })
        .boxed()
}

pub(super) fn on(order: Order) -> BoxedStrategy<What> {
    Just(What::On(order)).boxed()
}

pub(super) fn wait_seconds() -> BoxedStrategy<What> {
    (1..4_i64).prop_map(|seconds| What::Wait { seconds }).boxed()
}

fn wait_minutes() -> BoxedStrategy<What> {
    (8..32_i64).prop_map(|minutes| What::Wait { seconds: minutes * 60 }).boxed()
}
