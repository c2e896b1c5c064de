//! How often work may enter a step: what the step says, else as often as the edges that can bring
//! work back to it allow.

use std::collections::{BTreeMap, BTreeSet};

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

pub(super) fn default_entries(workflow: &Workflow) -> BTreeMap<StepId, u32> {
    let ways = Ways::of(workflow);
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
    fn of(workflow: &'a Workflow) -> Self {
        let (mut declared, mut rejects) = (Vec::new(), Vec::new());
        rejects.extend(reject_of(workflow, None, &workflow.start));
        for step in &workflow.steps {
            for edge in &step.edges {
                declared.extend(along(step, edge));
                rejects.extend(reject_of(workflow, Some(step), edge));
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

fn along<'a>(step: &'a Step, edge: &'a Edge) -> Option<WayIn<'a>> {
    let Target::Step(to) = &edge.to else { return None };
    let ends = (Place::Step(step.id.clone()), Place::Step(to.clone()));
    let counted_on = if edge.is_back { (ends.1, ends.0) } else { ends };
    Some(WayIn { from: &step.id, to, counted_on })
}

/// Where the receiver of an edge sends what it rejects; `sender` is None at the start, to which
/// nothing goes back as work.
fn reject_of<'a>(
    workflow: &'a Workflow,
    sender: Option<&'a Step>,
    edge: &'a Edge,
) -> Option<WayIn<'a>> {
    let Target::Step(receiver) = &edge.to else { return None };
    let to = match &workflow.step(receiver)?.reject {
        RejectRule::ToSender => &sender?.id,
        RejectRule::To(step) => step,
        RejectRule::Never => return None,
    };
    let from = sender.map_or(Place::Orchestrator, |it| Place::Step(it.id.clone()));
    let counted_on = (from, Place::Step(receiver.clone()));
    Some(WayIn { from: receiver, to, counted_on })
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
