//! How far each projector has read.

use baton_store::checksum::of_cursor;
use baton_store::{Position, StoreResult};
use tokio_postgres::types::Type;

use crate::columns::{Columns, integer};
use crate::query::{Connections, SqlQuery};

pub(crate) async fn find(connections: &Connections, projector: &str) -> StoreResult<Position> {
    let sql = "select position from cursors where projector = $1";
    let row = connections.read_one(&SqlQuery::new(sql).with(projector, Type::TEXT)).await?;
    let Some(row) = row else { return Ok(Position::START) };
    Ok(Position(Columns::of(&row, "cursors", "position").number("position")?))
}

/// Moves a cursor that is still at `from`; false otherwise.
pub(crate) async fn advance(
    connections: &Connections,
    projector: &str,
    from: Position,
    to: Position,
) -> StoreResult<bool> {
    // Only a cursor that has never moved may be missing.
    let sql = if from == Position::START {
        "insert into cursors (projector, position, checksum) values ($1, $3, $4)
         on conflict (projector) do update
             set position = excluded.position, checksum = excluded.checksum
             where cursors.position = $2"
    } else {
        "update cursors set position = $3, checksum = $4 where projector = $1 and position = $2"
    };
    let query = SqlQuery::new(sql)
        .with(projector, Type::TEXT)
        .with(integer(from.0), Type::INT8)
        .with(integer(to.0), Type::INT8)
        .with(of_cursor(projector, integer(to.0)), Type::INT8);
    Ok(connections.execute(&query).await? > 0)
}
