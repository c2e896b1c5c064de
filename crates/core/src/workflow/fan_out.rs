//! A fan-out: work goes to several steps at once, and joins again. Which steps belong to which branch
//! follows from the edges; no step belongs to two branches, and no branch fans out again.

use std::collections::{BTreeMap, BTreeSet};

use super::{Edge, Place, RejectRule, Step, Target, Workflow};
use crate::gate::GateKind;
use crate::names::{AgentId, StepId};
use crate::problem::Problem;

/// Where the work of an edge goes at once, and where it joins.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FanOut {
    /// The first step of each branch, in the order of the file. The first one is also the edge's
    /// target.
    pub branches: Vec<StepId>,
    /// The step that goes on once enough branches have arrived there.
    pub join: StepId,
    pub need: JoinNeed,
}

/// How many branches have to arrive.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum JoinNeed {
    All,
    Any,
    AtLeast(u16),
}

impl FanOut {
    /// More would be hard to follow, for people and for their machines.
    pub const MOST_BRANCHES: usize = 16;

    /// How many branches have to arrive, at most as many as there are.
    pub fn n_needed(&self) -> usize {
        let n_branches = self.branches.len();
        match self.need {
            JoinNeed::All => n_branches,
            JoinNeed::Any => 1,
            JoinNeed::AtLeast(n) => usize::from(n).clamp(1, n_branches.max(1)),
        }
    }

    /// The number of a branch, from 1, by its first step.
    pub fn branch_no(&self, first: &StepId) -> Option<u16> {
        let index = self.branches.iter().position(|it| it == first)?;
        u16::try_from(index + 1).ok()
    }

    /// The first step of a branch, by its number.
    pub fn first_step(&self, branch: u16) -> Option<&StepId> {
        self.branches.get(usize::from(branch).checked_sub(1)?)
    }
}

impl JoinNeed {
    /// As a workflow file has it.
    pub fn word(self) -> String {
        match self {
            JoinNeed::All => "all".to_owned(),
            JoinNeed::Any => "any".to_owned(),
            JoinNeed::AtLeast(n) => n.to_string(),
        }
    }
}

impl Edge {
    /// Everywhere that the edge leads: one target, or the first step of each branch.
    pub fn targets(&self) -> Vec<Target> {
        match &self.fan_out {
            Some(fan_out) => fan_out.branches.iter().cloned().map(Target::Step).collect(),
            None => vec![self.to.clone()],
        }
    }

    /// `complete`, a step, or `a + b, all joined at c`.
    pub fn leads_in_words(&self) -> String {
        match (&self.fan_out, &self.to) {
            (Some(fan_out), _) => {
                let steps: Vec<&str> = fan_out.branches.iter().map(StepId::as_str).collect();
                let (steps, join) = (steps.join(" + "), &fan_out.join);
                match fan_out.need {
                    JoinNeed::All => format!("{steps}, all joined at {join}"),
                    JoinNeed::Any => format!("{steps}, any joined at {join}"),
                    JoinNeed::AtLeast(n) => format!("{steps}, {n} joined at {join}"),
                }
            }
            (None, Target::Step(step)) => step.to_string(),
            (None, Target::Complete) => "complete".to_owned(),
        }
    }

    pub fn leads_to(&self, place: &Place) -> bool {
        match (&self.fan_out, place) {
            (Some(fan_out), Place::Step(step)) => fan_out.branches.contains(step),
            (Some(_), Place::Orchestrator | Place::Human | Place::Delegate(_)) => false,
            (None, place) => Workflow::target_place(&self.to) == *place,
        }
    }
}

impl Workflow {
    /// The agents that an edge leads to, at all of its targets.
    pub fn agents_along(&self, edge: &Edge) -> Vec<AgentId> {
        let targets = edge.targets();
        targets.iter().flat_map(|it| self.agents_at(&Self::target_place(it))).collect()
    }

    /// The agents of the step at which the branches of an edge join.
    pub fn agents_at_join(&self, edge: &Edge) -> Vec<AgentId> {
        let join = edge.fan_out.as_ref().map(|it| Place::Step(it.join.clone()));
        join.map_or_else(Vec::new, |it| self.agents_at(&it))
    }

