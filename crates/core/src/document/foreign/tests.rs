use super::*;
use crate::document::kind::DocumentKind;
use crate::view::View;

fn text(text: &str) -> Node {
    Node::text(text)
}

fn flat(members: &[(&'static str, &str)]) -> Node {
    Node::map(members.iter().map(|(key, it)| (*key, text(it))))
}

/// The kind, the two sides and the outcome that is claimed.
#[track_caller]
fn check(document: &Node, expected: (&str, &str, &str, &str)) {
    let view = View::of(document);
    let claim = view.claim.map(|it| format!("{:?}", it.meaning)).unwrap_or_default();
    let found = (
        view.kind.name(),
        view.sender.unwrap_or_default(),
        view.receiver.unwrap_or_default(),
        claim,
    );
    let (kind, from, to, meaning) = expected;
    let expected = (kind, from.to_owned(), to.to_owned(), meaning.to_owned());
    assert_eq!(found, expected, "{document:?}");
}

#[test]
fn flat_names_of_the_two_sides_make_a_handoff() {
    let sides = [("from_agent", "analyst"), ("to_agent", "implementer")];
    let with = |more: &[(&'static str, &str)]| flat(&[&sides[..], more].concat());
    let plain = ("other/flat", "analyst", "implementer");
    check(&with(&[]), (plain.0, plain.1, plain.2, ""));
    check(&with(&[("status", "completed")]), (plain.0, plain.1, plain.2, "Ended(Success)"));
    // The state of the handoff, not of the work.
    check(&with(&[("status", "pending")]), (plain.0, plain.1, plain.2, ""));
    check(&with(&[("status", "whatever")]), (plain.0, plain.1, plain.2, ""));
    let camel = flat(&[("fromAgent", "Tech Lead"), ("toAgent", "code_reviewer")]);
    check(&camel, ("other/flat", "tech-lead", "code-reviewer", ""));
    let nested = Node::map([("handoff", flat(&[("to_agent", "implementer"), ("task", "t")]))]);
    check(&nested, ("other/flat", "", "implementer", ""));
    let only_sender = flat(&[("from_agent", "analyst"), ("status", "working")]);
    check(&only_sender, ("other/flat", "analyst", "", "UnderWay"));
    let short = flat(&[("from", "analyst"), ("to", "implementer"), ("next_steps", "write it")]);
    check(&short, ("other/flat", "analyst", "implementer", ""));
    let told = flat(&[
        ("from", "analyst"),
        ("to", "implementer"),
        ("status", "done"),
        ("summary", "the plan has 3 steps"),
    ]);
    check(&told, ("other/flat", "analyst", "implementer", "Ended(Success)"));
}

#[test]
fn what_only_has_a_from_and_a_to_is_no_handoff() {
    for other in [
        flat(&[("from", "2024-01-01"), ("to", "2024-02-01"), ("status", "completed")]),
        flat(&[("from", "ada@example.org"), ("to", "bob@example.org"), ("summary", "hi")]),
        flat(&[("from", "ada"), ("to", "bob"), ("subject", "hi"), ("decisions", "none")]),
        flat(&[("from", "berlin"), ("to", "paris"), ("status", "booked"), ("summary", "LH 1")]),
        flat(&[("from", "draft"), ("to", "published"), ("status", "complete")]),
        flat(&[("from", "main"), ("to", "main"), ("status", "merged"), ("summary", "x")]),
        flat(&[("from", "a"), ("to", "b")]),
        flat(&[("from_agent", "analyst")]),
        flat(&[("to_agent", "???")]),
        flat(&[("name", "transfer_to_x")]),
        flat(&[("role", "user"), ("content", "hi")]),
    ] {
        assert_eq!(DocumentKind::of(&other), DocumentKind::Payload, "{other:?}");
    }
}

#[test]
fn tasks_and_messages_of_a2a_are_read() {
    let part = flat(&[("kind", "text"), ("text", "3 routes, 9 tests")]);
    let parts = || Node::List(vec![part.clone()]);
    let task = |state: &str| {
        Node::map([
            ("id", text("t1")),
            ("contextId", text("c1")),
            ("status", flat(&[("state", state)])),
            ("artifacts", Node::List(vec![Node::map([("parts", parts())])])),
        ])
    };
    for (state, expected) in [
        ("completed", "Ended(Success)"),
        ("TASK_STATE_COMPLETED", "Ended(Success)"),
        ("failed", "Ended(Failure)"),
        ("input-required", "Ended(NeedsClarification)"),
        ("working", "UnderWay"),
    ] {
        check(&task(state), ("other/a2a-task", "", "", expected));
    }
    assert_eq!(View::of(&task("completed")).summary.as_deref(), Some("3 routes, 9 tests"));
    let message = |data: Node| {
        let data = Node::map([("kind", text("data")), ("data", data)]);
        Node::map([
            ("role", text("agent")),
            ("messageId", text("m1")),
            ("parts", Node::List(vec![part.clone(), data])),
        ])
    };
    check(&message(Node::Null), ("other/a2a-message", "", "", ""));
    let names = flat(&[("from_agent", "analyst"), ("to_agent", "implementer")]);
    check(&message(names), ("other/a2a-message", "analyst", "implementer", ""));
}

#[test]
fn offers_and_transfers_name_their_receiver() {
    let payload = flat(&[("target_participant", "billing_agent"), ("scope", "refund of 12")]);
    let offer = Node::map([
        ("message_type", text("HandoffOffer")),
        ("sender", text("triage")),
        ("payload", payload),
    ]);
    check(&offer, ("other/macp-offer", "triage", "billing-agent", ""));
    let call = Node::map([
        ("type", text("function")),
        ("function", flat(&[("name", "transfer_to_refund_agent"), ("arguments", "{}")])),
    ]);
    check(&call, ("other/transfer-call", "", "refund-agent", ""));
    let response =
        flat(&[("type", "function_call"), ("name", "transfer_to_reviewer"), ("arguments", "{}")]);
    check(&response, ("other/transfer-call", "", "reviewer", ""));
    let message = Node::map([("role", text("assistant")), ("tool_calls", Node::List(vec![call]))]);
    check(&message, ("other/transfer-call", "", "refund-agent", ""));
}

/// Each key with the value by which a system could be recognized.
fn vocabulary() -> Vec<(&'static str, Node)> {
    let call = || flat(&[("name", "transfer_to_refunds"), ("arguments", "{}")]);
    let with_parts = || Node::map([("parts", Node::List(vec![flat(&[("text", "t")])]))]);
    let calls = || Node::List(vec![call()]);
    let mut all = vec![
        ("name", text("transfer_to_refunds")),
        ("function", call()),
        ("arguments", text("{}")),
        ("input", text("{}")),
        ("tool_calls", calls()),
        ("message", Node::map([("tool_calls", calls())])),
        ("status", flat(&[("state", "working")])),
        ("kind", text("task")),
        ("kind", text("message")),
        ("artifacts", Node::List(vec![with_parts()])),
        ("parts", Node::List(vec![flat(&[("text", "t")])])),
        ("payload", flat(&[("target_participant", "refunds")])),
        ("payload", flat(&[("targetParticipant", "refunds")])),
        ("metadata", flat(&[("to_agent", "refunds")])),
        ("from", text("analyst")),
        ("to", text("implementer")),
        ("action", text("create")),
    ];
    for key in ["message_type", "messageType", "type"] {
        all.push((key, text("HandoffOffer")));
    }
    let ids = ["contextId", "context_id", "messageId", "message_id", "sender", "role", "summary"];
    let targets = ["target_participant", "targetParticipant"];
    for key in [SENDERS, RECEIVERS, STRONG, OF_OTHERS, &ids, &targets].concat() {
        all.push((key, text("refunds")));
    }
    all
}

#[test]
fn every_recognized_document_has_a_telling_key() {
    let vocabulary = vocabulary();
    let mut n_recognized = 0;
    for first in &vocabulary {
        for second in &vocabulary {
            for third in &vocabulary {
                let document = Node::map([first.clone(), second.clone(), third.clone()]);
                let expected = OtherSystem::recognized(&document);
                assert_eq!(OtherSystem::of(&document), expected, "{document:?}");
                n_recognized += usize::from(expected.is_some());
            }
        }
    }
    assert!(n_recognized > 1000, "{n_recognized}");
}
