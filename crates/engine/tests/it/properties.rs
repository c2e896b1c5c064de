//! Whatever is done to a run, in whatever order: it does what the model says, both stores say
//! the same, and somebody can always move the baton.

use std::collections::BTreeMap;

use baton_core::contract::Profile;
use baton_core::gate::Answer;
use baton_core::outcome::Outcome;
use baton_core::run::{State, Wait};
use baton_core::{names::AgentId, run};
use baton_store::{HandoffFilter, HandoffRow, HandoffState};
use baton_store_tests::dump;
use proptest::prelude::*;
use proptest::test_runner::{Config, RngSeed};
use proptest_state_machine::{ReferenceStateMachine, StateMachineTest, prop_state_machine};
use tokio::runtime::Runtime;

use crate::act::{Act, Complete, Create, Order, What};
use crate::flows::{AGENTS, HUMAN, ORCHESTRATOR, Parcel};
use crate::model::Model;
use crate::performs::{Came, STORIES};
use crate::random::{self, Temper};
use crate::world::{Backend, World, dry};

impl ReferenceStateMachine for Model {
    type State = Self;
    type Transition = Act;

    fn init_state() -> BoxedStrategy<Self> {
        prop_oneof![3 => Just(Temper::Lively), 1 => Just(Temper::Stubborn)]
            .prop_map(Model::new)
            .boxed()
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
}

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
        Worlds::new(&Backend::ALL)
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
        Self { runtime, worlds, ended: BTreeMap::new() }
    }

    fn does(mut self, model: &Model, act: &Act) -> Self {
        let Self { runtime, worlds, ended } = &mut self;
        runtime.block_on(async {
            let mut all_came = Vec::new();
            for world in worlds.iter() {
                let came = world.performs(act).await;
                check_answer(model, &came, act);
                for story in 0..STORIES.len() {
                    let expected = model.latest(story).map(|it| it.shows());
                    assert_eq!(world.shows_all(story).await, expected, "after {act:?}");
                }
                all_came.push(came);
            }
            assert!(all_came.windows(2).all(|it| it[0] == it[1]), "{act:?}: {all_came:#?}");
            // In all of them: a dry run draws ids too, and they are to draw the same.
            for world in worlds.iter() {
                no_ended_handoff_changes(world, ended).await;
                for story in 0..STORIES.len() {
                    at_most_one_has_the_baton(world, story).await;
                    somebody_can_move(world, story).await;
                }
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

#[track_caller]
fn check_answer(model: &Model, came: &Came, act: &Act) {
    match (&model.said, came) {
        (Ok(()), Came::Of(_) | Came::Nothing) => {}
        (Ok(()), Came::Swept(n)) => assert_eq!(*n, model.n_swept, "{act:?}"),
        (Err(expected), Came::Refused(code)) => assert_eq!(code, expected, "{act:?}"),
        (said, came) => panic!("{act:?}: the model says {said:?}, the engine {came:?}"),
    }
}

async fn no_ended_handoff_changes(world: &World, ended: &mut BTreeMap<u64, HandoffRow>) {
    for row in world.store.handoffs(&HandoffFilter::default()).await.unwrap() {
        if let Some(before) = ended.get(&row.number) {
            assert_eq!(*before, row, "a finished handoff changed");
        } else if !row.state.is_open() {
            ended.insert(row.number, row);
        }
    }
}

async fn at_most_one_has_the_baton(world: &World, story: usize) {
    let Some(row) = world.latest(story).await else { return };
    let filter = HandoffFilter { run: Some(row.run.id), ..HandoffFilter::default() };
    let rows = world.store.handoffs(&filter).await.unwrap();
    let open: Vec<&HandoffRow> = rows.iter().filter(|it| it.state.is_open()).collect();
    let current = row.run.current();
    let is_expected = match row.run.baton() {
        run::Baton::Offered { .. } => current.is_some_and(|it| it.state == State::Pending),
        run::Baton::Held { .. } => current.is_some_and(|it| it.state == State::Accepted),
        run::Baton::Parked { on: Wait::Person, .. } => current.is_some_and(|it| it.gate.is_some()),
        run::Baton::Loose { .. } => !row.run.is_finished() && open.is_empty(),
        run::Baton::Done => row.run.is_finished() && open.is_empty(),
    };
    assert!(is_expected, "{row:#?}");
    assert!(open.len() <= 1, "more than one is open: {open:#?}");
    let held = HandoffState::Open(State::Accepted);
    let in_run = row.run.handoffs.iter().map(|it| (it.no, HandoffState::Open(it.state)));
    let in_rows = open.iter().map(|it| (it.no, it.state));
    assert!(in_rows.eq(in_run), "{open:#?}");
    assert!(rows.iter().filter(|it| it.state == held).count() <= 1, "two hold: {rows:#?}");
}

/// Whoever has to move an open run has something to say that is not refused.
async fn somebody_can_move(world: &World, story: usize) {
    let Some(row) = world.latest(story).await else { return };
    if row.run.is_finished() {
        return;
    }
    if row.run.status == run::RunStatus::Paused {
        assert!(would(world, story, What::On(Order::Resume)).await, "cannot be resumed: {row:#?}");
        return;
    }
    let mut moves = Vec::new();
    match (row.run.baton(), row.run.current()) {
        (run::Baton::Offered { handoff }, Some(current)) => {
            assert!(!current.to.agent.is_human(), "a person is asked without a gate: {row:#?}");
            moves.push(What::On(Order::Accept {
                no: handoff.0,
                by: Some(known(&current.to.agent)),
            }));
        }
        (run::Baton::Held { handoff }, Some(current)) => {
            let by = Some(known(&current.to.agent));
            for to in std::iter::once(None).chain(AGENTS.into_iter().map(Some)) {
                moves.push(What::On(Order::Complete(Complete {
                    no: handoff.0,
                    by,
                    outcome: Outcome::Success,
                    parcel: Parcel::Full,
                    serial: 1,
                    to,
                    profile: Profile::Strict,
                })));
            }
        }
        (run::Baton::Parked { handoff, .. }, _) => {
            for answer in [Answer::Continue, Answer::Approve] {
                moves.push(What::On(Order::Answer { no: handoff.0, answer }));
            }
        }
        (run::Baton::Loose { .. }, _) => {
            for to in AGENTS {
                moves.push(What::Create(Create {
                    from: ORCHESTRATOR,
                    to,
                    parcel: Parcel::Full,
                    serial: 1,
                    outcome: None,
                    supersedes: None,
                    profile: Profile::Strict,
                }));
            }
        }
        (baton, _) => panic!("open, and the baton is {baton:?}"),
    }
    for what in &moves {
        if would(world, story, what.clone()).await {
            return;
        }
    }
    panic!("nobody can move this: {row:#?}");
}

async fn would(world: &World, story: usize, what: What) -> bool {
    world.tries(&dry("ada"), &Act { story, what }).await.is_ok()
}

fn known(agent: &AgentId) -> &'static str {
    let names = AGENTS.into_iter().chain([ORCHESTRATOR, HUMAN]);
    names.into_iter().find(|it| *it == agent.as_str()).expect("somebody from the flows")
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

prop_state_machine! {
    #![proptest_config(cases(48))]
    #[test]
    fn both_stores_do_what_the_model_says_and_keep_the_same(sequential 1..50 => OnBoth);
}
