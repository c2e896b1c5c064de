//! How to reach a database: an address such as `postgres://USER:PASSWORD@HOST:PORT/DATABASE`, with
//! options of Baton's own beside those of PostgreSQL.
//!
//! | option | meaning |
//! |---|---|
//! | `schema=NAME` | the schema that has Baton's tables; `public` otherwise |
//! | `pool=N` | connections of this process, 16 otherwise |
//! | `pooler=transaction` | there is a pooler in between that gives each transaction another connection |
//! | `sslrootcert=FILE` | TLS only; trust this certificate authority instead of the system's |
//! | `statement_timeout=SECONDS` | how long a statement may take, 30 otherwise |

use std::fmt;
use std::path::Path;
use std::str::FromStr as _;
use std::time::Duration;

use tokio_postgres::Config;
use tokio_postgres::config::{Host, SslMode};

use crate::error::DatabaseError;
use crate::query::Preparing;

const DEFAULT_POOL: usize = 16;
const DEFAULT_TIMEOUT: Duration = Duration::from_secs(30);
const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);
const LOCK_TIMEOUT_MS: u32 = 10_000;
const IDLE_TIMEOUT_MS: u32 = 60_000;

/// How to reach a database. Its `Debug` and [`PostgresSettings::place`] leave the password out.
#[derive(Clone)]
pub struct PostgresSettings {
    pub(crate) config: Config,
    pub(crate) schema: Option<String>,
    pub(crate) pool: usize,
    pub(crate) preparing: Preparing,
    pub(crate) statement_timeout: Duration,
    pub(crate) root_certificate: Option<String>,
}

impl fmt::Debug for PostgresSettings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PostgresSettings").field("place", &self.place()).finish_non_exhaustive()
    }
}

impl PostgresSettings {
    pub fn parse(url: &str) -> Result<Self, DatabaseError> {
        let bad = |source: Box<dyn std::error::Error + Send + Sync>| DatabaseError::Address {
            url: without_password(url),
            source,
        };
        if !url.starts_with("postgres://") && !url.starts_with("postgresql://") {
            return Err(bad("it does not begin with `postgres://`".into()));
        }
        let (address, options) = url.split_once('?').unwrap_or((url, ""));
        let mut settings = Self {
            config: Config::new(),
            schema: None,
            pool: DEFAULT_POOL,
            preparing: Preparing::Kept,
            statement_timeout: DEFAULT_TIMEOUT,
            root_certificate: None,
        };
        let mut others: Vec<&str> = Vec::new();
        for option in options.split('&').filter(|it| !it.is_empty()) {
            let (name, value) = option.split_once('=').unwrap_or((option, ""));
            match name {
                "schema" if is_plain(value) => settings.schema = Some(value.to_owned()),
                "schema" => return Err(bad("`schema` takes letters, digits and `_`".into())),
                "pool" => {
                    let pool: Option<usize> =
                        value.parse().ok().filter(|it| (1..=1000).contains(it));
                    settings.pool =
                        pool.ok_or_else(|| bad("`pool` takes a number from 1 to 1000".into()))?;
                }
                "pooler" if value == "transaction" => settings.preparing = Preparing::Never,
                "pooler" => return Err(bad("`pooler` takes `transaction`".into())),
                "sslrootcert" => settings.root_certificate = Some(value.to_owned()),
                "statement_timeout" => {
                    let seconds: Option<u64> = value.parse().ok().filter(|it| *it > 0);
                    let seconds = seconds.ok_or_else(|| {
                        bad("`statement_timeout` takes a number of seconds".into())
                    })?;
                    settings.statement_timeout = Duration::from_secs(seconds);
                }
                // The client has only `require`, and checks certificates always.
                "sslmode" if value == "verify-full" || value == "verify-ca" => {
                    others.push("sslmode=require");
                }
                _ => others.push(option),
            }
        }
        let address = if others.is_empty() {
            address.to_owned()
        } else {
            format!("{address}?{}", others.join("&"))
        };
        settings.config = Config::from_str(&address).map_err(|error| bad(Box::new(error)))?;
        settings.finish();
        Ok(settings)
    }

    fn finish(&mut self) {
        self.config.connect_timeout(CONNECT_TIMEOUT).application_name("baton");
        if self.root_certificate.is_some() && self.config.get_ssl_mode() == SslMode::Prefer {
            // Whoever names a certificate wants it checked: not plain text where the server has no TLS.
            self.config.ssl_mode(SslMode::Require);
        }
        if self.preparing == Preparing::Never {
            // A pooler refuses options of the session: each transaction makes them (`local_settings`).
            return;
        }
        // A plan is made once for each statement: their texts name the columns that are compared.
        let mut options = format!(
            "-c statement_timeout={} -c idle_in_transaction_session_timeout={IDLE_TIMEOUT_MS} \
             -c plan_cache_mode=force_generic_plan -c lock_timeout={LOCK_TIMEOUT_MS}",
            self.statement_timeout.as_millis()
        );
        if let Some(schema) = &self.schema {
            options.push_str(&format!(" -c search_path={schema}"));
        }
        if let Some(given) = self.config.get_options() {
            options = format!("{options} {given}");
        }
        self.config.options(&options);
    }

    /// The settings of a transaction on a connection that other programs use too. Without a schema of
    /// its own it has that of the role, whatever others have set.
    pub(crate) fn local_settings(&self) -> String {
        let schema = self.schema.as_deref().unwrap_or("default");
        format!(
            "set local search_path = {schema}; set local statement_timeout = {}; \
             set local lock_timeout = {LOCK_TIMEOUT_MS}; \
             set local idle_in_transaction_session_timeout = {IDLE_TIMEOUT_MS}",
            self.statement_timeout.as_millis()
        )
    }

