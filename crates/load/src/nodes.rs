//! Three servers on one PostgreSQL under load, while servers are killed, PostgreSQL is restarted,
//! connections fail and clocks differ. Clients record what they ask and are answered; a checker judges.
#![expect(clippy::disallowed_methods, reason = "it starts servers, and its time is the machine's")]

mod check;
mod faults;
mod log;
mod operation;
pub(crate) mod process;
mod proxy;
mod reader;
mod worker;

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use anyhow::{Context as _, Result, bail, ensure};
use baton_test_postgres::{Cluster, Durability};
use clap::Args;
use jiff::Timestamp;
use tokio::task::JoinSet;
use tokio::time::Instant;

use self::check::HistoryCounts;
use self::faults::{FaultTally, Faults, LinkedNode};
use self::operation::{ClientOperation, ClusterHistory, ReaderRecord};
use self::reader::{EventReader, LogEnd, NO_END, ReaderStart};
use self::worker::{LEASE, StoryCounter, Worker};
use crate::crash::Random;

#[derive(Debug, Args)]
pub(crate) struct NodesOptions {
    /// How long there is load and trouble
    #[arg(long, default_value_t = 120)]
    seconds: u64,
    /// Where chance begins; printed, so that a run can be had again
    #[arg(long)]
    seed: Option<u64>,
    /// The `baton` that is started; the one beside this program unless named
    #[arg(long)]
    baton: Option<PathBuf>,
}

const N_NODES: usize = 3;
/// Each group of clients has a story that it competes for.
const N_GROUPS: usize = 6;
const WORKERS_PER_GROUP: usize = 3;
const N_READERS: usize = 6;
/// How long clients insist on an answer when everything works again.
const GRACE: Duration = Duration::from_secs(20);
/// Fewer acknowledged commands a second say little; a busy machine does more than that.
const LEAST_PER_SECOND: u64 = 5;
/// More of a bad run say nothing new.
const MOST_SHOWN: usize = 20;

/// How a client comes to a node: through a proxy, with the node's own address as the host.
#[derive(Debug, Clone, Copy)]
pub(super) struct NodeDoor {
    index: usize,
    proxy: SocketAddr,
    node: SocketAddr,
}

/// The ways to all nodes.
#[derive(Debug, Clone)]
pub(super) struct Doors(Arc<Vec<NodeDoor>>);

impl Doors {
    fn any(&self, random: &mut Random) -> NodeDoor {
        self.0[random.below(self.0.len() as u64) as usize]
    }
}

pub(crate) async fn run(options: &NodesOptions) -> Result<()> {
    let seed = options.seed.unwrap_or_else(|| std::process::id().into());
    println!("{N_NODES} nodes for {} s, seed {seed}", options.seconds);
    let beside = std::env::current_exe()?.with_file_name("baton");
    let program = options.baton.clone().unwrap_or(beside);
    let cluster = Cluster::start(Durability::Synced)?;
    let nodes = start_nodes(&program, &cluster).await?;
    let doors = Doors(Arc::new(nodes.iter().map(LinkedNode::door).collect()));
    let lasting = Duration::from_secs(options.seconds);
    let load = Load::start(&doors, seed, lasting);
    let mut faults = Faults::new(nodes, cluster, Random::new(seed));
    let rage = faults.rage(load.until).await;
    faults.heal().await?;
    let tally = rage?;
    let history = load.end(&doors, &faults).await?;
    judge(&history, &tally, options.seconds)
}

async fn start_nodes(program: &Path, cluster: &Cluster) -> Result<Vec<LinkedNode>> {
    let mut nodes = Vec::new();
    for index in 0..N_NODES {
        let node = LinkedNode::start(index, program, cluster).await;
        nodes.push(node.with_context(|| format!("start node {index}"))?);
    }
    Ok(nodes)
}

/// Clients and subscribers at work.
struct Load {
    began: Instant,
    began_at: Timestamp,
    until: Instant,
    workers: JoinSet<Vec<ClientOperation>>,
    readers: JoinSet<ReaderRecord>,
    log_end: LogEnd,
}

