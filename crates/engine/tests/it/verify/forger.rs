//! A forger who knows Baton: rewrites an event and makes every hash after it anew. Only what is
//! signed tells of that.

use baton_core::hash::Hash;
use baton_core::names::Principal;
use baton_core::run::RunId;
use baton_engine::{
    CheckpointTrust, SignedPrefix, sign_checkpoint, verify_all_with, verify_checkpoints,
};
use baton_store::Store as _;
use baton_wire::checkpoint::CheckpointKey;
use baton_wire::event::link;
use jiff::Timestamp;
use rusqlite::{Connection, params};
use uuid::Uuid;

use super::file::{DatabaseFile, Verdict};
use super::populated;

const LATER: Timestamp = Timestamp::constant(1_770_000_000, 0);

/// Says that another person wrote a message, and makes the chain of its run anew.
fn forge(connection: &Connection) {
    let sql = "select run_number, position from events where name like 'message.%' limit 1";
    let (run, position): (i64, i64) =
        connection.query_row(sql, [], |row| Ok((row.get(0)?, row.get(1)?))).unwrap();
    let changed = "update events set done_by = 'mallory' where position = ?1";
    assert_eq!(connection.execute(changed, [position]).unwrap(), 1);
    let id: [u8; 16] = connection
        .query_row("select id from runs where number = ?1", [run], |row| row.get(0))
        .unwrap();
    let sql = "select position, version, happened_at, done_by, body from events
               where run_number = ?1 order by position";
    let mut statement = connection.prepare(sql).unwrap();
    let mut rows = statement.query([run]).unwrap();
    let mut head = Hash::ZERO;
    while let Some(row) = rows.next().unwrap() {
        let (position, version, at): (i64, i64, i64) =
            (row.get(0).unwrap(), row.get(1).unwrap(), row.get(2).unwrap());
        let (by, body): (String, String) = (row.get(3).unwrap(), row.get(4).unwrap());
        let at = Timestamp::from_nanosecond(at.into()).unwrap();
        let by = Principal::parse(&by).unwrap();
        let version = version.unsigned_abs();
        head = link(&head, RunId(Uuid::from_bytes(id)), version, at, &by, &body);
        connection
            .execute("update events set hash = ?1 where position = ?2", params![head.0, position])
            .unwrap();
    }
    connection
        .execute("update runs set head = ?1 where number = ?2", params![head.0, run])
        .unwrap();
}

fn forget_checkpoints(connection: &Connection) {
    let sql = "delete from checkpoints; delete from sqlite_sequence where name = 'checkpoints'";
    connection.execute_batch(sql).unwrap();
}

#[tokio::test]
async fn hashes_that_were_made_anew_are_found_by_a_checkpoint_and_by_nothing_else() {
    let file = populated::file().await;
    let forged = DatabaseFile::of(&file);
    forge(&forged.connection());
    let Verdict::Problems(problems) = forged.verdict().await else { panic!("nothing was found") };
    assert_eq!(problems.len(), 2, "{problems:#?}");
    assert!(problems[0].starts_with("checkpoint 1, signed at "), "{problems:#?}");
    assert!(problems[0].contains("is not the one that was signed"), "{problems:#?}");
    forget_checkpoints(&forged.connection());
    assert_eq!(forged.verdict().await, Verdict::Sound);
}

#[tokio::test]
async fn a_checkpoint_that_is_kept_elsewhere_finds_what_the_file_does_not_tell() {
    let file = populated::file().await;
    let key = CheckpointKey::from_random([7; 32]);
    let whole = DatabaseFile::of(&file);
    let store = whole.open().unwrap();
    let printed = store.last_checkpoint().await.unwrap().unwrap().signed.print();
    let elsewhere = vec![SignedPrefix::read("`kept.txt`".to_owned(), &printed).unwrap()];
    let trust = CheckpointTrust { elsewhere, key: Some(key.public()) };
    assert!(verify_all_with(&store, &trust).await.unwrap().is_sound());
    store.close().await;

    let forged = DatabaseFile::of(&file);
    forge(&forged.connection());
    forget_checkpoints(&forged.connection());
    let store = forged.open().unwrap();
    // The forger signs anew, with the only key that a forger has.
    let other = CheckpointKey::from_random([8; 32]);
    sign_checkpoint(&store, &other, LATER).await.unwrap();
    assert!(verify_checkpoints(&store, &CheckpointTrust::default()).await.unwrap().1.is_empty());
    let (_, problems) = verify_checkpoints(&store, &trust).await.unwrap();
    assert_eq!(problems.len(), 3, "{problems:#?}");
    let stored = "`kept.txt` has number 2, and the last checkpoint that is stored has 1: some were taken out";
    assert_eq!(problems[0], stored);
    assert!(problems[1].contains("checkpoint 1 is signed by another key"), "{problems:#?}");
    assert!(problems[2].starts_with("`kept.txt`, signed at "), "{problems:#?}");
    store.close().await;
}

#[tokio::test]
async fn a_cut_log_is_found_with_the_place() {
    let file = DatabaseFile::of(&populated::file().await);
    let sql = "delete from events where position = (select max(position) from events)";
    file.connection().execute_batch(sql).unwrap();
    let store = file.open().unwrap();
    let last = store.last_position().await.unwrap().0;
    let (n, problems) = verify_checkpoints(&store, &CheckpointTrust::default()).await.unwrap();
    assert_eq!((n, problems.len()), (2, 2), "{problems:#?}");
    let expected = format!("1 event at its end is missing; the last one is at position {last}");
    assert!(problems[0].ends_with(&expected), "{problems:#?}");
    store.close().await;
}

#[tokio::test]
async fn a_text_that_is_said_to_be_lost_after_a_checkpoint_was_taken_out() {
    let file = DatabaseFile::of(&populated::file().await);
    file.connection()
        .execute_batch(
            "insert or ignore into lost_texts (run_number, id) select run_number, id from contents;
             delete from contents",
        )
        .unwrap();
    let store = file.open().unwrap();
    let (_, problems) = verify_checkpoints(&store, &CheckpointTrust::default()).await.unwrap();
    let words = "the texts that are recorded as lost are not those that were signed (1 then, ";
    assert_eq!(problems.len(), 2, "{problems:#?}");
    assert!(problems.iter().all(|it| it.contains(words)), "{problems:#?}");
    store.close().await;
}

#[tokio::test]
async fn checkpoints_that_were_taken_out_are_found_by_one_that_is_kept_elsewhere() {
    let file = DatabaseFile::of(&populated::file().await);
    let store = file.open().unwrap();
    let printed = store.last_checkpoint().await.unwrap().unwrap().signed.print();
    store.close().await;
    forget_checkpoints(&file.connection());
    let elsewhere = vec![SignedPrefix::read("`kept.txt`".to_owned(), &printed).unwrap()];
    let store = file.open().unwrap();
    let trust = CheckpointTrust { elsewhere, key: None };
    let (_, problems) = verify_checkpoints(&store, &trust).await.unwrap();
    assert_eq!(
        problems,
        [
            "`kept.txt` has number 2, and the last checkpoint that is stored has 0: some were taken out"
        ]
    );
    store.close().await;
}
