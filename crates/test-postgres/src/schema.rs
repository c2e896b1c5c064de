//! A schema for one test, in the cluster of the whole run or of this process.

use std::hash::{BuildHasher as _, RandomState};
use std::sync::OnceLock;

use crate::cluster::{Cluster, Durability};
use crate::installation::PostgresPrograms;

/// Names the server for all tests of a run; `cargo xtask test` sets it.
pub const CLUSTER_VARIABLE: &str = "BATON_TEST_POSTGRES";

/// An empty schema that no other test uses, dropped with this.
#[derive(Debug)]
pub struct TestSchema {
    programs: PostgresPrograms,
    server: String,
    name: String,
}

impl TestSchema {
    /// Panics where there is no PostgreSQL, with what to install: a test that needs one fails then.
    pub fn fresh() -> Self {
        let programs = PostgresPrograms::find().unwrap_or_else(|error| panic!("{error:#}"));
        let name = format!("test_{:016x}", RandomState::new().hash_one(std::process::id()));
        let schema = Self { programs, server: server(), name };
        schema.on_server(&format!("create schema {}", schema.name));
        schema
    }

    /// The server, with this schema as the one that Baton uses.
    pub fn url(&self) -> String {
        format!("{}?schema={}", self.server, self.name)
    }

    /// The server alone.
    pub fn server_url(&self) -> &str {
        &self.server
    }

    pub fn name(&self) -> &str {
        &self.name
    }

    /// Runs SQL in this schema, and returns the rows: values with `|` between them.
    pub fn sql(&self, sql: &str) -> String {
        self.on_server(&format!("set search_path = {}; {sql}", self.name))
    }

    fn on_server(&self, sql: &str) -> String {
        self.programs.sql(&self.server, sql).unwrap_or_else(|error| panic!("{error:#}"))
    }
}

impl Drop for TestSchema {
    fn drop(&mut self) {
        // A store that is still open must not hold this up: the schema goes with the cluster anyway.
        let sql = format!(
            "set client_min_messages = error; set lock_timeout = '1s'; drop schema {} cascade",
            self.name
        );
        let _ = self.programs.sql(&self.server, &sql);
    }
}

/// The server of the run, else one of this process, which ends with it.
fn server() -> String {
    static OWN: OnceLock<Cluster> = OnceLock::new();
    match std::env::var(CLUSTER_VARIABLE) {
        Ok(url) => url,
        Err(_) => {
            let start = || Cluster::start(Durability::Unsynced);
            OWN.get_or_init(|| start().unwrap_or_else(|error| panic!("{error:#}"))).url()
        }
    }
}
