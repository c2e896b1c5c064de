//! The small things that acts are made of.

use baton_core::command::Way;
use baton_core::contract::Profile;
use baton_core::gate::Answer;
use baton_core::outcome::Outcome;
use proptest::prelude::*;
use proptest::sample::select;
use proptest::strategy::Union;

use crate::act::{Answered, Complete, Create, Order, Says, What};
use crate::flows::{AGENTS, HUMAN, ORCHESTRATOR, PEOPLE, Parcel};
use crate::model::{Handoff, flow_of};
use crate::world::agent;

pub(super) fn create(story: usize, from: BoxedStrategy<&'static str>) -> BoxedStrategy<What> {
    some_create(story, from).prop_map(What::Create).boxed()
}

pub(super) fn some_create(
    story: usize,
    from: BoxedStrategy<&'static str>,
) -> BoxedStrategy<Create> {
    let outcome = prop_oneof![3 => Just(None), 1 => outcome().prop_map(Some)];
    let way = prop_oneof![12 => Just(None), 1 => way().prop_map(Some)];
    (from, anybody(story), parcel(), serial(), outcome, way, profile())
        .prop_map(|(from, to, parcel, serial, outcome, way, profile)| Create {
            from,
            to,
            parcel,
            serial,
            outcome,
            supersedes: None,
            way,
            token: None,
            profile,
        })
        .boxed()
}

/// Begins a run wherever some edge begins.
pub(super) fn adopt(story: usize) -> BoxedStrategy<What> {
    let flow = flow_of(story);
    let mut ways = Vec::new();
    for step in flow.steps {
        for edge in step.edges {
            ways.push((step.agents[0], flow.agents_at(edge.to)[0]));
        }
    }
    select(ways).prop_flat_map(|(from, to)| plain_create(from, to)).boxed()
}

/// The orchestrator gives somebody what it thinks best.
pub(super) fn hand_in(to: &'static str) -> BoxedStrategy<What> {
    plain_create(ORCHESTRATOR, to)
}

fn plain_create(from: &'static str, to: &'static str) -> BoxedStrategy<What> {
    serial()
        .prop_map(move |serial| {
            What::Create(Create {
                from,
                to,
                parcel: Parcel::Full,
                serial,
                outcome: None,
                supersedes: None,
                way: None,
                token: None,
                profile: Profile::Lenient,
            })
        })
        .boxed()
}

/// A create by who holds `handoff`, who mostly knows with which fence.
pub(super) fn create_by(story: usize, handoff: &Handoff) -> BoxedStrategy<What> {
    let no = handoff.no;
    (some_create(story, Just(handoff.to.agent).boxed()), fence(handoff))
        .prop_map(move |(create, fence)| {
            What::Create(Create { token: fence.map(|it| (no, it)), ..create })
        })
        .boxed()
}

/// A part of the work, to whoever the step names, or to anybody.
pub(super) fn delegate(story: usize, handoff: &Handoff) -> BoxedStrategy<What> {
    let step = flow_of(story).step(handoff.to.place);
    let listed: Vec<_> =
        step.map_or(&[][..], |it| it.delegates).iter().map(|it| (it.agent, None)).collect();
    let anybody = AGENTS.map(|it| (it, Some(Way::Delegation))).to_vec();
    let to = if listed.is_empty() {
        select(anybody).boxed()
    } else {
        prop_oneof![3 => select(listed), 1 => select(anybody)].boxed()
    };
    let parcel = prop_oneof![6 => Just(Parcel::Full), 1 => parcel()];
    let (from, no) = (handoff.to.agent, handoff.no);
    (to, parcel, serial(), fence(handoff))
        .prop_map(move |((to, way), parcel, serial, fence)| {
            What::Create(Create {
                from,
                to,
                parcel,
                serial,
                outcome: None,
                supersedes: None,
                way,
                token: fence.map(|it| (no, it)),
                profile: Profile::Lenient,
            })
        })
        .boxed()
}

