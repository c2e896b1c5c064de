//! Seed 004's `state/current.json`: where a run is, and the handoffs it has had.

use baton_core::document::Node;
use baton_core::names::AgentId;
use baton_store::HandoffRow;

use crate::history::History;

pub(super) fn state(history: &History) -> Node {
    let run = &history.row.run;
    let agent = run.current_agent().map(AgentId::as_str);
    let phase = run.phase(&history.workflow);
    Node::map([
        ("run", Node::text(run.id.to_string())),
        ("story", Node::text(run.story.as_str())),
        ("workflow", Node::text(run.workflow.as_str())),
        ("status", Node::text(run.status.name())),
        ("currentAgent", agent.map_or(Node::Null, Node::text)),
        ("phase", Node::text(phase)),
        ("movedAt", Node::text(run.moved_at.to_string())),
        ("handoffs", Node::List(history.handoffs.iter().map(handoff).collect())),
    ])
}

fn handoff(row: &HandoffRow) -> Node {
    Node::map([
        ("id", Node::Text(row.no.label())),
        ("timestamp", Node::Text(row.created_at.to_string())),
        ("from", Node::text(row.from.agent.as_str())),
        ("to", Node::text(row.to.agent.as_str())),
        ("status", Node::text(row.state.name())),
    ])
}
