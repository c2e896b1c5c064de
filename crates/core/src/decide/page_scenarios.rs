//! The YAML handoff as scenarios: its four types of handoff, its gate, its acknowledgement.

use expect_test::expect;

use super::fixture::*;
use super::project::*;
use super::scenarios::{check, check_refused, created};
use super::states::gate_on;
use crate::acknowledgement::Acknowledgement;
use crate::command::{Accept, Command, Create, GateAnswer, Way};
use crate::document::Node;
use crate::evidence::{MOST_CHECKS, Verdict};
use crate::gate::{Answer, GateKind};
use crate::outcome::Outcome;
use crate::run::{HandoffNo, Kind, RunStatus, State};
use crate::workflow::{Expiry, OnExpire};

#[test]
fn sequential_agent_to_next_agent_in_the_workflow() {
    let mut tester = project();
    tester.accepts(1);
    let specs = summary("User stories defined and validated by client");
    tester.hands("specification", "architecture", specs);
    check(&tester, expect!["HO-002 specification→human pending; parked"]);
    tester.answers(2, Answer::Approve);
    check(&tester, expect!["HO-003 specification→architecture pending; offered"]);
    assert_eq!(tester.run.current().unwrap().kind, Kind::Sequential);
}

#[test]
fn delegation_agent_to_specialist_and_return_to_the_calling_agent() {
    let mut tester = at_architecture();
    let fence = tester.run.current().unwrap().fence;
    tester.hands("architecture", "security-check", task("Risk report"));
    check(
        &tester,
        expect![
            "HO-003 specification→architecture parked, HO-004 architecture→security-check pending; offered"
        ],
    );
    assert_eq!(tester.run.current().unwrap().kind, Kind::Delegation);
    check_refused(
        &mut tester,
        &Command::Create(create("architecture", "estimation", summary("done"))),
        expect![
            "frame_open: HO-003 is parked: HO-004 offers it to `security-check`; its holder continues when that is returned"
        ],
    );
    tester.accepts(4);
    let report = summary("2 risks identified, recommendations provided");
    tester.hands("security-check", "architecture", report);
    check(
        &tester,
        expect![
            "HO-003 specification→architecture parked, HO-005 security-check→architecture pending; offered"
        ],
    );
    let returned = tester.run.current().unwrap();
    assert_eq!((returned.kind, returned.brings), (Kind::Return, Some(Outcome::Success)));
    tester.accepts(5);
    check(&tester, expect!["HO-003 specification→architecture accepted; held"]);
    assert!(tester.run.current().unwrap().fence > fence, "the caller holds it anew");
}

#[test]
fn escalation_agent_to_human_for_a_decision() {
    let mut tester = at_architecture();
    tester.completes(3, Outcome::Success, summary("API designed"));
    tester.accepts(5);
    let question = Node::map([
        ("summary", Node::text("Two possible approaches with significant trade-offs")),
        ("expectations", Node::map([("deliverable", Node::text("Validated choice"))])),
    ]);
    tester.hands("estimation", "human", question);
    // The advisory `HO-004` is beside estimation's work, and blocks nothing.
    check(
        &tester,
        expect![
            "HO-004 architecture→human pending, HO-005 architecture→estimation parked, HO-006 estimation→human pending; parked"
        ],
    );
    check_refused(
        &mut tester,
        &answer_gate(6, Answer::Reply),
        expect!["comment_required: the answer `answer` to HO-006 needs a comment; add one"],
    );
    let decision = tester.does(&says(6, Answer::Reply, "Time-to-market: approach A"));
    check(
        &tester,
        expect!["HO-004 architecture→human pending, HO-005 architecture→estimation accepted; held"],
    );
    let answer = created(&decision);
    assert_eq!((answer.kind, answer.from.agent.as_str()), (Kind::Return, "human"));
}

