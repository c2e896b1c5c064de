//! What many simulated runs come to.

use std::collections::BTreeMap;

use super::{SimulatedEnd, SimulatedRun};

/// A path, and how many runs took it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SimulatedPath {
    pub path: Vec<String>,
    pub n_runs: u32,
}

#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct SimulationReport {
    pub n_completed: u32,
    pub n_aborted: u32,
    pub n_waiting: u32,
    pub n_stuck: u32,
    /// Of the runs that ended.
    pub longest: Vec<String>,
    /// Why the first runs that are stuck are.
    pub stuck: Vec<SimulatedRun>,
    paths: BTreeMap<Vec<String>, u32>,
}

/// More examples of the same defect do not help.
const MOST_STUCK: usize = 3;

impl SimulationReport {
    pub(super) fn add(&mut self, run: &SimulatedRun) {
        let n = match run.end {
            SimulatedEnd::Completed => &mut self.n_completed,
            SimulatedEnd::Aborted => &mut self.n_aborted,
            SimulatedEnd::Waiting => &mut self.n_waiting,
            SimulatedEnd::Stuck => &mut self.n_stuck,
        };
        *n += 1;
        if run.end == SimulatedEnd::Stuck && self.stuck.len() < MOST_STUCK {
            self.stuck.push(run.clone());
        }
        if run.path.len() > self.longest.len() {
            self.longest.clone_from(&run.path);
        }
        *self.paths.entry(run.path.clone()).or_default() += 1;
    }

    /// The paths that most runs took; of equally frequent ones, the shorter first.
    pub fn most_frequent(&self, n_paths: usize) -> Vec<SimulatedPath> {
        let path = |(path, n_runs): (&Vec<String>, &u32)| SimulatedPath {
            path: path.clone(),
            n_runs: *n_runs,
        };
        let mut paths: Vec<SimulatedPath> = self.paths.iter().map(path).collect();
        paths.sort_by(|one, two| {
            let by_count = two.n_runs.cmp(&one.n_runs);
            by_count.then(one.path.len().cmp(&two.path.len())).then(one.path.cmp(&two.path))
        });
        paths.truncate(n_paths);
        paths
    }
}
