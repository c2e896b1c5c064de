//! The evidence for a handoff: what was recorded with it, and what Baton's runner found when it checked
//! the work before it was offered.

use std::collections::BTreeMap;

use baton_core::claims;
use baton_core::content::ContentId;
use baton_core::document::Node;
use baton_core::event::{Event, EvidenceEvent};
use baton_core::evidence::{CheckRun, Evidence, PACKAGE_CHECK, Verdict};
use baton_core::names::{CheckName, Principal};
use baton_core::run::HandoffNo;
use baton_core::workflow::Place;
use baton_engine::EngineError;
use baton_store::{EventFilter, HandoffRef, HandoffRow, Position};
use baton_wire::event;

use crate::{ObservedEvidence, Views};

/// What was recorded with a result.
#[derive(Debug, Clone, Default)]
pub(crate) struct EvidenceDetail {
    pub(crate) text: Option<ContentId>,
    /// How Baton's runner got it, where it did.
    pub(crate) ran: Option<CheckRun>,
    pub(crate) by: Option<Principal>,
}

/// The claims of a package that something passed, and that no check of Baton's has confirmed.
pub fn unverified_claims(document: &Node, evidence: &[ObservedEvidence]) -> Vec<String> {
    let has_passed = |it: &&Evidence| it.is_observed && it.verdict == Verdict::Passed;
    let passed = evidence.iter().map(|it| &it.evidence).filter(has_passed);
    let passed: Vec<CheckName> = passed.map(|it| it.check.clone()).collect();
    claims::unverified(document, &passed)
}

impl Views<'_> {
    /// What Baton's runner found: with the handoff that stands for parked work, and with the handoff
    /// that the work was offered with then. Empty for any other.
    pub async fn checked_evidence(
        &self,
        row: &HandoffRow,
    ) -> Result<Vec<ObservedEvidence>, EngineError> {
        let Some(checked) = self.checked_by(row).await? else { return Ok(Vec::new()) };
        let filter = EventFilter { after: Position::START, run: Some(row.run), limit: 0 };
        let mut newest: BTreeMap<_, (Evidence, EvidenceDetail)> = BTreeMap::new();
        for stored in self.events(&filter).await? {
            if stored.name != "evidence.recorded" {
                continue;
            }
            if let Ok(Event::Evidence(EvidenceEvent::Recorded {
                handoff,
                check,
                verdict,
                detail,
                fence,
                ran,
            })) = event::decode(&stored.body)
                && handoff == checked
            {
                let is_observed = ran.is_some();
                let seen = Evidence { check: check.clone(), verdict, fence, is_observed };
                let detail = EvidenceDetail { text: detail, ran, by: Some(stored.by) };
                newest.insert(check, (seen, detail));
            }
        }
        let texts = self.texts(row.run, newest.values().filter_map(|(_, it)| it.text)).await?;
        let observed = |(evidence, detail): &(Evidence, EvidenceDetail)| {
            let text = detail.text.and_then(|it| texts.get(it).whole().map(str::to_owned));
            self.observed_with(evidence, detail, text)
        };
        Ok(newest.values().map(observed).collect())
    }

    /// A result with its detail, and whether it is only a claim.
    pub(crate) fn observed_with(
        &self,
        evidence: &Evidence,
        detail: &EvidenceDetail,
        text: Option<String>,
    ) -> ObservedEvidence {
        let check = &evidence.check;
        let is_ours = self.catalog().checks().contains(check) || check.as_str() == PACKAGE_CHECK;
        ObservedEvidence {
            is_claim: is_ours && !evidence.is_observed,
            by: detail.by.clone().filter(|_| !evidence.is_observed),
            evidence: evidence.clone(),
            detail: text,
            ran: detail.ran.clone(),
        }
    }

    /// The handoff that stood for the work while it was checked. Only such a one waits at the
    /// orchestrator for more than a moment.
    async fn checked_by(&self, row: &HandoffRow) -> Result<Option<HandoffNo>, EngineError> {
        if row.to.place == Place::Orchestrator {
            return Ok(Some(row.no));
        }
        let Some(before) = row.follows else { return Ok(None) };
        let before = self.handoff(&HandoffRef::InRun(row.run, before)).await?;
        Ok((before.to.place == Place::Orchestrator).then_some(before.no))
    }
}
