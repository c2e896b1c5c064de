//! Kills a process under load, damages its files in every way that a disk can, and runs the `baton`
//! program on them: nothing gets worse, every loss is noticed, and `baton recover` restores what
//! the bytes still prove.

mod case;
mod kinds;
mod program;

use std::io::BufReader;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, ensure};
use baton_core::run::RunId;
use tokio::task::{JoinHandle, JoinSet};

use self::case::{Case, CaseOutcome};
use self::kinds::FileDamage;
use self::program::Program;
use super::Random;

/// How many damages are tried on what one process has left.
const CASES_PER_LIFE: u32 = 10;
/// Commands acknowledged earlier than this before the kill are never lost silently.
const GRACE: Duration = Duration::from_secs(1);
/// A life lasts at least so long, so that there is something older than that.
const LEAST_LIFE: u64 = 1_200;
const MOST_MORE: u64 = 600;
/// How long a caller rests after each story. The longest lets the writer settle in between; without
/// any the log gets long, and most of the time would be spent copying it.
const PAUSES: [&str; 6] = ["0", "10", "30", "60", "100", "650"];

/// A command that was acknowledged, and when that was heard.
#[derive(Debug, Clone, Copy)]
struct Ack {
    run: RunId,
    version: u64,
    at: Instant,
}

/// What a killed process has left.
struct Left {
    dir: tempfile::TempDir,
    acks: Vec<Ack>,
    killed_at: Instant,
}

#[derive(Default)]
struct DamageTally {
    n_cases: u64,
    n_acks: u64,
    n_refused: u64,
    n_found: u64,
    n_harmless: u64,
    n_whole: u64,
    n_partly: u64,
}

pub(super) async fn damage(n_cases: u32, baton: PathBuf, random: &mut Random) -> Result<()> {
    let program = Arc::new(Program::new(baton)?);
    let mut tally = DamageTally::default();
    let mut next = begin(Life::random(1, random));
    for life in 1.. {
        let left = Arc::new(next.await??);
        // While one is looked at, the next one lives.
        next = begin(Life::random(life + 1, random));
        tally.n_acks += left.acks.len() as u64;
        let mut cases = JoinSet::new();
        for _ in 0..CASES_PER_LIFE.min(n_cases - u32::try_from(tally.n_cases)?) {
            tally.n_cases += 1;
            let damage = FileDamage::random(left.dir.path(), random)?;
            let case = Case::make(left.clone(), &damage, program.clone())?;
            cases.spawn(async move {
                let outcome = case.examine().await;
                outcome.with_context(|| format!("life {life}, after: {damage}"))
            });
        }
        while let Some(outcome) = cases.join_next().await {
            tally.add(&outcome??);
        }
        if tally.n_cases >= u64::from(n_cases) {
            break;
        }
    }
    // It is not killed with us.
    next.await??;
    tally.print();
    ensure!(tally.n_acks > tally.n_cases, "hardly anything was acknowledged: nothing was tested");
    ensure!(tally.n_refused > 0 && tally.n_whole > 0, "hardly anything was damaged");
    Ok(())
}

impl DamageTally {
    fn add(&mut self, outcome: &CaseOutcome) {
        match outcome {
            CaseOutcome::Harmless => self.n_harmless += 1,
            CaseOutcome::Recovered { is_refused, is_whole } => {
                *if *is_refused { &mut self.n_refused } else { &mut self.n_found } += 1;
                *if *is_whole { &mut self.n_whole } else { &mut self.n_partly } += 1;
            }
        }
    }

    fn print(&self) {
        let Self { n_cases, n_acks, n_refused, n_found, n_harmless, n_whole, n_partly } = self;
        println!(
            "{n_cases} damages after {n_acks} acknowledged commands: {n_refused} refused at the \
             opening, {n_found} found by verify, {n_harmless} of no consequence; \
             {n_whole} recovered whole, {n_partly} as far as the bytes prove; 0 lost silently, \
             0 made worse"
        );
    }
}

/// How long a victim works, and how hard.
struct Life {
    number: u32,
    pause: &'static str,
    lasting: Duration,
}

impl Life {
    fn random(number: u32, random: &mut Random) -> Self {
        let pause = usize::try_from(random.below(PAUSES.len() as u64)).unwrap_or_default();
        let lasting = Duration::from_millis(LEAST_LIFE + random.below(MOST_MORE));
        Self { number, pause: PAUSES[pause], lasting }
    }
}

fn begin(life: Life) -> JoinHandle<Result<Left>> {
    tokio::task::spawn_blocking(move || live_and_die(&life))
}

/// Starts a victim, lets it work for a while, and kills it.
fn live_and_die(life: &Life) -> Result<Left> {
    let dir = tempfile::tempdir()?;
    let mut victim = Command::new(std::env::current_exe()?)
        .arg("victim")
        .arg("--dir")
        .arg(dir.path())
        .args(["--life", &life.number.to_string(), "--callers", "2", "--pause-ms", life.pause])
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn()
        .context("start the victim")?;
    let stdout = victim.stdout.take().context("the victim has no stdout")?;
    let hearing = std::thread::spawn(move || hear(BufReader::new(stdout)));
    std::thread::park_timeout(life.lasting);
    victim.kill().context("kill the victim")?;
    let killed_at = Instant::now();
    victim.wait()?;
    let acks = hearing.join().map_err(|_| anyhow::anyhow!("the hearing thread panicked"))??;
    Ok(Left { dir, acks, killed_at })
}

fn hear(lines: impl std::io::BufRead) -> Result<Vec<Ack>> {
    let mut acks = Vec::new();
    for line in lines.lines() {
        let line = line?;
        let at = Instant::now();
        if line == "open" {
            continue;
        }
        let mut words = line.split(' ').skip(1);
        let run = words.next().context("a line without a run")?;
        let version = words.next().context("a line without a version")?;
        acks.push(Ack { run: RunId(run.parse()?), version: version.parse()?, at });
    }
    Ok(acks)
}

impl Left {
    /// Those that were acknowledged so long before the kill that they may not be lost silently.
    fn old_acks(&self) -> impl Iterator<Item = &Ack> {
        self.acks.iter().filter(|it| self.killed_at.duration_since(it.at) > GRACE)
    }
}

/// The files that can be damaged.
const FILES: [&str; 2] = ["baton.db", "baton.db-wal"];
/// Those that tell of it.
const MARK: &str = "baton.mark";

fn copy_files(from: &Path, to: &Path) -> Result<()> {
    for name in FILES.into_iter().chain([MARK]) {
        if from.join(name).exists() {
            std::fs::copy(from.join(name), to.join(name))?;
        }
    }
    Ok(())
}
