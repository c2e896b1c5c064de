//! The encoding of events and of a run's state, and the hash chain over events.
//!
//! An event body is JSON with the version of the encoding first: `{"v":1,"type":...}`.

use std::borrow::Cow;

use baton_core::event::Event;
use baton_core::hash::Hash;
use baton_core::names::Principal;
use baton_core::run::{Run, RunId};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

const VERSION: u32 = 1;
/// The version prefix of every body.
const BEGINNING: &[u8] = b"{\"v\":1,";
/// A buffer size that nearly all bodies fit in.
const USUAL_EVENT: usize = 640;
const USUAL_RUN: usize = 2048;

#[derive(Debug, thiserror::Error)]
pub enum EventError {
    #[error("the encoding is of version {0}, which this Baton does not know; upgrade it")]
    UnknownVersion(u32),
    #[error("it is not what this Baton writes")]
    Malformed(#[source] serde_json::Error),
}

#[derive(Deserialize)]
struct Versioned {
    v: u32,
}

#[derive(Deserialize)]
struct EventHead<'a> {
    v: u32,
    #[serde(rename = "type", borrow)]
    name: Cow<'a, str>,
}

pub fn encode(event: &Event) -> String {
    write(event, USUAL_EVENT)
}

pub fn decode(body: &str) -> Result<Event, EventError> {
    let EventHead { v, name } = serde_json::from_str(body).map_err(EventError::Malformed)?;
    check_version(v)?;
    let mut body = serde_json::Deserializer::from_str(body);
    // The first pass has read to the end, so nothing but the event is in the body.
    Event::read(&name, &mut body).map_err(EventError::Malformed)
}

/// A run's state as a store keeps it beside the log, so that loading needs no replay.
pub fn encode_run(run: &Run) -> String {
    write(run, USUAL_RUN)
}

pub fn decode_run(body: &str) -> Result<Run, EventError> {
    let Versioned { v } = serde_json::from_str(body).map_err(EventError::Malformed)?;
    check_version(v)?;
    serde_json::from_str(body).map_err(EventError::Malformed)
}

/// The next link of a run's hash chain. It covers every part, each prefixed with its length, so
/// that nothing can be changed or moved from one field to the next without breaking the chain.
pub fn link(
    head: &Hash,
    run: RunId,
    version: u64,
    at: Timestamp,
    by: &Principal,
    body: &str,
) -> Hash {
    let mut digest = Sha256::new();
    digest.update(head.0);
    digest.update(run.0.as_bytes());
    digest.update(version.to_be_bytes());
    digest.update(at.as_nanosecond().to_be_bytes());
    for part in [by.as_str(), body] {
        digest.update((part.len() as u64).to_be_bytes());
        digest.update(part);
    }
    Hash(digest.finalize().into())
}

/// The version is written before the body's own members, by hand: serde's `flatten` takes three
/// times as long, and this is in the path of every command.
fn write<T: Serialize>(body: &T, capacity: usize) -> String {
    let mut text = Vec::with_capacity(capacity);
    text.extend_from_slice(BEGINNING);
    let start = text.len();
    if let Err(error) = serde_json::to_writer(&mut text, body) {
        unreachable!("our own types always encode: {error}");
    }
    // Skip the body's own brace: it is open already.
    text.remove(start);
    match String::from_utf8(text) {
        Ok(text) => text,
        Err(error) => unreachable!("JSON is UTF-8: {error}"),
    }
}

fn check_version(v: u32) -> Result<(), EventError> {
    if v == VERSION { Ok(()) } else { Err(EventError::UnknownVersion(v)) }
}