/// A question to a person.
pub(super) fn escalate(handoff: &Handoff) -> BoxedStrategy<What> {
    let parcel = prop_oneof![4 => Just(Parcel::Full), 1 => Just(Parcel::Plan), 1 => parcel()];
    let (from, no) = (handoff.to.agent, handoff.no);
    let way = select(vec![None, Some(Way::Escalation)]);
    (parcel, serial(), fence(handoff), way)
        .prop_map(move |(parcel, serial, fence, way)| {
            What::Create(Create {
                from,
                to: HUMAN,
                parcel,
                serial,
                outcome: None,
                supersedes: None,
                way,
                token: fence.map(|it| (no, it)),
                profile: Profile::Lenient,
            })
        })
        .boxed()
}

pub(super) fn complete(
    story: usize,
    handoff: &Handoff,
    outcome: BoxedStrategy<Outcome>,
) -> BoxedStrategy<What> {
    let to = proptest::option::weighted(0.4, anybody(story)).boxed();
    complete_to(handoff, outcome, parcel(), to)
}

pub(super) fn complete_to(
    handoff: &Handoff,
    outcome: BoxedStrategy<Outcome>,
    parcel: BoxedStrategy<Parcel>,
    to: BoxedStrategy<Option<&'static str>>,
) -> BoxedStrategy<What> {
    let no = handoff.no;
    (outcome, parcel, serial(), to, fence(handoff), profile())
        .prop_map(move |(outcome, parcel, serial, to, fence, profile)| {
            What::On(Order::Complete(Complete {
                no,
                by: None,
                outcome,
                parcel,
                serial,
                to,
                fence,
                profile,
            }))
        })
        .boxed()
}

pub(super) fn superseding(create: Create, no: u32) -> What {
    What::Create(Create { supersedes: Some(no), ..create })
}

pub(super) fn accept(handoff: &Handoff) -> BoxedStrategy<What> {
    let says = prop_oneof![12 => Just(Says::Understood), 1 => Just(Says::Unclear)];
    accept_with(handoff, says.boxed(), proptest::option::weighted(0.3, lease()).boxed())
}

pub(super) fn accept_with(
    handoff: &Handoff,
    says: BoxedStrategy<Says>,
    lease: BoxedStrategy<Option<u32>>,
) -> BoxedStrategy<What> {
    let no = handoff.no;
    (proptest::option::of(Just(handoff.to.agent)), says, lease)
        .prop_map(move |(by, says, lease)| What::On(Order::Accept { no, by, says, lease }))
        .boxed()
}

pub(super) fn lease() -> BoxedStrategy<u32> {
    select(vec![5, 20, 3600]).boxed()
}

pub(super) fn reject(handoff: &Handoff) -> BoxedStrategy<What> {
    let no = handoff.no;
    (proptest::option::of(Just(handoff.to.agent)), fence(handoff))
        .prop_map(move |(by, fence)| What::On(Order::Reject { no, by, fence }))
        .boxed()
}

pub(super) fn clarify(handoff: &Handoff) -> BoxedStrategy<What> {
    let no = handoff.no;
    (proptest::option::of(Just(handoff.to.agent)), fence(handoff))
        .prop_map(move |(by, fence)| What::On(Order::Clarify { no, by, fence }))
        .boxed()
}

pub(super) fn release(handoff: &Handoff) -> BoxedStrategy<What> {
    let no = handoff.no;
    fence(handoff).prop_map(move |fence| What::On(Order::Release { no, by: None, fence })).boxed()
}

/// An answer to a question, named by itself or by what it is about.
pub(super) fn reply(question: &Handoff, about: u32) -> BoxedStrategy<What> {
    let by = select(vec![None, Some(question.to.agent), Some(HUMAN)]);
    (select(vec![question.no, about]), by, fence(question))
        .prop_map(|(no, by, fence)| What::On(Order::Reply { no, by, fence }))
        .boxed()
}

pub(super) fn record(no: u32) -> BoxedStrategy<What> {
    let check = select(vec!["lint", "lint", "test", "test", "typos"]);
    (check, proptest::bool::weighted(0.8))
        .prop_map(move |(check, has_passed)| What::On(Order::Record { no, check, has_passed }))
        .boxed()
}

