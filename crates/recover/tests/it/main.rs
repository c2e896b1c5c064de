//! Damages a database in every way that a disk can, and looks what is brought back.
#![expect(clippy::disallowed_methods, reason = "they damage the files themselves")]
#![expect(clippy::unwrap_used, reason = "these are tests")]

mod archive;
mod columns;
mod damages;
mod odd_rows;
mod suspects;
mod unsound;
mod wreckage;
