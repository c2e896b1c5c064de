//! The gates of a run as its log tells of them: each as it was opened, every vote, every vote that was
//! passed on, and the answers. Everything that shows a gate reads this.

use std::collections::HashMap;

use baton_core::approval::PersonIdentity;
use baton_core::content::ContentId;
use baton_core::event::{Event, GateEvent};
use baton_core::gate::{Answer, Gate};
use baton_core::names::Principal;
use baton_core::run::{HandoffNo, RunId};
use baton_core::workflow::Workflow;
use baton_engine::EngineError;
use baton_store::{HandoffRow, SharedEvents};
use baton_wire::event;
use jiff::Timestamp;

use crate::Views;
use crate::history::{History, Logged};

/// The gates of a run. All lists are in the order of the log.
#[derive(Debug, Default)]
pub struct GateRecord {
    pub(crate) opened: HashMap<HandoffNo, Gate>,
    pub(crate) answers: Vec<GateAnswered>,
    votes: Vec<GateVote>,
    delegations: Vec<GateDelegation>,
}

/// A person's answer at a gate.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GateAnswered {
    pub handoff: HandoffNo,
    pub answer: Answer,
    pub by: Principal,
    pub comment: Option<ContentId>,
    pub at: Timestamp,
}

/// One approval of a gate that needs those of several people.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GateVote {
    pub handoff: HandoffNo,
    pub by: Principal,
    pub comment: Option<ContentId>,
    pub identity: PersonIdentity,
    pub at: Timestamp,
    /// The open decisions that the comment is about. Earlier versions did not record them.
    pub decisions: Vec<u32>,
    /// Those who had the vote before, the one that the workflow names first.
    pub on_behalf_of: Vec<Principal>,
}

/// A person passed their vote on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GateDelegation {
    pub handoff: HandoffNo,
    pub by: Principal,
    pub to: Principal,
    pub comment: Option<ContentId>,
    pub at: Timestamp,
}

impl GateRecord {
    pub(crate) fn of(history: &History) -> Self {
        let mut record = Self::default();
        for Logged { at, event, .. } in &history.log {
            record.note(event, *at);
        }
        record
    }

    pub(crate) fn note(&mut self, event: &Event, at: Timestamp) {
        let Event::Gate(event) = event else { return };
        match event {
            GateEvent::Opened { handoff, gate } => {
                self.opened.insert(*handoff, gate.clone());
            }
            GateEvent::Answered { handoff, answer, by, comment, .. } => {
                let (answer, by) = (answer.clone(), by.clone());
                let (handoff, comment) = (*handoff, *comment);
                self.answers.push(GateAnswered { handoff, answer, by, comment, at });
            }
            GateEvent::Approved { handoff, by, comment, identity, decisions, .. } => {
                let on_behalf_of = self.holders_before(*handoff, by);
                self.votes.push(GateVote {
                    handoff: *handoff,
                    by: by.clone(),
                    comment: *comment,
                    identity: *identity,
                    at,
                    decisions: decisions.clone(),
                    on_behalf_of,
                });
            }
            GateEvent::Delegated { handoff, by, to, comment, .. } => {
                let (by, to) = (by.clone(), to.clone());
                let (handoff, comment) = (*handoff, *comment);
                self.delegations.push(GateDelegation { handoff, by, to, comment, at });
            }
            GateEvent::Reminded { .. }
            | GateEvent::Passed { .. }
            | GateEvent::Waived { .. }
            | GateEvent::Lost { .. }
            | GateEvent::Carried { .. } => {}
        }
    }

    /// A vote goes to no person twice, so that this ends.
    fn holders_before(&self, gate: HandoffNo, holder: &Principal) -> Vec<Principal> {
        let mut before = Vec::new();
        let mut holder = holder;
        for it in self.delegations.iter().rev().filter(|it| it.handoff == gate) {
            if it.to == *holder {
                before.insert(0, it.by.clone());
                holder = &it.by;
            }
        }
        before
    }

    /// The gate of a handoff, as it was opened.
    pub fn gate(&self, handoff: HandoffNo) -> Option<&Gate> {
        self.opened.get(&handoff)
    }

    /// A person's answer to a gate, if there is one.
    pub fn answer_to(&self, gate: HandoffNo) -> Option<&GateAnswered> {
        self.answers.iter().find(|it| it.handoff == gate)
    }

    pub fn votes_at(&self, gate: HandoffNo) -> impl Iterator<Item = &GateVote> {
        self.votes.iter().filter(move |it| it.handoff == gate)
    }

    /// The approvals whose words decided an open decision, at a gate of several people: those that are
    /// about it, else all that have words.
    pub(crate) fn voices_on(&self, gate: HandoffNo, decision: u32) -> Vec<&GateVote> {
        let is_approved = self.answer_to(gate).is_some_and(|it| it.answer == Answer::Approve);
        let said = || self.votes_at(gate).filter(|it| is_approved && it.comment.is_some());
        let about: Vec<&GateVote> = said().filter(|it| it.decisions.contains(&decision)).collect();
        if about.is_empty() { said().collect() } else { about }
    }

