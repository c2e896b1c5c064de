//! What a document says of the run, of what blocks and of its files, when it is handed over.

use std::sync::Arc;

use super::fixture::{Tester, complete, create, plan, step, story, to};
use crate::acknowledgement::Acknowledgement;
use crate::command::{Accept, Command, Complete, Create};
use crate::contract::{Check, Contract, ContractRule, Profile};
use crate::decide::TemplateRequest;
use crate::document::Node;
use crate::lint::{Facts, FileFact};
use crate::names::AgentId;
use crate::outcome::Outcome;
use crate::refusal::Refusal;
use crate::run::HandoffNo;
use crate::workflow::{Edge, Target, Workflow};

/// Two ways on from the first step, both for success.
fn phases() -> Workflow {
    let mut workflow = super::fixture::pipeline();
    let end = Edge { to: Target::Complete, ..to("x") };
    workflow.steps = vec![
        step("analyze", "analyst", vec![to("implementation"), to("testing")]),
        step("implementation", "implementer", vec![to("testing")]),
        step("testing", "reviewer", vec![end]),
    ];
    workflow
}

fn at_analyze(workflow: Workflow) -> Tester {
    let mut tester =
        Tester::begun_in(workflow, &create("orchestrator", "analyst", story())).unwrap();
    tester.accepts(1);
    tester
}

/// A metadata block that ends a phase.
fn block(phase: &str, next_phase: Node, next_agent: Node) -> Node {
    let handoff = Node::map([
        ("next_phase", next_phase),
        ("next_agent", next_agent),
        ("context", Node::text("Queues are in src/queue.rs, one per tenant")),
    ]);
    Node::map([
        ("status", Node::text("complete")),
        ("phase", Node::text(phase)),
        ("summary", Node::text("Designed 3 queues for the import of CSV and XLSX")),
        ("handoff", handoff),
    ])
}

fn finish(document: Node, to: Option<&str>, profile: Profile) -> Command {
    let Command::Complete(command) = complete(1, Outcome::Success, document) else {
        unreachable!()
    };
    let to = to.map(|it| AgentId::parse(it).unwrap().into());
    Command::Complete(Complete { to, profile, ..command })
}

#[track_caller]
fn receiver(tester: &mut Tester, command: &Command) -> String {
    tester.does(command);
    tester.run.current().unwrap().to.agent.to_string()
}

#[test]
fn the_next_phase_picks_among_the_edges() {
    let none = || finish(block("x", Node::Null, Node::Null), None, Profile::Lenient);
    let refusal = at_analyze(phases()).tries(&none()).unwrap_err();
    assert_eq!(refusal.code(), "choose_receiver");
    for (phase, expected) in [("implementation", "implementer"), ("testing", "reviewer")] {
        let named = finish(block("x", Node::text(phase), Node::Null), None, Profile::Lenient);
        assert_eq!(receiver(&mut at_analyze(phases()), &named), expected, "{phase}");
    }
}

/// A phase goes by the id of its step or by the name of the work there; the end goes by `complete`.
#[test]
fn a_phase_is_named_by_its_step_or_its_work_and_the_end_by_a_word_of_its_own() {
    let named = || {
        let mut workflow = phases();
        workflow.steps[1].phase = "build".to_owned();
        workflow
    };
    let next =
        |phase: &str| finish(block("x", Node::text(phase), Node::Null), None, Profile::Lenient);
    for phase in ["implementation", "Implementation", "build", "BUILD"] {
        assert_eq!(receiver(&mut at_analyze(named()), &next(phase)), "implementer", "{phase}");
    }
    let at_testing = || {
        let mut tester = at_analyze(phases());
        tester.does(&next("testing"));
        tester.accepts(2);
        tester
    };
    let last = |phase: &str| {
        let Command::Complete(it) = next(phase) else { unreachable!() };
        Command::Complete(Complete { handoff: HandoffNo(2), ..it })
    };
    assert!(at_testing().tries(&last("complete")).unwrap().run.current().is_none());
    assert_eq!(at_testing().tries(&last("implementation")).unwrap_err().code(), "wrong_phase");
}

#[track_caller]
fn check_phase(command: &Command, expected: &str) {
    let refusal = at_analyze(phases()).tries(command).unwrap_err();
    assert_eq!((refusal.code(), refusal.to_string().as_str()), ("wrong_phase", expected));
}

#[test]
fn a_phase_that_contradicts_the_run_is_refused() {
    let none = || Node::Null;
    for profile in [Profile::Lenient, Profile::Strict] {
        check_phase(
            &finish(block("testing", none(), none()), Some("implementer"), profile),
            "the document says `testing` for `phase`, but the run is at `analyze`; correct the one or \
             the other",
        );
    }
    let own = finish(block("Analyze", none(), none()), Some("implementer"), Profile::Lenient);
    at_analyze(phases()).does(&own);
}

