//! The records of decisions: numbers, what replaced what, locks and conflicts.

use std::collections::HashMap;

use baton_core::collaboration::{DecisionItem, DecisionState, DecisionText};
use baton_core::content::ContentId;
use baton_core::event::{DecisionEvent, Event};
use baton_core::names::{AgentId, Principal};
use baton_core::package::ReportedDecision;
use baton_core::run::{HandoffNo, Run, RunId};
use baton_engine::{EngineError, stored};
use baton_store::{HandoffRow, SharedEvents};
use baton_wire::{event, json};
use jiff::Timestamp;

use super::Decided;
use crate::Views;

/// What a run has recorded of a decision.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DecisionRecord {
    /// Counted in the run, from 1.
    pub no: u32,
    pub status: DecisionStatus,
    pub locked_by: Option<Principal>,
    pub subject: Option<String>,
    pub alternatives: Vec<String>,
    pub supersedes: Option<u32>,
    pub superseded_by: Option<u32>,
    pub depends_on: Vec<u32>,
    /// Decisions that depend on this one.
    pub dependents: Vec<u32>,
    /// Standing decisions on the same subject that say something else.
    pub conflicts_with: Vec<u32>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DecisionStatus {
    Standing,
    /// Somebody still has to decide.
    Open,
    /// A person's answer has closed it.
    Answered,
    Superseded,
    /// The package that stated it was rejected or replaced.
    Withdrawn,
}

impl DecisionStatus {
    pub fn name(self) -> &'static str {
        match self {
            Self::Standing => "standing",
            Self::Open => "open",
            Self::Answered => "answered",
            Self::Superseded => "superseded",
            Self::Withdrawn => "withdrawn",
        }
    }
}

/// One decision of a `decision.recorded` event.
struct FoundRecord {
    record: DecisionRecord,
    by: AgentId,
    principal: Principal,
    at: Timestamp,
    index: u32,
    handoff: Option<HandoffNo>,
    package: Option<ContentId>,
    text: Option<ContentId>,
    portrait: Option<ContentId>,
}

/// The records of a run that no decision of the list has taken yet.
pub(super) struct FoundRecords(Vec<FoundRecord>);

impl FoundRecords {
    /// The record of a decision that a package states.
    pub(super) fn take(&mut self, package: ContentId, index: u32) -> Option<DecisionRecord> {
        let is_it = |it: &FoundRecord| it.package == Some(package) && it.index == index;
        let at = self.0.iter().position(is_it)?;
        Some(self.0.remove(at).record)
    }
}

