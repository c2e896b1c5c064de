//! What goes wrong, one thing after another: each fault is made, lasts a moment, and is mended.

use std::collections::BTreeMap;
use std::fmt;
use std::path::Path;
use std::time::Duration;

use anyhow::{Context as _, Result};
use baton_test_postgres::{Cluster, ClusterStop};
use tokio::time::Instant;

use super::process::NodeProcess;
use super::proxy::{LinkProxy, LinkState};
use super::{NodeDoor, Random};

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum NodeFault {
    Kill,
    /// It does nothing for a while and then goes on, as on a machine that was suspended.
    Freeze,
    RollingRestart,
    CrashDatabase,
    RestartDatabase,
    EndSessions,
    /// Another client of the database has a transaction open, which holds back the tail of the log.
    OpenTransaction,
    CutDatabaseLink,
    SilenceDatabaseLink,
    SlowDatabaseLink,
    SplitDatabaseLink,
    CutClients,
    SilenceClients,
    SplitClients,
    RefuseClients,
}

/// In the order of a short run: what hurts most comes first.
const FAULTS: [NodeFault; 15] = [
    NodeFault::Kill,
    NodeFault::CutDatabaseLink,
    NodeFault::CrashDatabase,
    NodeFault::CutClients,
    NodeFault::OpenTransaction,
    NodeFault::Freeze,
    NodeFault::SilenceDatabaseLink,
    NodeFault::SplitDatabaseLink,
    NodeFault::RestartDatabase,
    NodeFault::SilenceClients,
    NodeFault::RollingRestart,
    NodeFault::EndSessions,
    NodeFault::SplitClients,
    NodeFault::SlowDatabaseLink,
    NodeFault::RefuseClients,
];

/// How often each was made.
#[derive(Debug, Default)]
pub(super) struct FaultTally(BTreeMap<NodeFault, u64>);

impl fmt::Display for FaultTally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let counted = self.0.iter().map(|(fault, n)| format!("{fault:?} {n}"));
        f.write_str(&counted.collect::<Vec<_>>().join(", "))
    }
}

/// How far the clock of each node is off at first, in seconds.
const SHIFTS: [i64; 3] = [0, 47, -3600];

/// A node, and the ways to it and from it.
pub(super) struct LinkedNode {
    index: usize,
    process: NodeProcess,
    /// From its clients.
    front: LinkProxy,
    /// To the database.
    back: LinkProxy,
}

impl LinkedNode {
    pub(super) async fn start(index: usize, program: &Path, cluster: &Cluster) -> Result<Self> {
        let back = LinkProxy::start(([127, 0, 0, 1], cluster.port()).into()).await?;
        let url = cluster.url_at(back.address().port());
        let process = NodeProcess::start(program, url, SHIFTS[index % SHIFTS.len()]).await?;
        let front = LinkProxy::start(process.address()).await?;
        Ok(Self { index, process, front, back })
    }

    pub(super) fn door(&self) -> NodeDoor {
        NodeDoor { index: self.index, proxy: self.front.address(), node: self.process.address() }
    }
}

pub(super) struct Faults {
    nodes: Vec<LinkedNode>,
    cluster: Cluster,
    random: Random,
}

impl Faults {
    pub(super) fn new(nodes: Vec<LinkedNode>, cluster: Cluster, random: Random) -> Self {
        Self { nodes, cluster, random }
    }

    /// Goes through all faults again and again, on a node by chance, until the time is over.
    pub(super) async fn rage(&mut self, until: Instant) -> Result<FaultTally> {
        let mut tally = FaultTally::default();
        for fault in FAULTS.into_iter().cycle() {
            self.rest(200, 400).await;
            if Instant::now() >= until {
                break;
            }
            self.make(fault).await.with_context(|| format!("{fault:?}"))?;
            *tally.0.entry(fault).or_default() += 1;
        }
        Ok(tally)
    }

