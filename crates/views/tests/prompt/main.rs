//! What agents are told, through the engine's public face.

#[cfg(test)]
mod budget;
#[cfg(test)]
mod builtins;
#[cfg(test)]
#[path = "../../../wire/tests/skeletons/dice.rs"]
mod dice;
#[cfg(test)]
mod documents;
#[cfg(test)]
mod golden;
#[cfg(test)]
mod history;
#[cfg(test)]
mod hostile;
#[cfg(test)]
#[path = "../../../wire/tests/skeletons/marks.rs"]
mod marks;
#[cfg(test)]
mod read;
#[cfg(test)]
mod refusals;
#[cfg(test)]
mod shared;
mod whole;
#[cfg(test)]
mod world;
