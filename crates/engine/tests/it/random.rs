//! Acts drawn at random: mostly such as would come next, some of them wild.

mod draws;
mod likely;
mod moods;
mod wild;

use proptest::prelude::*;
use proptest::strategy::Union;

pub(crate) use self::draws::all_answers;
use crate::act::{Act, Order, What};
use crate::flows::ORCHESTRATOR;
use crate::model::{Model, N_STORIES, Run};

/// How the agents of a play behave.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Temper {
    /// Anything may happen.
    Lively,
    /// They do what they are asked, and send work back again and again.
    Stubborn,
    /// Everybody knows somebody who could do it better.
    Deep,
    /// They never understand what they are to do.
    Curious,
    /// They promise to say that they are alive, and die.
    Frail,
}

impl Temper {
    pub(crate) const ALL: [Self; 5] =
        [Self::Lively, Self::Stubborn, Self::Deep, Self::Curious, Self::Frail];
}

/// Something that might be done next.
pub(crate) fn act(model: &Model) -> BoxedStrategy<Act> {
    let of_stories = (0..N_STORIES).map(|story| {
        let weight = if story == model.focus { 40 } else { 3 };
        (weight, of_story(model, story))
    });
    let minutes = (1..25_i64).prop_map(|it| wait(it * 60)).boxed();
    let seconds = (1..5_i64).prop_map(wait).boxed();
    let sweep = Just(Act { story: 0, what: What::Sweep }).boxed();
    let choices = of_stories.chain([(2, minutes), (1, seconds), (1, sweep)]).collect();
    Union::new_weighted(choices).boxed()
}

fn wait(seconds: i64) -> Act {
    Act { story: 0, what: What::Wait { seconds } }
}

fn of_story(model: &Model, story: usize) -> BoxedStrategy<Act> {
    let latest = model.latest(story);
    let what = match latest {
        None => pick(vec![(1, begin(story)), (3, draws::adopt(story))]),
        Some(run) if run.is_finished() => {
            pick(vec![(4, begin(story)), (1, wild::wild(story, latest))])
        }
        Some(run) if run.is_paused() => pick(vec![
            (3, Just(What::On(Order::Resume)).boxed()),
            (6, likely::likely(story, run)),
            (1, wild::wild(story, latest)),
        ]),
        Some(run) => goes_on(model, story, run),
    };
    what.prop_map(move |what| Act { story, what }).boxed()
}

fn goes_on(model: &Model, story: usize, run: &Run) -> BoxedStrategy<What> {
    let likely = likely::likely(story, run);
    let wild = wild::wild(story, Some(run));
    let mut choices = match model.temper {
        Temper::Lively => vec![(14, likely), (4, wild)],
        Temper::Stubborn | Temper::Deep | Temper::Curious | Temper::Frail => {
            let mut choices =
                vec![(20, moods::typical(model.temper, story, run)), (2, likely), (1, wild)];
            choices.extend(likely::beside(run));
            choices
        }
    };
    choices.extend(due(model, story, run).map(|it| (8, likely::on(it))));
    let stale = run.current().filter(|it| it.is_stale);
    choices.extend(stale.map(|it| (3, likely::on(Order::MarkStale { no: it.no }))));
    pick(choices)
}

/// What the clock would do by now, if it were asked.
fn due(model: &Model, story: usize, run: &Run) -> Option<Order> {
    let no = run.current()?.no;
    let orders = [Order::Expire { no }, Order::Wake { no }, Order::MarkStale { no }];
    orders.into_iter().find(|it| model.would(story, it))
}

fn begin(story: usize) -> BoxedStrategy<What> {
    let start = proptest::option::weighted(0.2, draws::anybody(story));
    pick(vec![
        (4, start.prop_map(|to| What::Start { to }).boxed()),
        (2, draws::create(story, Just(ORCHESTRATOR).boxed())),
        (2, draws::create(story, draws::anybody(story))),
        (1, draws::start_at(story)),
    ])
}

type Choices = Vec<(u32, BoxedStrategy<What>)>;

fn pick(choices: Choices) -> BoxedStrategy<What> {
    Union::new_weighted(choices).boxed()
}
