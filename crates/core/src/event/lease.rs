//! Events of the lease on a held handoff.

use super::family::{EventFamily, SentenceStyle, event_family};
use crate::run::HandoffNo;

event_family! {
    pub enum LeaseEvent => Lease {
        "lease.granted" => Granted { handoff: HandoffNo, fence: u32, seconds: u32 },
        "lease.lost" => Lost { handoff: HandoffNo, fence: u32 },
        "lease.released" => Released { handoff: HandoffNo, fence: u32 },
    }
}

impl EventFamily for LeaseEvent {
    fn handoff(&self) -> Option<HandoffNo> {
        match self {
            Self::Granted { handoff, .. }
            | Self::Lost { handoff, .. }
            | Self::Released { handoff, .. } => Some(*handoff),
        }
    }

    fn needs_notification(&self) -> bool {
        matches!(self, Self::Lost { .. })
    }

    fn sentence(&self, style: &dyn SentenceStyle) -> String {
        match self {
            Self::Granted { handoff, fence, seconds } => {
                let handoff = style.handoff(*handoff);
                format!("{handoff} is leased for {seconds} s at a time, with fence {fence}")
            }
            Self::Lost { handoff, .. } => {
                let ended = style.warning("ends without a result");
                let who = style.receiver(*handoff);
                format!("the attempt of {who} at {} {ended}", style.handoff(*handoff))
            }
            Self::Released { handoff, .. } => {
                format!("the lease of {} is released", style.handoff(*handoff))
            }
        }
    }
}