#[test]
fn two_nested_delegations_with_the_inner_one_rejected() {
    let mut tester = at_architecture();
    tester.hands("architecture", "security-check", task("Risk report"));
    tester.accepts(4);
    let ask = create("security-check", "crypto-check", task("Is the key rotation sound?"));
    tester.does(&way(Way::Delegation, ask));
    check(
        &tester,
        expect![
            "HO-003 specification→architecture parked, HO-004 architecture→security-check parked, HO-005 security-check→crypto-check pending; offered"
        ],
    );
    tester.rejects(5, "Not my field");
    check(
        &tester,
        expect![
            "HO-003 specification→architecture parked, HO-004 architecture→security-check parked, HO-006 crypto-check→security-check pending; offered"
        ],
    );
    assert_eq!(tester.run.current().unwrap().brings, Some(Outcome::Failure));
    tester.accepts(6);
    tester.completes(4, Outcome::Success, summary("Reviewed without the keys"));
    tester.accepts(7);
    check(&tester, expect!["HO-003 specification→architecture accepted; held"]);
    assert_eq!(tester.run.frames, []);
}

#[test]
fn a_return_that_is_rejected_opens_the_frame_again_and_in_the_end_a_person_decides() {
    let mut tester = at_architecture();
    tester.hands("architecture", "security-check", task("Risk report"));
    for _ in 0..3 {
        tester.accepts(tester.run.n_handoffs);
        tester.completes(tester.run.n_handoffs, Outcome::Success, summary("It is fine"));
        tester.rejects(tester.run.n_handoffs, "No risks are named");
        assert_eq!(tester.run.current().unwrap().kind, Kind::Delegation);
    }
    tester.accepts(tester.run.n_handoffs);
    tester.completes(tester.run.n_handoffs, Outcome::Success, summary("It is fine"));
    tester.rejects(tester.run.n_handoffs, "Still none");
    let gate = tester.run.n_handoffs;
    assert!(tester.run.gate().is_some());
    tester.answers(gate, Answer::Accept);
    check(&tester, expect!["HO-003 specification→architecture accepted; held"]);
}

#[test]
fn the_gate_with_each_answer() {
    for (answer, comment, expected) in [
        (Answer::Approve, None, "HO-003 specification→architecture pending; offered"),
        (Answer::Reject, Some("US-7 is missing"), "HO-003 human→specification pending; offered"),
        (
            Answer::Question,
            Some("Who pays?"),
            "HO-002 specification→human clarification, HO-003 human→specification pending; parked",
        ),
        (Answer::Abort, None, "nothing open; done"),
    ] {
        let mut tester = at_the_gate();
        match comment {
            Some(comment) => tester.does(&says(2, answer.clone(), comment)),
            None => tester.does(&answer_gate(2, answer.clone())),
        };
        assert_eq!(tester.shows(), expected, "{answer:?}");
    }
}

#[test]
fn approval_hands_on_the_very_package_that_was_approved_and_modify_another() {
    let mut tester = at_the_gate();
    let shown = tester.run.current().unwrap().package;
    let decision = tester.answers(2, Answer::Approve);
    assert_eq!(created(&decision).package, shown);
    assert_eq!(created(&decision).approved_by.as_ref().unwrap().as_str(), "grace");

    let mut tester = at_the_gate();
    let Command::Answer(modify) = answer_gate(2, Answer::Modify) else { unreachable!() };
    let none = Command::Answer(modify.clone());
    assert_eq!(tester.tries(&none).unwrap_err().code(), "package_required");
    let bad = GateAnswer { package: Some(sent(nothing())), ..modify.clone() };
    assert_eq!(tester.tries(&Command::Answer(bad)).unwrap_err().code(), "contract");
    let package = Some(sent(summary("12 stories, and US-13 for the invoices")));
    let decision = tester.does(&Command::Answer(GateAnswer { package, ..modify }));
    let onward = created(&decision);
    assert_ne!(onward.package, shown);
    assert_eq!(onward.follows, Some(HandoffNo(2)), "the first one stays with the gate");
}

#[test]
fn a_person_asks_at_the_gate_and_the_sender_answers_without_accepting() {
    let mut tester = at_the_gate();
    tester.does(&says(2, Answer::Question, "Who are the personas?"));
    assert_eq!(tester.run.current_agent().unwrap().as_str(), "specification");
    tester.does(&reply(3, "A buyer and a seller"));
    check(&tester, expect!["HO-002 specification→human pending; parked"]);
    // A person may decide without waiting for the answer.
    tester.does(&says(2, Answer::Question, "And the admin?"));
    tester.answers(2, Answer::Approve);
    check(&tester, expect!["HO-005 specification→architecture pending; offered"]);
}

