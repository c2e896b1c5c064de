//! Hand-written scenarios of a run, which read like the rules they show.

use expect_test::{Expect, expect};

use super::fixture::*;
use crate::command::{Accept, Command, Create, Reject};
use crate::contract::Profile;
use crate::document::Node;
use crate::event::{Created, Event, HandoffEvent, evolve};
use crate::gate::Answer;
use crate::names::StepId;
use crate::outcome::Outcome;
use crate::refusal::Refusal;
use crate::run::{HandoffNo, RunStatus, State};
use crate::workflow::{Edge, Place, RejectRule, Step, Target};

#[track_caller]
pub(super) fn check(tester: &Tester, expected: Expect) {
    expected.assert_eq(&tester.shows());
}

#[track_caller]
pub(super) fn check_refused(tester: &mut Tester, command: &Command, expected: Expect) {
    let before = tester.run.clone();
    let refusal = tester.tries(command).unwrap_err();
    assert_eq!(tester.run, before, "a refusal changes nothing");
    expected.assert_eq(&format!("{}: {refusal}", refusal.code()));
}

#[test]
fn a_story_passes_through_the_whole_pipeline() {
    let mut tester = Tester::started();
    check(&tester, expect!["HO-001 orchestrator→analyst pending; offered"]);
    tester.accepts(1);
    check(&tester, expect!["HO-001 orchestrator→analyst accepted; held"]);
    tester.hands("analyst", "implementer", plan());
    check(&tester, expect!["HO-002 analyst→implementer pending; offered"]);
    tester.accepts(2);
    tester.completes(2, Outcome::Success, nothing());
    tester.accepts(3);
    tester.completes(3, Outcome::Success, nothing());
    tester.accepts(4);
    tester.completes(4, Outcome::Success, nothing());
    tester.accepts(5);
    check(&tester, expect!["HO-005 refactorer→documenter accepted; held"]);
    tester.completes(5, Outcome::Success, nothing());
    check(&tester, expect!["nothing open; done"]);
    assert_eq!(tester.run.status, RunStatus::Completed);
    let visited: Vec<&str> = tester.run.visited.iter().map(StepId::as_str).collect();
    assert_eq!(visited, ["analyze", "implement", "review", "refactor", "document"]);
}

#[test]
fn the_first_printed_line_of_the_pipeline_api_works_on_nothing() {
    let tester = Tester::begun(&create("analyst", "implementer", plan()));
    check(&tester, expect!["HO-001 analyst→implementer pending; offered"]);
    assert_eq!(tester.run.visited, [StepId::parse("analyze").unwrap()]);
}

#[test]
fn the_current_agent_is_whom_everybody_waits_for() {
    let current = |tester: &Tester| tester.run.current_agent().map(ToString::to_string);
    let mut tester = Tester::started();
    assert_eq!(current(&tester).as_deref(), Some("analyst"), "offered: its receiver");
    tester.accepts(1);
    assert_eq!(current(&tester).as_deref(), Some("analyst"), "held: its holder");
    tester.completes(1, Outcome::Blocked, nothing());
    assert_eq!(current(&tester).as_deref(), Some("human"), "parked: the person who is asked");
    tester.answers(2, Answer::Abort);
    assert_eq!(current(&tester), None, "at its end: no agent");
    let mut tester = Tester::started();
    tester.does(&cancel(1));
    assert_eq!(current(&tester), None, "loose: no agent");
}

#[test]
fn a_run_begins_only_along_an_edge() {
    let first = create("analyst", "documenter", plan());
    let refusal = Tester::begun_in(pipeline(), &first).map(|it| it.run).unwrap_err();
    expect![[
        "there is no edge from `analyze` to `documenter` here; from there it may go to `implementer` on success"
    ]]
    .assert_eq(&refusal.to_string());
    // The agent is right, the outcome is wrong.
    let first =
        Create { outcome: Some(Outcome::Failure), ..create("analyst", "implementer", plan()) };
    let refusal = Tester::begun_in(pipeline(), &first).map(|it| it.run).unwrap_err();
    expect![[
        "there is no edge from `analyze` to `implementer` on failure here; from there it may go to `implementer` on success"
    ]]
    .assert_eq(&refusal.to_string());
    let first = create("stranger", "analyst", plan());
    let refusal = Tester::begun_in(pipeline(), &first).map(|it| it.run).unwrap_err();
    expect![[
        "there is no edge from `stranger` to `analyst` here; `stranger` does no step of `story-pipeline`"
    ]]
    .assert_eq(&refusal.to_string());
}

