//! Acts drawn at random: mostly such as would come next, some of them wild.

use baton_core::contract::Profile;
use baton_core::gate::Answer;
use baton_core::outcome::Outcome;
use proptest::prelude::*;
use proptest::sample::select;

use crate::act::{Act, Complete, Create, Order, What};
use crate::flows::{HUMAN, ORCHESTRATOR, Parcel};
use crate::model::{Baton, Model, Run, flow_of};
use crate::world::agent;

/// How the agents of a play behave.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Temper {
    /// Anything may happen.
    Lively,
    /// They do what they are asked, and send work back again and again.
    Stubborn,
}

/// Something that might be done next.
pub(crate) fn act(model: &Model) -> BoxedStrategy<Act> {
    prop_oneof![
        20 => of_story(model, 0),
        20 => of_story(model, 1),
        2 => (1..25_i64).prop_map(|minutes| Act { story: 0, what: What::Wait { minutes } }),
        1 => Just(Act { story: 0, what: What::Sweep }),
    ]
    .boxed()
}

fn of_story(model: &Model, story: usize) -> BoxedStrategy<Act> {
    let what = match model.latest(story) {
        None => begin(story),
        Some(run) if run.is_finished() => prop_oneof![4 => begin(story), 1 => wild(story)].boxed(),
        Some(run) if run.is_paused() => {
            prop_oneof![3 => Just(What::On(Order::Resume)), 6 => likely(story, run), 1 => wild(story)].boxed()
        }
        Some(run) => match model.temper {
            Temper::Lively => prop_oneof![14 => likely(story, run), 3 => wild(story)].boxed(),
            Temper::Stubborn => prop_oneof![20 => stubborn(story, run), 1 => likely(story, run)].boxed(),
        },
    };
    what.prop_map(move |what| Act { story, what }).boxed()
}

fn begin(story: usize) -> BoxedStrategy<What> {
    let start = proptest::option::weighted(0.2, anybody(story));
    prop_oneof![
        2 => start.prop_map(|to| What::Start { to }),
        2 => create(story, Just(ORCHESTRATOR).boxed()),
        2 => create(story, anybody(story)),
    ]
    .boxed()
}

fn likely(story: usize, run: &Run) -> BoxedStrategy<What> {
    match (run.baton(), run.open()) {
        (Baton::Offered(no), Some(open)) => {
            let (from, to) = (open.from.agent, open.to.agent);
            let by = proptest::option::of(Just(to));
            let again = some_create(story, Just(from).boxed());
            prop_oneof![
                14 => by.clone().prop_map(move |by| What::On(Order::Accept { no, by })),
                3 => by.prop_map(move |by| What::On(Order::Reject { no, by })),
                3 => complete(story, no, likely_outcome()),
                2 => create(story, Just(to).boxed()),
                1 => Just(What::On(Order::Cancel { no, by: Some(from) })),
                1 => Just(What::On(Order::TimeOut { no })),
                1 => again.prop_map(move |it| superseding(it, no)),
                1 => Just(What::On(Order::CleanUp)),
                1 => Just(What::On(Order::Skip)),
                1 => Just(What::On(Order::MarkStale { no })),
            ]
            .boxed()
        }
        (Baton::Held(no), Some(open)) => {
            let holder = open.to.agent;
            prop_oneof![
                10 => straight_on(story, no, open.to.place),
                6 => back(story, holder, open.to.place),
                10 => complete(story, no, Just(Outcome::Success).boxed()),
                5 => complete(story, no, likely_outcome()),
                6 => create(story, Just(holder).boxed()),
                6 => Just(What::On(Order::Reject { no, by: None })),
                1 => Just(What::On(Order::TimeOut { no })),
                1 => Just(What::On(Order::Skip)),
                1 => Just(What::On(Order::Pause)),
                1 => Just(What::On(Order::MarkStale { no })),
                1 => goto(story),
            ]
            .boxed()
        }
        (Baton::Parked(no), _) => {
            prop_oneof![8 => any_answer(no), 1 => create(story, anybody(story))].boxed()
        }
        _ => prop_oneof![
            2 => Just(What::Start { to: None }),
            4 => create(story, Just(ORCHESTRATOR).boxed()),
            4 => create(story, anybody(story)),
            1 => Just(What::On(Order::Skip)),
            1 => Just(What::On(Order::Pause)),
        ]
        .boxed(),
    }
}

/// Good work, to whoever comes next; or none, where that is allowed.
fn straight_on(story: usize, no: u32, place: &'static str) -> BoxedStrategy<What> {
    let edge = flow_of(story).edges_from(place).first();
    let to = edge.map(|it| flow_of(story).agents_at(it.to)[0]);
    let done = (Outcome::Success, Parcel::Full);
    let is_optional = flow_of(story).step(place).is_some_and(|it| it.is_optional);
    let works = if is_optional {
        vec![done, (Outcome::Skipped, Parcel::Full), (Outcome::Skipped, Parcel::Nothing)]
    } else {
        vec![done]
    };
    (select(works), serial())
        .prop_map(move |((outcome, parcel), serial)| {
            let profile = Profile::Lenient;
            let by = None;
            What::On(Order::Complete(Complete { no, by, outcome, parcel, serial, to, profile }))
        })
        .boxed()
}

/// The work back along the edge that is there for it, with findings; else an odd try.
fn back(story: usize, holder: &'static str, place: &'static str) -> BoxedStrategy<What> {
    let edge = flow_of(story).edges_from(place).iter().find(|it| it.is_back);
    let to = edge.map_or(ORCHESTRATOR, |it| flow_of(story).agents_at(it.to)[0]);
    (findings(), serial())
        .prop_map(move |(parcel, serial)| {
            What::Create(Create {
                from: holder,
                to,
                parcel,
                serial,
                outcome: None,
                supersedes: None,
                profile: Profile::Lenient,
            })
        })
        .boxed()
}

