//! What the database's errors mean.

use std::error::Error as _;

use baton_store::{StoreError, WriteFault};
use tokio_postgres::Error;
use tokio_postgres::error::SqlState;

/// Why a database could not be opened.
#[derive(Debug, thiserror::Error)]
pub enum DatabaseError {
    #[error(
        "`{url}` is no address of a PostgreSQL database; write `postgres://USER@HOST/DATABASE`"
    )]
    Address {
        /// Without its password.
        url: String,
        #[source]
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    #[error("the certificates for the connection to the database cannot be used: {what}")]
    Certificates { what: String },
    #[error("the database at {place} cannot be reached")]
    Unreachable {
        place: String,
        #[source]
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    #[error(
        "the certificate of the database at {place} cannot be verified: name the certificate of its \
         authority with `sslrootcert=FILE` in the address or, in a network that you trust, do without TLS \
         with `sslmode=disable`"
    )]
    Untrusted {
        place: String,
        #[source]
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    #[error("the database at {place} refuses the user or the password")]
    Refused {
        place: String,
        #[source]
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    #[error("there is no database of that name at {place}; create it with `createdb`")]
    NoDatabase {
        place: String,
        #[source]
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    #[error("the database at {place} is PostgreSQL {found}; Baton needs 14 or newer")]
    TooOld { place: String, found: String },
    #[error(
        "the schema of the database at {place} has tables that are not Baton's; name an empty schema \
         with `?schema=NAME`"
    )]
    NotOurs { place: String },
    #[error(
        "the database at {place} was written by a newer Baton (migration {number}); update this one"
    )]
    FromTheFuture { place: String, number: i64 },
    #[error("migration {number} in the database at {place} is not the one that this Baton has")]
    Changed { place: String, number: i64 },
    #[error(
        "data is being moved into the database at {place}, and not all of it is there; repeat the \
         interrupted `migrate` command to go on with it"
    )]
    Moving { place: String },
    #[error(
        "connections to the database at {place} use the schema `{found}`, not `{wanted}`: take \
         `search_path` out of the address, or name `{found}` with `?schema=`"
    )]
    OtherSchema { place: String, wanted: String, found: String },
    #[error("the database at {place} has no data of Baton; look at its name and its schema")]
    NoData { place: String },
    #[error("the database at {place} stores text as {found}; Baton needs UTF8")]
    Encoding { place: String, found: String },
    #[error(
        "the database at {place} does not let this user make or use Baton's tables; let the user own the \
         database, or a schema named with `?schema=NAME`"
    )]
    Rights {
        place: String,
        #[source]
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    #[error("the database at {place} could not be prepared")]
    Failed {
        place: String,
        #[source]
        source: Box<dyn std::error::Error + Send + Sync>,
    },
}

impl DatabaseError {
    /// A stable code that callers may match on; unlike the message, it never changes.
    pub fn code(&self) -> &'static str {
        match self {
            DatabaseError::Address { .. }
            | DatabaseError::Certificates { .. }
            | DatabaseError::Untrusted { .. } => "bad_database_url",
            DatabaseError::Refused { .. } | DatabaseError::Rights { .. } => "database_refused",
            DatabaseError::TooOld { .. }
            | DatabaseError::Encoding { .. }
            | DatabaseError::NotOurs { .. }
            | DatabaseError::OtherSchema { .. }
            | DatabaseError::NoData { .. }
            | DatabaseError::Moving { .. }
            | DatabaseError::NoDatabase { .. } => "database_unsuitable",
            DatabaseError::FromTheFuture { .. } | DatabaseError::Changed { .. } => "database_newer",
            DatabaseError::Unreachable { .. } | DatabaseError::Failed { .. } => "unavailable",
        }
    }

    /// Of an answer to what prepares the database.
    pub(crate) fn preparing(place: &str, source: Box<dyn std::error::Error + Send + Sync>) -> Self {
        let place = place.to_owned();
        match lacks_rights(source.as_ref()) {
            true => DatabaseError::Rights { place, source },
            false => DatabaseError::Failed { place, source },
        }
    }

    /// Of a connection that could not be made to `place`.
    pub(crate) fn connecting(place: &str, error: Error) -> Self {
        let place = place.to_owned();
        let state = error.code().cloned();
        let source = Box::new(error);
        match state {
            Some(SqlState::INVALID_PASSWORD | SqlState::INVALID_AUTHORIZATION_SPECIFICATION) => {
                DatabaseError::Refused { place, source }
            }
            Some(SqlState::INVALID_CATALOG_NAME) => DatabaseError::NoDatabase { place, source },
            // A password was asked for and none was given: the client's own error.
            None if source.source().is_some_and(|it| it.to_string().contains("password")) => {
                DatabaseError::Refused { place, source }
            }
            None if is_certificate(source.as_ref()) => DatabaseError::Untrusted { place, source },
            Some(_) | None => DatabaseError::Unreachable { place, source },
        }
    }
}

