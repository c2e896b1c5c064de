//! What was decided in a run: by agents in the packages that count, and by people at gates.
//!
//! A choice that is still open is no decision, nor is what a rejected package says. A decision that
//! later packages repeat is listed once. Lists, the conversation, the page, the archive and prompts all
//! take who decided or only asked, the status and what was replaced from here.

use std::collections::{HashMap, HashSet};

use baton_core::content::ContentId;
use baton_core::gate::Answer;
use baton_core::names::{AgentId, Principal};
use baton_core::package::ReportedDecision;
use baton_core::run::{Ended, HandoffNo, HandoffState, Kind};
use baton_core::workflow::Workflow;
use baton_engine::{EngineError, stored};
use baton_store::{HandoffFilter, HandoffRow, RunRow};
use jiff::Timestamp;

use crate::Views;
use crate::attribution::{Attributions, ShownAgent};
use crate::gate_record::{GateAnswered, GateRecord, GateVote};

mod records;

pub(crate) use self::records::in_place_of;
pub use self::records::{DecisionRecord, DecisionStatus};

/// A decision, who made it, and the handoff that has it.
#[derive(Debug, Clone)]
pub struct Decided {
    pub decision: ReportedDecision,
    pub by: AgentId,
    /// The person, where one decided.
    pub person: Option<Principal>,
    /// The person's answer at the gate, where it was one.
    pub answer: Option<Answer>,
    pub at: Timestamp,
    /// The handoff whose package states it, or the gate that was answered. None where it was recorded
    /// on its own.
    pub row: Option<HandoffRow>,
    /// The agent as it was shown then.
    pub shown: ShownAgent,
    /// The record, where there is one: packages of an older Baton, and answers to gates, have none.
    pub record: Option<DecisionRecord>,
    /// The agent that left it open, where a person's answer has decided it.
    pub asked_by: Option<ShownAgent>,
    /// Who recorded it in an agent's name.
    pub recorded_by: Option<Principal>,
}

impl Decided {
    /// A choice that nobody has made: `by` asks for it, or asked for it.
    pub fn is_only_asked(&self) -> bool {
        let is_made = |it: &DecisionRecord| it.status == DecisionStatus::Answered;
        self.record.as_ref().is_some_and(|it| it.is_choice && !is_made(it))
    }

    /// The name of who decided it, or asks for it.
    pub fn author(&self) -> String {
        let agent = || self.shown.agent.label();
        self.person.as_ref().map_or_else(agent, ToString::to_string)
    }

    /// `Decided by Analyst at 2026-01-02T03:04:05Z`, or `Asked by`.
    pub fn attribution(&self) -> String {
        let verb = if self.is_only_asked() { "Asked" } else { "Decided" };
        format!("{verb} by {} at {:.0}", self.author(), self.at)
    }
}

/// A package that counts, and the first handoff that hands it over.
struct StandingPackage<'a> {
    id: ContentId,
    row: &'a HandoffRow,
    by: AgentId,
    /// The person that wrote it in place of an agent's.
    person: Option<&'a Principal>,
}

/// What a person said at a gate: the answer, or one of the votes before it.
struct PersonsWords {
    handoff: HandoffNo,
    by: Principal,
    answer: Answer,
    /// `approve: Specification review`.
    words: String,
    comment: Option<ContentId>,
    at: Timestamp,
}

impl PersonsWords {
    fn of(gates: &GateRecord, workflow: &Workflow) -> Vec<Self> {
        let name = |no| gates.name(no, workflow);
        let vote = |it: &GateVote| Self {
            handoff: it.handoff,
            by: it.by.clone(),
            answer: Answer::Approve,
            words: it.words(&name(it.handoff)),
            comment: it.comment,
            at: it.at,
        };
        let answer = |it: &GateAnswered| Self {
            handoff: it.handoff,
            by: it.by.clone(),
            answer: it.answer.clone(),
            words: it.words(&name(it.handoff)),
            comment: it.comment,
            at: it.at,
        };
        gates.earlier_votes().map(vote).chain(gates.answers.iter().map(answer)).collect()
    }
}

/// The packages that count, in the order in which they were handed over first.
fn standing<'a>(rows: &'a [HandoffRow], gates: &GateRecord) -> Vec<StandingPackage<'a>> {
    let mut seen: HashMap<ContentId, usize> = HashMap::new();
    let mut rejected: HashSet<ContentId> = HashSet::new();
    let mut packages: Vec<(StandingPackage<'a>, bool)> = Vec::new();
    for row in rows {
        let Some(id) = row.package else { continue };
        let known = seen.get(&id).copied();
        // A package that comes a second time in a return is rejected work on its way back.
        let is_back = row.kind == Kind::Return && known.is_some();
        // A person who takes rejected work as it is makes it count again; nothing else does, however
        // often it is handed around after that.
        if row.approved_by.is_some() {
            rejected.remove(&id);
        }
        if row.state == HandoffState::Ended(Ended::Rejected) || gates.is_rejected(row.no) {
            rejected.insert(id);
        }
        let is_refused =
            rejected.contains(&id) || row.state == HandoffState::Ended(Ended::Superseded);
        let counts = !is_back && !is_refused && row.kind != Kind::Question;
        match known {
            Some(index) => packages[index].1 = counts,
            None => {
                seen.insert(id, packages.len());
                packages.push((StandingPackage::of(id, row, rows), counts));
            }
        }
    }
    packages.into_iter().filter(|(_, counts)| *counts).map(|(it, _)| it).collect()
}

