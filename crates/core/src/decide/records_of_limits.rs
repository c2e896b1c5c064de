//! What is recorded where work would enter a step once too often, a part be one too many or a step
//! be blocked again, and what each answer does: a table, as in `records.rs`.

use expect_test::expect_file;

use super::fixture::*;
use super::records::{Case, draft_plan, finish, note, table, with_reason};
use crate::command::{Command, Create};
use crate::document::Node;
use crate::evidence::Verdict;
use crate::gate::{Answer, GateKind};
use crate::names::CheckName;
use crate::outcome::Outcome;
use crate::run::HandoffNo;
use crate::workflow::{Delegate, Edge, EdgeGate, StepLimits, Target, Workflow};

#[test]
fn every_limit_of_a_cycle_and_what_is_recorded() {
    let mut cases = entries();
    cases.extend(answers_to_entries());
    cases.extend(parts());
    cases.extend(blocks());
    cases.extend(ways_out());
    expect_file!["tables/records_of_limits.txt"].assert_eq(&table(cases));
}

/// A reviewer that sends what it does not like to a fixer, who may enter twice.
fn review_and_fix() -> Workflow {
    let contract = || Some("plan".to_owned());
    let fix = Edge { on: Outcome::Failure, contract: contract(), ..to("fix") };
    let end = Edge { to: Target::Complete, ..to("x") };
    let mut workflow = Workflow {
        start: to("review"),
        steps: vec![
            step("review", "reviewer", vec![end, fix]),
            step("fix", "implementer", vec![Edge { contract: contract(), ..to("review") }]),
        ],
        ..pipeline()
    };
    workflow.steps[0].limits = StepLimits { entries: Some(9), ..StepLimits::default() };
    workflow.steps[1].limits = StepLimits { entries: Some(2), ..StepLimits::default() };
    workflow
}

fn begun(workflow: Workflow) -> Tester {
    Tester::begun_in(workflow, &create("orchestrator", "reviewer", story())).unwrap()
}

fn fix_it(found: &Node) -> Create {
    let failed = create("reviewer", "implementer", found.clone());
    Create { outcome: Some(Outcome::Failure), ..failed }
}

/// A review that keeps the contract, and differs from the others.
fn review(at: &str) -> Node {
    let Node::Map(mut members) = findings(&[at]) else { unreachable!() };
    members.push(("plan".to_owned(), Node::text("mend it")));
    Node::Map(members)
}

/// The fixer has entered twice, and the reviewer has the work again.
fn reviewed_twice(workflow: Workflow) -> Tester {
    let mut tester = begun(workflow);
    for at in ["a.rs:1", "b.rs:2"] {
        tester.does(&Command::Create(fix_it(&review(at))));
        tester.hands("implementer", "reviewer", draft_plan(at));
    }
    tester
}

/// The fixer has the work, and the reviewer has been entered as often as it may.
fn fixed_too_often() -> Tester {
    let mut workflow = review_and_fix();
    workflow.steps[0].limits.entries = Some(2);
    workflow.steps[1].limits.entries = Some(9);
    let mut tester = begun(workflow);
    tester.does(&Command::Create(fix_it(&review("a.rs:1"))));
    tester.hands("implementer", "reviewer", draft_plan("fixed"));
    tester.does(&Command::Create(fix_it(&review("b.rs:2"))));
    tester
}

fn fixed() -> Command {
    with_reason("fixed again", create("implementer", "reviewer", draft_plan("fixed again")))
}

fn third_review() -> Command {
    with_reason("still not", fix_it(&review("c.rs:3")))
}

/// An automatic gate before the review: a check opens it when the review is full.
fn checked_too_late() -> Tester {
    let mut workflow = review_and_fix();
    workflow.steps[0].limits.entries = Some(1);
    workflow.steps[1].edges[0].gate = Some(EdgeGate {
        checks: vec![CheckName::parse("lint").unwrap()],
        ..EdgeGate::plain(GateKind::Automatic, "Before the review")
    });
    let mut tester = begun(workflow);
    tester.does(&Command::Create(fix_it(&review("a.rs:1"))));
    tester.hands("implementer", "reviewer", draft_plan("fixed"));
    tester
}

/// The fixer rejects what it should fix, and the reviewer has been entered as often as it may.
fn rejected_too_often() -> Tester {
    let mut workflow = review_and_fix();
    workflow.steps[0].limits.entries = Some(1);
    let mut tester = begun(workflow);
    tester.does(&Command::Create(fix_it(&review("a.rs:1"))));
    tester
}

/// As [`checked_too_late`], for a package that replaces one whose holder lost its lease.
fn checked_too_late_after_a_lost_lease() -> Tester {
    let mut tester = checked_too_late();
    tester.workflow.steps[0].limits.entries = Some(2);
    tester.does(&record(tester.run.n_handoffs, "lint", Verdict::Passed));
    let no = tester.run.n_handoffs;
    tester.does(&accept_with(no, 20));
    tester.does(&lose(no, 1));
    let better = create("implementer", "reviewer", draft_plan("fixed better"));
    tester.does(&Command::Create(Create { supersedes: Some(HandoffNo(no + 1)), ..better }));
    tester
}

