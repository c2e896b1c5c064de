//! How often work may enter a step: what the step says, else as often as the edges that can bring
//! work back to it allow.

use std::collections::{BTreeMap, BTreeSet};

use super::fan_out::BranchMap;
use super::{Edge, Place, RejectRule, Step, Target, Workflow};
use crate::names::StepId;

impl Workflow {
    /// How often work may enter a step before a person is asked: once, and once more for each round
    /// of the edges that can bring work back to it, unless the step says otherwise.
    pub fn entries_of(&self, step: &StepId) -> u32 {
        let stated = self.step(step).and_then(|it| it.limits.entries);
        stated.unwrap_or_else(|| self.graph().entries(step))
    }
}

pub(super) fn default_entries(workflow: &Workflow, branches: &BranchMap) -> BTreeMap<StepId, u32> {
    let ways = Ways::of(workflow, branches);
    let entries = |step: &Step| {
        let rounds = ways.rounds_into(&step.id);
        let n_rounds = rounds.iter().map(|(from, to)| workflow.rounds_of(from, to));
        (step.id.clone(), n_rounds.fold(1, u32::saturating_add))
    };
    workflow.steps.iter().map(entries).collect()
}

/// An edge, by its ends.
type Ends = (Place, Place);

/// A move that brings work to a step.
struct WayIn<'a> {
    from: &'a StepId,
    to: &'a StepId,
    /// Where its rounds are counted.
    counted_on: Ends,
}

/// The moves of agents between steps: along edges, and back by rejects.
struct Ways<'a> {
    declared: Vec<WayIn<'a>>,
    rejects: Vec<WayIn<'a>>,
    /// The steps that work can come to from each step, along edges.
    by_edges: Reached<'a>,
    /// The same, with rejects.
    by_all: Reached<'a>,
}

type Reached<'a> = BTreeMap<&'a StepId, BTreeSet<&'a StepId>>;

impl<'a> Ways<'a> {
    fn of(workflow: &'a Workflow, branches: &BranchMap) -> Self {
        let (mut declared, mut rejects) = (Vec::new(), Vec::new());
        let by_id: BTreeMap<&StepId, &Step> =
            workflow.steps.iter().map(|it| (&it.id, it)).collect();
        if let Target::Step(first) = &workflow.start.to
            && let Some(first) = by_id.get(first)
        {
            rejects.extend(reject_of(workflow, branches, None, first));
        }
        for step in &workflow.steps {
            for edge in &step.edges {
                for to in edge.targets() {
                    let Target::Step(to) = to else { continue };
                    let Some(to) = by_id.get(&to) else { continue };
                    declared.push(along(step, edge, to));
                    rejects.extend(reject_of(workflow, branches, Some(step), to));
                }
            }
        }
        let by_edges = reached(workflow, declared.iter());
        let by_all = reached(workflow, declared.iter().chain(&rejects));
        Self { declared, rejects, by_edges, by_all }
    }

    /// The edges whose rounds let work come to `step` again. A back edge and the reject of what it
    /// answers are counted on one edge. A reject adds nothing where declared edges close the same
    /// cycle: their rounds are there for it.
    fn rounds_into(&self, step: &StepId) -> BTreeSet<Ends> {
        let leads = |reached: &Reached<'_>, from: &StepId, to: &StepId| {
            reached.get(from).is_some_and(|it| it.contains(to))
        };
        let declared = self.declared.iter().filter(|it| it.to == step);
        let comes_back = declared.filter(|it| leads(&self.by_all, step, it.from));
        let rejects = self.rejects.iter().filter(|it| it.to == step);
        let is_closed = |it: &&WayIn<'_>| {
            leads(&self.by_edges, step, it.from) && leads(&self.by_edges, it.from, step)
        };
        let only_rejects = rejects.filter(|it| !is_closed(it));
        comes_back.chain(only_rejects).map(|it| it.counted_on.clone()).collect()
    }
}

fn along<'a>(step: &'a Step, edge: &Edge, to: &'a Step) -> WayIn<'a> {
    let ends = (Place::Step(step.id.clone()), Place::Step(to.id.clone()));
    let counted_on = if edge.is_back { (ends.1, ends.0) } else { ends };
    WayIn { from: &step.id, to: &to.id, counted_on }
}

/// Where a receiver sends what it rejects; `sender` is None at the start, to which nothing goes
/// back as work. What several branches have brought goes back to the steps that fan out to them.
fn reject_of<'a>(
    workflow: &'a Workflow,
    branches: &BranchMap,
    sender: Option<&'a Step>,
    receiver: &'a Step,
) -> Vec<WayIn<'a>> {
    let way = |from: Place, to: &'a StepId| {
        let counted_on = (from, Place::Step(receiver.id.clone()));
        WayIn { from: &receiver.id, to, counted_on }
    };
    let place = |it: Option<&Step>| it.map_or(Place::Orchestrator, |it| Place::Step(it.id.clone()));
    match &receiver.reject {
        RejectRule::To(step) => vec![way(place(sender), step)],
        RejectRule::Never => Vec::new(),
        RejectRule::ToSender => {
            let Some(sender) = sender else { return Vec::new() };
            let joined = branches.branch_of(&sender.id).filter(|(it, _)| it.join == receiver.id);
            let Some((fan_out, _)) = joined else {
                return vec![way(place(Some(sender)), &sender.id)];
            };
            let fans_out =
                |it: &&Step| it.edges.iter().any(|it| it.fan_out.as_ref() == Some(fan_out));
            let sources = workflow.steps.iter().filter(fans_out);
            sources.map(|it| way(place(Some(it)), &it.id)).collect()
        }
    }
}

/// The steps that work can come to from each step, itself included.
fn reached<'a: 'b, 'b>(
    workflow: &'a Workflow,
    ways: impl Iterator<Item = &'b WayIn<'a>>,
) -> Reached<'a> {
    let mut next: Reached<'a> = BTreeMap::new();
    for way in ways {
        next.entry(way.from).or_default().insert(way.to);
    }
    let from_step = |step: &'a Step| {
        let mut reached = BTreeSet::from([&step.id]);
        let mut ahead = vec![&step.id];
        while let Some(from) = ahead.pop() {
            for to in next.get(from).into_iter().flatten() {
                if reached.insert(*to) {
                    ahead.push(*to);
                }
            }
        }
        (&step.id, reached)
    };
    workflow.steps.iter().map(from_step).collect()
}
