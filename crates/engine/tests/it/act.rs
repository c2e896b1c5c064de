//! What somebody does to a story, in words that the model and the engine both understand.

use baton_core::contract::Profile;
use baton_core::gate::Answer;
use baton_core::outcome::Outcome;

use crate::flows::Parcel;

#[derive(Debug, Clone)]
pub(crate) struct Act {
    /// 0 goes through the built-in pipeline, 1 through the side roads.
    pub(crate) story: usize,
    pub(crate) what: What,
}

#[derive(Debug, Clone)]
pub(crate) enum What {
    Start {
        to: Option<&'static str>,
    },
    Create(Create),
    /// Done to the newest run of the story.
    On(Order),
    /// Time goes by, for everybody.
    Wait {
        minutes: i64,
    },
    /// Baton looks for what is due, in all stories.
    Sweep,
}

#[derive(Debug, Clone)]
pub(crate) enum Order {
    Accept { no: u32, by: Option<&'static str> },
    Reject { no: u32, by: Option<&'static str> },
    Complete(Complete),
    Cancel { no: u32, by: Option<&'static str> },
    TimeOut { no: u32 },
    MarkStale { no: u32 },
    Answer { no: u32, answer: Answer },
    CleanUp,
    Pause,
    Resume,
    CancelRun,
    Goto { step: &'static str },
    Skip,
}

impl Order {
    /// The handoff that it is about, if it is about one.
    pub(crate) fn no(&self) -> Option<u32> {
        match self {
            Order::Accept { no, .. }
            | Order::Reject { no, .. }
            | Order::Complete(Complete { no, .. })
            | Order::Cancel { no, .. }
            | Order::TimeOut { no }
            | Order::MarkStale { no }
            | Order::Answer { no, .. } => Some(*no),
            Order::CleanUp
            | Order::Pause
            | Order::Resume
            | Order::CancelRun
            | Order::Goto { .. }
            | Order::Skip => None,
        }
    }
}

#[derive(Debug, Clone)]
pub(crate) struct Create {
    pub(crate) from: &'static str,
    pub(crate) to: &'static str,
    pub(crate) parcel: Parcel,
    pub(crate) serial: u32,
    pub(crate) outcome: Option<Outcome>,
    pub(crate) supersedes: Option<u32>,
    pub(crate) profile: Profile,
}

#[derive(Debug, Clone)]
pub(crate) struct Complete {
    pub(crate) no: u32,
    pub(crate) by: Option<&'static str>,
    pub(crate) outcome: Outcome,
    pub(crate) parcel: Parcel,
    pub(crate) serial: u32,
    pub(crate) to: Option<&'static str>,
    pub(crate) profile: Profile,
}
