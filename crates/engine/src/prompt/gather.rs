//! Reads what a prompt tells: the run as it is, its rows, its log, and the texts that they name.

mod known;

use std::collections::HashMap;

use baton_core::agent::Agent;
use baton_core::content::{Content, ContentId};
use baton_core::event::Event;
use baton_core::refusal::Refusal;
use baton_core::run::{Handoff, HandoffNo, Kind};
use baton_core::story::Story;
use baton_store::{EventFilter, HandoffFilter, HandoffRef, HandoffRow, Position, RunRef};
use baton_wire::event;

use self::known::Known;
use super::brief::Brief;
use crate::queries::Exchange;
use crate::{Engine, EngineError};

impl Engine {
    pub(super) async fn brief(&self, which: &HandoffRef) -> Result<Brief, EngineError> {
        let row = self.handoff(which).await?;
        if !row.to.place.is_work() {
            return Err(EngineError::NoPrompt { handoff: row.no, to: row.to.agent });
        }
        let run = self.run(&RunRef::Id(row.run)).await?;
        let Some(open) = run.run.handoff(row.no).cloned() else {
            let refusal = Refusal::Finished { handoff: row.no };
            return Err(EngineError::Refused { refusal, handoff: Some(Box::new(row)) });
        };
        let workflow = self.pinned(&run.run.pin).await?;
        let filter = HandoffFilter { run: Some(row.run), ..HandoffFilter::default() };
        let rows = self.store.handoffs(&filter).await?;
        let events = self.events_of(&row).await?;
        let caller = caller_behind(&open, &run.run);
        let agent = self.catalog.agents().find(&row.to.agent).cloned();
        let agent = agent.unwrap_or_else(|| Agent::unknown(row.to.agent.clone()));
        let story = self.store.story(&row.story).await?;
        let story = story.map_or_else(|| Story::named(row.story.clone()), |it| it.story);
        let mut known = Known {
            workflow,
            agent,
            story,
            row,
            open,
            run,
            rows,
            events,
            caller,
            exchanges: Vec::new(),
            texts: HashMap::new(),
        };
        known.exchanges = self.exchanges_about(&known).await?;
        let ids = known.texts_needed();
        known.texts = self.contents_by_id(&known.row, &ids).await?;
        Ok(known.into_brief())
    }

    async fn events_of(&self, row: &HandoffRow) -> Result<Vec<Event>, EngineError> {
        let filter = EventFilter { after: Position::START, run: Some(row.run), limit: 0 };
        let stored = self.store.events(&filter).await?;
        Ok(stored.iter().filter_map(|it| event::decode(&it.body).ok()).collect())
    }

    /// What was asked about the handoff, about the gate that it came through, and about what its
    /// receiver had been waiting with.
    async fn exchanges_about(&self, known: &Known) -> Result<Vec<Exchange>, EngineError> {
        let mut exchanges = Vec::new();
        let gate = known.gate_before();
        for about in [known.caller_row(), gate, Some(&known.row)].into_iter().flatten() {
            exchanges.extend(self.exchanges(about).await?);
        }
        Ok(exchanges)
    }

    async fn contents_by_id(
        &self,
        row: &HandoffRow,
        ids: &[ContentId],
    ) -> Result<HashMap<ContentId, Content>, EngineError> {
        let contents = self.store.contents(row.run, ids).await?;
        Ok(contents.into_iter().map(|it| (it.id, it)).collect())
    }
}

/// What the receiver goes on with once it has accepted, where that is not the handoff itself.
fn caller_behind(open: &Handoff, run: &baton_core::run::Run) -> Option<HandoffNo> {
    match open.kind {
        Kind::Return => run.caller_of(open.no).map(|it| it.no),
        Kind::Sequential | Kind::Delegation | Kind::Escalation | Kind::Question => None,
    }
}
