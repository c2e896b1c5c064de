//! What goes on beside the commands, on every node: nothing is done twice, and nothing is left out.

use std::sync::Arc;
use std::time::Duration;

use baton_core::command::{Command, LeaseTime};
use baton_core::names::FreeText;
use baton_core::outcome::Outcome as Ended;
use baton_engine::{
    Caller, CheckpointEvery, CheckpointKeeper, CheckpointKeys, Engine, FixedClock, RetentionPass,
    StartRun,
};
use baton_store::{Store, StoreError};
use baton_store_tests::SharedMemory;
use baton_wire::checkpoint::CheckpointKey;
use jiff::SignedDuration;

use super::Cluster;
use crate::archive::Project;
use crate::world::*;

const MINUTE: SignedDuration = SignedDuration::from_mins(1);
const DAY: SignedDuration = SignedDuration::from_hours(24);

#[tokio::test]
async fn sweepers_on_both_nodes_mark_a_handoff_once() {
    let cluster = Cluster::new().await;
    let Cluster { clock, a, b, .. } = &cluster;
    for n in 0..10 {
        a.starts(&format!("s-{n}")).await.unwrap();
    }
    clock.advance(MINUTE * 30);
    let (first, second) = tokio::join!(a.engine.sweep(), b.engine.sweep());
    assert_eq!(first.unwrap().n_stale + second.unwrap().n_stale, 10);
    assert_eq!(cluster.n_events("handoff.stale").await, 10);
    a.is_sound().await;
}

