//! `baton take` and `baton done`: the handoff that is offered to an agent, and the one that it holds.

use baton_api::{HandoffSummary, KeyedCommand, Page};
use baton_core::names::{AgentId, StoryKey};
use http::StatusCode;

use super::handoff;
use crate::api::{Api, Ask};
use crate::args::{By, DoneArgs, TakeArgs, Which, WriteArgs};
use crate::failure::Failure;
use crate::show;

/// More would not fit on a screen.
const MOST_NAMED: usize = 5;

/// What the handoff has to be, for the command to be meant for it.
#[derive(Debug, Clone, Copy)]
enum OwnState {
    Offered,
    Held,
}

pub(crate) async fn take(api: &Api, args: &TakeArgs) -> Result<(), Failure> {
    let named = args.story.as_deref();
    let which = match of_key(api, named, &args.taken.write, KeyedCommand::Accept).await? {
        Some(which) => which,
        None => which(api, named, &args.taken.by, OwnState::Offered).await?,
    };
    handoff::accept(api, &which, &args.taken).await
}

pub(crate) async fn done(api: &Api, args: &DoneArgs) -> Result<(), Failure> {
    let named = args.story.as_deref();
    let which = match of_key(api, named, &args.on.write, KeyedCommand::Complete).await? {
        Some(which) => which,
        None => which(api, named, &args.on.by, OwnState::Held).await?,
    };
    handoff::complete(api, &which, &args.on).await
}

/// The handoff that the same command with this key was about: its state has changed since. Another name
/// than the first time leads to another request, which the key does not stand for.
async fn of_key(
    api: &Api,
    name: Option<&str>,
    write: &WriteArgs,
    command: KeyedCommand,
) -> Result<Option<Which>, Failure> {
    let Some(key) = &write.key else { return Ok(None) };
    let ask = Ask::get(["idempotency-keys", key]).with("command", command.name());
    let found: HandoffSummary = match api.get(&ask).await {
        Ok(found) => found,
        Err(Failure::Refused { problem, .. }) if problem.status == StatusCode::NOT_FOUND => {
            return Ok(None);
        }
        Err(failure) => return Err(failure),
    };
    let story = match name {
        Some(name) => story_of(api, name).await?,
        None => None,
    };
    let is_meant = match (name, story) {
        (Some(_), Some(story)) => story == found.story,
        // A name that is no story is that of a handoff, and sent as it is.
        (Some(_), None) => return Ok(None),
        (None, _) => true,
    };
    if !is_meant {
        let what = format!(
            "the key `{}` was used for {} of {}; use a new one",
            show::visible(key),
            found.label,
            show::one_line(&found.story)
        );
        return Err(Failure::Conflict(what));
    }
    Ok(Some(Which { handoff: found.number.to_string(), run: None }))
}

/// The one handoff that is meant. A name that is no story is that of a handoff.
async fn which(api: &Api, name: Option<&str>, by: &By, mine: OwnState) -> Result<Which, Failure> {
    let story = match name {
        Some(name) => match story_of(api, name).await? {
            Some(story) => Some(story),
            None => return Ok(Which { handoff: name.to_owned(), run: None }),
        },
        None => match own_handoff().filter(|_| by.by.is_none()) {
            Some(handoff) => return Ok(Which { handoff, run: None }),
            None => None,
        },
    };
    let mut found = listed(api, story.as_deref(), by, mine).await?;
    if by.by.is_none() && found.len() > 1 {
        // `--as coder` says as much, where an agent of that name has one of them.
        let is_caller = |it: &HandoffSummary| it.to_agent == api.caller();
        if found.iter().any(is_caller) {
            found.retain(is_caller);
        }
    }
    match found.as_slice() {
        [one] => Ok(Which { handoff: one.number.to_string(), run: None }),
        [] => Err(Failure::NotFound(none(story.as_deref(), by, mine))),
        several => Err(Failure::Conflict(several_of(several, mine))),
    }
}

/// The handoff of the attempt that this command is started in, by the program of an agent.
#[expect(clippy::disallowed_methods, reason = "a runner names the handoff in the environment")]
fn own_handoff() -> Option<String> {
    let is_attempt = std::env::var_os("BATON_TOKEN").is_some_and(|it| !it.is_empty());
    std::env::var("BATON_HANDOFF").ok().filter(|it| is_attempt && it.parse::<u64>().is_ok())
}

async fn story_of(api: &Api, name: &str) -> Result<Option<String>, Failure> {
    if name.parse::<u64>().is_ok() {
        return Ok(None);
    }
    let key = name.strip_prefix(StoryKey::STORY_PREFIX).unwrap_or(name);
    match api.get::<baton_api::StoryDocument>(&Ask::get(["stories", key])).await {
        Ok(story) => Ok(Some(story.key)),
        Err(Failure::Refused { .. }) => Ok(None),
        Err(failure) => Err(failure),
    }
}

/// What agents, not people, are offered or hold.
async fn listed(
    api: &Api,
    story: Option<&str>,
    by: &By,
    mine: OwnState,
) -> Result<Vec<HandoffSummary>, Failure> {
    let state = match mine {
        OwnState::Offered => "pending",
        OwnState::Held => "accepted",
    };
    let ask = Ask::get(["handoffs"])
        .with_some("story", story)
        .with_some("agent", by.by.as_deref())
        .with("state", state);
    let mut found: Vec<HandoffSummary> = Vec::new();
    let mut page: Page<HandoffSummary> = api.get(&ask).await?;
    loop {
        let is_agents = |it: &HandoffSummary| it.to_agent != AgentId::HUMAN;
        found.extend(page.items.into_iter().filter(is_agents));
        match page.next {
            Some(next) if found.len() <= MOST_NAMED => {
                page = api.get(&ask.clone().with("after", &next)).await?;
            }
            Some(_) | None => return Ok(found),
        }
    }
}

fn none(story: Option<&str>, by: &By, mine: OwnState) -> String {
    let of = story.map(|it| format!(" of story `{it}`")).unwrap_or_default();
    match (mine, &by.by) {
        (OwnState::Offered, Some(agent)) => {
            format!(
                "no handoff{of} is offered to `{agent}`; `baton status` shows who has the baton"
            )
        }
        (OwnState::Offered, None) => {
            format!("no handoff{of} is offered to an agent; `baton status` shows who has the baton")
        }
        (OwnState::Held, Some(agent)) => {
            format!("`{agent}` holds no handoff{of}; `baton take` accepts one that is offered")
        }
        (OwnState::Held, None) => {
            format!("no agent holds a handoff{of}; `baton take` accepts one that is offered")
        }
    }
}

fn several_of(several: &[HandoffSummary], mine: OwnState) -> String {
    let (command, state) = match mine {
        OwnState::Offered => ("take", "offered"),
        OwnState::Held => ("done", "held"),
    };
    let named = several.iter().take(MOST_NAMED).map(|it| {
        let HandoffSummary { number, label, to_agent, .. } = it;
        let story = show::one_line(&it.story);
        format!("`baton {command} {number}` ({label} of {story}, {to_agent})")
    });
    let more = if several.len() > MOST_NAMED { ", and more" } else { "" };
    let named: Vec<String> = named.collect();
    format!("several handoffs are {state}; type one of: {}{more}", named.join(", "))
}
