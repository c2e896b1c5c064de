//! `gemini`: Gemini CLI.

use std::ffi::OsString;

use baton_wire::project_file::agent_program::{AgentPermissions, AgentProgram};

use super::{AgentProgramExecutor, AttemptBrief, Executor, OutputForm};
use crate::process::ProgramSpec;

pub(crate) struct GeminiExecutor(pub(super) AgentProgramExecutor);

impl Executor for GeminiExecutor {
    fn program(&self, brief: AttemptBrief<'_>) -> ProgramSpec {
        let approval = match self.0.permissions {
            // It cannot ask Baton, and the settings refuse it.
            AgentPermissions::Read | AgentPermissions::Ask => "plan",
            AgentPermissions::Edit => "auto_edit",
            AgentPermissions::All => "yolo",
        };
        // The user's trust is Baton's own; without it Gemini CLI would ask at a terminal.
        let options = ["-o", "stream-json", "--approval-mode", approval, "--skip-trust"];
        let mut args: Vec<OsString> = options.map(OsString::from).into();
        if let Some(model) = &self.0.model {
            args.extend(["-m".into(), model.into()]);
        }
        if let Some(session) = &brief.session {
            args.extend(["--resume".into(), session.into()]);
        }
        self.0.spec(args, brief)
    }

    fn output(&self, _brief: &AttemptBrief<'_>) -> OutputForm {
        OutputForm::Transcript(AgentProgram::Gemini)
    }
    /// In the mode for edits it has no tool that runs commands.
    fn can_commit(&self) -> bool {
        match self.0.permissions {
            AgentPermissions::Edit => false,
            AgentPermissions::Read | AgentPermissions::All | AgentPermissions::Ask => true,
        }
    }
}
