//! The records of decisions: numbers, what replaced what, locks and conflicts.

use std::collections::{HashMap, HashSet};

use baton_core::collaboration::{DecisionItem, DecisionState, DecisionText};
use baton_core::content::ContentId;
use baton_core::event::{DecisionEvent, Event};
use baton_core::gate::Answer;
use baton_core::look_alike::outline;
use baton_core::names::{AgentId, Principal};
use baton_core::package::ReportedDecision;
use baton_core::person::{Speaker, speaker};
use baton_core::registry::Agents;
use baton_core::run::{HandoffNo, Run};
use baton_engine::{DAMAGED_TEXT, EngineError, LOST_TEXT, Text, Texts, WholeTexts, stored};
use baton_store::SharedEvents;
use baton_wire::{event, json};
use jiff::Timestamp;

use super::Decided;
use crate::Views;
use crate::attribution::Attributions;
use crate::gate_record::{GateRecord, GateVote};

/// What a run has recorded of a decision.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DecisionRecord {
    /// Counted in the run, from 1.
    pub no: u32,
    pub status: DecisionStatus,
    /// A package left it open, for a person to decide.
    pub is_choice: bool,
    pub locked_by: Option<Principal>,
    pub lock_reason: Option<String>,
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
    /// It still has to be decided.
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
    /// In the words of its text or its package; `[redacted]` where those are.
    said: ReportedDecision,
    by: AgentId,
    principal: Principal,
    at: Timestamp,
    index: u32,
    handoff: Option<HandoffNo>,
    package: Option<ContentId>,
    text: Option<ContentId>,
    portrait: Option<ContentId>,
    lock_reason: Option<ContentId>,
}

/// The records of a run that no decision of the list has taken yet.
pub(super) struct FoundRecords(Vec<FoundRecord>);

impl FoundRecords {
    /// The record of a decision that a package states: made with this package, else with an earlier one
    /// that said the same and was rejected.
    pub(super) fn take(
        &mut self,
        package: ContentId,
        index: u32,
        decision: &ReportedDecision,
    ) -> Option<DecisionRecord> {
        let is_it = |it: &FoundRecord| it.package == Some(package) && it.index == index;
        let is_same = |it: &FoundRecord| {
            let same = it.said.id == decision.id && it.said.decision == decision.decision;
            same && it.package.is_some() && it.record.status != DecisionStatus::Open
        };
        let at = self.0.iter().position(is_it).or_else(|| self.0.iter().position(is_same))?;
        Some(self.0.remove(at).record)
    }

    /// The records that are not in a package that counts: recorded on their own, open, answered, or in
    /// a package that was rejected or redacted.
    pub(super) fn left(
        self,
        people: &Attributions<'_>,
        counting: &HashSet<ContentId>,
        gates: &GateRecord,
        comments: &WholeTexts,
    ) -> Vec<Decided> {
        let left = self.0.into_iter();
        left.map(|it| it.decided(people, counting, gates, comments)).collect()
    }
}

impl FoundRecord {
    fn decided(
        self,
        people: &Attributions<'_>,
        counting: &HashSet<ContentId>,
        gates: &GateRecord,
        comments: &WholeTexts,
    ) -> Decided {
        let row = self.handoff.and_then(|no| people.row(no));
        let shown = match (row, self.portrait) {
            (Some(row), _) => people.sender(&self.by, row),
            (None, portrait) => people.recorded(&self.by, portrait, self.at),
        };
        let row = row.cloned();
        let mut record = self.record;
        let counts = self.package.is_none_or(|it| counting.contains(&it));
        if record.status == DecisionStatus::Standing && !counts {
            record.status = DecisionStatus::Withdrawn;
        }
        let is_sent_back = self.handoff.is_some_and(|it| gates.is_rejected(it));
        if record.status == DecisionStatus::Open && is_sent_back {
            record.status = DecisionStatus::Withdrawn;
        }
        let is_answered = record.status == DecisionStatus::Answered;
        let answer = self.handoff.filter(|_| is_answered).and_then(|it| gates.answer_to(it));
        // Who rejects the package decides none of its choices.
        let is_reject = answer.is_some_and(|it| it.answer == Answer::Reject);
        if is_reject {
            record.status = DecisionStatus::Withdrawn;
        }
        let answer = answer.filter(|_| !is_reject);
        let Some(answer) = answer else {
            let person = self.by.is_human().then(|| self.principal.clone());
            let recorded_by = self.text.filter(|_| !self.by.is_human());
            let is_own = speaker(&self.principal, &Agents::default(), [&self.by])
                == Speaker::Agent(self.by.clone());
            let recorded_by = recorded_by.filter(|_| !is_own).map(|_| self.principal);
            return Decided {
                decision: self.said,
                by: self.by,
                person,
                answer: None,
                at: self.at,
                row,
                shown,
                record: Some(record),
                asked_by: None,
                recorded_by,
            };
        };
        // People decided, in their own words.
        let voices = gates.voices_on(answer.handoff, record.no);
        let words = match voices.is_empty() {
            true => answer.comment.and_then(|it| comments.get(it)).map(str::to_owned),
            false => in_their_words(&voices, comments),
        };
        let decision = ReportedDecision { rationale: words, ..self.said };
        let (by, at) = voices.first().map_or((&answer.by, answer.at), |it| (&it.by, it.at));
        Decided {
            decision,
            by: AgentId::human(),
            person: Some(by.clone()),
            answer: Some(answer.answer.clone()),
            at,
            row,
            shown: people.recorded(&AgentId::human(), None, at),
            record: Some(record),
            asked_by: Some(shown),
            recorded_by: None,
        }
    }

