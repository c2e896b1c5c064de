//! What every command does in every state, as tables. Read the diff when one changes.

use expect_test::{Expect, expect, expect_file};

use super::fixture::*;
use super::states::*;
use crate::command::Command;
use crate::contract::Profile;
use crate::run::State;

#[test]
fn every_command_on_a_handoff_in_every_state() {
    let mut table = String::new();
    for Stand { name, tester, no } in stands() {
        table += &format!("{name}\n");
        for (command, make) in ON_HANDOFF {
            table += &format!("  {command:<20}{}\n", cell(&tester, &make(&tester, no)));
        }
    }
    expect_file!["tables/on_handoff.txt"].assert_eq(&table);
}

#[test]
fn every_command_on_a_run_wherever_the_baton_is() {
    let mut table = String::new();
    for (name, tester) in batons() {
        table += &format!("{name}\n");
        for (command, make) in ON_RUN {
            table += &format!("  {command:<20}{}\n", cell(&tester, &make()));
        }
    }
    expect_file!["tables/on_run.txt"].assert_eq(&table);
}

#[test]
fn every_agent_hands_off_wherever_the_baton_is_lenient() {
    check_create_table(
        Profile::Lenient,
        expect![[r#"
            offered to implementer
              orchestrator → analyst      (not_holder)
              analyst      → implementer  (duplicate)
              implementer  → reviewer     handoff.accepted step.started handoff.completed step.completed handoff.created → offered
              reviewer     → implementer  (not_holder)
              documenter   → orchestrator (not_holder)
              analyst      → documenter   (not_holder)
            held by implementer
              orchestrator → analyst      (not_holder)
              analyst      → implementer  (not_holder)
              implementer  → reviewer     handoff.completed step.completed handoff.created → offered
              reviewer     → implementer  (not_holder)
              documenter   → orchestrator (not_holder)
              analyst      → documenter   (not_holder)
            parked at a gate
              orchestrator → analyst      (gate_open)
              analyst      → implementer  (gate_open)
              implementer  → reviewer     (gate_open)
              reviewer     → implementer  (gate_open)
              documenter   → orchestrator (gate_open)
              analyst      → documenter   (gate_open)
            loose at analyze
              orchestrator → analyst      handoff.created → offered
              analyst      → implementer  run.adopted handoff.created → offered
              implementer  → reviewer     run.adopted handoff.created → offered
              reviewer     → implementer  run.adopted round.counted handoff.created → offered
              documenter   → orchestrator run.adopted handoff.created handoff.accepted handoff.completed run.completed → done
              analyst      → documenter   (not_an_edge)
            completed
              orchestrator → analyst      (run_finished)
              analyst      → implementer  (run_finished)
              implementer  → reviewer     (run_finished)
              reviewer     → implementer  (run_finished)
              documenter   → orchestrator (run_finished)
              analyst      → documenter   (run_finished)
        "#]],
    );
}

#[test]
fn every_agent_hands_off_wherever_the_baton_is_strict() {
    check_create_table(
        Profile::Strict,
        expect![[r#"
        offered to implementer
          orchestrator → analyst      (not_holder)
          analyst      → implementer  (duplicate)
          implementer  → reviewer     (accept_first)
          reviewer     → implementer  (not_holder)
          documenter   → orchestrator (not_holder)
          analyst      → documenter   (not_holder)
        held by implementer
          orchestrator → analyst      (not_holder)
          analyst      → implementer  (not_holder)
          implementer  → reviewer     handoff.completed step.completed handoff.created → offered
          reviewer     → implementer  (not_holder)
          documenter   → orchestrator (not_holder)
          analyst      → documenter   (not_holder)
        parked at a gate
          orchestrator → analyst      (gate_open)
          analyst      → implementer  (gate_open)
          implementer  → reviewer     (gate_open)
          reviewer     → implementer  (gate_open)
          documenter   → orchestrator (gate_open)
          analyst      → documenter   (gate_open)
        loose at analyze
          orchestrator → analyst      handoff.created → offered
          analyst      → implementer  run.adopted handoff.created → offered
          implementer  → reviewer     run.adopted handoff.created → offered
          reviewer     → implementer  (not_holder)
          documenter   → orchestrator (not_holder)
          analyst      → documenter   (not_an_edge)
        completed
          orchestrator → analyst      (run_finished)
          analyst      → implementer  (run_finished)
          implementer  → reviewer     (run_finished)
          reviewer     → implementer  (run_finished)
          documenter   → orchestrator (run_finished)
          analyst      → documenter   (run_finished)
    "#]],
    );
}

#[track_caller]
fn check_create_table(profile: Profile, expected: Expect) {
    let edges = [
        ("orchestrator", "analyst"),
        ("analyst", "implementer"),
        ("implementer", "reviewer"),
        ("reviewer", "implementer"),
        ("documenter", "orchestrator"),
        ("analyst", "documenter"),
    ];
    let mut table = String::new();
    for (name, tester) in [
        ("offered to implementer", in_state(State::Pending)),
        ("held by implementer", in_state(State::Accepted)),
        ("parked at a gate", gated()),
        ("loose at analyze", loose()),
        ("completed", completed()),
    ] {
        table += &format!("{name}\n");
        for (from, to) in edges {
            let package = crate::document::Node::map([
                ("story", crate::document::Node::text("s")),
                ("plan", crate::document::Node::text("p")),
                ("files_to_modify", crate::document::Node::List(Vec::new())),
            ]);
            let create = crate::command::Create { profile, ..create(from, to, package) };
            let cell = cell(&tester, &Command::Create(create));
            table += &format!("  {from:<13}→ {to:<13}{cell}\n");
        }
    }
    expected.assert_eq(&table);
}

/// The names of the emitted events and the baton's new position; or the refusal's code.
pub(super) fn cell(tester: &Tester, command: &Command) -> String {
    match tester.would(command) {
        Ok(decision) => {
            let names: Vec<&str> = decision.events.iter().map(|it| it.name()).collect();
            format!("{} → {}", names.join(" "), decision.run.baton().name())
        }
        Err(refusal) => format!("({})", refusal.code()),
    }
}
