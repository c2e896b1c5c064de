//! What cannot be read is damage, for every way of reading, and hides nothing else.

use std::sync::Arc;

use baton_engine::{Engine, EngineError, FixedClock};
use baton_store::{HandoffFilter, HandoffRef, RunFilter, RunRef, Store, StoreError};

use super::file::{DatabaseFile, Verdict};
use super::populated;
use crate::world::{BEGINNING, accept, caller, catalog};

async fn problems(file: &[u8], edit: &str) -> Vec<String> {
    let edited = DatabaseFile::of(file);
    edited.connection().execute_batch(edit).unwrap();
    match edited.verdict().await {
        Verdict::Problems(problems) => problems,
        other @ (Verdict::Refused(_) | Verdict::Sound) => panic!("{edit}: {other:?}"),
    }
}

#[tokio::test]
async fn verify_goes_on_behind_every_unreadable_row() {
    let file = populated::file().await;
    let edit = "update runs set state = 'x', version = 99 where number = 2;
                update events set done_by = '' where position = 1;
                update handoffs set from_place = 'the moon' where number = 5;
                update definitions set name = '' where rowid = 1;
                update stories set acceptance = 'x' where rowid = 1";
    let problems = problems(&file, edit).await;
    for expected in [
        "run 2: it cannot be read",
        "row 1 of `events`: column `done_by`",
        "row 5 of `handoffs`: column `from_place`",
        "row 1 of `definitions`: column `name`",
        "row 1 of `stories`: column `acceptance`",
    ] {
        assert!(problems.iter().any(|it| it.contains(expected)), "{expected}: {problems:#?}");
    }
}

#[tokio::test]
async fn many_problems_are_counted_and_not_all_told() {
    let file = populated::file().await;
    let problems = problems(&file, "update events set hash = zeroblob(32), name = 'x'").await;
    assert!(problems.iter().any(|it| it.starts_with("`events`: ")), "{problems:#?}");
    assert!(problems.len() <= 200, "{}", problems.len());
}

/// One bit of a run's id is turned over, in its row or in the index: it is listed, and not found.
#[tokio::test]
async fn a_run_that_is_not_found_by_its_id_is_damage_and_not_a_callers_mistake() {
    let file = populated::file().await;
    let sql = "select runs.id, handoffs.number from runs join handoffs on run_number = runs.number
               where handoffs.state = 'pending' and status = 'open' limit 1";
    let read = |row: &rusqlite::Row<'_>| Ok((row.get(0)?, row.get(1)?));
    let (id, number): ([u8; 16], u32) =
        DatabaseFile::of(&file).connection().query_row(sql, [], read).unwrap();
    let places: Vec<usize> =
        file.windows(16).enumerate().filter(|(_, it)| *it == id).map(|(place, _)| place).collect();
    assert!(places.len() >= 2, "in the row and in the index: {places:?}");
    let mut n_damaged = 0;
    for place in places {
        let mut bytes = file.clone();
        bytes[place + 15] ^= 1;
        let edited = DatabaseFile::of(&bytes);
        // A page that is not used any more may have a copy of it.
        if !edited.verdict().await.is_found() {
            continue;
        }
        // An index that does not fit its table is found when a small file is opened; of a large
        // one Baton does not read so much then.
        let Ok(store) = edited.open() else { continue };
        let clock = FixedClock::at(BEGINNING + jiff::SignedDuration::from_hours(240));
        let store: Arc<dyn Store> = Arc::new(store);
        let engine = Engine::open(store, Arc::new(clock), catalog()).await.unwrap();
        engine.sweep().await.unwrap();
        let which = HandoffRef::Number(number.into());
        let accepted = engine.on_handoff(&caller("ada"), &which, |no| accept(no.0)).await;
        let error = accepted.unwrap_err();
        assert_eq!(error.code(), "damaged", "{error}");
        n_damaged += 1;
        engine.shutdown().await;
    }
    assert!(n_damaged > 0);
}

#[tokio::test]
async fn every_list_says_which_row_is_damaged() {
    let file = populated::file().await;
    let edited = DatabaseFile::of(&file);
    edited
        .connection()
        .execute_batch(
            "update runs set version = -1 where number = 2;
             update handoffs set to_place = '' where number = 3",
        )
        .unwrap();
    let store = edited.open().unwrap();
    let runs = store.runs(&RunFilter::default()).await.unwrap_err();
    let run = store.run(&RunRef::Number(2)).await.unwrap_err();
    let handoffs = store.handoffs(&HandoffFilter::default()).await.unwrap_err();
    let handoff = store.handoff(&HandoffRef::Number(3)).await.unwrap_err();
    for (error, expected) in [
        (runs, "row 2 of `runs`: column `version` holds what Baton does not write"),
        (run, "row 2 of `runs`: column `version` holds what Baton does not write"),
        (handoffs, "row 3 of `handoffs`: column `to_place` holds what Baton does not write"),
        (handoff, "row 3 of `handoffs`: column `to_place` holds what Baton does not write"),
    ] {
        assert_eq!(EngineError::from(damaged(expected)).code(), "damaged");
        let StoreError::Damaged { what } = error else { panic!("{error:?}") };
        assert_eq!(what, expected);
    }
}

fn damaged(what: &str) -> StoreError {
    StoreError::Damaged { what: what.to_owned() }
}
