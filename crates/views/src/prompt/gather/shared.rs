//! What the agents of a run share beside the handoffs: decisions and context documents.

use baton_core::collaboration::ContextMark;
use baton_core::content::ContentId;
use baton_engine::{EngineError, LOST_TEXT};
use baton_store::RunRow;

use super::super::brief::{BriefDecision, BriefDocument};
use crate::Views;
use crate::decisions::{Decided, DecisionStatus};

/// More than an agent would keep in mind; the newest are shown.
const MOST_DECISIONS: usize = 60;
/// All documents of a prompt together: about 10,000 tokens. Longer ones are named only.
const MOST_DOCUMENT_CHARS: usize = 40_000;

/// What a prompt shows of what is shared.
#[derive(Default)]
pub(super) struct SharedBrief {
    pub(super) decisions: Vec<BriefDecision>,
    pub(super) n_earlier_decisions: usize,
    pub(super) documents: Vec<BriefDocument>,
}

impl Views<'_> {
    /// `shown` is the package that the prompt has: what it decides need not stand there twice, unless
    /// it no longer holds as it says.
    pub(super) async fn shared_brief(
        &self,
        run: &RunRow,
        shown: Option<ContentId>,
    ) -> Result<SharedBrief, EngineError> {
        // Runs that decided nothing need no more reading.
        let decided = match run.run.decisions.is_empty() {
            true => Vec::new(),
            false => self.all_decisions(run).await?,
        };
        let mut decisions: Vec<BriefDecision> =
            decided.iter().filter_map(|it| decision(it, shown)).collect();
        let n_earlier_decisions = decisions.len().saturating_sub(MOST_DECISIONS);
        decisions.drain(..n_earlier_decisions);
        let documents = self.documents(run).await?;
        Ok(SharedBrief { decisions, n_earlier_decisions, documents })
    }

    async fn documents(&self, run: &RunRow) -> Result<Vec<BriefDocument>, EngineError> {
        let mut marks: Vec<&ContextMark> = run.run.context.iter().collect();
        marks.sort_by(|a, b| a.key.cmp(&b.key));
        let mut n_left = MOST_DOCUMENT_CHARS;
        let mut fits = |it: &ContextMark| {
            let n_bytes = it.n_bytes as usize;
            let fits = n_bytes <= n_left;
            n_left -= if fits { n_bytes } else { 0 };
            fits
        };
        let shown: Vec<(&ContextMark, bool)> = marks.into_iter().map(|it| (it, fits(it))).collect();
        let ids = shown.iter().filter(|it| it.1).map(|(mark, _)| mark.text);
        let texts = self.whole_texts(run.run.id, ids.collect::<Vec<_>>()).await?;
        let document = |(mark, is_shown): (&ContextMark, bool)| BriefDocument {
            key: mark.key.clone(),
            version: mark.version,
            n_bytes: mark.n_bytes,
            text: is_shown.then(|| texts.get(mark.text).unwrap_or(LOST_TEXT).into()),
        };
        Ok(shown.into_iter().map(document).collect())
    }
}

fn decision(it: &Decided, shown: Option<ContentId>) -> Option<BriefDecision> {
    let record = it.record.as_ref()?;
    let is_locked = record.locked_by.is_some();
    let is_in_package = shown.is_some() && it.row.as_ref().and_then(|it| it.package) == shown;
    let is_plain = record.status == DecisionStatus::Standing && !is_locked;
    // What a rejected package decided was not decided.
    if record.status == DecisionStatus::Withdrawn || is_in_package && is_plain {
        return None;
    }
    let why = it.decision.rationale.as_ref().map(|why| format!("\nbecause: {why}"));
    // The name of a person is free text, and stands with theirs.
    let person = it.person.as_ref().map(|by| format!("\ndecided by: {by}"));
    let words = [Some(it.decision.decision.clone()), why, person];
    let words: String = words.into_iter().flatten().collect();
    Some(BriefDecision {
        no: record.no,
        status: record.status,
        is_locked,
        superseded_by: record.superseded_by,
        conflicts_with: record.conflicts_with.clone(),
        by: it.by.clone(),
        words: words.into(),
    })
}
