//! Compares a log with the checkpoints that were signed over it.

use std::collections::BTreeMap;

use baton_core::hash::Hash;
use baton_core::plural::counted;
use baton_store::{Position, Store, StoreError};
use baton_wire::checkpoint::{
    Checkpoint, CheckpointError, LogLink, LogPrefix, LostTexts, PublicKey, SignedCheckpoint,
};

use super::log_links;
use crate::verify::readable;

/// How many checkpoints are read at once.
const PAGE: u32 = 500;

/// A checkpoint, and what it is called in a message.
#[derive(Debug, Clone)]
pub struct SignedPrefix {
    pub name: String,
    pub checkpoint: Checkpoint,
}

impl SignedPrefix {
    /// Reads a checkpoint that is kept elsewhere.
    pub fn read(name: String, printed: &str) -> Result<Self, CheckpointError> {
        let checkpoint = SignedCheckpoint::parse(printed)?.check()?;
        Ok(Self { name, checkpoint })
    }
}

/// What a log is compared with besides the checkpoints that are stored with it.
#[derive(Debug, Clone, Default)]
pub struct CheckpointTrust {
    /// Checkpoints that are kept elsewhere.
    pub elsewhere: Vec<SignedPrefix>,
    /// The key that every checkpoint must be signed by.
    pub key: Option<PublicKey>,
}

/// Walks a log, event by event, past the checkpoints that were signed over it.
#[derive(Debug)]
pub struct CheckpointWalk {
    log: LogPrefix,
    /// By the position that they cover up to.
    due: BTreeMap<u64, Vec<SignedPrefix>>,
    /// The last checkpoint that the log agreed with, and its position.
    agreed: Option<(String, u64)>,
    n_agreed: u64,
    problems: Vec<String>,
}

impl CheckpointWalk {
    pub fn new(checkpoints: impl IntoIterator<Item = SignedPrefix>) -> Self {
        let mut due: BTreeMap<u64, Vec<SignedPrefix>> = BTreeMap::new();
        for it in checkpoints {
            due.entry(it.checkpoint.log.position).or_default().push(it);
        }
        let log = LogPrefix::EMPTY;
        let mut walk = Self { log, due, agreed: None, n_agreed: 0, problems: Vec::new() };
        walk.compare(0);
        walk
    }

    /// The next event of the log.
    pub fn pass(&mut self, link: &LogLink) {
        // An event that a checkpoint ends with may be gone, and a later one there.
        self.compare_before(link.position);
        self.log = self.log.with(link);
        self.compare(link.position);
    }

    /// What does not agree, after the last event.
    pub fn end(mut self) -> (u64, Vec<String>) {
        for signed in std::mem::take(&mut self.due).into_values().flatten() {
            let n_missing = signed.checkpoint.log.n_events.saturating_sub(self.log.n_events);
            let (name, at) = (&signed.name, signed.checkpoint.at);
            let last = self.log.position;
            self.problems.push(format!(
                "{name}, signed at {at}, covers {} and the log has {}: {} at its end {} missing; \
                 the last one is at position {last}",
                counted(signed.checkpoint.log.n_events, "event"),
                self.log.n_events,
                counted(n_missing.max(1), "event"),
                if n_missing > 1 { "are" } else { "is" },
            ));
        }
        (self.n_agreed, self.problems)
    }

    fn compare_before(&mut self, position: u64) {
        let later = self.due.split_off(&position);
        for signed in std::mem::replace(&mut self.due, later).into_values().flatten() {
            self.disagree(&signed);
        }
    }

    fn compare(&mut self, position: u64) {
        for signed in self.due.remove(&position).into_iter().flatten() {
            if signed.checkpoint.log == self.log {
                self.n_agreed += 1;
                self.agreed = Some((signed.name, position));
            } else {
                self.disagree(&signed);
            }
        }
    }

    fn disagree(&mut self, signed: &SignedPrefix) {
        let until = signed.checkpoint.log.position;
        let (name, at) = (&signed.name, signed.checkpoint.at);
        let since = match &self.agreed {
            Some((name, position)) => format!("after position {position} ({name} still agrees)"),
            None => "from the beginning".to_owned(),
        };
        let (theirs, ours) = (signed.checkpoint.log, self.log);
        let counts = if theirs.n_events == ours.n_events {
            String::new()
        } else {
            let events = counted(theirs.n_events, "event");
            format!("; {events} were signed, and {} are there", ours.n_events)
        };
        self.problems.push(format!(
            "{name}, signed at {at}: the log {since} up to position {until} is not the one that was \
             signed{counts}"
        ));
    }
}

