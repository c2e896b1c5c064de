//! The members of a message, for each family of events, and how long a text in it may be.

use baton_core::agent::Agent;
use baton_core::document::Node;
use baton_core::event::{BranchEvent, ContextEvent, GateEvent, LeaseEvent, MessageEvent, RunEvent};
use baton_core::gate::GateEdge;
use baton_core::names::{AgentId, CommitId, Principal, StepId};
use baton_core::outcome::Outcome;
use baton_core::run::{EdgeKey, RunStatus};

/// A message by its name and its members.
pub(super) type NamedMembers = (&'static str, Vec<(&'static str, Node)>);

/// For texts without a bound of their own. A story key has up to 400 bytes as JSON, and the longest
/// message also has three names, a step, two ids and the frame.
pub(super) const MOST_NAME: usize = 40;
const MOST_PRINCIPAL: usize = 200;
/// Of a person who decided, beside the attribution.
pub(super) const MOST_PERSON: usize = 80;
const MOST_SENTENCE: usize = 240;

/// Only a step whose work is done is completed.
pub(super) fn step_status(outcome: Outcome, is_rejected: bool) -> &'static str {
    match outcome {
        _ if is_rejected => "rejected",
        Outcome::Success | Outcome::NeedsReview => "completed",
        Outcome::Skipped => "skipped",
        Outcome::Failure => "failed",
        Outcome::Blocked | Outcome::NeedsClarification => "blocked",
        Outcome::Unknown => "lost",
    }
}

pub(super) fn reported(event: &RunEvent) -> Option<NamedMembers> {
    Some(match event {
        RunEvent::BatonLoose { at, .. } => ("BATON_LOOSE", vec![("at", text(&at.to_string()))]),
        RunEvent::SignalPassed => ("SIGNAL_PASSED", Vec::new()),
        RunEvent::SignalMerged { commit } => {
            let commit = commit.as_ref().map(CommitId::as_str);
            ("SIGNAL_MERGED", vec![("commit", some_text(commit))])
        }
        RunEvent::Adopted { by } => {
            let at = ("at", text(&by.place.to_string()));
            ("RUN_ADOPTED", vec![("agent", text(by.agent.as_str())), at])
        }
        RunEvent::Started { .. }
        | RunEvent::Paused { .. }
        | RunEvent::Resumed
        | RunEvent::Cancelled { .. }
        | RunEvent::Completed => return None,
    })
}

