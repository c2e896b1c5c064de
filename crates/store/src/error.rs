//! Why a store takes no writes while reads may still work, and the error codes.

use crate::StoreError;

/// What prevents writes to a store. Reads continue.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum WriteFault {
    #[error(
        "the disk that holds Baton's data is full, so nothing was recorded; make room, then send the same again"
    )]
    DiskFull,
    #[error(
        "the disk or the folder that holds Baton's data is read-only, so nothing was recorded; make it writable, then send the same again"
    )]
    ReadOnly,
    #[error(
        "the database takes no writes: it is set to read only, or is a standby, so nothing was recorded; \
         make it writable or name the one that is, then send the same again"
    )]
    DatabaseReadOnly,
    /// The files, or the database, are not those that were opened. Lasts until the store is reopened.
    #[error("{what}, so nothing more is recorded; {advice}")]
    Replaced { what: String, advice: String },
    /// Commands are recorded, but the log of the database grows: no checkpoint without a mark.
    #[error(
        "`baton.mark` beside Baton's data cannot be written, so nothing would tell if the newest events were lost; make it writable ({cause})"
    )]
    Unmarked { cause: String },
    /// Another reason, which only the server's log has.
    #[error("Baton's data cannot be written; the cause is in Baton's log")]
    Failing,
}

impl WriteFault {
    /// The state itself, for those who read: nothing of theirs was to be recorded.
    pub fn state(&self) -> String {
        match self {
            Self::DiskFull => {
                "the disk that holds Baton's data is full; make room, so that changes can be recorded"
                    .to_owned()
            }
            Self::ReadOnly => "the disk or the folder that holds Baton's data is read-only; make it writable, \
                               so that changes can be recorded"
                .to_owned(),
            Self::DatabaseReadOnly => "the database takes no writes: it is set to read only, or is a standby; make it \
                                       writable or name the one that is, so that changes can be recorded"
                .to_owned(),
            Self::Replaced { .. } | Self::Unmarked { .. } | Self::Failing => self.to_string(),
        }
    }

    /// As [`StoreError::code`].
    pub fn code(&self) -> &'static str {
        match self {
            WriteFault::DiskFull => "disk_full",
            WriteFault::ReadOnly | WriteFault::DatabaseReadOnly => "read_only",
            WriteFault::Replaced { .. } => "data_replaced",
            WriteFault::Unmarked { .. } | WriteFault::Failing => "unavailable",
        }
    }
}

impl StoreError {
    /// A stable code that callers may match on; unlike the message, it never changes.
    pub fn code(&self) -> &'static str {
        match self {
            StoreError::Unwritable(fault) => fault.code(),
            StoreError::Damaged { .. } => "damaged",
            StoreError::Nul => "nul",
            StoreError::Unavailable(_) | StoreError::Closed => "unavailable",
        }
    }
}
