//! Every gate and every answer, and what is recorded: a table, as in `records.rs`.

use expect_test::expect_file;
use jiff::SignedDuration;

use super::fixture::*;
use super::records::*;
use super::states::gate_on;
use crate::command::{Command, Create, GateAnswer, Release, Way};
use crate::document::Node;
use crate::evidence::Verdict;
use crate::gate::{Answer, GateKind};
use crate::outcome::Outcome;
use crate::run::HandoffNo;
use crate::workflow::{Edge, Expiry, OnExpire, Workflow};

#[test]
fn every_gate_and_what_it_records() {
    let mut cases = stuck();
    cases.extend(asked());
    cases.extend(on_edges());
    cases.extend(past_gates());
    cases.extend(circles());
    expect_file!["tables/records_of_gates.txt"].assert_eq(&table(cases));
}

#[test]
fn every_answer_and_what_it_records() {
    let mut cases = answers_to_the_stuck();
    cases.extend(answers_on_edges());
    cases.extend(answers_in_frames());
    expect_file!["tables/records_of_answers.txt"].assert_eq(&table(cases));
}

/// A gate between the implementer and the reviewer, with a contract.
fn gated(kind: GateKind) -> Workflow {
    let mut tester = begun(checked_pipeline());
    gate_on(&mut tester, kind);
    let edge = &mut tester.workflow.steps[1].edges[0];
    *edge = Edge { contract: Some("plan".to_owned()), ..edge.clone() };
    Workflow { graph: Default::default(), ..tester.workflow }
}

fn built() -> Node {
    draft_plan("built")
}

/// The implementer's work waits at the gate, `HO-003`.
fn at_gate(kind: GateKind) -> Tester {
    let mut tester = implementing_in(gated(kind));
    tester.hands("implementer", "reviewer", built());
    tester
}

/// The person has approved: `HO-004` is offered to the reviewer.
fn approved() -> Tester {
    let mut tester = at_gate(GateKind::Blocking);
    tester.answers(3, Answer::Approve);
    tester
}

fn failed_twice() -> Tester {
    let mut tester = analyzing();
    for no in 1..=2 {
        tester.completes(no, Outcome::Failure, note("crashed"));
        tester.accepts(no + 1);
    }
    tester
}

fn blockers(words: &[&str]) -> Node {
    let words = words.iter().map(|it| Node::text(*it)).collect();
    Node::map([("blockers", Node::List(words))])
}

/// Two holders of the newest handoff have lost their leases, the third has one.
fn dying(mut tester: Tester) -> Tester {
    for _ in 0..2 {
        let no = tester.run.n_handoffs;
        tester.does(&accept_with(no, 20));
        tester.does(&lose(no, 1));
        tester.wait(1);
    }
    tester.does(&accept_with(tester.run.n_handoffs, 20));
    tester
}

fn release_by(no: u32, fence: u32) -> Command {
    let Command::Release(it) = release(no) else { unreachable!() };
    Command::Release(Release { fence: Some(fence), ..it })
}

fn offered_part() -> Tester {
    let mut tester = implementing();
    tester.hands("implementer", "helper", draft_plan("a part"));
    tester
}

fn stuck() -> Vec<Case> {
    let mut late = begun(checked_pipeline());
    let after = SignedDuration::from_mins(20);
    late.workflow.limits.expiry = Some(Expiry { after, then: OnExpire::Ask });
    late.wait(20);
    let mut lost = dying(begun(checked_pipeline()));
    lost.does(&release_by(3, 1));
    lost.accepts(3);
    let two = blockers(&["no access", "no budget"]);
    let clarification = Outcome::NeedsClarification;
    vec![
        (
            "the last attempt fails",
            failed_twice(),
            finish(3, Outcome::Failure, note("crashed"), "the tool crashed"),
        ),
        (
            "the last attempt fails after a lost lease",
            lost,
            complete(3, Outcome::Failure, note("crashed")),
        ),
        ("a step is blocked", reviewing(), complete(3, Outcome::Blocked, two)),
        (
            "a step is blocked and only says why",
            reviewing(),
            finish(3, Outcome::Blocked, nothing(), "no access"),
        ),
        (
            "a step is blocked and says nothing",
            reviewing(),
            complete(3, Outcome::Blocked, nothing()),
        ),
        (
            "only a person can clarify",
            reviewing(),
            finish(3, clarification, note("A or B"), "which login?"),
        ),
        ("the last lease is lost", dying(begun(checked_pipeline())), lose(3, 1)),
        ("a handoff expires", late, Command::Expire { handoff: HandoffNo(1) }),
    ]
}

