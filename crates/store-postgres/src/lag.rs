//! Whether events are held back at this moment, for a process that has not followed the log for long.

use std::time::Duration;

use baton_store::StoreResult;

use crate::columns::Columns;
use crate::events::{self, BOUND};
use crate::query::{Connections, SqlQuery};
use crate::tail::{self, LogLag};

/// Transactions are open for a moment all the time.
const WORTH_SAYING: Duration = Duration::from_secs(1);

/// `None` where all can be read. Since when a transaction is open is shown to its own role alone, so this
/// goes by the oldest event that cannot be read yet.
pub(crate) async fn now(connections: &Connections) -> StoreResult<Option<LogLag>> {
    let sql = format!(
        "select (extract(epoch from clock_timestamp()) * 1000)::bigint - happened_at / 1000000
             as held_ms, position
         from events where position >= {BOUND} order by position limit 1"
    );
    let Some(row) = connections.read_one(&SqlQuery::new(sql)).await? else { return Ok(None) };
    let held_ms: i64 = Columns::of(&row, "events", "position").get("held_ms")?;
    let held_for = Duration::from_millis(held_ms.max(0).unsigned_abs());
    if held_for < WORTH_SAYING {
        return Ok(None);
    }
    let holder = tail::oldest_writer(connections).await?;
    // All may have become readable meanwhile.
    let end = events::end(connections).await?;
    Ok((end.settled < end.newest).then_some(LogLag { held_for, holder }))
}