#[test]
fn an_advisory_gate_holds_nothing_up_and_ends_with_the_work_it_advises_on() {
    let mut tester = at_architecture();
    tester.completes(3, Outcome::Success, summary("API designed"));
    check(
        &tester,
        expect![
            "HO-004 architecture→human pending, HO-005 architecture→estimation pending; offered"
        ],
    );
    tester.accepts(5);
    tester.completes(5, Outcome::Success, summary("12 days"));
    check(&tester, expect!["HO-006 estimation→human pending; parked"]);

    // An objection while the next agent works: its work ends, and the sender gets it back.
    let mut tester = at_architecture();
    tester.completes(3, Outcome::Success, summary("API designed"));
    tester.accepts(5);
    tester.hands("estimation", "human", task("Which budget?"));
    tester.does(&says(4, Answer::Reject, "Not with REST"));
    check(&tester, expect!["HO-007 human→architecture pending; offered"]);
    assert_eq!(tester.run.frames, []);
}

#[test]
fn an_automatic_gate_opens_by_what_was_checked_before_or_after() {
    let mut tester = at_implementation();
    let no = tester.run.current().unwrap().no.0;
    tester.does(&record(no, "lint", Verdict::Passed));
    tester.does(&record(no, "tests", Verdict::Passed));
    tester.completes(no, Outcome::Success, summary("Built"));
    assert_eq!(tester.run.status, RunStatus::Completed, "all checks had passed");

    let mut tester = at_implementation();
    let no = tester.run.current().unwrap().no.0;
    tester.does(&record(no, "lint", Verdict::Failed));
    tester.completes(no, Outcome::Success, summary("Built"));
    let gate = tester.run.gate().unwrap();
    assert_eq!(gate.1.kind, GateKind::Automatic);
    let gate = gate.0.no.0;
    tester.does(&record(gate, "tests", Verdict::Passed));
    assert!(tester.run.gate().is_some(), "lint has failed");
    tester.does(&record(gate, "lint", Verdict::Passed));
    assert_eq!(tester.run.status, RunStatus::Completed);
}

#[test]
fn a_blocking_gate_is_not_passed_by_any_other_way() {
    // By superseding the approved package.
    let mut tester = at_the_gate();
    tester.answers(2, Answer::Approve);
    let again = create("specification", "architecture", summary("Something else entirely"));
    tester.does(&Command::Create(Create { supersedes: Some(HandoffNo(3)), ..again }));
    assert!(tester.run.gate().is_some(), "{}", tester.shows());

    // By a time-out, and taking up the loose baton.
    let mut tester = project();
    tester.accepts(1);
    tester.does(&time_out(1));
    tester.hands("specification", "architecture", summary("Specs"));
    assert!(tester.run.gate().is_some(), "{}", tester.shows());

    // Through the orchestrator.
    let mut tester = at_the_gate();
    tester.answers(2, Answer::Approve);
    tester.does(&cancel(3));
    tester.hands("orchestrator", "architecture", summary("Something else entirely"));
    assert!(tester.run.gate().is_some(), "{}", tester.shows());

    // Offering the approved package again is not a bypass.
    let mut tester = at_the_gate();
    tester.answers(2, Answer::Approve);
    tester.does(&cancel(3));
    tester.hands("orchestrator", "architecture", nothing());
    assert!(tester.run.gate().is_none(), "{}", tester.shows());
}

#[test]
fn a_document_that_names_a_gate_asks_for_approval() {
    let mut tester = project();
    tester.accepts(1);
    let gate = Node::map([("type", Node::text("blocking")), ("name", Node::text("Specs"))]);
    let document = Node::map([
        ("gate", gate),
        ("context", Node::map([("summary", Node::text("3 epics, 12 user stories"))])),
    ]);
    tester.hands("specification", "human", document);
    check(&tester, expect!["HO-002 specification→human pending; parked"]);
    tester.answers(2, Answer::Approve);
    check(&tester, expect!["HO-003 specification→architecture pending; offered"]);
}

