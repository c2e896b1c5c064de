//! Small graphs as a table, and random ones against the plain definition, by walking every path.

use proptest::prelude::*;

use super::Graph;
use crate::contract::Profile;
use crate::gate::{GateEdge, GateKind};
use crate::hash::Hash;
use crate::names::{AgentId, StepId, WorkflowName};
use crate::outcome::Outcome;
use crate::workflow::{
    BlockerRouting, Edge, EdgeGate, FanOut, JoinNeed, LazyGraph, Limits, Place, RejectRule, Step,
    StepLimits, Target, Workflow,
};
use jiff::SignedDuration;

/// `a>b` is an edge, `a!b` one with a blocking gate, `a?b` with an automatic one and `a~b` with an
/// advisory one; `.` is the start and `$` the end. The outcome counts up, so that two steps may
/// have several edges between them.
fn workflow(drawn: &str) -> Workflow {
    let mut start = None;
    let mut steps: Vec<Step> = Vec::new();
    for edge in drawn.split_whitespace() {
        let mut ends = edge.split(['>', '!', '?', '~']);
        let (from, to) = (ends.next().unwrap(), ends.next().unwrap());
        let kind = match edge.as_bytes()[from.len()] {
            b'!' => Some(GateKind::Blocking),
            b'?' => Some(GateKind::Automatic),
            b'~' => Some(GateKind::Advisory),
            _ => None,
        };
        for id in [from, to].into_iter().filter(|it| *it != "." && *it != "$") {
            if !steps.iter().any(|it| it.id.as_str() == id) {
                steps.push(step(id));
            }
        }
        let target = if to == "$" { Target::Complete } else { Target::Step(id(to)) };
        let mut edge = Edge { gate: kind.map(gate), ..Edge::plain(Outcome::Success, target) };
        match steps.iter_mut().find(|it| it.id.as_str() == from) {
            Some(step) => {
                edge.on = OUTCOMES[step.edges.len() % OUTCOMES.len()];
                step.edges.push(edge);
            }
            None => start = Some(edge),
        }
    }
    Workflow {
        name: WorkflowName::parse("drawn").unwrap(),
        title: String::new(),
        description: String::new(),
        hash: Hash::ZERO,
        profile: Some(Profile::Lenient),
        start: start.unwrap(),
        steps,
        contracts: Vec::new(),
        escalation: None,
        limits: Limits::default(),
        routing: BlockerRouting::default(),
        graph: LazyGraph::default(),
    }
}

const OUTCOMES: [Outcome; 4] =
    [Outcome::Success, Outcome::Failure, Outcome::Blocked, Outcome::NeedsReview];

fn gate(kind: GateKind) -> EdgeGate {
    EdgeGate::plain(kind, "A gate")
}

fn step(name: &str) -> Step {
    Step {
        id: id(name),
        title: name.to_owned(),
        agents: vec![AgentId::parse("worker").unwrap()],
        phase: name.to_owned(),
        reason: None,
        is_optional: false,
        work_within: SignedDuration::from_mins(30),
        expiry: None,
        reject: RejectRule::ToSender,
        delegates: Vec::new(),
        limits: StepLimits::default(),
        at_once: None,
        edges: Vec::new(),
    }
}

fn id(name: &str) -> StepId {
    StepId::parse(name).unwrap()
}

/// `a!b` for the gate from `a` to `b`.
fn drawn(gates: &[&GateEdge]) -> String {
    let place = |it: &Place, orchestrator| match it {
        Place::Step(step) => step.to_string(),
        Place::Orchestrator | Place::Human | Place::Delegate(_) => orchestrator,
    };
    let gate = |it: &&GateEdge| {
        format!("{}!{}", place(&it.from, ".".to_owned()), place(&it.to, "$".to_owned()))
    };
    gates.iter().map(gate).collect::<Vec<_>>().join(" ")
}