impl Load {
    fn start(doors: &Doors, seed: u64, lasting: Duration) -> Self {
        let (began, began_at) = (Instant::now(), Timestamp::now());
        let until = began + lasting;
        let mut load = Self {
            began,
            began_at,
            until,
            workers: JoinSet::new(),
            readers: JoinSet::new(),
            log_end: Arc::new(AtomicU64::new(NO_END)),
        };
        for group in 0..N_GROUPS {
            let stories: StoryCounter = Arc::new(Mutex::new(0));
            for n in 0..WORKERS_PER_GROUP {
                let random =
                    Random::new(seed ^ (((group * WORKERS_PER_GROUP + n + 1) as u64) << 32));
                let (doors, stories) = (doors.clone(), stories.clone());
                let worker = Worker::new(group, n, doors, stories, random, load.began);
                load.workers.spawn(worker.work(until, until + GRACE));
            }
        }
        for n in 0..N_READERS {
            let start = if n % 2 == 0 { ReaderStart::Beginning } else { ReaderStart::Now };
            let random = Random::new(seed ^ (((n + 1) as u64) << 48));
            let (name, end) = (format!("reader {n}"), load.log_end.clone());
            let reader = EventReader::new(name, start, doors.clone(), random, end);
            load.readers.spawn(reader.read(until + 3 * GRACE));
        }
        load
    }

    /// Waits for everybody, and puts together what they know.
    async fn end(mut self, doors: &Doors, faults: &Faults) -> Result<ClusterHistory> {
        let mut operations = Vec::new();
        while let Some(worker) = self.workers.join_next().await {
            operations.extend(worker?);
        }
        // What clients hold and gave up is offered again: nothing moves after that.
        tokio::time::sleep(LEASE + Duration::from_secs(3)).await;
        let log = log::read(doors.0[0]).await?;
        let end = log.last().context("nothing happened")?.position;
        self.log_end.store(end, Ordering::Relaxed);
        let mut readers = Vec::new();
        while let Some(reader) = self.readers.join_next().await {
            readers.push(reader?);
        }
        let n_stored = faults.n_stored_events()?;
        ensure!(
            n_stored == log.len() as u64,
            "the log has {} events over HTTP and {n_stored} in the database",
            log.len()
        );
        println!("{:.1} s in all", self.began.elapsed().as_secs_f64());
        Ok(ClusterHistory { began: self.began_at, operations, log, readers })
    }
}

fn judge(history: &ClusterHistory, tally: &FaultTally, seconds: u64) -> Result<()> {
    let counts = check::count(history);
    let violations = check::violations(history);
    report(history, &counts, tally);
    for violation in violations.iter().take(MOST_SHOWN) {
        println!("{violation}");
    }
    if !violations.is_empty() {
        bail!("{} violations", violations.len());
    }
    let least = LEAST_PER_SECOND * seconds;
    ensure!(
        counts.n_acknowledged >= least && counts.by_node.len() == N_NODES,
        "fewer than {least} operations, or not by all nodes, were acknowledged: nothing was tested"
    );
    ensure!(counts.by_kind.len() == 6, "not every kind of operation was acknowledged");
    println!("0 lost, 0 twice, 0 out of order");
    Ok(())
}

fn report(history: &ClusterHistory, counts: &HistoryCounts, tally: &FaultTally) {
    let HistoryCounts { n_acknowledged, n_refused, n_unknown, by_node, by_kind, reasons } = counts;
    println!("faults: {tally}");
    println!("{n_acknowledged} operations acknowledged, {n_refused} refused, {n_unknown} unknown");
    println!("by node: {by_node:?}; by kind: {by_kind:?}");
    println!("others: {reasons:?}");
    let n_heard: usize = history.readers.iter().map(|it| it.heard.len()).sum();
    let n_resumed: u64 = history.readers.iter().map(|it| it.n_resumed).sum();
    println!(
        "{} events; {} readers heard {n_heard} messages over {n_resumed} connections",
        history.log.len(),
        history.readers.len()
    );
}
