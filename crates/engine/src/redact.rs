//! Redaction: texts are dropped from the store, and an event says so. The chain still verifies,
//! because events name a text by its hash.

use std::sync::Arc;

use baton_core::content::ContentId;
use baton_core::decide::redact;
use baton_core::names::FreeText;
use baton_core::run::{Run, RunId};
use baton_store::{DroppedText, StoreLock, TextOwner};

use crate::{Caller, CommandMode, CommandResult, Engine, EngineError};

/// Shown in place of a redacted text.
pub const REDACTED_TEXT: &str = "[redacted]";
/// Shown in place of a message that the project does not keep any longer.
pub const EXPIRED_TEXT: &str = "[expired]";

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

    /// Held while texts of a run are dropped, so that no other process drops the same ones.
    pub(crate) async fn lock_texts(&self, run: RunId) -> Result<StoreLock, EngineError> {
        Ok(self.store.lock(&format!("texts {run}")).await?)
    }

    /// The texts of a run that were dropped, each with when and by whom.
    pub async fn dropped_texts(&self, run: RunId) -> Result<Vec<DroppedText>, EngineError> {
        Ok(self.store.dropped_texts(run).await?)
    }

    /// What the fingerprints of a run's decisions are salted with. None where it is damaged: what is
    /// decided again is then recorded again.
    pub(crate) async fn decision_salt(&self, run: &Run) -> Result<Option<Arc<str>>, EngineError> {
        let Some(id) = run.decision_salt else { return Ok(None) };
        // If another node has dropped it, the run has moved too, and the append is refused.
        if let Some(salt) = self.cache.text(id) {
            return Ok(Some(salt.text));
        }
        Ok(self.texts(run.id, [id]).await?.get(id).whole().map(Arc::from))
    }

    /// Drops texts of a run, with their nonces. Those that are not there any more are left out.
    pub async fn redact(
        &self,
        caller: &Caller,
        run: RunId,
        ids: &[ContentId],
        reason: &FreeText,
    ) -> Result<CommandResult, EngineError> {
        self.not_for_attempts(caller, "redact")?;
        let _lock = self.lock_texts(run).await?;
        let texts = self.redactable(run, ids).await?;
        let salt = self.load(run).await?.0.run.decision_salt;
        let decide = |loaded: &crate::cache::Loaded,
                      ground: baton_core::decide::DecisionContext<'_>| {
            redact(&loaded.run, &texts, reason, ground)
        };
        let outcome = self.carry_out(caller, run, decide).await?;
        if caller.mode != CommandMode::DryRun {
            self.cache.forget_texts(&texts);
            self.cache.forget_texts(salt.as_slice());
        }
        Ok(outcome)
    }
}
