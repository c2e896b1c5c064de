//! `baton evidence`: what was checked, and how it came out.

use baton_core::command::{Command, Record};
use baton_core::evidence::Verdict;
use baton_core::names::CheckName;

use super::outcome::tell;
use crate::args::{self, VerdictName};
use crate::failure::Failure;
use crate::names::find_handoff;
use crate::payload;
use crate::session::Session;

pub(crate) async fn run(session: &Session, args: &args::Evidence) -> Result<(), Failure> {
    let check = CheckName::parse(&args.check)?;
    let detail = payload::words(args.detail.as_ref())?;
    let verdict = match args.verdict {
        VerdictName::Passed => Verdict::Passed,
        VerdictName::Failed => Verdict::Failed,
    };
    let caller = session.caller_with(&args.write, detail.as_ref().map_or("", |it| it.as_str()));
    let handoff = find_handoff(&session.engine, &args.which).await?;
    let command = |handoff| Command::Record(Record { handoff, check, verdict, detail });
    let outcome = session.engine.on_handoff(&caller, &handoff, command).await?;
    tell(session, &args.write, &outcome).await
}
