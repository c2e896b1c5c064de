//! What the design promises of every run, whatever is done to it.

use std::collections::{BTreeMap, BTreeSet};

use baton_core::gate::{Answer, GateKind};
use baton_core::run::{
    Baton, CounterScope, Handoff, HandoffNo, HandoffState, Kind, Run, State, Wait,
};
use baton_store::{HandoffFilter, HandoffRow, OpenRunCounts, RunFilter, RunRow};
use baton_store_tests::count_run;

use super::Holding;
use crate::act::{Act, Answered, Order, What};
use crate::flows::HUMAN;
use crate::performs::Came;
use crate::world::World;

pub(super) async fn no_ended_handoff_changes(world: &World, ended: &mut BTreeMap<u64, HandoffRow>) {
    for row in world.store.handoffs(&HandoffFilter::default()).await.unwrap() {
        if let Some(before) = ended.get(&row.number) {
            assert_eq!(*before, row, "a finished handoff changed");
        } else if !row.state.is_open() {
            ended.insert(row.number, row);
        }
    }
}

/// Whoever looks for what waits for somebody's word finds it, and nothing else.
pub(super) async fn what_waits_is_listed(world: &World) {
    let all = world.store.runs(&RunFilter::default()).await.unwrap();
    let waiting = RunFilter { only_waiting: true, ..RunFilter::default() };
    let listed = world.store.runs(&waiting).await.unwrap();
    let of = |is: fn(&baton_core::run::Run) -> bool| {
        all.iter().filter(|it| is(&it.run)).cloned().collect::<Vec<_>>()
    };
    assert_eq!(listed, of(baton_core::run::Run::is_waiting));
    let blocked = RunFilter { only_blocked: true, ..RunFilter::default() };
    let listed = world.store.runs(&blocked).await.unwrap();
    assert_eq!(listed, of(baton_core::run::Run::is_blocked));
    let mut counts = OpenRunCounts::default();
    all.iter().for_each(|it| count_run(&mut counts, &it.run));
    assert_eq!(world.store.open_run_counts().await.unwrap(), counts);
    assert_eq!(world.store.count_open_runs().await.unwrap(), counts.n_open + counts.n_paused);
}

/// What the baton rests on is as the baton says, and nobody else holds anything.
pub(super) async fn one_has_the_baton(world: &World, row: &RunRow) {
    let run = &row.run;
    let filter = HandoffFilter { run: Some(run.id), ..HandoffFilter::default() };
    let rows = world.store.handoffs(&filter).await.unwrap();
    let open: Vec<_> = rows.iter().filter(|it| it.state.is_open()).collect();
    let in_run = run.handoffs.iter().map(|it| (it.no, HandoffState::Open(it.state)));
    assert!(open.iter().map(|it| (it.no, it.state)).eq(in_run), "{open:#?}");

    let rests_on = |fits: fn(&Handoff) -> bool| run.current().is_some_and(fits);
    let is_expected = match run.baton() {
        Baton::Offered { .. } => rests_on(|it| {
            let is_offered = matches!(it.state, State::Pending | State::Clarification);
            is_offered && it.gate.is_none() && !it.to.agent.is_human()
        }),
        Baton::Held { .. } => rests_on(|it| it.state == State::Accepted && it.gate.is_none()),
        Baton::Parked { on: Wait::Person, .. } => rests_on(|it| {
            let is_asked = matches!(it.state, State::Pending | State::Clarification);
            is_asked && it.gate.as_ref().is_some_and(|it| it.kind != GateKind::Advisory)
        }),
        Baton::Parked { on: Wait::Checks, .. } => rests_on(|it| it.checks.is_some()),
        Baton::Parked { on: Wait::Timer, .. } => {
            rests_on(|it| it.state == State::Pending && it.held_back_until.is_some())
        }
        Baton::Loose { .. } => !run.is_finished() && open.is_empty(),
        Baton::Done => run.is_finished() && open.is_empty(),
    };
    assert!(is_expected, "{run:#?}");
    let holds = |it: &&Handoff| it.state == State::Accepted && it.kind != Kind::Question;
    assert!(run.handoffs.iter().filter(holds).count() <= 1, "two hold: {run:#?}");
}

/// Every open row is there for a reason: the baton, a caller, a question, a person's advice.
pub(super) fn rows_hang_together(run: &Run) {
    let current = run.current().map(|it| it.no);
    let parked: Vec<HandoffNo> =
        run.handoffs.iter().filter(|it| it.state == State::Parked).map(|it| it.no).collect();
    let callers: Vec<HandoffNo> = run.frames.iter().map(|it| it.caller).collect();
    assert_eq!(parked, callers, "{run:#?}");
    for handoff in &run.handoffs {
        let question = handoff.question.and_then(|it| run.handoff(it));
        let is_unclear = handoff.state == State::Clarification;
        assert_eq!(is_unclear, question.is_some(), "{handoff:#?} of {run:#?}");
        let is_about = |it: &Handoff| it.question == Some(handoff.no);
        let beside = handoff.gate.as_ref().and_then(|it| it.beside);
        let is_expected = match (handoff.kind, beside) {
            (Kind::Question, _) => {
                handoff.about.and_then(|it| run.handoff(it)).is_some_and(is_about)
            }
            (_, Some(beside)) => run.handoff(beside).is_some(),
            // A gate that stands for a question holds the baton itself.
            (_, None) => {
                let asks = question.is_some_and(|it| current == Some(it.no));
                current == Some(handoff.no) || handoff.state == State::Parked || asks
            }
        };
        assert!(is_expected, "{handoff:#?} of {run:#?}");
        assert!(handoff.lease.is_none() || handoff.state == State::Accepted, "{handoff:#?}");
        let on = Wait::Timer;
        let is_parked = *run.baton() == Baton::Parked { handoff: handoff.no, on };
        assert_eq!(handoff.held_back_until.is_some(), is_parked, "{handoff:#?}");
    }
}