pub(super) fn gate(event: &GateEvent, handoff: (&'static str, Node)) -> NamedMembers {
    match event {
        GateEvent::Opened { gate, .. } => {
            let kind = ("kind", text(gate.kind.name()));
            let asker = ("agent", text(gate.asker.agent.as_str()));
            // Baton's own sentence; what the agent says is in the inbox.
            let why = ("message", cut(&gate.sentence(), MOST_SENTENCE));
            let cause = ("cause", text(gate.cause.name()));
            ("GATE_OPENED", vec![handoff, cause, kind, asker, why])
        }
        GateEvent::Answered { answer, by, .. } => {
            let answer = ("answer", text(answer.name()));
            ("GATE_ANSWERED", vec![handoff, answer, ("by", principal(by))])
        }
        GateEvent::Approved { by, identity, .. } => {
            let identity = ("identity", text(identity.name()));
            ("GATE_APPROVED", vec![handoff, ("by", principal(by)), identity])
        }
        GateEvent::Delegated { by, to, .. } => {
            ("GATE_DELEGATED", vec![handoff, ("by", principal(by)), ("to", principal(to))])
        }
        GateEvent::Reminded { .. } => ("GATE_REMINDED", vec![handoff]),
        GateEvent::Passed { edge, .. } => ("GATE_PASSED", ends(edge)),
        GateEvent::Waived { gates, by, .. } => ("GATE_WAIVED", gates_of(gates, Some(by))),
        GateEvent::Lost { gates, .. } => ("GATE_LOST", gates_of(gates, None)),
        GateEvent::Carried { gates, .. } => ("GATE_CARRIED", gates_of(gates, None)),
    }
}

pub(super) fn message(event: &MessageEvent) -> NamedMembers {
    let question = |no: u32| ("question", Node::count(no.into()));
    match event {
        MessageEvent::Posted { by, .. } => {
            ("MESSAGE_POSTED", vec![("by", some_text(by.as_ref().map(AgentId::as_str)))])
        }
        MessageEvent::Asked { ask, by, to, correlation, .. } => {
            let correlation = ("correlationId", text(&correlation.to_string()));
            let (by, to) = (("by", text(by.as_str())), ("to", text(to.as_str())));
            ("MESSAGE_ASKED", vec![question(*ask), correlation, by, to])
        }
        MessageEvent::Replied { ask, by, .. } => {
            ("MESSAGE_REPLIED", vec![question(*ask), ("by", text(by.as_str()))])
        }
        MessageEvent::Repeated { ask, .. } => ("MESSAGE_REPEATED", vec![question(*ask)]),
        MessageEvent::Unanswered { ask } => ("MESSAGE_UNANSWERED", vec![question(*ask)]),
    }
}

pub(super) fn context(event: &ContextEvent) -> NamedMembers {
    match event {
        ContextEvent::Changed { key, version, by, .. } => {
            let version = ("version", Node::count((*version).into()));
            let by = ("by", cut(by, MOST_PRINCIPAL));
            ("CONTEXT_CHANGED", vec![("key", text(key.as_str())), version, by])
        }
        ContextEvent::Read { by, documents } => {
            let n_documents = ("documents", Node::count(documents.len() as u64));
            ("CONTEXT_READ", vec![("by", text(by.as_str())), n_documents])
        }
    }
}

/// Steps have short names, but a fan-out may have many: they are counted.
pub(super) fn branch(event: &BranchEvent) -> NamedMembers {
    let step = |key, it: &StepId| (key, text(it.as_str()));
    match event {
        BranchEvent::Forked { from, firsts, join, need, .. } => {
            let n_branches = ("branches", Node::count(firsts.len() as u64));
            let need = ("need", Node::count((*need).into()));
            let from = ("agent", text(from.agent.as_str()));
            ("BRANCH_FORKED", vec![from, n_branches, need, step("join", join)])
        }
        BranchEvent::Arrived { branch, from, outcome, .. } => {
            let branch = ("branch", Node::count((*branch).into()));
            let agent = ("agent", text(from.agent.as_str()));
            ("BRANCH_ARRIVED", vec![branch, agent, ("outcome", text(outcome.name()))])
        }
        BranchEvent::Cancelled { branch, first, .. } => {
            let branch = ("branch", Node::count((*branch).into()));
            ("BRANCH_CANCELLED", vec![branch, step("step", first)])
        }
        BranchEvent::Joined { at, branches } => {
            let n_branches = ("branches", Node::count(branches.len() as u64));
            ("BRANCH_JOINED", vec![step("step", at), n_branches])
        }
    }
}

pub(super) fn lease(event: &LeaseEvent, handoff: (&'static str, Node)) -> NamedMembers {
    let fence = |fence: &u32| ("fence", Node::count((*fence).into()));
    match event {
        LeaseEvent::Granted { fence: it, seconds, .. } => {
            let seconds = ("seconds", Node::count((*seconds).into()));
            ("LEASE_GRANTED", vec![handoff, fence(it), seconds])
        }
        LeaseEvent::Lost { fence: it, .. } => ("LEASE_LOST", vec![handoff, fence(it)]),
        LeaseEvent::Released { fence: it, .. } => ("LEASE_RELEASED", vec![handoff, fence(it)]),
    }
}

pub(super) fn ends(edge: &EdgeKey) -> Vec<(&'static str, Node)> {
    vec![("from", text(&edge.from.to_string())), ("to", text(&edge.to.to_string()))]
}

/// The pipeline API's statuses of a run and of its story.
pub(super) fn pipeline_words(status: RunStatus) -> (&'static str, &'static str) {
    match status {
        RunStatus::Open => ("running", "in_progress"),
        RunStatus::Paused => ("paused", "paused"),
        RunStatus::Completed => ("complete", "passed"),
        RunStatus::Cancelled => ("idle", "skipped"),
    }
}

pub(super) fn agent(it: &Agent) -> Node {
    Node::map([
        ("id", text(it.id.as_str())),
        ("name", cut(&it.name, MOST_NAME)),
        ("avatarUrl", it.avatar_url().map_or(Node::Null, text)),
    ])
}

pub(super) fn agent_without_avatar(it: &Agent) -> Node {
    agent(&Agent { avatar: None, ..it.clone() })
}

/// A message is bounded, but a workflow may have any number of gates: the log has their names.
fn gates_of(gates: &[GateEdge], by: Option<&Principal>) -> Vec<(&'static str, Node)> {
    let by = by.map(|it| ("by", principal(it)));
    std::iter::once(("gates", Node::count(gates.len() as u64))).chain(by).collect()
}

pub(super) fn settled(blocker: u32, by: &Principal) -> Vec<(&'static str, Node)> {
    vec![("blocker", Node::count(blocker.into())), ("by", principal(by))]
}

pub(super) fn some_text(it: Option<&str>) -> Node {
    it.map_or(Node::Null, text)
}

pub(super) fn principal(by: &Principal) -> Node {
    cut(by.as_str(), MOST_PRINCIPAL)
}

pub(super) fn text(text: &str) -> Node {
    Node::text(text)
}

pub(super) fn cut(text: &str, most: usize) -> Node {
    Node::Text(cut_text(text, most))
}

/// At most `most` bytes of JSON, cut between two characters.
pub(super) fn cut_text(text: &str, most: usize) -> String {
    let mut n_bytes = 0;
    let fits = |it: &char| {
        n_bytes += match it {
            '"' | '\\' => 2,
            it if it.is_control() => 6,
            it => it.len_utf8(),
        };
        n_bytes <= most
    };
    text.chars().take_while(fits).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_step_whose_work_is_done_is_completed() {
        for outcome in Outcome::ALL.iter().copied() {
            let is_done = matches!(outcome, Outcome::Success | Outcome::NeedsReview);
            assert_eq!(step_status(outcome, false) == "completed", is_done, "{outcome:?}");
            assert_eq!(step_status(outcome, true), "rejected");
        }
    }

    #[test]
    fn a_text_is_cut_between_characters() {
        assert_eq!(cut_text("plain", 5), "plain");
        assert_eq!(cut_text("plain", 4), "plai");
        assert_eq!(cut_text("ééé", 5), "éé");
        assert_eq!(cut_text("a\"b", 2), "a");
    }
}
