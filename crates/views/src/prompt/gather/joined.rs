//! What several branches brought, where the receiver goes on with the work of all of them.

use baton_core::event::{BranchEvent, Event, HandoffEvent};
use baton_core::outcome::Outcome;
use baton_core::run::HandoffNo;
use baton_store::HandoffRow;

use super::inputs::PromptInputs;
use crate::prompt::brief::DelegateResult;

impl PromptInputs {
    /// The handoffs that brought the work of the branches together which the receiver goes on with,
    /// each with how its branch ended. Known by the package, which is offered again after a lost
    /// lease or a time-out.
    pub(super) fn joined_rows(&self) -> Vec<(&HandoffRow, Outcome)> {
        let Some(package) = self.row.package else { return Vec::new() };
        let mut arrived: Vec<(HandoffNo, u16, Outcome)> = Vec::new();
        let mut is_joined = false;
        for event in &self.events {
            match event {
                Event::Branch(BranchEvent::Forked { .. }) => arrived.clear(),
                Event::Branch(BranchEvent::Arrived { handoff, branch, outcome, .. }) => {
                    arrived.push((*handoff, *branch, *outcome));
                }
                Event::Branch(BranchEvent::Joined { branches, .. }) => {
                    is_joined = !branches.is_empty();
                }
                Event::Handoff(HandoffEvent::Created(created)) if is_joined => {
                    if created.package == Some(package) {
                        break;
                    }
                    is_joined = false;
                }
                Event::Run(_)
                | Event::Step(_)
                | Event::Handoff(_)
                | Event::Question(_)
                | Event::Frame(_)
                | Event::Lease(_)
                | Event::Gate(_)
                | Event::Evidence(_)
                | Event::Checks(_)
                | Event::Blocker(_)
                | Event::Message(_)
                | Event::Decision(_)
                | Event::Context(_)
                | Event::Content(_)
                | Event::Branch(_)
                | Event::Usage(_)
                | Event::File(_) => {}
            }
        }
        if !is_joined {
            return Vec::new();
        }
        arrived.sort_by_key(|(_, branch, _)| *branch);
        let row = |no: HandoffNo| self.rows.iter().find(|it| it.no == no);
        arrived.into_iter().filter_map(|(no, _, outcome)| Some((row(no)?, outcome))).collect()
    }

    pub(super) fn joined(&self) -> Vec<DelegateResult> {
        let joined = self.joined_rows().into_iter().map(|(row, outcome)| DelegateResult {
            from: row.from.agent.clone(),
            reason: self.words(row.reason),
            outcome: Some(outcome),
            package: self.parcel(row),
        });
        joined.collect()
    }

    /// The handoff whose package every branch was given.
    pub(super) fn forked_row(&self) -> Option<&HandoffRow> {
        let (first, _) = *self.joined_rows().first()?;
        let mut forked = self.events.iter().filter_map(|event| {
            let Event::Branch(BranchEvent::Forked { package, .. }) = event else { return None };
            Some(*package)
        });
        let package = forked.next_back()??;
        self.rows.iter().find(|it| it.package == Some(package) && it.no < first.no)
    }
}