fn entries() -> Vec<Case> {
    let mut same = begun(review_and_fix());
    same.does(&Command::Create(fix_it(&review("a.rs:1"))));
    same.hands("implementer", "reviewer", draft_plan("fixed"));
    let mut rejected = begun(review_and_fix());
    rejected.does(&Command::Create(fix_it(&review("a.rs:1"))));
    let checked = checked_too_late();
    let gate = checked.run.n_handoffs;
    let checked_lost = checked_too_late_after_a_lost_lease();
    let lost_gate = checked_lost.run.n_handoffs;
    vec![
        ("work goes on into a step once too often", fixed_too_often(), fixed()),
        (
            "work is sent for rework once too often",
            reviewed_twice(review_and_fix()),
            third_review(),
        ),
        (
            "a review finds the same through another step",
            same,
            Command::Create(fix_it(&review("a.rs:1"))),
        ),
        ("a reject enters its sender's step", rejected, reject(2, "it is right")),
        ("a reject enters its sender's step once too often", rejected_too_often(), reject(2, "no")),
        (
            "a check opens the way into a full step after a lost lease",
            checked_lost,
            record(lost_gate, "lint", Verdict::Passed),
        ),
        ("a check opens the way into a full step", checked, record(gate, "lint", Verdict::Passed)),
    ]
}

fn answers_to_entries() -> Vec<Case> {
    let onward = || {
        let mut tester = fixed_too_often();
        tester.does(&fixed());
        tester
    };
    let rework = || {
        let mut tester = reviewed_twice(review_and_fix());
        tester.does(&third_review());
        tester
    };
    let (no, again) = (onward().run.n_handoffs, rework().run.n_handoffs);
    let mut rejected = rejected_too_often();
    rejected.rejects(2, "no");
    let mut lost = checked_too_late_after_a_lost_lease();
    lost.does(&record(lost.run.n_handoffs, "lint", Verdict::Passed));
    let lost_gate = lost.run.n_handoffs;
    vec![
        ("let rejected work go back", rejected, answer_gate(3, Answer::Continue)),
        (
            "let the work go on into the step after a lost lease",
            lost,
            answer_gate(lost_gate, Answer::Continue),
        ),
        ("let the work go on into the step", onward(), answer_gate(no, Answer::Continue)),
        ("let another agent go on", onward(), answer_gate(no, Answer::HandTo(agent("helper")))),
        ("take work that went on as it is", onward(), says(no, Answer::Accept, "good enough")),
        ("let the work be done again", rework(), says(again, Answer::Continue, "once more")),
        ("take work that was sent back as it is", rework(), answer_gate(again, Answer::Accept)),
        ("end the cycle", rework(), answer_gate(again, Answer::Abort)),
    ]
}

fn parts() -> Vec<Case> {
    let mut workflow = review_and_fix();
    workflow.steps[0].delegates =
        vec![Delegate { agent: agent("helper"), contract: Some("plan".to_owned()), returns: None }];
    workflow.steps[0].limits.delegations = 1;
    let full = || {
        let mut tester = begun(workflow.clone());
        tester.accepts(1);
        tester.hands("reviewer", "helper", draft_plan("a part"));
        tester.hands("helper", "reviewer", note("done"));
        tester.accepts(3);
        tester
    };
    let another =
        || with_reason("one more", create("reviewer", "helper", draft_plan("another part")));
    let mut asked = full();
    asked.does(&another());
    let no = asked.run.n_handoffs;
    vec![
        ("a holder delegates one part too many", full(), another()),
        ("let the part be delegated", asked, answer_gate(no, Answer::Continue)),
    ]
}

fn blocks() -> Vec<Case> {
    let mut helped = review_and_fix();
    helped.steps[0].edges.push(Edge { on: Outcome::Blocked, ..to("fix") });
    let blocked = |no| finish(no, Outcome::Blocked, nothing(), "no access");
    let mut again = begun(helped.clone());
    again.accepts(1);
    again.does(&blocked(1));
    again.hands("implementer", "reviewer", draft_plan("access granted"));
    again.accepts(3);
    let mut alone = review_and_fix();
    alone.steps[0].limits.blocks = 0;
    let mut no_help = begun(alone.clone());
    no_help.accepts(1);
    let mut failing = helped.clone();
    failing.steps[0].edges.retain(|it| it.on != Outcome::Failure);
    failing.steps[0].limits.blocks = 0;
    failing.limits.retries = 0;
    let mut failed = begun(failing);
    failed.accepts(1);
    let mut first = begun(helped);
    first.accepts(1);
    vec![
        ("an agent is sent to clear a block", first, blocked(1)),
        ("a step is blocked again", again, blocked(3)),
        ("a step that has no help is blocked", no_help, blocked(1)),
        ("a step that has help fails", failed, finish(1, Outcome::Failure, nothing(), "crashed")),
    ]
}

fn ways_out() -> Vec<Case> {
    let mut two_ways = review_and_fix();
    two_ways.steps[0].edges.insert(0, to("fix"));
    let mut stuck = begun(two_ways);
    stuck.accepts(1);
    stuck.completes(1, Outcome::Blocked, nothing());
    let mut back = begun(review_and_fix());
    back.workflow.steps[0].edges[1].is_back = true;
    back.workflow.steps[1].limits.entries = Some(9);
    for at in ["a.rs:1", "b.rs:2", "c.rs:3"] {
        back.does(&Command::CleanUp { reason: None });
        back.does(&Command::Create(fix_it(&review(at))));
        back.hands("implementer", "reviewer", draft_plan(at));
    }
    back.does(&cancel(back.run.n_handoffs));
    assert_eq!(back.run.handoff(HandoffNo(7)), None);
    vec![
        ("accepted work leaves its cycle", stuck, answer_gate(2, Answer::Accept)),
        (
            "an agent takes up a loose baton and sends the work back once too often",
            back,
            Command::Create(fix_it(&review("d.rs:4"))),
        ),
    ]
}