/// The gates before each step, the end last, and the cycles.
#[track_caller]
fn check(edges: &str, behind: &[(&str, &str)], cycles: &[&str]) {
    let workflow = workflow(edges);
    let graph = workflow.graph();
    for (step, expected) in behind {
        let gates = match *step {
            "$" => graph.gates_before_end(),
            step => graph.gates_before(&id(step)),
        };
        assert_eq!(drawn(&gates), *expected, "{step} of {edges}");
    }
    let found: Vec<String> = (graph.cycles().iter())
        .map(|it| it.iter().map(StepId::as_str).collect::<Vec<_>>().join(" "))
        .collect();
    assert_eq!(found, cycles, "{edges}");
}

#[test]
fn a_step_is_behind_the_gates_that_every_path_to_it_crosses() {
    check(".>a a>b b>$", &[("a", ""), ("b", ""), ("$", "")], &[]);
    check(".>a a!b b>$", &[("a", ""), ("b", "a!b"), ("$", "a!b")], &[]);
    check(".>a a!b b?c c!$", &[("b", "a!b"), ("c", "a!b b!c"), ("$", "a!b b!c c!$")], &[]);
    // An advisory gate blocks nothing.
    check(".>a a~b b>$", &[("b", ""), ("$", "")], &[]);
    // A gate on the start blocks everything.
    check(".!a a>b b>$", &[("a", ".!a"), ("b", ".!a"), ("$", ".!a")], &[]);
    // A path around it, further down or by another edge between the same steps.
    check(".>a a!b a>c b>c c>$", &[("b", "a!b"), ("c", ""), ("$", "")], &[]);
    check(".>a a!b a>b b>$", &[("b", ""), ("$", "")], &[]);
    // Two parallel gates: each path crosses one, and no gate is on both.
    check(".>a a!b a!c b>d c>d d>$", &[("b", "a!b"), ("c", "a!c"), ("d", ""), ("$", "")], &[]);
    // A gate after the point where two paths meet.
    check(".>a a>b a>c b>d c>d d!e e>$", &[("d", ""), ("e", "d!e"), ("$", "d!e")], &[]);
}

#[test]
fn a_way_back_is_a_cycle_and_lets_nothing_past_a_gate() {
    check(".>a a!b b>a b>$", &[("a", ""), ("b", "a!b"), ("$", "a!b")], &["a b"]);
    check(".>a a>b b>c c>b c!d d>$", &[("c", ""), ("d", "c!d")], &["b c"]);
    check(".>a a>a a>$", &[], &["a"]);
    check(".>a a!a a>$", &[("a", ""), ("$", "")], &["a"]);
    check(".>a a>b b>a b>c c>d d>c d>$", &[], &["a b", "c d"]);
    check(".>a a>b b>c c>a c!d d>b d>$", &[("b", ""), ("d", "c!d"), ("$", "c!d")], &["a b c d"]);
}

/// The gates, of all, that work at a step must pass again.
#[track_caller]
fn check_lost(edges: &str, expected: &[(&str, &str)]) {
    let workflow = workflow(edges);
    let graph = workflow.graph();
    for (step, lost) in expected {
        let found = graph.lost_at(&id(step), graph.gates());
        assert_eq!(drawn(&found.iter().collect::<Vec<_>>()), *lost, "{step} of {edges}");
    }
}

#[test]
fn work_loses_a_gate_where_it_can_come_to_it_again() {
    // `c` and `d` lead back to `b`, but are behind the gate; `e` is not, and never reaches it.
    let edges = ".>a a>b b!c c>d d>b d>e a>e e>$";
    check_lost(edges, &[("a", "b!c"), ("b", "b!c"), ("c", ""), ("d", ""), ("e", "")]);
    check_lost(".>a a!b b?c c>a c>$", &[("a", "a!b b!c"), ("b", "b!c"), ("c", "")]);
    // Of two parallel gates, whichever was crossed, one is needed to be at `d`.
    check_lost(".>a a!b a!c b>d c>d d>a d>$", &[("a", "a!b a!c"), ("d", "a!b")]);
}

