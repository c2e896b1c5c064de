//! The outlines of stories' keys, to find keys that look alike.

use baton_core::look_alike;
use baton_core::names::StoryKey;
use baton_store::StoreResult;
use tokio_postgres::Transaction;
use tokio_postgres::types::Type;

use crate::columns::Columns;
use crate::query::{Connections, SqlQuery, rows_in};

const COLUMN: &str = "stories.outline";

/// More than a warning names.
const MOST: i64 = 8;

/// Rebuilds the outlines of all stories, unless the present rule has made them.
pub(crate) async fn bring_up_to_date(transaction: &Transaction<'_>) -> StoreResult<()> {
    let rule = look_alike::rule();
    let query =
        SqlQuery::new("select rule from derivations where of_column = $1").with(COLUMN, Type::TEXT);
    let rows = rows_in(transaction, &query).await?;
    let made_by: Option<String> =
        rows.first().map(|row| Columns::of(row, "derivations", "rule").get("rule")).transpose()?;
    if made_by.as_deref() == Some(rule.as_str()) {
        return Ok(());
    }
    let rows = rows_in(transaction, &SqlQuery::new("select key from stories")).await?;
    let keys: Vec<String> = rows
        .iter()
        .map(|row| Columns::of(row, "stories", "key").get("key"))
        .collect::<StoreResult<_>>()?;
    let outlines: Vec<String> = keys.iter().map(|it| look_alike::outline(it)).collect();
    let sql = "update stories set outline = new.outline
               from unnest($1, $2) as new (key, outline) where stories.key = new.key";
    let query = SqlQuery::new(sql).with(keys, Type::TEXT_ARRAY).with(outlines, Type::TEXT_ARRAY);
    rows_in(transaction, &query).await?;
    let sql = "insert into derivations (of_column, rule) values ($1, $2)
               on conflict (of_column) do update set rule = excluded.rule";
    let query = SqlQuery::new(sql).with(COLUMN, Type::TEXT).with(rule, Type::TEXT);
    rows_in(transaction, &query).await?;
    Ok(())
}

/// Keys that look like this one, without the key itself.
pub(crate) async fn like(connections: &Connections, key: &StoryKey) -> StoreResult<Vec<StoryKey>> {
    let sql = "select key from stories where outline = $1 and key <> $2 order by key limit $3";
    let query = SqlQuery::new(sql)
        .with(look_alike::outline(key.as_str()), Type::TEXT)
        .with(key.as_str(), Type::TEXT)
        .with(MOST, Type::INT8);
    let rows = connections.read(&query).await?;
    let read =
        |row| Columns::of(row, "stories", "key").parsed("key", |it| StoryKey::parse(it).ok());
    rows.iter().map(read).collect()
}