fn asked() -> Vec<Case> {
    let mut curious = reviewing();
    for _ in 0..3 {
        curious.does(&clarify(3, "Which test?"));
        curious.does(&reply(3, "All of them"));
    }
    let escalation = create("implementer", "human", draft_plan("A or B?"));
    vec![
        ("a receiver asks its sender", reviewing(), clarify(3, "Which test?")),
        ("a receiver asks once too often", curious, clarify(3, "But which?")),
        ("a receiver asks what the orchestrator meant", analyzing(), clarify(1, "Which story?")),
        (
            "a holder asks a person",
            implementing(),
            with_reason("I cannot choose", way_to(Way::Escalation, escalation)),
        ),
    ]
}

fn way_to(way: Way, create: Create) -> Create {
    Create { way: Some(way), ..create }
}

fn on_edges() -> Vec<Case> {
    let review = |kind| {
        let review = finish(2, Outcome::NeedsReview, built(), "please look");
        (implementing_in(gated(kind)), review)
    };
    let (declared, declared_review) = review(GateKind::Blocking);
    let (advised, advised_review) = review(GateKind::Advisory);
    let hand = || with_reason("it is ready", create("implementer", "reviewer", built()));
    let mut failed = implementing_in(gated(GateKind::Automatic));
    failed.does(&record(2, "lint", Verdict::Failed));
    let mut passed = implementing_in(gated(GateKind::Automatic));
    passed.does(&record(2, "lint", Verdict::Passed));
    vec![
        (
            "an agent asks for a review",
            analyzing(),
            finish(1, Outcome::NeedsReview, draft_plan("the plan"), "please look"),
        ),
        ("an agent asks for a review at a gate", declared, declared_review),
        ("an agent asks for a review at an advisory gate", advised, advised_review),
        ("work comes to a blocking gate", implementing_in(gated(GateKind::Blocking)), hand()),
        ("work comes to an advisory gate", implementing_in(gated(GateKind::Advisory)), hand()),
        ("work comes to an automatic gate, and a check has failed", failed, hand()),
        ("work comes to an automatic gate, and its checks have passed", passed, hand()),
    ]
}

fn past_gates() -> Vec<Case> {
    let better = || {
        let better = create("implementer", "reviewer", draft_plan("built better"));
        Command::Create(Create { supersedes: Some(HandoffNo(4)), ..better })
    };
    let mut lost = approved();
    lost.does(&accept_with(4, 20));
    lost.does(&lose(4, 1));
    let after_lost = create("implementer", "reviewer", draft_plan("built better"));
    let mut loose = approved();
    loose.does(&cancel(4));
    vec![
        ("a sender replaces an approved package", approved(), better()),
        (
            "a sender replaces an approved package after a lost lease",
            lost,
            Command::Create(Create { supersedes: Some(HandoffNo(5)), ..after_lost }),
        ),
        (
            "the orchestrator offers other work behind the gate",
            loose,
            Command::Create(create("orchestrator", "reviewer", draft_plan("built by hand"))),
        ),
    ]
}

/// The reviewer holds what it has sent back three times.
fn at_the_limit() -> Tester {
    let mut tester = reviewing();
    for _ in 0..3 {
        let no = tester.run.n_handoffs;
        tester.rejects(no, "not yet");
        tester.accepts(no + 1);
        tester.hands("implementer", "reviewer", note("rebuilt"));
        tester.accepts(no + 2);
    }
    tester
}

fn circles() -> Vec<Case> {
    let no = at_the_limit().run.n_handoffs;
    let mend = || with_reason("once more", create("reviewer", "implementer", draft_plan("mend")));
    let mut of_a_person = at_gate(GateKind::Blocking);
    of_a_person.does(&says(3, Answer::Reject, "not like this"));
    vec![
        ("a receiver rejects once too often", at_the_limit(), reject(no, "still not")),
        ("a reviewer hands back once too often", at_the_limit(), mend()),
        ("an agent rejects what a person sent back", of_a_person, reject(4, "it is right")),
    ]
}

