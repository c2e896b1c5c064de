//! The engine through its public face, over every store.

#[cfg(test)]
mod flows;
#[cfg(test)]
mod rules;
#[cfg(test)]
mod world;
