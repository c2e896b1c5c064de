//! `baton handoff`: all commands on one handoff.

mod files;
mod parts;
mod template;

use baton_api::{
    Acceptance, Cancellation, Clarification, Completion, GivenBack, HandoffDetail, HandoffSummary,
    Heartbeat, LeaseUntil, NewHandoff, Page, QuestionAnswer, ReceiverNames, Rejection, Why,
};
use baton_core::workflow::Mode;

use super::outcome::tell;
use crate::api::{Api, Ask};
use crate::args::{HandedOn, HandoffCommand, HandoffCreate, HandoffList, Taken, Which, WriteArgs};
use crate::document::InputDocument;
use crate::failure::Failure;
use crate::payload;
use crate::show::{self, OutputFormat};

pub(crate) async fn run(api: &Api, verb: &HandoffCommand) -> Result<(), Failure> {
    match verb {
        HandoffCommand::Create(args) => create(api, args).await,
        HandoffCommand::List(args) => list(api, args).await,
        HandoffCommand::Show(which) => show_one(api, which).await,
        HandoffCommand::Files(which) => files::list(api, which).await,
        HandoffCommand::File { which, name, output } => {
            files::fetch(api, which, name, output.as_deref()).await
        }
        HandoffCommand::Template(args) => template::run(api, args).await,
        HandoffCommand::Accept { which, taken } => accept(api, which, taken).await,
        HandoffCommand::Heartbeat { which, fence } => heartbeat(api, which, *fence).await,
        HandoffCommand::Clarify { which, question, by, fence, write } => {
            let question = payload::text(question)?;
            let body = Clarification { question, agent: by.by.clone(), fence: fence.fence };
            on(api, which, write, "clarify", &body).await
        }
        HandoffCommand::Answer { which, text, by, fence, write } => {
            let answer = payload::text(text)?;
            let body = QuestionAnswer { answer, agent: by.by.clone(), fence: fence.fence };
            on(api, which, write, "answer", &body).await
        }
        HandoffCommand::Release { which, reason, by, fence, write } => {
            let (reason, agent) = (reason.clone(), by.by.clone());
            let body = GivenBack { reason, agent, fence: fence.fence };
            on(api, which, write, "release", &body).await
        }
        HandoffCommand::Delegate { part, to } => parts::delegate(api, part, to).await,
        HandoffCommand::Return { part, outcome } => parts::give_back(api, part, outcome).await,
        HandoffCommand::Escalate { part } => parts::escalate(api, part).await,
        HandoffCommand::Reject { which, reason, by, fence, write } => {
            let (reason, agent) = (payload::reason(reason)?, by.by.clone());
            let body = Rejection { reason, agent, fence: fence.fence };
            on(api, which, write, "reject", &body).await
        }
        HandoffCommand::Complete(args) => complete(api, &args.which, &args.on).await,
        HandoffCommand::Cancel { which, reason, by, write } => {
            let body = Cancellation { reason: reason.clone(), agent: by.by.clone() };
            on(api, which, write, "cancel", &body).await
        }
        HandoffCommand::Timeout { which, reason, write } => {
            on(api, which, write, "timeout", &Why { reason: reason.clone() }).await
        }
    }
}

/// Executes a command on one handoff and prints the result.
async fn on(
    api: &Api,
    which: &Which,
    write: &WriteArgs,
    verb: &str,
    body: &impl serde::Serialize,
) -> Result<(), Failure> {
    let done = tell(api, &Ask::on(which, verb, body).writing(write)).await;
    done.map_err(|failure| {
        failure.with_hint("gate_open", || {
            let handoff = which.typed();
            format!(
                "`baton handoff {verb}` is for agents; a person says `baton approve {handoff}` or \
                 `baton reject {handoff}`, and `baton inbox` shows what each would do"
            )
        })
    })
}

async fn create(api: &Api, args: &HandoffCreate) -> Result<(), Failure> {
    if let Some(file) = &args.file {
        return create_from(api, args, file).await;
    }
    let payload = args.payload.as_deref().unwrap_or("{}");
    let body = NewHandoff {
        run: args.run.clone(),
        story: args.story.clone(),
        new_story: args.new_story,
        workflow: args.workflow.clone(),
        mode: args.mode.map(Into::into),
        from_agent: args.from.clone().unwrap_or_default(),
        to_agent: args.to.clone().unwrap_or_default(),
        package: Some(payload::package(payload)?),
        outcome: args.outcome.clone(),
        reason: args.reason.clone(),
        supersedes: args.supersedes.clone(),
        handoff: args.handoff.clone(),
        kind: None,
        token: None,
        profile: api.profile(&args.profile),
    };
    tell(api, &Ask::post(["handoffs"], &body).writing(&args.write)).await
}

