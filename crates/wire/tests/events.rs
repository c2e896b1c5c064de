//! What was once written must be read for ever. A line of the samples is never changed; a new
//! version of the encoding gets a file of its own beside it.

use std::collections::BTreeSet;

use baton_core::event::Event;
use baton_core::hash::Hash;
use baton_core::names::Principal;
use baton_core::run::RunId;
use baton_wire::event::{EventError, decode, encode, link};
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
        ("handoff.created", ["brings", "held_back_until", "has_lost_lease"].as_slice()),
        ("handoff.completed", &["answer"]),
        ("gate.opened", &["kind", "sender", "beside", "about", "evidence"]),
        ("run.started", &["has_gates"]),
        ("gate.passed", &["on"]),
        ("evidence.recorded", &["fence"]),
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
