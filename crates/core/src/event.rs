//! What happened. An event is a fact: applying it cannot fail.
//!
//! Events hold ids, words, numbers and hashes. Free text is [`crate::content`], named by its id.
//! The names and fields here are stored for ever: `baton-wire` keeps samples of each that must
//! decode, so a rename fails a test before it fails a user.

mod approvals;
mod blocker;
mod branch;
mod checks;
mod content;
mod context;
mod counted;
mod decision;
mod evidence;
mod evolve;
mod family;
mod file;
mod forked;
mod frame;
mod gate;
mod handoff;
mod lease;
mod message;
mod passed;
mod question;
mod replay;
mod run;
mod shared;
mod shown;
mod step;
mod usage;

use serde::{Deserialize as _, Deserializer, Serialize, de};

use self::family::EventFamily;
use crate::run::{HandoffNo, HandoffState};

pub use self::blocker::BlockerEvent;
pub use self::branch::BranchEvent;
pub use self::checks::ChecksEvent;
pub use self::content::{ContentEvent, expiring_text};
pub use self::context::ContextEvent;
pub use self::decision::DecisionEvent;
pub use self::evidence::EvidenceEvent;
pub use self::evolve::evolve;
pub use self::family::{EventTexts, SentenceStyle, TextRole};
pub use self::file::FileEvent;
pub use self::frame::FrameEvent;
pub use self::gate::GateEvent;
pub use self::handoff::{Created, HandoffEvent, StepEntry};
pub use self::lease::LeaseEvent;
pub use self::message::MessageEvent;
pub use self::question::QuestionEvent;
pub use self::replay::replay;
pub use self::run::RunEvent;
pub use self::step::StepEvent;
pub use self::usage::UsageEvent;

/// One event, by its family. A body on disk does not name the family: the event's name does.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub enum Event {
    Run(RunEvent),
    Step(StepEvent),
    Handoff(HandoffEvent),
    Question(QuestionEvent),
    Frame(FrameEvent),
    Lease(LeaseEvent),
    Gate(GateEvent),
    Evidence(EvidenceEvent),
    Checks(ChecksEvent),
    Blocker(BlockerEvent),
    Message(MessageEvent),
    Branch(BranchEvent),
    Decision(DecisionEvent),
    Context(ContextEvent),
    Content(ContentEvent),
    Usage(UsageEvent),
    File(FileEvent),
}

impl Event {
    /// Reads the body of the event `name`. Its name tells the family, so that a body is not tried
    /// against all of them.
    pub fn read<'de, D: Deserializer<'de>>(name: &str, body: D) -> Result<Self, D::Error> {
        /// A family whose names include the event's reads it.
        macro_rules! by_name {
            ($($family:ident)+) => {
                $( if $family::has_name(name) {
                    return $family::deserialize(body).map(Self::from);
                } )+
            };
        }
        by_name!(HandoffEvent StepEvent RunEvent LeaseEvent GateEvent QuestionEvent FrameEvent);
        by_name!(EvidenceEvent ChecksEvent BlockerEvent MessageEvent BranchEvent UsageEvent);
        by_name!(DecisionEvent ContextEvent);
        by_name!(ContentEvent FileEvent);
        Err(de::Error::custom(format_args!("there is no event `{name}`")))
    }

    /// The names of all events there are.
    pub fn names() -> impl Iterator<Item = &'static str> {
        let families = [
            RunEvent::NAMES,
            StepEvent::NAMES,
            HandoffEvent::NAMES,
            QuestionEvent::NAMES,
            FrameEvent::NAMES,
            LeaseEvent::NAMES,
            GateEvent::NAMES,
            EvidenceEvent::NAMES,
            ChecksEvent::NAMES,
            BlockerEvent::NAMES,
            MessageEvent::NAMES,
            BranchEvent::NAMES,
            DecisionEvent::NAMES,
            ContextEvent::NAMES,
            ContentEvent::NAMES,
            UsageEvent::NAMES,
            FileEvent::NAMES,
        ];
        families.into_iter().flatten().copied()
    }

    /// The name that the log, the feed and the docs use.
    pub fn name(&self) -> &'static str {
        self.family().name()
    }

    /// The handoff that the event is about, if any.
    pub fn handoff(&self) -> Option<HandoffNo> {
        self.family().handoff()
    }

    /// The state of that handoff after the event, where the event sets it.
    pub fn state_after(&self) -> Option<HandoffState> {
        self.family().state_after()
    }

    /// Every text that the event refers to.
    pub fn texts(&self) -> EventTexts {
        self.family().texts()
    }

    /// Whether a person or another system may want to be notified: someone has to act, or something
    /// has ended.
    pub fn needs_notification(&self) -> bool {
        self.family().needs_notification()
    }

    /// One English sentence without the texts: lower case, no full stop.
    pub fn sentence(&self, style: &dyn SentenceStyle) -> String {
        self.family().sentence(style)
    }

    fn family(&self) -> &dyn EventFamily {
        match self {
            Event::Run(it) => it,
            Event::Step(it) => it,
            Event::Handoff(it) => it,
            Event::Question(it) => it,
            Event::Frame(it) => it,
            Event::Lease(it) => it,
            Event::Gate(it) => it,
            Event::Evidence(it) => it,
            Event::Checks(it) => it,
            Event::Blocker(it) => it,
            Event::Message(it) => it,
            Event::Branch(it) => it,
            Event::Decision(it) => it,
            Event::Context(it) => it,
            Event::Content(it) => it,
            Event::Usage(it) => it,
            Event::File(it) => it,
        }
    }
}
