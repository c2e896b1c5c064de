//! `claude`: Claude Code.

use std::ffi::OsString;

use baton_wire::project_file::agent_program::{AgentPermissions, AgentProgram};

use super::{AgentProgramExecutor, AttemptBrief, Executor, OutputForm};
use crate::process::ProgramSpec;

/// What an agent may run beside changing files, so that it can commit its work.
const GIT_COMMANDS: [&str; 6] = ["add", "commit", "diff", "log", "show", "status"];

pub(crate) struct ClaudeExecutor(pub(super) AgentProgramExecutor);

impl Executor for ClaudeExecutor {
    fn program(&self, brief: AttemptBrief<'_>) -> ProgramSpec {
        let mut args: Vec<OsString> =
            ["-p", "--output-format", "stream-json", "--verbose"].map(OsString::from).into();
        if let Some(model) = &self.0.model {
            args.extend(["--model".into(), model.into()]);
        }
        if let Some(session) = &brief.session {
            args.extend(["--resume".into(), session.into()]);
        }
        if let Some(left) = brief.micro_usd_left {
            // The program alone knows what a request costs before it ends.
            let dollars = format!("{}.{:06}", left / 1_000_000, left % 1_000_000);
            args.extend(["--max-budget-usd".into(), dollars.into()]);
        }
        match self.0.permissions {
            // It cannot ask Baton, and the settings refuse it.
            AgentPermissions::Read | AgentPermissions::Ask => {
                args.extend(["--permission-mode", "default"].map(OsString::from))
            }
            AgentPermissions::Edit => {
                args.extend(
                    ["--permission-mode", "acceptEdits", "--allowedTools"].map(OsString::from),
                );
                let git = GIT_COMMANDS.map(|it| format!("Bash(git {it}:*)"));
                args.push(git.join(",").into());
            }
            AgentPermissions::All => args.push("--dangerously-skip-permissions".into()),
        }
        self.0.spec(args, brief)
    }

    fn output(&self, _brief: &AttemptBrief<'_>) -> OutputForm {
        OutputForm::Transcript(AgentProgram::Claude)
    }
}
