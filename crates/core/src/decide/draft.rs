//! A decision in the making: events are applied as they are said, so that what comes after
//! them sees what they did.

use std::fmt::Write as _;
use std::sync::Arc;

use super::{Done, Ground};
use crate::content::{Content, ContentId, ContentKind};
use crate::event::{Event, evolve};
use crate::names::AgentId;
use crate::package::Package;
use crate::refusal::Refusal;
use crate::run::{Baton, Handoff, HandoffNo, Run, State};
use crate::workflow::{Place, Step, Workflow};

/// What a command did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Decision {
    /// The run as it is then.
    pub run: Run,
    pub events: Vec<Event>,
    pub contents: Vec<Content>,
    pub done: Done,
}

pub(super) struct Draft<'a> {
    pub(super) run: Run,
    pub(super) ground: Ground<'a>,
    pub(super) done: Done,
    events: Vec<Event>,
    contents: Vec<Content>,
}

impl<'a> Draft<'a> {
    pub(super) fn new(run: Run, ground: Ground<'a>) -> Self {
        Self { run, ground, done: Done::default(), events: Vec::new(), contents: Vec::new() }
    }

    pub(super) fn finish(self) -> Decision {
        Decision { run: self.run, events: self.events, contents: self.contents, done: self.done }
    }

    pub(super) fn emit(&mut self, event: Event) {
        evolve(&mut self.run, &event, self.ground.now);
        self.events.push(event);
    }

    /// Puts text aside for the store and returns its name.
    pub(super) fn keep(&mut self, words: &str) -> ContentId {
        self.put(ContentKind::Words, words.into())
    }

    pub(super) fn keep_some(&mut self, words: Option<&crate::names::Reason>) -> Option<ContentId> {
        words.map(|it| self.keep(it.as_str()))
    }

    pub(super) fn keep_package(&mut self, package: &Package) -> ContentId {
        let kind = ContentKind::Package { format: package.format, hash: package.hash() };
        self.put(kind, package.text.clone())
    }

    fn put(&mut self, kind: ContentKind, text: Arc<str>) -> ContentId {
        let content = Content::new(self.ground.fresh.nonce(), kind, text);
        let id = content.id;
        self.contents.push(content);
        id
    }

    pub(super) fn workflow(&self) -> &'a Workflow {
        self.ground.workflow
    }

    /// An open handoff, or the refusal that says that there is none such any more.
    pub(super) fn open(&self, no: HandoffNo) -> Result<Handoff, Refusal> {
        self.run.handoff(no).cloned().ok_or(Refusal::Finished { handoff: no })
    }

    /// As [`Draft::open`], for commands that are not an answer to a gate.
    pub(super) fn open_work(&self, no: HandoffNo) -> Result<Handoff, Refusal> {
        let handoff = self.open(no)?;
        match &handoff.gate {
            Some(gate) => {
                Err(Refusal::GateOpen { handoff: no, choices: gate.choices().join(", ") })
            }
            None => Ok(handoff),
        }
    }

    pub(super) fn step_at(&self, place: &Place) -> Option<&'a Step> {
        match place {
            Place::Step(id) => self.workflow().step(id),
            Place::Orchestrator | Place::Human | Place::Delegate(_) => None,
        }
    }

    /// Where the baton is, in words for whoever looked for it elsewhere.
    pub(super) fn whereabouts(&self) -> String {
        let current = self.run.current();
        match (self.run.baton(), current) {
            (Baton::Offered { .. }, Some(it)) if it.state == State::Clarification => {
                format!("{} waits for an answer from `{}`", it.no, it.from.agent)
            }
            (Baton::Offered { .. }, Some(it)) => {
                format!("{} offers it to `{}`", it.no, it.to.agent)
            }
            (Baton::Held { .. }, Some(it)) => format!("`{}` holds it with {}", it.to.agent, it.no),
            (Baton::Parked { .. }, Some(it)) => {
                format!("it waits for `{}` with {}", it.to.agent, it.no)
            }
            (Baton::Loose { at, .. }, _) => {
                let mut whereabouts = format!("it lies loose at `{at}`");
                let agents: Vec<String> =
                    (self.workflow().agents_at(at).iter()).map(|it| format!("`{it}`")).collect();
                // Writing to a string cannot fail.
                let _ = write!(whereabouts, ", for {} to take up", agents.join(" or "));
                whereabouts
            }
            (Baton::Offered { .. } | Baton::Held { .. } | Baton::Parked { .. }, None)
            | (Baton::Done, _) => "the run is at its end".to_owned(),
        }
    }
}

/// Whoever gives the command has to be `allowed`; where nobody is named, it is they.
pub(super) fn only(
    allowed: &AgentId,
    by: Option<&AgentId>,
    command: &'static str,
    handoff: HandoffNo,
) -> Result<(), Refusal> {
    match by {
        Some(by) if by != allowed => {
            Err(Refusal::NotYours { command, handoff, allowed: allowed.clone(), by: by.clone() })
        }
        Some(_) | None => Ok(()),
    }
}
