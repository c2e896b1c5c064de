//! Whatever is done to a run, in whatever order: it does what the model says, both stores say
//! the same, and it keeps what the design promises.

mod moves;
mod promises;

use std::collections::{BTreeMap, BTreeSet};

use baton_core::run::{self, RunId};
use baton_store::HandoffRow;
use baton_store_tests::dump;
use proptest::prelude::*;
use proptest::sample::select;
use proptest::test_runner::{Config, RngSeed};
use proptest_state_machine::{ReferenceStateMachine, StateMachineTest, prop_state_machine};
use tokio::runtime::Runtime;

use crate::act::{Act, What};
use crate::model::{Model, N_STORIES};
use crate::performs::Came;
use crate::random::{self, Temper};
use crate::world::{Backend, World};

impl ReferenceStateMachine for Model {
    type State = Self;
    type Transition = Act;

    fn init_state() -> BoxedStrategy<Self> {
        let temper = prop_oneof![2 => Just(Temper::Lively), 3 => select(Temper::ALL.to_vec())];
        let focus = prop_oneof![1 => Just(0), 1 => Just(1), 3 => Just(2_usize)];
        (temper, focus).prop_map(|(temper, focus)| Model::new(temper, focus)).boxed()
    }

    fn transitions(model: &Self) -> BoxedStrategy<Act> {
        random::act(model)
    }

    fn preconditions(model: &Self, act: &Act) -> bool {
        model.is_possible(act)
    }

    fn apply(mut model: Self, act: &Act) -> Self {
        model.does(act);
        model
    }
}

/// A property over the memory store alone, or over both side by side.
struct InMemory;
struct OnBoth;

/// One world for each store, all of which are told the same.
struct Worlds {
    runtime: Runtime,
    worlds: Vec<World>,
    /// Every handoff that has ended, as it was when that was first seen.
    ended: BTreeMap<u64, HandoffRow>,
    /// The newest run of each story, as it was before the act.
    before: [Option<run::Run>; N_STORIES],
    /// With which fences anybody ever held a handoff.
    granted: BTreeSet<Holding>,
}

/// A run, a handoff, a fence.
type Holding = (RunId, u32, u32);

impl StateMachineTest for InMemory {
    type SystemUnderTest = Worlds;
    type Reference = Model;

    fn init_test(_: &Model) -> Worlds {
        Worlds::new(&[Backend::Memory])
    }

    fn apply(worlds: Worlds, model: &Model, act: Act) -> Worlds {
        worlds.does(model, &act)
    }

    fn teardown(worlds: Worlds, _: Model) {
        worlds.are_sound();
    }
}

impl StateMachineTest for OnBoth {
    type SystemUnderTest = Worlds;
    type Reference = Model;

    fn init_test(_: &Model) -> Worlds {
        Worlds::new(&Backend::all())
    }

    fn apply(worlds: Worlds, model: &Model, act: Act) -> Worlds {
        worlds.does(model, &act)
    }

    fn teardown(worlds: Worlds, _: Model) {
        worlds.are_sound();
    }
}

impl Worlds {
    fn new(backends: &[Backend]) -> Self {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let mut worlds = Vec::new();
        for backend in backends {
            worlds.push(runtime.block_on(backend.world()));
        }
        let (ended, granted) = (BTreeMap::new(), BTreeSet::new());
        Self { runtime, worlds, ended, before: [None, None, None], granted }
    }

