//! The engine through its public face, over every store.

#[cfg(test)]
mod engine;
#[cfg(test)]
mod feed;
#[cfg(test)]
mod flows;
#[cfg(test)]
mod hostile;
#[cfg(test)]
mod races;
#[cfg(test)]
mod repeats;
#[cfg(test)]
mod rules;
#[cfg(test)]
mod stories;
#[cfg(test)]
mod sweeps;
#[cfg(test)]
mod world;