fn answers_to_the_stuck() -> Vec<Case> {
    let failed = || {
        let mut tester = failed_twice();
        tester.does(&finish(3, Outcome::Failure, note("crashed"), "the tool crashed"));
        tester
    };
    let circling = || {
        let mut tester = at_the_limit();
        tester.rejects(tester.run.n_handoffs, "still not");
        tester
    };
    let gate = circling().run.n_handoffs;
    let lost = || {
        let mut tester = dying(begun(checked_pipeline()));
        tester.does(&lose(3, 1));
        tester
    };
    let blocked = || {
        let mut tester = analyzing();
        tester.completes(1, Outcome::Blocked, blockers(&["no access"]));
        tester
    };
    let mut failure_first = checked_pipeline();
    let fix = Edge { on: Outcome::Failure, ..to("document") };
    failure_first.steps[0].edges.insert(0, fix);
    let mut first = begun(failure_first);
    first.accepts(1);
    first.completes(1, Outcome::Blocked, nothing());
    let mut curious = reviewing();
    for _ in 0..3 {
        curious.does(&clarify(3, "Which test?"));
        curious.does(&reply(3, "All of them"));
    }
    curious.does(&clarify(3, "But which?"));
    vec![
        ("go on after a failure", failed(), answer_gate(4, Answer::Continue)),
        ("go on after a failure, with a word", failed(), says(4, Answer::Continue, "try again")),
        ("take failed work as it is", failed(), answer_gate(4, Answer::Accept)),
        ("give failed work to another", failed(), hand_to(4, "helper")),
        ("go on after too many rounds", circling(), answer_gate(gate, Answer::Continue)),
        ("give circling work to another", circling(), hand_to(gate, "helper")),
        ("take circling work as it is", circling(), says(gate, Answer::Accept, "good enough")),
        ("end circling work", circling(), answer_gate(gate, Answer::Abort)),
        ("go on after the last lease", lost(), answer_gate(4, Answer::Continue)),
        ("go on without the blocker", blocked(), says(2, Answer::Continue, "access granted")),
        ("take blocked work as it is", blocked(), answer_gate(2, Answer::Accept)),
        ("give blocked work to another", blocked(), hand_to(2, "helper")),
        ("success is followed, whichever edge comes first", first, answer_gate(2, Answer::Accept)),
        ("settle the questions", curious, says(7, Answer::Reply, "The first one")),
    ]
}

fn hand_to(no: u32, name: &str) -> Command {
    answer_gate(no, Answer::HandTo(agent(name)))
}

fn answers_on_edges() -> Vec<Case> {
    let review = || {
        let mut tester = analyzing();
        tester.does(&finish(1, Outcome::NeedsReview, draft_plan("the plan"), "please look"));
        tester
    };
    let Command::Answer(modify) = says(3, Answer::Modify, "I added a file") else { unreachable!() };
    let modified = GateAnswer { package: Some(sent(draft_plan("built by me"))), ..modify };
    let mut reoffered = approved();
    reoffered.does(&cancel(4));
    reoffered.hands("orchestrator", "reviewer", draft_plan("built by hand"));
    let mut lost = approved();
    lost.does(&accept_with(4, 20));
    lost.does(&lose(4, 1));
    let better = create("implementer", "reviewer", draft_plan("built better"));
    lost.does(&Command::Create(Create { supersedes: Some(HandoffNo(5)), ..better }));
    let mut optional = gated(GateKind::Blocking);
    optional.steps[1].is_optional = true;
    let mut skipped = begun(optional);
    skipped.accepts(1);
    skipped.hands("analyst", "implementer", draft_plan("the plan"));
    skipped.does(&skip());
    let mut working = at_gate(GateKind::Advisory);
    working.accepts(4);
    let mut asked_back = at_gate(GateKind::Automatic);
    asked_back.does(&says(3, Answer::Question, "Why?"));
    vec![
        ("approve a review", review(), says(2, Answer::Approve, "well done")),
        ("approve at a gate", at_gate(GateKind::Blocking), answer_gate(3, Answer::Approve)),
        ("reject at a gate", at_gate(GateKind::Blocking), answer_gate(3, Answer::Reject)),
        (
            "reject at a gate, with a word",
            at_gate(GateKind::Blocking),
            says(3, Answer::Reject, "not like this"),
        ),
        ("ask back", at_gate(GateKind::Blocking), says(3, Answer::Question, "Why?")),
        (
            "put another package in its place",
            at_gate(GateKind::Blocking),
            Command::Answer(modified),
        ),
        ("approve what the orchestrator offered", reoffered, answer_gate(5, Answer::Approve)),
        ("approve what the operator skipped a step for", skipped, answer_gate(3, Answer::Approve)),
        ("approve after a lost lease", lost, answer_gate(6, Answer::Approve)),
        ("note what goes on", at_gate(GateKind::Advisory), answer_gate(3, Answer::Approve)),
        ("object to what goes on", working, says(3, Answer::Reject, "not like this")),
        (
            "a check opens the gate",
            at_gate(GateKind::Automatic),
            record(3, "lint", Verdict::Passed),
        ),
        ("a check opens the gate before an answer", asked_back, record(3, "lint", Verdict::Passed)),
    ]
}

