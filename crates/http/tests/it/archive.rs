//! What a server tells of its archive.

use std::path::Path;
use std::time::Duration;

use baton_views::{ArchiveHealth, ArchivePlaces, Archivist};

use tokio::time::timeout;

use crate::client::Site;

/// Longer than anything takes that is going to happen at all.
const LONG: Duration = Duration::from_secs(30);

#[tokio::test]
async fn a_server_tells_how_far_behind_its_archive_is_and_makes_it_again() {
    let site = Site::open().await;
    let project = tempfile::tempdir().unwrap();
    assert!(!site.get("/metrics").await.body.contains("baton_archive_behind"));
    let refused = site.post("/api/v1/archive/rebuild", "{}").await;
    assert_eq!(refused.status, 404, "{}", refused.body);
    let refused = site.get("/api/v1/archive").await;
    assert_eq!(refused.status, 404, "{}", refused.body);
    assert!(refused.body.contains("no_archive"), "{}", refused.body);
    let (site, archive) = Site::open_with_archive(places(project.path())).await;
    std::fs::write(project.path().join("state"), "in the way").unwrap();
    let mut health = archive.health();
    let archivist = Archivist::start(archive);
    site.post("/api/handoffs", FIRST).await;
    let failing = health.wait_for(|it| matches!(it, ArchiveHealth::Failing { .. }));
    drop(timeout(LONG, failing).await.expect("it fails").unwrap());
    let metrics = site.get("/metrics").await.body;
    let behind = metrics.lines().find_map(|it| it.strip_prefix("baton_archive_behind "));
    assert!(behind.unwrap().parse::<u64>().unwrap() > 0, "{metrics}");
    let ready = site.get("/readyz").await;
    assert_eq!((ready.status, ready.body.as_str()), (200, "ready, but the archive is behind\n"));
    let failing = site.ask("POST", "/api/v1/archive/rebuild", &[], "{}").await;
    assert_eq!(failing.status, 503, "{}", failing.body);
    assert!(failing.body.contains("archive_failing"), "{}", failing.body);
    assert!(
        failing
            .body
            .contains("`state` is a file, where Baton needs a folder: move it out of the way"),
        "{}",
        failing.body
    );
    let archive = site.get("/api/v1/archive").await.body;
    assert!(
        archive.contains(
            r#""problem":"`state` is a file, where Baton needs a folder: move it out of the way""#
        ),
        "{archive}"
    );
    std::fs::remove_file(project.path().join("state")).unwrap();
    let rebuilt = site.post("/api/v1/archive/rebuild", "{}").await;
    assert_eq!((rebuilt.status, rebuilt.body.as_str()), (200, REBUILT));
    assert!(project.path().join("state/current.json").exists());
    let well = health.wait_for(|it| matches!(it, ArchiveHealth::Well { .. }));
    drop(timeout(LONG, well).await.expect("it is well again").unwrap());
    assert!(site.get("/metrics").await.body.contains("baton_archive_behind 0\n"));
    assert_eq!(site.get("/readyz").await.body, "ready\n");
    archivist.stop().await;
}

#[tokio::test]
async fn a_rebuild_that_is_asked_for_in_other_words_is_not_carried_out() {
    let project = tempfile::tempdir().unwrap();
    let (site, _) = Site::open_with_archive(places(project.path())).await;
    site.post("/api/handoffs", FIRST).await;
    for (query, expected) in [
        ("foo=1", "unknown: `foo`; known here: dryRun"),
        ("dryRun=true&foo=1", "unknown: `foo`; known here: dryRun"),
        ("dryRun=true", "a rebuild cannot be rehearsed: leave `dryRun` out"),
        ("dryRun=true&dryRun=false", "`dryRun` is there twice"),
        ("dryRun=perhaps", "`dryRun` has to be true or false"),
    ] {
        let refused = site.post(&format!("/api/v1/archive/rebuild?{query}"), "{}").await;
        assert_eq!(refused.status, 400, "{query}: {}", refused.body);
        assert!(refused.body.contains(expected), "{query}: {}", refused.body);
        assert!(!project.path().join("state").exists(), "{query}");
    }
    let rebuilt = site.post("/api/v1/archive/rebuild?dryRun=false", "{}").await;
    assert_eq!((rebuilt.status, rebuilt.body.as_str()), (200, REBUILT));
    assert!(project.path().join("state/current.json").exists());
}

fn places(root: &Path) -> ArchivePlaces {
    ArchivePlaces { root: root.to_owned(), state: "state".into(), sessions: "sessions".into() }
}

const REBUILT: &str = r#"{"runs":1,"unreadable":0,"unknownSessions":0,"keptSessions":0}"#;
const FIRST: &str = r#"{"action":"create","storyId":"S-1","fromAgent":"analyst","toAgent":"implementer","payload":{"plan":"p"}}"#;