#[test]
fn gates_side_by_side_keep_work_from_where_they_lead() {
    let workflow = workflow(".>a a!b a!c b>d c>d d>e a?e e>$");
    let graph = workflow.graph();
    let [b, c, e] = graph.gates() else { panic!("{:?}", graph.gates()) };
    let missing = |step: &str, passed: &[&GateEdge]| {
        let passed: Vec<GateEdge> = passed.iter().copied().cloned().collect();
        drawn(&graph.missing(&id(step), &passed))
    };
    // No single gate is on every path to `d`, and no path to it is free of gates.
    assert_eq!(drawn(&graph.gates_before(&id("d"))), "");
    assert_eq!(missing("d", &[]), "a!b");
    assert_eq!(missing("d", &[c]), "");
    assert_eq!(missing("d", &[e]), "a!b");
    assert_eq!(missing("b", &[c]), "a!b");
    assert_eq!(missing("e", &[b]), "");
    assert_eq!(missing("a", &[]), "");
}

#[test]
fn a_step_is_always_before_what_cannot_be_reached_without_it() {
    let workflow = workflow(".>a a>b a>c b>d c>d d>a d>$");
    let graph = workflow.graph();
    let is_before = |a: &str, b: &str| graph.is_always_before(&id(a), &id(b));
    assert!(is_before("a", "b") && is_before("a", "d"));
    assert!(!is_before("b", "d") && !is_before("d", "a") && !is_before("a", "a"));
}

#[test]
fn a_chain_as_long_as_a_file_may_be_is_walked() {
    // A file may have 100 steps.
    let edges: Vec<String> = (0..300).map(|n| format!("s{n}>s{}", n + 1)).collect();
    let workflow = workflow(&format!(".>s0 {} s300!z z>$", edges.join(" ")));
    assert_eq!(drawn(&workflow.graph().gates_before_end()), "s300!z");
    assert_eq!(workflow.graph().cycles().len(), 0);
}

/// A graph over at most six steps, with edges of every kind.
fn any_graph() -> impl Strategy<Value = String> {
    let ends = (0..6_usize, 0..7_usize, prop::sample::select(vec!['>', '>', '!', '?', '~']));
    prop::collection::vec(ends, 1..14).prop_map(|edges| {
        let name = |n: usize| if n == 6 { "$".to_owned() } else { format!("s{n}") };
        let mut said = vec![".>s0".to_owned()];
        let mut n_from = [0; 6];
        for (from, to, kind) in edges {
            n_from[from] += 1;
            // There are no more outcomes, and two edges on one outcome are the same edge.
            if n_from[from] > OUTCOMES.len() {
                continue;
            }
            said.push(format!("s{from}{kind}{}", name(to)));
        }
        said.join(" ")
    })
}

/// Every simple path from the start, as the edges it takes.
fn simple_paths(workflow: &Workflow) -> Vec<Vec<(Place, Edge)>> {
    let mut paths = Vec::new();
    let mut open = vec![vec![(Place::Orchestrator, workflow.start.clone())]];
    while let Some(path) = open.pop() {
        let (_, last) = path.last().unwrap();
        if let Target::Step(at) = &last.to {
            for edge in &workflow.step(at).unwrap().edges {
                let is_new = path.iter().all(|(_, it)| it.to != edge.to);
                if is_new {
                    let mut longer = path.clone();
                    longer.push((Place::Step(at.clone()), edge.clone()));
                    open.push(longer);
                }
            }
        }
        paths.push(path);
    }
    paths
}

