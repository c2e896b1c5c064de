//! Where data is: what differs in every copy of it. A copy that was restored has another history from
//! then on, whatever its transaction ids are.

use baton_store::StoreResult;
use tokio_postgres::types::Type;
use tokio_postgres::{Client, Transaction};

use crate::query::{SqlQuery, rows_in};

/// `None` where the database does not say: a managed service may keep it to itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct PlaceParts<T> {
    /// Differs between servers that were made apart.
    server: T,
    /// Changes when a standby takes over, and when a server was restored to a point in time.
    timeline: T,
    /// Differs between a database and one that was made with it as its template.
    database: T,
    /// Of `identity`: a dump that is restored makes its tables anew.
    table: T,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct DataPlace(PlaceParts<Option<String>>);

/// What a connection leads to; the same for every schema.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct ServerPlace {
    server: Option<String>,
    timeline: Option<String>,
}

/// Not while it recovers: a standby has no timeline of its own.
const TIMELINE: &str = "select case when pg_is_in_recovery() then null
    else substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8) end as known";
const SERVER: &str = "select system_identifier::text as known from pg_control_system()";

impl ServerPlace {
    /// Outside of a transaction, because the functions may be missing or not allowed.
    pub(crate) async fn of(client: &Client) -> Self {
        Self { server: known(client, SERVER).await, timeline: known(client, TIMELINE).await }
    }

    /// Whether both are known, and are not the same.
    pub(crate) fn differs_from(&self, other: &Self) -> bool {
        differ(self.server.as_deref(), other.server.as_deref())
            || differ(self.timeline.as_deref(), other.timeline.as_deref())
    }
}

async fn known(client: &Client, sql: &str) -> Option<String> {
    let rows = client.query_typed(sql, &[]).await.ok()?;
    rows.first()?.try_get("known").ok()?
}

fn differ(a: Option<&str>, b: Option<&str>) -> bool {
    a.zip(b).is_some_and(|(a, b)| a != b)
}

impl DataPlace {
    pub(crate) fn new(on: &ServerPlace, database: String, table: String) -> Self {
        Self(PlaceParts {
            server: on.server.clone(),
            timeline: on.timeline.clone(),
            database: Some(database),
            table: Some(table),
        })
    }

    pub(crate) fn differs_from(&self, other: &Self) -> bool {
        self.named().iter().zip(other.named()).any(|((_, a), (_, b))| differ(*a, b))
    }

    /// With what `before` says where this says nothing.
    fn or(mut self, before: Option<&Self>) -> Self {
        if let Some(before) = before {
            self.0.server = self.0.server.or_else(|| before.0.server.clone());
            self.0.timeline = self.0.timeline.or_else(|| before.0.timeline.clone());
        }
        self
    }

    fn named(&self) -> [(&'static str, Option<&str>); 4] {
        let PlaceParts { server, timeline, database, table } = &self.0;
        [
            ("server", server.as_deref()),
            ("timeline", timeline.as_deref()),
            ("database", database.as_deref()),
            ("table", table.as_deref()),
        ]
    }

    fn text(&self) -> String {
        let known = self.named().into_iter().filter_map(|(name, it)| Some((name, it?)));
        known.map(|(name, it)| format!("{name} {it}")).collect::<Vec<_>>().join(", ")
    }

    fn parse(text: &str) -> Self {
        let of = |name: &str| {
            let parts = text.split(", ").filter_map(|it| it.split_once(' '));
            parts.filter(|(it, _)| *it == name).map(|(_, it)| it.to_owned()).next()
        };
        Self(PlaceParts {
            server: of("server"),
            timeline: of("timeline"),
            database: of("database"),
            table: of("table"),
        })
    }
}

/// The epoch follows from where the data is.
const COLUMN: &str = "identity.epoch";

/// Where the data was when its epoch began; `None` in data of before this was recorded.
pub(crate) async fn recorded(transaction: &Transaction<'_>) -> StoreResult<Option<DataPlace>> {
    let query =
        SqlQuery::new("select rule from derivations where of_column = $1").with(COLUMN, Type::TEXT);
    let rows = rows_in(transaction, &query).await?;
    let read = |row| crate::columns::Columns::of(row, "derivations", "rule").get("rule");
    rows.first().map(|row| read(row).map(DataPlace::parse)).transpose()
}

pub(crate) async fn record(
    transaction: &Transaction<'_>,
    place: DataPlace,
    before: Option<&DataPlace>,
) -> StoreResult<()> {
    let place = place.or(before);
    if Some(&place) == before {
        return Ok(());
    }
    let sql = "insert into derivations (of_column, rule) values ($1, $2)
               on conflict (of_column) do update set rule = excluded.rule";
    let query = SqlQuery::new(sql).with(COLUMN, Type::TEXT).with(place.text(), Type::TEXT);
    rows_in(transaction, &query).await.map(|_| ())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_differ_where_both_are_known_and_not_the_same() {
        let all = "server 7, timeline 00000001, database 5, table 16390";
        for (other, differs) in [
            (all, false),
            ("database 5, table 16390", false),
            ("", false),
            ("server 8, timeline 00000001, database 5, table 16390", true),
            ("server 7, timeline 00000002, database 5, table 16390", true),
            ("server 7, timeline 00000001, database 6, table 16390", true),
            ("database 5, table 16391", true),
        ] {
            let (a, b) = (DataPlace::parse(all), DataPlace::parse(other));
            assert_eq!((a.differs_from(&b), b.differs_from(&a)), (differs, differs), "{other}");
            assert_eq!(b.text(), other);
        }
    }
}