    /// With the file of `sslrootcert` below `folder`, unless its path is absolute.
    pub fn with_files_in(mut self, folder: &Path) -> Self {
        let path = self.root_certificate.take();
        self.root_certificate = path.map(|it| folder.join(it).display().to_string());
        self
    }

    /// Host, port and database, for messages.
    pub fn place(&self) -> String {
        let host = match self.config.get_hosts().first() {
            Some(Host::Tcp(host)) => host.clone(),
            #[cfg(unix)]
            Some(Host::Unix(path)) => path.display().to_string(),
            None => "localhost".to_owned(),
        };
        let port = self.config.get_ports().first().copied().unwrap_or(5432);
        let database = self.config.get_dbname().unwrap_or("postgres");
        let schema = self.schema.as_ref().map_or_else(String::new, |it| format!(" (schema {it})"));
        format!("{host}:{port}/{database}{schema}")
    }

    pub(crate) fn wants_tls(&self) -> bool {
        self.config.get_ssl_mode() != SslMode::Disable
    }
}

fn is_plain(name: &str) -> bool {
    !name.is_empty()
        && name.len() <= 63
        && name.bytes().all(|it| it.is_ascii_lowercase() || it.is_ascii_digit() || it == b'_')
}

/// The address with `***` in the place of its password, for messages.
pub fn without_password(url: &str) -> String {
    let Some((scheme, rest)) = url.split_once("://") else { return "***".to_owned() };
    let (authority, path) = match rest.find(['/', '?']) {
        Some(index) => rest.split_at(index),
        None => (rest, ""),
    };
    let authority = match authority.rsplit_once('@') {
        Some((user, host)) => {
            let user =
                user.split_once(':').map_or(user.to_owned(), |(user, _)| format!("{user}:***"));
            format!("{user}@{host}")
        }
        None => authority.to_owned(),
    };
    let (path, options) = path.split_once('?').unwrap_or((path, ""));
    let is_secret = |it: &&str| it.starts_with("password=");
    let options: Vec<&str> = options
        .split('&')
        .map(|it| if is_secret(&it) { "password=***" } else { it })
        .filter(|it| !it.is_empty())
        .collect();
    let options =
        if options.is_empty() { String::new() } else { format!("?{}", options.join("&")) };
    format!("{scheme}://{authority}{path}{options}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_password_is_never_shown() {
        for (url, expected) in [
            ("postgres://ada:s3cret@db:5432/baton", "postgres://ada:***@db:5432/baton"),
            ("postgres://ada:a@b:c@db/baton?pool=3", "postgres://ada:***@db/baton?pool=3"),
            (
                "postgres://db/baton?user=ada&password=s3cret",
                "postgres://db/baton?user=ada&password=***",
            ),
            ("postgres://ada@db/baton", "postgres://ada@db/baton"),
            ("postgres://db", "postgres://db"),
            ("s3cret", "***"),
        ] {
            assert_eq!(without_password(url), expected);
        }
        let settings = PostgresSettings::parse("postgres://ada:s3cret@db:5433/baton").unwrap();
        assert!(!format!("{settings:?}").contains("s3cret"));
        assert_eq!(settings.place(), "db:5433/baton");
    }

    #[test]
    fn our_options_are_read_and_the_others_go_to_the_client() {
        let url = "postgres://db/baton?schema=team_a&pool=3&pooler=transaction&sslmode=disable";
        let settings = PostgresSettings::parse(url).unwrap();
        assert_eq!(settings.schema.as_deref(), Some("team_a"));
        assert_eq!((settings.pool, settings.preparing), (3, Preparing::Never));
        assert!(!settings.wants_tls());
    }

    #[test]
    fn a_named_certificate_is_always_checked_and_is_a_file_of_the_project() {
        for (options, mode) in [
            ("", SslMode::Prefer),
            ("?sslrootcert=ca.pem", SslMode::Require),
            ("?sslmode=prefer&sslrootcert=ca.pem", SslMode::Require),
            ("?sslmode=disable&sslrootcert=ca.pem", SslMode::Disable),
            ("?sslmode=verify-full&sslrootcert=ca.pem", SslMode::Require),
        ] {
            let settings = PostgresSettings::parse(&format!("postgres://db/x{options}")).unwrap();
            assert_eq!(settings.config.get_ssl_mode(), mode, "{options}");
        }
        for (path, expected) in [("ca.pem", "/shop/ca.pem"), ("/etc/ca.pem", "/etc/ca.pem")] {
            let url = format!("postgres://db/x?sslrootcert={path}");
            let settings = PostgresSettings::parse(&url).unwrap().with_files_in(Path::new("/shop"));
            assert_eq!(settings.root_certificate.as_deref(), Some(expected));
        }
    }

    #[test]
    fn what_cannot_be_read_is_refused_without_its_password() {
        for url in [
            "mysql://ada:s3cret@db/baton",
            "postgres://ada:s3cret@db/baton?pool=0",
            "postgres://ada:s3cret@db/baton?schema=a;b",
            "postgres://ada:s3cret@db/baton?pooler=session",
            "postgres://ada:s3cret@db/baton?nonsense=1",
            "postgres://ada:s3cret@db:port/baton",
        ] {
            let error = PostgresSettings::parse(url).unwrap_err();
            assert!(matches!(error, DatabaseError::Address { .. }), "{url}");
            assert!(!error.to_string().contains("s3cret"), "{error}");
        }
    }
}
