//! Commands that share a commit: each is kept or rolled back alone, and all fail if the commit
//! fails.

use std::sync::{Arc, mpsc};

use baton_files::Dir;
use baton_store::StoreError;
use rusqlite::Connection;

use crate::error::to_store;
use crate::judge::Judgement;
use crate::mark::StoredMark;
use crate::marker::MarkWriter;
use crate::watch::WriteGuard;
use crate::writer::Writer;
use crate::{MarkState, connect, migrate};

const SCHEMA: &str = "create table parents (id integer primary key);
    create table children (parent integer references parents deferrable initially deferred);";

#[tokio::test]
async fn a_refused_command_is_undone_alone() {
    let (writer, connections) = fresh();
    let refused = |it: &Connection| {
        add_parent(it, 2)?;
        Err::<(), _>(StoreError::Nul)
    };
    let (first, second, third) =
        together(&writer, |it| add_parent(it, 1), refused, |it| add_parent(it, 3)).await;
    assert!(first.is_ok() && third.is_ok(), "{first:?} {third:?}");
    assert!(matches!(second, Err(StoreError::Nul)), "{second:?}");
    assert_eq!(parents(&connections), [1, 3]);
}

#[tokio::test]
async fn a_command_that_fails_before_it_writes_is_left_out() {
    let (writer, connections) = fresh();
    let refused = |_: &Connection| Err::<(), _>(StoreError::Nul);
    let (first, second, third) =
        together(&writer, |it| add_parent(it, 1), refused, |it| add_parent(it, 3)).await;
    assert!(first.is_ok() && third.is_ok(), "{first:?} {third:?}");
    assert!(matches!(second, Err(StoreError::Nul)), "{second:?}");
    assert_eq!(parents(&connections), [1, 3]);
}

/// A refusal may rest on rows that were rolled back with the group, so it is not reported then.
#[tokio::test]
async fn a_refusal_in_a_group_that_fails_is_a_failure_too() {
    let (writer, _connections) = fresh();
    let refused = |_: &Connection| Err::<(), _>(StoreError::Nul);
    let orphan = |it: &Connection| run(it, "insert into children values (99)");
    let (_, second, _) = together(&writer, |it| add_parent(it, 1), refused, orphan).await;
    assert!(matches!(second, Err(StoreError::Unavailable(_))), "{second:?}");
}

#[tokio::test]
async fn a_failed_commit_fails_every_command() {
    let (writer, connections) = fresh();
    // Detected only at the end of the transaction.
    let orphan = |it: &Connection| run(it, "insert into children values (99)");
    let (first, second, third) =
        together(&writer, |it| add_parent(it, 1), orphan, |it| add_parent(it, 3)).await;
    for result in [first, second, third] {
        assert!(matches!(result, Err(StoreError::Unavailable(_))), "{result:?}");
    }
    assert_eq!(parents(&connections), Vec::<i64>::new());
    writer.write(|it| add_parent(it, 4)).await.unwrap();
    assert_eq!(parents(&connections), [4]);
}

#[tokio::test]
async fn a_transaction_that_ends_by_itself_keeps_nothing() {
    let (writer, connections) = fresh();
    // As SQLite does on a full disk.
    let lost = |it: &Connection| {
        run(it, "rollback")?;
        Err::<(), _>(StoreError::Nul)
    };
    let (first, second, third) =
        together(&writer, |it| add_parent(it, 1), lost, |it| add_parent(it, 3)).await;
    assert!(matches!(first, Err(StoreError::Unavailable(_))), "{first:?}");
    assert!(matches!(second, Err(StoreError::Unavailable(_))), "{second:?}");
    assert!(matches!(third, Err(StoreError::Unavailable(_))), "{third:?}");
    assert_eq!(parents(&connections), Vec::<i64>::new());
    writer.write(|it| add_parent(it, 4)).await.unwrap();
    assert_eq!(parents(&connections), [4]);
}

#[tokio::test]
async fn what_waits_is_finished_before_the_close() {
    let (writer, connections) = fresh();
    let (first, second, ()) = tokio::join!(
        writer.write(|it| add_parent(it, 1)),
        writer.write(|it| add_parent(it, 2)),
        writer.close()
    );
    assert!(first.is_ok() && second.is_ok());
    assert_eq!(parents(&connections), [1, 2]);
    let late = writer.write(|it| add_parent(it, 3)).await;
    assert!(matches!(late, Err(StoreError::Closed)), "{late:?}");
}

#[tokio::test]
async fn work_goes_on_when_nobody_waits_for_it() {
    let (writer, connections) = fresh();
    {
        let mut write = std::pin::pin!(writer.write(|it| add_parent(it, 1)));
        // Once polled it is sent; then its sender gives up.
        tokio::select! {
            biased;
            _ = &mut write => {}
            () = std::future::ready(()) => {}
        }
    }
    writer.write(|it| add_parent(it, 2)).await.unwrap();
    assert_eq!(parents(&connections), [1, 2]);
}

type Kept = (tempfile::TempDir, Connection);

fn fresh() -> (Writer, Kept) {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join(crate::FILE);
    let mut connection = connect::writing(&path).unwrap();
    migrate::migrate(&mut connection, &path, migrate::MIGRATIONS).unwrap();
    connection.execute_batch(SCHEMA).unwrap();
    let reader = connect::reading(&path).unwrap();
    let judgement = Judgement { mark: StoredMark::None, has_database: true, is_unclean: false };
    let files = Dir::open(dir.path()).unwrap();
    let marker =
        MarkWriter::start(files, &mut connection, &judgement, MarkState::NeverWritten).unwrap();
    let guard = Arc::new(WriteGuard::of(Dir::open(dir.path()).unwrap(), dir.path()));
    (Writer::start(connection, Some(marker), guard).unwrap(), (dir, reader))
}

/// Sends three commands while the writer thread is blocked, so that they form one group.
async fn together(
    writer: &Writer,
    first: impl Fn(&Connection) -> Result<(), StoreError> + Send + 'static,
    second: impl Fn(&Connection) -> Result<(), StoreError> + Send + 'static,
    third: impl Fn(&Connection) -> Result<(), StoreError> + Send + 'static,
) -> (Result<(), StoreError>, Result<(), StoreError>, Result<(), StoreError>) {
    let (started, mut has_started) = tokio::sync::mpsc::unbounded_channel();
    let (release, is_released) = mpsc::channel();
    let hold = writer.write(move |_| {
        started.send(()).unwrap();
        is_released.recv().unwrap();
        Ok::<_, StoreError>(())
    });
    let group = async {
        has_started.recv().await.unwrap();
        // Polled in this order: all three are sent before the thread continues.
        let release = async { release.send(()).unwrap() };
        tokio::join!(
            biased;
            writer.write(move |it| first(it)),
            writer.write(move |it| second(it)),
            writer.write(move |it| third(it)),
            release
        )
    };
    let (held, (first, second, third, ())) = tokio::join!(hold, group);
    held.unwrap();
    (first, second, third)
}

fn add_parent(connection: &Connection, id: i64) -> Result<(), StoreError> {
    run(connection, &format!("insert into parents values ({id})"))
}

fn run(connection: &Connection, sql: &str) -> Result<(), StoreError> {
    connection.execute_batch(sql).map_err(to_store)
}

fn parents((_, reader): &Kept) -> Vec<i64> {
    let mut statement = reader.prepare("select id from parents order by id").unwrap();
    statement.query_map([], |row| row.get(0)).unwrap().collect::<Result<_, _>>().unwrap()
}