fn answers_in_frames() -> Vec<Case> {
    let escalated = || {
        let mut tester = implementing();
        let escalation = create("implementer", "human", draft_plan("A or B?"));
        tester.does(&way(Way::Escalation, escalation));
        tester
    };
    let mut lost = dying(offered_part());
    lost.does(&lose(lost.run.n_handoffs, 1));
    let lost_gate = lost.run.n_handoffs;
    let mut lost_again = dying(offered_part());
    lost_again.does(&lose(lost_again.run.n_handoffs, 1));
    let refused = || {
        let mut tester = offered_part();
        refuse_part(&mut tester, "implementer");
        tester
    };
    let refused_gate = refused().run.n_handoffs;
    let mut nested = helping();
    let part = || create("helper", "analyst", note("a smaller part"));
    nested.does(&way(Way::Delegation, part()));
    for _ in 0..3 {
        let no = nested.run.n_handoffs;
        nested.rejects(no, "not my field");
        nested.accepts(no + 1);
        nested.does(&way(Way::Delegation, part()));
    }
    nested.rejects(nested.run.n_handoffs, "still not");
    let nested_gate = nested.run.n_handoffs;
    let circling = || {
        let mut tester = helping();
        for _ in 0..4 {
            let no = tester.run.n_handoffs;
            tester.completes(no, Outcome::Success, draft_plan("the part"));
            tester.rejects(no + 1, "that is not all");
            if tester.run.gate().is_none() {
                tester.accepts(no + 2);
            }
        }
        tester
    };
    let circling_gate = circling().run.n_handoffs;
    vec![
        ("answer a holder", escalated(), says(3, Answer::Reply, "A")),
        ("say yes to a holder", escalated(), answer_gate(3, Answer::Approve)),
        ("say no to a holder", escalated(), says(3, Answer::Reject, "neither")),
        ("a part goes on after the last lease", lost, answer_gate(lost_gate, Answer::Continue)),
        ("a part goes to another", lost_again, hand_to(lost_gate, "analyst")),
        (
            "a caller goes on with a refused part",
            refused(),
            answer_gate(refused_gate, Answer::Continue),
        ),
        (
            "a delegate goes on with a part that it gave away",
            nested,
            answer_gate(nested_gate, Answer::Continue),
        ),
        (
            "a delegate tries again",
            circling(),
            says(circling_gate, Answer::Continue, "all of it, please"),
        ),
        (
            "a caller has to take the part as it is",
            circling(),
            says(circling_gate, Answer::Accept, "good enough"),
        ),
    ]
}

/// The helper refuses the caller's part until a person is asked.
fn refuse_part(tester: &mut Tester, caller: &str) {
    for _ in 0..3 {
        let no = tester.run.n_handoffs;
        tester.rejects(no, "not my field");
        tester.accepts(no + 1);
        tester.hands(caller, "helper", draft_plan("a part"));
    }
    tester.rejects(tester.run.n_handoffs, "still not");
}