#[test]
fn a_phase_that_contradicts_the_run_is_refused_whatever_the_outcome() {
    for outcome in [Outcome::Failure, Outcome::Blocked, Outcome::NeedsClarification] {
        let other = complete(1, outcome, block("testing", Node::Null, Node::Null));
        let refusal = at_analyze(phases()).tries(&other).unwrap_err();
        assert_eq!(refusal.code(), "wrong_phase", "{outcome:?}");
        let own = complete(1, outcome, block("analyze", Node::Null, Node::Null));
        at_analyze(phases()).does(&own);
    }
}

/// The contract of the built-in phases lists them, so another word is a contradiction there.
#[test]
fn a_phase_of_another_system_is_refused_where_the_contract_lists_the_phases() {
    let listing = |field: &str, words: &[&str]| ContractRule {
        field: field.to_owned(),
        others: Vec::new(),
        about: "the phase".to_owned(),
        check: Check::OneOf(words.iter().map(|it| (*it).to_owned()).collect()),
        when: Vec::new(),
    };
    let listed = |own: &str| {
        let should = vec![
            listing("phase", &[own, "testing"]),
            listing("handoff.next_phase", &["implementation", "testing"]),
        ];
        let contract = Contract { name: "phases".to_owned(), must: Vec::new(), should };
        let mut workflow = phases();
        for edge in &mut workflow.steps[0].edges {
            edge.contract = Some(contract.name.clone());
        }
        workflow.contracts.push(contract);
        workflow
    };
    let hand = |phase: &str, next: &str| {
        let document = block(phase, Node::text(next), Node::text("implementer"));
        finish(document, Some("implementer"), Profile::Lenient)
    };
    for command in [hand("banana", "implementation"), hand("analyze", "deployment")] {
        let refusal = at_analyze(listed("analyze")).tries(&command).unwrap_err();
        assert_eq!(refusal.code(), "wrong_phase", "{command:?}");
    }
    at_analyze(listed("analyze")).does(&hand("analyze", "implementation"));
    // A contract whose words are not those of the workflow asks for nothing that could be kept.
    at_analyze(listed("design")).does(&hand("banana", "implementation"));
}

/// The last document of a run names no sender, so it is of the step that ends the run.
#[test]
fn what_completes_the_workflow_is_the_document_of_the_last_step() {
    let done = || {
        let inside = Node::map([("status", Node::text("completed"))]);
        Node::Map(vec![("workflow-complete".to_owned(), inside)])
    };
    let refusal = at_analyze(phases()).tries(&finish(done(), None, Profile::Lenient)).unwrap_err();
    assert_eq!(refusal.code(), "not_holder");
    let words = refusal.to_string();
    assert!(words.starts_with("`reviewer` does not have the baton"), "{words}");
    assert!(
        words.ends_with("`analyst` hands on with a `<handoff>` that names its receiver"),
        "{words}"
    );
    let mut tester = at_analyze(phases());
    tester.does(&finish(block("x", Node::text("testing"), Node::Null), None, Profile::Lenient));
    tester.accepts(2);
    tester.completes(2, Outcome::Success, done());
    assert!(tester.run.current().is_none());
}

#[test]
fn a_next_phase_that_contradicts_the_receiver_or_the_workflow_is_refused() {
    let named = |phase: &str, agent: &str| block("x", Node::text(phase), Node::text(agent));
    check_phase(
        &finish(named("testing", "implementer"), Some("implementer"), Profile::Lenient),
        "the document says `testing` for `handoff.next_phase`, but `implementer` comes next at \
         `implementation`; correct the one or the other",
    );
    check_phase(
        &finish(block("x", Node::text("complete"), Node::Null), None, Profile::Lenient),
        "the document says `complete` for `handoff.next_phase`, but from `analyze` the work goes \
         to `implementation` or `testing`; correct the one or the other",
    );
    // A receiver that the caller names counts more than what the document suggests, and a phase
    // that the workflow does not have decides nothing.
    for document in [named("testing", "reviewer"), named("deployment", "implementer")] {
        let command = finish(document, Some("implementer"), Profile::Lenient);
        assert_eq!(receiver(&mut at_analyze(phases()), &command), "implementer");
    }
}

