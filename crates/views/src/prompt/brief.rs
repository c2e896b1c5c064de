//! Everything that a prompt contains, as values: rendering reads this and nothing else.
//!
//! Text of others is [`UntrustedText`] here, which only a fence prints.

use std::sync::Arc;

use baton_core::agent::Agent;
use baton_core::document::Node;
use baton_core::evidence::Evidence;
use baton_core::gate::{Answer, GateCause};
use baton_core::hash::Hash;
use baton_core::names::{AgentId, ContextKey, Principal, StoryKey};
use baton_core::outcome::Outcome;
use baton_core::package::Format;
use baton_core::run::{HandoffNo, Kind, Party, State};
use baton_core::workflow::{Place, Workflow};
use baton_engine::Repository;
use baton_wire::project_file::ProjectFile;

use super::untrusted::UntrustedText;
use crate::decisions::DecisionStatus;

pub(super) struct Brief {
    pub(super) workflow: Arc<Workflow>,
    /// The receiver's current agent file.
    pub(super) agent: Agent,
    pub(super) story: StoryKey,
    /// In one line, so that it can stand outside of a fence.
    pub(super) branch: String,
    /// The story, where it has more content than its key.
    pub(super) wanted: Option<BriefStory>,
    /// The run's number, for people.
    pub(super) run: u64,
    pub(super) handoff: BriefHandoff,
    /// What the receiver works on after accepting: the handoff, or the work that it had waiting.
    pub(super) work: WaitingWork,
    pub(super) package: Option<Parcel>,
    /// The receiver's earlier input, where the handoff brings something back to it.
    pub(super) given: Option<Parcel>,
    /// What the receiver's step had handed on last, where the work has been here before.
    pub(super) own_last: Option<Parcel>,
    /// What the sender had worked from, for a step that judges the sender's work.
    pub(super) sender_input: Option<Parcel>,
    /// What earlier packages of the run discovered, and no package that is shown has.
    pub(super) discoveries: Option<UntrustedText>,
    /// The work was sent back, and is to be done again.
    pub(super) is_rework: bool,
    pub(super) repository: Repository,
    /// What `baton.toml` says.
    pub(super) project: ProjectFile,
    pub(super) exchanges: Vec<AskedQuestion>,
    pub(super) blockers: Vec<BriefBlocker>,
    /// How the last attempt at this step ended, where it failed.
    pub(super) failed: Option<FailedAttempt>,
    pub(super) people: Vec<PersonAnswer>,
    /// Earlier results of delegates.
    pub(super) brought: Vec<DelegateResult>,
    /// What each branch brought, where the work of several has joined.
    pub(super) joined: Vec<DelegateResult>,
    /// What these branches had been given.
    pub(super) forked: Option<Parcel>,
    /// The rejects on the edge of this work, oldest first.
    pub(super) rounds: Vec<Round>,
    /// How many rounds the workflow allows before a person is asked.
    pub(super) most_rounds: u32,
    /// Contract violations on this edge, as `rule path`.
    pub(super) warnings: Vec<String>,
    /// What the run has decided, and the package does not say.
    pub(super) decisions: Vec<BriefDecision>,
    /// How many decisions before these are left out.
    pub(super) n_earlier_decisions: usize,
    /// The documents that the agents of the run share.
    pub(super) documents: Vec<BriefDocument>,
    pub(super) evidence: Vec<Evidence>,
}

pub(super) struct BriefStory {
    pub(super) title: UntrustedText,
    pub(super) description: Option<UntrustedText>,
    pub(super) acceptance: Vec<UntrustedText>,
}

/// The handoff itself.
pub(super) struct BriefHandoff {
    pub(super) number: u64,
    pub(super) no: HandoffNo,
    pub(super) kind: Kind,
    pub(super) from: Party,
    pub(super) to: Party,
    pub(super) state: State,
    pub(super) attempt: u32,
    pub(super) fence: u32,
    /// The heartbeat time-out of its holder, in seconds.
    pub(super) lease: Option<u32>,
    pub(super) reason: UntrustedText,
    /// Who gave the reason; none where a person's answer made the handoff.
    pub(super) reason_by: Option<AgentId>,
    /// The package is the receiver's own, and was rejected.
    pub(super) is_own_package: bool,
    /// The handoff that this one sends back, if it does.
    pub(super) rejected: Option<HandoffNo>,
    pub(super) brings: Option<Outcome>,
    pub(super) approved_by: Option<Principal>,
    /// Who gets it if it is rejected; none where the step does not allow rejecting.
    pub(super) rejects_to: Option<AgentId>,
    /// Who answers questions about it.
    pub(super) asks: AgentId,
    /// Where the receiver is to resolve what blocks another agent.
    pub(super) detour: Option<BriefDetour>,
}

