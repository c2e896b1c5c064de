//! Everything that a prompt tells, as values: rendering reads this and nothing else.
//!
//! Texts of others are plain strings here. Only `sections` prints them, and only in a fence.

use std::sync::Arc;

use baton_core::agent::Agent;
use baton_core::document::Node;
use baton_core::evidence::Evidence;
use baton_core::gate::{Answer, GateCause};
use baton_core::hash::Hash;
use baton_core::names::{AgentId, Principal, StoryKey};
use baton_core::outcome::Outcome;
use baton_core::package::Format;
use baton_core::run::{HandoffNo, Kind, Party, State};
use baton_core::story::Story;
use baton_core::workflow::{Place, Workflow};

pub(super) struct Brief {
    pub(super) workflow: Arc<Workflow>,
    /// As the project describes the receiver now.
    pub(super) agent: Agent,
    pub(super) story: StoryKey,
    pub(super) branch: String,
    /// What the story says, where somebody wrote more than its key.
    pub(super) wanted: Option<Story>,
    /// Of the run, for people.
    pub(super) run: u64,
    pub(super) handoff: BriefHandoff,
    /// What the receiver works on once it has accepted: the handoff, or what it waited with.
    pub(super) work: WaitingWork,
    pub(super) package: Option<Parcel>,
    /// What the receiver had been given before, where the handoff brings something back to it.
    pub(super) given: Option<Parcel>,
    pub(super) exchanges: Vec<AskedQuestion>,
    pub(super) blockers: Vec<BriefBlocker>,
    pub(super) people: Vec<PersonAnswer>,
    /// What delegates have brought before.
    pub(super) brought: Vec<DelegateResult>,
    /// The rejects on the edge that this work goes by, oldest first.
    pub(super) rounds: Vec<Round>,
    /// How many the workflow takes before a person is asked.
    pub(super) most_rounds: u32,
    /// What the edge's contract misses, as `rule path`.
    pub(super) warnings: Vec<String>,
    pub(super) evidence: Vec<Evidence>,
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
    /// For how many seconds its holder may be silent.
    pub(super) lease: Option<u32>,
    pub(super) reason: String,
    /// Who gave the reason; nobody in particular, where a person's answer made the handoff.
    pub(super) reason_by: Option<AgentId>,
    /// The package is what the receiver itself had handed on, and it was rejected.
    pub(super) is_own_package: bool,
    /// The handoff that it sends back, where it does.
    pub(super) rejected: Option<HandoffNo>,
    pub(super) brings: Option<Outcome>,
    pub(super) approved_by: Option<Principal>,
    /// Who gets it if it is rejected; nobody, where the step does not let it.
    pub(super) rejects_to: Option<AgentId>,
    /// Who is asked what it leaves open.
    pub(super) asks: AgentId,
}

pub(super) struct WaitingWork {
    pub(super) number: u64,
    pub(super) place: Place,
    /// Who waits for it, where it is a part of somebody's work.
    pub(super) caller: Option<Party>,
}

#[derive(Clone)]
pub(super) struct Parcel {
    /// The number of the handoff that has it.
    pub(super) number: u64,
    pub(super) format: Format,
    pub(super) hash: Option<Hash>,
    pub(super) text: Arc<str>,
    /// Where the text could be read.
    pub(super) document: Option<Node>,
}

pub(super) struct AskedQuestion {
    pub(super) asker: AgentId,
    pub(super) asked: AgentId,
    pub(super) question: String,
    pub(super) answer: String,
}

pub(super) struct BriefBlocker {
    pub(super) raised_by: AgentId,
    pub(super) about: String,
    pub(super) settled: Settled,
}

pub(super) enum Settled {
    Open,
    Resolved { by: Principal, how: Option<String> },
    Waived { by: Principal, why: Option<String> },
}

/// What a person said at a gate, or when they were asked.
pub(super) struct PersonAnswer {
    pub(super) by: Principal,
    pub(super) answer: Answer,
    /// Why they were asked.
    pub(super) cause: Option<GateCause>,
    /// What they were asked, where an agent asked it of its own accord.
    pub(super) question: Option<String>,
    pub(super) comment: Option<String>,
}

pub(super) struct DelegateResult {
    pub(super) from: AgentId,
    pub(super) reason: String,
    pub(super) outcome: Option<Outcome>,
    pub(super) package: Option<Parcel>,
}

pub(super) struct Round {
    /// From 1.
    pub(super) n: usize,
    /// What was rejected, where that was a handoff.
    pub(super) handoff: Option<HandoffNo>,
    pub(super) by: AgentId,
    pub(super) reason: String,
}

impl Brief {
    /// True where the receiver, once it has accepted, goes on with what it had been waiting with.
    pub(super) fn is_return_to_caller(&self) -> bool {
        self.work.number != self.handoff.number
    }
}

impl BriefHandoff {
    /// True where the package is news to the receiver.
    pub(super) fn is_news(&self) -> bool {
        !self.is_own_package && self.kind != Kind::Question
    }
}

impl Parcel {
    /// The document without the root that YAML packages have.
    pub(super) fn root(&self) -> Option<&Node> {
        let document = self.document.as_ref()?;
        let inner = document.member("handoff");
        let is_root = |it: &&Node| matches!(it.member("context"), Some(Node::Map(_)));
        Some(inner.filter(is_root).unwrap_or(document))
    }
}
