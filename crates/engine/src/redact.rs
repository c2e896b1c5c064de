//! Redaction: texts are dropped from the store, and an event says so. The chain still verifies,
//! because events name a text by its hash.

use baton_core::content::ContentId;
use baton_core::decide::redact;
use baton_core::names::FreeText;
use baton_core::run::RunId;
use baton_store::TextOwner;

use crate::{Caller, CommandMode, CommandResult, Engine, EngineError};

/// Shown in place of a redacted text.
pub const REDACTED_TEXT: &str = "[redacted]";

impl Engine {
    /// The texts among `ids` that are there and the run's own: what a redaction of them would drop.
    /// What is shared by all runs (what is shown of agents) stays.
    pub async fn redactable(
        &self,
        run: RunId,
        ids: &[ContentId],
    ) -> Result<Vec<ContentId>, EngineError> {
        let found = self.store.contents(run, ids).await?;
        Ok(ids
            .iter()
            .copied()
            .filter(|id| found.iter().any(|it| it.id() == *id && it.owner() == TextOwner::Run))
            .collect())
    }

    /// Drops texts of a run, with their nonces. Those that are not there any more are left out.
    pub async fn redact(
        &self,
        caller: &Caller,
        run: RunId,
        ids: &[ContentId],
        reason: &FreeText,
    ) -> Result<CommandResult, EngineError> {
        let texts = self.redactable(run, ids).await?;
        let decide = |loaded: &crate::cache::Loaded,
                      ground: baton_core::decide::DecisionContext<'_>| {
            Ok(redact(&loaded.run, &texts, reason, ground))
        };
        let outcome = self.carry_out(caller, run, decide).await?;
        if caller.mode != CommandMode::DryRun {
            self.cache.forget_texts(&texts);
        }
        Ok(outcome)
    }
}
