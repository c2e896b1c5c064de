//! Fan-out and join as stories: branches go their own ways, and meet again.

use super::fixture::*;
use crate::command::{Command, Complete, Receivers, Way};
use crate::gate::{Answer, GateKind};
use crate::names::{AgentId, StepId};
use crate::outcome::Outcome;
use crate::refusal::Refusal;
use crate::run::{Baton, HandoffNo, RunStatus};
use crate::workflow::{Edge, EdgeGate, FanOut, JoinNeed, Place, Step, Target, Workflow};

/// The analyst's plan fans out to `build` (and on to `polish`), `write` and `probe`, which join at
/// `review`.
pub(super) fn fanned(need: JoinNeed) -> Workflow {
    let failed = |edge: Edge| Edge { on: Outcome::Failure, ..edge };
    let base = pipeline();
    let steps = vec![
        step("analyze", "analyst", vec![fan_edge(need)]),
        Step {
            delegates: base.steps[1].delegates.clone(),
            ..step("build", "implementer", vec![to("polish")])
        },
        step("polish", "refactorer", vec![to("review")]),
        Step { is_optional: true, ..step("write", "documenter", vec![to("review")]) },
        step("probe", "estimation", vec![to("review"), failed(to("review"))]),
        step(
            "review",
            "reviewer",
            vec![
                Edge { to: Target::Complete, ..to("x") },
                Edge { is_back: true, ..failed(to("analyze")) },
            ],
        ),
    ];
    let workflow = Workflow { steps, ..base };
    assert_eq!(workflow.problems(), []);
    workflow
}

fn fan_edge(need: JoinNeed) -> Edge {
    let id = |it: &str| StepId::parse(it).unwrap();
    let branches = ["build", "write", "probe"].map(id).to_vec();
    Edge { fan_out: Some(FanOut { branches, join: id("review"), need }), ..to("build") }
}

pub(super) fn forked(need: JoinNeed) -> Tester {
    forked_in(fanned(need))
}

/// The analyst has handed on: `HO-002` to `HO-004` are offered.
#[expect(
    clippy::redundant_clone,
    reason = "a clone has a graph of its own: tests change workflows"
)]
pub(super) fn forked_in(workflow: Workflow) -> Tester {
    let workflow = workflow.clone();
    let mut tester =
        Tester::begun_in(workflow, &create("orchestrator", "analyst", story())).unwrap();
    tester.accepts(1);
    tester.completes(1, Outcome::Success, plan());
    tester
}

pub(super) fn agents_of(tester: &Tester) -> Vec<String> {
    tester.run.current_agents().map(ToString::to_string).collect()
}

#[test]
fn the_work_goes_to_every_branch_at_once_and_joins_when_all_have_arrived() {
    let mut tester = forked(JoinNeed::All);
    assert_eq!(
        tester.shows(),
        "HO-002 analyst→implementer pending, HO-003 analyst→documenter pending, \
         HO-004 analyst→estimation pending; offered + offered + offered"
    );
    assert_eq!(agents_of(&tester), ["implementer", "documenter", "estimation"]);
    assert_eq!(tester.run.current_agent(), Some(&agent("implementer")));
    for no in 2..=4 {
        tester.accepts(no);
    }
    tester.completes(3, Outcome::Success, nothing());
    assert_eq!(agents_of(&tester), ["implementer", "estimation"]);
    tester.completes(4, Outcome::Failure, findings(&["a.rs:1"]));
    tester.completes(2, Outcome::Success, nothing());
    assert_eq!(tester.shows(), "HO-007 implementer→refactorer pending; offered");
    assert_eq!(tester.run.branches[0].no, 1);
    tester.accepts(7);
    tester.completes(7, Outcome::Success, nothing());
    assert_eq!(tester.shows(), "HO-009 orchestrator→reviewer pending; offered");
    assert_eq!((tester.run.branches[0].no, tester.run.fork.as_ref()), (0, None));
    let joined = tester.run.handoff(HandoffNo(9)).unwrap().package.unwrap();
    assert_eq!(
        tester.text(joined),
        r#"{"joined":{"at":"review","branches":[{"agent":"refactorer","branch":"build","handoff":"HO-008","outcome":"success","step":"polish"},{"agent":"documenter","branch":"write","handoff":"HO-005","outcome":"success","step":"write"},{"agent":"estimation","branch":"probe","handoff":"HO-006","outcome":"failure","step":"probe"}],"from":"analyze"},"story_id":"s1","summary":"Joined at review: 3 of 3 branches of the work of analyst have arrived: success by refactorer in HO-008; success by documenter in HO-005; failure by estimation in HO-006."}"#
    );
    tester.accepts(9);
    tester.completes(9, Outcome::Success, nothing());
    assert_eq!(tester.run.status, RunStatus::Completed);
    assert_eq!(tester.run.branches.len(), 1);
}