/// On, and back, and on, and back: the only way to where a person has to decide.
fn stubborn(story: usize, run: &Run) -> BoxedStrategy<What> {
    match (run.baton(), run.open()) {
        (Baton::Offered(no), _) => Just(What::On(Order::Accept { no, by: None })).boxed(),
        (Baton::Held(no), Some(open)) => {
            let (holder, place) = (open.to.agent, open.to.place);
            let on = straight_on(story, no, place);
            if flow_of(story).edges_from(place).iter().any(|it| it.is_back) {
                prop_oneof![1 => on, 4 => back(story, holder, place)].boxed()
            } else {
                prop_oneof![6 => on, 1 => Just(What::On(Order::Reject { no, by: None }))].boxed()
            }
        }
        (Baton::Parked(no), _) => any_answer(no),
        (Baton::Held(_) | Baton::Loose { .. } | Baton::Done, _) => likely(story, run),
    }
}

/// Anything by anybody to any handoff, there or not.
fn wild(story: usize) -> BoxedStrategy<What> {
    let by = || proptest::option::of(anybody(story));
    let no = || 0..14_u32;
    let superseded = (some_create(story, anybody(story)), no());
    prop_oneof![
        2 => create(story, anybody(story)),
        2 => superseded.prop_map(|(it, no)| superseding(it, no)),
        2 => (no(), by()).prop_map(|(no, by)| What::On(Order::Accept { no, by })),
        2 => (no(), by()).prop_map(|(no, by)| What::On(Order::Reject { no, by })),
        2 => no().prop_flat_map(move |no| complete(story, no, likely_outcome())),
        1 => (no(), by()).prop_map(|(no, by)| What::On(Order::Cancel { no, by })),
        1 => no().prop_map(|no| What::On(Order::TimeOut { no })),
        1 => no().prop_map(|no| What::On(Order::MarkStale { no })),
        2 => no().prop_flat_map(any_answer),
        1 => Just(What::On(Order::CleanUp)),
        1 => Just(What::On(Order::Pause)),
        1 => Just(What::On(Order::Resume)),
        1 => Just(What::On(Order::CancelRun)),
        1 => goto(story),
        1 => Just(What::On(Order::Skip)),
        1 => Just(What::Start { to: None }),
    ]
    .boxed()
}

fn create(story: usize, from: BoxedStrategy<&'static str>) -> BoxedStrategy<What> {
    some_create(story, from).prop_map(What::Create).boxed()
}

fn some_create(story: usize, from: BoxedStrategy<&'static str>) -> BoxedStrategy<Create> {
    let outcome = prop_oneof![3 => Just(None), 1 => likely_outcome().prop_map(Some)];
    (from, anybody(story), parcel(), serial(), outcome, profile())
        .prop_map(|(from, to, parcel, serial, outcome, profile)| Create {
            from,
            to,
            parcel,
            serial,
            outcome,
            supersedes: None,
            profile,
        })
        .boxed()
}

fn complete(story: usize, no: u32, outcome: BoxedStrategy<Outcome>) -> BoxedStrategy<What> {
    let to = proptest::option::weighted(0.4, anybody(story));
    (outcome, parcel(), serial(), to, profile())
        .prop_map(move |(outcome, parcel, serial, to, profile)| {
            What::On(Order::Complete(Complete {
                no,
                by: None,
                outcome,
                parcel,
                serial,
                to,
                profile,
            }))
        })
        .boxed()
}

fn superseding(create: Create, no: u32) -> What {
    What::Create(Create { supersedes: Some(no), ..create })
}

fn any_answer(no: u32) -> BoxedStrategy<What> {
    let answers = vec![
        Answer::Continue,
        Answer::Continue,
        Answer::Accept,
        Answer::HandTo(agent("helper")),
        Answer::HandTo(agent("nobody")),
        Answer::Approve,
        Answer::Approve,
        Answer::Reject,
        Answer::Reject,
        Answer::Abort,
    ];
    select(answers).prop_map(move |answer| What::On(Order::Answer { no, answer })).boxed()
}

fn goto(story: usize) -> BoxedStrategy<What> {
    let steps: Vec<&'static str> = flow_of(story).steps.iter().map(|it| it.id).collect();
    select(steps).prop_map(|step| What::On(Order::Goto { step })).boxed()
}

fn anybody(story: usize) -> BoxedStrategy<&'static str> {
    let mut names: Vec<&'static str> =
        flow_of(story).steps.iter().flat_map(|it| it.agents).copied().collect();
    names.extend([ORCHESTRATOR, ORCHESTRATOR, HUMAN, "stranger"]);
    select(names).boxed()
}

fn likely_outcome() -> BoxedStrategy<Outcome> {
    select(Outcome::CLAIMABLE.to_vec()).boxed()
}

fn parcel() -> BoxedStrategy<Parcel> {
    prop_oneof![
        8 => Just(Parcel::Full),
        1 => Just(Parcel::Nothing),
        1 => Just(Parcel::Story),
        1 => Just(Parcel::Plan),
        1 => Just(Parcel::Contradiction),
        2 => findings(),
        2 => Just(Parcel::Error),
    ]
    .boxed()
}

fn findings() -> BoxedStrategy<Parcel> {
    select(vec![Parcel::Findings(&[1]), Parcel::Findings(&[1, 2]), Parcel::Findings(&[])]).boxed()
}

fn serial() -> BoxedStrategy<u32> {
    (1..1_000_000_u32).boxed()
}

fn profile() -> BoxedStrategy<Profile> {
    prop_oneof![2 => Just(Profile::Lenient), 1 => Just(Profile::Strict)].boxed()
}
