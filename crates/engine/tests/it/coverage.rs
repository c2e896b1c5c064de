//! Random play is worth nothing where it never gets: this shows that it gets everywhere.

use std::collections::BTreeSet;

use proptest::strategy::{Strategy as _, ValueTree as _};
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};

use crate::model::{Baton, Model};
use crate::random::{self, Temper};

/// Every refusal that a command on a run can get, but those that need another engine.
const REFUSALS: [&str; 25] = [
    "accept_first",
    "already_accepted",
    "already_open",
    "already_stale",
    "choose_receiver",
    "contract",
    "duplicate",
    "finished",
    "gate_open",
    "no_such_handoff",
    "not_a_choice",
    "not_a_gate",
    "not_an_edge",
    "not_due",
    "not_holder",
    "not_optional",
    "not_paused",
    "not_visited",
    "not_yours",
    "nothing_to_skip",
    "paused",
    "reject_never",
    "run_finished",
    "unknown_agent",
    "wrong_state",
];

#[test]
fn random_play_meets_every_refusal_every_gate_and_every_baton() {
    let rng = TestRng::from_seed(RngAlgorithm::ChaCha, &[7; 32]);
    let mut runner = TestRunner::new_with_rng(Config::default(), rng);
    let mut refusals = BTreeSet::new();
    let mut places = BTreeSet::new();
    let mut gates = BTreeSet::new();
    let causes = ["stuck", "the same again", "to be reviewed", "too often"];
    let in_both = [0, 1].into_iter().flat_map(|story| causes.map(|it| (story, it)));
    let all_gates: BTreeSet<_> = in_both.collect();
    // The seed is fixed, so this either always gets there or never does.
    for n in 0..4000 {
        if refusals.len() == REFUSALS.len() && gates.len() == all_gates.len() {
            break;
        }
        let temper = if n % 4 == 0 { Temper::Stubborn } else { Temper::Lively };
        let mut model = Model::new(temper);
        for _ in 0..70 {
            let act = random::act(&model).new_tree(&mut runner).unwrap().current();
            if !model.is_possible(&act) {
                continue;
            }
            model.does(&act);
            refusals.extend(model.said.err());
            if let Some(run) = model.latest(act.story) {
                places.insert(place(&run.baton()));
                let gate = run.open().and_then(|it| it.gate.as_ref());
                gates.extend(gate.map(|it| (act.story, it.why())));
            }
        }
    }
    assert_eq!(refusals, BTreeSet::from(REFUSALS));
    assert_eq!(places, BTreeSet::from(["done", "held", "loose", "offered", "parked"]));
    assert_eq!(gates, all_gates);
}

fn place(baton: &Baton) -> &'static str {
    match baton {
        Baton::Offered(_) => "offered",
        Baton::Held(_) => "held",
        Baton::Parked(_) => "parked",
        Baton::Loose { .. } => "loose",
        Baton::Done => "done",
    }
}
