//! Salvaging a healthy file gives the same rows as SQL; random bytes give none, and never a panic.

use std::collections::BTreeSet;
use std::path::Path;

use baton_store::{EventFilter, Position, Store as _};
use baton_store_tests::sample;
use proptest::prelude::*;

use super::*;
use crate::SqliteStore;

/// Every event of a store, as (position, version, hash).
async fn events_by_sql(store: &SqliteStore) -> BTreeSet<(u64, u64, String)> {
    let filter = EventFilter { after: Position::START, run: None, limit: 0 };
    let events = store.events(&filter).await.unwrap();
    events.iter().map(|it| (it.position.0, it.version.0, it.hash.to_string())).collect()
}

fn events_by_bytes(dir: &Path) -> BTreeSet<(u64, u64, String)> {
    let mut found = BTreeSet::new();
    let take = |row, _| {
        if let SalvagedRow::Event { event, .. } = row {
            found.insert((event.position.0, event.version.0, event.hash.to_string()));
        }
        Ok::<(), ()>(())
    };
    DamagedFiles::open(&Dir::open(dir).unwrap()).unwrap().unwrap().each_row(take).unwrap();
    found
}

#[tokio::test]
async fn every_event_is_found_in_the_log_and_in_the_database() {
    let dir = tempfile::tempdir().unwrap();
    let store = SqliteStore::open(dir.path()).unwrap();
    for n in 1..30 {
        for append in sample::tale(n, &format!("s{n}")) {
            store.append(append.into()).await.unwrap();
        }
    }
    let told = events_by_sql(&store).await;
    // While another connection reads, the log is not truncated.
    let reader = crate::connect::reading(&dir.path().join(crate::FILE)).unwrap();
    reader.execute_batch("begin; select count(*) from runs").unwrap();
    assert_eq!(events_by_bytes(dir.path()), told, "while it is in the log");
    drop(reader);
    store.close().await;
    assert_eq!(events_by_bytes(dir.path()), told, "once it is in the database");
}

proptest! {
    #[test]
    fn random_pages_give_no_panic(page in proptest::collection::vec(any::<u8>(), 0..600), number in 1_u32..3) {
        for cell in cells::cells(&page, number) {
            let _ = rows::in_index(&cell);
            let _ = cell.payload(|_| Some(page.clone())).and_then(|it| rows::in_table(1, &it));
            let _ = rows::run(1, &cell);
        }
    }

    #[test]
    fn random_leaves_give_no_panic(mut page in proptest::collection::vec(any::<u8>(), 512), is_table in any::<bool>()) {
        page[0] = if is_table { 0x0d } else { 0x0a };
        for cell in cells::cells(&page, 2) {
            let _ = rows::in_index(&cell);
            let _ = cell.payload(|_| Some(page.clone())).and_then(|it| rows::in_table(1, &it));
            let _ = rows::run(1, &cell);
        }
    }

    #[test]
    fn random_records_give_no_panic(payload in proptest::collection::vec(any::<u8>(), 0..200)) {
        let _ = record::record(&payload);
        let _ = record::first_fields(&payload, 6);
    }
}
