//! Salvaged rows whose own place does not fit, until their true place is proven.

use baton_core::hash::Hash;
use baton_core::run::{HandoffId, HandoffNo, RunId};
use baton_store::{Position, StoreResult};
use rusqlite::params;

use crate::columns::{integer, number};
use crate::error::to_store;
use crate::salvage_database::{HeldEvent, SalvageDatabase, held_event};

impl SalvageDatabase {
    /// Records that an event does not continue the chain where it was found.
    pub fn note_stray(&self, run_number: u64, held: &HeldEvent) -> StoreResult<()> {
        let (row, it) = (integer(held.row), &held.event);
        let version = integer(it.version.0);
        let sql = "insert or ignore into strays values (?1, ?2, ?3, ?4)";
        let params = params![row, integer(run_number), version, integer(it.position.0)];
        self.execute(sql, params).map_err(to_store)
    }

    /// Strays that claim this run, at any version.
    pub fn strays_of_run(&self, run_number: u64, most: u32) -> StoreResult<Vec<HeldEvent>> {
        let sql = "select events.rowid as row_number, events.* from strays
                   join events on events.rowid = strays.event
                   where strays.run_number = ?1 order by strays.position limit ?2";
        self.rows(sql, params![integer(run_number), most], held_event)
    }

    /// Strays that claim this version of any run, from a position on.
    pub fn strays_with_version(
        &self,
        version: u64,
        after: Position,
        most: u32,
    ) -> StoreResult<Vec<HeldEvent>> {
        let sql = "select events.rowid as row_number, events.* from strays
                   join events on events.rowid = strays.event
                   where strays.version = ?1 and strays.position > ?2
                   order by strays.position limit ?3";
        self.rows(sql, params![integer(version), integer(after.0), most], held_event)
    }

    /// Moves an event to its proven place, with its proven hash.
    pub fn place_event(
        &self,
        row: u64,
        run_number: u64,
        version: u64,
        hash: Hash,
    ) -> StoreResult<()> {
        let place = || {
            self.execute(
                "update or replace events set run_number = ?2, version = ?3, hash = ?4
                 where rowid = ?1",
                params![integer(row), integer(run_number), integer(version), hash.0],
            )?;
            self.execute("insert or ignore into run_numbers values (?1)", [integer(run_number)])?;
            self.execute("delete from strays where event = ?1", [integer(row)])
        };
        place().map_err(to_store)
    }

    /// Drops strays that duplicate a proven event, with some other column damaged.
    pub fn drop_doubled_strays(&self) -> StoreResult<()> {
        let n_strays = self.rows("select count(*) as n from strays", [], |row| number(row, "n"))?;
        if n_strays == [0] {
            return Ok(());
        }
        let drop_them = || {
            self.execute("create index if not exists events_by_hash on events (hash)", [])?;
            self.execute(
                "delete from events where rowid in (
                     select stray.rowid from strays join events as stray
                         on stray.rowid = strays.event
                     where exists (
                         select 1 from events as it
                         where it.hash = stray.hash and it.body = stray.body
                             and it.happened_at = stray.happened_at and it.done_by = stray.done_by
                             and it.rowid not in (select event from strays)
                     ) or exists (
                         select 1 from events as it
                         where it.run_number = stray.run_number and it.version = stray.version
                             and it.body = stray.body and it.happened_at = stray.happened_at
                             and it.done_by = stray.done_by
                             and it.rowid not in (select event from strays)
                     )
                 )",
                [],
            )?;
            // A number with no rows left was never a run's.
            self.execute(
                "delete from run_numbers where not exists (
                     select 1 from events where events.run_number = run_numbers.run_number
                 )",
                [],
            )
        };
        drop_them().map_err(to_store)
    }

    /// The numbers under which rows of the run with this id were found.
    pub fn numbers_of_run(&self, id: RunId) -> StoreResult<Vec<u64>> {
        let sql = "select distinct number as n from runs where id = ?1";
        self.rows(sql, [id.0.as_bytes()], |row| number(row, "n"))
    }

    /// Moves the rows of a run to the number that its events have.
    pub fn renumber_run(&self, id: RunId, from: u64, to: u64) -> StoreResult<()> {
        let sql = "update or replace runs set number = ?3 where id = ?1 and number = ?2";
        self.execute(sql, params![id.0.as_bytes(), integer(from), integer(to)]).map_err(to_store)
    }

    /// Moves the rows of a handoff to the run and number that an event proves.
    pub fn place_handoff(&self, id: HandoffId, run_number: u64, no: HandoffNo) -> StoreResult<()> {
        let sql = "update or replace handoffs set run_number = ?2, no = ?3
                   where id = ?1 and (run_number <> ?2 or no <> ?3)";
        self.execute(sql, params![id.0.as_bytes(), integer(run_number), no.0]).map_err(to_store)
    }
}
