//! Kills a process under load with SIGKILL at random moments, reopens what it left behind, and
//! looks for acknowledged commands that are missing or there twice, and for broken chains.
#![expect(clippy::disallowed_methods, reason = "it starts itself as the victim")]

mod damage;
mod served;

use std::collections::BTreeSet;
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use anyhow::{Context as _, Result, ensure};
use baton_engine::verify_all;
use clap::{Args, ValueEnum};

use crate::crew::{self, Go, Hand, Keys, SCOPE};

#[derive(Debug, Args)]
pub(crate) struct CrashOptions {
    /// How often
    #[arg(long, default_value_t = 1000)]
    kills: u32,
    /// Where the random moments come from; printed, so that a run can be had again
    #[arg(long)]
    seed: Option<u64>,
    /// What is killed
    #[arg(long, value_enum, default_value_t = What::Engine)]
    what: What,
    /// The `baton` that is let loose on damaged files; the one beside this program unless named
    #[arg(long)]
    baton: Option<PathBuf>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum What {
    /// A process whose callers are within it
    Engine,
    /// A server whose callers are outside, and go on with the next one
    Server,
    /// A process whose files are damaged after it was killed
    Damage,
}

#[derive(Debug, Args)]
pub(crate) struct VictimOptions {
    #[arg(long)]
    dir: PathBuf,
    /// Keeps the names of one life apart from those of the next
    #[arg(long)]
    life: u32,
    #[arg(long, default_value_t = N_CALLERS)]
    callers: usize,
    /// How long each caller rests after a story
    #[arg(long, default_value_t = 0)]
    pause_ms: u64,
}

const N_CALLERS: usize = 16;
/// A new database after this many lives, so that checking it stays quick.
const LIVES_PER_DATABASE: u32 = 20;
/// No life lasts longer.
const MOST_MILLISECONDS: u64 = 120;

#[derive(Default)]
struct KillTally {
    n_acked: u64,
    n_runs: u64,
    n_events: u64,
}

pub(crate) async fn run(options: &CrashOptions) -> Result<()> {
    let seed = options.seed.unwrap_or_else(|| std::process::id().into());
    println!("{} kills, seed {seed}", options.kills);
    let mut random = Random(seed);
    match options.what {
        What::Engine => kill_engines(options.kills, &mut random).await,
        What::Server => served::kill_servers(options.kills, &mut random).await,
        What::Damage => {
            let beside = std::env::current_exe()?.with_file_name("baton");
            let baton = options.baton.clone().unwrap_or(beside);
            damage::damage(options.kills, baton, &mut random).await
        }
    }
}

async fn kill_engines(kills: u32, random: &mut Random) -> Result<()> {
    let mut tally = KillTally::default();
    let mut life = 0;
    while life < kills {
        let dir = tempfile::tempdir()?;
        let mut acked = BTreeSet::new();
        for _ in 0..LIVES_PER_DATABASE.min(kills - life) {
            life += 1;
            let lived = live_and_die(dir.path(), life, random)?;
            for line in lived {
                ensure!(acked.insert(line.clone()), "life {life}: acknowledged twice: {line}");
            }
            examine(dir.path(), &acked, life, &mut tally).await?;
        }
        tally.n_acked += acked.len() as u64;
    }
    let KillTally { n_acked, n_runs, n_events } = tally;
    println!(
        "{life} kills: {n_acked} acknowledged commands, 0 lost, 0 twice; \
         {n_runs} runs and {n_events} events verified at the end of each database"
    );
    ensure!(n_acked > u64::from(life), "hardly anything was acknowledged: nothing was tested");
    Ok(())
}

/// Starts a victim, lets it work for a random while, kills it, and returns what it had
/// acknowledged.
fn live_and_die(dir: &Path, life: u32, random: &mut Random) -> Result<Vec<String>> {
    let mut victim = Command::new(std::env::current_exe()?)
        .arg("victim")
        .arg("--dir")
        .arg(dir)
        .args(["--life", &life.to_string()])
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn()
        .context("start the victim")?;
    let stdout = victim.stdout.take().context("the victim has no stdout")?;
    let mut lines = BufReader::new(stdout).lines();
    // It says so when the store is open: some lives end before that, most after.
    let is_early = random.below(10) == 0;
    let mut acked = Vec::new();
    if !is_early {
        let first = lines.next().context("the victim said nothing")??;
        ensure!(first == "open", "the victim said `{first}`");
    }
    std::thread::park_timeout(Duration::from_millis(random.below(MOST_MILLISECONDS)));
    // On Unix this is SIGKILL: no handler, no destructor, no last words.
    victim.kill().context("kill the victim")?;
    for line in lines {
        let line = line?;
        if line != "open" {
            acked.push(line);
        }
    }
    victim.wait()?;
    Ok(acked)
}

/// Opens the database as the next Baton would, and compares it with what was acknowledged.
async fn examine(
    dir: &Path,
    acked: &BTreeSet<String>,
    life: u32,
    tally: &mut KillTally,
) -> Result<()> {
    let store = crew::sqlite(dir).with_context(|| format!("reopen after life {life}"))?;
    let mut effects = BTreeSet::new();
    for line in acked {
        let mut words = line.split(' ');
        let (key, run, version) = (words.next(), words.next(), words.next());
        let key = key.context("a line without a key")?;
        let answered = store.answered(SCOPE, key).await?;
        let answered = answered.with_context(|| format!("life {life}: lost: {line}"))?;
        // The stored answer names the same run and version as the acknowledgement did.
        let run = run.context("a line without a run")?;
        let version = version.context("a line without a version")?;
        let names_it = answered.answer.contains(run)
            && answered.answer.contains(&format!("\"version\":{version},"));
        ensure!(names_it, "life {life}: {line} was stored as {}", answered.answer);
        ensure!(effects.insert((run, version)), "life {life}: two commands made {run} {version}");
    }
    let verified = verify_all(store.as_ref()).await?;
    ensure!(verified.problems.is_empty(), "life {life}: {:?}", verified.problems);
    if life.is_multiple_of(LIVES_PER_DATABASE) {
        tally.n_runs += verified.n_runs;
        tally.n_events += verified.n_events;
    }
    store.close().await;
    Ok(())
}

/// Works until it is killed. What it prints has been acknowledged.
pub(crate) async fn play_victim(options: &VictimOptions) -> Result<()> {
    let engine = crew::engine_over(crew::sqlite(&options.dir)?).await?;
    say("open");
    let mut callers = Vec::new();
    for n in 0..options.callers {
        let name = format!("life{}-{n}", options.life);
        let hand = Hand::new(engine.clone(), name, Keys::Every)?.leasing();
        callers.push(tokio::spawn(work_for_ever(hand, Duration::from_millis(options.pause_ms))));
    }
    for caller in callers {
        caller.await??;
    }
    Ok(())
}

async fn work_for_ever(mut hand: Hand, pause: Duration) -> Result<()> {
    loop {
        tokio::time::sleep(pause).await;
        hand.tell_story(|acked| {
            let key = acked.key.unwrap_or_default();
            say(&format!("{key} {} {}", acked.run, acked.version));
            Go::On
        })
        .await?;
    }
}

/// A whole line at once: a kill does not leave half of one behind.
fn say(line: &str) {
    let mut stdout = std::io::stdout().lock();
    // The parent process may be gone; then the error does not matter.
    let _ = stdout.write_all(format!("{line}\n").as_bytes());
    let _ = stdout.flush();
}

/// A small generator (splitmix64): good enough to pick moments, and the same from the same seed.
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed)
    }

    pub(crate) fn below(&mut self, n: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        (z ^ (z >> 31)) % n
    }
}
