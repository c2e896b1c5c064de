//! Scenarios: work is parked on the checks of its edge, and only Baton's runner decides them.

use expect_test::expect;

use super::fixture::*;
use super::fork_scenarios::fanned;
use super::scenarios::{check, check_refused};
use super::states::gate_on;
use crate::command::{ClaimChecks, Command, Create, LeaseTime, RanCheck, Release, ReportChecks};
use crate::event::{Event, HandoffEvent};
use crate::evidence::{CheckRun, Verdict};
use crate::gate::{Answer, GateCause, GateKind};
use crate::names::{CheckName, CommitId};
use crate::outcome::Outcome;
use crate::run::{Baton, HandoffNo, Kind, RunStatus, Wait};
use crate::workflow::{JoinNeed, Target};

pub(super) fn name(check: &str) -> CheckName {
    CheckName::parse(check).unwrap()
}

/// The implementer holds `HO-002`; its edge to the reviewer has the check `tests`, for which the project
/// has a command.
fn checked() -> Tester {
    let mut tester = Tester::started();
    let step = tester.workflow.steps.iter_mut().find(|it| it.id.as_str() == "implement").unwrap();
    step.edges[0].checks = vec![name("tests")];
    tester.checks = vec![name("tests")];
    tester.accepts(1);
    tester.hands("analyst", "implementer", plan());
    tester.accepts(2);
    tester
}

pub(super) fn claim(no: u32) -> Command {
    Command::ClaimChecks(ClaimChecks {
        handoff: HandoffNo(no),
        lease: LeaseTime::USUAL,
        can_run: vec![name("tests")],
    })
}

pub(super) fn result(check: &str, verdict: Verdict, tree: &str) -> RanCheck {
    let exit_code = Some(if verdict == Verdict::Passed { 0 } else { 101 });
    let ran = CheckRun {
        exit_code,
        millis: 1200,
        commit: CommitId::parse("abcd1234").ok(),
        tree: CommitId::parse(tree).ok(),
    };
    RanCheck { check: name(check), verdict, detail: words("$ cargo test\nboom"), ran }
}

pub(super) fn report(no: u32, fence: u32, results: Vec<RanCheck>) -> Command {
    Command::ReportChecks(ReportChecks { handoff: HandoffNo(no), fence, results })
}

/// A runner takes the checks of the newest handoff and reports on `tests`.
#[track_caller]
pub(super) fn runs(tester: &mut Tester, verdict: Verdict, tree: &str) -> super::Decision {
    let no = tester.run.n_handoffs;
    let fence = tester.does(&claim(no)).done.fence.unwrap();
    tester.does(&report(no, fence, vec![result("tests", verdict, tree)]))
}

/// The implementer takes what came back, and hands on again.
#[track_caller]
fn hands_on_again(tester: &mut Tester) {
    let no = tester.run.n_handoffs;
    tester.accepts(no);
    tester.completes(no, Outcome::Success, nothing());
}

#[test]
fn work_with_checks_is_parked_and_waits_for_no_person() {
    let mut tester = checked();
    let decision = tester.completes(2, Outcome::Success, nothing());
    assert_eq!(decision.done.handoff, Some(HandoffNo(3)));
    check(&tester, expect!["HO-003 implementer→orchestrator pending; parked"]);
    let on = Wait::Checks;
    assert_eq!(tester.run.baton(), &Baton::Parked { handoff: HandoffNo(3), on });
    assert!(!tester.run.is_waiting(), "it is not in the inbox");
    assert_eq!(tester.run.phase(&tester.workflow), "implement");
}

#[test]
fn passed_it_is_offered_with_the_same_package_and_reason() {
    let mut tester = checked();
    tester.completes(2, Outcome::Success, plan());
    let package = tester.run.current().unwrap().package;
    let decision = runs(&mut tester, Verdict::Passed, "aaaa");
    check(&tester, expect!["HO-004 implementer→reviewer pending; offered"]);
    assert_eq!(decision.done.handoff, Some(HandoffNo(4)));
    let offered = tester.run.current().unwrap();
    assert_eq!((offered.package, offered.kind), (package, Kind::Sequential));
    tester.rejects(4, "no");
    check(&tester, expect!["HO-005 reviewer→implementer pending; offered"]);
}

