//! The YAML handoff's `state/current.json`: where a run is, and its handoffs so far.

use baton_core::document::Node;
use baton_core::names::AgentId;
use baton_store::HandoffRow;

use crate::history::History;

/// Lists the newest handoffs, at most `most`.
pub(super) fn state(history: &History, most: usize) -> Node {
    let run = &history.row.run;
    let agent = run.current_agent().map(AgentId::as_str);
    let phase = run.phase(&history.workflow);
    let n_left_out = history.handoffs.len().saturating_sub(most);
    let handoffs = history.handoffs[n_left_out..].iter().map(handoff).collect();
    let mut members = vec![
        ("run", Node::text(run.id.to_string())),
        ("story", Node::text(run.story.as_str())),
        ("workflow", Node::text(run.workflow.as_str())),
        ("status", Node::text(run.status.name())),
        ("currentAgent", agent.map_or(Node::Null, Node::text)),
        ("phase", Node::text(phase)),
        ("movedAt", Node::text(run.moved_at.to_string())),
        ("handoffs", Node::List(handoffs)),
    ];
    let agents: Vec<Node> = run.current_agents().map(|it| Node::text(it.as_str())).collect();
    if run.fork.is_some() {
        members.push(("currentAgents", Node::List(agents)));
    }
    if n_left_out > 0 {
        members.push(("handoffsLeftOut", Node::count(n_left_out as u64)));
    }
    Node::map(members)
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
