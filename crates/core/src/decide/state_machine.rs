//! Generates `docs/state-machine.md` from the actual rules: the test fails when the page differs.
//! `UPDATE_EXPECT=1 cargo test -p baton-core` writes it anew.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use expect_test::expect_file;

use super::fixture::*;
use super::states::*;
use crate::command::Command;
use crate::event::{Event, HandoffEvent};
use crate::gate::{Answer, Gate, GateCause, GateKind};
use crate::run::{EdgeKey, Ended, HandoffNo, Party, State};
use crate::workflow::Place;

#[test]
fn the_page_about_the_state_machine_is_what_the_rules_do() {
    expect_file!["../../../../docs/state-machine.md"].assert_eq(&page());
}

const HEAD: &str = "\
# The state machine

This page is written by a test from what `baton_core::decide` does: every cell was tried. A word
in `code` is the refusal's code, and [errors](errors/README.md) says what to do about it.

The columns: *held back*, offered again after its holder died, but not before a moment has passed;
*leased*, accepted by a holder that promised to be heard of; *parked*, accepted, and its holder
waits for a part of the work; *delegation*, that part, pending; *return*, what came of it, pending;
*question*, what a receiver asks about a handoff; *gate*, a person is asked because a step is
blocked; *escalation*, because an agent wants to know something; *advisory*, for information; *automatic*,
asked unless the check `lint` passes.

";

fn page() -> String {
    let mut page = HEAD.to_owned();
    page += "## A handoff\n\n";
    page += &diagram(handoff_moves());
    page +=
        "\nWhat becomes of a handoff, by the command (rows) and by how it stands (columns).\n\n";
    page += &handoff_table();
    page += "\n## The baton\n\n";
    page += &diagram(baton_moves());
    page +=
        "\nWhere the baton is after a command on a handoff (rows), by how that handoff stood.\n\n";
    page += &baton_table();
    page += "\n## A run\n\n";
    page += "Where the baton is after a command on the whole run.\n\n";
    page += &run_table();
    page += "\n## Gates\n\n";
    page += "What a person may answer, by why they are asked.\n\n";
    page += &gate_table();
    page
}

/// The state of a handoff after a command, or the code of the refusal.
enum Became {
    Word(&'static str),
    Refused(&'static str),
}

impl Became {
    fn cell(&self) -> String {
        match self {
            Became::Word(word) => format!("**{word}**"),
            Became::Refused(code) => format!("`{code}`"),
        }
    }
}

fn handoff_table() -> String {
    table(|stand, command| became(&stand.tester, HandoffNo(stand.no), command).cell())
}

fn baton_table() -> String {
    table(|stand, command| match stand.tester.would(command) {
        Ok(decision) => decision.run.baton().name().to_owned(),
        Err(refusal) => format!("`{}`", refusal.code()),
    })
}

fn table(cell: impl Fn(&Stand, &Command) -> String) -> String {
    let stands = stands();
    let names: Vec<&str> = stands.iter().map(|it| it.name).collect();
    let mut table = format!("| | {} |\n", names.join(" | "));
    let _ = writeln!(table, "|---|{}", "---|".repeat(names.len()));
    for (name, make) in ON_HANDOFF {
        let cells: Vec<String> =
            stands.iter().map(|it| cell(it, &make(&it.tester, it.no))).collect();
        let _ = writeln!(table, "| {name} | {} |", cells.join(" | "));
    }
    table
}

fn run_table() -> String {
    let batons = batons();
    let names: Vec<&str> = batons.iter().map(|(name, _)| *name).collect();
    let mut table = format!("| | {} |\n", names.join(" | "));
    let _ = writeln!(table, "|---|{}", "---|".repeat(names.len()));
    for (name, make) in ON_RUN {
        let cells: Vec<String> = batons
            .iter()
            .map(|(_, tester)| match tester.would(&make()) {
                Ok(decision) => decision.run.baton().name().to_owned(),
                Err(refusal) => format!("`{}`", refusal.code()),
            })
            .collect();
        let _ = writeln!(table, "| {name} | {} |", cells.join(" | "));
    }
    table
}

fn gate_table() -> String {
    let causes = [
        GateCause::Declared,
        GateCause::Checks,
        GateCause::NeedsReview,
        GateCause::Escalation,
        GateCause::Questions,
        GateCause::Rounds,
        GateCause::SameFindings,
        GateCause::Entries,
        GateCause::RunLimit,
        GateCause::Delegations,
        GateCause::Failure,
        GateCause::Unrecoverable,
        GateCause::Blocked,
        GateCause::NeedsClarification,
        GateCause::LostLease,
        GateCause::Releases,
        GateCause::Expired,
    ];
    let mut table = "| cause | why | answers |\n|---|---|---|\n".to_owned();
    let mut row = |name: &str, sentence: &str, gate: &Gate| {
        let choices: Vec<String> = gate.choices().iter().map(|it| format!("`{it}`")).collect();
        let _ = writeln!(table, "| {name} | {sentence} | {} |", choices.join(", "));
    };
    for cause in causes {
        row(cause.name(), cause.sentence(), &gate(cause, GateKind::Blocking));
    }
    let advisory = gate(GateCause::Declared, GateKind::Advisory);
    row("declared, advisory", "The work goes on; a person may object", &advisory);
    let permission = gate(GateCause::Permission, GateKind::Advisory);
    row(GateCause::Permission.name(), GateCause::Permission.sentence(), &permission);
    table
}

fn gate(cause: GateCause, kind: GateKind) -> Gate {
    let step = |name: &str| Place::Step(crate::names::StepId::parse(name).unwrap());
    let party = |name: &str| Party { agent: agent(name), place: step(name) };
    let forward = EdgeKey { from: step("architecture"), to: step("estimation") };
    let (asker, worker) = (party("architecture"), party("estimation"));
    Gate { kind, ..super::gate::gate_between(cause, asker, worker, None, None, &forward) }
}

/// Every transition of a handoff by any command: from, to, and the commands.
fn handoff_moves() -> BTreeMap<(&'static str, &'static str), Vec<&'static str>> {
    let mut moves: BTreeMap<_, Vec<&'static str>> = BTreeMap::new();
    for stand in stands() {
        let no = HandoffNo(stand.no);
        let Some(before) = stand.tester.run.handoff(no).map(|it| it.state.name()) else { continue };
        for (name, make) in ON_HANDOFF {
            let after = became(&stand.tester, no, &make(&stand.tester, stand.no));
            if let Became::Word(after) = after
                && after != before
            {
                add(&mut moves, (before, after), name);
            }
        }
    }
    // The holder's own create is not a command on the handoff, so it is added here.
    add(&mut moves, ("accepted", "parked"), "delegate, escalate");
    add(&mut moves, ("parked", "accepted"), "what it waits for comes back");
    moves
}

fn baton_moves() -> BTreeMap<(&'static str, &'static str), Vec<&'static str>> {
    let mut moves: BTreeMap<_, Vec<&'static str>> = BTreeMap::new();
    let mut tried = |tester: &Tester, name: &'static str, command: &Command| {
        let before = tester.run.baton().name();
        if let Ok(decision) = tester.would(command) {
            let after = decision.run.baton().name();
            if after != before {
                add(&mut moves, (before, after), name);
            }
        }
    };
    for stand in stands() {
        for (name, make) in ON_HANDOFF {
            tried(&stand.tester, name, &make(&stand.tester, stand.no));
        }
    }
    for (_, tester) in batons() {
        for (name, make) in ON_RUN {
            tried(&tester, name, &make());
        }
        let first = create("orchestrator", "analyst", story());
        tried(&tester, "create", &Command::Create(first));
        tried(&tester, "abort", &answer_gate(2, Answer::Abort));
    }
    moves
}

