//! Statements with typed parameters, which run prepared or, behind a pooler that gives each
//! transaction another connection, unprepared and in a transaction that makes its own settings.

use std::sync::Arc;

use baton_store::{StoreError, StoreResult, WriteFault};
use deadpool_postgres::{Object, Pool, PoolError, Transaction as PooledTransaction};
use futures_util::future::join3;
use tokio_postgres::types::{ToSql, Type};
use tokio_postgres::{Error, Row, Transaction};

use crate::data_state::DataState;
use crate::error::to_store;
use crate::settings::PostgresSettings;

/// A statement under construction.
pub(crate) struct SqlQuery<'a> {
    pub(crate) sql: String,
    params: Vec<(Box<dyn ToSql + Sync + Send + 'a>, Type)>,
}

impl<'a> SqlQuery<'a> {
    pub(crate) fn new(sql: impl Into<String>) -> Self {
        Self { sql: sql.into(), params: Vec::new() }
    }

    /// Adds a parameter; returns its place in the text, such as `$3`.
    pub(crate) fn bind(&mut self, value: impl ToSql + Sync + Send + 'a, as_type: Type) -> String {
        self.params.push((Box::new(value), as_type));
        format!("${}", self.params.len())
    }

    /// As [`SqlQuery::bind`], for a statement whose text is written already.
    pub(crate) fn with(mut self, value: impl ToSql + Sync + Send + 'a, as_type: Type) -> Self {
        self.bind(value, as_type);
        self
    }

    fn types(&self) -> Vec<Type> {
        self.params.iter().map(|(_, it)| it.clone()).collect()
    }

    fn values(&self) -> Vec<&(dyn ToSql + Sync)> {
        self.params.iter().map(|(it, _)| &**it as &(dyn ToSql + Sync)).collect()
    }

    fn typed(&self) -> Vec<(&(dyn ToSql + Sync), Type)> {
        self.params.iter().map(|(it, of)| (&**it as &(dyn ToSql + Sync), of.clone())).collect()
    }
}

/// Whether statements are kept prepared on their connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Preparing {
    Kept,
    /// For a pooler that gives each transaction another connection.
    Never,
}

/// Connections to the database.
#[derive(Debug, Clone)]
pub(crate) struct Connections {
    pool: Pool,
    preparing: Preparing,
    /// What a transaction begins with where no setting of the session holds.
    local_settings: Arc<str>,
    state: Arc<DataState>,
}

impl Connections {
    pub(crate) fn new(pool: Pool, settings: &PostgresSettings, state: Arc<DataState>) -> Self {
        let local_settings = settings.local_settings().into();
        Self { pool, preparing: settings.preparing, local_settings, state }
    }

    pub(crate) fn state(&self) -> &DataState {
        &self.state
    }

    pub(crate) fn preparing(&self) -> Preparing {
        self.preparing
    }

    /// Refused where it would lead to other data than was opened.
    pub(crate) async fn connection(&self) -> StoreResult<Object> {
        let got = self.pool.get().await;
        if let Some(fault) = self.state.refusal() {
            return Err(StoreError::Unwritable(fault));
        }
        got.map_err(|error| match error {
            PoolError::Closed => StoreError::Closed,
            error @ (PoolError::Timeout(_)
            | PoolError::Backend(_)
            | PoolError::NoRuntimeSpecified
            | PoolError::PostCreateHook(_)) => StoreError::Unavailable(Box::new(error)),
        })
    }

    /// The rows of a statement that is a transaction of its own.
    pub(crate) async fn rows(&self, query: &SqlQuery<'_>) -> StoreResult<Vec<Row>> {
        let connection = self.connection().await?;
        self.run(&connection, query).await.map_err(|it| self.failed(it))
    }

    /// What an error means; a full disk is remembered.
    pub(crate) fn failed(&self, error: Error) -> StoreError {
        let error = to_store(error);
        if matches!(error, StoreError::Unwritable(WriteFault::DiskFull)) {
            self.state.disk_is_full();
        }
        error
    }

    /// As [`Connections::rows`], with the database's own error.
    pub(crate) async fn try_rows(
        &self,
        query: &SqlQuery<'_>,
    ) -> StoreResult<Result<Vec<Row>, Error>> {
        let connection = self.connection().await?;
        Ok(self.run(&connection, query).await)
    }

