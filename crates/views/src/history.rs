//! Everything known about one run, read once: the input of the archive and the completion report.
//!
//! Its outputs are pure functions of it: no clock, no catalog that may be edited later. A run that
//! moves while it is read is projected again, because it has moved.

use std::collections::HashSet;
use std::sync::Arc;

use baton_core::content::{Content, ContentId};
use baton_core::document::Node;
use baton_core::event::{Created, Event, HandoffEvent, RunEvent};
use baton_core::hash::Hash;
use baton_core::names::Principal;
use baton_core::run::{HandoffNo, RunId};
use baton_core::story::Story;
use baton_core::workflow::Workflow;
use baton_store::{
    EventFilter, HandoffFilter, HandoffRow, Position, RunRef, RunRow, StoreError, StoredEvent,
    Version,
};
use baton_wire::event;
use jiff::Timestamp;
use uuid::Uuid;

use crate::Views;
use crate::decisions::Decided;
use baton_engine::WholeTexts;
use baton_engine::{EngineError, stored};

pub(crate) struct History {
    pub(crate) row: RunRow,
    /// The current story; of a deleted story only the key remains, in the run.
    pub(crate) story: Option<Story>,
    pub(crate) story_created_at: Option<Timestamp>,
    /// The project of the run.
    pub(crate) project: Uuid,
    pub(crate) workflow: Arc<Workflow>,
    /// The text of the workflow file, as it was when the run began.
    pub(crate) workflow_text: Option<String>,
    /// By number.
    pub(crate) handoffs: Vec<HandoffRow>,
    pub(crate) log: Vec<Logged>,
    /// With what is open, and what a rejected package had decided.
    pub(crate) decided: Vec<Decided>,
    texts: WholeTexts,
}

/// One event of the run, decoded.
pub(crate) struct Logged {
    pub(crate) position: Position,
    pub(crate) version: Version,
    pub(crate) at: Timestamp,
    pub(crate) by: Principal,
    pub(crate) hash: Hash,
    /// The stored JSON.
    pub(crate) body: String,
    pub(crate) event: Event,
}

impl Views<'_> {
    pub(crate) async fn history(&self, run: RunId) -> Result<History, EngineError> {
        let row = self.run(&RunRef::Id(run)).await?;
        let workflow = self.workflow_of(&row).await?;
        let workflow_text = self.definition(&row.run.pin).await?.map(|it| it.text);
        let story = self.find_story(&row.run.story).await?;
        let story_created_at = story.as_ref().map(|it| it.created_at);
        let story = story.map(|it| it.story);
        let project = self.identity().await?.project;
        let filter = HandoffFilter { run: Some(run), ..HandoffFilter::default() };
        let handoffs = self.handoffs(&filter).await?;
        let filter = EventFilter { after: Position::START, run: Some(run), limit: 0 };
        let events = self.events(&filter).await?;
        let log = events.into_iter().map(Logged::of).collect::<Result<Vec<_>, _>>()?;
        // The archive is written from a history: a damaged text must not replace a good copy there.
        let ids =
            log.iter().flat_map(|it| it.event.texts().without_file().iter()).map(|(id, _)| id);
        let texts = self.whole_texts(run, ids).await?;
        let decided = self.all_decisions(&row).await?;
        Ok(History {
            row,
            story,
            story_created_at,
            project,
            workflow,
            workflow_text,
            handoffs,
            log,
            decided,
            texts,
        })
    }
}

impl Logged {
    fn of(stored: StoredEvent) -> Result<Self, StoreError> {
        let StoredEvent { position, version, at, by, body, hash, run: _, name: _ } = stored;
        let event = event::decode(&body)
            .map_err(|error| StoreError::Damaged { what: format!("an event: {error}") })?;
        Ok(Self { position, version, at, by, hash, body, event })
    }
}

impl History {
    /// None where the text was lost in a recovery.
    pub(crate) fn text(&self, id: ContentId) -> Option<&str> {
        self.texts.get(id)
    }

    pub(crate) fn content(&self, id: ContentId) -> Option<&Content> {
        self.texts.content(id)
    }

    pub(crate) fn handoff(&self, no: HandoffNo) -> Option<&HandoffRow> {
        self.handoffs.iter().find(|it| it.no == no)
    }

    /// The packages that people and agents wrote, oldest first, without lost ones; each once, however
    /// often Baton forwarded it.
    pub(crate) fn packages(&self) -> Vec<Node> {
        let mut seen: HashSet<ContentId> = HashSet::new();
        let mut packages = Vec::new();
        for Logged { event, .. } in &self.log {
            let Event::Handoff(
                HandoffEvent::Created(Created { package, .. })
                | HandoffEvent::Completed { package, .. },
            ) = event
            else {
                continue;
            };
            let Some(id) = package.filter(|it| seen.insert(*it)) else { continue };
            packages.extend(self.content(id).and_then(stored::document));
        }
        packages
    }

    /// As after a recovery that found no texts.
    #[cfg(test)]
    pub(crate) fn forget_texts(&mut self) {
        self.texts = WholeTexts::default();
        self.decided.clear();
    }

    /// When the run was completed or cancelled; none while it is open.
    pub(crate) fn ended_at(&self) -> Option<Timestamp> {
        let is_end = |it: &&Logged| {
            matches!(it.event, Event::Run(RunEvent::Completed | RunEvent::Cancelled { .. }))
        };
        self.log.iter().rev().find(is_end).map(|it| it.at)
    }
}
