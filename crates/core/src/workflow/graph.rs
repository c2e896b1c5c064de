//! The workflow as a graph: which gates are before a step, and which steps form a cycle.
//!
//! Nodes are the start, the steps, the end, and one node for each edge that has a blocking or an
//! automatic gate, or checks: both are called gates here. That node turns "every path crosses this edge" into plain dominance.
//!
//! Work passes the gates of several branches before it comes to their join. So a join is not reached
//! from its branches, but from copies of them that stand in a row (`fan.rs`): one path through the
//! row crosses as many branches as have to arrive. Where work can go at all is a second graph,
//! without copies and gates.

mod fan;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, VecDeque};
use std::sync::OnceLock;

use crate::gate::GateEdge;
use crate::names::StepId;
use crate::workflow::entries::default_entries;
use crate::workflow::fan_out::BranchMap;
use crate::workflow::{FanOut, Place, Target, Workflow};

/// Static analysis of a workflow.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Graph {
    steps: BTreeMap<StepId, usize>,
    end: usize,
    /// Blocking and automatic gates, and edges with checks, in the order of the file.
    gates: Vec<GateEdge>,
    /// The edges with checks that have no such gate.
    checked: Vec<GateEdge>,
    /// The gate that each node is, if any, and the node that it is a copy of, else itself.
    gate_of: Vec<Option<usize>>,
    copy_of: Vec<usize>,
    successors: Vec<Vec<usize>>,
    /// Where work can go, without gates and copies.
    ways: Vec<Vec<usize>>,
    branches: BranchMap,
    /// The end of each branch, by its first step.
    arrivals: BTreeMap<StepId, usize>,
    /// The immediate dominator: the nearest node that every path from the start to this one
    /// crosses. None for the start and for unreachable nodes.
    idoms: Vec<Option<usize>>,
    cycles: Vec<Vec<StepId>>,
    /// How often work may enter a step that does not say so itself.
    entries: BTreeMap<StepId, u32>,
}

const START: usize = 0;

impl Graph {
    pub(super) fn of(workflow: &Workflow) -> Self {
        let steps: BTreeMap<StepId, usize> =
            workflow.steps.iter().enumerate().map(|(n, it)| (it.id.clone(), n + 1)).collect();
        let end = workflow.steps.len() + 1;
        let branches = BranchMap::of(workflow);
        let mut builder = fan::GraphBuilder::new(&steps, &branches, end);
        for (from, edge) in workflow.edges() {
            builder.add(from, edge);
        }
        builder.add_joins();
        let fan::GraphBuilder {
            gates, checked, gate_of, copy_of, successors, ways, arrivals, ..
        } = builder;
        let idoms = immediate_dominators(&successors);
        let step = |node: usize| Some(workflow.steps.get(node.checked_sub(1)?)?.id.clone());
        let in_words = |nodes: Vec<usize>| nodes.into_iter().filter_map(step).collect();
        let cycles = cycles(&ways).into_iter().map(in_words).collect();
        let entries = default_entries(workflow, &branches);
        Self {
            steps,
            end,
            gates,
            checked,
            gate_of,
            copy_of,
            successors,
            ways,
            branches,
            arrivals,
            idoms,
            cycles,
            entries,
        }
    }

    /// The fan-out and the number of the branch that a step belongs to.
    pub(super) fn branch_of(&self, step: &StepId) -> Option<(&FanOut, u16)> {
        self.branches.branch_of(step)
    }

    /// Every blocking or automatic gate, and every edge with checks.
    pub fn gates(&self) -> &[GateEdge] {
        &self.gates
    }

    /// Of these, the edges that have checks and no such gate.
    pub fn checked_edges(&self) -> &[GateEdge] {
        &self.checked
    }

    pub fn has_gates(&self) -> bool {
        !self.gates.is_empty()
    }

    /// The gates that a step is behind, in path order: every path from the start to the step
    /// crosses each of them.
    pub fn gates_before(&self, step: &StepId) -> Vec<&GateEdge> {
        self.steps.get(step).map_or_else(Vec::new, |it| self.gates_before_node(*it))
    }

