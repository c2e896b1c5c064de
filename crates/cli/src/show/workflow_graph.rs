//! What a workflow comes to as a graph: the gates before each step, and the cycles.

use baton_core::document::Node;
use baton_core::gate::GateEdge;
use baton_core::names::StepId;
use baton_core::workflow::{RejectRule, Workflow};

use super::table;

/// What stands below the sentence that the workflow is sound. Empty for a plain chain.
pub(crate) fn graph_page(workflow: &Workflow) -> String {
    let graph = workflow.graph();
    let mut page = String::new();
    if graph.has_gates() {
        let step_row = |id: &StepId| vec![id.to_string(), names(workflow, &graph.gates_before(id))];
        let mut rows: Vec<Vec<String>> = workflow.steps.iter().map(|it| step_row(&it.id)).collect();
        rows.push(vec!["complete".to_owned(), names(workflow, &graph.gates_before_end())]);
        page += &format!("\n\n{}", table(&["STEP", "BEHIND"], rows));
    }
    if !graph.cycles().is_empty() {
        let rows = graph.cycles().iter().map(|it| vec![ids(it).join(", ")]).collect();
        page += &format!("\n\n{}", table(&["CYCLE"], rows));
    }
    page
}

pub(crate) fn graph_json(workflow: &Workflow) -> [(&'static str, Node); 2] {
    let graph = workflow.graph();
    let texts = |items: Vec<&str>| Node::List(items.into_iter().map(Node::text).collect());
    let behind = workflow.steps.iter().map(|step| {
        let gates = graph.gates_before(&step.id);
        let names = gates.into_iter().map(|it| name(workflow, it)).collect();
        Node::map([("step", Node::text(step.id.as_str())), ("behind", texts(names))])
    });
    let cycles = graph.cycles().iter().map(|it| texts(ids(it)));
    [("steps", Node::List(behind.collect())), ("cycles", Node::List(cycles.collect()))]
}

/// Rejects that would lead past a gate: they are refused while the gate has not been passed.
pub(crate) fn refused_rejects(workflow: &Workflow) -> Vec<String> {
    let graph = workflow.graph();
    let note = |step: &StepId, to: &StepId| {
        let own = graph.gates_before(step);
        let more: Vec<&GateEdge> =
            graph.gates_before(to).into_iter().filter(|it| !own.contains(it)).collect();
        let gates = names(workflow, &more);
        (!more.is_empty()).then(|| {
            format!("`steps.{step}.reject_to`: `{to}` is behind {gates}; a reject is refused until that is passed")
        })
    };
    let of_step = |step: &baton_core::workflow::Step| match &step.reject {
        RejectRule::To(to) => note(&step.id, to),
        RejectRule::ToSender | RejectRule::Never => None,
    };
    workflow.steps.iter().filter_map(of_step).collect()
}

fn names(workflow: &Workflow, gates: &[&GateEdge]) -> String {
    gates.iter().map(|it| name(workflow, it)).collect::<Vec<_>>().join(", ")
}

fn name<'a>(workflow: &'a Workflow, gate: &GateEdge) -> &'a str {
    let edge = workflow.edge_between(&gate.from, &gate.to, gate.on);
    edge.and_then(|it| it.gate.as_ref()).map_or("", |it| it.name.as_str())
}

fn ids(steps: &[StepId]) -> Vec<&str> {
    steps.iter().map(StepId::as_str).collect()
}
