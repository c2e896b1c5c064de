//! A history that keeps every rule, and for each rule one that does not: a checker that finds nothing
//! anywhere would be of no use.

use std::time::Duration;

use jiff::{SignedDuration, Timestamp};

use super::*;
use crate::nodes::operation::{
    ClientOperation, LoggedFact, OperationKind, OperationOutcome, ReaderRecord, ShownVersion,
};

const BEGAN: Timestamp = Timestamp::constant(1_750_000_000, 0);
const LEASE: Duration = Duration::from_secs(5);

/// One run: started, accepted, a message, lost, accepted again by another client, completed; and two
/// reads. An operation has the whole of one second for each line.
fn good() -> ClusterHistory {
    let operations = vec![
        operation("start", OperationKind::Start, 0, 2, None),
        operation("first", accept(), 1, 5, Some(1)),
        operation("post", OperationKind::Post, 2, 6, None),
        operation("read", OperationKind::Read, 3, 6, None),
        operation("second", accept(), 10, 11, Some(2)),
        operation("complete", complete(2), 11, 13, None),
        refused("late", complete(1), 12),
        unknown("maybe", OperationKind::Post, 13),
        operation("read-again", OperationKind::Read, 14, 14, None),
    ];
    let log = vec![
        event(1, "run.started", "start", 0),
        event(2, "handoff.created", "start", 0),
        event(3, "handoff.accepted", "first", 1),
        event(4, "step.started", "first", 1),
        fenced(5, "lease.granted", "first", 1, 1),
        event(6, "message.posted", "post", 2),
        fenced(7, "lease.lost", "baton:timekeeper", 7, 1),
        event(8, "handoff.released", "baton:timekeeper", 7),
        event(9, "handoff.accepted", "second", 10),
        event(10, "step.started", "second", 10),
        fenced(11, "lease.granted", "second", 10, 2),
        event(12, "step.completed", "complete", 11),
        about(event(13, "handoff.completed", "complete", 11)),
        event(14, "message.posted", "maybe", 13),
    ];
    let heard = log.iter().flat_map(|it| [(it.position, 0), (it.position, 1)]).collect();
    let reader = ReaderRecord { name: "reader".to_owned(), heard, ..ReaderRecord::default() };
    let late = ReaderRecord {
        name: "late reader".to_owned(),
        after: reader.heard[5].0,
        heard: reader.heard[6..].to_vec(),
        ..ReaderRecord::default()
    };
    ClusterHistory { began: BEGAN, operations, log, readers: vec![reader, late] }
}

fn accept() -> OperationKind {
    OperationKind::Accept { handoff: "HO-001".to_owned(), lease: LEASE }
}

fn complete(fence: u64) -> OperationKind {
    OperationKind::Complete { handoff: "HO-001".to_owned(), fence }
}

/// Acknowledged, within the second that begins then.
fn operation(
    tag: &str,
    kind: OperationKind,
    second: u64,
    version: u64,
    fence: Option<u64>,
) -> ClientOperation {
    let answer = ShownVersion { run: "run".to_owned(), version, fence };
    ClientOperation {
        tag: tag.to_owned(),
        kind,
        invoked: Duration::from_secs(second),
        ended: Duration::from_millis(second * 1000 + 900),
        outcome: OperationOutcome::Acknowledged(vec![answer]),
        node: 0,
    }
}

fn refused(tag: &str, kind: OperationKind, second: u64) -> ClientOperation {
    let outcome = OperationOutcome::Refused { status: 409, code: "stale_fence".to_owned() };
    ClientOperation { outcome, ..operation(tag, kind, second, 0, None) }
}

fn unknown(tag: &str, kind: OperationKind, second: u64) -> ClientOperation {
    let outcome = OperationOutcome::Unknown("no answer".to_owned());
    ClientOperation { outcome, ..operation(tag, kind, second, 0, None) }
}

fn event(version: u64, name: &str, by: &str, second: i64) -> LoggedFact {
    LoggedFact {
        position: version * 10,
        run: "run".to_owned(),
        version,
        at: BEGAN + SignedDuration::from_millis(second * 1000 + 400),
        name: name.to_owned(),
        by: by.to_owned(),
        handoff: None,
        fence: None,
    }
}

