//! Who did something in a run: the agent as it was shown then, with the step that it had to do.

use baton_core::agent::Agent;
use baton_core::content::ContentId;
use baton_core::names::AgentId;
use baton_core::run::HandoffNo;
use baton_core::workflow::{Place, Workflow};
use baton_store::HandoffRow;
use jiff::Timestamp;

use crate::Cast;

/// An agent as it was shown at a moment.
#[derive(Debug, Clone)]
pub struct ShownAgent {
    pub agent: Agent,
    /// The step that it had to do then.
    pub step: Option<String>,
    /// What was shown of it then is damaged: it is shown as it is today.
    pub is_damaged: bool,
}

/// What attributions of one run are made with.
#[derive(Clone, Copy)]
pub(crate) struct Attributions<'a> {
    pub(crate) cast: &'a Cast,
    /// The handoffs of the run, oldest first.
    pub(crate) rows: &'a [HandoffRow],
    pub(crate) workflow: &'a Workflow,
}

impl Attributions<'_> {
    /// The sender of a handoff, or the one who asked with it.
    pub(crate) fn sender(&self, id: &AgentId, row: &HandoffRow) -> ShownAgent {
        let step = step_title(self.workflow, &row.from.place).filter(|_| row.from.agent == *id);
        ShownAgent {
            agent: self.cast.at(id, row.no),
            step: step.or_else(|| self.step_of(id, row.created_at)),
            is_damaged: self.cast.is_damaged(id, row.no),
        }
    }

    /// An agent that did something beside the handoffs, as the record of it shows the agent.
    pub(crate) fn recorded(
        &self,
        id: &AgentId,
        portrait: Option<ContentId>,
        at: Timestamp,
    ) -> ShownAgent {
        let agent = match portrait {
            Some(_) => self.cast.by_portrait(id, portrait),
            None => self.at_time(id, at),
        };
        ShownAgent { agent, step: self.step_of(id, at), is_damaged: false }
    }

    /// Where there is no record: as in the newest handoff at that time.
    pub(crate) fn at_time(&self, id: &AgentId, at: Timestamp) -> Agent {
        let newest = self.rows.iter().rev().find(|it| it.created_at <= at);
        newest.map_or_else(|| self.cast.today(id), |it| self.cast.at(id, it.no))
    }

    /// The step of the newest handoff to the agent at that time.
    pub(crate) fn step_of(&self, agent: &AgentId, at: Timestamp) -> Option<String> {
        let is_it = |it: &&HandoffRow| {
            it.to.agent == *agent && it.created_at <= at && it.to.place.is_step()
        };
        let row = self.rows.iter().rev().find(is_it)?;
        step_title(self.workflow, &row.to.place)
    }

    pub(crate) fn row(&self, no: HandoffNo) -> Option<&HandoffRow> {
        self.rows.iter().find(|it| it.no == no)
    }
}

/// The title of a step, as people read it.
pub fn step_title(workflow: &Workflow, place: &Place) -> Option<String> {
    match place {
        Place::Step(id) => {
            let title = workflow.step(id).map(|it| it.title.clone());
            Some(title.filter(|it| !it.is_empty()).unwrap_or_else(|| id.to_string()))
        }
        Place::Orchestrator | Place::Human | Place::Delegate(_) => None,
    }
}