    /// A read, which is repeated once where the connection turned out to be gone: the database was
    /// restarted, or another server has taken over.
    pub(crate) async fn read(&self, query: &SqlQuery<'_>) -> StoreResult<Vec<Row>> {
        let connection = self.connection().await?;
        match self.run(&connection, query).await {
            Err(error) if error.is_closed() => {
                // The pool gives out no connection that is known to be closed.
                drop(connection);
                self.rows(query).await
            }
            result => result.map_err(|it| self.failed(it)),
        }
    }

    /// At most one row.
    pub(crate) async fn read_one(&self, query: &SqlQuery<'_>) -> StoreResult<Option<Row>> {
        Ok(self.read(query).await?.into_iter().next())
    }

    /// How many rows a statement changed.
    pub(crate) async fn execute(&self, query: &SqlQuery<'_>) -> StoreResult<u64> {
        let connection = self.connection().await?;
        let result = match self.preparing {
            Preparing::Kept => {
                let statement = connection.prepare_typed_cached(&query.sql, &query.types()).await;
                match statement {
                    Ok(statement) => connection.execute(&statement, &query.values()).await,
                    Err(error) => Err(error),
                }
            }
            Preparing::Never => {
                let params = query.typed();
                let work = connection.execute_typed(&query.sql, &params);
                self.in_one_transaction(&connection, work).await
            }
        };
        result.map_err(|it| self.failed(it))
    }

    /// Several statements in one transaction, which is rolled back unless `work` succeeds.
    pub(crate) async fn transaction<T, E: From<StoreError>>(
        &self,
        work: impl for<'t> AsyncFnOnce(&'t Transaction<'t>) -> Result<T, E>,
    ) -> Result<T, E> {
        let mut connection = self.connection().await?;
        let transaction = self.begin(&mut connection).await?;
        let result = work(&transaction).await?;
        transaction.commit().await.map_err(|it| self.failed(it))?;
        Ok(result)
    }

    async fn run(&self, connection: &Object, query: &SqlQuery<'_>) -> Result<Vec<Row>, Error> {
        match self.preparing {
            Preparing::Kept => {
                let statement = connection.prepare_typed_cached(&query.sql, &query.types()).await?;
                connection.query(&statement, &query.values()).await
            }
            Preparing::Never => {
                let params = query.typed();
                let work = connection.query_typed(&query.sql, &params);
                self.in_one_transaction(connection, work).await
            }
        }
    }

    /// A transaction with the settings of this process.
    pub(crate) async fn begin<'c>(
        &self,
        connection: &'c mut Object,
    ) -> StoreResult<PooledTransaction<'c>> {
        let begun = begin(connection, self.preparing, &self.local_settings).await;
        begun.map_err(|it| self.failed(it))
    }

    /// One statement in a transaction that makes its own settings. All of it is sent at once, so it
    /// takes one round trip, and whoever gives up waiting leaves no transaction open.
    async fn in_one_transaction<T>(
        &self,
        connection: &Object,
        statement: impl Future<Output = Result<T, Error>>,
    ) -> Result<T, Error> {
        let begin = format!("begin; {}", self.local_settings);
        // Polled in this order, and each is sent when it is polled for the first time.
        let (begun, result, ended) =
            join3(connection.batch_execute(&begin), statement, connection.batch_execute("commit"))
                .await;
        begun?;
        let result = result?;
        ended?;
        Ok(result)
    }

    pub(crate) fn close(&self) {
        self.pool.close();
    }

    pub(crate) fn is_closed(&self) -> bool {
        self.pool.is_closed()
    }
}

/// Begins a transaction; with its own settings where those of the session do not hold.
pub(crate) async fn begin<'c>(
    connection: &'c mut Object,
    preparing: Preparing,
    local_settings: &str,
) -> Result<PooledTransaction<'c>, Error> {
    // `deadpool_postgres` wraps it for its cache of statements, which is not used here: these are rare.
    let transaction = connection.build_transaction().start().await?;
    match preparing {
        Preparing::Kept => {}
        Preparing::Never => transaction.batch_execute(local_settings).await?,
    }
    Ok(transaction)
}

/// The rows of a statement inside a transaction.
pub(crate) async fn rows_in(
    transaction: &Transaction<'_>,
    query: &SqlQuery<'_>,
) -> StoreResult<Vec<Row>> {
    transaction.query_typed(&query.sql, &query.typed()).await.map_err(to_store)
}
