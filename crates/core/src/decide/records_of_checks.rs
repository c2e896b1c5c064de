//! What is recorded where work waits for its checks, passes them, fails them or is asked of a person: a
//! table, as in `records.rs`, and the words that its sender gets.

use expect_test::expect_file;

use super::checked_scenarios::{claim, name, report, result, runs};
use super::fixture::*;
use super::records::{Case, checked_pipeline, draft_plan, finish, table};
use crate::command::{Command, RanCheck, Release};
use crate::event::{Event, HandoffEvent};
use crate::evidence::{CheckRun, Verdict};
use crate::gate::GateCause;
use crate::outcome::Outcome;
use crate::run::HandoffNo;

#[test]
fn every_stretch_of_checked_work_and_what_it_records() {
    let mut cases = parked();
    cases.extend(settled());
    cases.extend(asked());
    cases.extend(given_back());
    expect_file!["tables/records_of_checks.txt"].assert_eq(&table(cases));
}

/// The implementer holds `HO-002`. Its edge to the reviewer has the check `tests` and the contract `plan`,
/// which warns of a plan without files.
fn at_work() -> Tester {
    let mut workflow = checked_pipeline();
    let edge = &mut workflow.steps[1].edges[0];
    edge.checks = vec![name("tests")];
    edge.contract = Some("plan".to_owned());
    let mut tester = super::records::implementing_in(workflow);
    tester.checks = vec![name("tests")];
    tester
}

/// The same after another holder had died: it holds `HO-003`.
fn at_work_after_a_lost_lease() -> Tester {
    let mut tester = at_work();
    tester.does(&release(2));
    tester.does(&accept_with(2, 20));
    tester.does(&lose(2, 3));
    tester.wait(1);
    tester.accepts(3);
    tester
}

fn hand_on(no: u32) -> Command {
    finish(no, Outcome::Success, draft_plan("built"), "All of it is built")
}

/// The work of `HO-002` waits as `HO-003`.
fn waiting() -> Tester {
    let mut tester = at_work();
    tester.does(&hand_on(2));
    tester
}

/// The work of `HO-003` waits as `HO-004`.
fn waiting_after_a_lost_lease() -> Tester {
    let mut tester = at_work_after_a_lost_lease();
    tester.does(&hand_on(3));
    tester
}

/// A runner has the checks of the newest handoff; the report of it.
fn reported(mut tester: Tester, verdict: Verdict, tree: &str) -> (Tester, Command) {
    let no = tester.run.n_handoffs;
    let fence = tester.does(&claim(no)).done.fence.unwrap();
    (tester, report(no, fence, vec![result("tests", verdict, tree)]))
}

fn case(name: &'static str, (tester, command): (Tester, Command)) -> Case {
    (name, tester, command)
}

fn parked() -> Vec<Case> {
    vec![
        ("work waits for its checks", at_work(), hand_on(2)),
        ("work waits for its checks after a lost lease", at_work_after_a_lost_lease(), hand_on(3)),
        ("a runner takes the checks", waiting(), claim(3)),
    ]
}

fn settled() -> Vec<Case> {
    let passed = |tester| reported(tester, Verdict::Passed, "aaaa");
    let failed = |tester| reported(tester, Verdict::Failed, "aaaa");
    vec![
        case("the checks pass", passed(waiting())),
        case("the checks pass after a lost lease", passed(waiting_after_a_lost_lease())),
        case("the checks fail", failed(waiting())),
        case("the checks fail after a lost lease", failed(waiting_after_a_lost_lease())),
    ]
}

fn asked() -> Vec<Case> {
    let mut no_progress = waiting();
    runs(&mut no_progress, Verdict::Failed, "aaaa");
    let no = no_progress.run.n_handoffs;
    no_progress.accepts(no);
    no_progress.does(&hand_on(no));
    let mut too_often = waiting_after_a_lost_lease();
    for tree in ["aaaa", "bbbb", "cccc"] {
        runs(&mut too_often, Verdict::Failed, tree);
        let no = too_often.run.n_handoffs;
        too_often.accepts(no);
        too_often.does(&hand_on(no));
    }
    let mut late = waiting();
    late.wait(24 * 60);
    vec![
        case("the same fails of the same tree", reported(no_progress, Verdict::Failed, "aaaa")),
        case("the checks fail too often", reported(too_often, Verdict::Failed, "dddd")),
        ("no runner has come", late, Command::Wake { handoff: HandoffNo(3) }),
    ]
}

