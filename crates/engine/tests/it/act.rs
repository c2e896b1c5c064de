//! What somebody does to a story, in words that the model and the engine both understand.

use baton_core::command::Way;
use baton_core::contract::Profile;
use baton_core::gate::Answer;
use baton_core::outcome::Outcome;

use crate::flows::Parcel;

#[derive(Debug, Clone)]
pub(crate) struct Act {
    /// 0 goes through the built-in pipeline, 1 through the side roads, 2 through the gates.
    pub(crate) story: usize,
    pub(crate) what: What,
}

#[derive(Debug, Clone)]
pub(crate) enum What {
    Start {
        to: Option<&'static str>,
    },
    /// An operator hands the story in somewhere in the middle.
    StartAt {
        step: &'static str,
    },
    Create(Create),
    /// Done to the newest run of the story.
    On(Order),
    /// Time goes by, for everybody.
    Wait {
        seconds: i64,
    },
    /// Baton looks for what is due, in all stories.
    Sweep,
}

#[derive(Debug, Clone)]
pub(crate) enum Order {
    Accept {
        no: u32,
        by: Option<&'static str>,
        says: Says,
        /// In seconds.
        lease: Option<u32>,
    },
    Reject {
        no: u32,
        by: Option<&'static str>,
        fence: Option<u32>,
    },
    Complete(Complete),
    Cancel {
        no: u32,
        by: Option<&'static str>,
    },
    TimeOut {
        no: u32,
    },
    MarkStale {
        no: u32,
    },
    Answer(Answered),
    /// A person lets another one approve in their place.
    DelegateVote {
        no: u32,
        by: &'static str,
        to: &'static str,
    },
    Remind {
        no: u32,
    },
    Clarify {
        no: u32,
        by: Option<&'static str>,
        fence: Option<u32>,
    },
    /// Names the question, or what it is about.
    Reply {
        no: u32,
        by: Option<&'static str>,
        fence: Option<u32>,
    },
    Release {
        no: u32,
        by: Option<&'static str>,
        fence: Option<u32>,
    },
    Record {
        no: u32,
        check: &'static str,
        has_passed: bool,
    },
    /// What the clock says of a holder that is silent.
    LoseLease {
        no: u32,
        fence: u32,
    },
    Wake {
        no: u32,
    },
    Expire {
        no: u32,
    },
    CleanUp,
    Pause,
    Resume,
    CancelRun,
    Goto {
        step: &'static str,
    },
    Skip,
}

/// What a receiver says when it takes a handoff.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Says {
    Understood,
    /// That it has to ask first.
    Unclear,
}

/// What a person says at a gate, or to a question.
#[derive(Debug, Clone)]
pub(crate) struct Answered {
    pub(crate) no: u32,
    pub(crate) by: &'static str,
    pub(crate) answer: Answer,
    pub(crate) has_words: bool,
    /// The person's own package, with its serial.
    pub(crate) parcel: Option<(Parcel, u32)>,
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
            | Order::Answer(Answered { no, .. })
            | Order::DelegateVote { no, .. }
            | Order::Remind { no }
            | Order::Clarify { no, .. }
            | Order::Reply { no, .. }
            | Order::Release { no, .. }
            | Order::Record { no, .. }
            | Order::LoseLease { no, .. }
            | Order::Wake { no }
            | Order::Expire { no } => Some(*no),
            Order::CleanUp
            | Order::Pause
            | Order::Resume
            | Order::CancelRun
            | Order::Goto { .. }
            | Order::Skip => None,
        }
    }

    /// The fence with which somebody claims to hold a handoff.
    fn fence(&self) -> Option<u32> {
        match self {
            Order::Reject { fence, .. }
            | Order::Complete(Complete { fence, .. })
            | Order::Clarify { fence, .. }
            | Order::Reply { fence, .. }
            | Order::Release { fence, .. } => *fence,
            Order::LoseLease { fence, .. } => Some(*fence),
            Order::Accept { .. }
            | Order::Cancel { .. }
            | Order::TimeOut { .. }
            | Order::MarkStale { .. }
            | Order::Answer(_)
            | Order::DelegateVote { .. }
            | Order::Remind { .. }
            | Order::Record { .. }
            | Order::Wake { .. }
            | Order::Expire { .. }
            | Order::CleanUp
            | Order::Pause
            | Order::Resume
            | Order::CancelRun
            | Order::Goto { .. }
            | Order::Skip => None,
        }
    }
}

impl What {
    /// The handoff and the fence with which somebody claims to hold it.
    pub(crate) fn claim(&self) -> Option<(u32, u32)> {
        match self {
            What::On(order) => Some((order.no()?, order.fence()?)),
            // Whoever replaces what it sent holds nothing, and need not say that it does.
            What::Create(create) if create.supersedes.is_none() => create.token,
            What::Create(_)
            | What::Start { .. }
            | What::StartAt { .. }
            | What::Wait { .. }
            | What::Sweep => None,
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
    pub(crate) way: Option<Way>,
    /// Which handoff the sender holds, and with which fence.
    pub(crate) token: Option<(u32, u32)>,
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
    pub(crate) fence: Option<u32>,
    pub(crate) profile: Profile,
}
