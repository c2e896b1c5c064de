//! The suite that every store passes, on the store that forgets.

use std::sync::Arc;

use baton_store::Store;
use baton_store_tests::MemoryStore;

baton_store_tests::conformance!(fresh_store);

async fn fresh_store() -> (Arc<dyn Store>, ()) {
    (Arc::new(MemoryStore::default()), ())
}
