//! Appends as the engine would make them: events by the rules of the core, chained and encoded.
//!
//! Each function takes the append before it and gives the next, so that a case reads as a tale:
//! [`start`], [`hand_to`], [`accept`], [`complete`].

use std::sync::atomic::{AtomicU32, Ordering};

use baton_core::budget::Budget;
use baton_core::content::{Content, ContentId, ContentKind};
use baton_core::event::{Created, Event, HandoffEvent, RunEvent, evolve};
use baton_core::hash::Hash;
use baton_core::names::{AgentId, Principal, StepId, StoryKey, WorkflowName};
use baton_core::outcome::Outcome;
use baton_core::package::Format;
use baton_core::run::{
    EdgeKey, Ended, HandoffId, HandoffNo, HandoffState, Kind, Party, Run, RunId, RunStatus, State,
};
use baton_core::workflow::{Mode, Place};
use baton_store::{
    Append, Appended, Definition, DueChange, EventRecord, HandoffRow, IdempotencyRecord, Position,
    Store, TimerChange, TimerKind, Version,
};
use baton_wire::event::{encode, link};
use jiff::{SignedDuration, Timestamp};
use uuid::Uuid;

/// The first append of run `n`: a run of `story` whose baton is loose.
pub fn start(n: u32, story: &str) -> Append {
    let now = moment(i64::from(n) * 1000);
    let owner = principal("ada");
    let (id, story) = (run_id(n), story_key(story));
    let workflow = WorkflowName::parse("story-pipeline").unwrap();
    let start = step("analysis");
    let run =
        Run::new(id, story.clone(), workflow.clone(), pin(), owner.clone(), start.clone(), now);
    let event = Event::Run(RunEvent::Started {
        story,
        workflow,
        pin: pin(),
        owner,
        start,
        has_gates: false,
        has_checks: false,
        mode: Mode::Autonomous,
        budget: Budget::default(),
    });
    Append {
        expected: Version::NONE,
        number: None,
        events: chain(Hash::ZERO, id, Version::NONE, now, &[event]),
        waiting: Append::change_of_waiting(None, &run),
        blocked: Append::change_of_blocked(None, &run),
        due: DueChange::Keep,
        dropped: Vec::new(),
        story_status: Append::change_of_status(None, &run),
        run,
        opened: Vec::new(),
        changed: Vec::new(),
        contents: Vec::new(),
        story: None,
        definition: None,
        outbox: Vec::new(),
        timers: Vec::new(),
        answered: None,
        at: now,
    }
}

/// The same run a second later, once `events` have happened.
pub fn then(before: &Append, events: &[Event]) -> Append {
    let now = before.at + SignedDuration::from_secs(1);
    let mut run = before.run.clone();
    for event in events {
        evolve(&mut run, event, now);
    }
    let expected = version(before);
    Append {
        expected,
        number: None,
        events: chain(head(before), run.id, expected, now, events),
        waiting: Append::change_of_waiting(Some(&before.run), &run),
        blocked: Append::change_of_blocked(Some(&before.run), &run),
        due: if run.is_finished() { DueChange::Clear } else { DueChange::Keep },
        dropped: Vec::new(),
        story_status: Append::change_of_status(Some(&before.run), &run),
        run,
        at: now,
        opened: Vec::new(),
        changed: known(before),
        contents: Vec::new(),
        story: None,
        definition: None,
        outbox: Vec::new(),
        timers: Vec::new(),
        answered: None,
    }
}

/// The open handoffs that an append has: the next one has them as they are, unless it changes them.
fn known(append: &Append) -> Vec<HandoffRow> {
    let rows = append.changed.iter().chain(&append.opened);
    rows.filter(|it| it.state.is_open()).cloned().collect()
}

/// The row of a handoff in an append that changes it.
pub fn row_mut(append: &mut Append, no: u32) -> &mut HandoffRow {
    append.changed.iter_mut().find(|it| it.no == HandoffNo(no)).unwrap()
}

/// The row of a handoff that an append opens.
pub fn open(append: &mut Append, created: &Created) {
    append.opened.push(HandoffRow::opened(&append.run, created, append.at));
}

