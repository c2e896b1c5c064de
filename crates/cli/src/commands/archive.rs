//! `baton archive`: the files that follow the log, made again.

use baton_core::document::{Node, Number};

use crate::archive::{archive_of, failure};
use crate::args::{Archive, Command};
use crate::failure::Failure;
use crate::session::Session;
use crate::show::{self, Format};

pub(crate) async fn run(session: &Session, verb: &Archive) -> Result<(), Failure> {
    match verb {
        Archive::Rebuild => rebuild(session).await,
    }
}

/// A server has the data, and its archive too: it is the one to ask.
pub(crate) fn while_served(command: &Command, failure: Failure) -> Failure {
    match (command, failure) {
        (Command::Archive(Archive::Rebuild), Failure::Busy { by }) if by.starts_with("http") => {
            Failure::Conflict(format!(
                "a server has the data; ask it with `curl -X POST {by}/api/v1/archive/rebuild`"
            ))
        }
        (_, failure) => failure,
    }
}

async fn rebuild(session: &Session) -> Result<(), Failure> {
    let archive = archive_of(session).ok_or_else(|| {
        let message = "this project keeps no archive; add `[archive]` to `.baton/baton.toml`";
        Failure::NotFound(message.to_owned())
    })?;
    let done = archive.rebuild().await.map_err(failure)?;
    let sessions = archive.places().sessions.display().to_string();
    if session.format == Format::Json {
        let number = |it: u64| Node::Number(Number::from(i64::try_from(it).unwrap_or(i64::MAX)));
        show::answer_json(&Node::map([
            ("runs", number(done.n_runs)),
            ("unreadable", number(done.n_unreadable)),
            ("sessions", Node::Text(sessions)),
        ]));
    } else {
        let runs = if done.n_runs == 1 { "run" } else { "runs" };
        show::answer(&format!("archived {} {runs} in {}", done.n_runs, show::visible(&sessions)));
    }
    match done.n_unreadable {
        0 => Ok(()),
        n => Err(Failure::Broken {
            what: format!("runs that cannot be read: {n}; type `baton verify`"),
        }),
    }
}
