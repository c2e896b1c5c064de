//! Two stores that are given the same know the same. Positions, and the numbers of handoffs behind one
//! that was refused, are others here: only their order counts.

use baton_store::{Append, HandoffFilter, Store};
use baton_store_tests::failures::doomed;
use baton_store_tests::sample::*;
use baton_store_tests::{MemoryStore, dump};
use baton_test_postgres::TestSchema;

use crate::database::open;

#[tokio::test]
async fn a_database_and_a_memory_that_are_given_the_same_are_equal() {
    let schema = TestSchema::fresh();
    let in_database = open(&schema).await;
    let in_memory = MemoryStore::default();
    for append in given() {
        let first = outcome(&in_database, append.clone()).await;
        let second = outcome(&in_memory, append).await;
        assert_eq!(first, second);
    }
    assert_eq!(ranked(&in_database).await, ranked(&in_memory).await);
}

/// Good and bad ones in turn, each of the good ones twice.
fn given() -> Vec<Append> {
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

/// What an append gave: its version and its run, or the name of the refusal.
async fn outcome(store: &dyn Store, append: Append) -> String {
    match store.append(append.into()).await {
        Ok(appended) => {
            shown(store, appended.position).await;
            let nos: Vec<_> = appended.numbers.iter().map(|(no, _)| no.0).collect();
            format!("version {} of {}: {nos:?}", appended.version.0, appended.run_number)
        }
        Err(error) => format!("{error:?}").split(['(', '{']).next().unwrap_or_default().to_owned(),
    }
}

/// The whole store, with ranks in the place of positions and of handoffs' numbers.
async fn ranked(store: &dyn Store) -> String {
    let mut text = dump(store).await;
    let handoffs = store.handoffs(&HandoffFilter::default()).await.unwrap();
    for (rank, handoff) in (1..).zip(&handoffs) {
        let number = handoff.number;
        for (before, after) in [("HandoffRow { number: ", ","), ("contents of handoff ", ":")] {
            let known = format!("{before}{number}{after}");
            text = text.replacen(&known, &format!("{before}#{rank}{after}"), 1);
        }
    }
    let mut positions = text.split("Position(");
    let mut ranked = positions.next().unwrap_or_default().to_owned();
    for (rank, rest) in (1..).zip(positions) {
        let (_, rest) = rest.split_once(')').unwrap();
        ranked += &format!("Position(#{rank}){rest}");
    }
    ranked
}