proptest! {
    #[test]
    fn dominance_is_that_every_path_crosses_the_gate(edges in any_graph()) {
        let workflow = workflow(&edges);
        let graph = Graph::of(&workflow);
        let paths = simple_paths(&workflow);
        let ends = workflow.steps.iter().map(|it| Target::Step(it.id.clone()));
        for end in ends.chain([Target::Complete]) {
            let there: Vec<_> = paths.iter().filter(|it| it.last().unwrap().1.to == end).collect();
            let found = match &end {
                Target::Step(step) => graph.gates_before(step),
                Target::Complete => graph.gates_before_end(),
            };
            for gate in graph.gates() {
                let crosses = |path: &&Vec<(Place, Edge)>| path.iter().any(|(from, edge)| {
                    let to = Workflow::target_place(&edge.to);
                    *from == gate.from && to == gate.to && edge.on == gate.on
                });
                let expected = !there.is_empty() && there.iter().all(crosses);
                prop_assert_eq!(found.contains(&gate), expected, "{:?} before {:?}", gate, end);
            }
        }
    }

    #[test]
    fn nothing_is_missing_where_a_path_crosses_passed_gates_alone(
        edges in any_graph(),
        which in prop::collection::vec(any::<bool>(), 14),
    ) {
        let workflow = workflow(&edges);
        let graph = workflow.graph();
        let gates = graph.gates().iter().zip(&which).filter(|(_, is)| **is);
        let passed: Vec<GateEdge> = gates.map(|(it, _)| it.clone()).collect();
        let paths = simple_paths(&workflow);
        for step in &workflow.steps {
            let gate_of = |from: &Place, edge: &Edge| GateEdge {
                from: from.clone(),
                to: Workflow::target_place(&edge.to),
                on: edge.on,
            };
            let n_unpassed = |path: &Vec<(Place, Edge)>| {
                let gates = path.iter().map(|(from, edge)| gate_of(from, edge));
                gates.filter(|it| graph.gates().contains(it) && !passed.contains(it)).count()
            };
            let there = Target::Step(step.id.clone());
            let ways = paths.iter().filter(|it| it.last().unwrap().1.to == there);
            let fewest = ways.map(n_unpassed).min();
            let missing = graph.missing(&step.id, &passed);
            prop_assert_eq!(missing.len(), fewest.unwrap_or_default(), "{}", step.id);
            // The gates that every path crosses are among them.
            for gate in graph.gates_before(&step.id) {
                prop_assert_eq!(missing.contains(&gate), !passed.contains(gate));
            }
            // A gate that is lost at a step is not needed to be there.
            let lost = graph.lost_at(&step.id, &passed);
            let kept: Vec<GateEdge> =
                passed.iter().filter(|it| !lost.contains(it)).cloned().collect();
            if missing.is_empty() {
                prop_assert!(graph.missing(&step.id, &kept).is_empty());
            }
        }
    }

    #[test]
    fn a_cycle_is_every_step_that_leads_back_to_itself(edges in any_graph()) {
        let workflow = workflow(&edges);
        let leads = |from: &StepId, to: &StepId| {
            let mut seen: Vec<StepId> = Vec::new();
            let mut ahead = vec![from.clone()];
            while let Some(at) = ahead.pop() {
                for edge in &workflow.step(&at).unwrap().edges {
                    if let Target::Step(next) = &edge.to && !seen.contains(next) {
                        seen.push(next.clone());
                        ahead.push(next.clone());
                    }
                }
            }
            seen.contains(to)
        };
        let cycles = workflow.graph().cycles();
        for a in &workflow.steps {
            for b in &workflow.steps {
                let is_together = cycles.iter().any(|it| it.contains(&a.id) && it.contains(&b.id));
                let expected = leads(&a.id, &b.id) && leads(&b.id, &a.id);
                prop_assert_eq!(is_together, expected, "{} and {}", a.id, b.id);
            }
        }
    }
}

/// The sets of parallel gates before a step, or before the end.
#[track_caller]
fn check_sets(edges: &str, step: &str, expected: &[&str]) {
    let workflow = workflow(edges);
    let graph = workflow.graph();
    let sets = match step {
        "$" => graph.gate_sets_before_end(),
        step => graph.gate_sets_before(&id(step)),
    };
    let sets: Vec<String> = sets.iter().map(|it| drawn(it)).collect();
    assert_eq!(sets, expected, "{step} of {edges}");
}

#[test]
fn of_gates_side_by_side_every_path_crosses_one() {
    check_sets(".>a a!b a!c b>d c>d d>$", "d", &["a!b a!c"]);
    check_sets(".>a a!b a!c b>d c>d d>$", "$", &["a!b a!c"]);
    check_sets(".>a a!b a!c b>d c>d d>$", "b", &[]);
    // One path without a gate is enough.
    check_sets(".>a a!b a>c b>d c>d d>$", "d", &[]);
    // Two sets in sequence; and a gate in common, which is in no set.
    check_sets(".>a a!b a!c b>d c>d d!e d!f e>g f>g g>$", "g", &["a!b a!c", "d!e d!f"]);
    check_sets(".>a a!b a!c b>d c>d d!e e>$", "e", &["a!b a!c"]);
    // A gate that leads elsewhere is not among them, and neither is an advisory one.
    check_sets(".>a a!b a!c a!x b>d c>d d>$", "d", &["a!b a!c"]);
    check_sets(".>a a!b a~c b>d c>d d>$", "d", &[]);
    // An unreachable step is behind nothing.
    check_sets(".>a a!$ x>y", "y", &[]);
}

