//! `baton prompt`: the instructions for the receiver of a handoff.

use baton_core::agent::AgentInterface;

use crate::api::{Api, Ask};
use crate::args::PromptArgs;
use crate::failure::Failure;
use crate::show::{self, OutputFormat};

pub(crate) async fn run(api: &Api, args: &PromptArgs) -> Result<(), Failure> {
    let usual = if args.url.is_some() { AgentInterface::Curl } else { AgentInterface::Cli };
    let ask = Ask::get(["handoffs", &args.which.handoff, "prompt"])
        .of(&args.which)
        .with_some("budget", args.budget)
        .with_some("url", args.url.as_deref())
        .with("face", args.face.unwrap_or(usual).name())
        .header("accept", "application/json");
    let reply = api.send(&ask).await.map_err(|failure| {
        failure.with_hint("finished", || {
            let handoff = args.which.typed();
            format!(
                "only open work has a prompt; `baton handoff show {handoff}` shows this handoff"
            )
        })
    })?;
    match api.format {
        OutputFormat::Table => {
            let prompt: baton_api::PromptDocument = reply.document()?;
            show::answer_lines(&prompt.text);
        }
        OutputFormat::Json => show::answer_document(&reply.body),
    }
    Ok(())
}
