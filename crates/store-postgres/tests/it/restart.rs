//! A server that goes away and comes back: the store says so meanwhile, and goes on afterwards.

use std::time::Duration;

use baton_store::{AppendError, Store, StoreError};
use baton_store_tests::dump;
use baton_store_tests::sample::*;
use baton_test_postgres::{Cluster, ClusterStop, Durability};

use crate::database::open_at;

/// Longer than it takes to connect again.
const LONG: Duration = Duration::from_secs(30);

#[tokio::test]
async fn a_store_survives_a_restart_of_its_server() {
    let cluster = Cluster::start(Durability::Unsynced).unwrap();
    let store = open_at(&cluster.url()).await;
    let tale = tale(1, "s-1");
    put_all(&store, &tale[..2]).await;
    let before = dump(&store).await;
    for how in [ClusterStop::Fast, ClusterStop::Immediate] {
        cluster.stop(how).unwrap();
        let error = store.append(tale[2].clone().into()).await.unwrap_err();
        let is_known = matches!(&error, AppendError::Store(StoreError::Unavailable(_)));
        assert!(is_known, "{how:?}: {error:?}");
        assert!(store.last_position().await.is_err());
        cluster.start_again().unwrap();
        let again = async {
            while store.last_position().await.is_err() {
                tokio::task::yield_now().await;
            }
        };
        tokio::time::timeout(LONG, again).await.expect("it is back");
        assert_eq!(dump(&store).await, before);
    }
    put_all(&store, &tale[2..]).await;
}