#[test]
fn a_slip_in_the_next_phase_is_a_warning_and_in_strict_refused() {
    let hand = |phase: &str, profile| {
        finish(
            block("analyze", Node::text(phase), Node::text("reviewer")),
            Some("reviewer"),
            profile,
        )
    };
    for (slip, meant) in [("tesing", "testing"), ("Testng", "testing"), ("compelte", "complete")] {
        let warnings = at_analyze(phases()).does(&hand(slip, Profile::Lenient)).done.warnings;
        let expected = format!(
            "handoff.next_phase: is no phase of the workflow, and nearly `{meant}`, which was \
             probably meant; use one of these words [unknown_word]"
        );
        assert_eq!(warnings.iter().map(ToString::to_string).collect::<Vec<_>>(), [expected]);
        let refusal = at_analyze(phases()).tries(&hand(slip, Profile::Strict)).unwrap_err();
        let Refusal::Contract { skeleton, .. } = &refusal else { panic!("{refusal}") };
        let mark = skeleton.at("handoff.next_phase").and_then(Node::as_text).unwrap_or_default();
        assert!(mark.contains(meant), "{mark}");
    }
    // Another system's phases are its own.
    for other in ["deployment", "testing"] {
        let decision = at_analyze(phases()).does(&hand(other, Profile::Strict));
        assert_eq!(decision.done.warnings, [], "{other}");
    }
}

fn must(name: &str, field: &str) -> Contract {
    let rule = ContractRule {
        field: field.to_owned(),
        others: Vec::new(),
        about: "for the test".to_owned(),
        check: Check::Present,
        when: Vec::new(),
    };
    Contract { name: name.to_owned(), must: vec![rule], should: Vec::new() }
}

fn with_implied() -> Tester {
    let mut tester = at_analyze(super::fixture::pipeline());
    tester.implied = vec![
        must("metadata/*→*", "attempted"),
        must("implied/blocked", "blockers"),
        must("xml/*→orchestrator", "error.message"),
        must("implied/error", "reason"),
    ];
    tester
}

#[track_caller]
fn check_contract(tester: &mut Tester, command: &Command, contract: &str) {
    let refusal = tester.tries(command).unwrap_err();
    let Refusal::Contract { contract: Some(name), .. } = &refusal else { panic!("{refusal:?}") };
    assert_eq!(name, contract);
}

#[test]
fn blocked_work_keeps_a_contract_where_the_workflow_declares_none() {
    let blocked = |document: Node| complete(1, Outcome::Blocked, document);
    let note = || Node::map([("note", Node::text("no access"))]);
    check_contract(&mut with_implied(), &blocked(note()), "implied/blocked");
    let metadata = Node::map([
        ("status", Node::text("blocked")),
        ("handoff", Node::map([("next_agent", Node::Null)])),
    ]);
    check_contract(&mut with_implied(), &blocked(metadata.clone()), "metadata/*→*");
    let Node::Map(mut members) = metadata else { unreachable!() };
    members.push(("attempted".to_owned(), Node::List(vec![Node::text("read the docs")])));
    with_implied().does(&blocked(Node::Map(members)));
    // A delegate that is blocked gives its part back, and says why as well.
    let mut tester = with_implied();
    tester.hands("analyst", "implementer", plan());
    tester.accepts(2);
    tester.hands("implementer", "helper", note());
    tester.accepts(3);
    check_contract(&mut tester, &complete(3, Outcome::Blocked, note()), "implied/blocked");
}

#[test]
fn an_error_to_the_orchestrator_keeps_a_contract() {
    let fail = |document: Node| {
        let create = create("analyst", "orchestrator", document);
        Command::Create(Create { outcome: Some(Outcome::Failure), ..create })
    };
    let xml = |error: Node| {
        let sides = [("from", Node::text("analyst")), ("to", Node::text("orchestrator"))];
        let rest = [("status", Node::text("failure")), ("error", error)];
        Node::map([("handoff", Node::map(sides.into_iter().chain(rest)))])
    };
    check_contract(&mut with_implied(), &fail(xml(Node::Null)), "xml/*→orchestrator");
    check_contract(&mut with_implied(), &fail(Node::map([])), "implied/error");
    let message = Node::map([("message", Node::text("npm ci timed out"))]);
    with_implied().does(&fail(xml(message)));
}

#[test]
fn a_file_that_is_not_there_is_refused_in_strict_and_told_in_lenient() {
    let Node::Map(mut members) = plan() else { unreachable!() };
    members.push(("files_to_modify".to_owned(), Node::List(vec![])));
    members.push(("artifacts".to_owned(), Node::List(vec![Node::text("docs/plan.md")])));
    let hand = |profile| {
        let create = create("analyst", "implementer", Node::Map(members.clone()));
        Command::Create(Create { profile, ..create })
    };
    let seen = |fact: FileFact| {
        let mut tester = at_analyze(super::fixture::pipeline());
        tester.files = [("docs/plan.md".to_owned(), fact)].into();
        tester
    };
    let refusal = seen(FileFact::Missing).tries(&hand(Profile::Strict)).unwrap_err();
    let Refusal::Contract { problems, .. } = &refusal else { panic!("{refusal:?}") };
    assert_eq!((refusal.code(), problems[0].rule.as_str()), ("lint", "artifact_missing"));
    let warnings = seen(FileFact::Missing).does(&hand(Profile::Lenient)).done.warnings;
    assert_eq!(warnings[0].rule, "artifact_missing");
    let there = FileFact::File { n_lines: None, sha256: None };
    assert_eq!(seen(there).does(&hand(Profile::Strict)).done.warnings, []);
    assert_eq!(
        at_analyze(super::fixture::pipeline()).does(&hand(Profile::Strict)).done.warnings,
        []
    );
}