/// Sends a whole document, in any format.
async fn create_from(api: &Api, args: &HandoffCreate, file: &str) -> Result<(), Failure> {
    let document = InputDocument::read(file, None, "give the file an ending such as `.yaml`")?;
    // Checked here, so that an error has the file's name.
    document.tree()?;
    let ask = Ask::post_text(["documents"], document.format.media_type(), document.text)
        .with_some("run", args.run.as_ref())
        .with_some("story", args.story.as_ref())
        .with_some("newStory", args.new_story.then_some(true))
        .with_some("handoff", args.handoff.as_ref())
        .with_some("workflow", args.workflow.as_ref())
        .with_some("mode", args.mode.map(Mode::name))
        .with_some("agent", args.from.as_ref())
        .with_some("to", args.to.as_ref())
        .with("profile", api.profile(&args.profile).name());
    let result = tell(api, &ask.writing(&args.write)).await;
    result.map_err(|failure| failure.in_format(document.format))
}

pub(super) async fn accept(api: &Api, which: &Which, taken: &Taken) -> Result<(), Failure> {
    let acknowledgement = taken.acknowledgement.as_deref();
    let body = Acceptance {
        agent: taken.by.by.clone(),
        acknowledgement: acknowledgement.map(payload::acknowledgement).transpose()?,
        lease_seconds: taken.lease,
    };
    on(api, which, &taken.write, "accept", &body).await
}

pub(super) async fn complete(api: &Api, which: &Which, args: &HandedOn) -> Result<(), Failure> {
    let to_agent = match args.to.as_slice() {
        [] => None,
        [one] => Some(ReceiverNames::One(one.clone())),
        several => Some(ReceiverNames::All(several.to_vec())),
    };
    let body = Completion {
        outcome: args.outcome.clone(),
        package: Some(payload::package(&args.payload)?),
        to_agent,
        reason: args.reason.clone(),
        agent: args.by.by.clone(),
        fence: args.fence.fence,
        profile: api.profile(&args.profile),
    };
    on(api, which, &args.write, "complete", &body).await
}

async fn heartbeat(api: &Api, which: &Which, fence: u32) -> Result<(), Failure> {
    let reply = api.send(&Ask::on(which, "heartbeat", &Heartbeat { fence })).await?;
    match api.format {
        OutputFormat::Json => show::answer_document(&reply.body),
        OutputFormat::Table => {
            let LeaseUntil { lease_until } = reply.document()?;
            show::answer(&format!("yours until {}", show::TimeFormat::local().show(lease_until)));
        }
    }
    Ok(())
}

async fn list(api: &Api, args: &HandoffList) -> Result<(), Failure> {
    let open = || "pending,clarification,accepted,parked".to_owned();
    let state = match args.state.as_slice() {
        [] if args.all => None,
        [] => Some(open()),
        states => Some(states.join(",")),
    };
    let ask = |after: &str, limit: u32| {
        Ask::get(["handoffs"])
            .with_some("run", args.run.as_deref())
            .with_some("story", args.story.as_deref())
            .with_some("agent", args.agent.as_deref())
            .with_some("state", state.as_deref())
            .with_some("stale", args.stale.then_some(true))
            .with("after", after)
            .with("limit", limit)
    };
    let first = api.send(&ask(&args.after.to_string(), args.limit)).await?;
    if api.format == OutputFormat::Json {
        show::answer_document(&first.body);
        return Ok(());
    }
    let Page::<HandoffSummary> { mut items, mut next } = first.document()?;
    // A page of a selective filter can be short although more pages follow.
    while let Some(after) = &next
        && let wanted = args.limit.saturating_sub(u32::try_from(items.len()).unwrap_or(u32::MAX))
        && wanted > 0
    {
        let page: Page<HandoffSummary> = api.get(&ask(after, wanted)).await?;
        items.extend(page.items);
        next = page.next;
    }
    if items.is_empty() {
        show::note("no handoffs; `--all` shows finished ones");
        return Ok(());
    }
    show::answer(&show::handoffs_table(&items, api.now()));
    if let Some(next) = next {
        show::note(&format!("there are more: `--after {next}`"));
    }
    Ok(())
}

async fn show_one(api: &Api, which: &Which) -> Result<(), Failure> {
    let reply = api.send(&Ask::get(["handoffs", &which.handoff]).of(which)).await?;
    match api.format {
        OutputFormat::Json => show::answer_document(&reply.body),
        OutputFormat::Table => {
            show::answer(&show::handoff_page(&reply.document::<HandoffDetail>()?))
        }
    }
    Ok(())
}
