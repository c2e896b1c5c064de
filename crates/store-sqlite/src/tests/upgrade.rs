//! All data of an older Baton survives the migration to this schema.

use std::path::Path;
use std::sync::Arc;

use baton_core::story::Story;
use baton_store::{Append, DueChange, HandoffFilter, Store as _};
use baton_store_tests::{dump, sample::*};
use rusqlite::Connection;

use crate::append::Prepared;
use crate::migrate::{MIGRATIONS, migrate};
use crate::{FILE, SqliteStore, append, connect};

/// A row of the view, every column as text.
const VIEW: &str = "select concat_ws('|', id, story_id, from_agent, to_agent, status, payload,
    rejection_reason, created_at, processed_at) from agent_handoffs order by id";
const INDEXES: &str = "select name || ' ' || sql from sqlite_schema
    where type = 'index' and tbl_name = 'handoffs' and sql is not null
        and name not like 'handoffs_o%' and name <> 'handoffs_unmoved'
    order by name";
const COLUMNS: &str = "select concat_ws(' ', cid, name, type, \"notnull\", dflt_value, pk)
    from pragma_table_info('handoffs') order by cid";

#[tokio::test]
async fn handoffs_keep_everything_when_they_may_be_questions() {
    let dir = tempfile::tempdir().unwrap();
    let tales: Vec<_> = (1..=3).map(|n| tale(n, &format!("s-{n}"))).collect();
    let [view, indexes, columns] = {
        let connection = at_schema(dir.path(), 1);
        append_without_score(&connection, tales.iter().flatten());
        [VIEW, INDEXES, COLUMNS].map(|sql| lines(&connection, sql))
    };
    assert_eq!((view.len(), indexes.len(), columns.len()), (6, 1, 23));

    let store = SqliteStore::open(dir.path()).unwrap();
    let connection = connect::reading(&dir.path().join(FILE)).unwrap();
    assert_eq!(lines(&connection, VIEW), view);
    assert_eq!(lines(&connection, INDEXES), indexes);
    // Later migrations add columns at the end.
    assert_eq!(lines(&connection, COLUMNS)[..columns.len()], columns);
    assert_eq!(store.check().await.unwrap().problems, Vec::<String>::new());

    // The same as if this Baton had received the commands.
    let fresh = tempfile::tempdir().unwrap();
    let other = SqliteStore::open(fresh.path()).unwrap();
    put_all(&other, &tales.concat()).await;
    assert_eq!(dump(&store).await, dump(&other).await);
}

#[tokio::test]
async fn a_number_once_given_is_not_given_again_after_the_upgrade() {
    for left in ["number < 2", "number < 0"] {
        let dir = tempfile::tempdir().unwrap();
        let connection = at_schema(dir.path(), 1);
        append_without_score(&connection, &tale(1, "s-1"));
        connection.execute(&format!("delete from handoffs where not ({left})"), []).unwrap();
        drop(connection);
        let store = SqliteStore::open(dir.path()).unwrap();
        let first = start(2, "s-2");
        put_all(&store, &[first.clone(), hand_to(&first, "bea")]).await;
        let rows = store.handoffs(&HandoffFilter::default()).await.unwrap();
        assert_eq!(rows.last().unwrap().number, 3, "{left}");
    }
}

#[tokio::test]
async fn runs_that_wait_are_listed_after_the_upgrade() {
    let dir = tempfile::tempdir().unwrap();
    let connection = at_schema(dir.path(), 2);
    for n in 1..=6 {
        let first = start(n, &format!("s-{n}"));
        let second = hand_to(&first, "bea");
        append_without_score(&connection, &[first, second]);
    }
    for edit in [
        "update runs set state = json_set(state, '$.handoffs[0].gate', json('{}')) where number = 1",
        "update runs set state = json_set(state, '$.handoffs[0].kind', 'question') where number = 2",
        "update runs set state = json_set(state, '$.blockers', json('[{}]')) where number = 3",
        "update runs set baton = 'loose' where number = 4",
        "update runs set state = 'spoiled' where number = 5",
    ] {
        assert_eq!(connection.execute(edit, []).unwrap(), 1, "{edit}");
    }
    drop(connection);
    drop(SqliteStore::open(dir.path()).unwrap());
    let connection = connect::reading(&dir.path().join(FILE)).unwrap();
    let waiting = lines(&connection, "select cast(run_number as text) from waiting");
    assert_eq!(waiting, ["1", "2", "3", "4", "5"]);
}

/// Only the workflows know when a run is due: each run is checked once.
#[tokio::test]
async fn open_runs_are_due_at_once_after_the_upgrade() {
    let dir = tempfile::tempdir().unwrap();
    let connection = at_schema(dir.path(), 3);
    for n in 1..=4 {
        append::append(&connection, &prepared(&start(n, &format!("s-{n}")))).unwrap();
    }
    let story = "insert into stories (key, title, description, acceptance, depends_on, priority, created_at)
         select 's-' || value, 'title', '', '[]', '[]', value, 0 from json_each('[1, 2, 3, 9]')";
    for edit in [
        "update runs set status = 'completed', baton = 'done' where number = 2",
        "update runs set status = 'paused' where number = 3",
        "update runs set state = json_set(state, '$.blockers', json('[{}]')) where number in (1, 4)",
        "insert into waiting values (1), (3)",
        story,
    ] {
        assert!(connection.execute(edit, []).unwrap() > 0, "{edit}");
    }
    drop(connection);
    let store = SqliteStore::open(dir.path()).unwrap();
    let due = store.due(jiff::Timestamp::UNIX_EPOCH, None, 0).await.unwrap();
    assert_eq!(due.iter().map(|it| it.number).collect::<Vec<_>>(), [1, 3, 4]);
    let counts = store.count_stories().await.unwrap();
    assert_eq!((counts.n_stories, counts.n_to_begin, counts.n_completed), (4, 1, 1));
    let connection = connect::reading(&dir.path().join(FILE)).unwrap();
    let blocked = lines(&connection, "select cast(run_number as text) from blocked");
    assert_eq!(blocked, ["1"], "what was not listed as waiting is not blocked");
}