#[test]
fn a_fan_out_and_a_join_count_once() {
    let mut tester = forked(JoinNeed::All);
    let id = |it: &str| StepId::parse(it).unwrap();
    for (branch, step) in [(1, "build"), (2, "write"), (3, "probe")] {
        assert_eq!(tester.run.entries(branch, &id(step)), 1, "{step}");
    }
    for no in [2, 3, 4] {
        tester.completes(no, Outcome::Success, nothing());
    }
    tester.completes(5, Outcome::Success, nothing());
    assert_eq!(tester.run.entries(0, &id("review")), 1);
    assert_eq!(tester.run.entries(0, &id("analyze")), 1);
}

#[test]
fn any_takes_the_first_and_the_fences_of_the_others_die() {
    let mut tester = forked(JoinNeed::Any);
    tester.does(&accept_with(2, 20));
    tester.accepts(3);
    let decision = tester.completes(3, Outcome::Success, nothing());
    assert_eq!(decision.done.cancelled, [HandoffNo(2), HandoffNo(4)]);
    assert_eq!(tester.shows(), "HO-006 orchestrator→reviewer pending; offered");
    let late = tester.tries(&complete(2, Outcome::Success, nothing()));
    assert_eq!(late, Err(Refusal::Finished { handoff: HandoffNo(2) }));
    let late = tester.tries(&lose(2, 1));
    assert_eq!(late, Err(Refusal::Finished { handoff: HandoffNo(2) }));
}

#[test]
fn k_of_n_waits_for_as_many_as_it_needs() {
    let mut tester = forked(JoinNeed::AtLeast(2));
    tester.completes(3, Outcome::Success, nothing());
    assert_eq!(agents_of(&tester), ["implementer", "estimation"]);
    tester.completes(4, Outcome::Success, nothing());
    assert_eq!(tester.shows(), "HO-007 orchestrator→reviewer pending; offered");
}

#[test]
fn an_agent_hands_on_in_the_branch_where_it_has_the_work() {
    let mut tester = forked(JoinNeed::All);
    tester.accepts(3);
    tester.accepts(2);
    tester.hands("implementer", "refactorer", nothing());
    tester.hands("documenter", "reviewer", nothing());
    assert_eq!(agents_of(&tester), ["refactorer", "estimation"]);
    let refusal =
        tester.tries(&crate::command::Command::Create(create("reviewer", "documenter", nothing())));
    assert!(matches!(refusal, Err(Refusal::NotHolder { .. })), "{refusal:?}");
}

#[test]
fn a_sender_that_names_the_agent_of_the_join_means_the_branches() {
    let workflow = fanned(JoinNeed::All);
    let mut tester =
        Tester::begun_in(workflow, &create("orchestrator", "analyst", story())).unwrap();
    tester.hands("analyst", "reviewer", plan());
    assert_eq!(agents_of(&tester), ["implementer", "documenter", "estimation"]);
}

#[test]
fn a_reject_stays_in_its_branch_and_comes_back_to_it_alone() {
    let mut tester = forked(JoinNeed::All);
    tester.accepts(2);
    tester.rejects(3, "this is no text");
    assert_eq!(
        tester.shows(),
        "HO-002 analyst→implementer accepted, HO-004 analyst→estimation pending, \
         HO-005 documenter→analyst pending; held + offered + offered"
    );
    tester.rejects(4, "nor this");
    tester.accepts(5);
    tester.accepts(6);
    // The analyst has both back. It names the receiver, and so the branch.
    tester.hands("analyst", "estimation", plan());
    assert_eq!(tester.run.handoff(HandoffNo(7)).unwrap().branch, 3);
    tester.completes(5, Outcome::Success, plan());
    assert_eq!(
        tester.shows(),
        "HO-002 analyst→implementer accepted, HO-007 analyst→estimation pending, \
         HO-008 analyst→documenter pending; held + offered + offered"
    );
    let forward = tester.run.handoff(HandoffNo(8)).unwrap().forward.clone();
    assert_eq!(tester.run.rounds(2, &forward).unwrap().n, 1);
    assert_eq!(tester.run.rounds(3, &forward), None);
}