fn about(event: LoggedFact) -> LoggedFact {
    LoggedFact { handoff: Some(1), ..event }
}

fn fenced(version: u64, name: &str, by: &str, second: i64, fence: u64) -> LoggedFact {
    LoggedFact { fence: Some(fence), ..about(event(version, name, by, second)) }
}

/// What is found once the good history is changed.
#[track_caller]
fn check_breaks(rule: NodeRule, change: impl FnOnce(&mut ClusterHistory)) {
    let mut history = good();
    change(&mut history);
    let found = violations(&history);
    assert!(found.iter().any(|it| it.rule == rule), "{rule:?} is not among {found:#?}");
}

fn named<'a>(history: &'a mut ClusterHistory, tag: &str) -> &'a mut ClientOperation {
    history.operations.iter_mut().find(|it| it.tag == tag).unwrap()
}

fn answers<'a>(history: &'a mut ClusterHistory, tag: &str) -> &'a mut Vec<ShownVersion> {
    match &mut named(history, tag).outcome {
        OperationOutcome::Acknowledged(answers) => answers,
        other @ (OperationOutcome::Refused { .. } | OperationOutcome::Unknown(_)) => {
            panic!("{other:?}")
        }
    }
}

/// Removes events, and counts the rest anew, as a store that never had them would.
fn forget(history: &mut ClusterHistory, by: &str) {
    history.log.retain(|it| it.by != by);
    for (event, version) in history.log.iter_mut().zip(1..) {
        event.version = version;
    }
}

#[test]
fn a_good_history_breaks_no_rule() {
    assert_eq!(violations(&good()), []);
}

#[test]
fn an_unknown_command_need_not_have_happened() {
    let mut history = good();
    history.log.pop();
    history.operations.retain(|it| it.tag != "read-again");
    for reader in &mut history.readers {
        reader.heard.truncate(reader.heard.len() - 2);
    }
    assert_eq!(violations(&history), []);
}

#[test]
fn an_acknowledged_command_that_is_not_in_the_log_is_lost() {
    check_breaks(NodeRule::NothingIsLost, |history| forget(history, "post"));
    check_breaks(NodeRule::NothingIsLost, |history| history.log.clear());
    check_breaks(NodeRule::NothingIsLost, |history| {
        let other = history.log.iter_mut().find(|it| it.name == "message.posted").unwrap();
        "message.asked".clone_into(&mut other.name);
    });
}

#[test]
fn a_command_that_is_in_the_log_twice_happened_twice() {
    for tag in ["post", "maybe"] {
        check_breaks(NodeRule::NothingHappensTwice, |history| {
            history.log.push(event(15, "message.posted", tag, 13));
        });
    }
}

#[test]
fn a_refused_command_that_is_in_the_log_was_not_refused() {
    check_breaks(NodeRule::RefusalsChangeNothing, |history| {
        history.log.push(about(event(15, "handoff.completed", "late", 13)));
    });
}

#[test]
fn two_answers_to_one_key_are_about_the_same() {
    check_breaks(NodeRule::EqualKeysGetEqualAnswers, |history| {
        let answers = answers(history, "first");
        answers.push(ShownVersion { fence: Some(2), ..answers[0].clone() });
    });
    check_breaks(NodeRule::EqualKeysGetEqualAnswers, |history| {
        let answers = answers(history, "start");
        answers.push(ShownVersion { run: "another".to_owned(), ..answers[0].clone() });
    });
}

#[test]
fn an_answer_may_show_what_happened_after_its_command() {
    let mut history = good();
    named(&mut history, "start").ended = Duration::from_secs(2);
    answers(&mut history, "start")[0].version = 5;
    assert_eq!(violations(&history), []);
    // But nothing that was asked for later, and nobody before it may show more.
    check_breaks(NodeRule::RunsAreLinearizable, |history| answers(history, "start")[0].version = 5);
}

#[test]
fn versions_have_no_gap_and_positions_only_grow() {
    check_breaks(NodeRule::VersionsCountEvents, |history| history.log[5].version = 9);
    check_breaks(NodeRule::VersionsCountEvents, |history| {
        history.log[5].position = history.log[4].position;
    });
    check_breaks(NodeRule::VersionsCountEvents, |history| history.log.swap(2, 3));
    check_breaks(NodeRule::VersionsCountEvents, |history| answers(history, "post")[0].version = 5);
}