#[tokio::test]
async fn rows_of_an_older_baton_get_their_checksums() {
    let dir = tempfile::tempdir().unwrap();
    let connection = at_schema(dir.path(), 3);
    let first = start(1, "s-1");
    let waiting = Append { waiting: Some(true), ..older(&first) };
    append::append(&connection, &append::prepare(Arc::new(waiting)).unwrap()).unwrap();
    connection
        .execute_batch(
            "insert into stories values
                 ('s-2', 'B', 'b', '[\"x\"]', '[]', 1, 'feat/b', null, 20),
                 ('s-1', 'A', '', '[]', '[\"s-2\"]', 0, null, 'https://example.com/1', 10);
             insert into answered values
                 ('ada', 'k', zeroblob(32), 5, '{}'), ('ada', 'l', zeroblob(32), 6, '');
             insert into cursors values ('archive', 1);
             insert into timers values (1, 1, 'wake', null, null, 9), (1, 2, 'lease', 1, 20, 9)",
        )
        .unwrap();
    drop(connection);
    let store = SqliteStore::open(dir.path()).unwrap();
    assert_eq!(store.check().await.unwrap().problems, Vec::<String>::new());
    // And the log of the stories goes on.
    store.save_story(&Story::named(story_key("s-1")), moment(1)).await.unwrap();
    store.add_story(&Story::named(story_key("s-3")), moment(1)).await.unwrap();
    assert_eq!(store.check().await.unwrap().problems, Vec::<String>::new());
}

#[tokio::test]
async fn an_empty_database_is_upgraded_too() {
    let dir = tempfile::tempdir().unwrap();
    drop(at_schema(dir.path(), 1));
    let store = SqliteStore::open(dir.path()).unwrap();
    let first = start(1, "s-1");
    put_all(&store, &[first.clone(), hand_to(&first, "bea")]).await;
    let rows = store.handoffs(&HandoffFilter::default()).await.unwrap();
    assert_eq!(rows.iter().map(|it| it.number).collect::<Vec<_>>(), [1]);
}

/// Includes keys that are no longer valid; they stay as they are.
#[tokio::test]
async fn stories_from_before_there_were_outlines_have_them_once_opened() {
    let dir = tempfile::tempdir().unwrap();
    let keys = ["cafe\u{301}", " login", "login", "run:2"];
    {
        let connection = at_schema(dir.path(), 3);
        for key in keys {
            let sql = "insert into stories (key, title, description, acceptance, depends_on,
                priority, created_at) values (?1, '', '', '[]', '[]', 0, 1)";
            connection.execute(sql, [key]).unwrap();
        }
    }
    for _ in 0..2 {
        let store = SqliteStore::open(dir.path()).unwrap();
        for key in keys {
            let row = store.story(&story_key(key)).await.unwrap().unwrap();
            assert_eq!(row.story.key.as_str(), key);
        }
        let alike = async |key| store.look_alikes(&story_key(key)).await.unwrap();
        assert_eq!(alike("caf\u{e9}").await, [story_key("cafe\u{301}")]);
        assert_eq!(alike("LOGIN").await, [story_key("login")]);
        assert_eq!(store.check().await.unwrap().problems, Vec::<String>::new());
        store.close().await;
        // As another version of the rule would have left them.
        let connection = connect::writing(&dir.path().join(FILE)).unwrap();
        let sql = "update stories set outline = 'x'; update derivations set rule = 'old'";
        connection.execute_batch(sql).unwrap();
    }
}

/// Appends to a database from before handoffs had a score.
fn append_without_score<'a>(
    connection: &Connection,
    appends: impl IntoIterator<Item = &'a Append>,
) {
    connection.execute("alter table handoffs add column score integer", []).unwrap();
    for append in appends {
        append::append(connection, &prepared(append)).unwrap();
    }
    connection.execute("alter table handoffs drop column score", []).unwrap();
}

fn at_schema(dir: &Path, n_migrations: usize) -> Connection {
    let path = dir.join(FILE);
    let mut connection = connect::writing(&path).unwrap();
    migrate(&mut connection, &path, &MIGRATIONS[..n_migrations]).unwrap();
    connection
}

fn prepared(append: &Append) -> Prepared {
    append::prepare(Arc::new(older(append))).unwrap()
}

/// As in an older Baton, which had no list of waiting, blocked or due runs.
fn older(append: &Append) -> Append {
    Append {
        waiting: None,
        blocked: None,
        dropped: Vec::new(),
        due: DueChange::Keep,
        story_status: None,
        ..append.clone()
    }
}

fn lines(connection: &Connection, sql: &str) -> Vec<String> {
    let mut statement = connection.prepare(sql).unwrap();
    statement.query_map([], |row| row.get(0)).unwrap().collect::<Result<_, _>>().unwrap()
}