impl<'a> StandingPackage<'a> {
    fn of(id: ContentId, row: &'a HandoffRow, rows: &'a [HandoffRow]) -> Self {
        let before = row.follows.and_then(|no| rows.iter().find(|it| it.no == no));
        let is_gate = |it: &&HandoffRow| it.to.agent.is_human();
        // What follows a gate with another package than the gate had is the person's own.
        let person = row.approved_by.as_ref().filter(|_| before.filter(is_gate).is_some());
        let by = match person {
            Some(_) => AgentId::human(),
            // The orchestrator asks for an agent that is blocked.
            None if row.from.agent.is_orchestrator() && row.to.agent.is_human() => {
                before.map_or(&row.from.agent, |it| &it.to.agent).clone()
            }
            None => row.from.agent.clone(),
        };
        Self { id, row, by, person }
    }
}

impl Views<'_> {
    /// The decisions of a run, oldest first: those that count.
    pub async fn decisions(&self, run: &RunRow) -> Result<Vec<Decided>, EngineError> {
        let mut decided = self.all_decisions(run).await?;
        let counts = |it: &DecisionRecord| match it.status {
            DecisionStatus::Standing | DecisionStatus::Answered | DecisionStatus::Superseded => {
                true
            }
            DecisionStatus::Open | DecisionStatus::Withdrawn => false,
        };
        decided.retain(|it| it.record.as_ref().is_none_or(counts) && !it.is_only_asked());
        Ok(decided)
    }

    /// As [`Views::decisions`], with what is open, and what a rejected package had decided.
    pub async fn all_decisions(&self, row: &RunRow) -> Result<Vec<Decided>, EngineError> {
        let run = row.run.id;
        let filter = HandoffFilter { run: Some(run), ..HandoffFilter::default() };
        let rows = self.handoffs(&filter).await?;
        let gates = self.gate_record(run).await?;
        let mut records = self.decision_records(&row.run).await?;
        let workflow = self.workflow_of(row).await?;
        let cast = self.cast(&row.run).await?;
        let people = Attributions { cast: &cast, rows: &rows, workflow: &workflow };
        let mut decided = Vec::new();
        let mut listed = HashSet::new();
        let mut counting = HashSet::new();
        for package in standing(&rows, &gates) {
            counting.insert(package.id);
            let texts = self.whole_texts(run, [package.id]).await?;
            let Some(document) = texts.content(package.id).and_then(stored::package) else {
                continue;
            };
            for (index, decision) in (0..).zip(document.view().decisions) {
                if decision.is_open()
                    || !listed.insert((decision.id.clone(), decision.decision.clone()))
                {
                    continue;
                }
                let record = records.take(package.id, index, &decision);
                decided.push(Decided {
                    decision,
                    by: package.by.clone(),
                    person: package.person.cloned(),
                    answer: None,
                    at: package.row.created_at,
                    row: Some(package.row.clone()),
                    shown: people.sender(&package.by, package.row),
                    record,
                    asked_by: None,
                    recorded_by: None,
                });
            }
        }
        let said = PersonsWords::of(&gates, &workflow);
        let texts = self.whole_texts(run, said.iter().filter_map(|it| it.comment)).await?;
        decided.extend(records.left(&people, &counting, &gates, &texts));
        // What closed an open decision is told with that decision.
        let said: Vec<PersonsWords> =
            said.into_iter().filter(|it| !has_closed_one(it, &decided, &gates)).collect();
        for it in said {
            let Some(row) = rows.iter().find(|row| row.no == it.handoff) else { continue };
            let rationale = it.comment.and_then(|it| texts.get(it)).map(str::to_owned);
            decided.push(Decided {
                decision: ReportedDecision {
                    decision: it.words,
                    rationale,
                    ..ReportedDecision::default()
                },
                by: AgentId::human(),
                person: Some(it.by),
                answer: Some(it.answer),
                at: it.at,
                row: Some(row.clone()),
                shown: people.sender(&AgentId::human(), row),
                record: None,
                asked_by: None,
                recorded_by: None,
            });
        }
        let order = |it: &Decided| {
            // What was recorded on its own comes after what a package states at the same time.
            let no = it.row.as_ref().map_or(u32::MAX, |it| it.no.0);
            // A person answers after the package is there.
            (it.at, no, it.answer.is_some(), it.record.as_ref().map(|it| it.no))
        };
        decided.sort_by_key(order);
        records::replace_by_packages(&mut decided);
        records::find_conflicts(&mut decided);
        Ok(decided)
    }
}

/// Whether what a person said closed a decision that was open. Of several people only those who decided it are told with it.
fn has_closed_one(said: &PersonsWords, decided: &[Decided], gates: &GateRecord) -> bool {
    let is_it = |row: &HandoffRow| row.no == said.handoff;
    let answers = decided.iter().filter(|it| it.asked_by.is_some());
    let mut told = answers.filter(|it| it.row.as_ref().is_some_and(is_it));
    told.any(|it| {
        let voices = it.record.as_ref().map(|of| gates.voices_on(said.handoff, of.no));
        let voices = voices.unwrap_or_default();
        voices.is_empty() || voices.iter().any(|voice| voice.by == said.by)
    })
}
