//! `scripted`: Baton itself plays a script of the project, in a process of its own like any agent.

use std::ffi::OsString;
use std::path::PathBuf;

use super::{AttemptBrief, Executor};
use crate::process::ProgramSpec;

pub(crate) struct ScriptedExecutor {
    /// This program.
    pub(super) baton: PathBuf,
    /// One word: the path of the script.
    pub(super) script: Vec<OsString>,
}

impl Executor for ScriptedExecutor {
    fn program(&self, brief: AttemptBrief<'_>) -> ProgramSpec {
        let args = std::iter::once(OsString::from("play")).chain(self.script.iter().cloned());
        ProgramSpec {
            program: self.baton.clone().into_os_string(),
            args: args.collect(),
            folder: brief.folder,
            env: brief.env,
            input: Some(brief.prompt.to_owned()),
        }
    }
}