proptest! {
    /// A step is closed while one whole set, or a gate that every path crosses, is missing; a step
    /// behind no gate is open.
    #[test]
    fn a_step_is_closed_while_no_gate_of_a_set_is_passed(edges in any_graph()) {
        let workflow = workflow(&edges);
        let graph = workflow.graph();
        for step in &workflow.steps {
            let (all, sets) = (graph.gates_before(&step.id), graph.gate_sets_before(&step.id));
            for set in &sets {
                let others: Vec<GateEdge> =
                    graph.gates().iter().filter(|it| !set.contains(it)).cloned().collect();
                prop_assert!(!graph.missing(&step.id, &others).is_empty(), "{}", step.id);
                prop_assert!(set.len() > 1 && set.iter().all(|it| !all.contains(it)));
            }
            let is_open = graph.missing(&step.id, &[]).is_empty();
            prop_assert_eq!(is_open, all.is_empty() && sets.is_empty(), "{}", step.id);
        }
    }
}

/// `f` fans out to `a`, `b` and `c`, each of which has a gate on its way to the join `j`.
fn fanned(need: JoinNeed) -> Workflow {
    let mut workflow = workflow(".>f f>a a!j b!j c>d d!j j>$");
    let branches = vec![id("a"), id("b"), id("c")];
    let fan_out = FanOut { branches, join: id("j"), need };
    let source = workflow.steps.iter_mut().find(|it| it.id == id("f")).unwrap();
    source.edges[0].fan_out = Some(fan_out);
    workflow.clone()
}

#[test]
fn before_a_join_are_the_gates_of_as_many_branches_as_have_to_arrive() {
    for (need, n_before, n_missing) in
        [(JoinNeed::All, 3, 3), (JoinNeed::AtLeast(2), 0, 2), (JoinNeed::Any, 0, 1)]
    {
        let workflow = fanned(need);
        let graph = workflow.graph();
        assert_eq!(graph.gates_before(&id("j")).len(), n_before, "{need:?}");
        assert_eq!(graph.gates_before_end().len(), n_before, "{need:?}");
        assert_eq!(graph.missing(&id("j"), &[]).len(), n_missing, "{need:?}");
        // Each branch passed makes it one less, until it is open.
        let mut passed = Vec::new();
        for gate in graph.gates().to_vec() {
            passed.push(gate);
            let missing = graph.missing(&id("j"), &passed).len();
            assert_eq!(missing, n_missing.saturating_sub(passed.len()), "{need:?}");
        }
        // A branch itself is behind none of them, and has its own to pass on its way to the join.
        for first in ["a", "b", "c"].map(id) {
            assert!(graph.gates_before(&first).is_empty(), "{need:?}");
            assert_eq!(graph.missing_to_join(&first, &[]).len(), 1, "{need:?}");
        }
        let is_all = need == JoinNeed::All;
        assert_eq!(graph.is_always_before(&id("a"), &id("j")), is_all, "{need:?}");
        assert!(graph.is_always_before(&id("f"), &id("j")), "{need:?}");
        assert!(!graph.is_always_before(&id("j"), &id("j")), "{need:?}");
        assert!(graph.is_always_before(&id("c"), &id("d")), "{need:?}");
    }
}

#[test]
fn parallel_gates_of_branches_of_which_one_arrives_are_a_set() {
    let workflow = fanned(JoinNeed::Any);
    let sets = workflow.graph().gate_sets_before(&id("j"));
    assert_eq!(sets.iter().map(Vec::len).collect::<Vec<_>>(), [3]);
}

#[test]
fn a_branch_has_its_steps_and_no_others() {
    let workflow = fanned(JoinNeed::All);
    let branch = |step: &str| workflow.branch_of(&id(step)).map(|(_, no)| no);
    let branches = ["f", "a", "b", "c", "d", "j"].map(branch);
    assert_eq!(branches, [None, Some(1), Some(2), Some(3), Some(3), None]);
}