#[test]
fn a_contract_refuses_with_every_problem_and_a_skeleton() {
    let mut tester = Tester::started();
    tester.accepts(1);
    tester.profile = Profile::Strict;
    let sent = Create {
        profile: Profile::Strict,
        ..create("analyst", "implementer", Node::map([("note", Node::text("mine"))]))
    };
    let refusal = tester.tries(&Command::Create(sent)).unwrap_err();
    let Refusal::Contract { problems, skeleton, .. } = refusal else { panic!("{refusal:?}") };
    let problems: Vec<String> = problems.iter().map(ToString::to_string).collect();
    assert_eq!(
        problems,
        [
            "plan: is missing: for the test [missing]",
            "files_to_modify: is missing: for the test [missing]"
        ]
    );
    assert_eq!(
        crate::canonical::text(&skeleton),
        r#"{"files_to_modify":["<text: for the test>"],"note":"mine","plan":"<text: for the test>"}"#
    );
}

#[test]
fn lenient_takes_what_is_usable_and_warns() {
    let mut tester = Tester::started();
    let decision = tester.hands("analyst", "implementer", plan());
    let warnings: Vec<&str> = decision.done.warnings.iter().map(|it| it.path.as_str()).collect();
    assert_eq!(warnings, ["files_to_modify"]);
    check_refused(
        &mut Tester::started(),
        &Command::Create(create("analyst", "implementer", nothing())),
        expect!["contract: the package breaks the contract `plan` (rules broken: 1)"],
    );
}

#[test]
fn only_the_receiver_answers_and_only_the_holder_hands_on() {
    let mut tester = Tester::started();
    let stranger = Some(agent("reviewer"));
    check_refused(
        &mut tester,
        &Command::Accept(Accept {
            handoff: HandoffNo(1),
            by: stranger.clone(),
            acknowledgement: None,
            lease: None,
        }),
        expect!["not_yours: only `analyst` may accept HO-001, not `reviewer`"],
    );
    check_refused(
        &mut tester,
        &Command::Reject(Reject {
            handoff: HandoffNo(1),
            by: stranger,
            reason: reason("no"),
            fence: None,
        }),
        expect!["not_yours: only `analyst` may reject HO-001, not `reviewer`"],
    );
    tester.accepts(1);
    check_refused(
        &mut tester,
        &accept(1),
        expect![
            "already_accepted: HO-001 is already accepted by `analyst`; wait for it, or take other work"
        ],
    );
    check_refused(
        &mut tester,
        &Command::Create(create("implementer", "reviewer", nothing())),
        expect![
            "not_holder: `implementer` does not have the baton: `analyst` holds it with HO-001"
        ],
    );
}

#[test]
fn an_error_goes_back_to_the_orchestrator_from_anywhere() {
    let mut tester = at_review();
    let error = Node::map([("error", Node::map([("message", Node::text("no disk"))]))]);
    tester.hands("reviewer", "orchestrator", error);
    check(&tester, expect!["nothing open; loose"]);
    tester.hands("orchestrator", "reviewer", nothing());
    check(&tester, expect!["HO-005 orchestrator→reviewer pending; offered"]);
    check_refused(
        &mut at_review(),
        &Command::Create(create("reviewer", "orchestrator", nothing())),
        expect![
            "not_an_edge: there is no edge from `review` to `orchestrator` here; from there it may go to `refactorer` on success, `implementer` on failure"
        ],
    );
}

#[test]
fn what_comes_back_to_the_orchestrator_lies_loose_there() {
    let mut tester = Tester::started();
    tester.rejects(1, "not a story");
    check(&tester, expect!["nothing open; loose"]);
    tester.hands("orchestrator", "analyst", story());
    check(&tester, expect!["HO-003 orchestrator→analyst pending; offered"]);
}

