//! What agents and people share beside the handoffs of a run: decisions, context documents, and
//! questions that one agent asks another inside a step. None of it moves the baton.

use std::collections::BTreeMap;

use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::canonical;
use crate::content::ContentId;
use crate::document::Node;
use crate::hash::Hash;
use crate::named::named;
use crate::names::{AgentId, ContextKey, FreeText, Principal, Reason};
use crate::run::{HandoffNo, Run, RunId, is_false};
use crate::view::read::{owned_at, texts_at};

/// A command about what is shared in a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Collaboration {
    Decide(RecordDecision),
    /// Only a person supersedes it from then on.
    LockDecision {
        decision: u32,
        by: Principal,
        reason: Option<Reason>,
    },
    SetContext(SetContext),
    /// An agent has read these documents.
    ReadContext {
        by: AgentId,
        documents: Vec<ContextVersion>,
    },
    Ask {
        by: AgentId,
        to: AgentId,
        question: FreeText,
    },
    Reply {
        ask: u32,
        by: Option<AgentId>,
        answer: FreeText,
    },
    /// Sent by the clock, or by a waiting caller: the question was not answered in time.
    Lapse {
        ask: u32,
    },
}

impl Collaboration {
    pub fn name(&self) -> &'static str {
        match self {
            Self::Decide(_) => "decide",
            Self::LockDecision { .. } => "lock_decision",
            Self::SetContext(_) => "set_context",
            Self::ReadContext { .. } => "read_context",
            Self::Ask { .. } => "ask",
            Self::Reply { .. } => "reply_to_question",
            Self::Lapse { .. } => "lapse",
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RecordDecision {
    /// Where left out, a person.
    pub by: Option<AgentId>,
    pub principal: Principal,
    pub text: DecisionText,
    /// The decision that this one replaces; an open one is closed by it.
    pub supersedes: Option<u32>,
    pub depends_on: Vec<u32>,
}

/// A decision in its author's words.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct DecisionText {
    pub decision: String,
    pub rationale: Option<String>,
    /// What it is about: two standing decisions on one subject contradict each other.
    pub subject: Option<String>,
    pub alternatives: Vec<String>,
}

impl DecisionText {
    /// As it is stored.
    pub fn to_text(&self) -> String {
        let optional = |it: &Option<String>| it.as_ref().map_or(Node::Null, Node::text);
        canonical::text(&Node::map([
            ("decision", Node::text(&self.decision)),
            ("rationale", optional(&self.rationale)),
            ("subject", optional(&self.subject)),
            ("alternatives", Node::List(self.alternatives.iter().map(Node::text).collect())),
        ]))
    }

    /// As it was stored.
    pub fn of_document(document: &Node) -> Self {
        Self {
            decision: owned_at(document, "decision").unwrap_or_default(),
            rationale: owned_at(document, "rationale"),
            subject: owned_at(document, "subject"),
            alternatives: texts_at(document, "alternatives"),
        }
    }
}

/// Four bytes that tell whether a run has had the same decision before. The salt is a text of the run
/// that is never shown: once it is dropped, a guess at the decision cannot be confirmed.
pub(crate) fn fingerprint(salt: &str, id: Option<&str>, decision: &str) -> u32 {
    let text = format!("{salt}\n{}\n{decision}", id.unwrap_or_default());
    let [a, b, c, d, ..] = Hash::of(text.as_bytes()).0;
    u32::from_be_bytes([a, b, c, d])
}

/// Tells whether an author's own id is that of a decision.
pub(crate) fn id_fingerprint(salt: &str, id: &str) -> u32 {
    fingerprint(salt, Some("id"), id.trim())
}

/// The fingerprint of earlier versions, which had the run's id in the place of a salt.
pub(crate) fn unsalted_fingerprint(run: RunId, id: Option<&str>, decision: &str) -> u32 {
    fingerprint(&run.to_string(), id, decision)
}

/// One decision of a `decision.recorded` event.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DecisionItem {
    /// Counted in the run, from 1. An open decision that a later package asks again keeps its number.
    pub no: u32,
    /// Its index among the decisions of the package.
    pub index: u32,
    pub fingerprint: u32,
    /// Of the id that its author gave it: other packages may refer to it. Earlier versions had none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id_fingerprint: Option<u32>,
    /// The choice is still to be made.
    #[serde(default, skip_serializing_if = "is_false")]
    pub is_open: bool,
    /// That of a package holds as long as the package counts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub supersedes: Option<u32>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub depends_on: Vec<u32>,
}

named! {
    /// Where a decision stands.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
    #[serde(rename_all = "snake_case")]
    pub enum DecisionState {
        #[default]
        Standing = "standing",
        /// It still has to be decided.
        Open = "open",
        /// A person's answer to the gate that asked has closed it.
        Answered = "answered",
        Superseded = "superseded",
    }
}

impl DecisionState {
    #[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks for it")]
    fn is_standing(&self) -> bool {
        *self == Self::Standing
    }
}

/// What a run knows of a decision: not its text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DecisionMark {
    pub fingerprint: u32,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id_fingerprint: Option<u32>,
    /// The handoff that came with it last, where its answer closes it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub asked_by: Option<HandoffNo>,
    #[serde(default, skip_serializing_if = "DecisionState::is_standing")]
    pub state: DecisionState,
    #[serde(default, skip_serializing_if = "is_false")]
    pub is_locked: bool,
}

impl DecisionMark {
    /// A run records no more: what further packages decide is in those packages.
    pub const MOST: usize = 500;
}

/// Whether a gate came with decisions that are still open.
pub(crate) fn has_open_decisions(run: &Run, gate: HandoffNo) -> bool {
    !open_decisions(run, gate).is_empty()
}

