//! The suite that every store passes, on the store that forgets.

use std::sync::Arc;

use baton_store::Store;
use baton_store_tests::MemoryStore;

baton_store_tests::conformance!(fresh_store);

async fn fresh_store() -> (Arc<dyn Store>, ()) {
    (Arc::new(MemoryStore::default()), ())
}

/// As several processes use one database.
mod of_several_nodes {
    use baton_store_tests::{SharedMemory, timers};

    #[tokio::test]
    async fn a_lease_that_nodes_share_is_never_made_shorter() {
        timers::a_lease_that_nodes_share_is_never_made_shorter(&SharedMemory::default().node())
            .await;
    }
}
