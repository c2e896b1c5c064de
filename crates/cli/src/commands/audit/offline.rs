//! Verifies an export of the log, without its database: the chain of each run, the order, and the
//! checkpoints.

use std::collections::HashMap;
use std::io::{BufRead as _, BufReader};

use baton_api::LoggedEvent;
use baton_core::hash::Hash;
use baton_core::names::Principal;
use baton_core::plural::counted;
use baton_core::run::RunId;
use baton_engine::{CheckpointTrust, CheckpointWalk, SignedPrefix};
use baton_wire::checkpoint::{LogLink, LogPrefix};
use baton_wire::event;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::failure::Failure;
use crate::named_file;

/// More problems would only repeat the first ones.
const MOST_PROBLEMS: usize = 50;

#[derive(Debug, Default)]
pub(super) struct VerifiedExport {
    pub(super) n_runs: u64,
    pub(super) n_events: u64,
    pub(super) n_checkpoints: u64,
    /// Events after the last checkpoint.
    pub(super) n_after: u64,
    /// Earlier versions wrote none.
    pub(super) has_header: bool,
    pub(super) problems: Vec<String>,
}

#[derive(Deserialize)]
struct CheckpointLine {
    checkpoint: String,
}

/// The first line of an export: how much there is.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct ExportHeader {
    version: u32,
    events: u64,
    position: u64,
    root: String,
}

impl ExportHeader {
    pub(super) fn of(log: &LogPrefix) -> Self {
        Self {
            version: 1,
            events: log.n_events,
            position: log.position,
            root: log.root.to_string(),
        }
    }
}

#[derive(Deserialize)]
struct HeaderLine {
    export: ExportHeader,
}

/// What stands in a line.
enum ExportLine {
    Header(ExportHeader),
    Checkpoint,
    Event(Box<(LoggedEvent, LogLink)>),
    Unknown,
}

impl ExportLine {
    fn read(line: &str) -> Self {
        if let Ok(HeaderLine { export }) = serde_json::from_str(line) {
            return Self::Header(export);
        }
        if serde_json::from_str::<CheckpointLine>(line).is_ok() {
            return Self::Checkpoint;
        }
        read(line).map_or(Self::Unknown, |it| Self::Event(Box::new(it)))
    }
}

/// The progress of one run.
#[derive(Default)]
struct RunChain {
    version: u64,
    head: Option<Hash>,
}

/// Reads the file twice: earlier versions wrote the checkpoints at its end. What is held is a head for each run.
pub(super) fn verify_export(
    path: &str,
    trust: &CheckpointTrust,
) -> Result<VerifiedExport, Failure> {
    let mut verified = VerifiedExport::default();
    let mut signed = trust.elsewhere.clone();
    for_each_line(path, |number, line| {
        if let Ok(CheckpointLine { checkpoint }) = serde_json::from_str(line) {
            let name = format!("the checkpoint in line {number}");
            match SignedPrefix::read(name, &checkpoint) {
                Ok(it) => signed.push(it),
                Err(error) => verified.problem(format!("line {number}: {error}")),
            }
        }
    })?;
    for it in &signed {
        if trust.key.is_some_and(|key| key != it.checkpoint.key) {
            let theirs = it.checkpoint.key;
            verified.problem(format!("{} is signed by another key, {theirs}", it.name));
        }
    }
    verified.n_checkpoints = signed.len() as u64;
    let covered = signed.iter().map(|it| it.checkpoint.log.position).max().unwrap_or(0);
    let mut walk = CheckpointWalk::new(signed);
    let mut chains: HashMap<RunId, RunChain> = HashMap::new();
    let mut last = 0;
    let (mut log, mut header) = (LogPrefix::EMPTY, None);
    for_each_line(path, |number, line| {
        let (logged, link) = match ExportLine::read(line) {
            ExportLine::Header(it) if number == 1 => return header = Some(it),
            ExportLine::Checkpoint => return,
            ExportLine::Event(it) => *it,
            ExportLine::Header(_) | ExportLine::Unknown => {
                verified.problem(format!("line {number} is no event and no checkpoint"));
                return;
            }
        };
        log = log.with(&link);
        verified.n_events += 1;
        verified.n_after += u64::from(logged.position > covered);
        if logged.position <= last {
            verified
                .problem(format!("line {number}: position {} is out of order", logged.position));
        }
        last = logged.position;
        let chain = chains.entry(link.run).or_default();
        if let Some(problem) = chain.problem(&logged, &link) {
            verified.problem(format!("line {number}: run {}: {problem}", logged.run_id));
        }
        walk.pass(&link);
    })?;
    verified.n_runs = chains.len() as u64;
    let (_, problems) = walk.end();
    problems.into_iter().for_each(|it| verified.problem(it));
    verified.has_header = header.is_some();
    match header {
        Some(header) => verified.compare(&header, &log),
        None if log.n_events == 0 => {
            verified.problem("the file has no event and no header: it is no export".to_owned());
        }
        None => {}
    }
    Ok(verified)
}

impl VerifiedExport {
    fn compare(&mut self, header: &ExportHeader, log: &LogPrefix) {
        if *header == ExportHeader::of(log) {
            return;
        }
        let events = counted(header.events, "event");
        self.problem(match log.n_events < header.events {
            true => format!(
                "the header tells of {events}, and the file has {}: it was cut short",
                log.n_events
            ),
            false => format!("the header tells of {events}, and not of those that are there"),
        });
    }

    fn problem(&mut self, what: String) {
        if self.problems.len() < MOST_PROBLEMS {
            self.problems.push(what);
        }
    }
}

impl RunChain {
    fn problem(&mut self, logged: &LoggedEvent, link: &LogLink) -> Option<String> {
        let version = self.version + 1;
        let head = self.head.unwrap_or(Hash::ZERO);
        self.version = link.version;
        self.head = Some(link.hash);
        if link.version != version {
            return Some(format!("event {version} is missing, {} stands there", link.version));
        }
        let Ok(by) = Principal::parse(&logged.by) else {
            return Some(format!("event {version} names nobody"));
        };
        let expected = event::link(&head, link.run, version, logged.at, &by, &logged.body);
        if expected != link.hash {
            return Some(format!("event {version} does not fit the chain"));
        }
        let is_named = event::decode(&logged.body).is_ok_and(|it| it.name() == logged.name);
        (!is_named).then(|| format!("event {version} is not what its name says"))
    }
}

/// An event with the members of an export and no others: nothing would cover them.
fn read(line: &str) -> Option<(LoggedEvent, LogLink)> {
    let members: serde_json::Map<String, Value> = serde_json::from_str(line).ok()?;
    let logged: LoggedEvent = serde_json::from_value(Value::Object(members.clone())).ok()?;
    let Value::Object(known) = serde_json::to_value(&logged).ok()? else { return None };
    if members.keys().any(|it| !known.contains_key(it)) {
        return None;
    }
    let link = link(&logged)?;
    Some((logged, link))
}

pub(super) fn link(logged: &LoggedEvent) -> Option<LogLink> {
    Some(LogLink {
        position: logged.position,
        run: RunId(logged.run_id),
        version: logged.version,
        name: logged.name.clone(),
        hash: Hash::parse(&logged.hash)?,
    })
}

fn for_each_line(path: &str, mut look: impl FnMut(usize, &str)) -> Result<(), Failure> {
    let file = BufReader::new(named_file::open(path)?);
    for (index, line) in file.lines().enumerate() {
        let line = line.map_err(|error| Failure::io(format!("read `{path}`"), error))?;
        if !line.trim().is_empty() {
            look(index + 1, &line);
        }
    }
    Ok(())
}