/// The open decisions of a gate that these words decide: those that they name, as in `decision 2: B` or
/// `2: B`, else the first. Without words none is decided.
pub(crate) fn decisions_in_words(run: &Run, gate: HandoffNo, words: Option<&FreeText>) -> Vec<u32> {
    let open = open_decisions(run, gate);
    let (Some(words), Some(first)) = (words, open.first().copied()) else { return Vec::new() };
    let named: Vec<u32> =
        open.into_iter().filter(|no| names_decision(words.as_str(), *no)).collect();
    if named.is_empty() { vec![first] } else { named }
}

fn open_decisions(run: &Run, gate: HandoffNo) -> Vec<u32> {
    let is_open = |it: &DecisionMark| it.asked_by == Some(gate) && it.state == DecisionState::Open;
    let open = (1u32..).zip(&run.decisions).filter(|(_, it)| is_open(it));
    open.map(|it| it.0).collect()
}

/// `decision 2`, `#2`, or a line that begins with `2:`, `2.` or `2)`.
fn names_decision(words: &str, no: u32) -> bool {
    let number = no.to_string();
    let begins = |line: &str| {
        let rest = line.trim_start().strip_prefix(number.as_str());
        rest.is_some_and(|it| it.starts_with([':', '.', ')']))
    };
    let mut before = String::new();
    let is_named = words.split_whitespace().any(|word| {
        let bare = word.trim_matches(|it: char| !it.is_alphanumeric());
        let is_told = before.starts_with("decision") || word.starts_with('#');
        before = bare.to_lowercase();
        bare == number && is_told
    });
    is_named || words.lines().any(begins)
}

impl Run {
    /// A decision by its number, which counts from 1.
    pub fn decision(&self, no: u32) -> Option<&DecisionMark> {
        self.decisions.get(usize::try_from(no.checked_sub(1)?).ok()?)
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SetContext {
    pub key: ContextKey,
    /// The version that the caller has seen; 0 where the document is to be new.
    pub expected: u32,
    pub text: Reason,
    /// Where left out, a person or a program.
    pub by: Option<AgentId>,
    pub principal: Principal,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ContextVersion {
    pub key: ContextKey,
    pub version: u32,
}

/// The newest version of a context document of a run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ContextMark {
    pub key: ContextKey,
    pub version: u32,
    pub text: ContentId,
    pub n_bytes: u32,
    /// The agent that changed it, or the principal.
    pub by: String,
    pub at: Timestamp,
}

impl ContextMark {
    pub const MOST_DOCUMENTS: usize = 100;
    /// All documents of a run together: about 50,000 tokens. Decisions do not count.
    pub const MOST_BYTES: usize = 200_000;
}

/// A question of one agent to another that waits for its answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct OpenAsk {
    /// Counted in the run, from 1.
    pub no: u32,
    pub from: AgentId,
    pub to: AgentId,
    /// 1, and 2 after the retry.
    pub attempt: u32,
    pub due: Timestamp,
}

impl OpenAsk {
    pub const TIME_OUT: SignedDuration = SignedDuration::from_secs(30);
    pub const MOST_ATTEMPTS: u32 = 2;
    pub const MOST_OPEN: usize = 50;
}

/// The agents that wait for each other's answers, from `from` on: the way to `to`, where there is one.
pub(crate) fn waits_for(asks: &[OpenAsk], from: &AgentId, to: &AgentId) -> Option<Vec<AgentId>> {
    let mut came_from: BTreeMap<&AgentId, &AgentId> = BTreeMap::new();
    let mut next = vec![from];
    while let Some(agent) = next.pop() {
        if agent == to {
            let mut path = vec![agent.clone()];
            let mut at = agent;
            while let Some(before) = came_from.get(at).filter(|_| at != from) {
                path.push((*before).clone());
                at = before;
            }
            path.reverse();
            return Some(path);
        }
        for ask in asks.iter().filter(|it| it.from == *agent) {
            if ask.to != *from && !came_from.contains_key(&ask.to) {
                came_from.insert(&ask.to, agent);
                next.push(&ask.to);
            }
        }
    }
    None
}

/// Names the question in logs of other systems.
pub type CorrelationId = Uuid;

#[cfg(test)]
mod tests {
    use super::*;

    fn ask(from: &str, to: &str) -> OpenAsk {
        let [from, to] = [from, to].map(|it| AgentId::parse(it).unwrap());
        OpenAsk { no: 1, from, to, attempt: 1, due: Timestamp::UNIX_EPOCH }
    }

    fn path(asks: &[OpenAsk], from: &str, to: &str) -> Option<String> {
        let [from, to] = [from, to].map(|it| AgentId::parse(it).unwrap());
        let path = waits_for(asks, &from, &to)?;
        Some(path.iter().map(AgentId::as_str).collect::<Vec<_>>().join(" "))
    }

    #[test]
    fn agents_that_wait_for_each_other_are_found_however_long_the_way() {
        let asks = [ask("a", "b"), ask("b", "c"), ask("b", "d"), ask("d", "e")];
        assert_eq!(path(&asks, "a", "e").as_deref(), Some("a b d e"));
        assert_eq!(path(&asks, "a", "a").as_deref(), Some("a"));
        assert_eq!(path(&asks, "e", "a"), None);
        assert_eq!(path(&asks, "c", "d"), None);
    }

    #[test]
    fn a_decision_is_stored_whole() {
        let text = DecisionText {
            decision: "Use SQLite".to_owned(),
            rationale: Some("one file".to_owned()),
            subject: None,
            alternatives: vec!["PostgreSQL".to_owned()],
        };
        let stored = text.to_text();
        assert_eq!(
            stored,
            r#"{"alternatives":["PostgreSQL"],"decision":"Use SQLite","rationale":"one file","subject":null}"#
        );
    }
}
