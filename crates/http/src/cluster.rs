//! The servers that share one store, as the store tells of them: for `/readyz`, `/metrics` and the status.

use std::fmt::{self, Write as _};
use std::time::Duration;

use async_trait::async_trait;
use baton_api::{LogDelayDocument, NodeDocument};
use baton_store::StoreError;
use jiff::Timestamp;
use uuid::Uuid;

/// Where several servers use one store.
#[async_trait]
pub trait NodeDirectory: Send + Sync {
    async fn state(&self) -> Result<ClusterState, StoreError>;
}

#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ClusterState {
    /// By the time of their start; also those that have gone lately.
    pub nodes: Vec<ServerNode>,
    /// Set while events are held back from those who follow the log.
    pub delay: Option<LogDelay>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServerNode {
    /// The instance id of the server.
    pub id: Uuid,
    /// What its machine is called.
    pub name: String,
    pub url: String,
    pub version: String,
    pub started_at: Timestamp,
    pub seen_at: Timestamp,
    pub is_alive: bool,
}

/// A transaction that is still open may yet add events before those that came later.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LogDelay {
    pub by: Duration,
    /// Whose transaction is open, where known.
    pub held_by: Option<DelayHolder>,
}

/// What has a transaction open in the database.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DelayHolder {
    /// A process of the database.
    Process(i32),
    /// Nobody: it was prepared under this name in this database.
    Prepared { name: String, database: String },
}

impl fmt::Display for LogDelay {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "stream delayed by {:.1} s", self.by.as_secs_f64())?;
        match &self.held_by {
            Some(DelayHolder::Process(pid)) => write!(f, ": transaction of pid {pid} is open"),
            Some(DelayHolder::Prepared { name, database }) => {
                write!(
                    f,
                    ": the prepared transaction `{name}` in the database `{database}` is open"
                )
            }
            None => write!(f, ": a transaction in the database is open"),
        }
    }
}

impl LogDelay {
    /// What ends the transaction.
    pub fn advice(&self) -> String {
        match &self.held_by {
            Some(DelayHolder::Process(pid)) => {
                format!("end that transaction: `select pg_terminate_backend({pid})`")
            }
            Some(DelayHolder::Prepared { name, database }) => format!(
                "end that transaction, in the database `{database}`: `rollback prepared '{0}'` or \
                 `commit prepared '{0}'`",
                name.replace('\'', "''")
            ),
            None => "find it in `pg_stat_activity` (the oldest `backend_xid`) or `pg_prepared_xacts`, and \
                     end it"
                .to_owned(),
        }
    }
}

impl ClusterState {
    pub(crate) fn documents(&self) -> Vec<NodeDocument> {
        let document = |it: &ServerNode| NodeDocument {
            id: it.id,
            name: it.name.clone(),
            url: it.url.clone(),
            version: it.version.clone(),
            started_at: it.started_at,
            seen_at: it.seen_at,
            is_alive: it.is_alive,
        };
        self.nodes.iter().map(document).collect()
    }

    pub(crate) fn delay_document(&self) -> Option<LogDelayDocument> {
        self.delay.as_ref().map(|it| LogDelayDocument {
            seconds: it.by.as_secs_f64(),
            pid: match it.held_by {
                Some(DelayHolder::Process(pid)) => Some(pid),
                Some(DelayHolder::Prepared { .. }) | None => None,
            },
            message: it.to_string(),
        })
    }

    /// A line for each node, behind the word whether this one is ready.
    pub(crate) fn lines(&self) -> String {
        let mut text = String::new();
        for ServerNode { name, url, version, is_alive, .. } in &self.nodes {
            let state = if *is_alive { "at work" } else { "not heard of" };
            let _ = writeln!(text, "node {name} {url} (Baton {version}): {state}");
        }
        text
    }

    pub(crate) fn metrics(&self, text: &mut String) {
        let n_alive = self.nodes.iter().filter(|it| it.is_alive).count();
        let delay = self.delay.as_ref().map_or(0.0, |it| it.by.as_secs_f64());
        for (name, help, value) in [
            ("baton_nodes", "Servers at work on this store.", n_alive.to_string()),
            (
                "baton_log_delay_seconds",
                "How long events are held back by a transaction that is open.",
                format!("{delay:.3}"),
            ),
        ] {
            let _ = writeln!(text, "# HELP {name} {help}\n# TYPE {name} gauge\n{name} {value}");
        }
        *text += "# HELP baton_node_up Whether a server is at work.\n# TYPE baton_node_up gauge\n";
        for ServerNode { id, name, url, version, is_alive, .. } in &self.nodes {
            let (name, url, version) = (label(name), label(url), label(version));
            let up = u8::from(*is_alive);
            let _ = writeln!(
                text,
                "baton_node_up{{id=\"{id}\",name=\"{name}\",url=\"{url}\",version=\"{version}\"}} {up}"
            );
        }
    }
}

/// A value as Prometheus reads it between quotes.
fn label(value: &str) -> String {
    value.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn state() -> ClusterState {
        let node = |n: u128, is_alive| ServerNode {
            id: Uuid::from_u128(n),
            name: format!("web-\"{n}\""),
            url: format!("http://127.0.0.1:418{n}"),
            version: "0.1.0".to_owned(),
            started_at: Timestamp::UNIX_EPOCH,
            seen_at: Timestamp::UNIX_EPOCH,
            is_alive,
        };
        let delay =
            LogDelay { by: Duration::from_millis(3200), held_by: Some(DelayHolder::Process(4711)) };
        ClusterState { nodes: vec![node(1, true), node(2, false)], delay: Some(delay) }
    }

    #[test]
    fn nodes_and_the_delay_are_metrics() {
        let mut text = String::new();
        state().metrics(&mut text);
        let series: Vec<&str> = text.lines().filter(|it| !it.starts_with('#')).collect();
        assert_eq!(
            series,
            [
                "baton_nodes 1",
                "baton_log_delay_seconds 3.200",
                r#"baton_node_up{id="00000000-0000-0000-0000-000000000001",name="web-\"1\"",url="http://127.0.0.1:4181",version="0.1.0"} 1"#,
                r#"baton_node_up{id="00000000-0000-0000-0000-000000000002",name="web-\"2\"",url="http://127.0.0.1:4182",version="0.1.0"} 0"#,
            ]
        );
    }

    #[test]
    fn a_delay_names_the_transaction() {
        let delay = state().delay_document().unwrap();
        assert_eq!(delay.message, "stream delayed by 3.2 s: transaction of pid 4711 is open");
        assert!(state().delay.unwrap().advice().contains("pg_terminate_backend(4711)"));
        let (name, database) = ("o'neill".to_owned(), "shop".to_owned());
        let held_by = Some(DelayHolder::Prepared { name, database });
        let prepared = LogDelay { by: Duration::from_secs(2), held_by };
        assert_eq!(
            prepared.to_string(),
            "stream delayed by 2.0 s: the prepared transaction `o'neill` in the database `shop` is open"
        );
        assert!(prepared.advice().contains("`rollback prepared 'o''neill'`"));
        let unknown = LogDelay { by: Duration::from_secs(2), held_by: None };
        assert_eq!(
            unknown.to_string(),
            "stream delayed by 2.0 s: a transaction in the database is open"
        );
    }
}
