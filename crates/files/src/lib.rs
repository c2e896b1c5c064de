//! The one way to the files of a project.
//!
//! A project's files come with a repository that anybody may have written. A [`Dir`] is an open
//! folder; every path is resolved beneath it, one name after the other, and no symbolic link is
//! followed. Only regular files are opened, so that a pipe or a device can neither block nor feed
//! Baton.
//!
//! What is not here: paths that a person types on the command line, except as the root of a [`Dir`].
#![cfg_attr(test, expect(clippy::disallowed_methods, reason = "tests make files of their own"))]

#[cfg(not(unix))]
compile_error!("Baton needs a Unix: only there a path can be resolved beneath an open folder");

mod dir;
mod entry;
mod error;
pub mod fail_point;
mod file;
mod platform;
mod read;
mod remove;
mod staging;
mod write;

#[cfg(test)]
mod tests;

pub use dir::Dir;
pub use entry::{FileEntry, FileIdentity, FileKind, FileTime};
pub use error::FileError;
pub use file::{Access, FileHandle, FileMode};
pub use staging::{STAGING_LOCK, Staging};
