//! Scenarios: the approvals of several people, votes that are passed on, and the reminder.

use expect_test::{Expect, expect};

use super::due_at;
use super::fixture::*;
use super::records::draft_plan;
use super::scenarios::{at_review, back_to_review, check, check_refused, created};
use super::states::{gate_on, in_state};
use crate::approval::Approvers;
use crate::command::{Command, Create, DelegateVote, GateAnswer};
use crate::event::{Event, GateEvent};
use crate::gate::{Answer, GateKind};
use crate::names::Principal;
use crate::outcome::Outcome;
use crate::refusal::Refusal;
use crate::run::{HandoffNo, RunStatus, State};

pub(super) fn person(name: &str) -> Principal {
    Principal::parse(name).unwrap()
}

/// `HO-003` is the gate before the review. `ada` made its package.
pub(super) fn asked(need: u32, of: &[&str]) -> Tester {
    let mut tester = in_state(State::Accepted);
    let of = of.iter().map(|it| person(it)).collect();
    approvers_on(&mut tester, Approvers { need, of, author_may_approve: false });
    tester.completes(2, Outcome::Success, draft_plan("built"));
    check(&tester, expect!["HO-003 implementer→human pending; parked"]);
    tester
}

pub(super) fn approvers_on(tester: &mut Tester, approvers: Approvers) {
    gate_on(tester, GateKind::Blocking);
    let step = tester.workflow.steps.iter_mut().find(|it| it.id.as_str() == "implement").unwrap();
    step.edges[0].gate.as_mut().unwrap().approvers = Some(approvers);
}

pub(super) fn answers_as(by: &str, answer: Answer) -> Command {
    let Command::Answer(said) = answer_gate(3, answer) else { unreachable!() };
    Command::Answer(GateAnswer { by: person(by), ..said })
}

pub(super) fn approves(by: &str) -> Command {
    answers_as(by, Answer::Approve)
}

fn passes_on(by: &str, to: &str) -> Command {
    let (gate, by, to) = (HandoffNo(3), person(by), person(to));
    Command::DelegateVote(DelegateVote { gate, by, to, comment: None })
}

#[track_caller]
fn check_progress(tester: &Tester, expected: Expect) {
    let gate = tester.run.gate().unwrap().1;
    expected.assert_eq(&gate.approval.as_ref().unwrap().progress());
}

#[test]
fn the_last_approval_opens_the_gate_and_the_ones_before_are_recorded() {
    let mut tester = asked(2, &["ana", "ben", "carl"]);
    let package = tester.run.gate().unwrap().1.package;
    let first = tester.does(&approves("carl"));
    assert_eq!(first.done.handoff, Some(HandoffNo(3)));
    let [Event::Gate(GateEvent::Approved { by, package: approved, identity, .. })] =
        &first.events[..]
    else {
        panic!("{:?}", first.events);
    };
    assert_eq!((by.as_str(), *approved, identity.name()), ("carl", package, "unauthenticated"));
    check(&tester, expect!["HO-003 implementer→human pending; parked"]);
    check_progress(
        &tester,
        expect![
            "1 of 2 approvals: carl at 1970-01-12T14:17:40Z (unauthenticated); ana or ben may approve; not ada, who made the package"
        ],
    );
    let last = tester.does(&approves("ana"));
    let names: Vec<&str> = last.events.iter().map(Event::name).collect();
    assert_eq!(names[..2], ["gate.approved", "gate.answered"]);
    check(&tester, expect!["HO-004 implementer→reviewer pending; offered"]);
    assert_eq!(created(&last).package, package, "the very package that was approved");
    assert_eq!(created(&last).approved_by, Some(person("ana")));
}

#[test]
fn any_two_people_do_where_nobody_is_named() {
    let mut tester = asked(2, &[]);
    tester.does(&approves("somebody"));
    check_progress(
        &tester,
        expect![
            "1 of 2 approvals: somebody at 1970-01-12T14:17:40Z (unauthenticated); any person may approve; not ada, who made the package"
        ],
    );
    tester.does(&approves("another"));
    check(&tester, expect!["HO-004 implementer→reviewer pending; offered"]);
}

