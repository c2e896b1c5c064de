//! The engine through its public face, over every store.
#![expect(clippy::disallowed_methods, reason = "tests make and read files of their own")]

#[cfg(test)]
mod act;
#[cfg(test)]
mod archive;
mod clock;
#[cfg(test)]
mod completion;
#[cfg(test)]
mod coverage;
#[cfg(test)]
mod cycle_walks;
#[cfg(test)]
mod engine;
#[cfg(test)]
mod feed;
#[cfg(test)]
mod flows;
#[cfg(test)]
mod gate_walks;
#[cfg(test)]
mod gates;
#[cfg(test)]
mod hostile;
#[cfg(test)]
mod lease_races;
#[cfg(test)]
mod leases;
#[cfg(test)]
mod model;
#[cfg(test)]
mod nodes;
#[cfg(test)]
mod performs;
#[cfg(test)]
mod properties;
#[cfg(test)]
mod races;
#[cfg(test)]
mod random;
#[cfg(test)]
mod receive;
#[cfg(test)]
mod repeats;
#[cfg(test)]
mod retention;
#[cfg(test)]
mod rows;
#[cfg(test)]
mod rules;
#[cfg(test)]
mod stories;
#[cfg(test)]
mod sweeps;
#[cfg(test)]
mod verify;
#[cfg(test)]
mod world;