/// What the comparison of a store with its checkpoints found.
#[derive(Debug, Default)]
pub(crate) struct CheckpointCheck {
    pub(crate) n_checkpoints: u64,
    pub(crate) problems: Vec<String>,
}

/// Compares a store with the checkpoints in it, and with what is trusted besides. Returns how many
/// checkpoints are stored, and the problems.
pub async fn verify_checkpoints(
    store: &dyn Store,
    trust: &CheckpointTrust,
) -> Result<(u64, Vec<String>), StoreError> {
    let mut check = CheckpointCheck::default();
    let mut signed = stored(store, &mut check).await?;
    let identity = store.identity().await?;
    let last = signed.iter().map(|it| it.checkpoint.number).max().unwrap_or(0);
    for it in &trust.elsewhere {
        if it.checkpoint.project == identity.project {
            // A restored or recovered database begins another epoch.
            if it.checkpoint.epoch == identity.epoch && it.checkpoint.number > last {
                let (name, number) = (&it.name, it.checkpoint.number);
                check.problems.push(format!(
                    "{name} has number {number}, and the last checkpoint that is stored has {last}: some were \
                     taken out"
                ));
            }
            signed.push(it.clone());
        } else {
            let (name, theirs) = (&it.name, it.checkpoint.project);
            check.problems.push(format!(
                "{name} is of project {theirs}, and this one is {}",
                identity.project
            ));
        }
    }
    let lost = LostTexts::of(&store.losses().await?.texts);
    for it in &signed {
        check.problems.extend(other_losses(it, lost));
        if let Some(key) = trust.key
            && it.checkpoint.key != key
        {
            let theirs = it.checkpoint.key;
            check.problems.push(format!("{} is signed by another key, {theirs}", it.name));
        }
        let stories = it.checkpoint.n_story_links;
        let head = store.story_head(stories).await?;
        if (head.n_links, head.head) != (stories, it.checkpoint.story_head) {
            let (name, at) = (&it.name, it.checkpoint.at);
            check.problems.push(format!(
                "{name}, signed at {at}: the first {} of the story log are not those that were signed",
                counted(stories, "link")
            ));
        }
    }
    let mut walk = CheckpointWalk::new(signed);
    let mut after = Position::START;
    loop {
        let links = match readable(log_links(store, after).await)? {
            Ok(links) => links,
            Err(what) => {
                let problem = format!("the checkpoints cannot be compared with the log: {what}");
                check.problems.push(problem);
                return Ok((check.n_checkpoints, check.problems));
            }
        };
        let Some(last) = links.last() else { break };
        after = Position(last.position);
        links.iter().for_each(|it| walk.pass(it));
    }
    let (_, problems) = walk.end();
    check.problems.extend(problems);
    Ok((check.n_checkpoints, check.problems))
}

/// Texts are recorded as lost by a recovery alone, and a recovered database begins without checkpoints.
fn other_losses(signed: &SignedPrefix, lost: LostTexts) -> Option<String> {
    let theirs = signed.checkpoint.lost_texts.filter(|it| *it != lost)?;
    let (name, at) = (&signed.name, signed.checkpoint.at);
    Some(format!(
        "{name}, signed at {at}: the texts that are recorded as lost are not those that were signed ({} \
         then, {} now); unless `baton recover` has made this database since, they were taken out",
        theirs.n, lost.n
    ))
}

/// The checkpoints in a store: each is signed, and names the one before it.
async fn stored(
    store: &dyn Store,
    check: &mut CheckpointCheck,
) -> Result<Vec<SignedPrefix>, StoreError> {
    let mut signed = Vec::new();
    let (mut after, mut previous) = (0, Hash::ZERO);
    loop {
        let rows = match readable(store.checkpoints(after, PAGE).await)? {
            Ok(rows) => rows,
            Err(what) => {
                check.problems.push(format!("the checkpoints cannot be read: {what}"));
                return Ok(signed);
            }
        };
        let Some(last) = rows.last() else { return Ok(signed) };
        after = last.number;
        for row in &rows {
            check.n_checkpoints += 1;
            let name = format!("checkpoint {}", row.number);
            match row.signed.check() {
                Ok(checkpoint) => {
                    if checkpoint.number != row.number || checkpoint.previous != previous {
                        check.problems.push(format!("{name} does not follow the one before it"));
                    }
                    signed.push(SignedPrefix { name, checkpoint });
                }
                Err(error) => check.problems.push(format!("{name} is damaged: {error}")),
            }
            previous = row.signed.hash();
        }
    }
}
