//! The package that the receiver of a handoff could hand on, as a template.

use baton_core::decide::{self, TemplateRequest};
use baton_core::document::Node;
use baton_core::names::AgentId;
use baton_core::outcome::Outcome;
use baton_store::HandoffRow;

use crate::{EngineError, Reader};

impl Reader<'_> {
    /// A package that passes on the way to `to`, once its marks are filled in.
    pub async fn template(
        self,
        row: &HandoffRow,
        to: Option<&AgentId>,
        outcome: Option<Outcome>,
    ) -> Result<Node, EngineError> {
        let (loaded, _) = self.engine.load(row.run).await?;
        let asked = TemplateRequest { handoff: row.no, to, outcome };
        let catalog = self.engine.catalog();
        let ground = self.engine.ground(self.caller(), &catalog, &loaded.workflow);
        decide::template(&loaded.run, &asked, ground)
            .map_err(|refusal| EngineError::refused_about(refusal, row.clone()))
    }
}
