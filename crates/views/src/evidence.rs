//! The evidence for a handoff: what was recorded with it, and what Baton's runner found when it checked
//! the work before it was offered.

use std::collections::BTreeMap;

use baton_core::content::ContentId;
use baton_core::event::{Event, EvidenceEvent};
use baton_core::evidence::{CheckRun, Evidence};
use baton_core::run::HandoffNo;
use baton_core::workflow::Place;
use baton_engine::EngineError;
use baton_store::{EventFilter, HandoffRef, HandoffRow, Position};
use baton_wire::event;

use crate::{ObservedEvidence, Views};

/// The text of a result, and how a runner got it.
pub(crate) type EvidenceDetail = (Option<ContentId>, Option<CheckRun>);

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
                newest.insert(check, (seen, (detail, ran)));
            }
        }
        let texts = self.texts(row.run, newest.values().filter_map(|(_, it)| it.0)).await?;
        let observed = |(evidence, (detail, ran)): (Evidence, EvidenceDetail)| ObservedEvidence {
            detail: detail.and_then(|it| texts.get(it).whole().map(str::to_owned)),
            evidence,
            ran,
        };
        Ok(newest.into_values().map(observed).collect())
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