fn acknowledge(document: Node, package: &Node) -> Command {
    let document = Node::map([("acknowledgment", document)]);
    let read = Acknowledgement::read(&document, Arc::from("…")).unwrap();
    let acknowledgement = Some(read.checked(Some(package), &Facts::default()));
    Command::Accept(Accept { handoff: HandoffNo(1), by: None, acknowledgement, lease: None })
}

#[test]
fn an_acknowledgement_names_the_sender_and_no_other() {
    let from = |name: &str| {
        let understood = Node::map([("task", Node::text("Plan the login"))]);
        Node::map([
            ("received", Node::Bool(true)),
            ("from", Node::text(name)),
            ("understood", understood),
        ])
    };
    let refusal = Tester::started().tries(&acknowledge(from("reviewer"), &story())).unwrap_err();
    assert_eq!(refusal.code(), "not_the_sender");
    Tester::started().does(&acknowledge(from("orchestrator"), &story()));
    // Work that another agent offers again has two senders: that one, and the one of the work in it.
    let offered_again = || {
        let mut tester = at_analyze(super::fixture::pipeline());
        tester.hands("analyst", "implementer", plan());
        tester.does(&super::fixture::time_out(2));
        tester.hands("orchestrator", "implementer", plan());
        tester
    };
    for (name, is_sender) in [("orchestrator", true), ("analyst", true), ("reviewer", false)] {
        let Command::Accept(accept) = acknowledge(from(name), &plan()) else { unreachable!() };
        let command = Command::Accept(Accept { handoff: HandoffNo(3), ..accept });
        assert_eq!(offered_again().tries(&command).is_ok(), is_sender, "{name}");
    }
}

#[test]
fn a_receiver_is_told_which_checks_failed() {
    let agent = |name: &str| Node::map([("agent", Node::text(name))]);
    let poor = Node::map([("handoff", Node::map([("from", agent("a")), ("to", agent("b"))]))]);
    let understood = Node::map([("task", Node::text("Plan the login"))]);
    let document = Node::map([("received", Node::Bool(true)), ("understood", understood)]);
    let warnings = Tester::started().does(&acknowledge(document, &poor)).done.warnings;
    let paths: Vec<&str> = warnings.iter().map(|it| it.path.as_str()).collect();
    assert_eq!(paths, ["received-summary", "received-deliverable"]);
    // What the receiver misses is not recorded as there, and has to be answered first.
    let partial = Node::map([
        ("received", Node::Bool(true)),
        ("understood", Node::text("partial")),
        ("blockers", Node::List(vec![Node::text("specs/feature.md is not there")])),
    ]);
    let mut tester = Tester::started();
    let decision = tester.does(&acknowledge(partial, &story()));
    assert!(decision.done.question.is_some());
    let paths: Vec<&str> = decision.done.warnings.iter().map(|it| it.path.as_str()).collect();
    assert_eq!(paths, ["received-artifacts", "received-constraints"]);
}

#[test]
fn a_template_for_blocked_work_says_what_the_implied_contract_asks_for() {
    let template = |must: Contract, outcome: Outcome| {
        let mut tester = at_analyze(super::fixture::pipeline());
        tester.implied = vec![must];
        let asked = TemplateRequest { handoff: HandoffNo(1), to: None, outcome: Some(outcome) };
        crate::decide::template(&tester.run, &asked, tester.ground()).unwrap()
    };
    let blocked = template(must("implied/blocked", "owner"), Outcome::Blocked);
    for key in ["reason", "blockers", "attempted", "owner"] {
        assert!(blocked.member(key).is_some(), "{key}: {blocked:?}");
    }
    let other = template(must("implied/error", "owner"), Outcome::Blocked);
    assert_eq!(other.member("owner"), None);
}

#[test]
fn an_error_is_handed_over_with_what_its_contract_misses() {
    let mut tester = at_analyze(super::fixture::pipeline());
    let Contract { name, must, .. } = must("implied/error", "error.suggested_action");
    tester.implied = vec![Contract { name, must: Vec::new(), should: must }];
    let error = Node::map([("message", Node::text("no disk")), ("type", Node::text("IoError"))]);
    let document = Node::map([("error", error)]);
    let decision = tester.does(&Command::Create(create("analyst", "orchestrator", document)));
    let warnings = &super::scenarios::created(&decision).warnings;
    assert!(warnings.iter().any(|it| it.contains("error.suggested_action")), "{warnings:?}");
}
