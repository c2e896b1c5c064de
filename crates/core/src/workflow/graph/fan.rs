//! How a workflow becomes a graph, and how a join stands in it: behind a row of copies of its
//! branches, so that a path to it crosses the gates of as many branches as have to arrive.

use std::collections::BTreeMap;

use super::START;
use crate::gate::GateEdge;
use crate::names::StepId;
use crate::workflow::fan_out::BranchMap;
use crate::workflow::{Edge, FanOut, Place, Target, Workflow};

pub(super) struct GraphBuilder<'a> {
    steps: &'a BTreeMap<StepId, usize>,
    branches: &'a BranchMap,
    end: usize,
    pub(super) gates: Vec<GateEdge>,
    /// Those that are checks alone.
    pub(super) checked: Vec<GateEdge>,
    pub(super) gate_of: Vec<Option<usize>>,
    pub(super) copy_of: Vec<usize>,
    pub(super) successors: Vec<Vec<usize>>,
    pub(super) ways: Vec<Vec<usize>>,
    /// The end of each branch, by its first step.
    pub(super) arrivals: BTreeMap<StepId, usize>,
    /// The nodes that fan out, with the fan-out's index.
    sources: Vec<(usize, usize)>,
    /// The edges inside branches, and to the joins: what is copied.
    inside: Vec<InnerEdge>,
}

/// An edge that starts in a branch.
struct InnerEdge {
    fan_out: usize,
    branch: u16,
    from: usize,
    /// None at the join.
    to: Option<usize>,
    gate: Option<usize>,
}

impl<'a> GraphBuilder<'a> {
    pub(super) fn new(
        steps: &'a BTreeMap<StepId, usize>,
        branches: &'a BranchMap,
        end: usize,
    ) -> Self {
        Self {
            steps,
            branches,
            end,
            gates: Vec::new(),
            checked: Vec::new(),
            gate_of: vec![None; end + 1],
            copy_of: (0..=end).collect(),
            successors: vec![Vec::new(); end + 1],
            ways: vec![Vec::new(); end + 1],
            arrivals: BTreeMap::new(),
            sources: Vec::new(),
            inside: Vec::new(),
        }
    }

    pub(super) fn add(&mut self, from: Place, edge: &Edge) {
        let source = match &from {
            Place::Step(id) => self.steps.get(id).copied(),
            Place::Orchestrator => Some(START),
            Place::Human | Place::Delegate(_) => None,
        };
        let node = |target: &Target| match target {
            Target::Step(id) => self.steps.get(id).copied(),
            Target::Complete => Some(self.end),
        };
        // An edge without a target is reported as a problem of the file, and is no path.
        let Some(source) = source else { return };
        let targets: Vec<usize> = edge.targets().iter().filter_map(node).collect();
        if targets.is_empty() {
            return;
        }
        self.ways[source].extend(&targets);
        let gate = edge.holds().then(|| {
            let to = Workflow::target_place(&edge.to);
            let gate = GateEdge { from: from.clone(), to, on: edge.on };
            if edge.stopping_gate().is_none() {
                self.checked.push(gate.clone());
            }
            self.gates.push(gate);
            self.gates.len() - 1
        });
        let own = from.as_step().and_then(|it| self.branches.steps.get(it)).copied();
        if let Some((fan_out, branch)) = own {
            let join = self.steps.get(&self.branches.fan_outs[fan_out].join).copied();
            for target in &targets {
                let is_join = Some(*target) == join;
                let to = Some(*target).filter(|_| !is_join);
                self.inside.push(InnerEdge { fan_out, branch, from: source, to, gate });
                let target = match is_join {
                    true => self.arrival(fan_out, branch),
                    false => *target,
                };
                self.link(source, gate, target);
            }
            return;
        }
        let source = self.through(source, gate);
        self.successors[source].extend(&targets);
        let index = |fan_out: &FanOut| self.branches.fan_outs.iter().position(|it| it == fan_out);
        if let Some(fan_out) = edge.fan_out.as_ref().and_then(index) {
            self.sources.push((source, fan_out));
        }
    }

