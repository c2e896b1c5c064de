//! What every command does in every state, all of it, as tables. Read the diff when one changes.

use expect_test::{Expect, expect};

use super::fixture::*;
use crate::command::Command;
use crate::contract::Profile;
use crate::gate::Answer;
use crate::outcome::Outcome;
use crate::run::{Baton, HandoffNo, RunStatus, State};

/// The handoff under test is always `HO-002`, from the analyst to the implementer.
#[test]
fn every_command_on_a_handoff_in_every_state() {
    check_table(
        &[
            ("pending", in_state(State::Pending)),
            ("clarification", in_state(State::Clarification)),
            ("accepted", in_state(State::Accepted)),
            ("parked", in_state(State::Parked)),
            ("gate", gated()),
            ("finished", finished()),
        ],
        &[
            ("accept", |no| accept(no)),
            ("reject", |no| reject(no, "no")),
            ("complete", |no| complete(no, Outcome::Success, nothing())),
            ("cancel", |no| cancel(no)),
            ("time_out", |no| time_out(no)),
            ("mark_stale", |no| Command::MarkStale { handoff: HandoffNo(no) }),
            ("answer", |no| answer_gate(no, Answer::Continue)),
        ],
        expect![[r#"
            pending
              accept     handoff.accepted step.started → held
              reject     handoff.rejected handoff.created → offered
              complete   handoff.accepted step.started handoff.completed step.completed handoff.created → offered
              cancel     handoff.cancelled baton.loose → loose
              time_out   handoff.timed_out baton.loose → loose
              mark_stale handoff.stale → offered
              answer     (not_a_gate)
            clarification
              accept     (wrong_state)
              reject     handoff.rejected handoff.created → offered
              complete   (wrong_state)
              cancel     handoff.cancelled baton.loose → loose
              time_out   (wrong_state)
              mark_stale (not_due)
              answer     (not_a_gate)
            accepted
              accept     (already_accepted)
              reject     handoff.rejected step.completed handoff.created → offered
              complete   handoff.completed step.completed handoff.created → offered
              cancel     (wrong_state)
              time_out   handoff.timed_out baton.loose → loose
              mark_stale handoff.stale → held
              answer     (not_a_gate)
            parked
              accept     (already_accepted)
              reject     handoff.rejected step.completed handoff.created → offered
              complete   (frame_open)
              cancel     (wrong_state)
              time_out   (wrong_state)
              mark_stale (not_due)
              answer     (not_a_gate)
            gate
              accept     (gate_open)
              reject     (gate_open)
              complete   (gate_open)
              cancel     (gate_open)
              time_out   (gate_open)
              mark_stale (gate_open)
              answer     gate.answered blocker.resolved handoff.completed handoff.created → offered
            finished
              accept     (finished)
              reject     (finished)
              complete   (finished)
              cancel     (finished)
              time_out   (finished)
              mark_stale (finished)
              answer     (finished)
        "#]],
    );
}

#[test]
fn every_command_on_a_run_wherever_the_baton_is() {
    check_table(
        &[
            ("offered", in_state(State::Pending)),
            ("held", in_state(State::Accepted)),
            ("parked", gated()),
            ("loose", loose()),
            ("paused", paused()),
            ("completed", completed()),
            ("cancelled", cancelled()),
        ],
        &[
            ("clean_up", |_| Command::CleanUp { reason: None }),
            ("pause", |_| Command::Pause { reason: None }),
            ("resume", |_| Command::Resume),
            ("cancel_run", |_| Command::CancelRun { reason: None }),
            ("goto", |_| goto("analyze")),
            ("skip", |_| skip()),
        ],
        expect![[r#"
            offered
              clean_up   handoff.cancelled baton.loose → loose
              pause      run.paused → offered
              resume     (not_paused)
              cancel_run handoff.cancelled run.cancelled → done
              goto       handoff.superseded handoff.created → offered
              skip       (not_optional)
            held
              clean_up    → held
              pause      run.paused → held
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
        "#]],
    );
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

type MakeCommand = (&'static str, fn(u32) -> Command);

#[track_caller]
fn check_table(states: &[(&str, Tester)], commands: &[MakeCommand], expected: Expect) {
    let mut table = String::new();
    for (state, tester) in states {
        table += &format!("{state}\n");
        for (name, command) in commands {
            table += &format!("  {name:<11}{}\n", cell(tester, &command(2)));
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

fn in_state(state: State) -> Tester {
    let mut tester = Tester::started();
    tester.accepts(1);
    tester.hands("analyst", "implementer", plan());
    match state {
        State::Pending => {}
        State::Accepted => {
            tester.accepts(2);
        }
        // No command leads there yet; what they mean is said all the same.
        State::Clarification => tester.run.handoffs[0].state = State::Clarification,
        State::Parked => {
            tester.accepts(2);
            tester.run.handoffs[0].state = State::Parked;
        }
    }
    tester.wait(31);
    tester
}

/// `HO-002` asks a person.
fn gated() -> Tester {
    let mut tester = Tester::started();
    tester.accepts(1);
    tester.completes(1, Outcome::Blocked, nothing());
    tester.wait(31);
    tester
}

fn loose() -> Tester {
    let mut tester = in_state(State::Pending);
    tester.does(&cancel(2));
    tester
}

fn finished() -> Tester {
    let mut tester = in_state(State::Accepted);
    tester.hands("implementer", "reviewer", nothing());
    tester
}

fn paused() -> Tester {
    let mut tester = in_state(State::Pending);
    tester.does(&Command::Pause { reason: None });
    tester
}

fn completed() -> Tester {
    let mut tester = finished();
    tester.hands("reviewer", "refactorer", nothing());
    tester.hands("refactorer", "documenter", nothing());
    tester.hands("documenter", "orchestrator", nothing());
    assert_eq!((tester.run.status, tester.run.baton()), (RunStatus::Completed, &Baton::Done));
    tester
}

fn cancelled() -> Tester {
    let mut tester = in_state(State::Accepted);
    tester.does(&Command::CancelRun { reason: None });
    tester
}