#[test]
fn a_loose_baton_lies_at_the_sender_before_it_is_accepted_and_at_the_receiver_after() {
    let place = |tester: &Tester| tester.run.current_place().unwrap().to_string();
    let mut tester = at_review();
    tester.does(&time_out(3));
    assert_eq!(place(&tester), "review");
    let mut tester = Tester::started();
    tester.does(&time_out(1));
    assert_eq!(place(&tester), "orchestrator");
    let mut tester = Tester::started();
    tester.hands("analyst", "implementer", plan());
    tester.does(&cancel(2));
    assert_eq!(place(&tester), "analyze");
}

#[test]
fn a_duplicate_is_refused_and_may_be_superseded() {
    let mut tester = Tester::started();
    tester.hands("analyst", "implementer", plan());
    let again = create("analyst", "implementer", plan());
    check_refused(
        &mut tester,
        &Command::Create(again.clone()),
        expect![
            "duplicate: HO-002 from `analyst` to `implementer` is still pending; answer it, or supersede it"
        ],
    );
    let by_another =
        Create { supersedes: Some(HandoffNo(2)), ..create("reviewer", "implementer", nothing()) };
    check_refused(
        &mut tester,
        &Command::Create(by_another),
        expect!["not_yours: only `analyst` may supersede HO-002, not `reviewer`"],
    );
    tester.does(&Command::Create(Create { supersedes: Some(HandoffNo(2)), ..again }));
    check(&tester, expect!["HO-003 analyst→implementer pending; offered"]);
}

/// A restarted step works from its own input, not from an error or a later package.
#[test]
fn a_step_that_begins_again_gets_what_it_had_been_given() {
    let mut tester = Tester::started();
    let story = tester.run.package;
    tester.accepts(1);
    tester.hands("analyst", "orchestrator", Node::map([("error", Node::text("no disk"))]));
    tester.hands("orchestrator", "analyst", nothing());
    assert_eq!(tester.run.current().unwrap().package, story, "not the error");
    let mut tester = at_review();
    let plan =
        tester.run.given_in(0, &Place::Step(StepId::parse("implement").unwrap())).unwrap().package;
    tester.does(&goto("implement"));
    assert_eq!(tester.run.current().unwrap().package, plan, "not its own result");
}

#[test]
fn what_the_orchestrator_offers_again_is_rejected_to_whoever_had_sent_it() {
    let mut tester = at_review();
    tester.does(&time_out(3));
    tester.hands("orchestrator", "reviewer", nothing());
    tester.accepts(4);
    tester.rejects(4, "the tests fail");
    check(&tester, expect!["HO-005 reviewer→implementer pending; offered"]);
    assert_eq!(
        tester.run.all_rounds().next().unwrap().1.n,
        1,
        "counted on the edge that it had come by"
    );
}

#[test]
fn a_pause_lets_held_work_finish_and_nothing_begin() {
    let mut tester = at_review();
    tester.does(&Command::Pause { reason: None });
    tester.completes(3, Outcome::Success, nothing());
    let hand_on = Command::Create(create("refactorer", "documenter", nothing()));
    for command in [accept(4), hand_on] {
        let paused = expect!["paused: the run is paused; type `baton run resume RUN` first"];
        check_refused(&mut tester, &command, paused);
    }
    tester.does(&Command::Resume);
    tester.accepts(4);
}

#[test]
fn only_an_optional_step_is_skipped() {
    let mut tester = at_review();
    check_refused(
        &mut tester,
        &complete(3, Outcome::Skipped, nothing()),
        expect!["not_optional: the step `review` is not optional and cannot be skipped"],
    );
    tester.completes(3, Outcome::Success, plan());
    let given = tester.run.package;
    let mut other = at_review();
    other.completes(3, Outcome::Success, nothing());
    tester.does(&skip());
    check(&tester, expect!["HO-005 orchestrator→documenter pending; offered"]);
    assert_eq!(tester.run.current().unwrap().package, given);
    other.accepts(4);
    other.completes(4, Outcome::Skipped, nothing());
    check(&other, expect!["HO-005 refactorer→documenter pending; offered"]);
}

