//! The store on a real PostgreSQL: a schema for each test, in the cluster of the run.

#[cfg(test)]
mod conformance;
#[cfg(test)]
mod database;
#[cfg(test)]
mod deleted;
#[cfg(test)]
mod migrations;
#[cfg(test)]
mod moved_tables;
#[cfg(test)]
mod nodes;
#[cfg(test)]
mod pooler;
#[cfg(test)]
mod restart;
#[cfg(test)]
mod restored;
#[cfg(test)]
mod rights;
#[cfg(test)]
mod same_as_memory;
#[cfg(test)]
mod tail;
#[cfg(test)]
mod view;
