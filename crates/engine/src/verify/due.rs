//! Checks the due time of every run: the stored one is never later than the rules require.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use baton_core::decide::due_at;
use baton_core::hash::Hash;
use baton_core::workflow::Workflow;
use baton_store::{RunRow, Store, StoreError};
use baton_wire::workflow_file;
use jiff::Timestamp;

/// The workflows, which determine when a run is due: many runs share a few.
#[derive(Default)]
pub(super) struct DueTimes {
    /// None where it cannot be read, which is reported separately.
    workflows: BTreeMap<Hash, Option<Workflow>>,
}

impl DueTimes {
    /// What is wrong with the due time of a run. One that is too early only costs an extra check.
    pub(super) async fn problem(
        &mut self,
        store: &dyn Store,
        row: &RunRow,
        stored: Option<Timestamp>,
    ) -> Result<Option<&'static str>, StoreError> {
        let pin = row.run.pin;
        let workflow = match self.workflows.entry(pin) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(place) => {
                let definition = store.definition(&pin).await?;
                place.insert(definition.and_then(|it| workflow_file::parse(&it.text).ok()))
            }
        };
        let Some(workflow) = workflow else { return Ok(None) };
        let Some(due) = due_at(workflow, &row.run) else { return Ok(None) };
        let is_in_time = stored.is_some_and(|it| it <= due);
        Ok((!is_in_time).then_some("it would not be looked at when something in it is due"))
    }
}
