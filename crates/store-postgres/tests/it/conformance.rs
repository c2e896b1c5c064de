//! The suite that every store passes, in a schema of its own for each case.

use std::sync::Arc;

use async_trait::async_trait;
use baton_store::Store;
use baton_store_tests::Place;
use baton_test_postgres::TestSchema;

use crate::database::open;

baton_store_tests::conformance!(fresh_store);
baton_store_tests::reopening!(fresh_place);

async fn fresh_store() -> (Arc<dyn Store>, TestSchema) {
    let schema = TestSchema::fresh();
    (Arc::new(open(&schema).await), schema)
}

async fn fresh_place() -> InSchema {
    InSchema(TestSchema::fresh())
}

struct InSchema(TestSchema);

#[async_trait]
impl Place for InSchema {
    async fn open(&self) -> Arc<dyn Store> {
        Arc::new(open(&self.0).await)
    }
}
