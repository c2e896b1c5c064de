//! `baton archive`: rebuilds the archive files from the log.

use baton_api::{ArchiveDocument, Nothing, Rebuilt};

use crate::api::{Api, Ask};
use crate::args;
use crate::failure::Failure;
use crate::show::{self, OutputFormat};

pub(crate) async fn run(api: &Api, verb: args::ArchiveCommand) -> Result<(), Failure> {
    match verb {
        args::ArchiveCommand::Rebuild => rebuild(api).await,
    }
}

async fn rebuild(api: &Api) -> Result<(), Failure> {
    let reply = api.send(&Ask::post(["archive", "rebuild"], &Nothing {})).await?;
    let Rebuilt { runs, unreadable, unknown_sessions, kept_sessions } = reply.document()?;
    if api.format == OutputFormat::Json {
        show::answer_document(&reply.body);
    } else {
        let archive: ArchiveDocument = api.get(&Ask::get(["archive"])).await?;
        let runs = show::counted(runs, "run");
        let left = match unknown_sessions {
            0 => String::new(),
            1 => "; 1 folder there is of no run in this database, and was left alone".to_owned(),
            n => format!("; {n} folders there are of no run in this database, and were left alone"),
        };
        let sessions = show::visible(&archive.sessions);
        show::answer(&format!("archived {runs} in {sessions}{left}"));
        if kept_sessions > 0 {
            show::note(&format!(
                "{} more events than this database: kept aside as \
                 `{sessions}/RUN.newer-N`; `baton recover` reads them",
                show::counted_as(kept_sessions, "session has", "sessions have"),
            ));
        }
    }
    match unreadable {
        0 => Ok(()),
        n => {
            let what = format!("runs that cannot be read: {n}; type `baton verify`");
            Err(Failure::Broken { what })
        }
    }
}
