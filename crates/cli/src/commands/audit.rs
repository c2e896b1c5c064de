//! `baton audit`: the handoffs of all runs, signed checkpoints of the log, and their verification.

mod checkpoint;
mod export;
mod log;
mod offline;
mod redact;
mod retain;
mod verify;

pub(crate) use self::verify::run as verify;
use crate::api::{Api, Ask};
use crate::args::{AuditCommand, AuditRange};
use crate::failure::Failure;

/// The commands that are requests to the API: all but `verify`.
pub(crate) async fn run(api: &Api, verb: &AuditCommand) -> Result<(), Failure> {
    match verb {
        AuditCommand::Log { range, limit } => log::run(api, range, *limit).await,
        AuditCommand::Export { format, events: false, range } => {
            export::handoffs(api, range, *format).await
        }
        AuditCommand::Export { format, events: true, .. } => export::events(api, *format).await,
        AuditCommand::Checkpoint { out } => checkpoint::run(api, out.as_deref()).await,
        AuditCommand::Redact(args) => redact::run(api, args).await,
        AuditCommand::Retain { write } => retain::run(api, write).await,
        AuditCommand::Verify(_) => unreachable!("it reads the data itself"),
    }
}

impl AuditRange {
    fn ask(&self) -> Ask {
        Ask::get(["audit"])
            .with_some("run", self.run.as_ref())
            .with_some("agent", self.agent.as_ref())
            .with_some("fromDate", self.from.as_ref())
            .with_some("toDate", self.to.as_ref())
    }
}