#[test]
fn a_run_goes_back_only_to_where_it_has_been() {
    let mut tester = at_review();
    check_refused(
        &mut tester,
        &goto("document"),
        expect![
            "not_visited: there is no step `document` that the run has been at; it has been at: analyze, implement, review"
        ],
    );
    tester.does(&goto("implement"));
    check(&tester, expect!["HO-004 orchestrator→implementer pending; offered"]);
}

#[test]
fn stale_is_a_mark_and_the_late_may_still_answer() {
    let mut tester = Tester::started();
    let mark = Command::MarkStale { handoff: HandoffNo(1) };
    tester.wait(29);
    check_refused(
        &mut tester,
        &mark,
        expect!["not_due: HO-001 is not due before 1970-01-12T14:16:40Z"],
    );
    tester.wait(1);
    tester.does(&mark);
    check_refused(&mut tester, &mark, expect!["already_stale: HO-001 is marked stale already"]);
    tester.accepts(1);
    assert!(!tester.run.current().unwrap().is_stale, "it has moved");
    tester.wait(30);
    tester.does(&mark);
    tester.completes(1, Outcome::Success, plan());
}

#[test]
fn a_stale_mark_does_not_count_as_a_move() {
    let mut tester = Tester::started();
    let moved_at = tester.run.moved_at;
    tester.wait(30);
    let decision = tester.does(&Command::MarkStale { handoff: HandoffNo(1) });
    assert_eq!(tester.run.moved_at, moved_at);
    // Earlier versions counted the mark, and what they wrote is read as they meant it.
    let mut earlier = tester.run.clone();
    let old = HandoffEvent::Stale { handoff: HandoffNo(1), is_no_move: false };
    let at = moved_at + jiff::SignedDuration::from_mins(30);
    evolve(&mut earlier, &old.into(), at);
    assert_eq!(earlier.moved_at, at);
    assert_eq!(decision.events.len(), 1);
}

#[test]
fn a_handoff_has_a_reason_whoever_gives_it() {
    let created_reason = |decision: &super::Decision| {
        let id = created(decision).reason;
        let content = decision.contents.iter().find(|it| it.id == id);
        content.unwrap().text.to_string()
    };
    let mut tester = Tester::started();
    let decision = tester.hands("analyst", "implementer", plan());
    assert_eq!(created_reason(&decision), "Step requires IMPLEMENTER expertise");
    let mut tester = at_review();
    let given = Create {
        reason: Some(reason("it is good")),
        ..create("reviewer", "refactorer", nothing())
    };
    assert_eq!(created_reason(&tester.does(&Command::Create(given))), "it is good");
    let mut tester = at_review();
    let decision = tester.hands("reviewer", "implementer", findings(&["a.rs:1"]));
    assert_eq!(created_reason(&decision), "see the issues");
}

#[test]
fn an_agent_may_hand_off_to_itself() {
    let mut workflow = pipeline();
    workflow.steps[1].agents = vec![agent("analyst")];
    let mut tester =
        Tester::begun_in(workflow, &create("orchestrator", "analyst", story())).unwrap();
    tester.accepts(1);
    tester.hands("analyst", "analyst", plan());
    check(&tester, expect!["HO-002 analyst→analyst pending; offered"]);
    tester.accepts(2);
    tester.hands("analyst", "reviewer", nothing());
    check(&tester, expect!["HO-003 analyst→reviewer pending; offered"]);
}

#[test]
fn with_several_agents_the_sender_says_which() {
    let mut workflow = pipeline();
    workflow.steps[1].agents.push(agent("helper"));
    let mut tester =
        Tester::begun_in(workflow, &create("orchestrator", "analyst", story())).unwrap();
    tester.accepts(1);
    check_refused(
        &mut tester,
        &complete(1, Outcome::Success, plan()),
        expect![
            "choose_receiver: the step `analyze` has several ways on for `success`; name one of `implementer`, `helper`"
        ],
    );
    tester.hands("analyst", "helper", plan());
    check(&tester, expect!["HO-002 analyst→helper pending; offered"]);
}

