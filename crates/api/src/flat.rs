//! Reads several documents that serde's `flatten` wrote into one object.
//!
//! With `flatten`, serde first reads such an object into a tree of its own, and a package in it
//! would lose its sender's exact text. So the object is kept whole, and each part is read from it.

use serde::de::{DeserializeOwned, Error};
use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;

pub(crate) fn whole<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Box<RawValue>, D::Error> {
    Box::<RawValue>::deserialize(deserializer)
}

pub(crate) fn part<T: DeserializeOwned, E: Error>(raw: &RawValue) -> Result<T, E> {
    serde_json::from_str(raw.get()).map_err(E::custom)
}
