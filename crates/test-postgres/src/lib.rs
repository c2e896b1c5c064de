//! A throw-away PostgreSQL for tests: a [`Cluster`] of its own, and in it a [`TestSchema`] for each test.
//!
//! The server is stopped and its folder removed when the process that started it is gone, also where
//! that was killed. Only the programs of PostgreSQL are used, so that this depends on no driver.
#![expect(clippy::disallowed_methods, reason = "it starts PostgreSQL, in folders of its own")]

mod cluster;
mod installation;
mod pooler;
mod schema;

pub use cluster::{Cluster, ClusterStop, Durability};
pub use installation::PostgresPrograms;
pub use pooler::Pooler;
pub use schema::{CLUSTER_VARIABLE, TestSchema};
