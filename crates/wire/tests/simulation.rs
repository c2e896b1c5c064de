//! Simulated runs of workflows that have everything: branches with a join of every kind, ways back inside
//! them, checks, gates, detours, modes. Every run ends or waits for a person.

#![expect(clippy::unwrap_used, reason = "a test whose own names are wrong has failed")]

use baton_core::agent::Agent;
use baton_core::lint::Settings;
use baton_core::names::AgentId;
use baton_core::registry::Agents;
use baton_core::simulate::{Simulation, SimulationReport};
use baton_core::workflow::{Mode, Workflow};
use baton_wire::{builtin, workflow_file};

const AGENTS: [&str; 7] = ["ann", "ben", "cy", "dee", "eve", "fay", "helper"];

/// A build that three reviewers look at at once; one of them has a step of its own behind it.
fn fanned(need: &str) -> Workflow {
    let text = format!(
        "name: fanned
limits: {{ rounds: 2, retries: 1 }}
routing: {{ reasons: {{ unknown: helper }} }}
start: {{ to: build }}
steps:
  build:
    agent: ann
    on:
      success:
        to: [security, quality, speed]
        join: {{ at: decide, need: {need} }}
        checks: [tests, lint]
        ask_in: supervised
  security:
    agent: ben
    on:
      success: {{ to: proof, checks: [audit] }}
  proof:
    agent: cy
    on:
      success: {{ to: decide }}
      failure: {{ to: security, back: true }}
  quality:
    agent: dee
    on:
      success: {{ to: decide, gate: {{ type: automatic, name: proven, checks: [coverage] }} }}
  speed:
    agent: eve
    on:
      success: {{ to: decide, gate: blocking }}
      failure: {{ to: decide }}
  decide:
    agent: fay
    on:
      success: {{ to: complete, checks: [tests] }}
      failure: {{ to: build, back: true }}
"
    );
    workflow_file::parse(&text).unwrap_or_else(|problems| panic!("{problems:?}\n{text}"))
}

fn simulated(workflow: &Workflow, mode: Mode, n_runs: u32, seed: u64) -> SimulationReport {
    let agents = Agents::new(AGENTS.map(|it| Agent::unknown(AgentId::parse(it).unwrap())));
    let workflow = workflow.in_mode(mode);
    let simulation = Simulation {
        workflow: &workflow,
        mode,
        agents: &agents,
        implied: builtin::contracts(),
        lint: &Settings::default(),
    };
    simulation.many(n_runs, seed)
}

#[test]
fn every_run_with_branches_and_checks_ends_or_waits_for_a_person() {
    for need in ["all", "any", "2"] {
        for mode in [Mode::Autonomous, Mode::Supervised] {
            let report = simulated(&fanned(need), mode, 300, 1);
            assert_eq!(report.n_stuck, 0, "{need}, {mode:?}: {:#?}", report.stuck);
            assert!(report.n_completed > 50, "{need}, {mode:?}: {}", report.n_completed);
            assert!(report.n_aborted > 0 && report.n_waiting > 0, "{need}, {mode:?}");
        }
    }
}

/// The runs meet what they are for: otherwise the model has become too tame.
#[test]
fn the_paths_name_every_branch_every_arrival_and_every_check() {
    let report = simulated(&fanned("2"), Mode::Autonomous, 1_000, 1);
    let paths: Vec<String> =
        report.most_frequent(1_000).into_iter().flat_map(|it| it.path).collect();
    for expected in [
        "lint passed → ben + dee + eve",
        "lint failed → ann",
        "no runner came → human",
        "proof success → join decide (1 of 2)",
        "proof failure → ben",
        "security reject → ann",
        "security blocked → helper",
        "speed success → human",
        "coverage passed → fay",
        "decide failure → ann",
        "tests passed → orchestrator",
    ] {
        assert!(paths.iter().any(|it| it == expected), "{expected}: {:#?}", report.longest);
    }
}

#[test]
fn the_same_seed_gives_the_same_runs() {
    let workflow = fanned("any");
    let one = simulated(&workflow, Mode::Autonomous, 100, 7);
    assert_eq!(one, simulated(&workflow, Mode::Autonomous, 100, 7));
    assert_ne!(one, simulated(&workflow, Mode::Autonomous, 100, 8));
}