    /// The gates that every run crosses before it is complete.
    pub fn gates_before_end(&self) -> Vec<&GateEdge> {
        self.gates_before_node(self.end)
    }

    /// Parallel gates before a step: every path to it crosses one of each set. Gates that every
    /// path crosses are in [`Graph::gates_before`].
    pub fn gate_sets_before(&self, step: &StepId) -> Vec<Vec<&GateEdge>> {
        self.steps.get(step).map_or_else(Vec::new, |it| self.gate_sets_before_node(*it))
    }

    /// As [`Graph::gate_sets_before`], for the end of the run.
    pub fn gate_sets_before_end(&self) -> Vec<Vec<&GateEdge>> {
        self.gate_sets_before_node(self.end)
    }

    /// The gates that work has yet to pass to reach a step: those on the path that crosses the
    /// fewest such gates, in path order.
    pub fn missing(&self, step: &StepId, passed: &[GateEdge]) -> Vec<&GateEdge> {
        self.steps.get(step).map_or_else(Vec::new, |it| self.missing_at(*it, passed))
    }

    /// As [`Graph::missing`], for the join of the branch that begins at `first`, of the gates that
    /// the work of this branch has to pass.
    pub(crate) fn missing_to_join(&self, first: &StepId, passed: &[GateEdge]) -> Vec<&GateEdge> {
        self.arrivals.get(first).map_or_else(Vec::new, |it| self.missing_at(*it, passed))
    }

    /// As [`Graph::missing`], for the end of the run.
    pub fn missing_at_end(&self, passed: &[GateEdge]) -> Vec<&GateEdge> {
        self.missing_at(self.end, passed)
    }

    /// Of the gates that work has passed, those that it must pass again once it is at `step`: the
    /// gate is reachable from there, and was not needed to get there.
    pub fn lost_at(&self, step: &StepId, passed: &[GateEdge]) -> Vec<GateEdge> {
        let Some(node) = self.steps.get(step).copied() else { return Vec::new() };
        let mut kept = passed.to_vec();
        let mut lost = Vec::new();
        for gate in passed {
            let Place::Step(source) = &gate.from else { continue };
            let Some(source) = self.steps.get(source).copied() else { continue };
            let others: Vec<GateEdge> = kept.iter().filter(|it| *it != gate).cloned().collect();
            // One after the other: of two parallel gates, one is needed.
            if leads(&self.ways, node, source) && self.missing_at(node, &others).is_empty() {
                kept = others;
                lost.push(gate.clone());
            }
        }
        lost
    }

    /// Whether every path from the start to `step` crosses `earlier`, which is another step.
    pub fn is_always_before(&self, earlier: &StepId, step: &StepId) -> bool {
        let (Some(earlier), Some(step)) = (self.steps.get(earlier), self.steps.get(step)) else {
            return false;
        };
        self.dominators(*step).any(|it| self.copy_of[it] == *earlier)
    }

    /// The cycles: one list for each set of steps that can all reach each other, in the order of
    /// the file.
    pub fn cycles(&self) -> &[Vec<StepId>] {
        &self.cycles
    }

    /// How often work may enter a step that does not say so itself.
    pub(super) fn entries(&self, step: &StepId) -> u32 {
        self.entries.get(step).copied().unwrap_or(1)
    }

    /// Whether work can come back to `from` once it has gone to `target`.
    pub fn is_way_round(&self, from: &Place, target: &Target) -> bool {
        let node = |it: &StepId| self.steps.get(it).copied();
        let Target::Step(target) = target else { return false };
        let (Some(from), Some(target)) = (from.as_step().and_then(node), node(target)) else {
            return false;
        };
        leads(&self.ways, target, from)
    }

