//! The YAML handoff's project for the tests of the rules, at each of its steps.

use super::fixture::*;
use crate::document::Node;
use crate::gate::{Answer, GateKind};
use crate::names::{CheckName, WorkflowName};
use crate::outcome::Outcome;
use crate::run::State;
use crate::workflow::{Delegate, Edge, EdgeGate, Step, Target, Workflow};

/// The specification is done and waits at its gate: `HO-002`.
pub(super) fn at_the_gate() -> Tester {
    let mut tester = project();
    tester.accepts(1);
    tester.completes(1, Outcome::Success, summary("3 epics, 12 user stories"));
    tester
}

/// `HO-003` is held by architecture.
pub(super) fn at_architecture() -> Tester {
    let mut tester = at_the_gate();
    tester.answers(2, Answer::Approve);
    tester.accepts(3);
    tester
}

pub(super) fn at_implementation() -> Tester {
    let mut tester = at_architecture();
    tester.completes(3, Outcome::Success, summary("API designed"));
    tester.accepts(5);
    tester.completes(5, Outcome::Success, summary("12 days"));
    tester.answers(6, Answer::Approve);
    tester.accepts(7);
    assert_eq!(tester.run.current().unwrap().state, State::Accepted);
    tester
}

pub(super) fn project() -> Tester {
    let first = create("orchestrator", "specification", story());
    Tester::begun_in(gated_project(), &first).unwrap()
}

/// The YAML handoff's workflow, as small as it can be.
pub(super) fn gated_project() -> Workflow {
    let gate = |kind, checks: &[&str]| {
        Some(EdgeGate {
            checks: checks.iter().map(|it| CheckName::parse(it).unwrap()).collect(),
            ..EdgeGate::plain(kind, "A gate")
        })
    };
    let gated = |edge: Edge, kind, checks: &[&str]| Edge { gate: gate(kind, checks), ..edge };
    let blocking = |to_step| gated(to(to_step), GateKind::Blocking, &[]);
    let specified = Edge { contract: Some("specs".to_owned()), ..blocking("architecture") };
    let specialist = Delegate { agent: agent("security-check"), contract: None, returns: None };
    let advised = gated(to("estimation"), GateKind::Advisory, &[]);
    let end = Edge { to: Target::Complete, ..to("x") };
    let mut workflow = pipeline();
    workflow.name = WorkflowName::parse("gated-project").unwrap();
    workflow.start = to("specification");
    workflow.steps = vec![
        step("specification", "specification", vec![specified]),
        Step { delegates: vec![specialist], ..step("architecture", "architecture", vec![advised]) },
        step("estimation", "estimation", vec![blocking("implementation")]),
        step(
            "implementation",
            "implementation",
            vec![gated(end, GateKind::Automatic, &["lint", "tests"])],
        ),
    ];
    let mut specs = workflow.contracts.remove(0);
    specs.name = "specs".to_owned();
    specs.must[0].field = "context.summary".to_owned();
    workflow.contracts = vec![specs];
    assert_eq!(workflow.problems(), []);
    workflow
}

pub(super) fn summary(words: &str) -> Node {
    Node::map([("context", Node::map([("summary", Node::text(words))]))])
}

pub(super) fn task(deliverable: &str) -> Node {
    Node::map([("expectations", Node::map([("deliverable", Node::text(deliverable))]))])
}
