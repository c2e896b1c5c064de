//! Starts a browser: the only file of this program that starts another.
#![expect(clippy::disallowed_methods, reason = "this is the file that starts a browser")]

use std::io;
use std::process::{Command, Stdio};

/// Passes an address to the system's opener, without waiting for it.
pub(crate) fn open(url: &str) -> io::Result<()> {
    let mut command =
        if cfg!(target_os = "macos") { Command::new("open") } else { Command::new("xdg-open") };
    command.arg(url).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command.spawn().map(|_| ())
}