fn give_back(no: u32, fence: u32) -> Command {
    Command::Release(Release {
        handoff: HandoffNo(no),
        by: None,
        reason: Some(reason("The runner was told to stop")),
        fence: Some(fence),
    })
}

fn given_back() -> Vec<Case> {
    let taken = |mut tester: Tester| {
        let no = tester.run.n_handoffs;
        let fence = tester.does(&claim(no)).done.fence.unwrap();
        (tester, no, fence)
    };
    let (released, no, fence) = taken(waiting_after_a_lost_lease());
    let given = (released, give_back(no, fence));
    let (lost, no, fence) = taken(waiting());
    let lost = (lost, lose(no, fence));
    vec![
        case("a runner gives the checks back", given),
        case("the runner of the checks is lost", lost),
    ]
}

#[test]
fn checks_that_are_given_back_without_end_come_to_a_person() {
    let mut tester = waiting();
    tester.workflow.limits.releases = 2;
    for n in 0..3 {
        assert!(tester.run.gate().is_none(), "after {n} releases");
        let no = tester.run.n_handoffs;
        let fence = tester.does(&claim(no)).done.fence.unwrap();
        tester.does(&give_back(no, fence));
    }
    assert_eq!(tester.run.gate().unwrap().1.cause, GateCause::Checks);
}

#[test]
fn what_others_have_said_of_a_check_leaves_it_to_the_runner() {
    let mut tester = waiting();
    tester.does(&record(3, "tests", Verdict::Passed));
    assert_eq!(tester.does(&claim(3)).done.handoff, Some(HandoffNo(3)));
}

/// What failed is told in the order of the checks, with the end of what each printed; all of them share
/// the room.
#[test]
fn the_sender_gets_the_end_of_what_every_failed_check_printed() {
    const ROOM: usize = 48 * 1024;
    let mut tester = at_work();
    tester.workflow.steps[1].edges[0].checks = vec![name("tests"), name("lint"), name("docs")];
    tester.checks = vec![name("tests"), name("lint"), name("docs")];
    tester.does(&hand_on(2));
    let can_run = tester.checks.clone();
    let Command::ClaimChecks(claimed) = claim(3) else { unreachable!() };
    let claimed = Command::ClaimChecks(crate::command::ClaimChecks { can_run, ..claimed });
    let fence = tester.does(&claimed).done.fence.unwrap();
    let of = |check: &str, verdict: Verdict, printed: String| RanCheck {
        detail: words(&printed),
        ..result(check, verdict, "aaaa")
    };
    // Three bytes a character, so that the cut is inside of one.
    let long = format!("{}the end", "€".repeat(9_000));
    let unknown =
        CheckRun { exit_code: None, commit: None, ..result("lint", Verdict::Failed, "a").ran };
    let results = vec![
        RanCheck { ran: unknown, ..of("lint", Verdict::Failed, "lint\nsays no".to_owned()) },
        of("docs", Verdict::Passed, "fine".to_owned()),
        of("tests", Verdict::Failed, long.clone()),
    ];
    let decision = tester.does(&report(3, fence, results));
    let told = decision.events.iter().find_map(|it| {
        if let Event::Handoff(HandoffEvent::Created(it)) = it { Some(it.reason) } else { None }
    });
    let reason = tester.text(told.unwrap());
    let (first, rest) = reason.split_once("\n\n").unwrap();
    assert_eq!(
        first,
        "`lint`, `tests` failed when Baton checked this work, before `reviewer` gets it. Make it pass, \
         then hand on again."
    );
    let end = &long[long.len() - ROOM / 2 + 2..];
    let expected = format!(
        "`lint` failed\nlint\nsays no\n\n`tests` failed: exit code 101 after 1200 ms, at commit abcd1234\n{end}"
    );
    assert_eq!(rest, expected);
}