    pub fn delegations_at(&self, gate: HandoffNo) -> impl Iterator<Item = &GateDelegation> {
        self.delegations.iter().filter(move |it| it.handoff == gate)
    }

    /// The votes that did not open a gate by themselves: the last one is the answer.
    pub(crate) fn earlier_votes(&self) -> impl Iterator<Item = &GateVote> {
        let is_answer = |it: &GateVote| {
            let is_it = |said: &GateAnswered| said.answer == Answer::Approve && said.by == it.by;
            self.answer_to(it.handoff).is_some_and(is_it)
        };
        self.votes.iter().filter(move |it| !is_answer(it))
    }

    /// Whether the comment of an answer was shown with the vote already.
    pub(crate) fn is_told_by_vote(&self, gate: HandoffNo, by: &Principal) -> bool {
        self.votes_at(gate).any(|it| it.by == *by)
    }

    /// All who gave the answer: of an approval every voter, else the one person.
    pub fn answered_by(&self, gate: HandoffNo) -> Vec<Principal> {
        let Some(answer) = self.answer_to(gate) else { return Vec::new() };
        let mut people: Vec<Principal> = match answer.answer {
            Answer::Approve => self.votes_at(gate).map(|it| it.by.clone()).collect(),
            Answer::Continue
            | Answer::Accept
            | Answer::Abort
            | Answer::Reject
            | Answer::Reply
            | Answer::Question
            | Answer::Modify
            | Answer::HandTo(_) => Vec::new(),
        };
        if !people.contains(&answer.by) {
            people.push(answer.by.clone());
        }
        people
    }

    /// Those whose approval a handoff has: of several, all.
    pub fn approved_by(&self, row: &HandoffRow) -> Vec<Principal> {
        let Some(last) = &row.approved_by else { return Vec::new() };
        let gate = row.follows.filter(|it| self.answer_to(*it).is_some_and(|it| it.by == *last));
        let people = gate.map(|it| self.answered_by(it)).unwrap_or_default();
        if people.is_empty() { vec![last.clone()] } else { people }
    }

    /// All that people wrote at the gates.
    pub fn comments(&self) -> Vec<ContentId> {
        let answers = self.answers.iter().filter_map(|it| it.comment);
        let votes = self.votes.iter().filter_map(|it| it.comment);
        let passed_on = self.delegations.iter().filter_map(|it| it.comment);
        answers.chain(votes).chain(passed_on).collect()
    }

    /// Whether a text is what a person said at a gate.
    pub(crate) fn has_comment(&self, text: ContentId) -> bool {
        self.answers.iter().any(|it| it.comment == Some(text))
    }

    /// The answer whose comment is the reason of a handoff: those words are the person's, and not the
    /// sender's.
    pub fn author_of_reason(&self, row: &HandoffRow) -> Option<&GateAnswered> {
        self.answers.iter().find(|it| it.comment == Some(row.reason))
    }

    pub(crate) fn is_rejected(&self, no: HandoffNo) -> bool {
        self.answers.iter().any(|it| it.handoff == no && it.answer == Answer::Reject)
    }

    /// The name of a gate: the workflow's, else why it was opened.
    pub(crate) fn name(&self, no: HandoffNo, workflow: &Workflow) -> String {
        let Some(gate) = self.opened.get(&no) else { return String::new() };
        let declared = gate.edge_in(workflow).and_then(|it| it.gate.as_ref());
        declared.map_or_else(|| gate.sentence(), |it| it.name.clone())
    }
}

impl GateAnswered {
    /// `approve: Specification review`.
    pub(crate) fn words(&self, gate: &str) -> String {
        match &self.answer {
            Answer::HandTo(agent) => format!("hand_to {agent}: {gate}"),
            Answer::Continue
            | Answer::Accept
            | Answer::Abort
            | Answer::Approve
            | Answer::Reject
            | Answer::Reply
            | Answer::Question
            | Answer::Modify => format!("{}: {gate}", self.answer.name()),
        }
    }
}

impl GateVote {
    /// `approve: Release (for ben)`.
    pub(crate) fn words(&self, gate: &str) -> String {
        let named = self.on_behalf_of.first().map(|it| format!(" (for {it})"));
        format!("{}: {gate}{}", Answer::Approve.name(), named.unwrap_or_default())
    }
}

impl Views<'_> {
    /// The gates of a run.
    pub async fn gate_record(&self, run: RunId) -> Result<GateRecord, EngineError> {
        let mut gates = GateRecord::default();
        for stored in self.shared_events(run, SharedEvents::Gates).await? {
            if let Ok(event) = event::decode(&stored.body) {
                gates.note(&event, stored.at);
            }
        }
        Ok(gates)
    }
}
