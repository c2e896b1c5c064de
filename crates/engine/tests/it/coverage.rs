//! Random play is worth nothing where it never gets: this shows that it gets everywhere.

use std::collections::BTreeSet;

use proptest::strategy::{Strategy as _, ValueTree as _};
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};

use baton_core::gate::Answer;

use crate::act::{Act, Answered, Order, What};
use crate::model::{Baton, Handoff, Kind, Model, N_STORIES, Run, State, Stops};
use crate::random::{self, Temper};

/// Every refusal that a command on a run can get, but those that need another engine, and
/// `too_many_checks`, which needs patience.
const REFUSALS: [&str; 44] = [
    "accept_first",
    "already_accepted",
    "already_approved",
    "already_open",
    "already_stale",
    "bad_delegate",
    "behind_gate",
    "choose_receiver",
    "comment_required",
    "contract",
    "duplicate",
    "fence_required",
    "finished",
    "frame_open",
    "gate_open",
    "lint",
    "no_lease",
    "no_such_handoff",
    "no_vote",
    "not_a_choice",
    "not_a_gate",
    "not_a_question",
    "not_an_approver",
    "not_an_edge",
    "not_due",
    "not_held_back",
    "not_holder",
    "not_in_frame",
    "not_optional",
    "not_paused",
    "not_visited",
    "not_yet",
    "not_yours",
    "nothing_to_skip",
    "own_work",
    "package_required",
    "paused",
    "question_open",
    "reject_never",
    "run_finished",
    "stale_fence",
    "too_deep",
    "unknown_agent",
    "wrong_state",
];

const CAUSES: [&str; 15] = [
    "blocked",
    "checks",
    "declared",
    "delegations",
    "entries",
    "escalation",
    "expired",
    "failure",
    "lost_lease",
    "needs_clarification",
    "needs_review",
    "questions",
    "releases",
    "rounds",
    "same_findings",
];

/// What has to be seen to happen, and not only to be refused.
const SCENES: [&str; 23] = [
    "a caller goes on instead of taking the return",
    "a caller rejects with a person asked inside",
    "a caller rejects with work inside",
    "a delegate rejects",
    "a handoff expires and a person is asked",
    "a handoff expires and is given back",
    "a handoff expires and lies loose",
    "a lost question is asked again",
    "a lost question is asked of a person",
    "a part expires",
    "a person answers after asking",
    "a person approves, and is not the last",
    "a person asks at a gate",
    "a person has the last word on a question",
    "a person writes something else",
    "a return is accepted",
    "a return is rejected",
    "checks pass at the gate",
    "checks pass before the gate",
    "somebody objects before it is taken",
    "somebody objects to what is held",
    "somebody objects to what is delegated",
    "work accepted as it is comes to its approvers",
];

/// Where a play has been.
#[derive(Default)]
struct Seen {
    refusals: BTreeSet<&'static str>,
    batons: BTreeSet<&'static str>,
    causes: BTreeSet<&'static str>,
    /// How much the gates stop.
    stops: BTreeSet<&'static str>,
    kinds: BTreeSet<&'static str>,
    scenes: BTreeSet<&'static str>,
    deepest: usize,
}

#[test]
fn random_play_meets_every_refusal_every_gate_and_every_baton() {
    let rng = TestRng::from_seed(RngAlgorithm::ChaCha, &[7; 32]);
    let mut runner = TestRunner::new_with_rng(Config::default(), rng);
    let mut seen = Seen::default();
    // The seed is fixed, so this either always gets there or never does.
    for n in 0..4000 {
        let is_everywhere = seen.refusals.len() == REFUSALS.len()
            && seen.causes.len() == CAUSES.len()
            && seen.scenes.len() == SCENES.len()
            && seen.deepest >= 3;
        if is_everywhere {
            break;
        }
        let temper = Temper::ALL[n % Temper::ALL.len()];
        let mut model = Model::new(temper, n / Temper::ALL.len() % N_STORIES);
        for _ in 0..70 {
            let act = random::act(&model).new_tree(&mut runner).unwrap().current();
            if !model.is_possible(&act) {
                continue;
            }
            let before = model.latest(act.story).cloned();
            model.does(&act);
            seen.refusals.extend(model.said.err());
            let Some(after) = model.latest(act.story) else { continue };
            seen.looks_at(after);
            if let (Some(before), Ok(())) = (&before, model.said) {
                seen.scenes.extend(scene(&act, before, after));
            }
        }
    }
    assert_eq!(seen.refusals, BTreeSet::from(REFUSALS));
    assert_eq!(seen.causes, BTreeSet::from(CAUSES));
    assert_eq!(seen.scenes, BTreeSet::from(SCENES));
    assert_eq!(seen.stops, BTreeSet::from(["all", "nothing", "until checks pass"]));
    let kinds = ["delegation", "escalation", "question", "return", "sequential"];
    assert_eq!(seen.kinds, BTreeSet::from(kinds));
    let batons = ["asked", "done", "held", "held back", "loose", "offered"];
    assert_eq!(seen.batons, BTreeSet::from(batons));
    assert!(seen.deepest >= 3, "{}", seen.deepest);
}