#[test]
fn one_person_counts_once_under_whatever_spelling() {
    let mut tester = asked(2, &[]);
    tester.does(&approves("ana maria"));
    for again in
        ["ana maria", "Ana Maria", "anamaria", "ana-maria", "\u{430}na maria", "ana  maria"]
    {
        let refusal = tester.would(&approves(again)).unwrap_err();
        assert_eq!(refusal.code(), "already_approved", "{again}");
    }
    check_refused(
        &mut tester,
        &approves("ana maria"),
        expect!["already_approved: `ana maria` has approved HO-003 already; another person has to"],
    );
    check_refused(
        &mut tester,
        &approves("Ana-Maria"),
        expect![
            "already_approved: `Ana-Maria` looks like `ana maria`, who has approved HO-003 already: one person counts once"
        ],
    );
    tester.does(&approves("ben"));
    check(&tester, expect!["HO-004 implementer→reviewer pending; offered"]);
}

#[test]
fn nobody_but_the_named_people_answers() {
    let mut tester = asked(2, &["ana", "ben"]);
    for answer in [Answer::Approve, Answer::Reject, Answer::Abort] {
        let refusal = tester.would(&answers_as("dora", answer)).unwrap_err();
        assert_eq!(refusal.code(), "not_an_approver");
    }
    check_refused(
        &mut tester,
        &approves("dora"),
        expect![
            "not_an_approver: only `ana`, `ben` may answer HO-003, not `dora`; one of them may pass the vote on with `baton delegate`"
        ],
    );
    check_refused(
        &mut tester,
        &approves("Ana"),
        expect![
            "not_an_approver: only `ana`, `ben` may answer HO-003, not `Ana`; did you mean `ana`? Names are compared letter by letter"
        ],
    );
    check_refused(
        &mut tester,
        &answers_as("ana", Answer::Modify),
        expect![
            "not_a_choice: HO-003 does not take the answer `modify`; it takes approve, reject, question, abort"
        ],
    );
}

#[test]
fn the_author_does_not_approve_their_own_work() {
    let mut tester = asked(1, &[]);
    check_refused(
        &mut tester,
        &approves("ada"),
        expect![
            "own_work: `ada` made the package of HO-003 and may not approve it; another person has to, or it is rejected and made again"
        ],
    );
    check_refused(
        &mut tester,
        &approves(" Ada"),
        expect![
            "own_work: ` Ada` made the package of HO-003 and may not approve it; another person has to, or it is rejected and made again"
        ],
    );
    tester.does(&approves("ben"));
    check(&tester, expect!["HO-004 implementer→reviewer pending; offered"]);
    let mut trusted = in_state(State::Accepted);
    let approvers = Approvers { need: 1, of: Vec::new(), author_may_approve: true };
    approvers_on(&mut trusted, approvers);
    trusted.completes(2, Outcome::Success, draft_plan("built"));
    trusted.does(&approves("ada"));
    check(&trusted, expect!["HO-004 implementer→reviewer pending; offered"]);
}

/// The checks of the edge are reported by a runner; the package is still the author's.
#[test]
fn the_author_is_known_after_the_checks_too() {
    let mut tester = in_state(State::Accepted);
    let approvers = Approvers { need: 1, of: Vec::new(), author_may_approve: false };
    approvers_on(&mut tester, approvers);
    let step = tester.workflow.steps.iter_mut().find(|it| it.id.as_str() == "implement").unwrap();
    step.edges[0].checks = vec![crate::names::CheckName::parse("tests").unwrap()];
    tester.completes(2, Outcome::Success, draft_plan("built"));
    tester.caller = person("baton:runner");
    tester.does(&record(3, "tests", crate::evidence::Verdict::Passed));
    check(&tester, expect!["HO-004 implementer→human pending; parked"]);
    let gate = tester.run.gate().unwrap().1;
    assert_eq!(gate.approval.as_ref().unwrap().author, Some(person("ada")));
}