/// Nothing but a person's word, or the checks that were asked for, opens a gate; unless nobody
/// wants any more what it stands before.
pub(super) fn gates_wait_for_people(act: &Act, before: &Run, after: &Run) {
    for (row, gate) in before.gates().filter(|(_, it)| it.kind != GateKind::Advisory) {
        if after.handoff(row.no).is_some_and(|it| it.gate.is_some()) {
            continue;
        }
        let named = |no: &u32| before.handoff(HandoffNo(*no));
        let is_expected = match &act.what {
            What::On(Order::Answer(Answered { no, answer, .. })) => {
                let advises = named(no).and_then(|it| it.gate.as_ref()?.beside).is_some();
                let needs = gate.approval.as_ref().filter(|_| *answer == Answer::Approve);
                // The last of the approvals opens it, and no other.
                let is_enough = needs.is_none_or(|it| it.n_given() + 1 >= it.need);
                *no == row.no.0 && is_enough || advises && *answer == Answer::Reject
            }
            What::On(Order::Record { no, has_passed, .. }) => {
                *no == row.no.0 && *has_passed && gate.kind == GateKind::Automatic
            }
            What::On(Order::Reject { no, .. }) => {
                named(no).is_some_and(|it| it.state == State::Parked)
            }
            What::On(Order::CancelRun) => true,
            What::On(_) | What::Create(_) | What::Start { .. } | What::StartAt { .. } => false,
            What::Wait { .. } | What::Sweep => false,
        };
        assert!(is_expected, "{act:?} ended {row:#?}");
    }
}

/// How often work went back and how much was asked is forgotten only when a person says so.
pub(super) fn counters_only_grow(act: &Act, before: &Run, after: &Run) {
    let is_answer = matches!(act.what, What::On(Order::Answer(_)));
    for (edge, rounds) in before.all_rounds() {
        let now = after.rounds(rounds.branch, edge).expect("rounds are never forgotten");
        assert!(now.n >= rounds.n, "{act:?}: {rounds:?}, then {now:?}");
        let may_change = is_answer && now.n_extra >= rounds.n_extra;
        assert!(may_change || now.n_extra == rounds.n_extra, "{act:?}: {rounds:?}, then {now:?}");
    }
    for counter in before.counters.iter().filter(|_| !is_answer) {
        if let CounterScope::Entries(step) = &counter.scope {
            assert!(
                after.entries(counter.branch, step) >= counter.n,
                "{act:?}: {counter:?} is forgotten"
            );
        }
    }
    for handoff in &before.handoffs {
        let Some(now) = after.handoff(handoff.no) else { continue };
        assert!(now.fence >= handoff.fence, "{act:?}: {handoff:#?}, then {now:#?}");
        let has_grown = now.n_questions >= handoff.n_questions;
        assert!(has_grown || is_answer, "{act:?}: {handoff:#?}, then {now:#?}");
    }
}

/// Remembers who holds what.
pub(super) fn holds(run: &Run, granted: &mut BTreeSet<Holding>) {
    let held = run.handoffs.iter().filter(|it| it.state == State::Accepted);
    granted.extend(held.map(|it| (run.id, it.no.0, it.fence)));
}

/// Whoever says that it holds what it held once, and holds no more, is refused.
pub(super) fn what_was_lost_is_refused(
    act: &Act,
    before: &[Option<Run>],
    granted: &BTreeSet<Holding>,
    came: &Came,
) {
    let Some((no, fence)) = act.what.claim() else { return };
    let Some(run) = &before[act.story] else { return };
    let named = run.handoff(HandoffNo(no));
    let (meant, by) = match &act.what {
        // Who answers may name what the question is about. A person may always answer.
        What::On(Order::Reply { by, .. }) => {
            let question = named.and_then(|it| run.handoff(it.question?));
            (question.or(named), *by)
        }
        What::On(_) | What::Create(_) => (named, None),
        What::Start { .. } | What::StartAt { .. } | What::Wait { .. } | What::Sweep => return,
    };
    let no = meant.map_or(no, |it| it.no.0);
    let was_granted = granted.contains(&(run.id, no, fence));
    let is_lost = meant.is_none_or(|it| it.fence != fence);
    if was_granted && is_lost && by != Some(HUMAN) {
        assert!(matches!(came, Came::Refused(_)), "{act:?} was let in: {came:?}");
    }
}
