//! What a node remembers is never believed where another node may have changed it.

use baton_core::command::Command;
use baton_core::names::FreeText;
use baton_core::outcome::Outcome as Ended;
use baton_core::run::RunId;
use baton_engine::{Attempt, Caller, REDACTED_TEXT, Text};
use baton_store::RunRef;

use super::Cluster;
use crate::world::*;

#[tokio::test]
async fn commands_on_one_run_may_alternate_between_the_nodes() {
    let Cluster { a, b, .. } = &Cluster::new().await;
    let run = a.starts("s-1").await.unwrap().run;
    b.on("s-1", accept(1)).await.unwrap();
    a.on("s-1", complete(1, Ended::Success, r#"{"plan": "p"}"#)).await.unwrap();
    // The first node does not remember what the second has done, and the other way round.
    let again = b.engine.on_run(&caller("ada"), run, accept(1)).await.unwrap_err();
    assert_eq!(again.code(), "finished");
    b.on("s-1", accept(2)).await.unwrap();
    a.on("s-1", reject(2, "no")).await.unwrap();
    assert_eq!(a.shows("s-1").await, b.shows("s-1").await);
    a.is_sound().await;
}

#[tokio::test]
async fn a_dry_run_is_decided_on_what_the_other_node_did() {
    let Cluster { a, b, .. } = &Cluster::new().await;
    let run = b.starts("s-1").await.unwrap().run;
    a.on("s-1", accept(1)).await.unwrap();
    let error = b.engine.on_run(&dry("ada"), run, accept(1)).await.unwrap_err();
    assert_eq!(error.code(), "already_accepted");
}

#[tokio::test]
async fn a_command_that_finds_nothing_to_do_has_looked_at_the_store() {
    let Cluster { a, b, .. } = &Cluster::new().await;
    let run = a.starts("s-1").await.unwrap().run;
    b.on("s-1", accept(1)).await.unwrap();
    a.on("s-1", complete(1, Ended::Success, r#"{"plan": "p"}"#)).await.unwrap();
    // As the other node remembers the run, nothing is pending in it.
    let clean_up = Command::CleanUp { reason: None };
    let outcome = b.engine.on_run(&caller("ada"), run, clean_up).await.unwrap();
    assert_eq!(outcome.rows.len(), 1);
    assert_eq!(outcome.rows[0].state.name(), "cancelled");
}

#[tokio::test]
async fn a_story_that_ended_and_began_again_elsewhere_is_found_in_its_new_run() {
    let Cluster { a, b, .. } = &Cluster::new().await;
    b.hands("s-1", "analyst", "implementer", r#"{"plan": "p"}"#).await.unwrap();
    a.on("s-1", Command::CancelRun { reason: None }).await.unwrap();
    let second = a.starts("s-1").await.unwrap().run;
    a.on("s-1", accept(1)).await.unwrap();
    let made = b.hands("s-1", "analyst", "implementer", r#"{"plan": "p"}"#).await.unwrap();
    assert_eq!(made.run, second);
    a.is_sound().await;
}

#[tokio::test]
async fn the_attempt_of_a_run_that_began_elsewhere_is_not_taken_for_another_runs() {
    let Cluster { a, b, .. } = &Cluster::new().await;
    b.hands("s-1", "analyst", "implementer", r#"{"plan": "p"}"#).await.unwrap();
    a.on("s-1", Command::CancelRun { reason: None }).await.unwrap();
    let second = a.starts("s-1").await.unwrap().run;
    a.on("s-1", lease(1, 20)).await.unwrap();
    let handoff = a.row(second, 1).await.id;
    let attempt = Some(Attempt { agent: agent("analyst"), handoff, fence: 1 });
    let holder = Caller { attempt, ..caller("analyst") };
    let create = create("analyst", "implementer", r#"{"plan": "p"}"#);
    let made = b.engine.create(&holder, of_story("s-1"), create).await.unwrap();
    assert_eq!(made.run, second);
}

#[tokio::test]
async fn a_text_that_one_node_redacted_is_not_shown_by_another() {
    let Cluster { a, b, .. } = &Cluster::new().await;
    let run = b.starts("s-1").await.unwrap().run;
    let reason = b.row(run, 1).await.reason;
    assert_ne!(shown(b, run).await, REDACTED_TEXT);
    let why = FreeText::parse("a name").unwrap();
    a.engine.redact(&caller("grace"), run, &[reason], &why).await.unwrap();
    assert_eq!(shown(b, run).await, REDACTED_TEXT);
    assert_eq!(shown(a, run).await, REDACTED_TEXT);
    a.is_sound().await;
}

/// The reason of the first handoff, as a node shows it.
async fn shown(world: &World, run: RunId) -> String {
    let row = world.row(run, 1).await;
    let texts = world.reads().words_of(std::slice::from_ref(&row)).await.unwrap();
    match texts.get(row.reason) {
        Text::Whole(text) => text.to_owned(),
        text @ (Text::Gone | Text::Damaged) => panic!("{text:?}"),
    }
}

#[tokio::test]
async fn two_nodes_redact_a_text_once() {
    let cluster = Cluster::new().await;
    let Cluster { a, b, .. } = &cluster;
    let run = a.starts("s-1").await.unwrap().run;
    let reason = a.row(run, 1).await.reason;
    let why = FreeText::parse("a name").unwrap();
    let (grace, ids) = (caller("grace"), [reason]);
    let (first, second) = tokio::join!(
        a.engine.redact(&grace, run, &ids, &why),
        b.engine.redact(&grace, run, &ids, &why)
    );
    first.unwrap();
    second.unwrap();
    assert_eq!(cluster.n_events("content.redacted").await, 1);
    assert!(a.store.run(&RunRef::Id(run)).await.unwrap().is_some());
}