    /// Whether work that is in a cycle can come to the end of the run.
    pub fn can_end(&self, cycle: &[StepId]) -> bool {
        let nodes = cycle.iter().filter_map(|it| self.steps.get(it));
        nodes.into_iter().any(|it| leads(&self.ways, *it, self.end))
    }

    fn gates_before_node(&self, node: usize) -> Vec<&GateEdge> {
        let mut gates: Vec<&GateEdge> =
            self.dominators(node).filter_map(|it| self.gate_at(it)).collect();
        gates.reverse();
        gates
    }

    /// Each set is all the gates at which a path to the node stops, once those of the sets before
    /// it are passed: nothing beyond the set is reachable without passing one of them.
    fn gate_sets_before_node(&self, node: usize) -> Vec<Vec<&GateEdge>> {
        let mut passed = self.gates_before_node(node);
        let mut sets = Vec::new();
        loop {
            let is_open = |it: usize| self.gate_at(it).is_none_or(|it| passed.contains(&it));
            let mut is_seen = vec![false; self.successors.len()];
            let mut stops = vec![false; self.successors.len()];
            let mut ahead = vec![START];
            while let Some(next) = ahead.pop() {
                if !is_open(next) {
                    stops[next] = leads(&self.successors, next, node);
                } else if !std::mem::replace(&mut is_seen[next], true) {
                    ahead.extend(&self.successors[next]);
                }
            }
            let stopped = (0..self.successors.len()).filter(|it| stops[*it]);
            let mut set: Vec<&GateEdge> = Vec::new();
            // A gate inside a branch has a node for each copy of the branch.
            for gate in stopped.filter_map(|it| self.gate_at(it)) {
                if !set.contains(&gate) {
                    set.push(gate);
                }
            }
            // An unreachable node has no gate before it.
            if is_seen[node] || set.is_empty() {
                return sets;
            }
            passed.extend(&set);
            sets.push(set);
        }
    }

    /// All but the node itself, the nearest first.
    fn dominators(&self, node: usize) -> impl Iterator<Item = usize> {
        std::iter::successors(self.idoms[node], |it| self.idoms[*it])
    }

    /// 0-1 breadth-first search: a gate that was not passed costs one, everything else nothing.
    fn missing_at(&self, to: usize, passed: &[GateEdge]) -> Vec<&GateEdge> {
        let mut came_from: Vec<Option<usize>> = vec![None; self.successors.len()];
        let mut is_done = vec![false; self.successors.len()];
        let mut ahead = VecDeque::from([(START, START)]);
        while let Some((from, node)) = ahead.pop_front() {
            if std::mem::replace(&mut is_done[node], true) {
                continue;
            }
            came_from[node] = Some(from);
            for next in &self.successors[node] {
                match self.gate_at(*next) {
                    Some(gate) if !passed.contains(gate) => ahead.push_back((node, *next)),
                    Some(_) | None => ahead.push_front((node, *next)),
                }
            }
        }
        let mut missing = Vec::new();
        let mut node = to;
        while let Some(from) = came_from[node].filter(|_| node != START) {
            missing.extend(self.gate_at(node).filter(|it| !passed.contains(it)));
            node = from;
        }
        missing.reverse();
        missing
    }

    fn gate_at(&self, node: usize) -> Option<&GateEdge> {
        self.gates.get(self.gate_of[node]?)
    }
}

fn leads(successors: &[Vec<usize>], from: usize, to: usize) -> bool {
    let mut is_seen = vec![false; successors.len()];
    let mut ahead = vec![from];
    while let Some(node) = ahead.pop() {
        if node == to {
            return true;
        }
        if !std::mem::replace(&mut is_seen[node], true) {
            ahead.extend(&successors[node]);
        }
    }
    false
}

/// A workflow's graph, computed on first use. It is derived from the rest of the workflow: so it is
/// ignored by equality, and a clone, which may be changed, computes its own.
#[derive(Debug, Default)]
pub struct LazyGraph(OnceLock<Graph>);

impl LazyGraph {
    pub(super) fn get(&self, workflow: &Workflow) -> &Graph {
        self.0.get_or_init(|| Graph::of(workflow))
    }
}

