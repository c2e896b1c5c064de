//! The archivist, which follows the log while a server runs.

use std::time::Duration;

use baton_views::{ArchiveHealth, Archivist};

use super::*;

/// Longer than anything takes that is going to happen at all.
const LONG: Duration = Duration::from_secs(30);

/// Waits until everything that has happened is on disk.
async fn is_written(world: &World, archive: &Archive) {
    let tip = world.store.last_position().await.unwrap();
    let is_there = |it: &ArchiveHealth| matches!(it, ArchiveHealth::Well { upto } if *upto >= tip);
    becomes(archive, is_there).await;
}

async fn becomes(archive: &Archive, is_there: impl FnMut(&ArchiveHealth) -> bool) {
    let mut health = archive.health();
    tokio::time::timeout(LONG, health.wait_for(is_there)).await.expect("it happens").unwrap();
}

#[tokio::test]
async fn the_archivist_follows_the_log_and_outlives_a_failing_disk() {
    let world = Backend::Memory.world().await;
    let project = Project::of(&world.engine);
    assert_eq!(*project.archive.health().borrow(), ArchiveHealth::Off);
    world.starts("S-1").await.unwrap();
    let archivist = Archivist::start(project.archive.clone());
    is_written(&world, &project.archive).await;
    let page = format!("{}/session.md", session(&world, "S-1").await);
    std::fs::remove_file(project.path(&page)).unwrap();
    std::fs::create_dir_all(project.path(&page).join("in-the-way")).unwrap();
    world.on("S-1", accept(1)).await.unwrap();
    let is_failing = |it: &ArchiveHealth| matches!(it, ArchiveHealth::Failing { problem } if problem.contains("session.md"));
    becomes(&project.archive, is_failing).await;
    assert!(project.archive.behind().await.unwrap() > 0);
    // Nobody waits for it.
    world.hands("S-1", "analyst", "implementer", r#"{"plan":"p"}"#).await.unwrap();
    std::fs::remove_dir_all(project.path(&page)).unwrap();
    is_written(&world, &project.archive).await;
    archivist.stop().await;
    assert_eq!(project.files(), rebuilt(&world).await);
}

#[tokio::test]
async fn an_archive_is_made_again_beside_its_archivist_and_without_one() {
    let world = Backend::Memory.world().await;
    let project = Project::of(&world.engine);
    world.starts("S-1").await.unwrap();
    let archivist = Archivist::start(project.archive.clone());
    is_written(&world, &project.archive).await;
    let expected = project.files();
    std::fs::remove_dir_all(project.path(".project")).unwrap();
    assert_eq!(project.archive.rebuild_to_the_end().await.unwrap().n_runs, 1);
    assert_eq!(project.files(), expected);
    std::fs::remove_dir_all(project.path(".project")).unwrap();
    std::fs::write(project.path(".project"), "in the way").unwrap();
    let error = project.archive.rebuild_to_the_end().await.unwrap_err();
    assert_eq!(error.code(), "archive_failing");
    assert!(error.to_string().contains(".project"), "{error}");
    archivist.stop().await;
    std::fs::remove_file(project.path(".project")).unwrap();
    let status = project.archive.status().await.unwrap();
    assert_eq!((status.problem, status.n_behind), (None, 0));
    assert_eq!(project.files(), expected);
}

#[tokio::test]
async fn the_archivist_ends_with_the_engine() {
    let world = Backend::Sqlite.world().await;
    let project = Project::of(&world.engine);
    world.starts("S-1").await.unwrap();
    let archivist = Archivist::start(project.archive.clone());
    is_written(&world, &project.archive).await;
    world.engine.shutdown().await;
    archivist.stop().await;
    assert!(project.path("state/current.json").exists());
}
