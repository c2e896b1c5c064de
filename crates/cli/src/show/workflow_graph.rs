//! A workflow as a graph: the gates before each step, and the cycles.

use baton_core::document::Node;
use baton_core::gate::GateEdge;
use baton_core::names::StepId;
use baton_core::workflow::{Edge, RejectRule, Workflow};

use super::table;

/// Printed below the sentence that the workflow is sound. Empty for a plain chain.
pub(crate) fn graph_page(workflow: &Workflow) -> String {
    let graph = workflow.graph();
    let mut page = String::new();
    if graph.has_gates() {
        let step_row = |id: &StepId| {
            let (all, sets) = (graph.gates_before(id), graph.gate_sets_before(id));
            vec![id.to_string(), behind(workflow, &all, &sets)]
        };
        let mut rows: Vec<Vec<String>> = workflow.steps.iter().map(|it| step_row(&it.id)).collect();
        let (all, sets) = (graph.gates_before_end(), graph.gate_sets_before_end());
        rows.push(vec!["complete".to_owned(), behind(workflow, &all, &sets)]);
        page += &format!("\n\n{}", table(&["STEP", "BEHIND"], rows));
    }
    if !graph.cycles().is_empty() {
        let row = |it: &Vec<StepId>| vec![ids(it).join(", "), ended_by(workflow, it)];
        let rows = graph.cycles().iter().map(row).collect();
        page += &format!("\n\n{}", table(&["CYCLE", "A PERSON IS ASKED WHEN"], rows));
    }
    page
}

pub(crate) fn graph_json(workflow: &Workflow) -> [(&'static str, Node); 2] {
    let graph = workflow.graph();
    let texts = |items: Vec<&str>| Node::List(items.into_iter().map(Node::text).collect());
    let behind = workflow.steps.iter().map(|step| {
        let named = |gates: Vec<&GateEdge>| {
            Node::List(gates.into_iter().map(|it| Node::text(name(workflow, it))).collect())
        };
        let mut members = vec![
            ("step", Node::text(step.id.as_str())),
            ("behind", named(graph.gates_before(&step.id))),
        ];
        let sets = graph.gate_sets_before(&step.id);
        if !sets.is_empty() {
            members.push(("behindOneOf", Node::List(sets.into_iter().map(named).collect())));
        }
        Node::map(members)
    });
    let limit = |step: &StepId| {
        let entries = Node::count(workflow.entries_of(step).into());
        Node::map([("step", Node::text(step.as_str())), ("entries", entries)])
    };
    let cycles = graph.cycles().iter().map(|it| {
        let limits = Node::List(it.iter().map(limit).collect());
        Node::map([("steps", texts(ids(it))), ("endedBy", limits)])
    });
    [("steps", Node::List(behind.collect())), ("cycles", Node::List(cycles.collect()))]
}

/// What ends a cycle, whatever its agents do.
fn ended_by(workflow: &Workflow, cycle: &[StepId]) -> String {
    let most = |step: &StepId| format!("{step} more than {}×", workflow.entries_of(step));
    let limits: Vec<String> = cycle.iter().map(most).collect();
    format!("it enters {}", limits.join(" or "))
}

/// Rejects that would bypass a gate: they are refused until the gate has been passed.
pub(crate) fn refused_rejects(workflow: &Workflow) -> Vec<String> {
    let graph = workflow.graph();
    let note = |step: &StepId, to: &StepId| {
        let (own, own_sets) = (graph.gates_before(step), graph.gate_sets_before(step));
        let mut more = graph.gates_before(to);
        more.retain(|it| !own.contains(it));
        // Of a set that the step itself is behind, or of which every way to it crosses one, one is
        // passed.
        let mut sets = graph.gate_sets_before(to);
        sets.retain(|set| !own_sets.contains(set) && !set.iter().any(|it| own.contains(it)));
        let gates = behind(workflow, &more, &sets);
        (!gates.is_empty()).then(|| {
            format!("`steps.{step}.reject_to`: `{to}` is behind {gates}; a reject is refused until that is passed")
        })
    };
    let of_step = |step: &baton_core::workflow::Step| match &step.reject {
        RejectRule::To(to) => note(&step.id, to),
        RejectRule::ToSender | RejectRule::Never => None,
    };
    workflow.steps.iter().filter_map(of_step).collect()
}

/// The gates that are on every path, and the sets of which every path crosses one.
fn behind(workflow: &Workflow, all: &[&GateEdge], sets: &[Vec<&GateEdge>]) -> String {
    let sets = sets.iter().map(|it| format!("one of ({})", names(workflow, it)));
    let all = all.iter().map(|it| name(workflow, it));
    all.chain(sets).collect::<Vec<_>>().join(", ")
}

fn names(workflow: &Workflow, gates: &[&GateEdge]) -> String {
    gates.iter().map(|it| name(workflow, it)).collect::<Vec<_>>().join(", ")
}

fn name(workflow: &Workflow, gate: &GateEdge) -> String {
    let edge = workflow.edge_between(&gate.from, &gate.to, gate.on);
    edge.and_then(Edge::hold_name).unwrap_or_default()
}

fn ids(steps: &[StepId]) -> Vec<&str> {
    steps.iter().map(StepId::as_str).collect()
}