    fn does(mut self, model: &Model, act: &Act) -> Self {
        let Self { runtime, worlds, ended, before, granted } = &mut self;
        runtime.block_on(async {
            let mut all_came = Vec::new();
            for world in worlds.iter() {
                let came = world.performs(act).await;
                check_answer(model, &came, act);
                for story in 0..N_STORIES {
                    let expected = model.latest(story).map(|it| it.shows());
                    let shown = world.shows_all(story).await;
                    assert!(shown == expected, "{}", differs(act, before, shown, expected));
                }
                all_came.push(came);
            }
            assert!(all_came.windows(2).all(|it| it[0] == it[1]), "{act:?}: {all_came:#?}");
            // In all of them: a dry run draws ids too, and they are to draw the same.
            for world in worlds.iter() {
                promises::no_ended_handoff_changes(world, ended).await;
                promises::what_waits_is_listed(world).await;
                for story in touched(act) {
                    let Some(row) = world.latest(story).await else { continue };
                    promises::one_has_the_baton(world, &row).await;
                    promises::rows_hang_together(&row.run);
                    moves::somebody_can_move(world, story, &row).await;
                    moves::every_answer_is_taken(world, story, &row).await;
                }
            }
            promises::what_was_lost_is_refused(act, before, granted, &all_came[0]);
            for (story, before) in before.iter_mut().enumerate() {
                let Some(after) = worlds[0].latest(story).await.map(|it| it.run) else { continue };
                if let Some(before) = before.as_ref().filter(|it| it.id == after.id) {
                    promises::gates_wait_for_people(act, before, &after);
                    promises::counters_only_grow(act, before, &after);
                }
                promises::holds(&after, granted);
                *before = Some(after);
            }
        });
        self
    }

    fn are_sound(&self) {
        self.runtime.block_on(async {
            let mut dumps = Vec::new();
            for world in &self.worlds {
                world.is_sound().await;
                dumps.push(dump(world.store.as_ref()).await);
            }
            assert!(dumps.windows(2).all(|it| it[0] == it[1]), "the stores differ: {dumps:#?}");
        });
    }
}

/// The stories that an act could change.
fn touched(act: &Act) -> std::ops::Range<usize> {
    match act.what {
        What::Sweep => 0..N_STORIES,
        What::Wait { .. } => 0..0,
        What::Start { .. } | What::StartAt { .. } | What::Create(_) | What::On(_) => {
            act.story..act.story + 1
        }
    }
}

#[track_caller]
fn check_answer(model: &Model, came: &Came, act: &Act) {
    match (&model.said, came) {
        (Ok(()), Came::Of(_) | Came::Nothing) => {}
        (Ok(()), Came::Swept(swept)) => assert_eq!(*swept, model.swept, "{act:?}"),
        (Err(expected), Came::Refused(code)) => assert_eq!(code, expected, "{act:?}"),
        (said, came) => panic!("{act:?}: the model says {said:?}, the engine {came:?}"),
    }
}

fn differs(
    act: &Act,
    before: &[Option<run::Run>],
    shown: Option<String>,
    expected: Option<String>,
) -> String {
    let before = before[act.story].as_ref().map(|it| &it.handoffs);
    let (shown, expected) = (shown.unwrap_or_default(), expected.unwrap_or_default());
    format!("{act:?}\non {before:#?}\nThe engine shows\n{shown}\nand the model\n{expected}")
}

/// The same acts every time; `PROPTEST_CASES` asks for more, and for others.
fn cases(n_usual: u32) -> Config {
    let asked = Config::default();
    let is_usual = asked.cases == 256;
    Config {
        cases: if is_usual { n_usual } else { asked.cases },
        rng_seed: if is_usual { RngSeed::Fixed(4711) } else { asked.rng_seed },
        failure_persistence: None,
        ..asked
    }
}

prop_state_machine! {
    #![proptest_config(cases(256))]
    #[test]
    fn a_run_does_what_the_model_says_and_can_always_be_moved(sequential 1..70 => InMemory);
}

/// A world in PostgreSQL takes longer to make than to use.
fn cases_on_both() -> u32 {
    match Backend::remembering() {
        Backend::Postgres => 12,
        Backend::Memory | Backend::Sqlite => 48,
    }
}

prop_state_machine! {
    #![proptest_config(cases(cases_on_both()))]
    #[test]
    fn both_stores_do_what_the_model_says_and_keep_the_same(sequential 1..50 => OnBoth);
}
