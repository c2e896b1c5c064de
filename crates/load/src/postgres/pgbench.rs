//! pgbench with the statements of a story: captured once from a server at work, run in a schema like
//! Baton's.

use std::path::Path;
use std::time::Duration;

use anyhow::{Context as _, Result, ensure};
use baton_test_postgres::{Cluster, Durability};

use super::capture::Capture;
use super::protocol::{SentStatement, SqlValue};
use super::script::{StoryNames, is_append, script};
use crate::http::connection::Connection;
use crate::http::tell_story;
use crate::nodes::process::NodeProcess;

/// Where the numbers of the captured story begin: no other number in it is like them.
const FIRST_RUN: u64 = 5_000_001;
const FIRST_HANDOFF: u64 = 7_000_001;
const STORY: &str = "captured-story";
/// As the sessions of a node have it.
const SESSION: &str = "-c plan_cache_mode=force_generic_plan";

pub(super) struct StoryScript {
    pub(super) text: String,
    pub(super) n_statements: usize,
    pub(super) n_appends: usize,
}

impl StoryScript {
    /// What a server sends to its database for one story, after another one has warmed it up.
    pub(super) async fn capture(program: &Path) -> Result<Self> {
        let cluster = Cluster::start(Durability::Unsynced)?;
        let capture = Capture::start(([127, 0, 0, 1], cluster.port()).into()).await?;
        let url = cluster.url_at(capture.address.port());
        let node = NodeProcess::start(program, url, 0).await?;
        let mut connection = Connection::open(&node.address().to_string()).await?;
        tell_story(&mut connection, "warm-up", &mut Vec::new()).await?;
        let last_run = FIRST_RUN - 1;
        cluster.sql(&format!("update counters set last = {last_run} where counted = 'runs'"))?;
        cluster.sql(&format!("alter table handoffs alter number restart with {FIRST_HANDOFF}"))?;
        capture.take();
        tell_story(&mut connection, STORY, &mut Vec::new()).await?;
        let sent = capture.take();
        Self::of(sent)
    }

    fn of(sent: Vec<SentStatement>) -> Result<Self> {
        let statements: Vec<_> = sent.into_iter().filter(is_of_story).collect();
        let names = names(&statements);
        let n_appends = statements.iter().filter(|it| is_append(it)).count();
        ensure!(n_appends > 0, "the server sent no append");
        let text = script(&statements, &names);
        Ok(Self { text, n_statements: statements.len(), n_appends })
    }

    /// Stories per second with so many clients, on the tables that a server has made.
    pub(super) fn run(&self, cluster: &Cluster, clients: usize, lasting: Duration) -> Result<f64> {
        let file = tempfile::Builder::new().prefix("story-").suffix(".sql").tempfile()?;
        std::fs::write(file.path(), &self.text)?;
        // The server's account reads it.
        let mode = std::os::unix::fs::PermissionsExt::from_mode(0o644);
        std::fs::set_permissions(file.path(), mode)?;
        let (clients, seconds) = (clients.to_string(), lasting.as_secs().to_string());
        let output = cluster
            .programs()
            .command("pgbench")
            .args(["--no-vacuum", "--protocol=prepared", "--jobs=2", "--client", &clients])
            .args(["--time", &seconds, "--file"])
            .arg(file.path())
            .arg(cluster.url())
            .env("PGOPTIONS", SESSION)
            .output()
            .context("start pgbench")?;
        let said = String::from_utf8_lossy(&output.stdout);
        let complained = String::from_utf8_lossy(&output.stderr);
        ensure!(output.status.success(), "pgbench ended with {}:\n{complained}", output.status);
        let line = said.lines().find_map(|it| it.strip_prefix("tps = "));
        let number = line.and_then(|it| it.split(' ').next());
        number.and_then(|it| it.parse().ok()).with_context(|| format!("no rate in:\n{said}"))
    }
}

/// Not what a server asks from time to time, whatever its clients do.
fn is_of_story(statement: &SentStatement) -> bool {
    if is_append(statement) {
        return true;
    }
    let sql = statement.sql.trim_start();
    let is_beside = [
        "pg_notify",
        "pg_snapshot",
        "clock_timestamp",
        "from timers",
        "from due",
        "nodes",
        "from cursors",
        "from identity",
    ]
    .iter()
    .any(|it| sql.contains(it));
    sql.starts_with("select") && !is_beside
}

fn names(statements: &[SentStatement]) -> StoryNames {
    let mut ids = Vec::new();
    let mut numbers = Vec::new();
    let mut next_handoff = FIRST_HANDOFF;
    for (n, statement) in statements.iter().enumerate().filter(|(_, it)| is_append(it)) {
        for value in &statement.params {
            collect_ids(value, &mut ids);
        }
        if statement.sql.contains("insert into runs") {
            numbers.push((FIRST_RUN, format!(":c{n}_number::bigint")));
        }
        if statement.sql.contains("insert into handoffs") {
            numbers.push((next_handoff, format!("(:c{n}_numbers::bigint[])[1]")));
            next_handoff += 1;
        }
    }
    StoryNames { key: STORY.to_owned(), ids, numbers }
}

fn collect_ids(value: &SqlValue, ids: &mut Vec<uuid::Uuid>) {
    match value {
        SqlValue::Uuid(id) if !ids.contains(id) => ids.push(*id),
        SqlValue::List(_, values) => values.iter().for_each(|it| collect_ids(it, ids)),
        SqlValue::Uuid(_)
        | SqlValue::Null(_)
        | SqlValue::Bool(_)
        | SqlValue::Integer(..)
        | SqlValue::Bytes(_)
        | SqlValue::Text(_) => {}
    }
}
