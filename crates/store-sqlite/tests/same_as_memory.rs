//! Two stores that are told the same know the same, down to every number.

use baton_store::{Append, Store};
use baton_store_sqlite::SqliteStore;
use baton_store_tests::MemoryStore;
use baton_store_tests::dump;
use baton_store_tests::failures::doomed;
use baton_store_tests::sample::*;

#[tokio::test]
async fn a_file_and_a_memory_that_are_told_the_same_are_equal() {
    let dir = tempfile::tempdir().unwrap();
    let on_disk = SqliteStore::open(dir.path()).unwrap();
    let in_memory = MemoryStore::default();
    for append in told() {
        let first = outcome(&on_disk, append.clone()).await;
        let second = outcome(&in_memory, append).await;
        assert_eq!(first, second);
    }
    assert_eq!(dump(&on_disk).await, dump(&in_memory).await);
}

/// Good and bad ones in turn, each of the good ones twice.
fn told() -> Vec<Append> {
    let tales: Vec<_> = (1..=6).map(|n| tale(n, &format!("s-{}", n % 4))).collect();
    let mut appends = Vec::new();
    for index in 0..tales[0].len() {
        for (n, tale) in (100..).zip(&tales) {
            let append = keyed(tale[index].clone(), "scope", &format!("{n}-{index}"));
            appends.push(append.clone());
            appends.push(doomed(n, "s-9"));
            appends.push(append);
        }
    }
    // What could not start while another run was open can now.
    appends.extend(tales.into_iter().flatten());
    let held = hand_to(&start(7, "s-7"), "bea");
    appends.extend([start(7, "s-7"), held.clone(), leased(accept(&held, 1), &[(1, 1)])]);
    appends
}

/// What an append gave: its numbers, or the name of the refusal.
async fn outcome(store: &dyn Store, append: Append) -> String {
    match store.append(append.into()).await {
        Ok(appended) => format!("{appended:?}"),
        Err(error) => format!("{error:?}").split(['(', '{']).next().unwrap_or_default().to_owned(),
    }
}
