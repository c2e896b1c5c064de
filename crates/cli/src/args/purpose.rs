//! Which commands only read: they write nothing before the data is known to be sound.

use crate::args::{
    AuditCommand, CliCommand, ContextCommand, DecisionCommand, HandoffCommand, QuestionCommand,
    RunCommand, StoryCommand, WorkflowCommand,
};
use crate::session::Purpose;

impl CliCommand {
    /// What a command that is a request to the API wants of the data.
    pub(crate) fn purpose(&self) -> Purpose {
        match self {
            CliCommand::Status
            | CliCommand::Inbox
            | CliCommand::Prompt(_)
            | CliCommand::Watch(_)
            | CliCommand::Open(_)
            | CliCommand::Insights(_)
            | CliCommand::Audit(AuditCommand::Log { .. } | AuditCommand::Export { .. })
            | CliCommand::Story(StoryCommand::List | StoryCommand::Show { .. })
            | CliCommand::Run(
                RunCommand::List { .. } | RunCommand::Show { .. } | RunCommand::Log { .. },
            )
            | CliCommand::Decision(DecisionCommand::List { .. } | DecisionCommand::Show { .. })
            | CliCommand::Context(ContextCommand::List { .. } | ContextCommand::History { .. })
            | CliCommand::Question(QuestionCommand::List { .. })
            | CliCommand::Workflow(WorkflowCommand::Diff { .. })
            | CliCommand::Handoff(
                HandoffCommand::List(_) | HandoffCommand::Show(_) | HandoffCommand::Template(_),
            ) => Purpose::Read,
            CliCommand::Doctor
            | CliCommand::Verify
            | CliCommand::Audit(AuditCommand::Verify(_))
            | CliCommand::Backup { .. }
            | CliCommand::Complete { .. } => Purpose::Inspect,
            CliCommand::Story(_)
            | CliCommand::Run(_)
            | CliCommand::Handoff(_)
            | CliCommand::Approve(_)
            | CliCommand::Delegate(_)
            | CliCommand::Reject(_)
            | CliCommand::Modify(_)
            | CliCommand::Answer(_)
            | CliCommand::Evidence(_)
            | CliCommand::Decision(_)
            | CliCommand::Context(_)
            | CliCommand::Question(_)
            | CliCommand::Archive(_)
            | CliCommand::Audit(
                AuditCommand::Checkpoint { .. }
                | AuditCommand::Redact(_)
                | AuditCommand::Retain { .. },
            )
            | CliCommand::Init { .. }
            | CliCommand::Demo(_)
            | CliCommand::Do(_)
            | CliCommand::Serve(_)
            | CliCommand::Runner(_)
            | CliCommand::Play { .. }
            | CliCommand::Trust(_)
            | CliCommand::Workspace(_)
            | CliCommand::Workflow(_)
            | CliCommand::Agent(_)
            | CliCommand::Take(_)
            | CliCommand::Done(_)
            | CliCommand::Restore { .. }
            | CliCommand::Recover(_)
            | CliCommand::Migrate(_)
            | CliCommand::Push(_)
            | CliCommand::Convert(_)
            | CliCommand::Lint(_)
            | CliCommand::Extract(_)
            | CliCommand::Schema { .. }
            | CliCommand::Explain { .. }
            | CliCommand::Completions { .. } => Purpose::Change,
        }
    }
}
