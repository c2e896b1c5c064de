//! What exactly a person is asked: the question, the workflow's checklist and meaning of each
//! answer, the blockers, the checks so far, and apart from all that what the sender says.

use std::collections::HashMap;

use baton_core::content::{ContentId, ContentKind};
use baton_core::decide::BACK_AT_ORCHESTRATOR;
use baton_core::event::{Event, EvidenceEvent};
use baton_core::evidence::{CheckRun, Evidence, Verdict};
use baton_core::gate::{Gate, GateCause, GateKind};
use baton_core::hash::Hash;
use baton_core::names::{AgentId, CheckName, Principal};
use baton_core::run::{HandoffNo, RunId};
use baton_engine::{EngineError, Texts, stored};
use baton_store::{EventFilter, HandoffRow, Position};
use baton_wire::event;

use super::sender_words::{SenderWords, SentBy, packages_of};
use super::{WaitingRun, Waits, gate_of};
use crate::Views;
use crate::evidence::{EvidenceDetail, unverified_claims};

#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct GateQuestion {
    /// The gate's name in the workflow. A sender's name for it is among the sender's words.
    pub name: Option<String>,
    /// The question, or why the gate was opened.
    pub words: Option<String>,
    /// Whose words these are; none where they are Baton's own.
    pub words_by: Option<AgentId>,
    /// The workflow's checklist.
    pub items: Vec<String>,
    /// The workflow's meaning of each answer, by its name.
    pub options: Vec<(String, String)>,
    pub blockers: Vec<String>,
    /// Which texts are damaged and so left out: `words`, `blockers`, `evidence`, or the `package`,
    /// which contains the sender's words.
    pub damaged: Vec<&'static str>,
    /// The checks that an automatic gate requires.
    pub checks: Vec<CheckName>,
    pub evidence: Vec<ObservedEvidence>,
    /// Where the package claims that something passed, and no check of Baton's has confirmed it.
    pub unverified: Vec<String>,
    /// The hash of the gate's package.
    pub content_hash: Option<Hash>,
    /// What the packages in question say, each under its sender's name.
    pub sender: Vec<SenderWords>,
}

/// The newest result of a check, with the detail that was recorded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ObservedEvidence {
    pub evidence: Evidence,
    pub detail: Option<String>,
    /// How Baton's runner ran it, where it did.
    pub ran: Option<CheckRun>,
    /// Who posted it, where no runner of Baton's ran it.
    pub by: Option<Principal>,
    /// It was posted, but only a runner decides the check: the project has a command for it.
    pub is_claim: bool,
}

impl GateQuestion {
    /// The meaning of an answer at this gate, if the workflow gives one.
    pub fn meaning(&self, answer: &str) -> Option<&str> {
        self.options.iter().find(|(name, _)| name == answer).map(|(_, text)| text.as_str())
    }
}

/// The work came back to the orchestrator with this handoff.
fn is_back(row: &HandoffRow) -> bool {
    row.to.agent.is_orchestrator()
}

