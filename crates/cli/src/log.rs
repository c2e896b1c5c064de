//! Operator log on stderr: failures outside of any request. Commands print their own messages.

use tracing::level_filters::LevelFilter;

use crate::failure::Failure;

const LEVEL: &str = "BATON_LOG";

/// Starts the log: warnings and errors, or the level in `BATON_LOG`.
pub(crate) fn start() -> Result<(), Failure> {
    let installed = tracing_subscriber::fmt()
        .with_max_level(level()?)
        .with_target(false)
        .with_writer(std::io::stderr)
        .try_init();
    installed.map_err(|error| Failure::io("write a log", std::io::Error::other(error)))
}

#[expect(clippy::disallowed_methods, reason = "how much is logged is the environment's to say")]
fn level() -> Result<LevelFilter, Failure> {
    let said = std::env::var(LEVEL).unwrap_or_default();
    match said.trim() {
        "" => Ok(LevelFilter::WARN),
        word => word.parse().map_err(|_| {
            let known = "off, error, warn, info, debug, trace";
            Failure::Usage(format!("`{LEVEL}` is `{word}`; it can be one of {known}"))
        }),
    }
}
