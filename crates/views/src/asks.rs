//! Questions of agents to agents inside a step, with their answers.

use baton_core::agent::Agent;
use baton_core::content::ContentId;
use baton_core::event::{Event, MessageEvent};
use baton_core::names::AgentId;
use baton_core::run::Run;
use baton_engine::EngineError;
use baton_store::SharedEvents;
use baton_wire::event;
use jiff::Timestamp;
use uuid::Uuid;

use crate::Views;

/// A question of one agent to another.
#[derive(Debug, Clone)]
pub struct AskRecord {
    pub no: u32,
    pub correlation: Uuid,
    pub from: Agent,
    pub to: Agent,
    /// None where the text was lost or is damaged.
    pub question: Option<String>,
    pub asked_at: Timestamp,
    /// How often it was put.
    pub attempts: u32,
    /// Until when an answer is waited for, as long as it is open.
    pub due: Timestamp,
    pub progress: AskProgress,
}

#[derive(Debug, Clone)]
pub enum AskProgress {
    Open,
    Answered { by: Agent, answer: Option<String>, at: Timestamp },
    Unanswered { at: Timestamp },
}

impl AskProgress {
    pub fn name(&self) -> &'static str {
        match self {
            Self::Open => "open",
            Self::Answered { .. } => "answered",
            Self::Unanswered { .. } => "unanswered",
        }
    }
}

/// A question whose texts are not read yet.
struct FoundAsk {
    no: u32,
    correlation: Uuid,
    by: AgentId,
    to: AgentId,
    portrait: Option<ContentId>,
    text: ContentId,
    asked_at: Timestamp,
    attempts: u32,
    due: Timestamp,
    end: Option<FoundEnd>,
}

/// How a question ended.
enum FoundEnd {
    Answer { by: AgentId, portrait: Option<ContentId>, text: ContentId, at: Timestamp },
    GivenUp(Timestamp),
}

impl Views<'_> {
    /// The questions between agents of a run, oldest first.
    pub async fn asks(&self, run: &Run) -> Result<Vec<AskRecord>, EngineError> {
        let found = self.find_asks(run).await?;
        let answers = found.iter().filter_map(|it| match &it.end {
            Some(FoundEnd::Answer { text, .. }) => Some(*text),
            Some(FoundEnd::GivenUp(_)) | None => None,
        });
        let ids: Vec<ContentId> = found.iter().map(|it| it.text).chain(answers).collect();
        let texts = self.texts(run.id, ids).await?;
        let cast = self.cast(run).await?;
        let words = |id| texts.get(id).whole().map(str::to_owned);
        let read = |it: FoundAsk| AskRecord {
            no: it.no,
            correlation: it.correlation,
            from: cast.by_portrait(&it.by, it.portrait),
            to: cast.by_portrait(&it.to, it.portrait),
            question: words(it.text),
            asked_at: it.asked_at,
            attempts: it.attempts,
            due: it.due,
            progress: match it.end {
                None => AskProgress::Open,
                Some(FoundEnd::GivenUp(at)) => AskProgress::Unanswered { at },
                Some(FoundEnd::Answer { by, portrait, text, at }) => {
                    let by = cast.by_portrait(&by, portrait);
                    AskProgress::Answered { by, answer: words(text), at }
                }
            },
        };
        Ok(found.into_iter().map(read).collect())
    }

    async fn find_asks(&self, run: &Run) -> Result<Vec<FoundAsk>, EngineError> {
        let mut found: Vec<FoundAsk> = Vec::new();
        for stored in self.shared_events(run.id, SharedEvents::Asks).await? {
            let Ok(Event::Message(event)) = event::decode(&stored.body) else { continue };
            let asked = |no: u32| found.iter().position(|it| it.no == no);
            match event {
                MessageEvent::Asked { ask, correlation, by, to, text, due, portrait, .. } => {
                    let (asked_at, attempts, end) = (stored.at, 1, None);
                    let no = ask;
                    found.push(FoundAsk {
                        no,
                        correlation,
                        by,
                        to,
                        portrait,
                        text,
                        asked_at,
                        attempts,
                        due,
                        end,
                    });
                }
                MessageEvent::Replied { ask, by, text, portrait, .. } => {
                    if let Some(index) = asked(ask) {
                        let at = stored.at;
                        found[index].end = Some(FoundEnd::Answer { by, portrait, text, at });
                    }
                }
                MessageEvent::Repeated { ask, due } => {
                    if let Some(index) = asked(ask) {
                        found[index].attempts += 1;
                        found[index].due = due;
                    }
                }
                MessageEvent::Unanswered { ask } => {
                    if let Some(index) = asked(ask) {
                        found[index].end = Some(FoundEnd::GivenUp(stored.at));
                    }
                }
                MessageEvent::Posted { .. } => {}
            }
        }
        Ok(found)
    }
}