    /// The fan-outs, each once: several edges may have the same one.
    pub fn fan_outs(&self) -> Vec<&FanOut> {
        let mut all: Vec<&FanOut> = Vec::new();
        for fan_out in self.edges().filter_map(|(_, it)| it.fan_out.as_ref()) {
            if !all.contains(&fan_out) {
                all.push(fan_out);
            }
        }
        all
    }

    /// The fan-out and the number of the branch that a step belongs to.
    pub fn branch_of(&self, step: &StepId) -> Option<(&FanOut, u16)> {
        let (fan_out, branch) = self.graph().branch_of(step)?;
        Some((fan_out, branch))
    }
}

/// The steps of each branch of each fan-out.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct BranchMap {
    pub(super) fan_outs: Vec<FanOut>,
    /// By step: which of the fan-outs, and the number of the branch.
    pub(super) steps: BTreeMap<StepId, (usize, u16)>,
}

impl BranchMap {
    pub(super) fn of(workflow: &Workflow) -> Self {
        let fan_outs: Vec<FanOut> = workflow.fan_outs().into_iter().cloned().collect();
        let mut steps = BTreeMap::new();
        if fan_outs.is_empty() {
            return Self { fan_outs, steps };
        }
        let trunk = trunk(workflow);
        let firsts = || {
            let of = |(index, fan_out): (usize, &'_ FanOut)| {
                let firsts = fan_out.branches.clone().into_iter().zip(1..);
                firsts.map(move |(first, no)| (index, first, no)).collect::<Vec<_>>()
            };
            fan_outs.iter().enumerate().flat_map(of)
        };
        // The first step of a branch is in no other, whatever leads there.
        for (index, first, no) in firsts().filter(|(_, first, _)| !trunk.contains(first)) {
            steps.entry(first).or_insert((index, no));
        }
        for (index, first, no) in firsts() {
            let own: Vec<StepId> = {
                let is_other = |it: &StepId| steps.get(it).is_some_and(|it| *it != (index, no));
                let is_inside = |it: &StepId| {
                    *it != fan_outs[index].join && !trunk.contains(it) && !is_other(it)
                };
                steps_of_branch(workflow, &first, is_inside).into_iter().cloned().collect()
            };
            for step in own {
                steps.entry(step).or_insert((index, no));
            }
        }
        Self { fan_outs, steps }
    }

    pub(super) fn branch_of(&self, step: &StepId) -> Option<(&FanOut, u16)> {
        let (fan_out, branch) = self.steps.get(step)?;
        Some((&self.fan_outs[*fan_out], *branch))
    }
}

/// The steps that work comes to from the start where every fan-out is taken as a way to its join.
fn trunk(workflow: &Workflow) -> BTreeSet<&StepId> {
    let ways = |edge: &'_ Edge| match (&edge.fan_out, &edge.to) {
        (Some(fan_out), _) => workflow.step(&fan_out.join),
        (None, Target::Step(step)) => workflow.step(step),
        (None, Target::Complete) => None,
    };
    reached(workflow, ways(&workflow.start).into_iter().collect(), ways)
}

/// The steps of the branch that begins at `first`: all that work comes to before the join.
fn steps_of_branch<'a>(
    workflow: &'a Workflow,
    first: &StepId,
    is_inside: impl Fn(&StepId) -> bool,
) -> BTreeSet<&'a StepId> {
    let ways = |edge: &Edge| match (&edge.fan_out, &edge.to) {
        (None, Target::Step(step)) => workflow.step(step).filter(|it| is_inside(&it.id)),
        (Some(_), _) | (None, Target::Complete) => None,
    };
    let first = workflow.step(first).filter(|it| is_inside(&it.id));
    reached(workflow, first.into_iter().collect(), ways)
}