#[test]
fn too_many_rounds_ask_a_person_in_that_branch_and_the_others_go_on() {
    let mut tester = forked(JoinNeed::All);
    let mut no = 3;
    for _ in 0..3 {
        let back = tester.rejects(no, "again").done.returned.unwrap().0;
        no = tester.completes(back, Outcome::Success, plan()).done.handoff.unwrap().0;
    }
    let gate = tester.rejects(no, "again").done.gate.unwrap();
    assert_eq!(tester.run.handoff(gate).unwrap().branch, 2);
    tester.completes(2, Outcome::Success, nothing());
    tester.completes(4, Outcome::Success, nothing());
    assert_eq!(agents_of(&tester), ["refactorer", "human"]);
    // The person takes the documenter's work as it is: its branch arrives.
    tester.answers(gate.0, Answer::Accept);
    assert_eq!(agents_of(&tester), ["refactorer"]);
}

#[test]
fn what_the_join_rejects_goes_back_to_the_party_that_fanned_out_and_fans_out_again() {
    let mut tester = forked(JoinNeed::AtLeast(2));
    tester.completes(3, Outcome::Success, nothing());
    tester.completes(4, Outcome::Success, nothing());
    tester.rejects(7, "not enough");
    assert_eq!(tester.shows(), "HO-008 reviewer→analyst pending; offered");
    tester.completes(8, Outcome::Success, plan());
    assert_eq!(agents_of(&tester), ["implementer", "documenter", "estimation"]);
    // The gate opens instead of one fan-out more, and its answer fans out.
    let mut back = 0;
    for _ in 0..3 {
        let open: Vec<u32> = tester.run.handoffs.iter().map(|it| it.no.0).collect();
        tester.completes(open[1], Outcome::Success, nothing());
        tester.completes(open[2], Outcome::Success, nothing());
        let joined = tester.run.handoffs[0].no.0;
        let decision = tester.rejects(joined, "still not");
        let Some(returned) = decision.done.returned else {
            back = decision.done.gate.unwrap().0;
            break;
        };
        tester.completes(returned.0, Outcome::Success, plan());
    }
    tester.answers(back, Answer::Continue);
    let returned = tester.run.handoffs[0].no.0;
    tester.completes(returned, Outcome::Success, plan());
    assert_eq!(tester.run.branches.len(), 3);
}

#[test]
fn questions_delegations_and_blocks_stay_in_their_branch() {
    let mut tester = forked(JoinNeed::All);
    for no in 2..=4 {
        tester.accepts(no);
    }
    tester.does(&way(Way::Delegation, create("implementer", "helper", nothing())));
    tester.does(&clarify(3, "For whom?"));
    tester.completes(4, Outcome::Blocked, nothing());
    assert_eq!(
        tester.shows(),
        "HO-002 analyst→implementer parked, HO-003 analyst→documenter clarification, \
         HO-005 implementer→helper pending, HO-006 documenter→analyst pending, \
         HO-007 orchestrator→human pending; offered + offered + parked"
    );
    assert_eq!(tester.run.blockers[0].branch, 3);
    assert_eq!(agents_of(&tester), ["helper", "analyst", "human"]);
    // Each goes on by itself.
    tester.does(&reply(3, "For users."));
    tester.answers(7, Answer::Continue);
    assert!(tester.run.blockers.is_empty());
    tester.accepts(5);
    tester.completes(5, Outcome::Success, nothing());
    tester.accepts(9);
    assert_eq!(
        tester.shows(),
        "HO-002 analyst→implementer accepted, HO-003 analyst→documenter pending, \
         HO-008 human→estimation pending; held + offered + offered"
    );
}

