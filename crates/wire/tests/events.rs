//! What was once written must be read for ever. A line of the samples is never changed; a new
//! version of the encoding gets a file of its own beside it.

use std::collections::BTreeSet;

use baton_core::event::Event;
use baton_core::hash::Hash;
use baton_core::names::{Principal, StepId};
use baton_core::run::{CounterScope, HandoffNo, RunCounter, RunId};
use baton_wire::event::{EventError, decode, decode_run, encode, encode_run, link};
use jiff::Timestamp;
use uuid::Uuid;

const SAMPLES: &str = include_str!("events-v1.jsonl");

#[test]
fn every_event_ever_written_reads_and_is_written_the_same() {
    for line in SAMPLES.lines() {
        let event = decode(line).unwrap_or_else(|error| panic!("{error}: {line}"));
        assert_eq!(encode(&event), line);
    }
}

#[test]
fn there_is_a_sample_of_every_event() {
    let samples: BTreeSet<&str> =
        SAMPLES.lines().map(|line| decode(line).unwrap().name()).collect();
    assert_eq!(samples, Event::names().collect());
    assert_eq!(samples.len(), Event::names().count());
}

/// Left out where they say nothing, so that a sample of the event need not have them.
#[test]
fn there_is_a_sample_of_every_field_that_may_be_left_out() {
    for (event, fields) in [
        ("handoff.created", ["brings", "held_back_until", "has_lost_lease", "entry"].as_slice()),
        ("handoff.created", &["rework_reason", "n_questions", "n_releases", "lost_output", "tree"]),
        ("handoff.created", &["author"]),
        ("checks.requested", &["returns_to", "is_doubted", "is_raised", "warnings", "entry"]),
        ("handoff.released", &["is_counted"]),
        ("step.completed", &["is_rejected"]),
        ("frame.opened", &["is_delegation"]),
        ("baton.loose", &["meant_for"]),
        ("gate.answered", &["resets"]),
        ("handoff.completed", &["answer"]),
        ("gate.opened", &["kind", "sender", "beside", "about", "evidence", "limit", "budget"]),
        ("gate.opened", &["approval", "is_raised", "remind_at", "is_for_all", "votes", "author"]),
        ("run.started", &["has_gates", "has_checks", "mode", "budget"]),
        ("usage.recorded", &["cached_tokens", "micro_usd", "step", "executor"]),
        ("file.sent", &["text"]),
        ("blocker.routed", &["domain"]),
        ("gate.passed", &["on"]),
        ("evidence.recorded", &["fence", "ran"]),
        ("branch.forked", &["entry"]),
        ("baton.loose", &["branch"]),
        ("round.counted", &["branch"]),
        ("gate.passed", &["branch"]),
        ("gate.waived", &["branch"]),
        ("gate.lost", &["branch"]),
        ("gate.carried", &["branch"]),
        ("blocker.raised", &["branch"]),
        ("message.posted", &["portrait", "is_new_cast"]),
        ("message.asked", &["portrait", "is_new_cast"]),
        ("message.replied", &["portrait", "is_new_cast"]),
        ("handoff.accepted", &["holder"]),
        ("gate.approved", &["decisions"]),
        (
            "decision.recorded",
            &["handoff", "package", "text", "portrait", "is_new_cast", "is_open"],
        ),
        ("decision.recorded", &["supersedes", "depends_on", "id_fingerprint"]),
    ] {
        let of_event = format!("\"type\":\"{event}\"");
        let samples = || SAMPLES.lines().filter(|line| line.contains(&of_event));
        for field in fields {
            let written = format!("\"{field}\":");
            assert!(samples().any(|line| line.contains(&written)), "{event} {field}");
            assert!(samples().any(|line| !line.contains(&written)), "{event} without {field}");
        }
    }
}