impl Seen {
    fn looks_at(&mut self, run: &Run) {
        self.batons.insert(match run.baton {
            Baton::Offered(_) => "offered",
            Baton::Held(_) => "held",
            Baton::Asked(_) => "asked",
            Baton::HeldBack(_) => "held back",
            Baton::Loose { .. } => "loose",
            Baton::Done => "done",
        });
        self.deepest = self.deepest.max(run.frames.len());
        for handoff in run.open() {
            self.kinds.insert(handoff.kind.name());
            let Some(gate) = &handoff.gate else { continue };
            self.causes.insert(gate.cause.name());
            self.stops.insert(match gate.stops {
                Stops::All => "all",
                Stops::Nothing => "nothing",
                Stops::Until(_) => "until checks pass",
            });
        }
    }
}

/// What an act that was not refused was an example of.
fn scene(act: &Act, before: &Run, after: &Run) -> Option<&'static str> {
    match &act.what {
        What::On(order) => {
            let named = order.no().map(|it| before.row(it));
            match (order, named) {
                (Order::Answer(answered), Some(named)) => {
                    answer_scene(answered, before, after, named)
                }
                (order, Some(named)) => handoff_scene(order, before, after, named),
                (_, None) => None,
            }
        }
        What::Create(create) if create.supersedes.is_none() => {
            before.current().and_then(|it| work_scene(before, after, it))
        }
        What::Create(_)
        | What::Start { .. }
        | What::StartAt { .. }
        | What::Wait { .. }
        | What::Sweep => None,
    }
}

fn handoff_scene(
    order: &Order,
    before: &Run,
    after: &Run,
    named: &Handoff,
) -> Option<&'static str> {
    let is_part = before.caller_of(named.no).is_some();
    let is_return = is_part && named.kind == Kind::Return;
    let is_question = named.kind == Kind::Question;
    Some(match order {
        Order::Accept { .. } if is_return => "a return is accepted",
        Order::Reject { .. } if named.state == State::Parked => {
            let is_asked = matches!(before.baton, Baton::Asked(_));
            if is_asked {
                "a caller rejects with a person asked inside"
            } else {
                "a caller rejects with work inside"
            }
        }
        Order::Reject { .. } if is_return => "a return is rejected",
        Order::Reject { .. } if is_part => "a delegate rejects",
        Order::Complete(_) => return work_scene(before, after, named),
        Order::Record { .. } if after.row(named.no).state == State::Ended => {
            "checks pass at the gate"
        }
        Order::Expire { .. } if is_part => "a part expires",
        Order::Expire { .. } => match after.baton {
            Baton::Asked(_) => "a handoff expires and a person is asked",
            Baton::Offered(_) => "a handoff expires and is given back",
            Baton::Loose { .. } => "a handoff expires and lies loose",
            Baton::Held(_) | Baton::HeldBack(_) | Baton::Done => return None,
        },
        Order::LoseLease { .. } if is_question => {
            let again = after.handoffs.last().expect("it is asked again");
            let is_same = again.to == named.to;
            if is_same {
                "a lost question is asked again"
            } else {
                "a lost question is asked of a person"
            }
        }
        // Too rare for a play of this length: the walks along gates pass votes on, the sweeps remind.
        Order::DelegateVote { .. }
        | Order::Remind { .. }
        | Order::Accept { .. }
        | Order::Reject { .. }
        | Order::Cancel { .. }
        | Order::TimeOut { .. }
        | Order::MarkStale { .. }
        | Order::Answer(_)
        | Order::Clarify { .. }
        | Order::Reply { .. }
        | Order::Release { .. }
        | Order::Record { .. }
        | Order::LoseLease { .. }
        | Order::Wake { .. }
        | Order::CleanUp
        | Order::Pause
        | Order::Resume
        | Order::CancelRun
        | Order::Goto { .. }
        | Order::Skip => return None,
    })
}

/// What happens when work is handed on.
fn work_scene(before: &Run, after: &Run, from: &Handoff) -> Option<&'static str> {
    if from.kind == Kind::Return && before.caller_of(from.no).is_some() {
        return Some("a caller goes on instead of taking the return");
    }
    let last = after.handoffs.last()?;
    let is_new = after.handoffs.len() > before.handoffs.len();
    let is_past = (last.from.place, last.to.place) == ("trim", "prove");
    (is_new && is_past).then_some("checks pass before the gate")
}

fn answer_scene(
    answered: &Answered,
    before: &Run,
    after: &Run,
    named: &Handoff,
) -> Option<&'static str> {
    let is_open = after.row(named.no).state != State::Ended;
    let beside = named.gate.as_ref().and_then(|it| it.beside).map(|it| before.row(it).state);
    Some(match (&answered.answer, beside) {
        (Answer::Reject, Some(State::Pending)) => "somebody objects before it is taken",
        (Answer::Reject, Some(State::Accepted)) => "somebody objects to what is held",
        (Answer::Reject, Some(State::Parked)) => "somebody objects to what is delegated",
        (Answer::Question, _) => "a person asks at a gate",
        (Answer::Approve, _) if is_open => "a person approves, and is not the last",
        (Answer::Accept, _) if matches!(after.baton, Baton::Asked(_)) => {
            "work accepted as it is comes to its approvers"
        }
        (Answer::Modify, _) => "a person writes something else",
        (Answer::Reply, _) if named.kind == Kind::Question => {
            "a person has the last word on a question"
        }
        (_, _) if named.state == State::Clarification => "a person answers after asking",
        _ => return None,
    })
}