impl Views<'_> {
    pub(super) async fn asked(
        &self,
        waiting: WaitingRun<'_>,
        why: &Waits,
        trail: &[HandoffRow],
        own: &[&HandoffRow],
    ) -> Result<GateQuestion, EngineError> {
        let run = waiting.run;
        match why {
            Waits::Gate { handoff, .. } => match gate_of(run, *handoff) {
                Some(gate) => self.asked_at_gate(waiting, *handoff, gate, trail).await,
                None => Ok(GateQuestion::default()),
            },
            Waits::Question { handoff, .. } => {
                let row = run.handoff(*handoff);
                let words = row.and_then(|it| it.asks);
                let texts = self.texts(run.id, words).await?;
                let damaged = damaged(&texts, &[("words", words)]);
                let words_by = row.map(|it| it.from.agent.clone());
                let words = text_of(&texts, words);
                Ok(GateQuestion { words, words_by, damaged, ..GateQuestion::default() })
            }
            // What came back to the orchestrator last says why the baton is loose; else the reason for
            // which the last handoff was cancelled or timed out.
            Waits::Loose { .. } => {
                let last = own.last().copied();
                let back = last.filter(|it| is_back(it));
                let sent = back.and_then(|it| Some(SentBy::of(it.package?, trail, &it.from.agent)));
                let sent: Vec<SentBy> = sent.into_iter().collect();
                let reason = match back {
                    Some(back) => Some(back.reason),
                    None => last.and_then(|it| it.ended_reason),
                };
                let ids = sent.iter().map(|it| it.package).chain(reason);
                let texts = self.texts(run.id, ids).await?;
                let damaged = damaged_packages(&texts, &sent);
                let sender = said(&texts, &sent, trail);
                let words = text_of(&texts, reason).filter(|it| it != BACK_AT_ORCHESTRATOR);
                let words_by = words.as_ref().and(back).map(|it| it.from.agent.clone());
                Ok(GateQuestion { words, words_by, damaged, sender, ..GateQuestion::default() })
            }
        }
    }

    async fn asked_at_gate(
        &self,
        waiting: WaitingRun<'_>,
        handoff: HandoffNo,
        gate: &Gate,
        trail: &[HandoffRow],
    ) -> Result<GateQuestion, EngineError> {
        let run = waiting.run;
        let details = self.evidence_details(run.id, &gate.evidence).await?;
        let sent = packages_of(gate, trail);
        // What blocks another branch is not asked about here.
        let branch = run.handoff(handoff).map_or(0, |it| it.branch);
        let blockers = run.blockers.iter().filter(|it| it.branch == branch).map(|it| it.about);
        let ids = blockers.clone().chain(gate.reason).chain(sent.iter().map(|it| it.package));
        let texts = self.texts(run.id, ids.chain(details.iter().filter_map(|it| it.text))).await?;
        let declared = gate.edge_in(waiting.workflow).and_then(|it| it.gate.as_ref());
        let named = std::iter::once(("words", gate.reason));
        let named = named.chain(sent.iter().map(|it| ("package", Some(it.package))));
        let named = named.chain(blockers.clone().map(|it| ("blockers", Some(it))));
        let named: Vec<_> = named.chain(details.iter().map(|it| ("evidence", it.text))).collect();
        let words = text_of(&texts, gate.reason);
        let evidence = gate.evidence.iter().zip(&details).map(|(evidence, detail)| {
            self.observed_with(evidence, detail, text_of(&texts, detail.text))
        });
        let evidence: Vec<ObservedEvidence> = evidence.collect();
        let mut seen = evidence.clone();
        if let Some(row) = trail.iter().find(|it| it.no == handoff) {
            seen.extend(self.checked_evidence(row).await?);
        }
        let document = gate.package.and_then(|it| texts.content(it)).and_then(stored::document);
        Ok(GateQuestion {
            name: declared.map(|it| it.name.clone()),
            words_by: words.as_deref().and_then(|it| speaker(gate, it)),
            words,
            items: declared.map(|it| it.items.clone()).unwrap_or_default(),
            options: declared.map_or_else(|| meanings(gate), |it| it.options.clone()),
            damaged: damaged(&texts, &named),
            blockers: blockers.filter_map(|it| text_of(&texts, Some(it))).collect(),
            checks: declared.map(|it| it.checks.clone()).unwrap_or_default(),
            unverified: document.map(|it| unverified_claims(&it, &seen)).unwrap_or_default(),
            evidence,
            content_hash: gate.package.and_then(|it| package_hash(&texts, it)),
            sender: said(&texts, &sent, trail),
        })
    }

    /// Results of checks with their details.
    pub async fn observed(
        &self,
        run: RunId,
        evidence: &[Evidence],
    ) -> Result<Vec<ObservedEvidence>, EngineError> {
        let details = self.evidence_details(run, evidence).await?;
        let texts = self.texts(run, details.iter().filter_map(|it| it.text)).await?;
        let observed = |(evidence, detail): (&Evidence, &EvidenceDetail)| {
            self.observed_with(evidence, detail, text_of(&texts, detail.text))
        };
        Ok(evidence.iter().zip(&details).map(observed).collect())
    }

    /// The detail that was recorded with each result, in the same order.
    async fn evidence_details(
        &self,
        run: RunId,
        evidence: &[Evidence],
    ) -> Result<Vec<EvidenceDetail>, EngineError> {
        if evidence.is_empty() {
            return Ok(Vec::new());
        }
        let filter = EventFilter { after: Position::START, run: Some(run), limit: 0 };
        let mut newest: HashMap<CheckName, (Verdict, EvidenceDetail)> = HashMap::new();
        for stored in self.events(&filter).await? {
            if stored.name != "evidence.recorded" {
                continue;
            }
            if let Ok(Event::Evidence(EvidenceEvent::Recorded {
                check,
                verdict,
                detail,
                ran,
                ..
            })) = event::decode(&stored.body)
            {
                let detail = EvidenceDetail { text: detail, ran, by: Some(stored.by) };
                newest.insert(check, (verdict, detail));
            }
        }
        let detail = |it: &Evidence| {
            let newest = newest.get(&it.check).filter(|(verdict, _)| *verdict == it.verdict);
            newest.map(|it| it.1.clone()).unwrap_or_default()
        };
        Ok(evidence.iter().map(detail).collect())
    }
}

