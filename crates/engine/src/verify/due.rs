//! Every run is looked at in time: what the store keeps is never later than the rules say.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use baton_core::decide::due_at;
use baton_core::hash::Hash;
use baton_core::workflow::Workflow;
use baton_store::{RunRow, Store, StoreError};
use baton_wire::workflow_file;
use jiff::Timestamp;

/// The workflows, which say when a run is due: many runs share a few.
#[derive(Default)]
pub(super) struct DueTimes {
    /// None where one cannot be read, which is a problem of its own.
    workflows: BTreeMap<Hash, Option<Workflow>>,
}

impl DueTimes {
    /// What is wrong with the time of a run. One that is too early costs a look, and no more.
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
