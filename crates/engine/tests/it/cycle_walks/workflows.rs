//! Drawn workflows: chains with ways round, gates and limits of all kinds.

use baton_core::workflow::Workflow;
use baton_wire::workflow_file;

use crate::gate_walks::dice::Dice;

pub(super) const AGENTS: [&str; 5] = ["ann", "ben", "cy", "dee", "eve"];

/// The one check of every automatic gate.
pub(super) const CHECK: &str = "tests";

/// A workflow that the check takes.
pub(super) fn drawn(dice: &mut Dice) -> Workflow {
    let text = text(dice);
    workflow_file::parse(&text).unwrap_or_else(|problems| panic!("{problems:?}\n{text}"))
}

/// As [`drawn`], with a fan-out from one of its steps, whose branches join at the next.
pub(super) fn fanned(dice: &mut Dice) -> Workflow {
    let text = text(dice);
    let n_steps = text.matches("\n    on:\n").count();
    let n = dice.below(n_steps - 1);
    let join = format!("s{}", n + 1);
    let need = ["all", "any", "1", "2"][dice.below(4)];
    let (gate, rounds) = (blocking_gate(dice), rounds_of(dice));
    let fan_out = format!(
        "{{ to: [left, right, third], join: {{ at: {join}, need: {need} }}{gate}{rounds} }}"
    );
    let own = text.split(&format!("\n  s{n}:\n")).nth(1).unwrap();
    let success = own.lines().find(|it| it.trim_start().starts_with("success: ")).unwrap();
    let before = text.find(own).unwrap();
    let (head, tail) = text.split_at(before);
    let tail = tail.replacen(success, &format!("      success: {fan_out}"), 1);
    let mut text = format!("{head}{tail}");
    for (id, next) in [("left", "more"), ("more", &*join), ("right", &*join), ("third", &*join)] {
        text += &format!("  {id}:\n    agents: [{}]\n", agents(dice));
        if dice.chance(20) {
            text += "    reject: never\n";
        }
        if dice.chance(30) {
            text += "    optional: true\n";
        }
        text += &format!("    delegations: {}\n", 1 + dice.below(2));
        let gate = blocking_gate(dice);
        text += &format!("    on:\n      success: {{ to: {next}{gate} }}\n");
        if dice.chance(70) {
            let to = if dice.chance(50) { id } else { &join };
            let back = if to == id && dice.chance(30) { ", back: true" } else { "" };
            text += &format!("      failure: {{ to: {to}{back} }}\n");
        }
    }
    workflow_file::parse(&text).unwrap_or_else(|problems| panic!("{problems:?}\n{text}"))
}

fn blocking_gate(dice: &mut Dice) -> &'static str {
    match dice.below(10) {
        0 => ", gate: blocking",
        1 | 2 => ", gate: { type: automatic, name: proofs, checks: [tests] }",
        _ => "",
    }
}

fn text(dice: &mut Dice) -> String {
    let n_steps = 2 + dice.below(3);
    let (rounds, retries) = (1 + dice.below(2), dice.below(2));
    let (questions, releases) = (dice.below(3), dice.below(4));
    let mut file = format!(
        "name: drawn\nlimits: {{ rounds: {rounds}, retries: {retries}, \
         questions: {questions}, releases: {releases} }}\n\
         start: {{ to: s0 }}\n"
    );
    // What blocks a step that has no way for it goes to an agent that resolves it.
    if dice.chance(60) {
        let resolver = AGENTS[dice.below(AGENTS.len())];
        file += &format!("routing: {{ reasons: {{ unknown: {resolver} }} }}\n");
    }
    file += "steps:\n";
    for n in 0..n_steps {
        file += &format!("  s{n}:\n    agents: [{}]\n", agents(dice));
        match dice.below(6) {
            0 => file += "    reject: never\n",
            1 => file += &format!("    reject_to: s{}\n", dice.below(n_steps)),
            _ => {}
        }
        for (key, most) in [("entries", 4), ("delegations", 3), ("blocks", 2)] {
            // Delegations multiply everything: few, or a walk takes for ever.
            if dice.chance(30) || key == "delegations" {
                file += &format!("    {key}: {}\n", 1 + dice.below(most));
            }
        }
        if dice.chance(30) {
            file += "    optional: true\n";
        }
        file += &format!("    on:\n      success: {}\n", success(dice, n, n_steps));
        for outcome in ["failure", "blocked", "needs_clarification"] {
            if dice.chance(if outcome == "failure" { 85 } else { 40 }) {
                let to = dice.below(n_steps);
                let back = if dice.chance(30) { ", back: true" } else { "" };
                let gate = if back.is_empty() { gate(dice) } else { "" };
                file +=
                    &format!("      {outcome}: {{ to: s{to}{back}{gate}{} }}\n", rounds_of(dice));
            }
        }
    }
    file
}

fn agents(dice: &mut Dice) -> String {
    let first = dice.below(AGENTS.len());
    if dice.chance(70) {
        return AGENTS[first].to_owned();
    }
    format!("{}, {}", AGENTS[first], AGENTS[(first + 1) % AGENTS.len()])
}

fn success(dice: &mut Dice, n: usize, n_steps: usize) -> String {
    let next = if n + 1 == n_steps { "complete".to_owned() } else { format!("s{}", n + 1) };
    let other = format!("s{}", dice.below(n_steps));
    if other == next || dice.chance(50) {
        return format!("{{ to: {next} }}");
    }
    let (gate, rounds) = (gate(dice), rounds_of(dice));
    format!("[{{ to: {next} }}, {{ to: {other}{gate}{rounds} }}]")
}

fn gate(dice: &mut Dice) -> &'static str {
    match dice.below(10) {
        0 => ", gate: blocking",
        1 => ", gate: advisory",
        2 | 3 => ", gate: { type: automatic, name: proofs, checks: [tests] }",
        _ => "",
    }
}

fn rounds_of(dice: &mut Dice) -> &'static str {
    if dice.chance(20) { ", rounds: 1" } else { "" }
}
