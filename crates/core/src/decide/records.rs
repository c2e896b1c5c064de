//! Every way in which a handoff comes about, and what its record says: a table. Read the diff when
//! it changes. Gates and their answers are in `records_of_gates.rs`.

use std::fmt::Write as _;

use expect_test::expect_file;

use super::event_lines::{line, push_events};
use super::fixture::*;
use crate::command::{Command, Complete, Create, StartAt, Way};
use crate::document::Node;
use crate::names::{Principal, StepId};
use crate::outcome::Outcome;
use crate::run::HandoffNo;
use crate::workflow::{Delegate, Edge, Workflow};

/// A run, and the command that makes the next handoff.
pub(super) type Case = (&'static str, Tester, Command);

#[test]
fn every_way_to_make_a_handoff_and_what_it_records() {
    let mut cases = handed_on();
    cases.extend(operated());
    cases.extend(taken_up());
    cases.extend(superseded());
    cases.extend(superseded_parts());
    cases.extend(sent_back());
    cases.extend(parts());
    cases.extend(leases());
    expect_file!["tables/records.txt"].assert_eq(&table(cases));
}

pub(super) fn table(cases: Vec<Case>) -> String {
    let mut table = String::new();
    for (name, mut tester, command) in cases {
        let decision = tester.does(&command);
        let _ = writeln!(table, "{name}");
        for event in &decision.events {
            line(&mut table, &tester, event);
        }
        push_events(&mut table, &decision);
    }
    table
}

/// The pipeline, with a contract wherever one may be: `plan` warns of missing `files_to_modify`.
pub(super) fn checked_pipeline() -> Workflow {
    let contract = || Some("plan".to_owned());
    let mut workflow = pipeline();
    let helper = agent("helper");
    workflow.steps[1].delegates =
        vec![Delegate { agent: helper, contract: contract(), returns: contract() }];
    let back = &mut workflow.steps[2].edges[1];
    *back = Edge { contract: contract(), ..back.clone() };
    workflow.escalation = contract();
    workflow
}

pub(super) fn begun(workflow: Workflow) -> Tester {
    Tester::begun_in(workflow, &create("orchestrator", "analyst", story())).unwrap()
}

/// Keeps the contract `plan`, with a warning.
pub(super) fn draft_plan(words: &str) -> Node {
    Node::map([("plan", Node::text(words))])
}

pub(super) fn note(words: &str) -> Node {
    Node::map([("note", Node::text(words))])
}

/// The analyst holds `HO-001`.
pub(super) fn analyzing() -> Tester {
    let mut tester = begun(checked_pipeline());
    tester.accepts(1);
    tester
}

/// The implementer holds `HO-002`.
pub(super) fn implementing() -> Tester {
    implementing_in(checked_pipeline())
}

pub(super) fn implementing_in(workflow: Workflow) -> Tester {
    let mut tester = begun(workflow);
    tester.accepts(1);
    tester.hands("analyst", "implementer", draft_plan("the plan"));
    tester.accepts(2);
    tester
}

/// The reviewer holds `HO-003`.
pub(super) fn reviewing() -> Tester {
    let mut tester = implementing();
    tester.hands("implementer", "reviewer", note("built"));
    tester.accepts(3);
    tester
}

/// The refactorer, who may skip, holds `HO-004`.
fn refactoring() -> Tester {
    let mut tester = reviewing();
    tester.hands("reviewer", "refactorer", note("reviewed"));
    tester.accepts(4);
    tester
}

/// The helper holds the implementer's part, `HO-003`.
pub(super) fn helping() -> Tester {
    let mut tester = implementing();
    tester.hands("implementer", "helper", draft_plan("a part"));
    tester.accepts(3);
    tester
}

pub(super) fn with_reason(words: &str, create: Create) -> Command {
    Command::Create(Create { reason: Some(reason(words)), ..create })
}

pub(super) fn finish(no: u32, outcome: Outcome, package: Node, words: &str) -> Command {
    let Command::Complete(done) = complete(no, outcome, package) else { unreachable!() };
    Command::Complete(Complete { reason: Some(reason(words)), ..done })
}

fn supersede(no: u32, create: Create) -> Command {
    Command::Create(Create { supersedes: Some(HandoffNo(no)), ..create })
}

fn handed_on() -> Vec<Case> {
    let to_implementer = create("analyst", "implementer", draft_plan("the plan"));
    let error = Node::map([("error", Node::text("no disk"))]);
    let skip = |package| finish(4, Outcome::Skipped, package, "nothing to do");
    let mut failing = analyzing();
    failing.workflow.steps[0].reason = Some(reason("A story needs a plan"));
    let mut returned = reviewing();
    returned.rejects(3, "the tests fail");
    returned.accepts(4);
    let mut lost = begun(checked_pipeline());
    lost.does(&accept_with(1, 20));
    lost.does(&lose(1, 1));
    lost.wait(1);
    lost.accepts(2);
    vec![
        ("an agent hands on", analyzing(), Command::Create(to_implementer.clone())),
        ("an agent says why", analyzing(), with_reason("it is ready", to_implementer)),
        (
            "an error goes to the orchestrator",
            reviewing(),
            with_reason("the disk is full", create("reviewer", "orchestrator", error)),
        ),
        ("a step is skipped", refactoring(), skip(nothing())),
        ("a step is skipped with a package", refactoring(), skip(note("no smells"))),
        (
            "a failed step is tried again",
            analyzing(),
            finish(1, Outcome::Failure, note("crashed"), "the tool crashed"),
        ),
        (
            "a failed step is tried again without a stated reason",
            failing,
            complete(1, Outcome::Failure, note("crashed")),
        ),
        (
            "a failed step is tried again with what was sent back to it",
            returned,
            complete(4, Outcome::Failure, note("crashed")),
        ),
        (
            "a failed step is tried again after a lost lease",
            lost,
            complete(2, Outcome::Failure, note("crashed")),
        ),
    ]
}

fn operated() -> Vec<Case> {
    let start = |package| {
        Command::StartAt(StartAt {
            step: StepId::parse("review").unwrap(),
            to: None,
            package: sent(package),
            reason: reason("it was built elsewhere"),
            by: Principal::parse("grace").unwrap(),
        })
    };
    let loose = || {
        let mut tester = reviewing();
        tester.does(&time_out(3));
        tester
    };
    let mut early = implementing();
    early.does(&time_out(2));
    let mut offered = reviewing();
    offered.hands("reviewer", "refactorer", note("reviewed"));
    vec![
        ("the operator goes back to a step", reviewing(), goto("implement")),
        ("the operator starts at a step that has had work", loose(), start(nothing())),
        ("the operator starts at a step that has had none", early, start(nothing())),
        ("the operator starts at a step with a package", loose(), start(note("from elsewhere"))),
        ("the operator skips a step", offered, skip()),
    ]
}

fn taken_up() -> Vec<Case> {
    let loose = |step: &str| {
        let mut tester = reviewing();
        if step == "refactor" {
            tester.completes(3, Outcome::Success, note("reviewed"));
            tester.accepts(4);
        }
        tester.does(&time_out(tester.run.n_handoffs));
        tester
    };
    let mut unaccepted = analyzing();
    unaccepted.hands("analyst", "implementer", draft_plan("the plan"));
    unaccepted.does(&cancel(2));
    let by_analyst = || create("analyst", "implementer", draft_plan("another plan"));
    let by_orchestrator = |package| create("orchestrator", "reviewer", package);
    let back = || create("reviewer", "implementer", draft_plan("see the issues"));
    let mut found = loose("review");
    found.hands("reviewer", "implementer", one_finding());
    found.accepts(4);
    found.hands("implementer", "reviewer", note("built again"));
    found.does(&cancel(5));
    let mut often = loose("review");
    for _ in 0..3 {
        often.does(&Command::Create(create("implementer", "reviewer", note("rebuilt"))));
        often.accepts(often.run.n_handoffs);
        often.does(&time_out(often.run.n_handoffs));
    }
    vec![
        (
            "an agent takes up a loose baton",
            unaccepted,
            with_reason("the plan has changed", by_analyst()),
        ),
        (
            "the orchestrator offers a step its work again",
            loose("review"),
            with_reason("once more", by_orchestrator(nothing())),
        ),
        (
            "the orchestrator offers a step other work",
            loose("review"),
            Command::Create(by_orchestrator(note("built by hand"))),
        ),
        (
            "an agent takes up a loose baton and sends the work back",
            loose("refactor"),
            with_reason("the tests fail", back()),
        ),
        (
            "an agent takes up a loose baton and sends the same findings back",
            found,
            Command::Create(create("reviewer", "implementer", one_finding())),
        ),
        (
            "an agent takes up work at an earlier step once too often",
            often,
            with_reason("it is better now", create("implementer", "reviewer", note("rebuilt"))),
        ),
    ]
}

/// A review that keeps the contract `plan`.
fn one_finding() -> Node {
    let Node::Map(mut members) = findings(&["a.rs:1"]) else { unreachable!() };
    members.push(("plan".to_owned(), Node::text("mend it")));
    Node::Map(members)
}

fn superseded() -> Vec<Case> {
    let pending = || {
        let mut tester = analyzing();
        tester.hands("analyst", "implementer", draft_plan("the plan"));
        tester
    };
    let approved = || {
        let mut tester = reviewing();
        tester.completes(3, Outcome::Success, note("reviewed"));
        tester
    };
    let mut rejected = reviewing();
    rejected.rejects(3, "the tests fail");
    let better = create("analyst", "implementer", draft_plan("a better plan"));
    let back = create("reviewer", "implementer", draft_plan("see the issues"));
    let mut two_ways = checked_pipeline();
    two_ways.steps[0].edges.push(Edge { contract: Some("plan".to_owned()), ..to("document") });
    let other_way = || {
        let mut tester = begun(two_ways.clone());
        tester.accepts(1);
        tester.hands("analyst", "implementer", draft_plan("the plan"));
        tester
    };
    let mut other_way_lost = other_way();
    other_way_lost.does(&accept_with(2, 20));
    other_way_lost.does(&lose(2, 1));
    let to_documenter = create("analyst", "documenter", draft_plan("a text"));
    let mut lost = pending();
    lost.does(&accept_with(2, 20));
    lost.does(&lose(2, 1));
    let mut reoffered = reviewing();
    reoffered.does(&time_out(3));
    reoffered.hands("orchestrator", "reviewer", nothing());
    let mut released = begun(checked_pipeline());
    released.accepts(1);
    released.does(&release(1));
    let released_no = released.run.n_handoffs;
    vec![
        (
            "the orchestrator replaces what its receiver has held and given back",
            released,
            supersede(released_no, create("orchestrator", "analyst", story())),
        ),
        (
            "the orchestrator replaces what it offered",
            reoffered,
            supersede(4, create("orchestrator", "reviewer", note("built by hand"))),
        ),
        (
            "a sender replaces its package",
            pending(),
            supersede(2, Create { reason: Some(reason("I forgot the files")), ..better.clone() }),
        ),
        ("a sender replaces its package after a lost lease", lost, supersede(3, better)),
        (
            "a sender replaces the receiver",
            other_way(),
            supersede(2, Create { reason: Some(reason("only a text")), ..to_documenter.clone() }),
        ),
        (
            "a sender replaces the receiver after a lost lease",
            other_way_lost,
            supersede(3, to_documenter),
        ),
        ("a sender changes its mind and sends the work back", approved(), supersede(4, back)),
        (
            "a sender replaces a returned package",
            rejected,
            supersede(4, create("reviewer", "implementer", draft_plan("see the issues"))),
        ),
    ]
}

fn superseded_parts() -> Vec<Case> {
    let mut part = implementing();
    part.hands("implementer", "helper", draft_plan("a part"));
    let mut part_back = helping();
    part_back.hands("helper", "implementer", draft_plan("the part"));
    let mut failed_part = helping();
    failed_part.completes(3, Outcome::Failure, note("no idea"));
    let mut asked_back = helping();
    asked_back.hands("helper", "implementer", draft_plan("the part"));
    asked_back.does(&clarify(4, "which part?"));
    asked_back.does(&reply(5, "the second"));
    vec![
        (
            "a caller replaces a part",
            part,
            supersede(3, create("implementer", "helper", draft_plan("a smaller part"))),
        ),
        (
            "a delegate replaces its result",
            part_back,
            supersede(4, create("helper", "implementer", draft_plan("the whole part"))),
        ),
        (
            "a delegate replaces a result that it was asked about",
            asked_back,
            supersede(4, create("helper", "implementer", draft_plan("the second part"))),
        ),
        (
            "a delegate replaces a failed result",
            failed_part,
            supersede(4, create("helper", "implementer", note("still no idea"))),
        ),
    ]
}

fn sent_back() -> Vec<Case> {
    let mut again = reviewing();
    again.does(&time_out(3));
    again.hands("orchestrator", "reviewer", nothing());
    vec![
        ("a receiver rejects", reviewing(), reject(3, "the tests fail")),
        ("a receiver rejects what the orchestrator offered", again, reject(4, "the tests fail")),
        (
            "a reviewer hands back along the back edge",
            reviewing(),
            with_reason("the tests fail", create("reviewer", "implementer", draft_plan("mend"))),
        ),
        (
            "a reviewer hands back and gives no reason",
            reviewing(),
            Command::Create(create("reviewer", "implementer", draft_plan("mend"))),
        ),
    ]
}

fn parts() -> Vec<Case> {
    let back = |outcome, package| finish(3, outcome, package, "as far as I could");
    let mut returned = helping();
    returned.hands("helper", "implementer", draft_plan("the part"));
    let mut asked = implementing();
    asked.hands("implementer", "helper", draft_plan("a part"));
    let nested = way(Way::Delegation, create("helper", "analyst", note("a smaller part")));
    vec![
        (
            "a holder delegates a part",
            implementing(),
            with_reason("it is faster", create("implementer", "helper", draft_plan("a part"))),
        ),
        ("a delegate delegates in turn", helping(), nested),
        ("a delegate gives its part back", helping(), back(Outcome::Success, draft_plan("done"))),
        (
            "a delegate gives its part back without a reason",
            helping(),
            complete(3, Outcome::Success, draft_plan("done")),
        ),
        ("a delegate fails", helping(), complete(3, Outcome::Failure, note("no idea"))),
        ("a delegate refuses", asked, reject(3, "not my field")),
        ("a caller refuses the result", returned, reject(4, "that is not all")),
        ("the operator times a part out", helping(), time_out(3)),
    ]
}

fn leases() -> Vec<Case> {
    let leased = || {
        let mut tester = begun(checked_pipeline());
        tester.does(&accept_with(1, 20));
        tester
    };
    let mut part = helping();
    part.does(&release(3));
    part.does(&accept_with(3, 20));
    let fence = part.run.current().unwrap().fence;
    let mut again = reviewing();
    again.does(&time_out(3));
    again.hands("orchestrator", "reviewer", nothing());
    again.does(&accept_with(4, 20));
    let ask = |n_lost: u32| {
        let mut tester = reviewing();
        tester.does(&clarify(3, "Which test?"));
        for no in 4..4 + n_lost {
            tester.does(&accept_with(no, 20));
            tester.does(&lose(no, 1));
        }
        tester.does(&accept_with(4 + n_lost, 20));
        tester
    };
    vec![
        ("a lease is lost", leased(), lose(1, 1)),
        ("the lease of a part is lost", part, lose(3, fence)),
        ("the lease of what the orchestrator offered is lost", again, lose(4, 1)),
        ("the lease of a question is lost", ask(0), lose(4, 1)),
        ("the last lease of a question is lost", ask(2), lose(6, 1)),
    ]
}
