//! The CPU time of Baton's own processes, as the system counts it.

use std::collections::HashMap;
use std::path::PathBuf;
use std::time::Duration;

use anyhow::{Context as _, Result};

/// What the processes of each `baton do` have used.
pub(super) struct CpuTimes {
    program: PathBuf,
    /// What each has as its `XDG_STATE_HOME`, by which its processes are known.
    states: Vec<PathBuf>,
    /// By process: which `baton do` it belongs to, and what it has used.
    used: HashMap<u32, (usize, Duration)>,
}

impl CpuTimes {
    pub(super) fn of(program: PathBuf, states: Vec<PathBuf>) -> Self {
        Self { program, states, used: HashMap::new() }
    }

    /// Notes what each process has used so far.
    pub(super) fn look(&mut self) -> Result<()> {
        for entry in std::fs::read_dir("/proc").context("processes are listed on Linux only")? {
            let entry = entry?;
            let Some(pid) = entry.file_name().to_str().and_then(|it| it.parse().ok()) else {
                continue;
            };
            // It may have ended, or be another user's.
            let Ok(executable) = std::fs::read_link(entry.path().join("exe")) else { continue };
            if executable != self.program {
                continue;
            }
            let Ok(environment) = std::fs::read(entry.path().join("environ")) else { continue };
            let Ok(stat) = std::fs::read_to_string(entry.path().join("stat")) else { continue };
            let owner = owner(&environment, &self.states);
            if let (Some(owner), Some(time)) = (owner, cpu_time(&stat)) {
                self.used.insert(pid, (owner, time));
            }
        }
        Ok(())
    }

    /// What all processes of one `baton do` have used, and how many they were.
    pub(super) fn sum(&self, owner: usize) -> (Duration, usize) {
        let own = self.used.values().filter(|it| it.0 == owner);
        own.fold((Duration::ZERO, 0), |(sum, n), it| (sum + it.1, n + 1))
    }
}

/// Which `baton do` a process belongs to, by its environment; `None` for an agent: a script is played by the same
/// program.
fn owner(environment: &[u8], states: &[PathBuf]) -> Option<usize> {
    let variables: Vec<&[u8]> = environment.split(|it| *it == 0).collect();
    if variables.iter().any(|it| it.starts_with(b"BATON_TOKEN=")) {
        return None;
    }
    let state = variables.iter().find_map(|it| it.strip_prefix(b"XDG_STATE_HOME="))?;
    states.iter().position(|it| it.as_os_str().as_encoded_bytes() == state)
}

/// User and system time in a line of `/proc/PID/stat`, which counts in hundredths of a second.
fn cpu_time(stat: &str) -> Option<Duration> {
    let (_, fields) = stat.rsplit_once(") ")?;
    let mut fields = fields.split(' ').skip(11);
    let mut ticks = || fields.next()?.parse::<u64>().ok();
    Some(Duration::from_millis((ticks()? + ticks()?) * 10))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cpu_time_is_read_whatever_the_name_of_the_program() {
        let line = "7 (a) b) S 1 7 7 0 -1 4194560 99 0 0 0 31 12 0 0 20 0 1 0 5 6 7";
        assert_eq!(cpu_time(line), Some(Duration::from_millis(430)));
        assert_eq!(cpu_time("7 (a) S 1"), None);
    }

    #[test]
    fn a_process_belongs_to_the_command_whose_state_it_has_and_agents_to_none() {
        let states = [PathBuf::from("/a"), PathBuf::from("/b")];
        let check = |environment: &[u8], expected| {
            assert_eq!(owner(environment, &states), expected, "{environment:?}");
        };
        check(b"HOME=/h\0XDG_STATE_HOME=/b\0", Some(1));
        check(b"XDG_STATE_HOME=/b\0BATON_TOKEN=t\0", None);
        check(b"XDG_STATE_HOME=/bb\0", None);
        check(b"", None);
    }
}