impl Clone for LazyGraph {
    fn clone(&self) -> Self {
        Self::default()
    }
}

impl PartialEq for LazyGraph {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Eq for LazyGraph {}

/// After Cooper, Harvey and Kennedy, "A Simple, Fast Dominance Algorithm".
fn immediate_dominators(successors: &[Vec<usize>]) -> Vec<Option<usize>> {
    let postorder = postorder(successors, [START]);
    let mut order_of = vec![None; successors.len()];
    for (order, node) in postorder.iter().enumerate() {
        order_of[*node] = Some(order);
    }
    let predecessors = reversed(successors);
    // By postorder number: nodes nearer to the start have greater ones.
    let mut idoms: Vec<Option<usize>> = vec![None; postorder.len()];
    let Some(root) = order_of[START] else { return vec![None; successors.len()] };
    idoms[root] = Some(root);
    let mut has_changed = true;
    while has_changed {
        has_changed = false;
        for order in (0..root).rev() {
            let known = predecessors[postorder[order]]
                .iter()
                .filter_map(|it| order_of[*it])
                .filter(|it| idoms[*it].is_some());
            let nearest = known.reduce(|a, b| nearest_common(&idoms, a, b));
            if idoms[order] != nearest {
                idoms[order] = nearest;
                has_changed = true;
            }
        }
    }
    let idom_of = |node: usize| {
        let order = order_of[node].filter(|it| *it != root)?;
        idoms[order].map(|it| postorder[it])
    };
    (0..successors.len()).map(idom_of).collect()
}

fn nearest_common(idoms: &[Option<usize>], mut a: usize, mut b: usize) -> usize {
    while a != b {
        let lower = if a < b { &mut a } else { &mut b };
        // Only nodes with a dominator are compared, and the root is its own.
        *lower = idoms[*lower].unwrap_or(idoms.len() - 1);
    }
    a
}

/// Strongly connected components of more than one node, or of one that leads to itself, after
/// Kosaraju. Each sorted, and all by their first node.
fn cycles(successors: &[Vec<usize>]) -> Vec<Vec<usize>> {
    let predecessors = reversed(successors);
    let mut is_seen = vec![false; successors.len()];
    let mut cycles = Vec::new();
    for root in postorder(successors, 0..successors.len()).into_iter().rev() {
        let mut component = Vec::new();
        let mut ahead = vec![root];
        while let Some(node) = ahead.pop() {
            if !std::mem::replace(&mut is_seen[node], true) {
                component.push(node);
                ahead.extend(&predecessors[node]);
            }
        }
        let leads_to_itself = component.iter().any(|it| successors[*it].contains(it));
        if component.len() > 1 || leads_to_itself {
            component.sort_unstable();
            cycles.push(component);
        }
    }
    cycles.sort();
    cycles
}

/// Iterative: a file may hold a very long chain.
fn postorder(successors: &[Vec<usize>], roots: impl IntoIterator<Item = usize>) -> Vec<usize> {
    let mut is_seen = vec![false; successors.len()];
    let mut postorder = Vec::with_capacity(successors.len());
    for root in roots {
        if std::mem::replace(&mut is_seen[root], true) {
            continue;
        }
        let mut path = vec![(root, 0)];
        while let Some((node, n_done)) = path.last_mut() {
            let next = successors[*node].get(*n_done).copied();
            *n_done += 1;
            match next {
                Some(next) if !std::mem::replace(&mut is_seen[next], true) => path.push((next, 0)),
                Some(_) => {}
                None => {
                    postorder.push(*node);
                    path.pop();
                }
            }
        }
    }
    postorder
}

fn reversed(successors: &[Vec<usize>]) -> Vec<Vec<usize>> {
    let mut predecessors = vec![Vec::new(); successors.len()];
    for (node, successors) in successors.iter().enumerate() {
        for successor in successors {
            predecessors[*successor].push(node);
        }
    }
    predecessors
}
