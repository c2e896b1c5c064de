//! The same stories through graphile-worker, a job queue on PostgreSQL: for those who ask what a queue would
//! do. It has no rules, no history and no texts beside its jobs.

use std::path::Path;
use std::process::Command;
use std::time::Duration;

use anyhow::{Context as _, Result, ensure};
use baton_test_postgres::{Cluster, Durability};

use crate::crew;

const SCRIPT: &str = include_str!("queue.mjs");

/// Jobs per second, where the queue is installed in `folder`.
pub(super) fn measure(folder: &Path, stories: usize, lasting: Duration) -> Result<f64> {
    let cluster = Cluster::start(Durability::Synced)?;
    let script = folder.join("queue.mjs");
    std::fs::write(&script, SCRIPT)?;
    let output = Command::new("node")
        .arg(&script)
        .args([&cluster.url(), &stories.to_string(), &lasting.as_secs().to_string()])
        .arg(crew::PACKAGE)
        .current_dir(folder)
        .output()
        .context("start node")?;
    let said = String::from_utf8_lossy(&output.stdout);
    let complained = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success(), "graphile-worker ended with {}:\n{complained}", output.status);
    let rate = said.lines().last().and_then(|it| it.trim().parse().ok());
    rate.with_context(|| format!("no rate in:\n{said}{complained}"))
}
