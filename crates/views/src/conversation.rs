//! The conversation of a run: what agents and people say, hand over, decide and ask, as one
//! attributed stream that is read in pages, in both directions.
//!
//! A page costs what is on it, however long the run is: events that are no part of the conversation
//! are a few beside each handoff.

mod items;

use baton_core::agent::Agent;
use baton_core::content::ContentId;
use baton_core::event::{ContentEvent, DecisionEvent, Event, GateEvent, HandoffEvent};
use baton_core::names::Principal;
use baton_core::run::{HandoffNo, Run};
use baton_engine::EngineError;
use baton_store::{EventFilter, HandoffFilter, Position, RunRow, StoredEvent};
use baton_wire::event;
use jiff::Timestamp;

use self::items::{has_part, texts_of};
use crate::Views;
use crate::attribution::Attributions;
use crate::decisions::DecisionRecord;
use crate::gate_record::GateRecord;

/// Which part of a conversation is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ConversationWindow {
    /// What comes after an item, oldest first.
    After(Position),
    /// What comes before an item: the nearest to it, oldest first.
    Before(Position),
}

impl ConversationWindow {
    /// The end of the conversation.
    pub const NEWEST: Self = Self::Before(Position(i64::MAX as u64));
}

/// A part of a conversation, oldest first.
#[derive(Debug, Clone)]
pub struct ConversationPage {
    pub items: Vec<ConversationItem>,
    /// Whether there is more in the direction of the window.
    pub has_more: bool,
}

/// One part of a conversation.
#[derive(Debug, Clone)]
pub struct ConversationItem {
    pub position: Position,
    pub at: Timestamp,
    pub kind: ConversationKind,
    /// The agent as it was shown then; none where a person or a program speaks.
    pub agent: Option<Agent>,
    /// The step that the agent had to do then.
    pub agent_step: Option<String>,
    /// Who sent it.
    pub principal: Principal,
    /// The receiver of a handoff or a question.
    pub to: Option<Agent>,
    /// The step that the receiver has to do.
    pub to_step: Option<String>,
    /// Baton's own line, such as `Handing off to Reviewer...`.
    pub line: Option<String>,
    /// The author's words, without its use of tools.
    pub text: Option<String>,
    pub is_damaged: bool,
    /// What tools were used on, in order.
    pub tools: Vec<String>,
    pub handoff: Option<HandoffNo>,
    pub decisions: Vec<StatedDecision>,
    /// The number of a question between agents.
    pub ask: Option<u32>,
}

/// A decision in the words in which it was stated, and where it stands now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StatedDecision {
    pub no: u32,
    pub decision: String,
    pub rationale: Option<String>,
    /// `Decided by Analyst at ...`, or `Asked by` where only a choice was put.
    pub attribution: String,
    pub is_only_asked: bool,
    /// What became of it. None where that is not known any more.
    pub record: Option<DecisionRecord>,
}

/// What an item is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ConversationKind {
    Message,
    Handoff,
    Decision,
    /// A person's vote or answer at a gate.
    Answer,
    /// One agent asks another, or the sender of its work.
    Question,
    Reply,
    /// A question between agents was put again, or given up.
    Unanswered,
    Context,
    /// A text of the run was redacted.
    Redaction,
}

impl ConversationKind {
    pub fn name(self) -> &'static str {
        match self {
            Self::Message => "message",
            Self::Handoff => "handoff",
            Self::Decision => "decision",
            Self::Answer => "answer",
            Self::Question => "question",
            Self::Reply => "reply",
            Self::Unanswered => "unanswered",
            Self::Context => "context",
            Self::Redaction => "redaction",
        }
    }
}

/// An event that is a part of the conversation.
struct FoundPart {
    stored: StoredEvent,
    event: Event,
}

/// The salt of decisions is nothing that anybody has read.
fn is_told(event: &Event) -> bool {
    !matches!(event, Event::Content(ContentEvent::Redacted { is_salt: true, .. }))
}

/// Whether an item says something of a gate: its votes, or a comment that became a reason.
fn needs_gates(event: &Event) -> bool {
    matches!(event, Event::Gate(_) | Event::Handoff(HandoffEvent::Created(_)))
}

/// Whether an item says what was decided: with a package, on its own, or by an answer.
fn needs_decisions(event: &Event) -> bool {
    let is_answer = matches!(event, Event::Gate(GateEvent::Answered { .. }));
    is_answer || matches!(event, Event::Decision(DecisionEvent::Recorded { .. }))
}

/// How many events are read at once, at least.
const FEWEST_READ: u32 = 100;

impl Views<'_> {
    pub async fn conversation(
        &self,
        row: &RunRow,
        window: ConversationWindow,
        most: u32,
    ) -> Result<ConversationPage, EngineError> {
        let (parts, has_more) = self.find_parts(&row.run, window, most).await?;
        let ids: Vec<ContentId> = parts.iter().flat_map(|it| texts_of(&it.event)).collect();
        let texts = self.texts(row.run.id, ids).await?;
        let cast = self.cast(&row.run).await?;
        let workflow = self.workflow_of(row).await?;
        let gates = match parts.iter().any(|it| needs_gates(&it.event)) {
            true => self.gate_record(row.run.id).await?,
            false => GateRecord::default(),
        };
        let has_decisions = !row.run.decisions.is_empty();
        let decided = match has_decisions && parts.iter().any(|it| needs_decisions(&it.event)) {
            true => self.all_decisions(row).await?,
            false => Vec::new(),
        };
        // A run has few handoffs beside its messages.
        let filter = HandoffFilter { run: Some(row.run.id), ..HandoffFilter::default() };
        let rows = self.handoffs(&filter).await?;
        let scene = items::Scene {
            texts: &texts,
            people: Attributions { cast: &cast, rows: &rows, workflow: &workflow },
            gates: &gates,
            decided: &decided,
        };
        let items = parts.into_iter().map(|it| scene.item(it)).collect();
        Ok(ConversationPage { items, has_more })
    }

    async fn find_parts(
        &self,
        run: &Run,
        window: ConversationWindow,
        most: u32,
    ) -> Result<(Vec<FoundPart>, bool), EngineError> {
        let n_read = most.saturating_add(1).max(FEWEST_READ);
        let wanted = most as usize;
        let mut found: Vec<FoundPart> = Vec::new();
        let mut window = window;
        loop {
            let read = match window {
                ConversationWindow::After(after) => {
                    let filter = EventFilter { after, run: Some(run.id), limit: n_read };
                    self.events(&filter).await?
                }
                ConversationWindow::Before(before) => {
                    self.events_before(run.id, before, n_read).await?
                }
            };
            let is_last = read.len() < n_read as usize;
            let Some(end) = read.last().map(|it| it.position) else { break };
            let parts = read.into_iter().filter(|it| has_part(&it.name)).filter_map(|stored| {
                let event = event::decode(&stored.body).ok().filter(is_told)?;
                Some(FoundPart { stored, event })
            });
            found.extend(parts);
            if found.len() > wanted || is_last {
                break;
            }
            window = match window {
                ConversationWindow::After(_) => ConversationWindow::After(end),
                ConversationWindow::Before(_) => ConversationWindow::Before(end),
            };
        }
        let has_more = found.len() > wanted;
        found.truncate(wanted);
        if matches!(window, ConversationWindow::Before(_)) {
            found.reverse();
        }
        Ok((found, has_more))
    }
}