/// What the receiver of a detour has to resolve, and for which agent.
pub(super) struct BriefDetour {
    pub(super) blocked: AgentId,
    /// The name of the work at the blocked agent's step.
    pub(super) phase: Option<String>,
    /// The word for what blocks, where the workflow has it.
    pub(super) reason: Option<String>,
}

pub(super) struct WaitingWork {
    pub(super) number: u64,
    pub(super) place: Place,
    /// Who waits for it, where it was delegated.
    pub(super) caller: Option<Party>,
}

#[derive(Clone)]
pub(super) struct Parcel {
    /// The number of the handoff that carries it.
    pub(super) number: u64,
    /// Who wrote it, whichever agent or person carries it now.
    pub(super) by: AgentId,
    pub(super) format: Format,
    pub(super) hash: Option<Hash>,
    pub(super) text: UntrustedText,
    /// Where the text could be parsed.
    pub(super) document: Option<Node>,
}

pub(super) struct AskedQuestion {
    pub(super) asker: AgentId,
    pub(super) asked: AgentId,
    pub(super) question: UntrustedText,
    pub(super) answer: UntrustedText,
}

pub(super) struct BriefBlocker {
    pub(super) raised_by: AgentId,
    pub(super) about: UntrustedText,
    pub(super) settled: Settled,
}

pub(super) struct FailedAttempt {
    pub(super) handoff: HandoffNo,
    pub(super) by: AgentId,
    pub(super) outcome: Outcome,
    /// What the agent reported: the error, what it tried, what it found.
    pub(super) words: UntrustedText,
}

pub(super) enum Settled {
    Open,
    Resolved { by: Principal, how: Option<UntrustedText> },
    Waived { by: Principal, why: Option<UntrustedText> },
}

/// A person's answer at a gate, or to a question.
pub(super) struct PersonAnswer {
    pub(super) by: Principal,
    pub(super) answer: Answer,
    /// Why they were asked.
    pub(super) cause: Option<GateCause>,
    /// The question, where an agent asked on its own initiative.
    pub(super) question: Option<UntrustedText>,
    /// What the agent sent with its question, where that says more than the question itself.
    pub(super) asked_with: Option<Parcel>,
    pub(super) comment: Option<UntrustedText>,
}

pub(super) struct DelegateResult {
    pub(super) from: AgentId,
    pub(super) reason: UntrustedText,
    pub(super) outcome: Option<Outcome>,
    pub(super) package: Option<Parcel>,
}

pub(super) struct Round {
    /// From 1.
    pub(super) n: usize,
    /// The rejected handoff, if it was one.
    pub(super) handoff: Option<HandoffNo>,
    pub(super) by: AgentId,
    pub(super) reason: UntrustedText,
}

pub(super) struct BriefDecision {
    pub(super) no: u32,
    pub(super) status: DecisionStatus,
    pub(super) is_locked: bool,
    pub(super) superseded_by: Option<u32>,
    pub(super) conflicts_with: Vec<u32>,
    /// `human` for a person.
    pub(super) by: AgentId,
    /// The decision, its rationale, and the name of the person.
    pub(super) words: UntrustedText,
}

/// The newest version of a shared document.
pub(super) struct BriefDocument {
    pub(super) key: ContextKey,
    pub(super) version: u32,
    pub(super) n_bytes: u32,
    /// None where it is too long for a prompt.
    pub(super) text: Option<UntrustedText>,
}

impl Brief {
    /// True where the receiver, after accepting, continues its own waiting work.
    pub(super) fn is_return_to_caller(&self) -> bool {
        self.work.number != self.handoff.number
    }
}

impl BriefHandoff {
    /// True where the package is new to the receiver.
    pub(super) fn is_news(&self) -> bool {
        !self.is_own_package && self.kind != Kind::Question
    }
}

impl Parcel {
    /// Whether there is more to read than the summary, which is a question's reason too.
    pub(super) fn says_more_than_summary(&self) -> bool {
        match self.document.as_ref() {
            Some(Node::Map(members)) => members.iter().any(|(key, _)| key != "summary"),
            Some(Node::Null | Node::Bool(_) | Node::Number(_) | Node::Text(_) | Node::List(_))
            | None => true,
        }
    }

    /// The reason that the package states, where it has nothing else.
    pub(super) fn only_reason(&self) -> Option<&str> {
        match self.document.as_ref()? {
            Node::Map(members) => match members.as_slice() {
                [(key, Node::Text(text))] if matches!(key.as_str(), "reason" | "feedback") => {
                    Some(text.trim())
                }
                _ => None,
            },
            Node::Null | Node::Bool(_) | Node::Number(_) | Node::Text(_) | Node::List(_) => None,
        }
    }

    /// The document without the root of YAML packages.
    pub(super) fn root(&self) -> Option<&Node> {
        let document = self.document.as_ref()?;
        let inner = document.member("handoff");
        let is_root = |it: &&Node| matches!(it.member("context"), Some(Node::Map(_)));
        Some(inner.filter(is_root).unwrap_or(document))
    }
}
