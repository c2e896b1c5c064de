//! Numbers that no hash proves: a bit in one makes it huge. It is not believed, and nothing
//! overflows.

use baton_core::names::StoryKey;
use baton_core::story::Story;
use baton_recover::MissingReason;
use baton_store::Store as _;
use baton_store_sqlite::SqliteStore;
use jiff::Timestamp;
use rusqlite::Connection;

use crate::wreckage::{
    DATABASE, Newest, Recovered, Wreckage, is_all_there, recovered, recovered_with,
};

const HUGE: [i64; 3] = [i64::MAX, 1 << 62, 1 << 33];

/// Runs a statement on a copy of the database, in which `?1` is a huge number, and recovers.
async fn after(wreckage: &Wreckage, sql: &str, huge: i64) -> Recovered {
    let copied = wreckage.copied();
    {
        let connection = Connection::open(copied.path().join(DATABASE)).unwrap();
        connection.pragma_update(None, "foreign_keys", false).unwrap();
        assert!(connection.execute(sql, [huge]).unwrap() > 0, "{sql}");
    }
    recovered(copied.path()).await
}

/// The last numbers that were given, with which the next ones begin.
fn last_given(it: &Recovered) -> Vec<i64> {
    let path = it.dir.path().join(baton_recover::RESULT).join(DATABASE);
    let connection = Connection::open(path).unwrap();
    let mut statement = connection.prepare("select seq from sqlite_sequence").unwrap();
    let last = statement.query_map([], |row| row.get(0)).unwrap();
    last.map(Result::unwrap).collect()
}

#[tokio::test]
async fn a_huge_number_is_not_believed() {
    let wreckage = Wreckage::make(Newest::InTheDatabase).await;
    for sql in [
        "update events set position = ?1 where position = (select max(position) from events)",
        "update events set position = ?1 where position = 40",
        "update events set run_number = ?1 where position = (select max(position) from events)",
        "update handoffs set number = ?1 where number = (select max(number) from handoffs)",
        "update handoffs set run_number = ?1 where number = 3",
        "update runs set number = ?1 where number = 12",
        "update stories set rowid = ?1 where key = 'late-6'",
        "update identity set mark = ?1",
    ] {
        for huge in HUGE {
            let it = after(&wreckage, sql, huge).await;
            let what = format!("{sql}, {huge}: {:#?}", it.report.lines());
            assert!(it.report.n_unknown_events < 10, "{what}");
            assert!(it.report.n_unknown_stories < 2, "{what}");
            assert!(it.report.missing.iter().all(|it| it.run_number <= 12), "{what}");
            assert!(it.report.saved.n_runs >= 11, "{what}");
            assert!(last_given(&it).iter().all(|last| *last < 10_000), "{what}");
        }
    }
}

#[tokio::test]
async fn a_position_that_is_ahead_of_the_rest_of_its_run_costs_none_of_the_others() {
    let wreckage = Wreckage::make(Newest::InTheDatabase).await;
    let sql = "update events set position = ?1 where position = 40";
    let it = after(&wreckage, sql, 5_000).await;
    assert!(is_all_there(&it), "{:#?}", it.report.lines());
    let whole = recovered(wreckage.dir.path()).await;
    assert_eq!(it.report.saved.last_position, whole.report.saved.last_position);
}

#[tokio::test]
async fn a_story_that_the_archive_has_is_not_missing() {
    let wreckage = Wreckage::make(Newest::InTheDatabase).await;
    let copied = wreckage.copied();
    let connection = Connection::open(copied.path().join(DATABASE)).unwrap();
    connection.execute("delete from stories where rowid in (2, 5)", []).unwrap();
    drop(connection);
    let it = recovered_with(copied.path(), Some(wreckage.project.path())).await;
    assert_eq!(it.report.n_unknown_stories, 0, "{:#?}", it.report.lines());
    assert!(is_all_there(&it), "{:#?}", it.report.lines());
}

#[tokio::test]
async fn a_lost_story_without_a_run_is_named_by_the_log_of_stories() {
    let wreckage = Wreckage::make(Newest::InTheDatabase).await;
    for (also, is_named) in [
        ("", true),
        // A key that its link in the chain does not prove is not believed.
        ("update story_log set key = 'other' where key = 'waits'", false),
    ] {
        let copied = wreckage.copied();
        let store = SqliteStore::open(copied.path()).unwrap();
        let story = Story::named(StoryKey::parse("waits").unwrap());
        assert!(store.add_story(&story, Timestamp::UNIX_EPOCH).await.unwrap());
        store.close().await;
        drop(store);
        let connection = Connection::open(copied.path().join(DATABASE)).unwrap();
        connection.pragma_update(None, "secure_delete", true).unwrap();
        connection.execute("delete from stories where key = 'waits'", []).unwrap();
        connection.execute_batch(also).unwrap();
        drop(connection);
        let it = recovered(copied.path()).await;
        let is_there = it.report.bare_stories.iter().any(|it| it.as_str() == "waits");
        assert_eq!(is_there, is_named, "{also}: {:#?}", it.report.lines());
        assert!(it.report.bare_stories.iter().all(|it| it.as_str() != "other"), "{also}");
    }
}

#[tokio::test]
async fn the_report_names_the_true_reason() {
    let wreckage = Wreckage::make(Newest::InTheDatabase).await;
    for (sql, why) in [
        (
            "update events set body = replace(body, 'story', 'stury')
             where version = 1 and run_number = min(?1, 3)",
            MissingReason::StartChanged,
        ),
        (
            "delete from events where version = 1 and run_number = min(?1, 3)",
            MissingReason::EventsLost,
        ),
    ] {
        let copied = wreckage.copied();
        let connection = Connection::open(copied.path().join(DATABASE)).unwrap();
        connection.pragma_update(None, "secure_delete", true).unwrap();
        assert_eq!(connection.execute(sql, [3]).unwrap(), 1, "{sql}");
        drop(connection);
        let it = recovered(copied.path()).await;
        let found = it.report.missing.iter().find(|it| it.run_number == 3).map(|it| it.why);
        assert_eq!(found, Some(why), "{:#?}", it.report.lines());
    }
}
