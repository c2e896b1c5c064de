//! The cost of heartbeats from many holders, and how soon a dead holder is noticed. The cost of an
//! idle run of the same program is subtracted.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, ensure};
use baton_core::command::{Accept, Command, LeaseTime};
use baton_core::names::{Principal, StoryKey};
use baton_core::run::{HandoffNo, RunId};
use baton_engine::{Caller, Clock as _, Engine, StartRun, SystemClock, Timekeeper};
use baton_store::{HandoffRef, Position};
use clap::Args;
use jiff::Timestamp;
use tokio::time::MissedTickBehavior;

use crate::crew;

#[derive(Debug, Args)]
pub(crate) struct LeasesOptions {
    /// How many hold something
    #[arg(long, default_value_t = 10_000)]
    holders: usize,
    /// How many seconds apart each of them is heard of
    #[arg(long, default_value_t = 5)]
    every: u64,
    /// For how many seconds each of them may be silent
    #[arg(long, default_value_t = 20)]
    lease: u32,
    /// How long the measurement lasts
    #[arg(long, default_value_t = 20)]
    seconds: u64,
    /// How many of them die at the end
    #[arg(long, default_value_t = 37)]
    dead: usize,
    /// Where the database goes [default: the system's temporary folder]
    #[arg(long)]
    dir: Option<std::path::PathBuf>,
}

/// How many tasks the holders share.
const N_TASKS: usize = 4;
/// How often a task looks who is next.
const STEP: Duration = Duration::from_millis(10);
/// What follows a start is over by then: every lease is written once.
const WARM_UP: Duration = Duration::from_secs(2);
const IDLE: Duration = Duration::from_secs(10);
const N_CALLERS: usize = 64;

#[derive(Clone, Copy)]
struct LeaseHolder {
    run: RunId,
    fence: u32,
}

pub(crate) async fn run(options: &LeasesOptions) -> Result<()> {
    let silence = WARM_UP + IDLE + Duration::from_secs(options.every);
    let lease = Duration::from_secs(options.lease.into());
    ensure!(silence < lease, "a lease must last longer than {silence:?}, or it ends while idle");
    let dir = match &options.dir {
        Some(dir) => tempfile::tempdir_in(dir)?,
        None => tempfile::tempdir()?,
    };
    let engine = crew::engine_over(crew::sqlite(dir.path())?).await?;
    let holders = hold(&engine, options).await?;
    let timekeeper = Timekeeper::start(engine.clone());

    let every = Duration::from_secs(options.every);
    pace(&engine, &holders, every, WARM_UP, Says::Nothing).await?;
    let idle = measure(&engine, &holders, every, IDLE, Says::Nothing).await?;
    let caller = Caller::of_baton("baton:load");
    let before = engine.read_as(&caller).last_position().await?;
    let lasting = Duration::from_secs(options.seconds);
    let busy = measure(&engine, &holders, every, lasting, Says::Alive).await?;
    let grown = engine.read_as(&caller).last_position().await?.0 - before.0;
    ensure!(grown == 0, "the log has grown by {grown} events");
    let late = deaths(&engine, &holders, every, options.dead, before).await?;
    timekeeper.stop().await;
    engine.shutdown().await;

    println!("{} holders with a lease of {lease:?}, heard of every {every:?}\n", holders.len());
    println!("| heartbeats/s | CPU while idle | CPU | heartbeats alone | events written |");
    println!("|---|---|---|---|---|");
    println!(
        "| {:.0} | {:.2} % | {:.2} % | {:.2} % | {grown} |",
        busy.per_second,
        idle.share * 100.0,
        busy.share * 100.0,
        (busy.share - idle.share) * 100.0,
    );
    println!("\nCPU is of one core, all threads of the process, the heartbeats included.\n");
    println!("| died | noticed after the lease ended: p50 ms | max ms | lost of those alive |");
    println!("|---|---|---|---|");
    let ms = |it: Option<&Duration>| it.map_or(0.0, |it| it.as_secs_f64() * 1000.0);
    println!(
        "| {} | {:.0} | {:.0} | 0 |",
        late.len(),
        ms(late.get(late.len() / 2)),
        ms(late.last())
    );
    Ok(())
}

