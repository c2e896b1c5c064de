//! The nodes of a database: the servers that work on it. Each announces itself there every few seconds.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use baton_engine::{Clock as _, ShiftedClock};
use baton_http::{ClusterState, DelayHolder, LogDelay, NodeDirectory, ServerNode};
use baton_store::StoreError;
use baton_store_postgres::{LogHolder, NodeRow, PostgresStore};
use jiff::SignedDuration;
use tokio::sync::watch;
use tokio::task::JoinHandle;
use uuid::Uuid;

use crate::failure::Failure;

const ANNOUNCED_EVERY: Duration = Duration::from_secs(5);
/// A node that has missed a few announcements is gone.
const GONE_AFTER: SignedDuration = SignedDuration::from_secs(20);
/// One that is gone is listed for as long as an operator may look for it.
const LISTED_FOR: SignedDuration = SignedDuration::from_hours(1);

/// The nodes that are at work, those that were heard of last first.
pub(crate) async fn live_nodes(store: &PostgresStore) -> Result<Vec<NodeRow>, Failure> {
    let now = ShiftedClock::new(store.clock_offset()).now();
    let mut nodes = store.nodes().await?;
    nodes.retain(|it| now.duration_since(it.seen_at) < GONE_AFTER);
    nodes.sort_by_key(|it| std::cmp::Reverse(it.seen_at));
    Ok(nodes)
}

/// What the faces of a node say about the others, and about the log.
pub(crate) struct DatabaseNodes(pub(crate) Arc<PostgresStore>);

#[async_trait]
impl NodeDirectory for DatabaseNodes {
    async fn state(&self) -> Result<ClusterState, StoreError> {
        let now = ShiftedClock::new(self.0.clock_offset()).now();
        let mut nodes = self.0.nodes().await?;
        nodes.retain(|it| now.duration_since(it.seen_at) < LISTED_FOR);
        nodes.sort_by_key(|it| (it.started_at, it.id));
        let node = |it: NodeRow| ServerNode {
            is_alive: now.duration_since(it.seen_at) < GONE_AFTER,
            id: it.id,
            name: it.name,
            url: it.url,
            version: it.version,
            started_at: it.started_at,
            seen_at: it.seen_at,
        };
        let delay = self.0.lag_now().await?;
        let delay = delay.map(|it| LogDelay { by: it.held_for, held_by: it.holder.map(holder) });
        Ok(ClusterState { nodes: nodes.into_iter().map(node).collect(), delay })
    }
}

fn holder(holder: LogHolder) -> DelayHolder {
    match holder {
        LogHolder::Process(pid) => DelayHolder::Process(pid),
        LogHolder::Prepared { name, database } => DelayHolder::Prepared { name, database },
    }
}

/// Announces a node until it is stopped.
pub(crate) struct NodeAnnouncer {
    store: Arc<PostgresStore>,
    id: Uuid,
    stop: watch::Sender<bool>,
    task: JoinHandle<()>,
}

impl NodeAnnouncer {
    pub(crate) async fn start(
        store: Arc<PostgresStore>,
        instance: Uuid,
        url: &str,
    ) -> Result<Self, Failure> {
        let clock = ShiftedClock::new(store.clock_offset());
        let started_at = clock.now();
        let mut node = NodeRow {
            id: instance,
            name: machine_name(),
            url: url.to_owned(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            started_at,
            seen_at: started_at,
        };
        store.announce_node(&node).await?;
        let (stop, mut stopped) = watch::channel(false);
        let announced = store.clone();
        let task = tokio::spawn(async move {
            loop {
                tokio::select! {
                    () = tokio::time::sleep(ANNOUNCED_EVERY) => {}
                    _ = stopped.changed() => return,
                }
                node.seen_at = clock.now();
                if let Err(error) = announced.announce_node(&node).await {
                    let error: &dyn std::error::Error = &error;
                    tracing::warn!(error, "this node could not be announced");
                }
            }
        });
        Ok(Self { store, id: instance, stop, task })
    }

    /// Takes the node off the list.
    pub(crate) async fn stop(self) {
        // The task is gone if it failed.
        let _ = self.stop.send(true);
        let _ = self.task.await;
        // A database that cannot be reached forgets it by itself.
        let _ = self.store.remove_node(self.id).await;
    }
}

/// What the machine calls itself.
fn machine_name() -> String {
    rustix::system::uname().nodename().to_string_lossy().into_owned()
}