#[tokio::test]
async fn a_sweeper_looks_at_the_run_as_the_other_node_left_it() {
    let Cluster { clock, a, b, .. } = &Cluster::new().await;
    a.starts("s-1").await.unwrap();
    b.on("s-1", accept(1)).await.unwrap();
    clock.advance(MINUTE * 29);
    a.on("s-1", complete(1, Ended::Success, r#"{"plan": "p"}"#)).await.unwrap();
    clock.advance(MINUTE * 31);
    assert_eq!(b.engine.sweep().await.unwrap().n_stale, 1);
}

const ONE_AT_ONCE: &str = "name: small\nstart: work\nsteps:\n  work:\n    agents: [writer, editor]\n    \
                           at_once: 1\n    on: { success: complete }\n";

/// Each node claims other work at the same step, so that no version of a run tells them apart.
#[tokio::test]
async fn claims_at_two_nodes_do_not_take_the_last_place_of_a_step_twice() {
    let Cluster { a, b, .. } = &Cluster::with(|| catalog_of(&[ONE_AT_ONCE], Some("small"))).await;
    for (story, to) in [("s-1", "writer"), ("s-2", "editor")] {
        let start = StartRun { to: Some(agent(to)), ..start(story) };
        a.engine.start(&caller("ada"), start).await.unwrap();
    }
    let (runner, writer, editor) = (caller("runner"), [agent("writer")], [agent("editor")]);
    let lease = LeaseTime::from_seconds(20).unwrap();
    let (first, second) = tokio::join!(
        a.engine.claim(&runner, &writer, lease),
        b.engine.claim(&runner, &editor, lease)
    );
    let first = first.unwrap().unwrap();
    assert_eq!(second.unwrap(), None);
    let done = complete(1, Ended::Success, "{}");
    b.engine.on_run(&caller("ada"), first.run, done).await.unwrap();
    assert!(b.engine.claim(&runner, &editor, lease).await.unwrap().is_some());
}

#[tokio::test]
async fn a_handoff_is_claimed_at_one_node_alone() {
    let Cluster { a, b, .. } = &Cluster::new().await;
    a.starts("s-1").await.unwrap();
    let (runner, analyst) = (caller("runner"), [agent("analyst")]);
    let lease = LeaseTime::from_seconds(20).unwrap();
    let (first, second) = tokio::join!(
        a.engine.claim(&runner, &analyst, lease),
        b.engine.claim(&runner, &analyst, lease)
    );
    assert_eq!([first.unwrap(), second.unwrap()].iter().flatten().count(), 1);
}

#[tokio::test]
async fn two_nodes_drop_old_messages_once() {
    let cluster = Cluster::new().await;
    let Cluster { clock, a, b, .. } = &cluster;
    a.starts("s-1").await.unwrap();
    let words = FreeText::parse("a secret of the customer").unwrap();
    a.on("s-1", Command::Post { by: None, words }).await.unwrap();
    a.on("s-1", Command::CancelRun { reason: None }).await.unwrap();
    clock.advance(DAY * 91);
    let keeper = Caller::of_baton("baton:retention");
    let retain = async |it: &World| it.engine.retain(&keeper, DAY * 90, 0).await.unwrap();
    let (first, second) = tokio::join!(retain(a), retain(b));
    let n_runs = |it: RetentionPass| it.runs.len();
    assert_eq!(n_runs(first) + n_runs(second), 1);
    assert_eq!(cluster.n_events("content.expired").await, 1);
    a.is_sound().await;
}

#[tokio::test]
async fn each_node_archives_everything_to_its_own_disk() {
    let Cluster { shared, a, b, .. } = &Cluster::new().await;
    let (at_a, at_b) = (Project::of(&a.engine), Project::of(&b.engine));
    a.starts("s-1").await.unwrap();
    b.starts("s-2").await.unwrap();
    let n_events = a.store.events(&all_events()).await.unwrap().len() as u64;
    assert_eq!(at_a.archive.behind().await.unwrap(), n_events);
    assert_eq!(at_a.archive.catch_up().await.unwrap().n_runs, 2);
    assert_eq!(at_a.archive.behind().await.unwrap(), 0);
    assert_eq!(at_b.archive.behind().await.unwrap(), n_events);
    assert_eq!(at_b.archive.catch_up().await.unwrap().n_runs, 2);

    shared.hold_back();
    a.on("s-2", accept(1)).await.unwrap();
    at_a.archive.catch_up().await.unwrap();
    shared.let_go();
    assert_eq!(at_a.archive.catch_up().await.unwrap().n_runs, 1, "it has skipped nothing");
    at_b.archive.catch_up().await.unwrap();
    let (mut files, mut others) = (at_a.files(), at_b.files());
    let id = |files: &mut crate::archive::Files| files.remove("state/archive-id").unwrap();
    assert_ne!(id(&mut files), id(&mut others));
    assert_eq!(files, others);

    // The node starts again, and goes on where its files end.
    drop(at_b.archive);
    let restarted =
        baton_views::Archive::new(a.engine.clone(), crate::archive::places(at_b.dir.path()));
    assert_eq!(restarted.behind().await.unwrap(), 0);
}

fn all_events() -> baton_store::EventFilter {
    baton_store::EventFilter { after: baton_store::Position::START, run: None, limit: 0 }
}

struct NodeKey(u8);

impl CheckpointKeys for NodeKey {
    fn key(&self) -> Result<CheckpointKey, StoreError> {
        Ok(CheckpointKey::from_random([self.0; 32]))
    }
}

async fn signing(store: impl Store + 'static, clock: &Arc<FixedClock>, key: u8) -> Arc<Engine> {
    let engine = Engine::open(Arc::new(store), clock.clone(), catalog()).await.unwrap();
    Arc::new(engine.with_checkpoint_keys(Arc::new(NodeKey(key))))
}

#[tokio::test(start_paused = true)]
async fn what_one_node_has_signed_the_other_does_not_sign_again() {
    let shared = SharedMemory::default();
    let clock = Arc::new(FixedClock::at(BEGINNING));
    let nodes = [signing(shared.node(), &clock, 1).await, signing(shared.node(), &clock, 2).await];
    let store = shared.node();
    // Far fewer than there are positions between them.
    nodes[0].start(&caller("ada"), start("s-1")).await.unwrap();
    nodes[1].start(&caller("ada"), start("s-2")).await.unwrap();
    let n_events = store.events(&all_events()).await.unwrap().len() as u64;
    let every = CheckpointEvery { n_events: Some(n_events + 1), time: None };
    let keepers = nodes.clone().map(|it| CheckpointKeeper::start(it, every));
    tokio::time::sleep(Duration::from_secs(30)).await;
    assert_eq!(store.checkpoints(0, 0).await.unwrap().len(), 0, "one event is missing");

    let run = store.run(&baton_store::RunRef::Number(1)).await.unwrap().unwrap().run.id;
    nodes[0].on_run(&caller("ada"), run, accept(1)).await.unwrap();
    tokio::time::sleep(Duration::from_secs(30)).await;
    assert_eq!(store.checkpoints(0, 0).await.unwrap().len(), 1);
    for keeper in keepers {
        keeper.stop().await;
    }
}