#[test]
fn a_read_of_what_was_over_before_it_began_is_too_old() {
    check_breaks(NodeRule::RunsAreLinearizable, |history| answers(history, "read")[0].version = 5);
    // Two reads, one after the other: the second must not go back.
    check_breaks(NodeRule::RunsAreLinearizable, |history| {
        named(history, "post").ended = Duration::from_secs(20);
        let later = operation("read-3", OperationKind::Read, 4, 5, None);
        history.operations.push(later);
    });
}

#[test]
fn a_write_is_behind_everything_that_was_over_before_it_began() {
    check_breaks(NodeRule::RunsAreLinearizable, |history| {
        // It is version 6, which another one had read before.
        let post = named(history, "post");
        (post.invoked, post.ended) = (Duration::from_secs(5), Duration::from_secs(6));
    });
}

#[test]
fn a_read_sees_nothing_that_nobody_has_asked_for_yet() {
    check_breaks(NodeRule::RunsAreLinearizable, |history| {
        answers(history, "read")[0].version = 11;
    });
    // Half of a command: its other event comes after it.
    check_breaks(NodeRule::RunsAreLinearizable, |history| answers(history, "read")[0].version = 4);
}

#[test]
fn an_overlapping_read_may_see_either_state() {
    for version in [5, 6] {
        let mut history = good();
        let read = named(&mut history, "read");
        (read.invoked, read.ended) = (Duration::from_millis(2100), Duration::from_millis(2800));
        answers(&mut history, "read")[0].version = version;
        assert_eq!(violations(&history), []);
    }
}

#[test]
fn two_clients_never_hold_one_handoff_under_one_fence() {
    check_breaks(NodeRule::OneHolderPerFence, |history| {
        answers(history, "second")[0].fence = Some(1);
    });
    check_breaks(NodeRule::OneHolderPerFence, |history| history.log[10].fence = Some(1));
}

#[test]
fn only_the_holder_ends_a_handoff() {
    check_breaks(NodeRule::OneHolderPerFence, |history| {
        named(history, "complete").kind = complete(1);
    });
    // The lease of the holder is over, and nobody has accepted since.
    check_breaks(NodeRule::OneHolderPerFence, |history| {
        history.log.insert(11, fenced(12, "lease.lost", "baton:timekeeper", 10, 2));
    });
}

#[test]
fn a_lease_is_not_lost_before_its_time() {
    check_breaks(NodeRule::LeasesLast, |history| {
        history.log[6].at = BEGAN + SignedDuration::from_secs(4);
    });
}

#[test]
fn a_node_whose_own_clock_dates_an_event_is_found() {
    for hours in [-1, 1] {
        check_breaks(NodeRule::OneClock, |history| {
            history.log[5].at += SignedDuration::from_hours(hours);
        });
    }
}

#[test]
fn a_reader_hears_everything_once_in_order() {
    let rule = NodeRule::ReadersHearEverythingOnce;
    // A gap in the middle, of one message or of a whole event.
    check_breaks(rule, |history| {
        history.readers[0].heard.remove(7);
    });
    check_breaks(rule, |history| drop(history.readers[0].heard.drain(6..8)));
    // Nothing more came.
    check_breaks(rule, |history| history.readers[1].heard.truncate(3));
    // Twice, out of order, from nowhere.
    check_breaks(rule, |history| {
        let again = history.readers[0].heard[3];
        history.readers[0].heard.insert(4, again);
    });
    check_breaks(rule, |history| history.readers[0].heard.swap(3, 5));
    check_breaks(rule, |history| history.readers[0].heard.push((9999, 0)));
    check_breaks(rule, |history| history.readers[0].n_resets = 1);
    // An event that no reader heard of.
    check_breaks(rule, |history| {
        history.readers.iter_mut().for_each(|it| it.heard.retain(|it| it.0 != 80))
    });
}

#[test]
fn a_history_says_how_much_it_says() {
    let counts = count(&good());
    assert_eq!((counts.n_acknowledged, counts.n_refused, counts.n_unknown), (7, 1, 1));
    assert_eq!(counts.by_kind["handoff.accepted"], 2);
    assert_eq!(counts.by_node[&0], 7);
}
