//! `command`: any program.

use std::ffi::OsString;

use baton_wire::project_file::runner::PromptDelivery;

use super::{AttemptBrief, Executor, delivered};
use crate::process::ProgramSpec;

pub(crate) struct CommandExecutor {
    /// The program and its arguments. Never empty.
    pub(super) words: Vec<OsString>,
    pub(super) prompt: PromptDelivery,
}

impl Executor for CommandExecutor {
    fn program(&self, mut brief: AttemptBrief<'_>) -> ProgramSpec {
        let input = delivered(&mut brief, self.prompt);
        let (program, args) = self.words.split_first().map_or_else(
            || (OsString::new(), Vec::new()),
            |(program, args)| (program.clone(), args.to_vec()),
        );
        ProgramSpec { program, args, folder: brief.folder, env: brief.env, input }
    }
}
