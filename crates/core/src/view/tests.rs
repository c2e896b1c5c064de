use super::*;
use crate::gate::GateKind;

fn text(text: &str) -> Node {
    Node::text(text)
}

fn list(nodes: impl IntoIterator<Item = Node>) -> Node {
    Node::List(nodes.into_iter().collect())
}

fn handoff(members: impl IntoIterator<Item = (&'static str, Node)>) -> Node {
    Node::map([("handoff", Node::map(members))])
}

/// The same value at the top, under `context`, and under the root of the YAML handoff.
fn everywhere(key: &'static str, value: &Node) -> [Node; 3] {
    let inner = || Node::map([(key, value.clone())]);
    [inner(), Node::map([("context", inner())]), handoff([("context", inner())])]
}

#[test]
fn decisions_artifacts_and_questions_are_read_wherever_a_source_document_puts_them() {
    let decision = Node::map([
        ("id", text("D-001")),
        ("decision", text("JWT")),
        ("rationale", text("stateless")),
    ]);
    for document in everywhere("decisions", &list([decision, text("no cookies")])) {
        let decision =
            |id: Option<&str>, decision: &str, rationale: Option<&str>| ReportedDecision {
                id: id.map(str::to_owned),
                decision: decision.to_owned(),
                rationale: rationale.map(str::to_owned),
                ..ReportedDecision::default()
            };
        assert_eq!(
            View::of(&document).decisions,
            [decision(Some("D-001"), "JWT", Some("stateless")), decision(None, "no cookies", None)]
        );
    }
    let whole = Node::map([
        ("decision", text("JWT")),
        ("subject", text("sessions")),
        (
            "alternatives_considered",
            list([text("cookies"), Node::map([("option", text("mTLS")), ("why", text("old"))])]),
        ),
        ("supersedes", text("D-001")),
        ("depends_on", list([text("D-002"), text("3")])),
    ]);
    for document in everywhere("decisions", &list([whole, text("no cookies")])) {
        let read = View::of(&document).decisions[0].clone();
        assert_eq!(read.subject.as_deref(), Some("sessions"));
        assert_eq!(read.alternatives, ["cookies", "mTLS"]);
        assert_eq!(read.supersedes.as_deref(), Some("D-001"));
        assert_eq!(read.depends_on, ["D-002", "3"]);
    }
    let artifact = Node::map([("path", text("docs/a.md")), ("type", text("doc"))]);
    for document in everywhere("artifacts", &list([artifact, text("b.rs")])) {
        assert_eq!(View::of(&document).paths().collect::<Vec<_>>(), ["docs/a.md", "b.rs"]);
    }
    let question = Node::map([("question", text("time or quality?")), ("priority", text("high"))]);
    for document in everywhere("open_questions", &list([question, text("who pays?")])) {
        let asked: Vec<(String, Option<String>)> = View::of(&document)
            .open_questions
            .into_iter()
            .map(|it| (it.question, it.priority))
            .collect();
        let high = Some("high".to_owned());
        assert_eq!(asked, [("time or quality?".to_owned(), high), ("who pays?".to_owned(), None)]);
    }
    for document in everywhere("summary", &text(" Did it. ")) {
        assert_eq!(View::of(&document).summary.as_deref(), Some("Did it."));
    }
}

#[test]
fn both_sides_are_read_in_every_form() {
    let agent = |name: &str| Node::map([("agent", text(name))]);
    let next = Node::map([("next_agent", text("b"))]);
    for document in [
        handoff([("from", text("a")), ("to", text("b"))]),
        handoff([("from", agent("a")), ("to", agent("b"))]),
        Node::map([("agent", text("a")), ("output_type", text("x")), ("handoff", next)]),
    ] {
        let view = View::of(&document);
        assert_eq!((view.sender.as_deref(), view.receiver.as_deref()), (Some("a"), Some("b")));
    }
    let blocked = Node::map([("next_agent", Node::Null)]);
    let document = Node::map([("output_type", text("x")), ("handoff", blocked)]);
    assert_eq!(View::of(&document).receiver, None);
}

#[test]
fn a_claim_keeps_its_word_and_has_a_meaning() {
    use Meaning::{Ended, UnderWay, Unknown};
    for (word, meaning) in [
        ("success", Ended(Outcome::Success)),
        ("complete", Ended(Outcome::Success)),
        ("completed", Ended(Outcome::Success)),
        ("passed", Ended(Outcome::Success)),
        ("ready", Ended(Outcome::Success)),
        ("ready-for-re-review", Ended(Outcome::Success)),
        ("approved", Ended(Outcome::Success)),
        ("merged", Ended(Outcome::Success)),
        ("failure", Ended(Outcome::Failure)),
        ("failed", Ended(Outcome::Failure)),
        ("changes_requested", Ended(Outcome::Failure)),
        ("blocked", Ended(Outcome::Blocked)),
        ("needs-review", Ended(Outcome::NeedsReview)),
        ("needs_review", Ended(Outcome::NeedsReview)),
        ("needs_clarification", Ended(Outcome::NeedsClarification)),
        ("skipped", Ended(Outcome::Skipped)),
        ("pending", UnderWay),
        ("in-progress", UnderWay),
        ("in_progress", UnderWay),
        ("success|failure|blocked", Unknown),
    ] {
        let expected = OutcomeClaim { word: word.to_owned(), meaning };
        let view = View::of(&handoff([("from", text("a")), ("status", text(word))]));
        assert_eq!(view.claim, Some(expected.clone()));
        let metadata = Node::map([("status", text(word)), ("phase", text("testing"))]);
        assert_eq!(View::of(&metadata).claim, Some(expected));
    }
    let review = handoff([("from", text("a")), ("review_status", text("approved"))]);
    assert_eq!(View::of(&review).claim.and_then(|it| it.outcome()), Some(Outcome::Success));
    // In a payload of the pipeline API it is just data.
    assert_eq!(View::of(&Node::map([("status", text("blocked"))])).claim, None);
}

#[test]
fn what_a_gate_asks_to_be_looked_at_is_read_with_and_without_its_root() {
    let request = Node::map([
        ("items", list([text("All epics named"), text("Costs")])),
        ("options", Node::map([("approve", text("Continue with next step"))])),
    ]);
    let gate = Node::map([("type", text("informative")), ("name", text("Specs"))]);
    let document = Node::map([("gate", gate), ("validation_request", request)]);
    let expected = ValidationRequest {
        name: Some("Specs".to_owned()),
        kind: Some(GateKind::Advisory),
        items: vec!["All epics named".to_owned(), "Costs".to_owned()],
        options: vec![("approve".to_owned(), "Continue with next step".to_owned())],
    };
    for document in [document.clone(), Node::map([("handoff", document)])] {
        assert_eq!(View::of(&document).validation, Some(expected.clone()));
    }
    assert_eq!(View::of(&Node::map([])).validation, None);
}

#[test]
fn a_number_of_files_is_no_file() {
    let files =
        |node: Node| View::of(&handoff([("from", text("a")), ("files_changed", node)])).files;
    assert_eq!(files(text("12")), Vec::<String>::new());
    assert_eq!(files(list([text("a.rs")])), ["a.rs"]);
}

#[test]
fn findings_and_errors_of_xml_are_read() {
    let issue = Node::map([
        ("@location", text("a.ts:1")),
        ("@severity", text("critical")),
        ("#text", text("SQL injection")),
    ]);
    let error = Node::map([("message", text("it broke")), ("recoverable", text("true"))]);
    let view = View::of(&handoff([
        ("from", text("a")),
        ("blocking_issues", Node::map([("issue", issue)])),
        ("error", error),
    ]));
    let finding = ReviewFinding { location: "a.ts:1".to_owned(), severity: "critical".to_owned() };
    assert_eq!(view.findings, BTreeSet::from([finding]));
    let error = view.error.unwrap();
    assert_eq!((error.message.as_str(), error.is_recoverable), ("it broke", Some(true)));
}

/// The forms of the built-in fixer in XML and JSON, and that of a list of findings.
#[test]
fn what_became_of_a_finding_is_a_decision() {
    let xml = Node::map([
        ("@location", text("a.rs:1")),
        ("@answer", text("decline")),
        ("#text", text("It is a setting")),
    ]);
    let json = Node::map([
        ("location", text("a.rs:1")),
        ("answer", text("decline")),
        ("reason", text("It is a setting")),
    ]);
    let named = Node::map([
        ("finding", text("a.rs:1")),
        ("disposition", text("decline")),
        ("rationale", text("It is a setting")),
    ]);
    for disposition in [xml, json, named] {
        let document = Node::map([("dispositions", list([disposition]))]);
        let decided = View::of(&document).decisions;
        let told: Vec<_> =
            decided.iter().map(|it| (it.decision.as_str(), it.rationale.as_deref())).collect();
        assert_eq!(told, [("decline: a.rs:1", Some("It is a setting"))]);
    }
}