#[test]
fn a_caller_without_a_name_counts_as_no_person() {
    let mut tester = asked(2, &[]);
    for name in ["local", "Local", "runner", "RUNNER"] {
        let refusal = tester.would(&approves(name)).unwrap_err();
        assert_eq!(refusal.code(), "unnamed_caller", "{name}");
    }
    check_refused(
        &mut tester,
        &approves("local"),
        expect![
            "unnamed_caller: `local` is how callers go by that state no name, and an approval of HO-003 counts people; say who you are: `--as NAME`, or the header `Baton-As`"
        ],
    );
    // To send the work back counts nobody.
    assert!(tester.would(&answers_as("local", Answer::Reject)).is_ok());
    let mut named = asked(1, &["ana", "ben"]);
    let refusal = named.would(&answers_as("local", Answer::Reject)).unwrap_err();
    assert_eq!(refusal.code(), "unnamed_caller");
    check_refused(
        &mut named,
        &passes_on("ana", "local"),
        expect![
            "bad_delegate: the vote of `ana` on HO-003 cannot go to `local`: that is how callers go by that state no name"
        ],
    );
    // A workflow that names this very name has given it a vote.
    assert!(asked(1, &["runner"]).would(&approves("runner")).is_ok());
}

#[test]
fn a_package_without_a_name_was_made_by_the_person_who_held_the_work() {
    let mut tester = in_state(State::Accepted);
    let of = vec![person("dora"), person("ben")];
    approvers_on(&mut tester, Approvers { need: 1, of, author_may_approve: false });
    tester.does(&release(2));
    tester.caller = person("dora");
    tester.accepts(2);
    tester.caller = person("local");
    tester.completes(2, Outcome::Success, draft_plan("built"));
    let refusal = tester.would(&approves("dora")).unwrap_err();
    assert_eq!(refusal.code(), "own_work");
    assert!(tester.would(&approves("ben")).is_ok());
}

#[test]
fn one_no_is_enough() {
    let mut tester = asked(2, &["ana", "ben", "carl"]);
    tester.does(&approves("ana"));
    tester.does(&answers_as("ben", Answer::Reject));
    check(&tester, expect!["HO-004 human→implementer pending; offered"]);
    tester.accepts(4);
    tester.completes(4, Outcome::Success, draft_plan("built again"));
    let again = tester.run.gate().unwrap();
    assert_eq!(again.1.approval.as_ref().unwrap().n_given(), 0, "the package is another");
    let stale = Refusal::Finished { handoff: HandoffNo(3) };
    assert_eq!(tester.would(&approves("carl")).unwrap_err(), stale);
}

#[test]
fn work_that_supersedes_what_was_approved_is_approved_again() {
    let mut tester = asked(2, &["ana", "ben"]);
    tester.does(&approves("ana"));
    tester.does(&approves("ben"));
    let other = Create {
        supersedes: Some(HandoffNo(4)),
        ..create("implementer", "reviewer", draft_plan("built otherwise"))
    };
    tester.does(&Command::Create(other));
    let (row, gate) = tester.run.gate().unwrap();
    assert_eq!((row.no, gate.approval.as_ref().unwrap().n_given()), (HandoffNo(5), 0));
}

#[test]
fn a_question_leaves_the_approvals_and_the_last_one_withdraws_it() {
    let mut tester = asked(2, &["ana", "ben"]);
    tester.does(&approves("ana"));
    let Command::Answer(question) = says(3, Answer::Question, "Why so?") else { unreachable!() };
    tester.does(&Command::Answer(GateAnswer { by: person("ben"), ..question }));
    check(
        &tester,
        expect!["HO-003 implementer→human clarification, HO-004 human→implementer pending; parked"],
    );
    tester.does(&approves("ben"));
    check(&tester, expect!["HO-005 implementer→reviewer pending; offered"]);
}