#[test]
fn an_acknowledgement_in_full_accepts_and_a_partial_one_asks() {
    let mut tester = at_the_gate();
    tester.answers(2, Answer::Approve);
    let decision = tester.does(&acknowledge(3, "partial"));
    check(
        &tester,
        expect![
            "HO-003 specification→architecture clarification, HO-004 architecture→specification pending; offered"
        ],
    );
    assert_eq!(decision.done.question, Some(HandoffNo(4)));
    assert_eq!(tester.run.current_agent().unwrap().as_str(), "specification");
    tester.does(&reply(4, "It is in .project/02-requirements"));
    check(&tester, expect!["HO-003 specification→architecture pending; offered"]);
    tester.does(&acknowledge(3, "full"));
    check(&tester, expect!["HO-003 specification→architecture accepted; held"]);
}

#[test]
fn the_fourth_question_about_a_handoff_is_a_persons() {
    let mut tester = at_architecture();
    for _ in 0..3 {
        tester.does(&clarify(3, "Which database?"));
        assert!(tester.run.gate().is_none());
        tester.does(&reply(3, "The usual one"));
        tester.accepts(3);
    }
    tester.does(&clarify(3, "But which?"));
    let (row, gate) = tester.run.gate().unwrap();
    assert_eq!((gate.cause.name(), gate.choices()), ("questions", &["answer", "abort"][..]));
    let no = row.no.0;
    for command in [reject(3, "No answer came"), cancel(3), reply(3, "Guess")] {
        assert_eq!(tester.tries(&command).unwrap_err().code(), "gate_open", "{command:?}");
    }
    tester.does(&says(no, Answer::Reply, "PostgreSQL"));
    check(&tester, expect!["HO-003 specification→architecture pending; offered"]);
    tester.does(&clarify(3, "And the version?"));
    assert!(tester.run.gate().is_none(), "a person's answer wipes the slate");
}

#[test]
fn what_blocks_a_step_is_open_until_a_person_clears_it() {
    let mut tester = at_architecture();
    let blockers = Node::List(vec![Node::text("No access"), Node::text("No budget")]);
    tester.completes(3, Outcome::Blocked, Node::map([("blockers", blockers)]));
    assert_eq!(tester.run.blockers.len(), 2);
    let row = tester.run.gate().unwrap().0.clone();
    assert_eq!(row.from.agent.as_str(), "orchestrator");
    let given = tester.run.gate().unwrap().1.given;
    let decision = tester.does(&says(row.no.0, Answer::Continue, "Access granted, budget too"));
    let resolved = decision.events.iter().filter(|it| it.name() == "blocker.resolved").count();
    assert_eq!((resolved, tester.run.blockers.len()), (2, 0));
    let again = tester.run.current().unwrap();
    assert_eq!((again.to.agent.as_str(), again.package), ("architecture", given));
}

#[test]
fn whoever_waits_may_give_up_and_everything_it_waited_for_ends() {
    let mut tester = at_architecture();
    tester.hands("architecture", "security-check", task("Risk report"));
    tester.accepts(4);
    tester.does(&clarify(4, "Which risks?"));
    let decision = tester.rejects(3, "The specs are not good enough to review");
    let cancelled = decision.events.iter().filter(|it| it.name() == "handoff.cancelled").count();
    assert_eq!((cancelled, tester.run.frames.len()), (2, 0));
    check(&tester, expect!["HO-006 architecture→specification pending; offered"]);
}

fn acknowledge(no: u32, understood: &str) -> Command {
    let missing = "Artifact .project/specs/feature.md not found";
    let document = match understood {
        "partial" => Node::map([
            ("received", Node::Bool(true)),
            ("understood", Node::text("partial")),
            ("blockers", Node::List(vec![Node::text(missing)])),
            ("action", Node::text("request_clarification")),
        ]),
        task => Node::map([
            ("received", Node::Bool(true)),
            ("understood", Node::map([("task", Node::text(task))])),
        ]),
    };
    let acknowledgement = Some(Acknowledgement::read(&document, "…").unwrap());
    let handoff = HandoffNo(no);
    Command::Accept(Accept { handoff, by: None, acknowledgement, lease: None })
}

