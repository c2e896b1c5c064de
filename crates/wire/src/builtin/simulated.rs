//! Tests: runs of the built-in workflows by the real rules, with outcomes that are drawn. Every run
//! ends, or waits for a person.

use baton_core::agent::Agent;
use baton_core::lint::Settings;
use baton_core::registry::Agents;
use baton_core::simulate::Simulation;

use super::{agents, contracts, workflows};
use crate::{agent_file, workflow_file};

/// `baton workflow simulate NAME --runs 10000` draws more.
const N_RUNS: u32 = 100;

#[test]
fn no_run_of_a_built_in_workflow_gets_stuck_in_any_of_its_modes() {
    let agents: Vec<Agent> =
        agents().iter().map(|(_, text)| agent_file::parse(text).unwrap().agent).collect();
    let (agents, lint) = (Agents::new(agents), Settings::default());
    for (name, text) in workflows() {
        let workflow = workflow_file::parse(text).unwrap();
        for mode in workflow.modes() {
            let workflow = &workflow.in_mode(mode);
            let implied = contracts();
            let simulation = Simulation { workflow, mode, agents: &agents, implied, lint: &lint };
            let report = simulation.many(N_RUNS, 1);
            assert_eq!(report.n_stuck, 0, "{name} {mode:?}: {:#?}", report.stuck.first());
            assert!(report.n_completed > N_RUNS / 10, "{name} {mode:?}: {report:?}");
            assert!(report.n_aborted + report.n_waiting > 0, "{name} {mode:?}: {report:?}");
        }
    }
}
