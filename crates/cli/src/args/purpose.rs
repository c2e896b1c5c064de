//! Which commands only read: they write nothing before the data is known to be sound.

use crate::args::{Command, Handoff, Run, Story};
use crate::session::Purpose;

impl Command {
    /// What a command that is a request to the API wants of the data.
    pub(crate) fn purpose(&self) -> Purpose {
        match self {
            Command::Status
            | Command::Inbox
            | Command::Prompt(_)
            | Command::Watch(_)
            | Command::Open(_)
            | Command::Story(Story::List | Story::Show { .. })
            | Command::Run(Run::List { .. } | Run::Show { .. })
            | Command::Handoff(Handoff::List(_) | Handoff::Show(_)) => Purpose::Read,
            Command::Doctor | Command::Verify | Command::Backup { .. } => Purpose::Inspect,
            Command::Story(_)
            | Command::Run(_)
            | Command::Handoff(_)
            | Command::Approve(_)
            | Command::Reject(_)
            | Command::Modify(_)
            | Command::Answer(_)
            | Command::Evidence(_)
            | Command::Archive(_)
            | Command::Init { .. }
            | Command::Demo(_)
            | Command::Serve(_)
            | Command::Workflow(_)
            | Command::Agent(_)
            | Command::Restore { .. }
            | Command::Recover(_)
            | Command::Convert(_)
            | Command::Lint(_)
            | Command::Extract(_)
            | Command::Schema { .. }
            | Command::Completions { .. } => Purpose::Change,
        }
    }
}
