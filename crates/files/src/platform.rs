//! The same few calls for every system. On Unix each name is resolved beneath an open folder; with
//! the standard library alone, a path is checked first and used afterwards.

#[cfg(not(unix))]
mod portable;
#[cfg(unix)]
mod unix;

#[cfg(not(unix))]
pub(crate) use portable::*;
#[cfg(unix)]
pub(crate) use unix::*;