#[test]
fn a_loser_ends_with_everything_that_is_open_in_it() {
    let mut tester = forked(JoinNeed::Any);
    for no in 2..=4 {
        tester.accepts(no);
    }
    tester.does(&way(Way::Delegation, create("implementer", "helper", nothing())));
    tester.completes(4, Outcome::Blocked, nothing());
    tester.completes(3, Outcome::Success, nothing());
    assert_eq!(tester.shows(), "HO-008 orchestrator→reviewer pending; offered");
    assert!(tester.run.frames.is_empty() && tester.run.blockers.is_empty());
    assert!(tester.run.counters.iter().all(|it| it.branch == 0 || it.n > 0));
}

#[test]
fn a_lost_lease_is_retried_in_its_branch() {
    let mut tester = forked(JoinNeed::All);
    tester.does(&accept_with(3, 20));
    tester.wait(1);
    tester.does(&lose(3, 1));
    let again = tester.run.handoff(HandoffNo(5)).unwrap();
    assert_eq!((again.branch, again.attempt), (2, 2));
    assert!(matches!(tester.run.baton_in(2), Baton::Parked { .. }));
    assert!(matches!(tester.run.baton_in(1), Baton::Offered { .. }));
}

fn gate() -> Option<EdgeGate> {
    Some(EdgeGate::plain(GateKind::Blocking, "release"))
}

#[test]
fn a_gate_before_the_branches_holds_all_of_them() {
    let mut workflow = fanned(JoinNeed::All);
    workflow.steps[0].edges[0].gate = gate();
    let mut tester = forked_in(workflow);
    assert_eq!(tester.shows(), "HO-002 analyst→human pending; parked");
    tester.answers(2, Answer::Approve);
    assert_eq!(tester.run.branches.len(), 3);
    assert!(tester.run.branches.iter().all(|it| it.passed.as_ref().unwrap().len() == 1));
    // Work that comes back to the analyst in one branch passes the gate again, in that branch.
    tester.rejects(4, "no");
    tester.completes(6, Outcome::Success, plan());
    assert_eq!(agents_of(&tester), ["implementer", "human", "estimation"]);
    tester.answers(7, Answer::Approve);
    assert_eq!(agents_of(&tester), ["implementer", "documenter", "estimation"]);
}

#[test]
fn a_gate_inside_a_branch_holds_that_branch_and_the_join_has_passed_it() {
    let mut workflow = fanned(JoinNeed::All);
    workflow.steps[1].edges[0].gate = gate();
    let workflow = workflow.clone();
    let before = workflow.graph().gates_before(&StepId::parse("review").unwrap()).len();
    assert_eq!(before, 1, "all branches arrive, and so all of their gates are before the join");
    let mut tester = forked_in(workflow);
    tester.completes(2, Outcome::Success, nothing());
    tester.completes(3, Outcome::Success, nothing());
    assert_eq!(agents_of(&tester), ["human", "estimation"]);
    tester.answers(5, Answer::Approve);
    tester.completes(4, Outcome::Success, nothing());
    tester.completes(7, Outcome::Success, nothing());
    assert_eq!(agents_of(&tester), ["reviewer"]);
    assert_eq!(tester.run.passed().unwrap().len(), 1);
}

#[test]
fn a_gate_on_the_way_to_the_join_is_waived_on_record_with_the_work() {
    let mut workflow = fanned(JoinNeed::All);
    workflow.steps[4].edges[0].gate = gate();
    workflow.limits.retries = 0;
    workflow.steps[4].edges.truncate(1);
    let mut tester = forked_in(workflow);
    tester.completes(4, Outcome::Failure, nothing());
    tester.answers(5, Answer::Accept);
    for no in [2, 3] {
        tester.completes(no, Outcome::Success, nothing());
    }
    let polish = tester.run.handoffs[0].no.0;
    tester.completes(polish, Outcome::Success, nothing());
    assert_eq!(agents_of(&tester), ["reviewer"]);
}

#[test]
fn a_gate_that_one_of_any_passes_is_not_before_the_join() {
    let mut workflow = fanned(JoinNeed::Any);
    workflow.steps[1].edges[0].gate = gate();
    let workflow = workflow.clone();
    let review = StepId::parse("review").unwrap();
    assert_eq!(workflow.graph().gates_before(&review).len(), 0);
    let mut tester = forked_in(workflow);
    tester.completes(3, Outcome::Success, nothing());
    assert_eq!(agents_of(&tester), ["reviewer"]);
}