/// Runs whose first handoff is held with a lease, created through the engine.
async fn hold(engine: &Arc<Engine>, options: &LeasesOptions) -> Result<Vec<LeaseHolder>> {
    let lease = LeaseTime::from_seconds(options.lease).context("no such lease")?;
    let mut tasks = Vec::new();
    for caller in 0..N_CALLERS {
        let engine = engine.clone();
        let numbers = (caller..options.holders).step_by(N_CALLERS);
        tasks.push(tokio::spawn(async move {
            let caller = Caller::new(Principal::parse("load")?);
            let mut holders = Vec::new();
            for n in numbers {
                let story = StoryKey::parse(&format!("held:{n}"))?;
                let start = StartRun::of(story);
                let run = engine.start(&caller, start).await?.run;
                let accept = |handoff| {
                    let (by, acknowledgement) = (None, None);
                    Command::Accept(Accept { handoff, by, acknowledgement, lease: Some(lease) })
                };
                let outcome = engine.on_handoff(&caller, &first(run), accept).await?;
                let fence = outcome.done.fence.context("it is not held")?;
                holders.push(LeaseHolder { run, fence });
            }
            anyhow::Ok(holders)
        }));
    }
    let mut holders = Vec::new();
    for task in tasks {
        holders.extend(task.await??);
    }
    Ok(holders)
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Says {
    /// All the same, without the word itself.
    Nothing,
    Alive,
}

/// When each of those who spoke is silent for too long.
type Until = BTreeMap<RunId, Timestamp>;

struct CpuShare {
    /// Of one core.
    share: f64,
    per_second: f64,
}

async fn measure(
    engine: &Arc<Engine>,
    holders: &[LeaseHolder],
    every: Duration,
    lasting: Duration,
    says: Says,
) -> Result<CpuShare> {
    let (began, cpu) = (Instant::now(), cpu_seconds()?);
    let n_said = pace(engine, holders, every, lasting, says).await?.0;
    let lasted = began.elapsed().as_secs_f64();
    let share = (cpu_seconds()? - cpu) / lasted;
    Ok(CpuShare { share, per_second: n_said as f64 / lasted })
}

/// Lets every holder have its turn once in `every`, evenly. Returns how many spoke, and until when
/// each may be silent now.
async fn pace(
    engine: &Arc<Engine>,
    holders: &[LeaseHolder],
    every: Duration,
    lasting: Duration,
    says: Says,
) -> Result<(u64, Until)> {
    let mut tasks = Vec::new();
    for share in holders.chunks(holders.len().div_ceil(N_TASKS).max(1)) {
        let (engine, share) = (engine.clone(), share.to_vec());
        tasks.push(tokio::spawn(take_turns(engine, share, every, lasting, says)));
    }
    let mut said = (0, Until::new());
    for task in tasks {
        let (n_said, until) = task.await??;
        said.0 += n_said;
        said.1.extend(until);
    }
    Ok(said)
}

async fn take_turns(
    engine: Arc<Engine>,
    holders: Vec<LeaseHolder>,
    every: Duration,
    lasting: Duration,
    says: Says,
) -> Result<(u64, Until)> {
    let began = Instant::now();
    let mut ticks = tokio::time::interval(STEP);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let per_second = holders.len() as f64 / every.as_secs_f64();
    let mut until = Until::new();
    let caller = Caller::of_baton("baton:load");
    let mut n_turns = 0;
    while began.elapsed() < lasting {
        ticks.tick().await;
        let n_due = (began.elapsed().as_secs_f64() * per_second) as usize;
        for turn in n_turns..n_due {
            let holder = holders[turn % holders.len()];
            if says == Says::Alive {
                let heard = engine.heartbeat(&caller, &first(holder.run), holder.fence).await;
                until.insert(holder.run, heard.context("a live holder was not heard")?);
            }
        }
        n_turns = n_due;
    }
    let n_said = if says == Says::Alive { n_turns as u64 } else { 0 };
    Ok((n_said, until))
}

/// Lets some holders die while the others go on. How long after its lease each was noticed,
/// in order.
async fn deaths(
    engine: &Arc<Engine>,
    holders: &[LeaseHolder],
    every: Duration,
    n_dead: usize,
    after: Position,
) -> Result<Vec<Duration>> {
    // All are heard of once more; those who die were spread over that time.
    let (_, until) = pace(engine, holders, every, every + STEP, Says::Alive).await?;
    let step = (holders.len() / n_dead.max(1)).max(1);
    let (mut dying, mut alive) = (BTreeMap::new(), Vec::new());
    for (index, holder) in holders.iter().enumerate() {
        if index % step == 0 && dying.len() < n_dead {
            let until = until.get(&holder.run).context("it never spoke")?;
            dying.insert(holder.run, *until);
        } else {
            alive.push(*holder);
        }
    }
    let last = dying.values().max().context("no holder dies")?;
    let lasting = Duration::try_from(last.duration_since(SystemClock.now()))?;
    let noticed = tokio::spawn(notice(engine.clone(), dying, after));
    pace(engine, &alive, every, lasting + Duration::from_secs(2), Says::Alive).await?;
    ensure!(noticed.is_finished(), "a dead holder was not noticed");
    noticed.await?
}

async fn notice(engine: Arc<Engine>, mut dying: Until, after: Position) -> Result<Vec<Duration>> {
    let mut feed = engine.read_as(&Caller::of_baton("baton:load")).feed(after, None);
    let mut late = Vec::new();
    while !dying.is_empty() {
        let event = feed.next().await?.context("the feed has ended")?;
        if event.name != "lease.lost" {
            continue;
        }
        let until = dying.remove(&event.run).context("a live holder was lost")?;
        late.push(Duration::try_from(SystemClock.now().duration_since(until))?);
    }
    late.sort_unstable();
    Ok(late)
}

fn first(run: RunId) -> HandoffRef {
    HandoffRef::InRun(run, HandoffNo(1))
}

/// What the process has used until now, all its threads together.
#[expect(clippy::disallowed_methods, reason = "this is the kernel's file, and no project's")]
fn cpu_seconds() -> Result<f64> {
    /// Linux tells it in hundredths of a second, whatever the kernel counts in.
    const PER_SECOND: f64 = 100.0;
    let stat = std::fs::read_to_string("/proc/self/stat")
        .context("how much CPU was used is only known on Linux")?;
    // The name of the program stands in brackets and may hold anything.
    let (_, fields) = stat.rsplit_once(')').context("an odd line")?;
    let ticks = fields.split_whitespace().skip(11).take(2);
    let ticks: Vec<f64> = ticks.map(str::parse).collect::<Result<_, _>>()?;
    ensure!(ticks.len() == 2, "an odd line");
    Ok(ticks.iter().sum::<f64>() / PER_SECOND)
}
