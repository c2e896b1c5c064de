//! The `delegates` of a step: specialists to which its agent may delegate part of the work.

use baton_core::names::AgentId;
use baton_core::workflow::Delegate;

use crate::fields::{FieldAt, Fields};
use crate::file_problem::Problems;

pub(crate) const KEYS: &[&str] = &["agent", "contract", "returns"];

const MOST_DELEGATES: usize = 100;

/// Without those that could not be read.
pub(super) fn delegates(field: &FieldAt<'_>, problems: &mut Problems) -> Vec<Delegate> {
    let items = field.list(problems);
    if items.len() > MOST_DELEGATES {
        let message = format!("has {} delegates; the most is {MOST_DELEGATES}", items.len());
        field.problem("too_many", message, problems);
        return Vec::new();
    }
    let mut delegates: Vec<Delegate> = Vec::new();
    for item in items {
        let Some(delegate) = delegate(&item, problems) else { continue };
        // Otherwise its input and output contracts could be stated in two ways.
        if delegates.iter().any(|it| it.agent == delegate.agent) {
            item.problem("twice", format!("says `{}` twice", delegate.agent), problems);
        }
        delegates.push(delegate);
    }
    delegates
}

/// An agent's id, or a map with details.
fn delegate(field: &FieldAt<'_>, problems: &mut Problems) -> Option<Delegate> {
    if field.node.scalar_text().is_some() {
        let agent = field.parsed(AgentId::parse, problems)?;
        return Some(Delegate { agent, contract: None, returns: None });
    }
    let fields = Fields::open(field, KEYS, problems)?;
    let agent =
        fields.required("agent", problems).and_then(|it| it.parsed(AgentId::parse, problems));
    let contract = fields.get("contract").and_then(|it| it.line(problems));
    let returns = fields.get("returns").and_then(|it| it.line(problems));
    Some(Delegate { agent: agent?, contract, returns })
}