#[test]
fn a_vote_is_passed_on_and_counts_once() {
    let mut tester = asked(2, &["ana", "ben"]);
    tester.does(&passes_on("ana", "carl"));
    check_progress(
        &tester,
        expect!["0 of 2 approvals; carl or ben may approve; not ada, who made the package"],
    );
    check_refused(
        &mut tester,
        &approves("ana"),
        expect![
            "not_an_approver: only `carl`, `ben` may answer HO-003, not `ana`; the vote is with `carl` now"
        ],
    );
    tester.does(&passes_on("carl", "dora"));
    tester.does(&approves("dora"));
    check_refused(
        &mut tester,
        &approves("dora"),
        expect!["already_approved: `dora` has approved HO-003 already; another person has to"],
    );
    check_progress(
        &tester,
        expect![
            "1 of 2 approvals: dora for ana at 1970-01-12T14:17:40Z (unauthenticated); ben may approve; not ada, who made the package"
        ],
    );
    tester.does(&approves("ben"));
    check(&tester, expect!["HO-004 implementer→reviewer pending; offered"]);
}

#[test]
fn a_vote_goes_neither_back_nor_to_the_author_nor_to_one_who_has_one() {
    let mut tester = asked(2, &["ana", "ben"]);
    tester.does(&passes_on("ana", "carl"));
    for (by, to, expected) in [
        ("carl", "ana", "it came from them, and goes to no person twice"),
        ("carl", "\u{410}na", "it came from them, and goes to no person twice"),
        ("carl", "carl", "it is theirs already"),
        ("carl", "CARL", "it is theirs already"),
        ("carl", "ada", "they made the package"),
        ("carl", "ben", "they have a vote of their own, and one person counts once"),
        ("ben", "carl", "they have a vote of their own, and one person counts once"),
    ] {
        let refusal = tester.would(&passes_on(by, to)).unwrap_err();
        let Refusal::BadDelegate { why, .. } = &refusal else { panic!("{by} → {to}: {refusal}") };
        assert_eq!(why, expected, "{by} → {to}");
    }
    check_refused(
        &mut tester,
        &passes_on("ana", "emil"),
        expect![
            "not_an_approver: only `carl`, `ben` may answer HO-003, not `ana`; the vote is with `carl` now"
        ],
    );
    check_refused(
        &mut tester,
        &passes_on("nobody", "emil"),
        expect![
            "not_an_approver: only `carl`, `ben` may answer HO-003, not `nobody`; one of them may pass the vote on with `baton delegate`"
        ],
    );
    check_refused(
        &mut tester,
        &passes_on("ben", "reviewer"),
        expect![
            "not_a_person: `reviewer` is the name of an agent or of a part of Baton, and only a person may do that; a person says so under a name of their own"
        ],
    );
    tester.does(&approves("ben"));
    check_refused(
        &mut tester,
        &passes_on("ben", "emil"),
        expect!["already_approved: `ben` has approved HO-003 already; another person has to"],
    );
    let mut open = asked(2, &[]);
    check_refused(
        &mut open,
        &passes_on("ana", "ben"),
        expect![
            "no_vote: HO-003 names no approvers, so that there is no vote to pass on: any person may answer it"
        ],
    );
}

#[test]
fn a_vote_is_not_passed_on_for_ever() {
    let mut tester = asked(2, &["ana", "ben"]);
    let people = ["ana", "p1", "p2", "p3", "p4", "p5", "p6", "p7"];
    for pair in people.windows(2) {
        tester.does(&passes_on(pair[0], pair[1]));
    }
    check_refused(
        &mut tester,
        &passes_on("p7", "p8"),
        expect![
            "bad_delegate: the vote of `p7` on HO-003 cannot go to `p8`: 8 people have had it, and that is the most"
        ],
    );
    tester.does(&approves("p7"));
}

