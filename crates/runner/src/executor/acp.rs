//! `acp`: any agent that speaks the Agent Client Protocol.

use std::ffi::OsString;

use baton_wire::project_file::agent_program::{AcpSettings, AgentPermissions};

use super::{AttemptBrief, Executor, OutputForm};
use crate::acp::AcpBrief;
use crate::conversation::ConversationBrief;
use crate::process::ProgramSpec;

pub(crate) struct AcpExecutor {
    /// The program and its arguments. Never empty.
    pub(super) words: Vec<OsString>,
    pub(super) settings: AcpSettings,
}

impl Executor for AcpExecutor {
    fn program(&self, brief: AttemptBrief<'_>) -> ProgramSpec {
        let mut words = self.words.iter().cloned();
        let program = words.next().unwrap_or_default();
        ProgramSpec {
            program,
            args: words.collect(),
            folder: brief.folder,
            env: brief.env,
            input: None,
        }
    }

    fn output(&self, brief: &AttemptBrief<'_>) -> OutputForm {
        let turn = AcpBrief {
            prompt: brief.prompt.to_owned(),
            folder: brief.folder.clone(),
            session: brief.session.clone(),
            model: self.settings.model.clone(),
        };
        OutputForm::Conversation(Box::new(ConversationBrief {
            turn,
            permissions: self.settings.permissions,
            ask_within: self.settings.ask_within.try_into().unwrap_or_default(),
        }))
    }

    /// A commit is a command, which these would deny, or ask a person about each time.
    fn can_commit(&self) -> bool {
        match self.settings.permissions {
            AgentPermissions::Edit | AgentPermissions::Ask => false,
            AgentPermissions::Read | AgentPermissions::All => true,
        }
    }
}