/// Mostly what is needed, if anything is; now and then what was needed before.
pub(super) fn fence(handoff: &Handoff) -> BoxedStrategy<Option<u32>> {
    let now = handoff.fence;
    let usual = handoff.has_lost_lease.then_some(now);
    prop_oneof![
        12 => Just(usual),
        4 => Just(Some(now)),
        2 => Just(None),
        1 => Just(Some(now.saturating_sub(1))),
    ]
    .boxed()
}

pub(super) fn answer(no: u32, answers: Vec<Answer>) -> BoxedStrategy<What> {
    // Who gives up ends the play.
    let weight = |it: &Answer| if *it == Answer::Abort { 1 } else { 8 };
    let answers = answers.into_iter().map(|it| (weight(&it), Just(it).boxed()));
    let answer = Union::new_weighted(answers.collect());
    let package = prop_oneof![3 => Just(Parcel::Full), 1 => parcel()];
    let parcel = proptest::option::weighted(0.9, (package, serial()));
    (answer, proptest::bool::weighted(0.9), parcel, person())
        .prop_map(move |(answer, has_words, parcel, by)| {
            let parcel = parcel.filter(|_| answer == Answer::Modify);
            What::On(Order::Answer(Answered { no, by, answer, has_words, parcel }))
        })
        .boxed()
}

fn person() -> BoxedStrategy<&'static str> {
    select(PEOPLE.to_vec()).boxed()
}

pub(super) fn delegate_vote(no: u32) -> BoxedStrategy<What> {
    let vote = (person(), person());
    vote.prop_map(move |(by, to)| What::On(Order::DelegateVote { no, by, to })).boxed()
}

pub(crate) fn all_answers() -> Vec<Answer> {
    vec![
        Answer::Continue,
        Answer::Accept,
        Answer::HandTo(agent("helper")),
        Answer::HandTo(agent("nobody")),
        Answer::Approve,
        Answer::Reject,
        Answer::Reply,
        Answer::Question,
        Answer::Modify,
        Answer::Abort,
    ]
}

pub(super) fn goto(story: usize) -> BoxedStrategy<What> {
    let steps: Vec<&'static str> = flow_of(story).steps.iter().map(|it| it.id).collect();
    select(steps).prop_map(|step| What::On(Order::Goto { step })).boxed()
}

pub(super) fn start_at(story: usize) -> BoxedStrategy<What> {
    let steps: Vec<&'static str> = flow_of(story).steps.iter().map(|it| it.id).collect();
    select(steps).prop_map(|step| What::StartAt { step }).boxed()
}

pub(super) fn anybody(story: usize) -> BoxedStrategy<&'static str> {
    let mut names: Vec<&'static str> =
        flow_of(story).steps.iter().flat_map(|it| it.agents).copied().collect();
    names.extend([ORCHESTRATOR, ORCHESTRATOR, HUMAN, "helper", "stranger"]);
    prop_oneof![40 => select(names), 1 => Just("nobody")].boxed()
}

pub(super) fn outcome() -> BoxedStrategy<Outcome> {
    select(Outcome::CLAIMABLE.to_vec()).boxed()
}

pub(super) fn way() -> BoxedStrategy<Way> {
    select(vec![Way::Sequential, Way::Delegation, Way::Escalation, Way::Return]).boxed()
}

pub(super) fn parcel() -> BoxedStrategy<Parcel> {
    prop_oneof![
        9 => Just(Parcel::Full),
        1 => Just(Parcel::Nothing),
        1 => Just(Parcel::Story),
        1 => Just(Parcel::Plan),
        1 => Just(Parcel::Contradiction),
        2 => findings(),
        2 => Just(Parcel::Error),
        1 => Just(Parcel::Gate),
        1 => Just(Parcel::Blockers),
    ]
    .boxed()
}

pub(super) fn findings() -> BoxedStrategy<Parcel> {
    select(vec![Parcel::Findings(&[1]), Parcel::Findings(&[1, 2]), Parcel::Findings(&[])]).boxed()
}

pub(super) fn serial() -> BoxedStrategy<u32> {
    (1..1_000_000_u32).boxed()
}

pub(super) fn profile() -> BoxedStrategy<Profile> {
    prop_oneof![2 => Just(Profile::Lenient), 1 => Just(Profile::Strict)].boxed()
}