#[test]
fn a_step_says_where_its_rejects_go() {
    let mut workflow = pipeline();
    workflow.steps[2].reject = RejectRule::To(StepId::parse("analyze").unwrap());
    workflow.steps[1].reject = RejectRule::Never;
    let mut tester =
        Tester::begun_in(workflow, &create("orchestrator", "analyst", story())).unwrap();
    tester.hands("analyst", "implementer", plan());
    check_refused(
        &mut tester,
        &reject(2, "no"),
        expect!["reject_never: the step `implement` does not let its work be rejected"],
    );
    tester.hands("implementer", "reviewer", nothing());
    tester.rejects(3, "wrong plan");
    check(&tester, expect!["HO-004 reviewer→analyst pending; offered"]);
}

#[test]
fn a_declared_failure_edge_is_taken() {
    let mut workflow = pipeline();
    let to_fixer = Edge { on: Outcome::Failure, ..to("fix") };
    workflow.steps[2].edges[1] = to_fixer;
    workflow.steps.push(Step { ..step("fix", "helper", vec![to("review")]) });
    assert_eq!(workflow.problems(), []);
    let mut tester =
        Tester::begun_in(workflow, &create("orchestrator", "analyst", story())).unwrap();
    tester.hands("analyst", "implementer", plan());
    tester.hands("implementer", "reviewer", nothing());
    tester.accepts(3);
    tester.completes(3, Outcome::Failure, nothing());
    check(&tester, expect!["HO-004 reviewer→helper pending; offered"]);
}

#[test]
fn a_workflow_says_everything_that_is_wrong_with_it() {
    let mut workflow = pipeline();
    workflow.steps[0].edges[0].contract = Some("plans".to_owned());
    workflow.steps[1].edges[0] = to("reviwe");
    workflow.steps[3].agents = vec![agent("human")];
    workflow.steps[4].edges[0] = Edge { is_back: true, to: Target::Complete, ..to("x") };
    let problems: Vec<String> = workflow.problems().iter().map(ToString::to_string).collect();
    expect![[r#"
        steps.analyze.on.success.contract: there is no contract `plans`; known: story, plan [no_such_contract]
        steps.implement.on.success.to: there is no step `reviwe`; known: analyze, implement, review, refactor, document; `complete` is the end of the run [no_such_step]
        steps.refactor.agent: `human` is reserved and cannot do a step [reserved_agent]
        steps.document.on.success.back: a back edge leads to a step, not to the end [back_to_end]"#]]
    .assert_eq(&problems.join("\n"));
    let mut workflow = pipeline();
    workflow.steps[1].edges[0] = to("document");
    let problems: Vec<String> = workflow.problems().iter().map(ToString::to_string).collect();
    expect![[r#"
        steps.review: no edge leads here from the start; name it in `to` of an edge, or remove it [unreachable]
        steps.refactor: no edge leads here from the start; name it in `to` of an edge, or remove it [unreachable]"#]]
    .assert_eq(&problems.join("\n"));
}

/// The first handoff that a decision created.
pub(super) fn created(decision: &super::Decision) -> &Created {
    for event in &decision.events {
        if let Event::Handoff(HandoffEvent::Created(created)) = event {
            return created;
        }
    }
    panic!("it made none")
}

/// The reviewer holds `HO-003`.
pub(super) fn at_review() -> Tester {
    let mut tester = Tester::started();
    tester.accepts(1);
    tester.hands("analyst", "implementer", plan());
    tester.accepts(2);
    tester.hands("implementer", "reviewer", nothing());
    tester.accepts(3);
    assert_eq!(tester.run.current().unwrap().state, State::Accepted);
    tester
}

/// The implementer takes the work back and hands it in again; the reviewer holds it.
#[track_caller]
pub(super) fn back_to_review(tester: &mut Tester) {
    let no = tester.run.n_handoffs;
    tester.accepts(no);
    tester.hands("implementer", "reviewer", nothing());
    tester.accepts(no + 1);
}
