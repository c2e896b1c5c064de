//! Checkpoints: signing what the log is, and comparing the log with what was signed.

mod keeper;
mod walk;

use std::sync::Arc;

use baton_core::hash::Hash;
use baton_store::{CheckpointRow, Position, Store, StoreError};
use baton_wire::checkpoint::{Checkpoint, CheckpointKey, LogLink, LogPrefix, LostTexts};
use jiff::Timestamp;

pub use self::keeper::{CheckpointEvery, CheckpointKeeper};
pub use self::walk::{CheckpointTrust, CheckpointWalk, SignedPrefix, verify_checkpoints};
use crate::{Engine, EngineError};

/// How many events are read at once.
const PAGE: u32 = 2000;
/// How often another process may be faster with a checkpoint of the same number.
const MOST_TRIES: usize = 10;

/// Where the key is kept. It is made on first use; this may block.
pub trait CheckpointKeys: Send + Sync {
    fn key(&self) -> Result<CheckpointKey, StoreError>;
}

impl Engine {
    /// With a key to sign checkpoints.
    #[must_use]
    pub fn with_checkpoint_keys(self, keys: Arc<dyn CheckpointKeys>) -> Self {
        Self { checkpoint_keys: Some(keys), ..self }
    }

    /// Signs what the log is now; where nothing has changed since the last checkpoint, that one is
    /// returned.
    pub async fn checkpoint(&self) -> Result<CheckpointRow, EngineError> {
        let _admitted = self.admit().await?;
        let Some(keys) = &self.checkpoint_keys else {
            return Err(
                StoreError::Unavailable("this process has no key to sign with".into()).into()
            );
        };
        let key = keys.key()?;
        Ok(sign_checkpoint(self.store.as_ref(), &key, self.clock.now()).await?)
    }

    /// Up to where the newest checkpoint covers the log.
    async fn signed_position(&self) -> Result<Option<Position>, EngineError> {
        let last = self.store.last_checkpoint().await?;
        let checked = last.and_then(|it| it.signed.check().ok());
        Ok(checked.map(|it| Position(it.log.position)))
    }
}

/// Signs what the log of a store is now, and stores that.
pub async fn sign_checkpoint(
    store: &dyn Store,
    key: &CheckpointKey,
    now: Timestamp,
) -> Result<CheckpointRow, StoreError> {
    for _ in 0..MOST_TRIES {
        let last = store.last_checkpoint().await?;
        let before = last.as_ref().and_then(|it| Some((it, it.signed.check().ok()?)));
        let identity = store.identity().await?;
        // A checkpoint that cannot be read is no reason to sign nothing: the log is read anew.
        let known = before.as_ref().filter(|(_, it)| it.epoch == identity.epoch);
        let start = known.map_or(LogPrefix::EMPTY, |(_, it)| it.log);
        let log = extend(store, start).await?;
        let stories = store.story_head(u64::MAX).await?;
        let lost_texts = Some(LostTexts::of(&store.losses().await?.texts));
        if let Some((row, before)) = known
            && before.log == log
            && before.n_story_links == stories.n_links
            && before.lost_texts == lost_texts
            && before.key == key.public()
        {
            return Ok((*row).clone());
        }
        let checkpoint = Checkpoint {
            project: identity.project,
            epoch: identity.epoch,
            number: last.as_ref().map_or(1, |it| it.number + 1),
            at: now,
            log,
            n_story_links: stories.n_links,
            story_head: stories.head,
            lost_texts,
            previous: last.as_ref().map_or(Hash::ZERO, |it| it.signed.hash()),
            key: key.public(),
        };
        let row = CheckpointRow { number: checkpoint.number, signed: key.sign(&checkpoint) };
        if store.add_checkpoint(&row).await? {
            return Ok(row);
        }
    }
    Err(StoreError::Unavailable("another process signs checkpoints all the time".into()))
}

/// The prefix of the log up to its present end.
async fn extend(store: &dyn Store, mut log: LogPrefix) -> Result<LogPrefix, StoreError> {
    loop {
        let links = log_links(store, Position(log.position)).await?;
        for link in &links {
            log = log.with(link);
        }
        if links.len() < PAGE as usize {
            return Ok(log);
        }
    }
}

async fn log_links(store: &dyn Store, after: Position) -> Result<Vec<LogLink>, StoreError> {
    store.log_links(after, PAGE).await
}
