//! Statements that are prepared once for a connection.

use std::cell::RefCell;
use std::ops::Deref;

use rusqlite::{Connection, PrepFlags, Statement};

/// Where prepared statements come from.
pub(crate) trait Statements {
    fn connection(&self) -> &Connection;

    /// Calls `work` with the statement of this text.
    fn with<T>(
        &self,
        sql: &'static str,
        work: impl FnOnce(&mut Statement<'_>) -> rusqlite::Result<T>,
    ) -> rusqlite::Result<T>;
}

/// From the connection's own cache, which copies and hashes the text at every use.
impl Statements for Connection {
    fn connection(&self) -> &Connection {
        self
    }

    fn with<T>(
        &self,
        sql: &'static str,
        work: impl FnOnce(&mut Statement<'_>) -> rusqlite::Result<T>,
    ) -> rusqlite::Result<T> {
        work(&mut *self.prepare_cached(sql)?)
    }
}

/// The statements of the writer, found by the address of their text: finding them by the text
/// itself is a twelfth of what the writer does.
pub(crate) struct KeptStatements<'c> {
    connection: &'c Connection,
    /// A few dozen, so that a search from one to the next is faster than hashing.
    kept: RefCell<Vec<KeptStatement<'c>>>,
}

struct KeptStatement<'c> {
    /// The address of its text.
    key: *const str,
    /// `None` while it runs.
    statement: Option<Box<Statement<'c>>>,
}

impl<'c> KeptStatements<'c> {
    pub(crate) fn of(connection: &'c Connection) -> Self {
        Self { connection, kept: RefCell::default() }
    }

    fn position(&self, key: *const str) -> Option<usize> {
        self.kept.borrow().iter().position(|it| std::ptr::eq(it.key, key))
    }

    /// Taken out while it runs: the work may need other statements.
    fn take(&self, position: usize) -> Option<Box<Statement<'c>>> {
        self.kept.borrow_mut().get_mut(position)?.statement.take()
    }

    fn put_back(&self, key: *const str, position: Option<usize>, statement: Box<Statement<'c>>) {
        let mut kept = self.kept.borrow_mut();
        match position.and_then(|it| kept.get_mut(it)) {
            Some(place) => place.statement = Some(statement),
            None => kept.push(KeptStatement { key, statement: Some(statement) }),
        }
    }
}

impl Statements for KeptStatements<'_> {
    fn connection(&self) -> &Connection {
        self.connection
    }

    fn with<T>(
        &self,
        sql: &'static str,
        work: impl FnOnce(&mut Statement<'_>) -> rusqlite::Result<T>,
    ) -> rusqlite::Result<T> {
        let key = std::ptr::from_ref(sql);
        let position = self.position(key);
        let mut statement = match position.and_then(|it| self.take(it)) {
            Some(statement) => statement,
            None => Box::new(
                self.connection.prepare_with_flags(sql, PrepFlags::SQLITE_PREPARE_PERSISTENT)?,
            ),
        };
        let result = work(&mut statement);
        self.put_back(key, position, statement);
        result
    }
}

impl Deref for KeptStatements<'_> {
    type Target = Connection;

    fn deref(&self) -> &Connection {
        self.connection
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::connect;

    static ADD: &str = "insert into numbers values (?1)";
    static COUNT: &str = "select count(*) from numbers";

    #[test]
    fn a_statement_is_prepared_once_and_may_fail_or_need_others() {
        let dir = tempfile::tempdir().unwrap();
        let connection = connect::writing(&dir.path().join("baton.db")).unwrap();
        connection.execute_batch("create table numbers (n integer primary key) strict").unwrap();
        let statements = KeptStatements::of(&connection);
        let count = || statements.with(COUNT, |it| it.query_row([], |row| row.get::<_, i64>(0)));
        for n in 1..=3 {
            let n_before = statements.with(ADD, |it| {
                let n_before = count()?;
                it.execute([n])?;
                Ok(n_before)
            });
            assert_eq!(n_before.unwrap(), n - 1);
        }
        assert!(statements.with(ADD, |it| it.execute([1])).is_err());
        assert!(statements.with("not a statement", |it| it.execute([])).is_err());
        assert_eq!(statements.with(ADD, |it| it.execute([4])).unwrap(), 1);
        assert_eq!(count().unwrap(), 4);
        assert_eq!(statements.kept.borrow().len(), 2);
    }
}
