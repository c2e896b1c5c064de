//! The database's clock, which all nodes go by.
#![expect(
    clippy::disallowed_methods,
    reason = "the clock of this process is compared with that of the database"
)]

use baton_store::StoreResult;
use jiff::Timestamp;

use crate::columns::Columns;
use crate::query::{Connections, SqlQuery};

/// What has to be added to the clock of this process to have that of the database, in nanoseconds.
/// The answer is taken to be given half-way between question and answer.
pub(crate) async fn offset(connections: &Connections) -> StoreResult<i64> {
    let sql = "select (extract(epoch from clock_timestamp()) * 1000000)::bigint as microseconds";
    let asked = Timestamp::now().as_nanosecond();
    let row = connections.read_one(&SqlQuery::new(sql)).await?;
    let answered = Timestamp::now().as_nanosecond();
    let Some(row) = row else { return Ok(0) };
    let microseconds: i64 = Columns::of(&row, "clock", "microseconds").get("microseconds")?;
    let theirs = i128::from(microseconds) * 1000;
    Ok(i64::try_from(theirs - (asked + answered) / 2).unwrap_or(0))
}
