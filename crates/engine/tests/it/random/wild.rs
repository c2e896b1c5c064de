//! Anything by anybody to any handoff, there or not, with any fence.

use proptest::prelude::*;
use proptest::sample::select;

use super::{draws, likely, pick};
use crate::act::{Complete, Create, Order, Says, What};
use crate::model::Run;

pub(super) fn wild(story: usize, run: Option<&Run>) -> BoxedStrategy<What> {
    let open: Vec<u32> = run.into_iter().flat_map(Run::open).map(|it| it.no).collect();
    let no = move || {
        if open.is_empty() {
            (0..14_u32).boxed()
        } else {
            prop_oneof![2 => select(open.clone()), 1 => 0..14_u32].boxed()
        }
    };
    let by = || proptest::option::of(draws::anybody(story));
    let fence = || proptest::option::of(0..5_u32);
    let says = select(vec![Says::Understood, Says::Understood, Says::Unclear]);
    let lease = proptest::option::of(draws::lease());
    let creates = || draws::some_create(story, draws::anybody(story));
    let token = proptest::option::of((no(), 0..5_u32));
    let held = (creates(), token, proptest::option::of(draws::way()));
    let replaced = (creates(), no(), proptest::option::weighted(0.3, (no(), 0..5_u32)));
    pick(vec![
        (2, draws::create(story, draws::anybody(story))),
        (2, held.prop_map(|(it, token, way)| What::Create(Create { token, way, ..it })).boxed()),
        (
            2,
            replaced
                .prop_map(|(it, no, token)| draws::superseding(Create { token, ..it }, no))
                .boxed(),
        ),
        (
            3,
            (no(), by(), says, lease)
                .prop_map(|(no, by, says, lease)| Order::Accept { no, by, says, lease })
                .prop_map(What::On)
                .boxed(),
        ),
        (2, prop(no(), by(), fence(), |no, by, fence| Order::Reject { no, by, fence })),
        (2, prop(no(), by(), fence(), |no, by, fence| Order::Clarify { no, by, fence })),
        (2, prop(no(), by(), fence(), |no, by, fence| Order::Reply { no, by, fence })),
        (2, prop(no(), by(), fence(), |no, by, fence| Order::Release { no, by, fence })),
        (2, complete(story, no(), by(), fence().boxed())),
        (1, (no(), by()).prop_map(|(no, by)| What::On(Order::Cancel { no, by })).boxed()),
        (1, no().prop_map(|no| What::On(Order::TimeOut { no })).boxed()),
        (1, no().prop_map(|no| What::On(Order::MarkStale { no })).boxed()),
        (1, no().prop_map(|no| What::On(Order::Wake { no })).boxed()),
        (1, no().prop_map(|no| What::On(Order::Expire { no })).boxed()),
        (
            1,
            (no(), 0..5_u32)
                .prop_map(|(no, fence)| Order::LoseLease { no, fence })
                .prop_map(What::On)
                .boxed(),
        ),
        (1, no().prop_flat_map(draws::record).boxed()),
        (2, no().prop_flat_map(|no| draws::answer(no, draws::all_answers())).boxed()),
        (1, no().prop_flat_map(draws::delegate_vote).boxed()),
        (1, no().prop_map(|no| What::On(Order::Remind { no })).boxed()),
        (1, likely::on(Order::CleanUp)),
        (1, likely::on(Order::Pause)),
        (1, likely::on(Order::Resume)),
        (1, likely::on(Order::CancelRun)),
        (1, draws::goto(story)),
        (1, likely::on(Order::Skip)),
        (1, Just(What::Start { to: None }).boxed()),
        (1, draws::start_at(story)),
    ])
}

fn prop(
    no: BoxedStrategy<u32>,
    by: impl Strategy<Value = Option<&'static str>> + 'static,
    fence: impl Strategy<Value = Option<u32>> + 'static,
    order: impl Fn(u32, Option<&'static str>, Option<u32>) -> Order + 'static,
) -> BoxedStrategy<What> {
    (no, by, fence).prop_map(move |(no, by, fence)| What::On(order(no, by, fence))).boxed()
}

fn complete(
    story: usize,
    no: BoxedStrategy<u32>,
    by: impl Strategy<Value = Option<&'static str>> + 'static,
    fence: BoxedStrategy<Option<u32>>,
) -> BoxedStrategy<What> {
    let to = proptest::option::weighted(0.4, draws::anybody(story));
    (no, by, draws::outcome(), draws::parcel(), draws::serial(), to, fence, draws::profile())
        .prop_map(|(no, by, outcome, parcel, serial, to, fence, profile)| {
            What::On(Order::Complete(Complete {
                no,
                by,
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