fn add(
    moves: &mut BTreeMap<(&'static str, &'static str), Vec<&'static str>>,
    ends: (&'static str, &'static str),
    name: &'static str,
) {
    let names = moves.entry(ends).or_default();
    if !names.contains(&name) {
        names.push(name);
    }
}

fn diagram(moves: BTreeMap<(&'static str, &'static str), Vec<&'static str>>) -> String {
    let mut diagram = "```mermaid\nstateDiagram-v2\n".to_owned();
    for ((from, to), names) in moves {
        let _ = writeln!(diagram, "    {from} --> {to}: {}", names.join(", "));
    }
    diagram + "```\n"
}

fn became(tester: &Tester, no: HandoffNo, command: &Command) -> Became {
    let decision = match tester.would(command) {
        Ok(decision) => decision,
        Err(refusal) => return Became::Refused(refusal.code()),
    };
    match decision.run.handoff(no) {
        Some(open) => Became::Word(open.state.name()),
        None => Became::Word(decision.events.iter().find_map(|it| ended(it, no)).unwrap_or("?")),
    }
}

/// How an event ends the handoff, if it does.
#[expect(clippy::wildcard_enum_match_arm, reason = "only these five end one")]
fn ended(event: &Event, no: HandoffNo) -> Option<&'static str> {
    if event.handoff() != Some(no) {
        return None;
    }
    let how = match event {
        Event::Handoff(HandoffEvent::Completed { .. }) => Ended::Completed,
        Event::Handoff(HandoffEvent::Rejected { .. }) => Ended::Rejected,
        Event::Handoff(HandoffEvent::TimedOut { .. }) => Ended::TimedOut,
        Event::Handoff(HandoffEvent::Cancelled { .. }) => Ended::Cancelled,
        Event::Handoff(HandoffEvent::Superseded { .. }) => Ended::Superseded,
        _ => return None,
    };
    Some(how.name())
}

#[test]
fn every_state_and_every_baton_is_on_the_page() {
    let states: Vec<&str> = stands()
        .iter()
        .filter_map(|it| Some(it.tester.run.handoff(HandoffNo(it.no))?.state.name()))
        .collect();
    for state in [State::Pending, State::Clarification, State::Accepted, State::Parked] {
        assert!(states.contains(&state.name()), "{state:?}");
    }
    let names: Vec<&str> = batons().iter().map(|(_, it)| it.run.baton().name()).collect();
    for baton in ["offered", "held", "parked", "loose", "done"] {
        assert!(names.contains(&baton), "{baton}");
    }
}
