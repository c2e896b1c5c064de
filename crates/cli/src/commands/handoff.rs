//! `baton handoff`: everything that is done to one handoff.

mod beside;
mod parts;

use baton_core::command::{
    Accept, Clarify, Command, Complete, Create, LeaseTime, Reject, Release, Reply,
};
use baton_core::contract::Profile;
use baton_core::document::Node;
use baton_core::names::{AgentId, Reason, StoryKey, Words, WorkflowName};
use baton_core::outcome::Outcome;
use baton_core::run::State;
use baton_engine::In;
use baton_store::{HandoffFilter, HandoffState, RunRef};

use self::beside::Beside;
use super::outcome::tell;
use crate::args::{
    By, Handoff, HandoffComplete, HandoffCreate, HandoffList, ProfileArg, ProfileName, Which, Write,
};
use crate::failure::Failure;
use crate::names::{find_handoff, find_run};
use crate::payload;
use crate::session::Session;
use crate::show::{self, Format};

pub(crate) async fn run(session: &Session, verb: &Handoff) -> Result<(), Failure> {
    match verb {
        Handoff::Create(args) => create(session, args).await,
        Handoff::List(args) => list(session, args).await,
        Handoff::Show(which) => show_one(session, which).await,
        Handoff::Accept { which, acknowledgement, lease, by, write } => {
            let by = agent_by(by)?;
            let acknowledgement =
                acknowledgement.as_deref().map(payload::acknowledgement).transpose()?;
            let lease = lease.and_then(LeaseTime::from_seconds);
            on(session, which, write, |handoff| {
                Command::Accept(Accept { handoff, by, acknowledgement, lease })
            })
            .await
        }
        Handoff::Heartbeat { which, fence } => parts::heartbeat(session, which, *fence).await,
        Handoff::Clarify { which, question, by, fence, write } => {
            let by = agent_by(by)?;
            let question = Words::parse(&payload::text(question)?)?;
            let fence = fence.fence;
            on(session, which, write, |handoff| {
                Command::Clarify(Clarify { handoff, by, question, fence })
            })
            .await
        }
        Handoff::Answer { which, text, by, fence, write } => {
            let by = agent_by(by)?;
            let answer = Words::parse(&payload::text(text)?)?;
            let fence = fence.fence;
            on(session, which, write, |handoff| {
                Command::Reply(Reply { handoff, by, answer, fence })
            })
            .await
        }
        Handoff::Release { which, reason, by, fence, write } => {
            let by = agent_by(by)?;
            let reason = reason_of(reason.as_ref())?;
            let fence = fence.fence;
            on(session, which, write, |handoff| {
                Command::Release(Release { handoff, by, reason, fence })
            })
            .await
        }
        Handoff::Delegate { part, to } => parts::delegate(session, part, to).await,
        Handoff::Return { part, outcome } => {
            parts::give_back(session, part, outcome_of(outcome)?).await
        }
        Handoff::Escalate { part } => parts::escalate(session, part).await,
        Handoff::Reject { which, reason, by, fence, write } => {
            let by = agent_by(by)?;
            let reason = Reason::parse(reason)?;
            let fence = fence.fence;
            on(session, which, write, |handoff| {
                Command::Reject(Reject { handoff, by, reason, fence })
            })
            .await
        }
        Handoff::Complete(args) => complete(session, args).await,
        Handoff::Cancel { which, reason, by, write } => {
            let by = agent_by(by)?;
            let reason = reason_of(reason.as_ref())?;
            on(session, which, write, |handoff| Command::Cancel { handoff, by, reason }).await
        }
        Handoff::Timeout { which, reason, write } => {
            let reason = reason_of(reason.as_ref())?;
            on(session, which, write, |handoff| Command::TimeOut { handoff, reason }).await
        }
    }
}

/// Carries a command out on one handoff and tells what came of it.
async fn on(
    session: &Session,
    which: &Which,
    write: &Write,
    command: impl FnOnce(baton_core::run::HandoffNo) -> Command,
) -> Result<(), Failure> {
    let handoff = find_handoff(&session.engine, which).await?;
    let outcome = session.engine.on_handoff(&session.caller(write), &handoff, command).await?;
    tell(session, write, &outcome).await
}

async fn create(session: &Session, args: &HandoffCreate) -> Result<(), Failure> {
    let engine = &session.engine;
    let package = payload::package(&args.payload)?;
    let within = match (&args.run, &args.story) {
        (Some(run), _) => In::Run(RunRef::Id(find_run(engine, run).await?.run.id)),
        (None, story) => In::Story {
            key: StoryKey::parse(story.as_deref().unwrap_or_default())?,
            workflow: args.workflow.as_deref().map(WorkflowName::parse).transpose()?,
        },
    };
    let supersedes = match &args.supersedes {
        Some(handoff) => {
            let which = Which { handoff: handoff.clone(), run: args.run.clone() };
            let row = engine.handoff(&find_handoff(engine, &which).await?).await?;
            Some(row.no)
        }
        None => None,
    };
    let caller = session.caller_with(&args.write, &package.text);
    let create = Create {
        from: AgentId::parse(&args.from)?,
        to: AgentId::parse(&args.to)?,
        package,
        outcome: args.outcome.as_deref().map(outcome_of).transpose()?,
        reason: reason_of(args.reason.as_ref())?,
        supersedes,
        way: None,
        token: None,
        profile: profile_of(session, &args.profile),
    };
    let outcome = engine.create(&caller, within, create).await?;
    tell(session, &args.write, &outcome).await
}

