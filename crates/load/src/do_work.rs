//! What `baton do` costs beside the agents: the CPU time of every process of Baton, as a share of the
//! time that the work takes.
//!
//! The agents are programs that work for a while and then hand on. Those of a language model take
//! minutes, so a few seconds are the hard case.
#![expect(clippy::disallowed_methods, reason = "it measures programs, which it has to start")]

use std::collections::HashMap;
use std::path::Path;
use std::process::Stdio;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, ensure};
use clap::Args;

use crate::growth;
use crate::runner::BenchProject;

#[derive(Debug, Args)]
pub(crate) struct DoBenchOptions {
    /// How long each of the five agents works
    #[arg(long, default_value_t = 10)]
    seconds: u64,
}

/// The target: CPU time by wall time, in per cent.
const MOST_PER_CENT: f64 = 2.0;
/// Processes are looked at so often; what one uses between the last look and its end is not counted.
const PERIOD: Duration = Duration::from_millis(50);

pub(crate) fn run(options: &DoBenchOptions) -> Result<()> {
    let (root, state, times) = (tempfile::tempdir()?, tempfile::tempdir()?, tempfile::tempdir()?);
    let program = growth::program()?;
    let project = BenchProject { program: program.clone(), root: root.path(), state: state.path() };
    project.lay_out(times.path(), options.seconds)?;
    let mut command = project.baton(&["do", "Add a greeting", "--yes"]);
    let began = Instant::now();
    let mut child =
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn()?;
    let mut used = HashMap::new();
    let ended = loop {
        look(&program, &mut used)?;
        match child.try_wait()? {
            Some(ended) => break ended,
            None => std::thread::sleep(PERIOD),
        }
    };
    let wall = began.elapsed();
    ensure!(ended.success(), "`baton do` failed: {ended}");
    let cpu: Duration = used.values().sum();
    let per_cent = cpu.as_secs_f64() / wall.as_secs_f64() * 100.0;
    println!("| agents work | wall s | CPU of Baton s | processes | share | goal |");
    println!("|---|---|---|---|---|---|");
    println!(
        "| {} s each | {:.1} | {:.2} | {} | {per_cent:.2} % | {MOST_PER_CENT} % |",
        options.seconds,
        wall.as_secs_f64(),
        cpu.as_secs_f64(),
        used.len(),
    );
    Ok(())
}

/// Notes what each process of the program has used so far.
fn look(program: &Path, used: &mut HashMap<u32, Duration>) -> Result<()> {
    for entry in std::fs::read_dir("/proc").context("processes are listed on Linux only")? {
        let entry = entry?;
        let Some(pid) = entry.file_name().to_str().and_then(|it| it.parse().ok()) else { continue };
        // It may have ended, or be another user's.
        let Ok(executable) = std::fs::read_link(entry.path().join("exe")) else { continue };
        let Ok(stat) = std::fs::read_to_string(entry.path().join("stat")) else { continue };
        if executable == program
            && let Some(time) = cpu_time(&stat)
        {
            used.insert(pid, time);
        }
    }
    Ok(())
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
}
