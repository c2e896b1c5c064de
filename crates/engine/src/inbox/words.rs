//! Why a person is asked, and what an answer leads to, in words.

use std::fmt;

use baton_core::gate::GateKind;
use baton_core::workflow::Place;

use super::{Then, Waits};

impl fmt::Display for Waits {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Waits::Gate { kind: GateKind::Advisory, .. } => {
                f.write_str("The work goes on; a person may object while it does")
            }
            Waits::Gate { cause, kind: GateKind::Blocking | GateKind::Automatic, .. } => {
                f.write_str(cause.sentence())
            }
            Waits::Question { about, of, .. } => write!(f, "{of} is asked about {about}"),
            Waits::Loose { at } => write!(f, "The baton lies loose at {at}"),
        }
    }
}

impl fmt::Display for Then {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Then::Offered { handoff, to, place: Place::Step(step) } => {
                write!(f, "{handoff} goes to {to}, for the step {step}")
            }
            Then::Offered { place: Place::Orchestrator, .. } => f.write_str("the run is complete"),
            Then::Offered { handoff, to, place: Place::Human | Place::Delegate(_) } => {
                write!(f, "{handoff} goes to {to}")
            }
            Then::Held { handoff, by } => write!(f, "{by} goes on with {handoff}"),
            Then::Asked { question, of } => {
                write!(f, "{question} asks {of}; a person decides after that")
            }
            Then::Parked { handoff } => write!(f, "a person is asked again with {handoff}"),
            Then::Unchanged => f.write_str("the work goes on as it does"),
            Then::Loose { at } => write!(f, "the baton lies loose at {at}"),
            Then::Ended(status) => write!(f, "the run is {}", status.name()),
            Then::Refused { why } => write!(f, "it would be refused: {why}"),
        }
    }
}
