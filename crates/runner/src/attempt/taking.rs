//! Hands in what an agent left, in the agent's name.

use super::ResultOrCorrection::{self, Correction, Result as Ended};
use super::{AttemptFailure, AttemptResult, AttemptRun};
use crate::client::ApiFailure;
use crate::record::AgentEnd;
use crate::result::{LeftDocument, RefusedDocument, without_handing_off};
use crate::workspace::WorkspaceError;

impl AttemptRun {
    pub(super) async fn take(
        &mut self,
        left: &LeftDocument,
    ) -> Result<ResultOrCorrection, AttemptFailure> {
        // A run that this handoff ends takes no more messages.
        self.wait_until_said().await;
        let late = self.too_late();
        if let Some(late) = &late {
            self.say(format!("the handoff of `{}` is taken{late}", self.record.agent)).await;
        }
        if let Err(error) = self.commit_changes().await {
            let why = error.to_string();
            // In a folder that is put aside nothing can be mended: the next attempt gets a new one.
            let is_over = matches!(error, WorkspaceError::NotOwn { .. }) || late.is_some();
            return Ok(match is_over {
                true => Ended(AttemptResult::Failed(why)),
                false => Correction(RefusedDocument::NotCommitted(why)),
            });
        }
        let name = format!("result-{}", self.record.round);
        let key = &self.record.key;
        // What was printed is masked already; a file that the agent wrote is not.
        let text = self.masking.mask(&left.text);
        let sent = self.context.client.document(key, left.format, &text, &name).await;
        self.pass("sent");
        match sent {
            Ok(true) => {
                let (place, late) = (&left.place, late.unwrap_or_default());
                let how = format!("its handoff was taken from what it left {place}{late}");
                Ok(Ended(AttemptResult::HandedOff(how)))
            }
            Ok(false) => {
                let why = "its last document is a note of progress, not a handoff".to_owned();
                Ok(Ended(AttemptResult::Failed(why)))
            }
            // It would only hang again.
            Err(ApiFailure::Refused(problem)) if late.is_some() => {
                let why = without_handing_off(self.record.end.as_ref());
                let why = format!("{why}; its handoff was refused: {}", problem.detail);
                Ok(Ended(AttemptResult::Failed(why)))
            }
            Err(ApiFailure::Refused(problem)) => {
                Ok(Correction(RefusedDocument::Refused { problem, sent: text }))
            }
            Err(error @ ApiFailure::Unreachable(_)) => Err(error.into()),
        }
    }

    /// Said of a handoff whose agent did not come to its end.
    fn too_late(&self) -> Option<String> {
        match &self.record.end {
            Some(AgentEnd::TimedOut { seconds }) => {
                Some(format!(", although it did not end within {seconds} s, and was ended"))
            }
            Some(AgentEnd::OverBudget { unit }) => {
                Some(format!(", although it used up its budget of {}, and was ended", unit.noun()))
            }
            Some(
                AgentEnd::Exited { .. }
                | AgentEnd::TurnEnded { .. }
                | AgentEnd::TooMuchOutput { .. }
                | AgentEnd::Over
                | AgentEnd::Lost
                | AgentEnd::Stopped,
            )
            | None => None,
        }
    }
}