#[test]
fn nobody_delegates_for_ever_or_to_themselves() {
    let mut tester = at_architecture();
    let mut from = "architecture";
    for depth in 0..8 {
        let to = if depth % 2 == 0 { "security-check" } else { "crypto-check" };
        tester.does(&way(Way::Delegation, create(from, to, task("A part"))));
        tester.accepts(tester.run.n_handoffs);
        from = to;
    }
    let deeper = way(Way::Delegation, create(from, "helper", task("A part")));
    assert_eq!(tester.tries(&deeper).unwrap_err().code(), "too_deep");
    for to in [from, "human", "orchestrator"] {
        let odd = way(Way::Delegation, create(from, to, task("A part")));
        assert_eq!(tester.tries(&odd).unwrap_err().code(), "not_an_edge", "{to}");
    }
    let unknown = way(Way::Delegation, create(from, "nobody", task("A part")));
    assert_eq!(tester.tries(&unknown).unwrap_err().code(), "unknown_agent");
}

#[test]
fn only_a_part_is_given_back_and_only_to_whoever_waits_for_it() {
    let mut tester = at_architecture();
    let back = way(Way::Return, create("architecture", "specification", summary("Done")));
    assert_eq!(tester.tries(&back).unwrap_err().code(), "not_in_frame");
    tester.hands("architecture", "security-check", task("Risk report"));
    tester.accepts(4);
    check_refused(
        &mut tester,
        &Command::Create(create("security-check", "estimation", summary("Done"))),
        expect![
            "not_an_edge: there is no edge from `security-check` to `estimation` here; a delegate gives its part back to `architecture`"
        ],
    );
}

#[test]
fn what_nobody_takes_in_time_goes_where_the_workflow_says() {
    for (then, expected) in [
        (OnExpire::Loose, "nothing open; loose"),
        (OnExpire::Return, "HO-003 implementer→analyst pending; offered"),
        (OnExpire::Ask, "HO-003 implementer→human pending; parked"),
    ] {
        let mut tester = Tester::started();
        let step = tester.workflow.steps.iter_mut().find(|it| it.id.as_str() == "implement");
        let after = jiff::SignedDuration::from_mins(20);
        step.unwrap().expiry = Some(Expiry { after, then });
        tester.accepts(1);
        tester.hands("analyst", "implementer", plan());
        let expire = Command::Expire { handoff: HandoffNo(2) };
        assert_eq!(tester.tries(&expire).unwrap_err().code(), "not_due");
        tester.wait(20);
        tester.does(&expire);
        assert_eq!(tester.shows(), expected);
        assert!(tester.run.handoffs.iter().all(|it| it.state == State::Pending));
    }
}

#[test]
fn a_step_that_is_passed_over_into_a_gate_stops_there_all_the_same() {
    let mut tester = Tester::started();
    gate_on(&mut tester, GateKind::Automatic);
    tester.workflow.steps[1].is_optional = true;
    tester.accepts(1);
    tester.hands("analyst", "implementer", plan());
    tester.does(&skip());
    let (row, gate) = tester.run.gate().unwrap();
    assert!(!gate.choices().contains(&"question"), "there is no sender to ask");
    let no = row.no.0;
    tester.does(&record(no, "lint", Verdict::Passed));
    check(&tester, expect!["HO-004 orchestrator→reviewer pending; offered"]);
}

#[test]
fn there_is_an_end_to_what_is_checked() {
    let mut tester = at_architecture();
    for n in 0..MOST_CHECKS {
        tester.does(&record(3, &format!("check-{n}"), Verdict::Passed));
    }
    let more = record(3, "one-more", Verdict::Passed);
    assert_eq!(tester.tries(&more).unwrap_err().code(), "too_many_checks");
    tester.does(&record(3, "check-0", Verdict::Failed));
}
