//! A kill at any step of an identity change leaves the old or the new row, each with its own
//! checksum: never one without the other.

use std::fs;
use std::path::Path;
use std::sync::{Arc, Mutex};

use baton_store::Store as _;
use rusqlite::Connection;
use tempfile::TempDir;
use uuid::Uuid;

use crate::migrate::{MIGRATIONS, migrate};
use crate::{FILE, SqliteStore, connect, identity};

/// The project, the epoch, the mark and the checksum.
type IdentityColumns = ([u8; 16], String, i64, Option<i64>);

type Change = fn(&Connection) -> rusqlite::Result<()>;

const CHANGES: [(&str, Change); 4] = [
    ("count_up", identity::count_up),
    ("raise_mark", |it| identity::raise_mark(it, 77)),
    ("begin_epoch", identity::begin_epoch),
    ("set_project", |it| identity::set_project(it, Uuid::from_bytes([7; 16]))),
];

#[tokio::test]
async fn a_kill_between_the_steps_leaves_no_half_identity() {
    for (name, change) in CHANGES {
        let dir = tempfile::tempdir().unwrap();
        SqliteStore::open(dir.path()).unwrap().close().await;
        let mut connection = connect::writing(&dir.path().join(FILE)).unwrap();
        let before = columns(&connection);
        let kills = kills_during(dir.path(), &mut connection);
        change(&connection).unwrap();
        let after = columns(&connection);
        assert_ne!(before, after, "{name}");

        let kills = kills.lock().unwrap();
        assert!(kills.len() >= 3, "{name}: the row, its checksum and the commit: {}", kills.len());
        for (step, kill) in kills.iter().enumerate() {
            let left = columns(&connect::writing(&kill.path().join(FILE)).unwrap());
            assert!(left == before || left == after, "{name}, step {step}: {left:?}");
            assert_eq!(left.3, Some(identity::checksum(&left.0, &left.1, left.2)), "{name}");
        }
    }
}

#[tokio::test]
async fn a_database_whose_making_was_killed_gets_one_whole_identity() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join(FILE);
    let mut connection = connect::writing(&path).unwrap();
    let kills = kills_during(dir.path(), &mut connection);
    migrate(&mut connection, &path, MIGRATIONS).unwrap();

    let kills = std::mem::take(&mut *kills.lock().unwrap());
    assert!(kills.len() > MIGRATIONS.len(), "{}", kills.len());
    for (step, kill) in kills.iter().enumerate() {
        let store = SqliteStore::open(kill.path()).unwrap_or_else(|it| panic!("step {step}: {it}"));
        assert_eq!(store.check().await.unwrap().problems, Vec::<String>::new(), "step {step}");
        store.close().await;
        let left = columns(&connect::writing(&kill.path().join(FILE)).unwrap());
        assert_eq!(left.3, Some(identity::checksum(&left.0, &left.1, left.2)), "step {step}");
    }
}

/// What a kill would leave on disk: at each row written from now on, and before each commit.
fn kills_during(dir: &Path, connection: &mut Connection) -> Arc<Mutex<Vec<TempDir>>> {
    let kills = Arc::new(Mutex::new(Vec::new()));
    let keep = {
        let (dir, kills) = (dir.to_owned(), kills.clone());
        move || kills.lock().unwrap().push(copied(&dir))
    };
    let at_commit = keep.clone();
    connection.update_hook(Some(move |_, _: &str, _: &str, _| keep())).unwrap();
    let commit = move || {
        at_commit();
        false
    };
    connection.commit_hook(Some(commit)).unwrap();
    kills
}

fn copied(dir: &Path) -> TempDir {
    let copy = tempfile::tempdir().unwrap();
    for name in [FILE.to_owned(), format!("{FILE}-wal")] {
        if dir.join(&name).exists() {
            fs::copy(dir.join(&name), copy.path().join(&name)).unwrap();
        }
    }
    copy
}

fn columns(connection: &Connection) -> IdentityColumns {
    let sql = "select project, epoch, mark, checksum from identity";
    connection
        .query_row(sql, [], |it| Ok((it.get(0)?, it.get(1)?, it.get(2)?, it.get(3)?)))
        .unwrap()
}