    /// What was locked or replaced stays so.
    fn ask_again(&mut self, asked: Self) {
        let before = std::mem::replace(self, asked);
        self.record.locked_by = before.record.locked_by;
        self.record.superseded_by = before.record.superseded_by;
        self.lock_reason = before.lock_reason;
    }

    /// Fills in what the texts say.
    fn read(&mut self, texts: &Texts) {
        if let Some(text) = self.text {
            let document = texts.get(text).whole().and_then(|it| json::parse(it).ok());
            match document.map(|it| DecisionText::of_document(&it)) {
                Some(text) => {
                    self.said = ReportedDecision {
                        decision: text.decision,
                        rationale: text.rationale,
                        subject: text.subject,
                        alternatives: text.alternatives,
                        ..ReportedDecision::default()
                    };
                }
                None => self.said = in_place_of(texts.get(text)),
            }
        } else if let Some(package) = self.package {
            let stated = texts.content(package).and_then(stored::package);
            let index = usize::try_from(self.index).unwrap_or(usize::MAX);
            let stated = stated.and_then(|it| it.decisions().into_iter().nth(index));
            self.said = stated.unwrap_or_else(|| in_place_of(texts.get(package)));
        }
        self.record.subject = self.said.subject.clone();
        self.record.alternatives = self.said.alternatives.clone();
        let reason = self.lock_reason.and_then(|it| texts.get(it).whole());
        self.record.lock_reason = reason.map(str::to_owned);
    }
}

/// The words of one person as they are; those of several with their names, and that they differ.
fn in_their_words(voices: &[&GateVote], comments: &WholeTexts) -> Option<String> {
    let said: Vec<(&Principal, &str)> =
        voices.iter().filter_map(|it| Some((&it.by, comments.get(it.comment?)?))).collect();
    let plain = |it: &str| it.split_whitespace().collect::<Vec<_>>().join(" ").to_lowercase();
    let (_, first) = *said.first()?;
    if said.len() == 1 {
        return Some(first.to_owned());
    }
    let is_one = said.iter().all(|(_, words)| plain(words) == plain(first));
    let lines = said.iter().map(|(by, words)| format!("{by}: {words}"));
    let note = "The approvers wrote different things:".to_owned();
    let lines: Vec<String> = (!is_one).then_some(note).into_iter().chain(lines).collect();
    Some(lines.join("\n"))
}

/// What is shown of a decision whose text is not there any more.
pub(crate) fn in_place_of(text: Text<'_>) -> ReportedDecision {
    let words = match text {
        // `[redacted]` stands in the place of the text.
        Text::Whole(words) => words,
        Text::Gone => LOST_TEXT,
        Text::Damaged => DAMAGED_TEXT,
    };
    ReportedDecision { decision: words.to_owned(), ..ReportedDecision::default() }
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
                    for item in decisions {
                        let asked = FoundRecord {
                            record: record(run, &item),
                            said: in_place_of(Text::Gone),
                            by: by.clone(),
                            principal: stored.by.clone(),
                            at: stored.at,
                            index: item.index,
                            handoff,
                            package,
                            text,
                            portrait,
                            lock_reason: None,
                        };
                        // A choice that is asked again is the one of the newest package.
                        match found.iter_mut().find(|it| it.record.no == item.no) {
                            Some(before) => before.ask_again(asked),
                            None => found.push(asked),
                        }
                    }
                }
                DecisionEvent::Superseded { decision, replaced_by } => {
                    for it in found.iter_mut().filter(|it| it.record.no == decision) {
                        it.record.superseded_by = Some(replaced_by);
                    }
                }
                DecisionEvent::Locked { decision, by, reason } => {
                    for it in found.iter_mut().filter(|it| it.record.no == decision) {
                        it.record.locked_by = Some(by.clone());
                        it.lock_reason = reason;
                    }
                }
            }
        }
        let ids = found.iter().flat_map(|it| [it.text, it.package, it.lock_reason]).flatten();
        let ids: Vec<ContentId> = ids.collect();
        let texts = self.texts(run.id, ids).await?;
        let mut dependents: HashMap<u32, Vec<u32>> = HashMap::new();
        for it in &found {
            for no in &it.record.depends_on {
                dependents.entry(*no).or_default().push(it.record.no);
            }
        }
        for it in &mut found {
            it.record.dependents = dependents.remove(&it.record.no).unwrap_or_default();
            it.read(&texts);
        }
        Ok(FoundRecords(found))
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
        is_choice: item.is_open,
        locked_by: None,
        lock_reason: None,
        subject: None,
        alternatives: Vec::new(),
        supersedes: item.supersedes,
        superseded_by: None,
        depends_on: item.depends_on.clone(),
        dependents: Vec::new(),
        conflicts_with: Vec::new(),
    }
}

/// What a package's decision replaces is replaced as long as the package counts.
pub(super) fn replace_by_packages(decided: &mut [Decided]) {
    let replaced_by = |it: &Decided| {
        let record = it.record.as_ref()?;
        let stands = record.status == DecisionStatus::Standing && it.row.is_some();
        Some((record.supersedes.filter(|_| stands)?, record.no))
    };
    let replaced: HashMap<u32, u32> = decided.iter().filter_map(replaced_by).collect();
    for record in decided.iter_mut().filter_map(|it| it.record.as_mut()) {
        let by = replaced.get(&record.no).copied();
        if let (DecisionStatus::Standing, Some(by)) = (record.status, by) {
            record.status = DecisionStatus::Superseded;
            record.superseded_by = Some(by);
        }
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
            by_subject.entry(outline(&normal(subject))).or_default().push((index, said));
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