async fn complete(session: &Session, args: &HandoffComplete) -> Result<(), Failure> {
    let package = payload::package(&args.payload)?;
    let outcome = outcome_of(&args.outcome)?;
    let by = agent_by(&args.by)?;
    let to = args.to.as_deref().map(AgentId::parse).transpose()?;
    let reason = reason_of(args.reason.as_ref())?;
    let profile = profile_of(session, &args.profile);
    let caller = session.caller_with(&args.write, &package.text);
    let handoff = find_handoff(&session.engine, &args.which).await?;
    let fence = args.fence.fence;
    let command = |handoff| {
        Command::Complete(Complete { handoff, by, outcome, package, to, reason, fence, profile })
    };
    let outcome = session.engine.on_handoff(&caller, &handoff, command).await?;
    tell(session, &args.write, &outcome).await
}

async fn list(session: &Session, args: &HandoffList) -> Result<(), Failure> {
    let engine = &session.engine;
    let run = match &args.run {
        Some(run) => Some(find_run(engine, run).await?.run.id),
        None => None,
    };
    let filter = HandoffFilter {
        run,
        story: args.story.as_deref().map(StoryKey::parse).transpose()?,
        to: args.agent.as_deref().map(AgentId::parse).transpose()?,
        states: states_of(args)?,
        is_stale: args.stale.then_some(true),
        after: args.after,
        limit: args.limit,
        ..HandoffFilter::default()
    };
    let rows = engine.store().handoffs(&filter).await?;
    let texts = engine.texts_of(&rows).await?;
    match session.format {
        Format::Json => {
            let rows = rows.iter().map(|it| show::handoff_json(it, &texts)).collect();
            show::answer_json(&Node::List(rows));
        }
        Format::Table if rows.is_empty() => show::note("no handoffs; `--all` shows finished ones"),
        Format::Table => {
            show::answer(&show::handoffs_table(&rows, &texts, engine.clock().now()));
            if rows.len() == args.limit as usize
                && let Some(last) = rows.last()
            {
                show::note(&format!("there may be more: `--after {}`", last.number));
            }
        }
    }
    Ok(())
}

async fn show_one(session: &Session, which: &Which) -> Result<(), Failure> {
    let engine = &session.engine;
    let row = engine.handoff(&find_handoff(engine, which).await?).await?;
    let texts = engine.texts_of(std::slice::from_ref(&row)).await?;
    let beside = Beside::of(session, &row).await?;
    match session.format {
        Format::Json => {
            let mut node = show::handoff_json(&row, &texts);
            if let Node::Map(members) = &mut node {
                members.extend(beside.to_json());
            }
            show::answer_json(&node);
        }
        Format::Table => {
            show::answer(&show::handoff_page(&row, &texts));
            for words in beside.to_words(&row) {
                show::answer(&format!("\n{words}"));
            }
        }
    }
    Ok(())
}

fn states_of(args: &HandoffList) -> Result<Vec<HandoffState>, Failure> {
    if args.state.is_empty() {
        let open = [State::Pending, State::Clarification, State::Accepted, State::Parked];
        let open = open.map(HandoffState::Open).to_vec();
        return Ok(if args.all { Vec::new() } else { open });
    }
    let parse = |word: &String| {
        HandoffState::parse(word).ok_or_else(|| {
            let known: Vec<&str> = HandoffState::ALL.iter().map(|it| it.name()).collect();
            Failure::Usage(format!("there is no state `{word}`; known: {}", known.join(", ")))
        })
    };
    args.state.iter().map(parse).collect()
}

pub(super) fn profile_of(session: &Session, argument: &ProfileArg) -> Profile {
    match argument.profile {
        Some(ProfileName::Lenient) => Profile::Lenient,
        Some(ProfileName::Strict) => Profile::Strict,
        None => session.project.profile(),
    }
}

fn outcome_of(word: &str) -> Result<Outcome, Failure> {
    Outcome::parse(word).ok_or_else(|| {
        let known: Vec<&str> = Outcome::CLAIMABLE.iter().map(|it| it.name()).collect();
        Failure::Usage(format!("there is no outcome `{word}`; known: {}", known.join(", ")))
    })
}

fn agent_by(by: &By) -> Result<Option<AgentId>, Failure> {
    Ok(by.by.as_deref().map(AgentId::parse).transpose()?)
}

pub(super) fn reason_of(reason: Option<&String>) -> Result<Option<Reason>, Failure> {
    Ok(reason.map(|it| Reason::parse(it)).transpose()?)
}