impl Views<'_> {
    pub(super) async fn decision_records(&self, run: &Run) -> Result<FoundRecords, EngineError> {
        let mut found: Vec<FoundRecord> = Vec::new();
        for stored in self.shared_events(run.id, SharedEvents::Decisions).await? {
            let Ok(Event::Decision(event)) = event::decode(&stored.body) else { continue };
            match event {
                DecisionEvent::Recorded {
                    by, decisions, handoff, package, text, portrait, ..
                } => {
                    found.extend(decisions.into_iter().map(|item| FoundRecord {
                        record: record(run, &item),
                        by: by.clone(),
                        principal: stored.by.clone(),
                        at: stored.at,
                        index: item.index,
                        handoff,
                        package,
                        text,
                        portrait,
                    }));
                }
                DecisionEvent::Superseded { decision, replaced_by } => {
                    for it in found.iter_mut().filter(|it| it.record.no == decision) {
                        it.record.superseded_by = Some(replaced_by);
                    }
                }
                DecisionEvent::Locked { decision, by, .. } => {
                    for it in found.iter_mut().filter(|it| it.record.no == decision) {
                        it.record.locked_by = Some(by.clone());
                    }
                }
            }
        }
        let mut dependents: HashMap<u32, Vec<u32>> = HashMap::new();
        for it in &found {
            for no in &it.record.depends_on {
                dependents.entry(*no).or_default().push(it.record.no);
            }
        }
        for it in &mut found {
            it.record.dependents = dependents.remove(&it.record.no).unwrap_or_default();
        }
        Ok(FoundRecords(found))
    }

    /// The records that are not in a package that counts: recorded on their own, open, or in a
    /// package that was rejected.
    pub(super) async fn recorded_alone(
        &self,
        run: RunId,
        rows: &[HandoffRow],
        records: FoundRecords,
    ) -> Result<Vec<Decided>, EngineError> {
        let ids = records.0.iter().flat_map(|it| [it.text, it.package]).flatten();
        let ids: Vec<ContentId> = ids.collect();
        let texts = self.texts(run, ids).await?;
        let mut decided = Vec::new();
        for it in records.0 {
            let mut record = it.record;
            let decision = match (it.text, it.package) {
                (Some(text), _) => {
                    let document = texts.get(text).whole().and_then(|it| json::parse(it).ok());
                    let text = document.map(|it| DecisionText::of_document(&it));
                    let text = text.unwrap_or_default();
                    record.subject = text.subject;
                    record.alternatives = text.alternatives;
                    ReportedDecision {
                        id: None,
                        decision: text.decision,
                        rationale: text.rationale,
                    }
                }
                (None, package) => {
                    if record.status == DecisionStatus::Standing {
                        record.status = DecisionStatus::Withdrawn;
                    }
                    let document =
                        package.and_then(|it| texts.content(it)).and_then(stored::package);
                    let stated = document.map(|it| it.decisions()).unwrap_or_default();
                    let index = usize::try_from(it.index).unwrap_or(usize::MAX);
                    let Some(decision) = stated.into_iter().nth(index) else { continue };
                    decision
                }
            };
            let row = it.handoff.and_then(|no| rows.iter().find(|row| row.no == no)).cloned();
            let person = it.by.is_human().then_some(it.principal);
            let (by, at, portrait) = (it.by, it.at, it.portrait);
            let (answer, record) = (None, Some(record));
            decided.push(Decided { decision, by, person, answer, at, row, portrait, record });
        }
        Ok(decided)
    }
}

fn record(run: &Run, item: &DecisionItem) -> DecisionRecord {
    let status = match run.decision(item.no).map(|it| it.state) {
        Some(DecisionState::Standing) | None => DecisionStatus::Standing,
        Some(DecisionState::Open) => DecisionStatus::Open,
        Some(DecisionState::Answered) => DecisionStatus::Answered,
        Some(DecisionState::Superseded) => DecisionStatus::Superseded,
    };
    DecisionRecord {
        no: item.no,
        status,
        locked_by: None,
        subject: None,
        alternatives: Vec::new(),
        supersedes: item.supersedes,
        superseded_by: None,
        depends_on: item.depends_on.clone(),
        dependents: Vec::new(),
        conflicts_with: Vec::new(),
    }
}

/// Two standing decisions on one subject that say different things contradict each other. A package's
/// own id of a decision is its subject.
pub(super) fn find_conflicts(decided: &mut [Decided]) {
    let mut by_subject: HashMap<String, Vec<(usize, String)>> = HashMap::new();
    for (index, it) in decided.iter().enumerate() {
        let Some(record) = &it.record else { continue };
        let subject = record.subject.as_ref().or(it.decision.id.as_ref());
        if let (DecisionStatus::Standing, Some(subject)) = (record.status, subject) {
            let said = normal(&it.decision.decision);
            by_subject.entry(normal(subject)).or_default().push((index, said));
        }
    }
    for standing in by_subject.values() {
        for (index, said) in standing {
            let others = standing.iter().filter(|it| it.1 != *said);
            let others: Vec<u32> = others
                .filter_map(|it| decided[it.0].record.as_ref().map(|record| record.no))
                .collect();
            if let Some(record) = &mut decided[*index].record {
                record.conflicts_with = others;
            }
        }
    }
}

/// Without differences that a reader does not see as one.
fn normal(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ").to_lowercase()
}