#[test]
fn the_authors_own_vote_is_no_vote() {
    let mut tester = asked(2, &["ada", "ben"]);
    check_refused(
        &mut tester,
        &passes_on("ada", "carl"),
        expect![
            "own_work: `ada` made the package of HO-003 and may not approve it; another person has to, or it is rejected and made again"
        ],
    );
    assert!(tester.run.gate().unwrap().1.approval.as_ref().unwrap().is_out_of_reach());
    check_progress(
        &tester,
        expect!["0 of 2 approvals; ben may approve; not ada, who made the package"],
    );
    tester.does(&answers_as("ada", Answer::Reject));
    check(&tester, expect!["HO-004 human→implementer pending; offered"]);
}

/// One person's "accept as it is" at a limit does not stand for the people whose approvals the way
/// asks for.
#[test]
fn work_that_is_accepted_as_it_is_still_comes_to_the_approvers() {
    let mut tester = at_review();
    let step = tester.workflow.steps.iter_mut().find(|it| it.id.as_str() == "review").unwrap();
    let mut gate = crate::workflow::EdgeGate::plain(GateKind::Blocking, "Release");
    let of = vec![person("ana"), person("ben")];
    gate.approvers = Some(Approvers { need: 2, of, author_may_approve: false });
    step.edges[0].gate = Some(gate);
    for _ in 0..3 {
        let no = tester.run.n_handoffs;
        tester.rejects(no, "not yet");
        back_to_review(&mut tester);
    }
    let no = tester.run.n_handoffs;
    tester.rejects(no, "still not");
    let rejected = tester.run.gate().unwrap().1.package;
    tester.answers(10, Answer::Accept);
    check(&tester, expect!["HO-011 reviewer→human pending; parked"]);
    let gate = tester.run.gate().unwrap().1;
    assert_eq!((gate.package, gate.approval.as_ref().unwrap().need), (rejected, 2));
    for (by, expected) in [("ana", 11), ("ben", 12)] {
        let Command::Answer(said) = answer_gate(11, Answer::Approve) else { unreachable!() };
        tester.does(&Command::Answer(GateAnswer { by: person(by), ..said }));
        assert_eq!(tester.run.current().unwrap().no, HandoffNo(expected));
    }
}

#[test]
fn people_are_reminded_of_a_gate_once() {
    let mut tester = asked(1, &["ana"]);
    let gate = HandoffNo(3);
    let due = due_at(&tester.workflow, &tester.run).unwrap();
    assert_eq!(due.duration_since(tester.now).as_hours(), 24);
    check_refused(
        &mut tester,
        &Command::Remind { gate },
        expect!["not_due: HO-003 is not due before 1970-01-13T14:17:40Z"],
    );
    tester.wait(24 * 60);
    let moved_at = tester.run.moved_at;
    let decision = tester.does(&Command::Remind { gate });
    assert!(decision.events[0].needs_notification());
    assert_eq!(tester.run.moved_at, moved_at, "nothing has moved");
    assert_eq!(tester.run.gate().unwrap().1.reminded_at, Some(tester.now));
    assert_eq!(due_at(&tester.workflow, &tester.run), None);
    tester.wait(24 * 60);
    check_refused(
        &mut tester,
        &Command::Remind { gate },
        expect!["not_due: HO-003 is not due at any time"],
    );
    tester.does(&approves("ana"));
    assert_eq!(tester.run.status, RunStatus::Open);
}

#[test]
fn a_vote_is_a_persons_and_goes_to_a_person() {
    for name in
        ["agent:reviewer", "AGENT:reviewer", "agent:documenter", "human", "orchestrator", "Bаton:x"]
    {
        let mut tester = asked(1, &[]);
        assert_eq!(tester.tries(&approves(name)).unwrap_err().code(), "not_a_person", "{name}");
        let mut tester = asked(1, &["ana", "ben"]);
        let passed = tester.tries(&passes_on("ana", name)).unwrap_err();
        assert_eq!(passed.code(), "not_a_person", "{name}");
    }
}
