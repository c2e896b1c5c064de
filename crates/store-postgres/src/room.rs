//! Whether a disk that was full has room again. Nobody sends commands to a node that is not ready, so
//! it has to find out by itself.

use baton_store::{StoreError, StoreResult, WriteFault};

use crate::error::to_store;
use crate::query::Connections;

/// About 256 kB in new pages, as a table grows: small rows may still fit into old ones.
const FILL: &str = "create table room_for_baton (filling text);
    alter table room_for_baton alter column filling set storage plain;
    insert into room_for_baton select repeat('x', 4000) from generate_series(1, 64)";

/// Nothing is left of what it writes.
pub(crate) async fn look(connections: &Connections) {
    match fill(connections).await {
        Err(StoreError::Unwritable(WriteFault::DiskFull)) => {}
        // Where this is not allowed, commands find out.
        Ok(()) | Err(_) => connections.state().disk_has_room(),
    }
}

async fn fill(connections: &Connections) -> StoreResult<()> {
    let mut connection = connections.connection().await?;
    let transaction = connections.begin(&mut connection).await?;
    let filled = transaction.batch_execute(FILL).await;
    let _ = transaction.rollback().await;
    filled.map_err(to_store)
}