/// Whether one of the causes is the certificate of the server.
fn is_certificate(error: &(dyn std::error::Error + 'static)) -> bool {
    let mut cause = Some(error);
    while let Some(error) = cause {
        // The client's TLS errors are inside errors of input and output, whose source is that of theirs.
        let inner = error.downcast_ref::<std::io::Error>().and_then(std::io::Error::get_ref);
        let inner = inner.and_then(|it| it.downcast_ref::<rustls::Error>());
        let inner = inner.or_else(|| error.downcast_ref::<rustls::Error>());
        if matches!(inner, Some(rustls::Error::InvalidCertificate(_))) {
            return true;
        }
        cause = error.source();
    }
    false
}

/// Whether one of the causes is that the role may not do it.
fn lacks_rights(error: &(dyn std::error::Error + 'static)) -> bool {
    let mut cause = Some(error);
    while let Some(error) = cause {
        let state = error.downcast_ref::<Error>().and_then(Error::code);
        // A schema that may not be used is one that is not found.
        let states = [SqlState::INSUFFICIENT_PRIVILEGE, SqlState::INVALID_SCHEMA_NAME];
        if state.is_some_and(|it| states.contains(it)) {
            return true;
        }
        cause = error.source();
    }
    false
}

/// Raised by `refuse_append` in the database.
const REFUSED_APPEND: &str = "BT001";

pub(crate) fn to_store(error: Error) -> StoreError {
    let Some(state) = error.code() else { return StoreError::Unavailable(Box::new(error)) };
    if *state == SqlState::DISK_FULL {
        return StoreError::Unwritable(WriteFault::DiskFull);
    }
    if *state == SqlState::READ_ONLY_SQL_TRANSACTION {
        return StoreError::Unwritable(WriteFault::DatabaseReadOnly);
    }
    if state.code() == REFUSED_APPEND {
        let what = error.as_db_error().map_or_else(String::new, |it| it.message().to_owned());
        return StoreError::Damaged { what };
    }
    // Class 23: a constraint. Class 42: one of our statements names what is not there.
    if state.code().starts_with("23") {
        return damaged("what was to be added does not fit what is there");
    }
    if [SqlState::UNDEFINED_TABLE, SqlState::UNDEFINED_COLUMN, SqlState::UNDEFINED_FUNCTION]
        .contains(state)
    {
        let what = error.as_db_error().map_or_else(String::new, |it| it.message().to_owned());
        return damaged(&format!("the schema is not the one that Baton makes ({what})"));
    }
    if *state == SqlState::DATA_CORRUPTED || *state == SqlState::INDEX_CORRUPTED {
        return damaged("the database says that its files are damaged");
    }
    StoreError::Unavailable(Box::new(error))
}

pub(crate) fn damaged(what: &str) -> StoreError {
    StoreError::Damaged { what: what.to_owned() }
}

/// The unique index that a statement violated.
pub(crate) fn violated_index(error: &Error) -> Option<&str> {
    let error = error.as_db_error()?;
    (*error.code() == SqlState::UNIQUE_VIOLATION).then(|| error.constraint()).flatten()
}

/// Two transactions waited for each other, and this one was given up: it can be sent again.
pub(crate) fn is_deadlock(error: &Error) -> bool {
    error.code().is_some_and(|it| {
        *it == SqlState::T_R_DEADLOCK_DETECTED || *it == SqlState::T_R_SERIALIZATION_FAILURE
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_certificate_that_is_not_trusted_is_told_from_a_server_that_is_away() {
        let unknown = rustls::Error::InvalidCertificate(rustls::CertificateError::UnknownIssuer);
        for (error, expected) in [
            (std::io::Error::other(unknown), true),
            (std::io::Error::other(rustls::Error::HandshakeNotComplete), false),
            (std::io::Error::from(std::io::ErrorKind::ConnectionRefused), false),
        ] {
            assert_eq!(is_certificate(&error), expected, "{error}");
        }
    }
}