#[test]
fn failed_it_goes_back_with_what_failed_and_counts_as_a_round() {
    let mut tester = checked();
    tester.completes(2, Outcome::Success, nothing());
    let decision = runs(&mut tester, Verdict::Failed, "aaaa");
    check(&tester, expect!["HO-004 orchestrator→implementer pending; offered"]);
    assert_eq!(decision.done.returned, Some(HandoffNo(4)));
    let Some(Event::Handoff(HandoffEvent::Created(back))) = decision.events.last() else {
        panic!("{:?}", decision.events)
    };
    assert_eq!((back.kind, back.rework_reason), (Kind::Return, Some(back.reason)));
    expect![[r"
        `tests` failed when Baton checked this work, before `reviewer` gets it. Make it pass, then hand on again.

        `tests` failed: exit code 101 after 1200 ms, at commit abcd1234
        $ cargo test
        boom"]]
    .assert_eq(tester.text(back.reason));
    assert_eq!(tester.run.all_rounds().next().unwrap().1.n, 1);
}

#[test]
fn after_as_many_failures_as_the_edge_allows_a_person_is_asked() {
    let mut tester = checked();
    tester.completes(2, Outcome::Success, nothing());
    for tree in ["aaaa", "bbbb", "cccc"] {
        runs(&mut tester, Verdict::Failed, tree);
        hands_on_again(&mut tester);
    }
    runs(&mut tester, Verdict::Failed, "dddd");
    let (row, gate) = tester.run.gate().unwrap();
    assert_eq!((gate.cause, row.to.agent.as_str()), (GateCause::Checks, "human"));
    expect!["The checks of what `implement` hands to `review` failed again; they failed 3 times before, the limit is 3"]
        .assert_eq(&gate.sentence());
    // Back to work with as many rounds again; or on with it as it is.
    let mut on = checked();
    std::mem::swap(&mut on, &mut tester);
    let no = on.run.n_handoffs;
    on.answers(no, Answer::Reject);
    // The answer allowed the fourth failure; two more need no further answer.
    for tree in ["eeee", "ffff"] {
        hands_on_again(&mut on);
        runs(&mut on, Verdict::Failed, tree);
        assert!(on.run.gate().is_none(), "a person allowed more");
    }
    hands_on_again(&mut on);
    runs(&mut on, Verdict::Failed, "acac");
    let no = on.run.n_handoffs;
    on.answers(no, Answer::Approve);
    assert_eq!(on.run.current().unwrap().to.agent.as_str(), "reviewer");
}

#[test]
fn the_same_failure_of_the_very_same_tree_asks_a_person_at_once() {
    let mut tester = checked();
    tester.completes(2, Outcome::Success, nothing());
    runs(&mut tester, Verdict::Failed, "aaaa");
    hands_on_again(&mut tester);
    runs(&mut tester, Verdict::Failed, "aaaa");
    assert_eq!(tester.run.gate().unwrap().1.cause, GateCause::NoProgress);
}

#[test]
fn what_others_say_of_a_check_with_a_command_is_a_claim_and_decides_nothing() {
    let mut tester = checked();
    tester.does(&record(2, "tests", Verdict::Passed));
    tester.completes(2, Outcome::Success, nothing());
    check(&tester, expect!["HO-003 implementer→orchestrator pending; parked"]);
    tester.does(&record(3, "tests", Verdict::Passed));
    tester.does(&record(3, "tests", Verdict::Failed));
    tester.does(&record(3, "package", Verdict::Failed));
    check(&tester, expect!["HO-003 implementer→orchestrator pending; parked"]);
    // A check without a command is decided by whoever knows its result.
    let mut posted = checked();
    posted.checks.clear();
    posted.completes(2, Outcome::Success, nothing());
    posted.does(&record(3, "tests", Verdict::Passed));
    check(&posted, expect!["HO-004 implementer→reviewer pending; offered"]);
    let mut early = checked();
    early.checks.clear();
    early.does(&record(2, "tests", Verdict::Passed));
    early.completes(2, Outcome::Success, nothing());
    check(&early, expect!["HO-003 implementer→reviewer pending; offered"]);
}

#[test]
fn an_automatic_gate_with_a_command_is_checked_by_the_runner_too() {
    for (verdict, expected) in [
        (Verdict::Passed, expect!["HO-004 implementer→reviewer pending; offered"]),
        (Verdict::Failed, expect!["HO-004 implementer→human pending; parked"]),
    ] {
        let mut tester = checked();
        let step = tester.workflow.steps.iter_mut().find(|it| it.id.as_str() == "implement");
        step.unwrap().edges[0].checks.clear();
        gate_on(&mut tester, GateKind::Automatic);
        tester.checks = vec![name("lint")];
        tester.does(&record(2, "lint", Verdict::Passed));
        tester.completes(2, Outcome::Success, nothing());
        let can_run = vec![name("lint")];
        let (handoff, lease) = (HandoffNo(3), LeaseTime::USUAL);
        tester.does(&Command::ClaimChecks(ClaimChecks { handoff, lease, can_run }));
        tester.does(&report(3, 1, vec![result("lint", verdict, "aaaa")]));
        check(&tester, expected);
    }
}

#[test]
fn checks_come_before_a_gate_and_before_the_end() {
    let mut tester = checked();
    gate_on(&mut tester, GateKind::Blocking);
    tester.completes(2, Outcome::Success, nothing());
    runs(&mut tester, Verdict::Passed, "aaaa");
    check(&tester, expect!["HO-004 implementer→human pending; parked"]);
    tester.answers(4, Answer::Approve);
    check(&tester, expect!["HO-005 implementer→reviewer pending; offered"]);

    let mut last = checked();
    let step = last.workflow.steps.iter_mut().find(|it| it.id.as_str() == "implement").unwrap();
    step.edges[0].to = Target::Complete;
    last.completes(2, Outcome::Success, nothing());
    runs(&mut last, Verdict::Failed, "aaaa");
    check(&last, expect!["HO-004 orchestrator→implementer pending; offered"]);
    hands_on_again(&mut last);
    runs(&mut last, Verdict::Passed, "bbbb");
    assert_eq!(last.run.status, RunStatus::Completed);
}

#[test]
fn where_no_runner_comes_a_person_is_asked_and_says_why() {
    let mut tester = checked();
    tester.completes(2, Outcome::Success, nothing());
    let wake = Command::Wake { handoff: HandoffNo(3) };
    check_refused(
        &mut tester,
        &wake,
        expect!["not_yet: HO-003 is held back until 1970-01-12T13:56:40Z"],
    );
    tester.wait(10);
    tester.does(&wake);
    check(&tester, expect!["HO-004 implementer→human pending; parked"]);
    let (_, gate) = tester.run.gate().unwrap();
    assert_eq!(gate.cause, GateCause::Checks);
    let why = tester.text(gate.reason.unwrap());
    assert!(why.starts_with("No runner has run the checks of this work (`tests`)"), "{why}");
    tester.answers(4, Answer::Approve);
    check(&tester, expect!["HO-005 implementer→reviewer pending; offered"]);
}

#[test]
fn checks_whose_runner_is_lost_are_run_again_and_then_asked_of_a_person() {
    let mut tester = checked();
    tester.completes(2, Outcome::Success, nothing());
    for _ in 0..2 {
        let no = tester.run.n_handoffs;
        tester.does(&claim(no));
        tester.does(&lose(no, 1));
        assert!(tester.run.checked_work().is_some());
    }
    let no = tester.run.n_handoffs;
    tester.does(&claim(no));
    tester.does(&lose(no, 1));
    assert_eq!(tester.run.gate().unwrap().1.cause, GateCause::Checks);
}

#[test]
fn a_runner_that_gives_the_checks_back_or_is_late_changes_nothing_about_the_work() {
    let mut tester = checked();
    tester.completes(2, Outcome::Success, nothing());
    tester.does(&claim(3));
    check_refused(
        &mut tester,
        &claim(3),
        expect![[
            "already_accepted: HO-003 is already accepted by `orchestrator`; wait for it, or take other work"
        ]],
    );
    let (handoff, by, reason) = (HandoffNo(3), None, None);
    tester.does(&Command::Release(Release { handoff, by, reason, fence: Some(1) }));
    check(&tester, expect!["HO-004 implementer→orchestrator pending; parked"]);
    check_refused(
        &mut tester,
        &report(3, 1, vec![result("tests", Verdict::Passed, "aaaa")]),
        expect![
            "finished: HO-003 is finished, and a finished handoff never changes; `baton handoff list` shows those that are open"
        ],
    );
    check_refused(
        &mut tester,
        &report(4, 0, vec![result("tests", Verdict::Passed, "aaaa")]),
        expect!["no_lease: HO-004 has no lease to renew; accept it with one"],
    );
}

#[test]
fn a_runner_takes_only_checks_that_it_can_run() {
    let mut tester = checked();
    tester.checks.push(name("build"));
    let step = tester.workflow.steps.iter_mut().find(|it| it.id.as_str() == "implement").unwrap();
    step.edges[0].checks.push(name("build"));
    tester.completes(2, Outcome::Success, nothing());
    check_refused(
        &mut tester,
        &claim(3),
        expect!["nothing_to_check: HO-003 waits for no checks that this runner could run"],
    );
    tester.does(&Command::Pause { reason: None });
    check_refused(
        &mut tester,
        &claim(3),
        expect!["paused: the run is paused; type `baton run resume RUN` first"],
    );
}

#[test]
fn results_of_both_kinds_are_waited_for() {
    let mut tester = checked();
    let step = tester.workflow.steps.iter_mut().find(|it| it.id.as_str() == "implement").unwrap();
    step.edges[0].checks.push(name("ci"));
    tester.completes(2, Outcome::Success, nothing());
    runs(&mut tester, Verdict::Passed, "aaaa");
    check(&tester, expect!["HO-003 implementer→orchestrator pending; parked"]);
    check_refused(
        &mut tester,
        &claim(3),
        expect!["nothing_to_check: HO-003 waits for no checks that this runner could run"],
    );
    let mut late = checked();
    std::mem::swap(&mut late, &mut tester);
    late.does(&record(3, "ci", Verdict::Passed));
    check(&late, expect!["HO-004 implementer→reviewer pending; offered"]);
}

#[test]
fn a_package_that_names_what_is_not_there_goes_back() {
    let mut tester = checked();
    tester.completes(2, Outcome::Success, nothing());
    tester.does(&claim(3));
    let results =
        vec![result("tests", Verdict::Passed, "aaaa"), result("package", Verdict::Failed, "aaaa")];
    tester.does(&report(3, 1, results));
    check(&tester, expect!["HO-004 orchestrator→implementer pending; offered"]);
}

#[test]
fn parked_work_takes_no_other_command_but_can_be_taken_back() {
    let mut tester = checked();
    tester.completes(2, Outcome::Success, nothing());
    check_refused(
        &mut tester,
        &accept(3),
        expect![[
            "checks_open: HO-003 waits for its checks: tests; its sender gets it back if they fail"
        ]],
    );
    check_refused(
        &mut tester,
        &Command::Create(Create { ..create("implementer", "reviewer", nothing()) }),
        expect![
            "duplicate: HO-003 from `implementer` to `reviewer` is still pending; answer it, or supersede it"
        ],
    );
    check_refused(
        &mut tester,
        &Command::Create(create("reviewer", "refactorer", nothing())),
        expect!["not_holder: `reviewer` does not have the baton: HO-003 waits for its checks"],
    );
    tester.does(&cancel(3));
    check(&tester, expect!["nothing open; loose"]);
    let mut again = checked();
    again.completes(2, Outcome::Success, nothing());
    again.does(&goto("analyze"));
    check(&again, expect!["HO-004 orchestrator→analyst pending; offered"]);
}

/// Checked before the work fans out, and again in one of its branches, whose failure stays in it.
#[test]
fn checks_hold_before_a_fan_out_and_inside_a_branch() {
    let mut workflow = fanned(JoinNeed::All);
    workflow.steps[0].edges[0].checks = vec![name("tests")];
    let write = workflow.steps.iter_mut().find(|it| it.id.as_str() == "write").unwrap();
    write.edges[0].checks = vec![name("tests")];
    let started = create("orchestrator", "analyst", story());
    let mut tester = Tester::begun_in(workflow, &started).unwrap();
    tester.checks = vec![name("tests")];
    tester.accepts(1);
    tester.completes(1, Outcome::Success, plan());
    check(&tester, expect!["HO-002 analyst→orchestrator pending; parked"]);
    runs(&mut tester, Verdict::Passed, "aaaa");
    check(
        &tester,
        expect![
            "HO-003 analyst→implementer pending, HO-004 analyst→documenter pending, HO-005 analyst→estimation pending; offered + offered + offered"
        ],
    );
    for no in 3..=5 {
        tester.accepts(no);
    }
    tester.completes(4, Outcome::Success, nothing());
    runs(&mut tester, Verdict::Failed, "bbbb");
    let back = tester.run.n_handoffs;
    let returned = tester.run.handoff(HandoffNo(back)).unwrap();
    assert_eq!((returned.to.agent.as_str(), returned.branch), ("documenter", 2));
    hands_on_again(&mut tester);
    runs(&mut tester, Verdict::Passed, "cccc");
    let agents: Vec<_> = tester.run.current_agents().map(ToString::to_string).collect();
    assert_eq!(agents, ["implementer", "estimation"], "the branch has arrived");
    tester.completes(5, Outcome::Success, nothing());
    tester.completes(3, Outcome::Success, nothing());
    let no = tester.run.n_handoffs;
    tester.accepts(no);
    tester.completes(no, Outcome::Success, nothing());
    assert_eq!(tester.run.current_agent().map(ToString::to_string).as_deref(), Some("reviewer"));
}
