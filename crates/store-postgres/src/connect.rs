//! Opens a database: the only place that makes connections.

use std::sync::Arc;
use std::time::Duration;

use baton_store::StoreError;
use deadpool_postgres::{
    Hook, HookError, Manager, ManagerConfig, Pool, RecyclingMethod, Runtime, Timeouts,
};
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject as _;
use rustls::{ClientConfig, RootCertStore};
use tokio_postgres::{Client, NoTls, Transaction};
use tokio_postgres_rustls::MakeRustlsConnect;
use uuid::Uuid;

use crate::columns::Columns;
use crate::data_place::ServerPlace;
use crate::data_state::DataState;
use crate::error::DatabaseError;
use crate::query::{Connections, SqlQuery, begin, rows_in};
use crate::settings::PostgresSettings;
use crate::{identity, migrate, outlines};

/// The oldest version that has `pg_current_xact_id`, and is still looked after.
const OLDEST: i32 = 140_000;

/// How long a command waits for a connection.
const POOL_WAIT: Duration = Duration::from_secs(10);

/// What is done with a database that has nothing of Baton.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum EmptyDatabase {
    /// It becomes that of a new project.
    Taken,
    /// It is a mistake, and stays as it is.
    Refused,
}

/// Connects, checks what is there, and migrates its schema.
pub(crate) async fn open(
    settings: &PostgresSettings,
    empty: EmptyDatabase,
) -> Result<Connections, DatabaseError> {
    let place = settings.place();
    // Errors of the first connection are returned as they are: a pool would wrap them.
    drop(client(settings).await?);
    let state = Arc::new(DataState::new());
    let pool = pool(settings, state.clone())?;
    let failed =
        |source: Box<dyn std::error::Error + Send + Sync>| DatabaseError::preparing(&place, source);
    let mut connection = pool.get().await.map_err(|it| failed(Box::new(it)))?;
    judge(&connection, &place).await?;
    if let (Some(schema), EmptyDatabase::Taken) = (&settings.schema, empty) {
        // Names are checked when the settings are read.
        let sql = format!("create schema if not exists {schema}");
        // Two nodes at once: the other one may have made it.
        if let Err(error) = connection.batch_execute(&sql).await {
            tracing::debug!(error = &error as &dyn std::error::Error, "no schema was made");
        }
    }
    let server = ServerPlace::of(&connection).await;
    let local_settings = settings.local_settings();
    let transaction = begin(&mut connection, settings.preparing, &local_settings).await;
    let transaction = transaction.map_err(|it| failed(Box::new(it)))?;
    refuse_other_schema(&transaction, settings).await?;
    if empty == EmptyDatabase::Refused
        && !migrate::is_listed(&transaction).await.map_err(|it| failed(Box::new(it)))?
    {
        return Err(DatabaseError::NoData { place });
    }
    prepare(&transaction, &place, &server).await?;
    transaction.commit().await.map_err(|it| failed(Box::new(it)))?;
    drop(connection);
    state.opened_on(server);
    Ok(Connections::new(pool, settings, state))
}

/// Something in between, or an option of the address, may choose another schema than the one named.
async fn refuse_other_schema(
    transaction: &Transaction<'_>,
    settings: &PostgresSettings,
) -> Result<(), DatabaseError> {
    let Some(wanted) = &settings.schema else { return Ok(()) };
    let place = settings.place();
    let failed = |source: StoreError| DatabaseError::preparing(&place, Box::new(source));
    let query = SqlQuery::new("select current_schema()::text as found");
    let rows = rows_in(transaction, &query).await.map_err(failed)?;
    let found = rows.first().map(|row| Columns::of(row, "pg_namespace", "found").get("found"));
    let found: Option<String> = found.transpose().map_err(failed)?.flatten();
    match found {
        Some(found) if found != *wanted => {
            Err(DatabaseError::OtherSchema { place, wanted: wanted.clone(), found })
        }
        // None: what is done with it fails, and says why.
        Some(_) | None => Ok(()),
    }
}

