//! `codex`: Codex.

use std::ffi::OsString;

use baton_core::agent::AgentInterface;
use baton_wire::project_file::agent_program::{AgentPermissions, AgentProgram};

use super::{AgentProgramExecutor, AttemptBrief, Executor, OutputForm};
use crate::process::ProgramSpec;

pub(crate) struct CodexExecutor(pub(super) AgentProgramExecutor);

impl Executor for CodexExecutor {
    fn program(&self, brief: AttemptBrief<'_>) -> ProgramSpec {
        let sandbox = match self.0.permissions {
            // It cannot ask Baton, and the settings refuse it.
            AgentPermissions::Read | AgentPermissions::Ask => "read-only",
            AgentPermissions::Edit => "workspace-write",
            AgentPermissions::All => "danger-full-access",
        };
        // Without a terminal there is no one to approve: what the sandbox forbids, fails.
        let options = ["exec", "--json", "--skip-git-repo-check", "-s", sandbox];
        let mut args: Vec<OsString> = options.map(OsString::from).into();
        let mut set = |setting: String| args.extend(["-c".into(), setting.into()]);
        set("approval_policy=\"never\"".to_owned());
        if self.0.permissions == AgentPermissions::Edit {
            match brief.interface {
                AgentInterface::Block => {}
                AgentInterface::Curl | AgentInterface::Cli => {
                    set("sandbox_workspace_write.network_access=true".to_owned());
                }
            }
        }
        if let Some(model) = &self.0.model {
            args.extend(["-m".into(), model.into()]);
        }
        if let Some(session) = &brief.session {
            args.extend(["resume".into(), session.into()]);
        }
        // The prompt comes on standard input.
        args.push("-".into());
        self.0.spec(args, brief)
    }

    fn output(&self, _brief: &AttemptBrief<'_>) -> OutputForm {
        OutputForm::Transcript(AgentProgram::Codex)
    }

    /// Its sandbox leaves a repository's own folder read-only.
    fn can_commit(&self) -> bool {
        match self.0.permissions {
            AgentPermissions::Edit => false,
            AgentPermissions::Read | AgentPermissions::All | AgentPermissions::Ask => true,
        }
    }
}