fn package_hash(texts: &Texts, package: ContentId) -> Option<Hash> {
    match texts.content(package)?.kind {
        ContentKind::Package { hash, .. } => Some(hash),
        ContentKind::Words => None,
    }
}

/// What the answers to a gate mean that no workflow declares.
fn meanings(gate: &Gate) -> Vec<(String, String)> {
    let meanings: &[(&str, &str)] = match gate.cause == GateCause::Permission {
        true => &[
            ("approve", "allow it, this once"),
            ("continue", "allow this kind for the rest of the attempt"),
            ("reject", "deny it; the agent goes on without"),
        ],
        false => &[],
    };
    meanings.iter().map(|(name, text)| ((*name).to_owned(), (*text).to_owned())).collect()
}

/// Who speaks in the reason of a gate; none where it is Baton's own sentence.
fn speaker(gate: &Gate, words: &str) -> Option<AgentId> {
    let is_own = gate.is_raised
        || (gate.kind == GateKind::Advisory && gate.cause != GateCause::Permission)
        || matches!(
            gate.cause,
            // At the last one, what the runner says of the attempts.
            GateCause::Checks
                | GateCause::NoProgress
                | GateCause::Confidence
                | GateCause::LostLease
        )
        || words == gate.cause.sentence()
        || Some(words) == gate.cause.earlier_sentence()
        || words == gate.sentence();
    (!is_own).then(|| gate.asker.agent.clone())
}

fn said(texts: &Texts, sent: &[SentBy], trail: &[HandoffRow]) -> Vec<SenderWords> {
    let said = |it: &SentBy| {
        let document = stored::document(texts.content(it.package)?)?;
        Some(SenderWords::of(it, trail, &document)).filter(|it| !it.parts.is_empty())
    };
    sent.iter().filter_map(said).collect()
}

fn damaged_packages(texts: &Texts, sent: &[SentBy]) -> Vec<&'static str> {
    let named: Vec<_> = sent.iter().map(|it| ("package", Some(it.package))).collect();
    damaged(texts, &named)
}

fn text_of(texts: &Texts, id: Option<ContentId>) -> Option<String> {
    texts.get(id?).whole().map(str::to_owned)
}

/// The names of the damaged texts, each once.
fn damaged(texts: &Texts, named: &[(&'static str, Option<ContentId>)]) -> Vec<&'static str> {
    let is_damaged = |id: &Option<ContentId>| id.is_some_and(|it| texts.get(it).is_damaged());
    let mut names: Vec<&str> =
        named.iter().filter(|(_, id)| is_damaged(id)).map(|(name, _)| *name).collect();
    names.dedup();
    names
}
