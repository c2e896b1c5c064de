//! Reads columns. Values are checked: other programs may have changed the database.

use baton_core::content::ContentId;
use baton_core::hash::Hash;
use baton_core::run::RunId;
use baton_core::workflow::Place;
use baton_store::columns::parse_place;
use baton_store::{Order, StoreError, StoreResult};
use jiff::Timestamp;
use tokio_postgres::Row;
use tokio_postgres::types::FromSql;
use uuid::Uuid;

pub(crate) use baton_store::columns::{
    integer, list_text, nanoseconds, nearest_nanoseconds, parse_list, parse_outcome, place_text,
};

/// A row of a table, for reading: an unreadable column is reported with table and row.
#[derive(Clone, Copy)]
pub(crate) struct Columns<'a> {
    row: &'a Row,
    table: &'static str,
    /// The column with the row's number.
    number: &'static str,
}

impl<'a> Columns<'a> {
    pub(crate) fn of(row: &'a Row, table: &'static str, number: &'static str) -> Self {
        Self { row, table, number }
    }

    pub(crate) fn get<T: FromSql<'a>>(&self, column: &'static str) -> StoreResult<T> {
        self.row.try_get(column).map_err(|_| self.unreadable(column))
    }

    /// A number that is never negative.
    pub(crate) fn number(&self, column: &'static str) -> StoreResult<u64> {
        u64::try_from(self.get::<i64>(column)?).map_err(|_| self.unreadable(column))
    }

    /// As [`Columns::number`], for a small number.
    pub(crate) fn small(&self, column: &'static str) -> StoreResult<u32> {
        u32::try_from(self.get::<i32>(column)?).map_err(|_| self.unreadable(column))
    }

    pub(crate) fn maybe_small(&self, column: &'static str) -> StoreResult<Option<u32>> {
        let number: Option<i32> = self.get(column)?;
        number.map(|it| u32::try_from(it).map_err(|_| self.unreadable(column))).transpose()
    }

    /// A text column, parsed by one of our own parsers.
    pub(crate) fn parsed<T>(
        &self,
        column: &'static str,
        parse: impl FnOnce(&str) -> Option<T>,
    ) -> StoreResult<T> {
        parse(self.get(column)?).ok_or_else(|| self.unreadable(column))
    }

    /// As [`Columns::parsed`], for a nullable column.
    pub(crate) fn maybe_parsed<T>(
        &self,
        column: &'static str,
        parse: impl FnOnce(&str) -> Option<T>,
    ) -> StoreResult<Option<T>> {
        let text: Option<&str> = self.get(column)?;
        text.map(|it| parse(it).ok_or_else(|| self.unreadable(column))).transpose()
    }

    pub(crate) fn place(&self, column: &'static str) -> StoreResult<Place> {
        self.parsed(column, parse_place)
    }

    pub(crate) fn time(&self, column: &'static str) -> StoreResult<Timestamp> {
        self.to_time(self.get(column)?, column)
    }

    pub(crate) fn maybe_time(&self, column: &'static str) -> StoreResult<Option<Timestamp>> {
        let nanoseconds: Option<i64> = self.get(column)?;
        nanoseconds.map(|it| self.to_time(it, column)).transpose()
    }

    fn to_time(self, nanoseconds: i64, column: &'static str) -> StoreResult<Timestamp> {
        Timestamp::from_nanosecond(nanoseconds.into()).map_err(|_| self.unreadable(column))
    }

    pub(crate) fn bytes<const N: usize>(&self, column: &'static str) -> StoreResult<[u8; N]> {
        self.get::<&[u8]>(column)?.try_into().map_err(|_| self.unreadable(column))
    }

    pub(crate) fn hash(&self, column: &'static str) -> StoreResult<Hash> {
        self.bytes(column).map(Hash)
    }

    pub(crate) fn content_id(&self, column: &'static str) -> StoreResult<ContentId> {
        self.hash(column).map(ContentId)
    }

    pub(crate) fn maybe_content_id(&self, column: &'static str) -> StoreResult<Option<ContentId>> {
        let bytes: Option<&[u8]> = self.get(column)?;
        let Some(bytes) = bytes else { return Ok(None) };
        let bytes = bytes.try_into().map_err(|_| self.unreadable(column))?;
        Ok(Some(ContentId(Hash(bytes))))
    }

    pub(crate) fn run_id(&self, column: &'static str) -> StoreResult<RunId> {
        self.get::<Uuid>(column).map(RunId)
    }

    pub(crate) fn unreadable(&self, column: &str) -> StoreError {
        let Self { row, table, number } = self;
        let number: i64 = row.try_get(number).unwrap_or_default();
        let what =
            format!("row {number} of `{table}`: column `{column}` holds what Baton does not write");
        StoreError::Damaged { what }
    }
}

/// For `limit`: null means no limit.
pub(crate) fn limit(most: u32) -> Option<i64> {
    (most > 0).then_some(i64::from(most))
}

/// A signed integer of four bytes, for small numbers; one too large matches no row.
pub(crate) fn small(number: u32) -> i32 {
    i32::try_from(number).unwrap_or(i32::MAX)
}

/// The sort direction, and the comparison of rows that come after another.
pub(crate) fn direction(order: Order) -> (&'static str, char, char) {
    match order {
        Order::OldestFirst => ("asc", '>', '<'),
        Order::NewestFirst => ("desc", '<', '>'),
    }
}
