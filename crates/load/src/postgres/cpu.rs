//! CPU time of processes, as the system counts it.

use anyhow::Result;
use baton_test_postgres::Cluster;

/// Microseconds of one tick of the clock that `/proc` counts in: 100 a second on every Linux.
const TICK: f64 = 10_000.0;

#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(super) struct CpuTime {
    micros: f64,
}

impl CpuTime {
    pub(super) fn of(pids: &[u32]) -> Self {
        let micros = pids.iter().filter_map(|it| ticks(*it)).sum::<u64>() as f64 * TICK;
        Self { micros }
    }

    /// The server and all its processes, those that have ended included.
    pub(super) fn of_server(cluster: &Cluster) -> Result<Self> {
        let server = cluster.pid()?;
        let mut pids = vec![server];
        for entry in std::fs::read_dir("/proc")? {
            let pid = entry?.file_name().to_str().and_then(|it| it.parse().ok());
            pids.extend(pid.filter(|it| parent(*it) == Some(server)));
        }
        Ok(Self::of(&pids))
    }

    /// In microseconds.
    pub(super) fn since(self, before: Self) -> f64 {
        self.micros - before.micros
    }
}

/// The fields of a process behind its name, which may contain anything.
fn fields(pid: u32) -> Option<Vec<String>> {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    Some(stat.rsplit_once(')')?.1.split_whitespace().map(str::to_owned).collect())
}

fn parent(pid: u32) -> Option<u32> {
    fields(pid)?.get(1)?.parse().ok()
}

/// In user and system mode, with the children that it has waited for.
fn ticks(pid: u32) -> Option<u64> {
    Some(fields(pid)?.get(11..15)?.iter().filter_map(|it| it.parse::<u64>().ok()).sum())
}
