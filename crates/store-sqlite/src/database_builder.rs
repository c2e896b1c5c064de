//! Writes proven rows into a new database, each under its original number.

use baton_core::content::{Content, ContentId};
use baton_core::story::Story;
use baton_files::Dir;
use baton_store::{
    Definition, DueChange, HandoffRow, IdempotencyRecord, RunRow, StoreError, StoredEvent,
    TimerChange, TimerRow,
};
use jiff::Timestamp;
use rusqlite::{Connection, params};
use uuid::Uuid;

use crate::columns::{integer, nanoseconds};
use crate::error::{OpenError, to_open, to_store};
use crate::run_lists::RunList;
use crate::stories::PreparedStory;
use crate::{
    FILE, connect, contents, definitions, due, events, handoffs, idempotency, identity,
    lost_numbers, migrate, outbox, outlines, run_lists, runs, stories, timers,
};

/// Checkpoint after this many rows: a log of everything would double the space needed.
const ROWS_A_BATCH: u64 = 100_000;

/// A database under construction, useless until it is finished.
#[derive(Debug)]
pub struct DatabaseBuilder {
    connection: Connection,
    n_rows: u64,
}

/// A run, with everything that belongs to it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RecoveredRun {
    pub row: RunRow,
    pub events: Vec<StoredEvent>,
    pub handoffs: Vec<HandoffRow>,
    pub contents: Vec<Content>,
    pub timers: Vec<TimerRow>,
    /// Texts that its events name and that were not found.
    pub lost: Vec<ContentId>,
}

impl DatabaseBuilder {
    /// Creates a database in a folder that has none.
    pub fn begin(dir: &Dir) -> Result<Self, OpenError> {
        let path = dir.path().join(FILE);
        let mut connection = connect::writing(&path)?;
        migrate::migrate(&mut connection, &path, migrate::MIGRATIONS)?;
        outlines::bring_up_to_date(&mut connection, &path)?;
        connection.execute_batch("begin").map_err(to_open(&path))?;
        Ok(Self { connection, n_rows: 0 })
    }

    /// Sets the project, and makes the database newer than the one that `mark` was written for.
    pub fn belong_to(&mut self, project: Uuid, mark: u64) -> Result<(), StoreError> {
        identity::set_project(&self.connection, project)
            .and_then(|()| identity::raise_mark(&self.connection, mark.saturating_add(1)))
            .map_err(to_store)
    }

    pub fn put_definition(&mut self, definition: &Definition) -> Result<(), StoreError> {
        definitions::add(&self.connection, definition).map_err(to_store)?;
        self.count(1)
    }

    pub fn put_story(&mut self, story: &Story, created_at: Timestamp) -> Result<(), StoreError> {
        let now = nanoseconds(created_at)?;
        let story = PreparedStory::new(story, now);
        stories::add(&self.connection, &story, now).map_err(to_store)?;
        self.count(1)
    }

    pub fn put_answered(&mut self, answered: &IdempotencyRecord) -> Result<(), StoreError> {
        idempotency::add(&self.connection, answered, nanoseconds(answered.at)?)
            .map_err(to_store)?;
        self.count(1)
    }

    /// Its definition has been written already.
    pub fn put_run(&mut self, it: &RecoveredRun) -> Result<(), StoreError> {
        let run_number = integer(it.row.number);
        runs::put(&self.connection, &it.row)?;
        for content in &it.contents {
            contents::add(&self.connection, run_number, content).map_err(to_store)?;
        }
        for id in &it.lost {
            let sql = "insert into lost_texts (run_number, id) values (?1, ?2)";
            self.connection.execute(sql, params![run_number, id.0.0]).map_err(to_store)?;
        }
        for event in &it.events {
            events::put(&self.connection, run_number, event)?;
        }
        for handoff in &it.handoffs {
            handoffs::add(&self.connection, run_number, handoff)?;
        }
        for timer in &it.timers {
            let set = TimerChange::Set { no: timer.no, what: timer.what, due: timer.due };
            timers::change(&self.connection, it.row.run.id, run_number, &set)?;
        }
        if it.row.run.is_waiting() {
            run_lists::change(&self.connection, RunList::Waiting, run_number, true)
                .map_err(to_store)?;
        }
        if it.row.run.is_blocked() {
            run_lists::change(&self.connection, RunList::Blocked, run_number, true)
                .map_err(to_store)?;
        }
        if !it.row.run.is_finished() {
            // Due at once: the first look sets its real time.
            let at_once = DueChange::NoLaterThan(Timestamp::UNIX_EPOCH);
            due::change(&self.connection, it.row.run.id, run_number, at_once)?;
        }
        self.count(1 + (it.events.len() + it.handoffs.len() + it.contents.len()) as u64)
    }

    /// Adds an event to the outbox. The calls come in log order.
    pub fn put_promise(
        &mut self,
        run_number: u64,
        about: &str,
        at: Timestamp,
    ) -> Result<(), StoreError> {
        let at = nanoseconds(at)?;
        outbox::add(&self.connection, integer(run_number), about, at).map_err(to_store)?;
        self.count(1)
    }

    /// Makes new rows be numbered after everything that ever existed.
    pub fn go_on_after(
        &mut self,
        run_number: u64,
        handoff_number: u64,
        position: u64,
    ) -> Result<(), StoreError> {
        for (table, last) in
            [("runs", run_number), ("handoffs", handoff_number), ("events", position)]
        {
            // SQLite has no line for a table without rows yet.
            let sql = "insert into sqlite_sequence (name, seq)
                       select ?1, 0 where not exists (select 1 from sqlite_sequence where name = ?1)";
            self.connection.execute(sql, [table]).map_err(to_store)?;
            let sql = "update sqlite_sequence set seq = max(seq, ?2) where name = ?1";
            self.connection.execute(sql, params![table, integer(last)]).map_err(to_store)?;
        }
        Ok(())
    }

    pub fn finish(self) -> Result<(), StoreError> {
        lost_numbers::record(&self.connection).map_err(to_store)?;
        stories::name_newest_runs(&self.connection).map_err(to_store)?;
        self.settle()?;
        self.connection.close().map_err(|(_, error)| to_store(error))
    }

    fn count(&mut self, n_rows: u64) -> Result<(), StoreError> {
        self.n_rows += n_rows;
        if self.n_rows < ROWS_A_BATCH {
            return Ok(());
        }
        self.n_rows = 0;
        self.settle()?;
        self.connection.execute_batch("begin").map_err(to_store)
    }

    fn settle(&self) -> Result<(), StoreError> {
        let settle = || {
            self.connection.execute_batch("commit")?;
            self.connection.query_row("pragma wal_checkpoint(truncate)", [], |_| Ok(()))
        };
        settle().map_err(to_store)
    }
}