    /// The end of a branch: nothing leads on from it, because the join goes on.
    fn arrival(&mut self, fan_out: usize, branch: u16) -> usize {
        let first = self.branches.fan_outs[fan_out].first_step(branch);
        let Some(first) = first.cloned() else { return self.node(None, None) };
        if let Some(node) = self.arrivals.get(&first) {
            return *node;
        }
        let node = self.node(None, None);
        self.arrivals.insert(first, node);
        node
    }

    /// The joins, once every edge is there.
    pub(super) fn add_joins(&mut self) {
        for (index, fan_out) in self.branches.fan_outs.iter().enumerate() {
            self.add_join(index, fan_out);
        }
    }

    /// A row of places between the branches: each by how many branches are behind it, and how many
    /// of those were taken. From each the path takes the next branch, or leaves it out where the
    /// rest is enough.
    fn add_join(&mut self, index: usize, fan_out: &FanOut) {
        let Some(join) = self.steps.get(&fan_out.join).copied() else { return };
        let (n_branches, n_needed) = (fan_out.branches.len(), fan_out.n_needed());
        let mut row: BTreeMap<(usize, usize), usize> = BTreeMap::new();
        let first = self.node(None, None);
        row.insert((0, 0), first);
        for (source, of) in self.sources.clone() {
            if of == index {
                self.successors[source].push(first);
            }
        }
        for done in 0..n_branches {
            for taken in 0..n_needed {
                let Some(here) = row.get(&(done, taken)).copied() else { continue };
                if taken + (n_branches - done - 1) >= n_needed {
                    let next = self.place(&mut row, (done + 1, taken));
                    self.successors[here].push(next);
                }
                let next = match taken + 1 == n_needed {
                    true => join,
                    false => self.place(&mut row, (done + 1, taken + 1)),
                };
                self.copy_branch(index, done, &fan_out.branches[done], here, next);
            }
        }
    }

    fn place(&mut self, row: &mut BTreeMap<(usize, usize), usize>, at: (usize, usize)) -> usize {
        if let Some(node) = row.get(&at) {
            return *node;
        }
        let node = self.node(None, None);
        row.insert(at, node);
        node
    }

    fn copy_branch(&mut self, fan_out: usize, done: usize, first: &StepId, from: usize, to: usize) {
        let Some(first) = self.steps.get(first).copied() else { return };
        let is_own = |it: &&InnerEdge| it.fan_out == fan_out && usize::from(it.branch) == done + 1;
        let edges: Vec<(usize, Option<usize>, Option<usize>)> =
            self.inside.iter().filter(is_own).map(|it| (it.from, it.to, it.gate)).collect();
        let mut copies: BTreeMap<usize, usize> = BTreeMap::new();
        let nodes = edges.iter().flat_map(|(from, to, _)| [Some(*from), *to]).flatten();
        for node in nodes.chain([first]) {
            copies.entry(node).or_insert_with(|| self.node(None, Some(node)));
        }
        self.successors[from].push(copies[&first]);
        for (source, target, gate) in edges {
            let target = target.map_or(to, |it| copies[&it]);
            self.link(copies[&source], gate, target);
        }
    }

    fn link(&mut self, source: usize, gate: Option<usize>, target: usize) {
        let source = self.through(source, gate);
        self.successors[source].push(target);
    }

    /// The node after the edge's gate, where it has one.
    fn through(&mut self, source: usize, gate: Option<usize>) -> usize {
        let Some(gate) = gate else { return source };
        let node = self.node(Some(gate), None);
        self.successors[source].push(node);
        node
    }

    fn node(&mut self, gate: Option<usize>, copy_of: Option<usize>) -> usize {
        let node = self.successors.len();
        self.successors.push(Vec::new());
        self.gate_of.push(gate);
        self.copy_of.push(copy_of.unwrap_or(node));
        node
    }
}
