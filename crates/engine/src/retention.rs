//! Retention: the messages of runs that ended long ago are dropped, and an event of each run says so.
//! Only what `[retention]` of the project names is dropped, and nothing of an open run.

use std::sync::Arc;
use std::time::Duration;

use baton_core::content::ContentId;
use baton_core::decide::{ExpiredMessages, expire};
use baton_core::event::{ContentEvent, Event, expiring_text};
use baton_core::names::StoryKey;
use baton_core::run::{RunId, RunStatus};
use baton_store::{EventFilter, Position, RunFilter, RunRow};
use baton_wire::event;
use jiff::SignedDuration;
use tokio::sync::watch;

use crate::{BackgroundTask, Caller, CommandMode, Engine, EngineError, jitter};

/// How many runs are looked at together.
const PAGE: u32 = 100;
/// How many events of a run are looked at for one append, so that no command waits long behind it.
const EVENTS: u32 = 1000;
/// How often a server looks.
const EVERY: Duration = Duration::from_secs(3600);
const SOON: Duration = Duration::from_millis(50);

/// What was dropped of one run, or would be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RetainedRun {
    pub number: u64,
    pub id: RunId,
    pub story: StoryKey,
    pub n_messages: u64,
}

/// What one pass did, and where the next one begins.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct RetentionPass {
    /// Runs of which something was dropped, or would be.
    pub runs: Vec<RetainedRun>,
    /// The number of the last run that was looked at; `None` once there are no more.
    pub next: Option<u64>,
    /// Every run up to this number has nothing left to drop, now and later.
    done_to: u64,
}

impl Engine {
    /// Drops the messages of runs that ended longer than `kept` ago, for some of the runs after
    /// `after`. For a caller that rehearses, only counts.
    pub async fn retain(
        &self,
        caller: &Caller,
        kept: SignedDuration,
        after: u64,
    ) -> Result<RetentionPass, EngineError> {
        let now = self.clock.now();
        let filter = RunFilter { after, limit: PAGE, ..RunFilter::default() };
        let rows = self.store.runs(&filter).await?;
        let mut pass = RetentionPass { done_to: after, ..RetentionPass::default() };
        let mut is_prefix = true;
        for row in &rows {
            let is_over = matches!(row.run.status, RunStatus::Completed | RunStatus::Cancelled);
            let is_due = is_over && now.duration_since(row.run.moved_at) > kept;
            is_prefix &= is_due;
            if is_due {
                let n_messages = self.retain_run(caller, row, kept).await?;
                let (number, id, story) = (row.number, row.run.id, row.run.story.clone());
                if n_messages > 0 {
                    pass.runs.push(RetainedRun { number, id, story, n_messages });
                }
            }
            if is_prefix {
                pass.done_to = row.number;
            }
        }
        let is_full = rows.len() >= PAGE as usize;
        pass.next = rows.last().map(|it| it.number).filter(|_| is_full);
        Ok(pass)
    }

    async fn retain_run(
        &self,
        caller: &Caller,
        row: &RunRow,
        kept: SignedDuration,
    ) -> Result<u64, EngineError> {
        if self.is_retained(row).await? {
            return Ok(0);
        }
        let run = row.run.id;
        let _lock = self.lock_texts(run).await?;
        // Another node may have been faster.
        if self.is_shared() && self.is_retained(row).await? {
            return Ok(0);
        }
        let mut n_messages = 0;
        let mut after = Position::START;
        loop {
            let filter = EventFilter { after, run: Some(run), limit: EVENTS };
            let events = self.store.events(&filter).await?;
            let Some(last) = events.last() else { return Ok(n_messages) };
            after = last.position;
            let texts =
                events.iter().filter_map(|it| expiring_text(&event::decode(&it.body).ok()?));
            let texts = self.redactable(run, &texts.collect::<Vec<ContentId>>()).await?;
            let messages = ExpiredMessages { up_to: last.version.0, texts, kept };
            if messages.texts.is_empty() {
                continue;
            }
            n_messages += messages.texts.len() as u64;
            if caller.mode == CommandMode::DryRun {
                continue;
            }
            self.carry_out(caller, run, |loaded, ground| {
                Ok(expire(&loaded.run, &messages, ground))
            })
            .await?;
            self.cache.forget_texts(&messages.texts);
        }
    }

    /// True where the newest event of a run says that all messages before it are dropped: most runs
    /// need not be read again.
    async fn is_retained(&self, row: &RunRow) -> Result<bool, EngineError> {
        let newest = self.store.events_before(row.run.id, Position(u64::MAX >> 1), 1).await?;
        let Some(newest) = newest.first() else { return Ok(true) };
        let event = event::decode(&newest.body).ok();
        let Some(Event::Content(ContentEvent::Expired { up_to, .. })) = event else {
            return Ok(false);
        };
        Ok(up_to + 1 == newest.version.0)
    }
}

/// Drops what is due while a server runs. Holds to what the project's file says at the time.
pub struct RetentionKeeper;

impl RetentionKeeper {
    pub fn start(engine: Arc<Engine>) -> BackgroundTask {
        BackgroundTask::start(|stopped| keep(engine, stopped))
    }
}

async fn keep(engine: Arc<Engine>, mut stopped: watch::Receiver<bool>) {
    let caller = Caller::of_baton("baton:retention");
    // Runs up to here have nothing left to drop.
    let mut done_to = 0;
    let mut after = 0;
    // Nodes that start together do not look together.
    let every = || if engine.is_shared() { jitter::around(EVERY, engine.clock()) } else { EVERY };
    let mut wait = SOON;
    loop {
        tokio::select! {
            _ = stopped.wait_for(|it| *it) => return,
            () = tokio::time::sleep(wait) => {}
        }
        wait = every();
        let Some(kept) = engine.catalog().project().retention.messages else { continue };
        match engine.retain(&caller, kept, after).await {
            Ok(pass) => {
                if after == done_to {
                    done_to = pass.done_to;
                }
                wait = if pass.next.is_some() { SOON } else { every() };
                after = pass.next.unwrap_or(done_to);
            }
            Err(EngineError::Closing) => return,
            Err(error) => {
                let error: &(dyn std::error::Error + 'static) = &error;
                tracing::warn!(
                    error,
                    "old messages could not be dropped; the next try is in an hour"
                );
                after = done_to;
            }
        }
    }
}
