//! Stores and bare connections in the schema of a test.

use baton_store_postgres::{PostgresSettings, PostgresStore};
use baton_test_postgres::TestSchema;
use tokio_postgres::{Client, NoTls};

/// Few connections: many tests share one server.
pub(crate) async fn open(schema: &TestSchema) -> PostgresStore {
    open_at(&format!("{}&pool=6", schema.url())).await
}

pub(crate) async fn open_at(url: &str) -> PostgresStore {
    let settings = PostgresSettings::parse(url).unwrap();
    PostgresStore::open(&settings).await.unwrap()
}

/// A connection that knows nothing of Baton. It ends with the client.
pub(crate) async fn bare(schema: &TestSchema) -> Client {
    let (client, connection) = tokio_postgres::connect(schema.server_url(), NoTls).await.unwrap();
    tokio::spawn(connection);
    client.batch_execute(&format!("set search_path = {}", schema.name())).await.unwrap();
    client
}
