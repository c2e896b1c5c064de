//! Random play is worth nothing where it never gets: this shows that it gets everywhere.

use std::collections::BTreeSet;

use proptest::strategy::{Strategy as _, ValueTree as _};
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};

use crate::model::{Baton, Model, N_STORIES, Run, Stops};
use crate::random::{self, Temper};

/// Every refusal that a command on a run can get, but those that need another engine, and
/// `too_many_checks`, which needs patience.
const REFUSALS: [&str; 37] = [
    "accept_first",
    "already_accepted",
    "already_open",
    "already_stale",
    "choose_receiver",
    "comment_required",
    "contract",
    "duplicate",
    "fence_required",
    "finished",
    "frame_open",
    "gate_open",
    "no_lease",
    "no_such_handoff",
    "not_a_choice",
    "not_a_gate",
    "not_a_question",
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

const CAUSES: [&str; 12] = [
    "blocked",
    "checks",
    "declared",
    "escalation",
    "expired",
    "failure",
    "lost_lease",
    "needs_clarification",
    "needs_review",
    "questions",
    "rounds",
    "same_findings",
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
            model.does(&act);
            seen.refusals.extend(model.said.err());
            if let Some(run) = model.latest(act.story) {
                seen.looks_at(run);
            }
        }
    }
    assert_eq!(seen.refusals, BTreeSet::from(REFUSALS));
    assert_eq!(seen.causes, BTreeSet::from(CAUSES));
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