/// A state as it was written when only rejects were counted, with one of them and a gate open.
const STATE_WITH_ROUNDS: &str = r#"{"v":1,"id":"00000000-0000-0000-0000-000000000001","story":"s-1","workflow":"story-pipeline","pin":"0101010101010101010101010101010101010101010101010101010101010101","owner":"ada","status":"open","branches":[{"no":0,"baton":{"loose":{"at":{"step":"implement"},"other":{"step":"review"}}}}],"handoffs":[],"rounds":[{"edge":{"from":{"step":"implement"},"to":{"step":"review"}},"n_rejects":2,"n_extra":3,"findings":null}],"visited":["implement"],"package":null,"given":[],"n_handoffs":5,"started_at":"2026-01-01T00:16:40Z","moved_at":"2026-01-01T00:16:41Z"}"#;

#[test]
fn a_state_from_when_only_rejects_were_counted_stays_letter_for_letter() {
    let run = decode_run(STATE_WITH_ROUNDS).unwrap();
    let [(edge, rounds)] = run.all_rounds().collect::<Vec<_>>()[..] else { panic!("{run:?}") };
    assert_eq!((edge.to.to_string().as_str(), rounds.n, rounds.n_extra), ("review", 2, 3));
    assert_eq!(encode_run(&run), STATE_WITH_ROUNDS);
}

#[test]
fn a_state_reads_back_with_everything_that_is_counted() {
    let step = |it: &str| StepId::parse(it).unwrap();
    let mut run = decode_run(STATE_WITH_ROUNDS).unwrap();
    let scopes = [
        (CounterScope::Entries(step("review")), 1, None),
        (CounterScope::Entries(step("implement")), 0, Some(Hash([7; 32]))),
        (CounterScope::Delegations(HandoffNo(4)), 0, None),
        (CounterScope::Blocks(step("review")), 0, None),
    ];
    for (scope, n_extra, findings) in scopes {
        run.counters.push(RunCounter { branch: 0, scope, n: 2, n_extra, findings, tree: None });
    }
    let written = encode_run(&run);
    let expected = format!(
        r#","findings":null}},{{"of":{{"entries":"review"}},"n":2,"n_extra":1}},{{"of":{{"entries":"implement"}},"n":2,"findings":"{}"}},{{"of":{{"delegations":4}},"n":2}},{{"of":{{"blocks":"review"}},"n":2}}],"visited""#,
        "07".repeat(32)
    );
    assert!(written.contains(&expected), "{written}");
    assert_eq!(decode_run(&written).unwrap(), run);
}

#[test]
fn what_a_newer_baton_wrote_is_refused_and_not_guessed_at() {
    let error = decode(r#"{"v":2,"type":"run.resumed"}"#).unwrap_err();
    assert!(matches!(error, EventError::UnknownVersion(2)), "{error:?}");
    for bad in ["", "{}", "[]", r#"{"v":1}"#, r#"{"v":1,"type":"run.exploded"}"#] {
        assert!(decode(bad).is_err(), "{bad}");
    }
}

#[test]
fn nothing_in_a_link_can_change_or_move_without_breaking_the_chain() {
    let run = RunId(Uuid::from_u128(1));
    let by = |it: &str| Principal::parse(it).unwrap();
    let at = Timestamp::UNIX_EPOCH;
    let original = link(&Hash::ZERO, run, 1, at, &by("ada"), "body");
    let others = [
        link(&original, run, 1, at, &by("ada"), "body"),
        link(&Hash::ZERO, RunId(Uuid::from_u128(2)), 1, at, &by("ada"), "body"),
        link(&Hash::ZERO, run, 2, at, &by("ada"), "body"),
        link(&Hash::ZERO, run, 1, Timestamp::constant(0, 1), &by("ada"), "body"),
        link(&Hash::ZERO, run, 1, at, &by("adab"), "ody"),
        link(&Hash::ZERO, run, 1, at, &by("ada"), "bodY"),
    ];
    for other in others {
        assert_ne!(other, original);
    }
}
