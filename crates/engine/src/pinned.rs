//! The workflow that a run is pinned to, by the hash of its file.

use std::sync::Arc;

use baton_core::hash::Hash;
use baton_core::run::Run;
use baton_core::workflow::{Mode, Workflow};
use baton_store::StoreError;

use crate::{Engine, EngineError};

impl Engine {
    /// The workflow that a run began with, in the run's mode.
    pub(crate) async fn pinned(&self, run: &Run) -> Result<Arc<Workflow>, EngineError> {
        let Run { pin, mode, .. } = run;
        if let Some(workflow) = self.cache.workflow(pin, *mode) {
            return Ok(workflow);
        }
        let catalog = self.catalog();
        let current = catalog.workflows().find(|it| it.workflow.hash == *pin);
        let workflow = match current {
            Some(entry) => entry.workflow.clone(),
            None => Arc::new(self.stored_workflow(pin).await?),
        };
        let workflow = match mode {
            Mode::Autonomous => workflow,
            Mode::SemiAutonomous | Mode::Supervised => Arc::new(workflow.in_mode(*mode)),
        };
        self.cache.remember_workflow(workflow.clone(), *mode);
        Ok(workflow)
    }

    async fn stored_workflow(&self, pin: &Hash) -> Result<Workflow, EngineError> {
        let damaged = |what: &str| StoreError::Damaged { what: what.to_owned() };
        let definition = self.store.definition(pin).await?;
        let definition = definition.ok_or_else(|| damaged("a run's workflow is not there"))?;
        let workflow = baton_wire::workflow_file::parse(&definition.text)
            .map_err(|_| damaged("a run's workflow does not read"))?;
        if workflow.hash != *pin {
            return Err(damaged("a run's workflow is not the one that it began with").into());
        }
        Ok(workflow)
    }
}
