//! What every command does in every state, all of it, as tables. Read the diff when one changes.

use expect_test::{Expect, expect};

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
            table += &format!("  {command:<11}{}\n", cell(&tester, &make(&tester, no)));
        }
    }
    expect![[r#"
        pending
          accept     handoff.accepted step.started → held
          clarify    handoff.clarified handoff.created → offered
          answer     (not_a_question)
          reject     handoff.rejected handoff.created → offered
          complete   handoff.accepted step.started handoff.completed step.completed handoff.created → offered
          release    (wrong_state)
          cancel     handoff.cancelled baton.loose → loose
          time_out   handoff.timed_out baton.loose → loose
          record     evidence.recorded → offered
          lose_lease (no_lease)
          wake       (not_held_back)
          expire     handoff.timed_out baton.loose → loose
          mark_stale handoff.stale → offered
          continue   (not_a_gate)
          approve    (not_a_gate)
        held back
          accept     (not_yet)
          clarify    (fence_required)
          answer     (not_a_question)
          reject     (fence_required)
          complete   (fence_required)
          release    (fence_required)
          cancel     handoff.cancelled baton.loose → loose
          time_out   handoff.timed_out baton.loose → loose
          record     evidence.recorded → parked
          lose_lease (no_lease)
          wake       (not_yet)
          expire     (not_due)
          mark_stale (not_due)
          continue   (not_a_gate)
          approve    (not_a_gate)
        clarification
          accept     (wrong_state)
          clarify    (wrong_state)
          answer     handoff.answered handoff.completed → offered
          reject     handoff.cancelled handoff.rejected handoff.created → offered
          complete   (wrong_state)
          release    (wrong_state)
          cancel     handoff.cancelled handoff.cancelled baton.loose → loose
          time_out   (wrong_state)
          record     evidence.recorded → offered
          lose_lease (no_lease)
          wake       (not_held_back)
          expire     (wrong_state)
          mark_stale (not_due)
          continue   (not_a_gate)
          approve    (not_a_gate)
        accepted
          accept     (already_accepted)
          clarify    handoff.clarified handoff.created → offered
          answer     (not_a_question)
          reject     handoff.rejected step.completed handoff.created → offered
          complete   handoff.completed step.completed handoff.created → offered
          release    handoff.released → offered
          cancel     (wrong_state)
          time_out   handoff.timed_out baton.loose → loose
          record     evidence.recorded → held
          lose_lease (no_lease)
          wake       (not_held_back)
          expire     (wrong_state)
          mark_stale handoff.stale → held
          continue   (not_a_gate)
          approve    (not_a_gate)
        leased
          accept     (already_accepted)
          clarify    handoff.clarified handoff.created → offered
          answer     (not_a_question)
          reject     handoff.rejected step.completed handoff.created → offered
          complete   handoff.completed step.completed handoff.created → offered
          release    lease.released handoff.released → offered
          cancel     (wrong_state)
          time_out   handoff.timed_out baton.loose → loose
          record     evidence.recorded → held
          lose_lease lease.lost handoff.timed_out step.completed handoff.created → parked
          wake       (not_held_back)
          expire     (wrong_state)
          mark_stale (not_due)
          continue   (not_a_gate)
          approve    (not_a_gate)
        parked
          accept     (already_accepted)
          clarify    (wrong_state)
          answer     (not_a_question)
          reject     handoff.cancelled handoff.rejected step.completed handoff.created → offered
          complete   (frame_open)
          release    (wrong_state)
          cancel     (wrong_state)
          time_out   (wrong_state)
          record     evidence.recorded → offered
          lose_lease (no_lease)
          wake       (not_held_back)
          expire     (wrong_state)
          mark_stale (not_due)
          continue   (not_a_gate)
          approve    (not_a_gate)
        delegation
          accept     handoff.accepted → held
          clarify    handoff.clarified handoff.created → offered
          answer     (not_a_question)
          reject     handoff.rejected handoff.created → offered
          complete   handoff.accepted handoff.completed handoff.created → offered
          release    (wrong_state)
          cancel     handoff.cancelled handoff.created → offered
          time_out   handoff.timed_out handoff.created → offered
          record     evidence.recorded → offered
          lose_lease (no_lease)
          wake       (not_held_back)
          expire     (not_due)
          mark_stale handoff.stale → offered
          continue   (not_a_gate)
          approve    (not_a_gate)
        return
          accept     handoff.accepted handoff.completed frame.closed → held
          clarify    handoff.clarified handoff.created → offered
          answer     (not_a_question)
          reject     handoff.rejected handoff.created → offered
          complete   handoff.accepted handoff.completed frame.closed handoff.completed step.completed handoff.created → offered
          release    (wrong_state)
          cancel     handoff.cancelled frame.closed → held
          time_out   handoff.timed_out frame.closed → held
          record     evidence.recorded → offered
          lose_lease (no_lease)
          wake       (not_held_back)
          expire     handoff.timed_out frame.closed → held
          mark_stale handoff.stale → offered
          continue   (not_a_gate)
          approve    (not_a_gate)
        question
          accept     handoff.accepted → offered
          clarify    (question_open)
          answer     handoff.answered handoff.completed → offered
          reject     (question_open)
          complete   (question_open)
          release    (wrong_state)
          cancel     (question_open)
          time_out   (question_open)
          record     (question_open)
          lose_lease (no_lease)
          wake       (not_held_back)
          expire     (question_open)
          mark_stale handoff.stale → offered
          continue   (not_a_choice)
          approve    (not_a_choice)
        gate
          accept     (gate_open)
          clarify    (gate_open)
          answer     (gate_open)
          reject     (gate_open)
          complete   (gate_open)
          release    (gate_open)
          cancel     (gate_open)
          time_out   (gate_open)
          record     evidence.recorded → parked
          lose_lease (gate_open)
          wake       (gate_open)
          expire     (gate_open)
          mark_stale (gate_open)
          continue   gate.answered blocker.resolved handoff.completed handoff.created → offered
          approve    (not_a_choice)
        escalation
          accept     (gate_open)
          clarify    (gate_open)
          answer     (gate_open)
          reject     (gate_open)
          complete   (gate_open)
          release    (gate_open)
          cancel     (gate_open)
          time_out   (gate_open)
          record     evidence.recorded → parked
          lose_lease (gate_open)
          wake       (gate_open)
          expire     (gate_open)
          mark_stale (gate_open)
          continue   (not_a_choice)
          approve    gate.answered handoff.completed handoff.created handoff.accepted handoff.completed frame.closed → held
        advisory
          accept     (gate_open)
          clarify    (gate_open)
          answer     (gate_open)
          reject     (gate_open)
          complete   (gate_open)
          release    (gate_open)
          cancel     (gate_open)
          time_out   (gate_open)
          record     evidence.recorded → offered
          lose_lease (gate_open)
          wake       (gate_open)
          expire     (gate_open)
          mark_stale (gate_open)
          continue   (not_a_choice)
          approve    gate.answered handoff.completed → offered
        automatic
          accept     (gate_open)
          clarify    (gate_open)
          answer     (gate_open)
          reject     (gate_open)
          complete   (gate_open)
          release    (gate_open)
          cancel     (gate_open)
          time_out   (gate_open)
          record     evidence.recorded gate.passed handoff.completed handoff.created → offered
          lose_lease (gate_open)
          wake       (gate_open)
          expire     (gate_open)
          mark_stale (gate_open)
          continue   (not_a_choice)
          approve    gate.answered handoff.completed handoff.created → offered
        finished
          accept     (finished)
          clarify    (finished)
          answer     (finished)
          reject     (finished)
          complete   (finished)
          release    (finished)
          cancel     (finished)
          time_out   (finished)
          record     (finished)
          lose_lease (finished)
          wake       (finished)
          expire     (finished)
          mark_stale (finished)
          continue   (finished)
          approve    (finished)
    "#]].assert_eq(&table);
}

#[test]
fn every_command_on_a_run_wherever_the_baton_is() {
    let mut table = String::new();
    for (name, tester) in batons() {
        table += &format!("{name}\n");
        for (command, make) in ON_RUN {
            table += &format!("  {command:<11}{}\n", cell(&tester, &make()));
        }
    }
    expect![[r#"
        offered
          clean_up   handoff.cancelled baton.loose → loose
          pause      run.paused → offered
          resume     (not_paused)
          cancel_run handoff.cancelled run.cancelled → done
          goto       handoff.superseded handoff.created → offered
          skip       (not_optional)
        asked
          clean_up   handoff.cancelled handoff.cancelled baton.loose → loose
          pause      run.paused → offered
          resume     (not_paused)
          cancel_run handoff.cancelled handoff.cancelled run.cancelled → done
          goto       handoff.superseded handoff.superseded handoff.created → offered
          skip       (not_optional)
        held
          clean_up    → held
          pause      run.paused → held
          resume     (not_paused)
          cancel_run handoff.cancelled run.cancelled → done
          goto       handoff.superseded handoff.created → offered
          skip       (not_optional)
        delegated
          clean_up   handoff.cancelled frame.closed → held
          pause      run.paused → offered
          resume     (not_paused)
          cancel_run handoff.cancelled handoff.cancelled run.cancelled → done
          goto       handoff.superseded handoff.superseded handoff.created → offered
          skip       (nothing_to_skip)
        held back
          clean_up   handoff.cancelled baton.loose → loose
          pause      run.paused → parked
          resume     (not_paused)
          cancel_run handoff.cancelled run.cancelled → done
          goto       handoff.superseded handoff.created → offered
          skip       (not_optional)
        parked
          clean_up    → parked
          pause      run.paused → parked
          resume     (not_paused)
          cancel_run handoff.cancelled run.cancelled → done
          goto       (gate_open)
          skip       (gate_open)
        loose
          clean_up    → loose
          pause      run.paused → loose
          resume     (not_paused)
          cancel_run run.cancelled → done
          goto       handoff.created → offered
          skip       (not_optional)
        paused
          clean_up   handoff.cancelled baton.loose → loose
          pause      (paused)
          resume     run.resumed → offered
          cancel_run handoff.cancelled run.cancelled → done
          goto       handoff.superseded handoff.created → offered
          skip       (not_optional)
        completed
          clean_up   (run_finished)
          pause      (run_finished)
          resume     (run_finished)
          cancel_run (run_finished)
          goto       (run_finished)
          skip       (run_finished)
        cancelled
          clean_up   (run_finished)
          pause      (run_finished)
          resume     (run_finished)
          cancel_run (run_finished)
          goto       (run_finished)
          skip       (run_finished)
    "#]]
    .assert_eq(&table);
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

/// What happens, by the names of the events and where the baton is then; or the refusal's code.
fn cell(tester: &Tester, command: &Command) -> String {
    match tester.would(command) {
        Ok(decision) => {
            let names: Vec<&str> = decision.events.iter().map(|it| it.name()).collect();
            format!("{} → {}", names.join(" "), decision.run.baton().name())
        }
        Err(refusal) => format!("({})", refusal.code()),
    }
}