async fn prepare(
    transaction: &Transaction<'_>,
    place: &str,
    server: &ServerPlace,
) -> Result<(), DatabaseError> {
    let failed = |source: StoreError| DatabaseError::preparing(place, Box::new(source));
    migrate::migrate(transaction, place).await?;
    identity::prepare(transaction, Uuid::new_v4(), server).await.map_err(failed)?;
    outlines::bring_up_to_date(transaction).await.map_err(failed)
}

/// Refuses a server that is too old, or stores another encoding.
async fn judge(client: &Client, place: &str) -> Result<(), DatabaseError> {
    let sql = "select current_setting('server_version_num')::integer as number,
                   current_setting('server_version') as version,
                   current_setting('server_encoding') as encoding";
    let row = client
        .query_typed(sql, &[])
        .await
        .map_err(|error| DatabaseError::connecting(place, error))?
        .into_iter()
        .next();
    let Some(row) = row else { return Ok(()) };
    let row = Columns::of(&row, "pg_settings", "number");
    let failed = |source: StoreError| DatabaseError::preparing(place, Box::new(source));
    let (number, version): (i32, String) =
        (row.get("number").map_err(failed)?, row.get("version").map_err(failed)?);
    if number < OLDEST {
        return Err(DatabaseError::TooOld { place: place.to_owned(), found: version });
    }
    let encoding: String = row.get("encoding").map_err(failed)?;
    if encoding != "UTF8" {
        return Err(DatabaseError::Encoding { place: place.to_owned(), found: encoding });
    }
    Ok(())
}

fn pool(settings: &PostgresSettings, state: Arc<DataState>) -> Result<Pool, DatabaseError> {
    let config = ManagerConfig { recycling_method: RecyclingMethod::Fast };
    let manager = if settings.wants_tls() {
        Manager::from_config(settings.config.clone(), tls(settings)?, config)
    } else {
        Manager::from_config(settings.config.clone(), NoTls, config)
    };
    let timeouts = Timeouts { wait: Some(POOL_WAIT), create: Some(POOL_WAIT), recycle: None };
    let is_same = Hook::async_fn(move |client, _| {
        let state = state.clone();
        Box::pin(async move {
            match state.is_same_on(client).await {
                true => Ok(()),
                false => Err(HookError::message("the data is not that which was opened")),
            }
        })
    });
    Pool::builder(manager)
        .post_create(is_same)
        // A lock takes one while the work that it is for needs another.
        .max_size(settings.pool.max(2))
        .timeouts(timeouts)
        .runtime(Runtime::Tokio1)
        .build()
        .map_err(|source| DatabaseError::Failed {
            place: settings.place(),
            source: Box::new(source),
        })
}

/// A connection beside the pool, driven by a task that ends with it.
pub(crate) async fn client(settings: &PostgresSettings) -> Result<Client, DatabaseError> {
    let place = settings.place();
    let connecting = |error| DatabaseError::connecting(&place, error);
    if settings.wants_tls() {
        let (client, connection) =
            settings.config.connect(tls(settings)?).await.map_err(connecting)?;
        tokio::spawn(connection);
        Ok(client)
    } else {
        let (client, connection) = settings.config.connect(NoTls).await.map_err(connecting)?;
        tokio::spawn(connection);
        Ok(client)
    }
}

/// The certificate of the server is always checked.
pub(crate) fn tls(settings: &PostgresSettings) -> Result<MakeRustlsConnect, DatabaseError> {
    let bad = |what: String| DatabaseError::Certificates { what };
    let mut roots = RootCertStore::empty();
    match &settings.root_certificate {
        Some(path) => {
            let certificates = CertificateDer::pem_file_iter(path)
                .map_err(|error| bad(format!("`{path}`: {error}")))?;
            for certificate in certificates {
                let certificate = certificate.map_err(|error| bad(format!("`{path}`: {error}")))?;
                roots.add(certificate).map_err(|error| bad(format!("`{path}`: {error}")))?;
            }
            if roots.is_empty() {
                return Err(bad(format!("`{path}` has none")));
            }
        }
        None => {
            roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
        }
    }
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(|error| bad(error.to_string()))?
        .with_root_certificates(roots)
        .with_no_client_auth();
    Ok(MakeRustlsConnect::new(config))
}
