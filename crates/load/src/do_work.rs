//! What `baton do` costs beside the agents: the CPU time of every process of Baton, as a share of the
//! time that the work takes.
//!
//! Two of them run side by side: one with the scripted executor, and one with Claude Code on a scripted model,
//! where that is installed. Each agent works for a while and then hands on. Those of a language model take
//! minutes, so a few seconds are the hard case.
#![expect(
    clippy::disallowed_methods,
    reason = "it measures programs, which it has to start and look at"
)]

mod cpu;
mod repository;

use std::path::PathBuf;
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail, ensure};
use baton_fake_model::FakeModel;
use clap::Args;

use self::cpu::CpuTimes;
use self::repository::BenchRepository;
use crate::growth;

#[derive(Debug, Args)]
pub(crate) struct DoBenchOptions {
    /// How long each of the five agents works
    #[arg(long, default_value_t = 10)]
    seconds: u64,
    /// The folder into which npm has installed Claude Code; left out: `BATON_AGENT_PROGRAMS`, else the `PATH`
    #[arg(long, value_name = "DIR")]
    programs: Option<PathBuf>,
}

/// The target: CPU time by wall time, in per cent.
const MOST_PER_CENT: f64 = 2.0;
/// Processes are looked at so often; what one uses between the last look and its end is not counted.
const PERIOD: Duration = Duration::from_millis(20);
/// How much longer than the agents a `baton do` may take before it is given up.
const MOST_BESIDE: Duration = Duration::from_secs(120);

pub(crate) fn run(options: &DoBenchOptions) -> Result<()> {
    let program = growth::program()?;
    let mut repositories = vec![(
        "the scripted executor",
        BenchRepository::with_script(&program, Duration::from_secs(options.seconds))?,
    )];
    let seconds = options.seconds;
    let model = FakeModel::start(move |it| repository::answer(it, Duration::from_secs(seconds)));
    let programs = options.programs.clone();
    let programs = programs.or_else(|| std::env::var_os("BATON_AGENT_PROGRAMS").map(PathBuf::from));
    match repository::installed(programs.as_deref()) {
        Some(claude) => repositories
            .push(("Claude Code", BenchRepository::with_claude(&program, &claude, &model.url())?)),
        None => {
            println!("Claude Code is not installed: `--programs DIR` says where npm has put it")
        }
    }
    let mut measured = Vec::new();
    for (name, repository) in &repositories {
        measured.push(MeasuredDo::start(name, repository)?);
    }
    let states: Vec<PathBuf> = repositories.iter().map(|(_, it)| it.state()).collect();
    let mut times = CpuTimes::of(program, states);
    let most = Duration::from_secs(5 * options.seconds) + MOST_BESIDE;
    while measured.iter().any(|it| it.wall.is_none()) {
        times.look()?;
        for it in &mut measured {
            it.look(most)?;
        }
        std::thread::sleep(PERIOD);
    }
    println!(
        "| `baton do` with | agents work | wall s | CPU of Baton s | processes | share | goal |"
    );
    println!("|---|---|---|---|---|---|---|");
    for (index, it) in measured.iter().enumerate() {
        let wall = it.wall.unwrap_or_default().as_secs_f64();
        let (cpu, n_processes) = times.sum(index);
        println!(
            "| {} | 5 × {} s | {wall:.1} | {:.2} | {n_processes} | {:.2} % | {MOST_PER_CENT} % |",
            it.name,
            options.seconds,
            cpu.as_secs_f64(),
            cpu.as_secs_f64() / wall * 100.0,
        );
    }
    Ok(())
}

/// One `baton do`, until it has ended.
struct MeasuredDo<'a> {
    name: &'a str,
    child: Child,
    began: Instant,
    /// How long it took, once it has ended.
    wall: Option<Duration>,
}

impl<'a> MeasuredDo<'a> {
    fn start(name: &'a str, repository: &BenchRepository) -> Result<Self> {
        let mut command = repository.do_command();
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
        Ok(Self { name, began: Instant::now(), child: command.spawn()?, wall: None })
    }

    fn look(&mut self, most: Duration) -> Result<()> {
        if self.wall.is_some() {
            return Ok(());
        }
        let Some(ended) = self.child.try_wait()? else {
            ensure!(self.began.elapsed() < most, "`baton do` with {} does not end", self.name);
            return Ok(());
        };
        self.wall = Some(self.began.elapsed());
        if !ended.success() {
            let errors = self.child.stderr.take().context("no stderr")?;
            bail!("`baton do` with {}: {ended}: {}", self.name, std::io::read_to_string(errors)?);
        }
        Ok(())
    }
}

impl Drop for MeasuredDo<'_> {
    fn drop(&mut self) {
        // It has ended, but for an error.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
