//! One PostgreSQL for a whole run of the tests: installed where that is possible, started on a free
//! loopback port, and removed with everything in it.

use std::path::Path;

use anyhow::{Context, Result};
use baton_test_postgres::{CLUSTER_VARIABLE, Cluster, Durability, PostgresPrograms};

use crate::debian;

const PACKAGES: [&str; 3] = ["postgresql", "pgbouncer", "libfaketime"];
/// Beside PostgreSQL: a pooler, and a clock that a test can set.
const POOLER: &str = "/usr/sbin/pgbouncer";
const CLOCKS: [&str; 2] = [
    "/usr/lib/x86_64-linux-gnu/faketime/libfaketime.so.1",
    "/usr/lib/aarch64-linux-gnu/faketime/libfaketime.so.1",
];

/// Installs what is missing, as root or in CI; otherwise the tests say what to install.
pub(crate) fn ensure_installed() -> Result<()> {
    let has_clock = CLOCKS.iter().any(|it| Path::new(it).is_file());
    let is_complete = PostgresPrograms::find().is_ok() && Path::new(POOLER).is_file() && has_clock;
    if is_complete || !debian::may_install() {
        return Ok(());
    }
    eprintln!("installing {}", PACKAGES.join(", "));
    debian::install(&PACKAGES)
}

/// The server of a run. What a test commits need not survive the loss of power.
pub(crate) fn start() -> Result<Cluster> {
    Cluster::start(Durability::Unsynced).context("the tests need a PostgreSQL")
}

/// What tells the tests about it.
pub(crate) fn variable(cluster: &Cluster) -> (&'static str, String) {
    (CLUSTER_VARIABLE, cluster.url())
}
