//! Workflows with gates: the built-in one, that of the model, and drawn ones.

use baton_core::workflow::{Mode, Workflow};
use baton_wire::{builtin, workflow_file};

use super::dice::Dice;
use crate::flows::GATED_FILE;

/// Of all of these workflows.
pub(super) const AGENTS: [&str; 15] = [
    "specification",
    "architecture",
    "estimation",
    "implementation",
    "security-check",
    "shaper",
    "builder",
    "trimmer",
    "prover",
    "digger",
    "helper",
    "ann",
    "ben",
    "cy",
    "dee",
];

/// The check that every automatic gate of a drawn workflow, and every edge with several checks, asks
/// for last.
pub(super) const LAST_CHECK: &str = "build";

pub(super) fn all() -> Vec<Workflow> {
    let built_in = builtin::workflows().iter().find(|(name, _)| *name == "gated-project");
    let (_, gated_project) = built_in.unwrap();
    let drawn = (0..200).map(|seed| drawn(&mut Dice::new(seed)));
    // The fixed ones as often as all of the drawn ones together.
    let fixed = [gated_project.to_owned(), &gated_for_walks()].map(parsed);
    let n_drawn = 200;
    let supervised = |it: String| parsed(&it).in_mode(Mode::Supervised);
    let mut all: Vec<Workflow> = drawn.map(supervised).collect();
    all.extend((0..100).map(|seed| supervised(fanned(&mut Dice::new(1000 + seed)))));
    for n in 0..n_drawn {
        all.push(fixed[n % 2].clone());
    }
    all
}

fn parsed(text: &str) -> Workflow {
    workflow_file::parse(text).unwrap_or_else(|problems| panic!("{problems:?}\n{text}"))
}

fn gated_for_walks() -> String {
    GATED_FILE.replace("checks: [lint, test]", "checks: [lint, tests, build]")
}

/// A chain of steps from the start to the end, with gates on it, and other ways beside it.
fn drawn(dice: &mut Dice) -> String {
    let n_steps = 3 + dice.below(4);
    let mut file =
        "name: drawn\nlimits: { rounds: 2, retries: 1, questions: 2, expire_after: 20m }\n\
        start: { to: s0 }\n"
            .to_owned();
    // What blocks a step that has no way for it goes round by the helper.
    if dice.chance(50) {
        file += "routing: { reasons: { unknown: helper } }\n";
    }
    file += "steps:\n";
    for n in 0..n_steps {
        let who = dice.one_of(&AGENTS[11..]).unwrap();
        file += &format!("  s{n}:\n    agent: {who}\n    delegates: [helper]\n");
        if dice.chance(30) {
            file += "    optional: true\n";
        }
        match dice.below(8) {
            0 => file += &format!("    reject_to: s{}\n", dice.below(n_steps)),
            1 => file += "    reject: never\n",
            _ => {}
        }
        let then = ["loose", "return", "ask"][dice.below(3)];
        file += &format!("    expire_after: 5m\n    on_expire: {then}\n    on:\n");
        file += &format!("      success: {}\n", success(dice, n, n_steps));
        for outcome in ["failure", "blocked", "needs_clarification"] {
            if dice.chance(35) {
                let to = dice.below(n_steps);
                let back = if to <= n && dice.chance(60) { ", back: true" } else { "" };
                let gate = if back.is_empty() { gate(dice, 25, false) } else { String::new() };
                file += &format!("      {outcome}: {{ to: s{to}{back}{gate} }}\n");
            }
        }
    }
    file
}

/// A chain as [`drawn`], with a fan-out in the place of one way on good work.
fn fanned(dice: &mut Dice) -> String {
    let text = drawn(dice);
    let n_steps = text.matches("\n    on:\n").count();
    let n = dice.below(n_steps - 1);
    let join = format!("s{}", n + 1);
    let need = ["all", "any", "2", "all"][dice.below(4)];
    let gate_before = gate_that_holds(dice, 30);
    let fan_out = format!(
        "{{ to: [left, right, third], join: {{ at: {join}, need: {need} }}{gate_before} }}"
    );
    let (head, own) = text.split_once(&format!("\n  s{n}:\n")).unwrap();
    let success = own.lines().find(|it| it.trim_start().starts_with("success: ")).unwrap();
    let own = own.replacen(success, &format!("      success: {fan_out}"), 1);
    let mut text = format!("{head}\n  s{n}:\n{own}");
    for (id, next) in [("left", "more"), ("more", &*join), ("right", &*join), ("third", &*join)] {
        let who = dice.one_of(&AGENTS[11..]).unwrap();
        let then = ["loose", "return", "ask"][dice.below(3)];
        text += &format!("  {id}:\n    agent: {who}\n    delegates: [helper]\n");
        text += &format!("    expire_after: 5m\n    on_expire: {then}\n    on:\n");
        text += &format!("      success: {{ to: {next}{} }}\n", gate_that_holds(dice, 60));
        if dice.chance(40) {
            text += &format!("      failure: {{ to: {join}{} }}\n", gate_that_holds(dice, 60));
        }
    }
    text
}

/// A fan-out and a join have no advisory gate.
fn gate_that_holds(dice: &mut Dice, percent: usize) -> String {
    gate(dice, percent, true)
}

fn success(dice: &mut Dice, n: usize, n_steps: usize) -> String {
    if n + 1 == n_steps {
        return format!("{{ to: complete{} }}", gate(dice, 50, true));
    }
    let on = format!("{{ to: s{}{} }}", n + 1, gate(dice, 60, false));
    let other = dice.below(n_steps);
    if other == n + 1 || !dice.chance(20) {
        return on;
    }
    // Another way on good work: two gates may stand side by side.
    format!("[{on}, {{ to: s{other}{} }}]", gate(dice, 60, false))
}

fn gate(dice: &mut Dice, percent: usize, is_last: bool) -> String {
    if !dice.chance(percent) {
        return String::new();
    }
    match dice.below(if is_last { 5 } else { 6 }) {
        // A gate of the run's mode holds like a declared one.
        0 if dice.chance(50) => ", ask_in: supervised".to_owned(),
        0 => ", gate: blocking".to_owned(),
        1 => ", gate: { type: automatic, name: proofs, checks: [lint, types, tests, build] }"
            .to_owned(),
        // Checks hold like a gate; beside a gate, both have to be passed.
        2 => ", checks: [lint, build]".to_owned(),
        3 => ", checks: [lint, build], gate: blocking".to_owned(),
        // The approvals of several people, or of any but the author.
        4 => {
            let people = ["need: 2, of: [uma, vic, wes]", "need: 2", "need: 3", "need: 1"];
            let people = people[dice.below(4)];
            format!(", gate: {{ type: blocking, approvers: {{ {people} }} }}")
        }
        _ => [", gate: advisory", ", gate: advisory, checks: [lint, build]"][dice.below(2)]
            .to_owned(),
    }
}
