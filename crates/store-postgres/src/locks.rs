//! Named locks between nodes: advisory locks of a transaction that does nothing else. It has no
//! transaction id, so it holds back no log; it ends with its connection, so a lock never
//! outlives its node.

use baton_store::{StoreLock, StoreResult};
use tokio::sync::oneshot;
use tokio_postgres::types::Type;

use crate::query::{Connections, SqlQuery, rows_in};

pub(crate) async fn lock(connections: &Connections, name: &str) -> StoreResult<StoreLock> {
    let connections = connections.clone();
    let mut connection = connections.connection().await?;
    let name = name.to_owned();
    let (locked, is_locked) = oneshot::channel();
    let (release, released) = oneshot::channel::<()>();
    // A transaction borrows its connection, so a task holds both until the lock is dropped.
    tokio::spawn(async move {
        let result = async {
            let transaction = connections.begin(&mut connection).await?;
            let sql = "select pg_advisory_xact_lock(hashtext(current_schema()), hashtext($1))";
            rows_in(&transaction, &SqlQuery::new(sql).with(name, Type::TEXT)).await?;
            Ok(transaction)
        };
        match result.await {
            Ok(transaction) => {
                if locked.send(Ok(())).is_ok() {
                    // Dropping the sender releases the lock.
                    let _ = released.await;
                }
                // The lock ends with the transaction, whichever way that ends.
                let _ = transaction.rollback().await;
            }
            Err(error) => {
                let _ = locked.send(Err(error));
            }
        }
    });
    match is_locked.await {
        Ok(Ok(())) => Ok(StoreLock::until_dropped(release)),
        Ok(Err(error)) => Err(error),
        Err(_) => Err(crate::error::damaged("the task that holds a lock has ended")),
    }
}
