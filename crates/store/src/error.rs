//! Why a store takes no writes while it may still be read, and the codes of what can go wrong.

use crate::StoreError;

/// What keeps a store from being written. Reads go on.
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
    /// The files are not those that were opened. This lasts until the store is opened anew.
    #[error("{what}, so nothing more is recorded; {advice}")]
    Replaced { what: String, advice: String },
    /// Commands are recorded, and the log of the database grows: it is not moved before it is marked.
    #[error(
        "`baton.mark` beside Baton's data cannot be written, so nothing would tell if the newest events were lost; make it writable ({cause})"
    )]
    Unmarked { cause: String },
    /// For a reason that only the log has.
    #[error("Baton's data cannot be written; the cause is in Baton's log")]
    Failing,
}

impl WriteFault {
    /// As [`StoreError::code`].
    pub fn code(&self) -> &'static str {
        match self {
            WriteFault::DiskFull => "disk_full",
            WriteFault::ReadOnly => "read_only",
            WriteFault::Replaced { .. } => "data_replaced",
            WriteFault::Unmarked { .. } | WriteFault::Failing => "unavailable",
        }
    }
}

impl StoreError {
    /// A stable code that callers may match on; the message may change, this may not.
    pub fn code(&self) -> &'static str {
        match self {
            StoreError::Unwritable(fault) => fault.code(),
            StoreError::Damaged { .. } => "damaged",
            StoreError::Nul => "nul",
            StoreError::Unavailable(_) | StoreError::Closed => "unavailable",
        }
    }
}
