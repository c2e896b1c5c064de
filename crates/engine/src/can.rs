//! Which commands a handoff allows now, and why not the others: for a client that shows buttons.
//!
//! No list of allowed commands is kept: each one is tried against the rules, as a dry run.

use baton_core::command::{
    Accept, Clarify, Command, Complete, Create, DelegateVote, Record, Reject, Release, Reply,
    Token, Way,
};
use baton_core::contract::Profile;
use baton_core::evidence::Verdict;
use baton_core::names::{AgentId, CheckName, FreeText, Principal, Reason};
use baton_core::outcome::Outcome;
use baton_core::refusal::Refusal;
use baton_core::run::{Handoff, HandoffNo};
use baton_core::workflow::Place;
use baton_store::HandoffRow;

use crate::cache::Loaded;
use crate::commands::nothing;
use crate::{Caller, EngineError, Reader};

/// A command on a handoff, and whether it is allowed now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Can {
    pub command: &'static str,
    /// Why it is not allowed; `None` where it is.
    pub why_not: Option<String>,
}

const COMMANDS: [&str; 14] = [
    "accept",
    "reject",
    "complete",
    "cancel",
    "timeout",
    "clarify",
    "answer",
    "release",
    "heartbeat",
    "delegate",
    "return",
    "escalate",
    "evidence",
    "delegateVote",
];

impl Reader<'_> {
    /// Every command on a handoff, each tried against the rules.
    pub async fn can(self, row: &HandoffRow) -> Result<Vec<Can>, EngineError> {
        let (loaded, _) = self.engine.load(row.run).await?;
        let can = |command| Can { command, why_not: self.why_not(&loaded, row, command) };
        Ok(COMMANDS.into_iter().map(can).collect())
    }

    fn why_not(self, loaded: &Loaded, row: &HandoffRow, name: &'static str) -> Option<String> {
        let open = loaded.run.handoff(row.no);
        if name == "heartbeat" {
            return match open {
                Some(Handoff { lease: Some(_), .. }) => None,
                Some(_) => Some(Refusal::NoLease { handoff: row.no }.to_string()),
                None => Some(Refusal::Finished { handoff: row.no }.to_string()),
            };
        }
        let command = match command(self.caller(), loaded, row, name) {
            Ok(command) => command,
            Err(why_not) => return Some(why_not),
        };
        match self.preview(&loaded.run, &loaded.workflow, &command) {
            // It depends on the package or the receiver, which the caller has not given yet.
            Ok(_) | Err(Refusal::Contract { .. } | Refusal::ChooseReceiver { .. }) => None,
            Err(refusal) => Some(refusal.to_string()),
        }
    }
}

/// A sample command, to ask the rules whether it would be allowed; its texts are placeholders.
fn command(
    caller: &Caller,
    loaded: &Loaded,
    row: &HandoffRow,
    name: &'static str,
) -> Result<Command, String> {
    let handoff = row.no;
    let fence = loaded.run.handoff(handoff).map(|it| it.fence).filter(|it| *it > 0);
    let unsayable = |error: baton_core::names::NameError| error.to_string();
    let words = || FreeText::parse("…").map_err(unsayable);
    Ok(match name {
        "accept" => {
            Command::Accept(Accept { handoff, by: None, acknowledgement: None, lease: None })
        }
        "reject" => {
            let reason = Reason::parse("…").map_err(unsayable)?;
            Command::Reject(Reject { handoff, by: None, reason, fence })
        }
        "complete" => Command::Complete(Complete {
            handoff,
            by: None,
            outcome: Outcome::Success,
            package: nothing(),
            to: None,
            reason: None,
            fence,
            profile: Profile::Strict,
        }),
        "cancel" => Command::Cancel { handoff, by: None, reason: None },
        "timeout" => Command::TimeOut { handoff, reason: None },
        "clarify" => Command::Clarify(Clarify { handoff, by: None, question: words()?, fence }),
        "answer" => Command::Reply(Reply { handoff, by: None, answer: words()?, fence: None }),
        "release" => Command::Release(Release { handoff, by: None, reason: None, fence }),
        "delegate" => {
            let delegate = first_delegate(loaded, row)
                .ok_or_else(|| format!("{handoff} is at no step that delegates to anybody"))?;
            part(row, delegate, Way::Delegation, None, fence)
        }
        "return" => {
            let caller = loaded.run.handoff(handoff).and_then(|it| loaded.run.caller_of(it));
            let caller = caller.map_or(&row.from.agent, |it| &it.to.agent).clone();
            part(row, caller, Way::Return, Some(Outcome::Success), fence)
        }
        "escalate" => part(row, AgentId::human(), Way::Escalation, None, fence),
        "evidence" => {
            let check = CheckName::parse("check").map_err(unsayable)?;
            Command::Record(Record { handoff, check, verdict: Verdict::Passed, detail: None })
        }
        "delegateVote" => {
            let (by, to) = (caller.principal.clone(), Principal::parse("…").map_err(unsayable)?);
            Command::DelegateVote(DelegateVote { gate: handoff, by, to, comment: None })
        }
        _ => unreachable!("`{name}` is not in the list of commands"),
    })
}

/// The command by which a holder delegates work and keeps its own handoff.
fn part(
    row: &HandoffRow,
    to: AgentId,
    way: Way,
    outcome: Option<Outcome>,
    fence: Option<u32>,
) -> Command {
    let token = |handoff: HandoffNo| fence.map(|fence| Token { handoff, fence });
    Command::Create(Create {
        from: row.to.agent.clone(),
        to,
        package: nothing(),
        outcome,
        reason: None,
        supersedes: None,
        hands_on: None,
        way: Some(way),
        token: token(row.no),
        profile: Profile::Strict,
    })
}

fn first_delegate(loaded: &Loaded, row: &HandoffRow) -> Option<AgentId> {
    match &row.to.place {
        Place::Step(step) => {
            let step = loaded.workflow.step(step)?;
            step.delegates.first().map(|it| it.agent.clone())
        }
        Place::Orchestrator | Place::Human | Place::Delegate(_) => None,
    }
}