    /// Everything works again.
    pub(super) async fn heal(&mut self) -> Result<()> {
        for node in &mut self.nodes {
            node.front.set(LinkState::Clear);
            node.back.set(LinkState::Clear);
            node.process.wait_until_ready().await?;
        }
        Ok(())
    }

    /// How many events the database has, whatever the nodes say.
    pub(super) fn n_stored_events(&self) -> Result<u64> {
        Ok(self.cluster.sql("select count(*) from events")?.trim().parse()?)
    }

    async fn make(&mut self, fault: NodeFault) -> Result<()> {
        let n = self.random.below(self.nodes.len() as u64) as usize;
        match fault {
            NodeFault::Kill => {
                self.nodes[n].process.kill()?;
                self.rest(50, 500).await;
                // The next life of it has another clock.
                self.nodes[n].process.shift = self.random.below(240) as i64 - 120;
                self.nodes[n].process.go().await
            }
            NodeFault::Freeze => {
                self.nodes[n].process.signal("STOP")?;
                self.rest(500, 3500).await;
                self.nodes[n].process.signal("CONT")
            }
            NodeFault::RollingRestart => {
                for n in 0..self.nodes.len() {
                    self.nodes[n].process.stop().await?;
                    self.nodes[n].process.go().await?;
                }
                Ok(())
            }
            NodeFault::CrashDatabase => self.restart_database(ClusterStop::Immediate).await,
            NodeFault::RestartDatabase => self.restart_database(ClusterStop::Fast).await,
            NodeFault::EndSessions => self
                .cluster
                .sql("select count(pg_terminate_backend(pid)) from pg_stat_activity where pid <> pg_backend_pid()")
                .map(drop),
            NodeFault::OpenTransaction => self.hold_the_tail().await,
            NodeFault::CutDatabaseLink => {
                self.nodes[n].back.cut();
                Ok(())
            }
            NodeFault::SilenceDatabaseLink => self.back(n, LinkState::Silent, 3000).await,
            NodeFault::SlowDatabaseLink => {
                self.back(n, LinkState::Slow(Duration::from_millis(20)), 1500).await
            }
            NodeFault::SplitDatabaseLink => self.back(n, LinkState::Split, 1500).await,
            NodeFault::CutClients => {
                for node in &self.nodes {
                    node.front.cut();
                }
                Ok(())
            }
            NodeFault::SilenceClients => self.front(n, LinkState::Silent, 3000).await,
            NodeFault::SplitClients => self.front(n, LinkState::Split, 1500).await,
            NodeFault::RefuseClients => {
                self.nodes[n].front.cut();
                self.front(n, LinkState::Down, 1500).await
            }
        }
    }

    async fn restart_database(&mut self, how: ClusterStop) -> Result<()> {
        self.cluster.stop(how)?;
        self.rest(50, 800).await;
        self.cluster.start_again()
    }

    async fn hold_the_tail(&mut self) -> Result<()> {
        let (programs, url) = (self.cluster.programs().clone(), self.cluster.url());
        let held = format!("begin; select pg_current_xact_id(); select pg_sleep({}); commit", 1.5);
        tokio::task::spawn_blocking(move || programs.sql(&url, &held)).await??;
        Ok(())
    }

    async fn back(&mut self, n: usize, state: LinkState, most_ms: u64) -> Result<()> {
        self.nodes[n].back.set(state);
        self.rest(300, most_ms).await;
        self.nodes[n].back.set(LinkState::Clear);
        Ok(())
    }

    async fn front(&mut self, n: usize, state: LinkState, most_ms: u64) -> Result<()> {
        self.nodes[n].front.set(state);
        self.rest(300, most_ms).await;
        self.nodes[n].front.set(LinkState::Clear);
        Ok(())
    }

    async fn rest(&mut self, least_ms: u64, most_ms: u64) {
        let time = least_ms + self.random.below(most_ms - least_ms);
        tokio::time::sleep(Duration::from_millis(time)).await;
    }
}
