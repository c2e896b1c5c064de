//! `baton handoff template`: the package to hand on, before the first try.

use baton_api::RunDetail;
use baton_core::package::Format;

use crate::api::{Api, Ask};
use crate::args::HandoffTemplate;
use crate::failure::Failure;
use crate::show::{self, OutputFormat};

pub(super) async fn run(api: &Api, args: &HandoffTemplate) -> Result<(), Failure> {
    let named = args.run.as_deref().or(args.story.as_deref());
    let handoff = match (&args.handoff, named) {
        (Some(handoff), _) => handoff.clone(),
        (None, Some(run)) => current(api, run).await?,
        (None, None) => return Err(Failure::Usage("name a handoff, or a run".to_owned())),
    };
    let format = match api.format {
        OutputFormat::Table => args.format,
        OutputFormat::Json => Format::Json,
    };
    let ask = Ask::get(["handoffs", &handoff, "template"])
        .with_some("run", named)
        .with_some("to", args.to.as_ref())
        .with_some("outcome", args.outcome.as_ref())
        .header("accept", format.media_type());
    let reply = api.send(&ask).await?;
    show::answer_text(&reply.body);
    Ok(())
}

/// The label of the handoff that the baton of a run rests on.
async fn current(api: &Api, run: &str) -> Result<String, Failure> {
    let reply = api.send(&Ask::get(["runs", run])).await?;
    let RunDetail { run, .. } = reply.document()?;
    run.current_handoff.ok_or_else(|| {
        Failure::NotFound(format!(
            "run {} has no handoff whose work could be handed on",
            run.number
        ))
    })
}