fn reached<'a>(
    workflow: &'a Workflow,
    roots: Vec<&'a Step>,
    way: impl Fn(&Edge) -> Option<&'a Step>,
) -> BTreeSet<&'a StepId> {
    let mut reached: BTreeSet<&StepId> = BTreeSet::new();
    let mut ahead = roots;
    while let Some(step) = ahead.pop() {
        if reached.insert(&step.id) {
            let step = workflow.step(&step.id).map_or(&[][..], |it| &it.edges);
            ahead.extend(step.iter().filter_map(&way));
        }
    }
    reached
}

impl Workflow {
    /// What is wrong with the fan-outs, where every edge leads to a step.
    pub(super) fn fan_out_problems(&self) -> Vec<Problem> {
        let mut problems = Vec::new();
        for (path, _, edge) in self.edge_paths() {
            if let Some(fan_out) = &edge.fan_out {
                self.shape_problems(&path, edge, fan_out, &mut problems);
            }
        }
        self.shared_step_problems(&mut problems);
        if problems.is_empty() {
            self.region_problems(&mut problems);
        }
        problems
    }

    /// Every edge with its path in the file and the step that it starts from.
    fn edge_paths<'a>(&'a self) -> impl Iterator<Item = (String, Option<&'a Step>, &'a Edge)> {
        let start = std::iter::once(("start".to_owned(), None, &self.start));
        let of_step = |step: &'a Step| {
            let path = move |index| format!("steps.{}.on.{}", step.id, step.edge_path(index));
            let edges = step.edges.iter().enumerate();
            edges.map(move |(index, edge)| (path(index), Some(step), edge))
        };
        start.chain(self.steps.iter().flat_map(of_step))
    }

    fn shape_problems(
        &self,
        path: &str,
        edge: &Edge,
        fan_out: &FanOut,
        problems: &mut Vec<Problem>,
    ) {
        let mut add = |key: &str, rule, message: String| {
            problems.push(Problem::new(format!("{path}.{key}"), rule, message));
        };
        let n_branches = fan_out.branches.len();
        if path == "start" {
            let message = "a run starts at one step; let that step fan out";
            add("to", "fan_out_at_start", message.to_owned());
        }
        if n_branches > FanOut::MOST_BRANCHES {
            let most = FanOut::MOST_BRANCHES;
            let message = format!("has {n_branches} branches; a fan-out has at most {most}");
            add("to", "too_many_branches", message);
        }
        let mut seen = BTreeSet::new();
        if let Some(twice) = fan_out.branches.iter().find(|it| !seen.insert(*it)) {
            add(
                "to",
                "twice",
                format!("names `{twice}` twice; each branch begins at its own step"),
            );
        }
        if fan_out.branches.contains(&fan_out.join) {
            let message =
                format!("`{}` is where the branches join; it cannot be one of them", fan_out.join);
            add("join", "join_in_branch", message);
        }
        if let JoinNeed::AtLeast(n) = fan_out.need
            && usize::from(n) > n_branches
        {
            let message = format!(
                "needs {n} of {n_branches} branches, which can never arrive; write at most \
                 {n_branches}, or `all`"
            );
            add("join.need", "join_needs_too_many", message);
        }
        if edge.is_back {
            let message = "a way back goes to one step; leave `back` out, or name one step";
            add("back", "fan_out_back", message.to_owned());
        }
        if edge.gate.as_ref().is_some_and(|it| it.kind == GateKind::Advisory) {
            let message = "an advisory gate stands beside one handoff, and a fan-out makes several; \
                           make it blocking, or move it into a branch";
            add("gate", "advisory_on_fan_out", message.to_owned());
        }
    }

    fn shared_step_problems(&self, problems: &mut Vec<Problem>) {
        let fan_outs = self.fan_outs();
        for (path, _, edge) in self.edge_paths() {
            let Some(own) = &edge.fan_out else { continue };
            let others = fan_outs.iter().take_while(|it| **it != own);
            let shared = |it: &&FanOut| own.branches.iter().find(|step| it.branches.contains(step));
            if let Some(step) = others.clone().find_map(shared) {
                let message = format!(
                    "`{step}` begins a branch of another fan-out too; either write the same \
                     branches, the same `join` and the same `need`, or give each its own steps"
                );
                problems.push(Problem::new(format!("{path}.to"), "branch_shared", message));
            }
        }
    }

    /// Each branch stays by itself until it joins.
    fn region_problems(&self, problems: &mut Vec<Problem>) {
        for (path, step, edge) in self.edge_paths() {
            let from = step.and_then(|it| self.branch_of(&it.id));
            if let (Some(_), Some(fan_out)) = (from, &edge.fan_out) {
                let message = format!(
                    "a branch does not fan out again; join at `{}` first, and fan out from there",
                    fan_out.join
                );
                problems.push(Problem::new(format!("{path}.to"), "nested_fan_out", message));
                continue;
            }
            if edge.fan_out.is_some() {
                continue;
            }
            self.way_problems(&path, from, edge, problems);
        }
        for step in &self.steps {
            self.reject_problems(step, problems);
        }
        self.unjoined_problems(problems);
    }

    fn way_problems(
        &self,
        path: &str,
        from: Option<(&FanOut, u16)>,
        edge: &Edge,
        problems: &mut Vec<Problem>,
    ) {
        let path = format!("{path}.to");
        let target = match &edge.to {
            Target::Step(step) => self.step(step).map(|it| &it.id),
            Target::Complete => None,
        };
        let to = target.and_then(|it| self.branch_of(it));
        match (from, to) {
            (Some((fan_out, _)), None) if target != Some(&fan_out.join) => {
                let join = &fan_out.join;
                let message = format!(
                    "leaves its branch, which would go on beside the others; send it to the join \
                     `{join}`, and on from there"
                );
                problems.push(Problem::new(path, "leaves_branch", message));
            }
            (Some((fan_out, _)), None) => {
                let is_advisory =
                    edge.gate.as_ref().is_some_and(|it| it.kind == GateKind::Advisory);
                if is_advisory {
                    let message = format!(
                        "at the join `{}` nothing goes on yet that a person could object to; make \
                         the gate blocking",
                        fan_out.join
                    );
                    let path = path.replace(".to", ".gate");
                    problems.push(Problem::new(path, "advisory_on_fan_out", message));
                }
            }
            (Some(from), Some(to)) if from != to => {
                let message = "leads into another branch; give each branch its own steps";
                problems.push(Problem::new(path, "branches_meet", message.to_owned()));
            }
            (None, Some((_, _))) => {
                let message = "leads into a branch of a fan-out from outside; lead to the step that \
                               fans out, or to the join";
                problems.push(Problem::new(path, "enters_branch", message.to_owned()));
            }
            (Some(_), Some(_)) | (None, None) => {}
        }
    }

    /// What a step rejects has to stay in its branch, too.
    fn reject_problems(&self, step: &Step, problems: &mut Vec<Problem>) {
        let RejectRule::To(target) = &step.reject else { return };
        if self.branch_of(&step.id) == self.branch_of(target) {
            return;
        }
        let message = format!(
            "`{target}` is not in the branch of this step; a reject stays in its branch: leave it \
             out, and the work goes back to its sender"
        );
        let path = format!("steps.{}.reject_to", step.id);
        problems.push(Problem::new(path, "leaves_branch", message));
    }

    fn unjoined_problems(&self, problems: &mut Vec<Problem>) {
        for (path, _, edge) in self.edge_paths() {
            let Some(fan_out) = &edge.fan_out else { continue };
            for first in &fan_out.branches {
                let Some(own) = self.branch_of(first) else {
                    let message = format!(
                        "`{first}` is also reached without this fan-out; a branch begins at a step \
                         of its own"
                    );
                    problems.push(Problem::new(format!("{path}.to"), "enters_branch", message));
                    continue;
                };
                let is_own = |it: &&Step| self.branch_of(&it.id) == Some(own);
                let joins = |it: &Edge| it.to == Target::Step(fan_out.join.clone());
                if !self.steps.iter().filter(is_own).any(|it| it.edges.iter().any(joins)) {
                    let message = format!(
                        "the branch that begins at `{first}` never comes to the join `{}`; give one \
                         of its steps an edge there",
                        fan_out.join
                    );
                    problems.push(Problem::new(
                        format!("{path}.to"),
                        "branch_never_joins",
                        message,
                    ));
                }
            }
        }
    }
}