/// Opens the run's next handoff, with a package and a reason.
pub fn hand_to(before: &Append, agent: &str) -> Append {
    let package = package(&format!(r#"{{"summary":"for {agent}"}}"#));
    let reason = words(&format!("{agent} is next"));
    let created = Created { package: Some(package.id), ..created(before, agent, &reason) };
    let mut next = then(before, &[Event::Handoff(HandoffEvent::Created(created.clone()))]);
    open(&mut next, &created);
    next.contents = vec![package, reason];
    next
}

pub fn accept(before: &Append, no: u32) -> Append {
    let acknowledgement = words("I am to do it, and have no questions");
    let event = Event::Handoff(HandoffEvent::Accepted {
        handoff: HandoffNo(no),
        by: agent("bea"),
        is_implicit: false,
        acknowledgement: Some(acknowledgement.id),
        holder: None,
    });
    let mut next = then(before, &[event]);
    to_state(&mut next, no, HandoffState::Open(State::Accepted));
    row_mut(&mut next, no).acknowledgement = Some(acknowledgement.id);
    next.contents = vec![acknowledgement];
    next
}

pub fn reject(before: &Append, no: u32, why: &str) -> Append {
    let reason = words(why);
    let event = Event::Handoff(HandoffEvent::Rejected {
        handoff: HandoffNo(no),
        by: agent("bea"),
        reason: reason.id,
        forward: edge("analysis", "review"),
        findings: None,
    });
    let mut next = then(before, &[event]);
    to_state(&mut next, no, HandoffState::Ended(Ended::Rejected));
    row_mut(&mut next, no).ended_reason = Some(reason.id);
    next.contents = vec![reason];
    next
}

pub fn complete(before: &Append, no: u32) -> Append {
    let handoff = HandoffNo(no);
    let outcome = Outcome::Success;
    let package = before.run.package;
    let event = Event::Handoff(HandoffEvent::Completed { handoff, outcome, package, answer: None });
    let mut next = then(before, &[event]);
    to_state(&mut next, no, HandoffState::Ended(Ended::Completed));
    row_mut(&mut next, no).outcome = Some(outcome);
    next
}

/// Marks a handoff that has not moved, in whatever state it is.
pub fn mark_stale(before: &Append, no: u32) -> Append {
    let handoff = HandoffNo(no);
    let mut next =
        then(before, &[Event::Handoff(HandoffEvent::Stale { handoff, is_no_move: true })]);
    row_mut(&mut next, no).is_stale = true;
    next
}

pub fn finish(before: &Append, status: RunStatus) -> Append {
    let event = match status {
        RunStatus::Open => Event::Run(RunEvent::Resumed),
        RunStatus::Paused => Event::Run(RunEvent::Paused { reason: None }),
        RunStatus::Completed => Event::Run(RunEvent::Completed),
        RunStatus::Cancelled => Event::Run(RunEvent::Cancelled { reason: None }),
    };
    then(before, &[event])
}

/// A whole run: a handoff that is rejected, another that is completed, and the end.
pub fn tale(n: u32, story: &str) -> Vec<Append> {
    let first = start(n, story);
    let second = hand_to(&first, "bea");
    let third = reject(&second, 1, "the tests fail");
    let fourth = hand_to(&third, "cid");
    let fifth = accept(&fourth, 2);
    let sixth = complete(&fifth, 2);
    let seventh = finish(&sixth, RunStatus::Completed);
    vec![first, second, third, fourth, fifth, sixth, seventh]
}

/// Puts a handoff into a state, with the time that belongs to it.
pub fn to_state(append: &mut Append, no: u32, state: HandoffState) {
    let at = append.at;
    let row = row_mut(append, no);
    row.state = state;
    match state {
        HandoffState::Open(State::Accepted) => row.accepted_at = Some(at),
        HandoffState::Open(State::Parked) => {}
        HandoffState::Open(State::Pending | State::Clarification) => row.accepted_at = None,
        HandoffState::Ended(_) => row.ended_at = Some(at),
    }
}

/// The next handoff of the run, from the analyst to `to`, without a package.
pub fn created(before: &Append, to: &str, reason: &Content) -> Created {
    let no = before.run.n_handoffs + 1;
    Created {
        handoff: HandoffNo(no),
        id: handoff_id(before.run.id, no),
        branch: 0,
        kind: Kind::Sequential,
        from: Party { agent: agent("ada"), place: step("analysis") },
        to: Party { agent: agent(to), place: step("review") },
        package: None,
        reason: reason.id,
        forward: edge("analysis", "review"),
        reject_to: None,
        attempt: 1,
        follows: no.checked_sub(1).filter(|it| *it > 0).map(HandoffNo),
        approved_by: None,
        author: None,
        warnings: Vec::new(),
        score: None,
        brings: None,
        held_back_until: None,
        has_lost_lease: false,
        cast: None,
        from_portrait: None,
        to_portrait: None,
        entry: None,
        rework_reason: None,
        n_questions: 0,
        n_releases: 0,
        failure: None,
        lost_output: None,
        tree: None,
    }
}

/// The same append, with a timer for each `(handoff, fence)`: a lease that ends 20 seconds later.
pub fn leased(append: Append, leases: &[(u32, u32)]) -> Append {
    let due = append.at + SignedDuration::from_secs(20);
    let timers = leases.iter().map(|(no, fence)| TimerChange::Set {
        no: HandoffNo(*no),
        what: TimerKind::Lease { fence: *fence, seconds: 20 },
        due,
    });
    Append { timers: timers.collect(), ..append }
}

/// The same append, sent with a key that may be sent again.
pub fn keyed(append: Append, scope: &str, key: &str) -> Append {
    let answered = IdempotencyRecord {
        scope: scope.to_owned(),
        key: key.to_owned(),
        request: Hash([7; 32]),
        answer: format!("the answer of {}", append.run.id),
        at: append.at,
    };
    Append { answered: Some(answered), ..append }
}

pub fn definition(text: &str) -> Definition {
    let name = WorkflowName::parse("story-pipeline").unwrap();
    Definition { hash: pin(), name, text: text.to_owned() }
}

/// Texts of a run, each checked.
pub async fn whole_contents(store: &dyn Store, run: RunId, ids: &[ContentId]) -> Vec<Content> {
    let stored = store.contents(run, ids).await.unwrap();
    stored.into_iter().map(|it| it.check().unwrap()).collect()
}

pub fn words(text: &str) -> Content {
    Content::new([3; 16], ContentKind::Words, text)
}

pub fn package(text: &str) -> Content {
    let kind = ContentKind::Package { format: Format::Json, hash: Hash([5; 32]) };
    Content::new(fresh_nonce(), kind, text)
}

/// What the run is at once `append` is in.
pub fn version(append: &Append) -> Version {
    Version(append.expected.0 + append.events.len() as u64)
}

pub fn head(append: &Append) -> Hash {
    append.events.last().unwrap().hash
}

/// Appends what must not fail, and waits until the log shows it: where other processes append too, that
/// may be later.
pub async fn put(store: &dyn Store, append: &Append) -> Appended {
    let appended = store.append(append.clone().into()).await.unwrap();
    shown(store, appended.position).await;
    appended
}

/// Waits until the log is complete up to a position.
pub async fn shown(store: &dyn Store, position: Position) {
    while store.settled().is_some() && store.last_position().await.unwrap() < position {
        tokio::task::yield_now().await;
    }
}

pub async fn put_all(store: &dyn Store, appends: &[Append]) {
    for append in appends {
        put(store, append).await;
    }
}

pub fn run_id(n: u32) -> RunId {
    RunId(Uuid::from_u128(u128::from(n)))
}

pub fn handoff_id(run: RunId, no: u32) -> HandoffId {
    HandoffId(Uuid::from_u128((run.0.as_u128() << 32) + u128::from(no)))
}

pub fn story_key(key: &str) -> StoryKey {
    StoryKey::parse(key).unwrap()
}

pub fn agent(name: &str) -> AgentId {
    AgentId::parse(name).unwrap()
}

pub fn principal(name: &str) -> Principal {
    Principal::parse(name).unwrap()
}

pub fn step(name: &str) -> Place {
    Place::Step(StepId::parse(name).unwrap())
}

pub fn edge(from: &str, to: &str) -> EdgeKey {
    EdgeKey { from: step(from), to: step(to) }
}

/// The hash of every workflow here.
pub fn pin() -> Hash {
    Hash([1; 32])
}

/// Seconds into the year 2026, and a nanosecond that a coarser clock would lose.
pub fn moment(seconds: i64) -> Timestamp {
    Timestamp::new(1_767_225_600 + seconds, 123_456_789).unwrap()
}

fn chain(
    mut head: Hash,
    run: RunId,
    expected: Version,
    at: Timestamp,
    events: &[Event],
) -> Vec<EventRecord> {
    let by = principal("ada");
    let mut records = Vec::new();
    for (version, event) in (expected.0 + 1..).zip(events) {
        let body = encode(event);
        head = link(&head, run, version, at, &by, &body);
        records.push(EventRecord { name: event.name(), by: by.clone(), body, hash: head });
    }
    records
}

/// Two packages of the same text are two contents.
fn fresh_nonce() -> [u8; 16] {
    static LAST: AtomicU32 = AtomicU32::new(0);
    u128::from(LAST.fetch_add(1, Ordering::Relaxed)).to_be_bytes()
}