#[test]
fn a_branch_does_not_leave_its_steps() {
    let mut workflow = fanned(JoinNeed::All);
    // The analyst may also go elsewhere with its work; not in a branch.
    workflow.steps[0].edges.push(Edge { on: Outcome::Failure, ..to("review") });
    let mut tester = forked_in(workflow);
    tester.rejects(3, "no");
    let outside = tester.tries(&complete(5, Outcome::Failure, findings(&["a"])));
    // To the join is the one way out: it counts as this branch's arrival.
    assert!(outside.is_ok(), "{outside:?}");
    assert_eq!(agents_of(&tester), ["implementer", "estimation"]);
}

#[test]
fn agents_of_first_steps_are_told_apart() {
    let tester = forked(JoinNeed::All);
    let agents: Vec<AgentId> = tester.workflow.agents_along(&tester.workflow.steps[0].edges[0]);
    assert_eq!(agents, [agent("implementer"), agent("documenter"), agent("estimation")]);
    let place = Place::Step(StepId::parse("write").unwrap());
    assert!(tester.workflow.steps[0].edges[0].leads_to(&place));
}

fn hands_to(tester: &Tester, outcome: Outcome, to: &[&str]) -> Command {
    let no = tester.run.current().unwrap().no.0;
    let Command::Complete(done) = complete(no, outcome, plan()) else { unreachable!() };
    let to = Receivers::of(to.iter().map(|it| agent(it)));
    Command::Complete(Complete { to, ..done })
}

#[test]
fn a_sender_may_name_all_receivers_of_a_fan_out_in_any_order() {
    for to in
        [["implementer", "documenter", "estimation"], ["estimation", "implementer", "documenter"]]
    {
        let first = create("orchestrator", "analyst", story());
        let mut tester = Tester::begun_in(fanned(JoinNeed::All), &first).unwrap();
        tester.does(&hands_to(&tester, Outcome::Success, &to));
        assert_eq!(agents_of(&tester), ["implementer", "documenter", "estimation"]);
    }
}

#[test]
fn a_list_that_is_not_the_fan_outs_is_refused_with_the_one_that_is() {
    let first = create("orchestrator", "analyst", story());
    let mut tester = Tester::begun_in(fanned(JoinNeed::All), &first).unwrap();
    let (all, one) = (
        "on success it goes to `implementer`, `documenter`, `estimation` at once",
        "`analyze` hands to one receiver on failure",
    );
    for (outcome, to, known) in [
        (Outcome::Success, ["implementer", "documenter"].as_slice(), all),
        (Outcome::Success, &["implementer", "documenter", "reviewer"], all),
        (Outcome::Success, &["implementer", "implementer", "estimation"], all),
        (Outcome::Success, &["implementer", "documenter", "estimation", "reviewer"], all),
        (Outcome::Failure, &["implementer", "documenter", "estimation"], one),
    ] {
        let refusal = tester.tries(&hands_to(&tester, outcome, to)).unwrap_err();
        let named: Vec<String> = to.iter().map(|it| format!("`{it}`")).collect();
        assert_eq!(
            refusal.to_string(),
            format!(
                "`analyze` does not hand to {} together: {known}; name all of them, one of them, \
                 or leave the receiver out",
                named.join(", ")
            )
        );
        assert_eq!(refusal.code(), "not_an_edge");
    }
    // Inside a branch, and where a step has one receiver, a list is none.
    tester.does(&hands_to(&tester, Outcome::Success, &[]));
    tester.rejects(3, "not so");
    let back = tester.run.handoffs.iter().find(|it| it.to.agent.as_str() == "analyst").unwrap().no;
    let Command::Complete(done) = complete(back.0, Outcome::Success, plan()) else {
        unreachable!()
    };
    let to = Receivers::of(["implementer", "documenter", "estimation"].map(agent));
    let again = Command::Complete(Complete { to, ..done });
    assert_eq!(tester.would(&again).unwrap_err().code(), "not_an_edge");
}
