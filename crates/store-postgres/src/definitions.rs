//! Workflow files, by the hash of their text.

use baton_core::hash::Hash;
use baton_core::names::WorkflowName;
use baton_store::{Definition, StoreResult};
use tokio_postgres::types::Type;

use crate::columns::Columns;
use crate::query::{Connections, SqlQuery};

pub(crate) fn add<'a>(query: &mut SqlQuery<'a>, definition: &'a Definition) {
    let Definition { hash, name, text } = definition;
    let values = [
        query.bind(&hash.0[..], Type::BYTEA),
        query.bind(name.as_str(), Type::TEXT),
        query.bind(text.as_str(), Type::TEXT),
    ];
    query.sql.push_str(&format!(
        ", added_definition as (
             insert into definitions (hash, name, text) select {} from moved
             on conflict (hash) do nothing
         )",
        values.join(", ")
    ));
}

pub(crate) async fn find(
    connections: &Connections,
    which: &Hash,
) -> StoreResult<Option<Definition>> {
    let sql = "select hash, name, text from definitions where hash = $1";
    let row = connections.read_one(&SqlQuery::new(sql).with(which.0.to_vec(), Type::BYTEA)).await?;
    let Some(row) = row else { return Ok(None) };
    let row = Columns::of(&row, "definitions", "hash");
    Ok(Some(Definition {
        hash: row.hash("hash")?,
        name: row.parsed("name", |it| WorkflowName::parse(it).ok())?,
        text: row.get("text")?,
    }))
}
