//! What agents and external systems said while a run went on: progress notes and messages.

use baton_core::content::ContentId;
use baton_core::event::{Event, MessageEvent};
use baton_core::names::{AgentId, Principal};
use baton_core::run::{Run, RunId};
use baton_engine::EngineError;
use baton_store::{EventFilter, Position};
use baton_wire::event;
use jiff::Timestamp;

use crate::Views;

/// A message of a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PostedMessage {
    pub position: Position,
    pub at: Timestamp,
    /// The agent that says it, if the sender named one.
    pub by: Option<AgentId>,
    /// The name of that agent, as it was shown then.
    pub agent_name: Option<String>,
    /// Who sent it.
    pub principal: Principal,
    /// None where it was lost in a recovery or is damaged.
    pub text: Option<String>,
    pub is_damaged: bool,
}

/// A message whose text is not read yet.
struct FoundMessage {
    position: Position,
    at: Timestamp,
    by: Option<AgentId>,
    portrait: Option<ContentId>,
    principal: Principal,
    text: ContentId,
}

impl Views<'_> {
    /// The messages of a run after a position, oldest first, at most `most`.
    pub async fn messages(
        &self,
        run: &Run,
        after: Position,
        most: usize,
    ) -> Result<Vec<PostedMessage>, EngineError> {
        let mut found = self.find_messages(run.id, after).await?;
        found.truncate(most);
        self.read_messages(run, found).await
    }

    async fn find_messages(
        &self,
        run: RunId,
        after: Position,
    ) -> Result<Vec<FoundMessage>, EngineError> {
        let filter = EventFilter { after, run: Some(run), limit: 0 };
        let mut found = Vec::new();
        for stored in self.events(&filter).await? {
            if stored.name != "message.posted" {
                continue;
            }
            let Ok(Event::Message(MessageEvent::Posted { by, text, portrait, .. })) =
                event::decode(&stored.body)
            else {
                continue;
            };
            let (position, at, principal) = (stored.position, stored.at, stored.by);
            found.push(FoundMessage { position, at, by, portrait, principal, text });
        }
        Ok(found)
    }

    async fn read_messages(
        &self,
        run: &Run,
        found: Vec<FoundMessage>,
    ) -> Result<Vec<PostedMessage>, EngineError> {
        let cast = self.cast(run).await?;
        let texts = self.texts(run.id, found.iter().map(|it| it.text)).await?;
        let read = |it: FoundMessage| PostedMessage {
            position: it.position,
            at: it.at,
            agent_name: it.by.as_ref().map(|by| cast.by_portrait(by, it.portrait).label()),
            by: it.by,
            principal: it.principal,
            text: texts.get(it.text).whole().map(str::to_owned),
            is_damaged: texts.get(it.text).is_damaged(),
        };
        Ok(found.into_iter().map(read).collect())
    }
}
