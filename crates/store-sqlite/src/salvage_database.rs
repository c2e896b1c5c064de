//! Holds salvaged rows until they are proven: in a database of its own, because they may exceed
//! memory, and most are found many times.

use std::collections::BTreeMap;

use baton_core::content::ContentId;
use baton_core::hash::Hash;
use baton_core::names::{Principal, StoryKey};
use baton_core::run::{HandoffId, HandoffNo, RunId};
use baton_core::story::Story;
use baton_files::Dir;
use baton_store::{Definition, IdempotencyRecord, Position, StoreResult, Version};
use jiff::Timestamp;
use rusqlite::{Connection, Row, params};
use sha2::{Digest as _, Sha256};
use uuid::Uuid;

use crate::columns::{hash, integer, list_text, nearest_nanoseconds, number, parsed, time};
use crate::error::{OpenError, to_open, to_store};
use crate::salvage::{PackageClaim, SalvagedEvent, SalvagedRow, SalvagedText, Trust};
use crate::{connect, definitions, idempotency, stories, story_log};

/// At most this many times the found numbers may be lost, where numbers have no gap.
const MOST_LOST: u64 = 16;
/// A small sample says little about the total.
const FEW: u64 = 100_000;

const SCRATCH_FILE: &str = "salvage.db";

/// Rows are keyed by the numbers they were found with. A number may occur with rows of two runs,
/// where one of the sources is of another time.
const TABLES: &str = "
create table events (
    run_number integer not null, version integer not null, digest blob not null,
    position integer not null, happened_at integer not null, done_by text not null,
    hash blob not null, body text not null, is_committed integer not null,
    rank integer not null,
    primary key (run_number, version, digest)
);
create index events_by_position on events (position);
create table run_numbers (run_number integer primary key);
create table contents (id blob primary key, nonce blob not null, text text not null);
create table package_claims (
    id blob not null, format blob not null, hash blob not null, primary key (id, format, hash)
);
create table runs (
    number integer not null, id blob not null, version integer not null, head blob not null,
    is_committed integer not null, primary key (number, id, version)
);
create index runs_by_id on runs (id);
create table strays (event integer primary key, run_number integer not null, version integer not null,
    position integer not null);
create index strays_by_run on strays (run_number, position);
create index strays_by_version on strays (version, position);
create table numbered (id blob not null, number integer not null, primary key (id, number));
create index numbered_by_number on numbered (number);
create table handoffs (
    run_number integer not null, no integer not null, id blob not null, number integer not null,
    primary key (run_number, no, id, number)
);
create index handoffs_by_id on handoffs (id);
create table definitions (hash blob not null, name text not null, text text not null, primary key (hash, text));
create table stories (
    key text primary key, trust integer not null, title text, description text, acceptance text,
    depends_on text, priority integer, branch text, pr_url text, created_at integer
);
create table story_rows (number integer primary key);
create table story_log (
    number integer not null, key text not null, written_at integer not null, digest blob not null,
    hash blob not null, primary key (number, key, written_at, digest, hash)
);
create table answered (
    scope text, key text, trust integer not null, request blob, answered_at integer, answer text,
    primary key (scope, key)
);
create table identities (project blob primary key, mark integer not null);
";

#[derive(Debug)]
pub struct SalvageDatabase {
    connection: Connection,
    /// The highest number that a run, a handoff or an event can have.
    most_number: u64,
}

/// How far a run had come, by one of its rows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunClue {
    pub id: RunId,
    pub version: Version,
    pub head: Hash,
    pub is_committed: bool,
}

/// A found event, and whether it was in a committed place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HeldEvent {
    /// The row that holds it.
    pub row: u64,
    pub event: SalvagedEvent,
    pub is_committed: bool,
}

impl SalvageDatabase {
    /// Creates an empty one in a temporary folder.
    pub fn make(dir: &Dir) -> Result<Self, OpenError> {
        let path = dir.path().join(SCRATCH_FILE);
        let connection = connect::scratch(&path)?;
        connection.execute_batch(TABLES).map_err(to_open(&path))?;
        connection.execute_batch("begin").map_err(to_open(&path))?;
        Ok(Self { connection, most_number: u64::MAX })
    }

    pub fn put(&mut self, row: &SalvagedRow, trust: Trust) -> StoreResult<()> {
        self.try_put(row, trust).map_err(to_store)
    }

    fn try_put(&self, row: &SalvagedRow, trust: Trust) -> rusqlite::Result<()> {
        match row {
            SalvagedRow::Event { run_number, event } => self.put_event(*run_number, event, trust),
            SalvagedRow::Content(text) => self.put_text(text),
            SalvagedRow::Run { number, id, version, head } => self.execute(
                "insert into runs values (?1, ?2, ?3, ?4, ?5) on conflict (number, id, version)
                 do update set is_committed = max(is_committed, excluded.is_committed)",
                params![
                    integer(*number),
                    id.0.as_bytes(),
                    integer(version.0),
                    head.0,
                    trust.is_committed()
                ],
            ),
            SalvagedRow::Handoff { number, id, run_number, no } => {
                let sql = "insert or ignore into handoffs values (?1, ?2, ?3, ?4)";
                let params = params![integer(*run_number), no.0, id.0.as_bytes(), integer(*number)];
                self.execute(sql, params)
            }
            SalvagedRow::Numbered { id, number } => self.execute(
                "insert or ignore into numbered values (?1, ?2)",
                params![id.as_bytes(), integer(*number)],
            ),
            SalvagedRow::Definition(Definition { hash, name, text }) => self.execute(
                "insert or ignore into definitions values (?1, ?2, ?3)",
                params![hash.0, name.as_str(), text],
            ),
            SalvagedRow::Story { rowid, story, created_at } => {
                if let Some(rowid) = rowid.filter(|_| trust.is_committed()) {
                    let sql = "insert or ignore into story_rows values (?1)";
                    self.execute(sql, [integer(rowid)])?;
                }
                self.put_story(story, *created_at, trust)
            }
            SalvagedRow::StoryVersion { number, key, written_at, digest, hash } => self.execute(
                "insert or ignore into story_log values (?1, ?2, ?3, ?4, ?5)",
                params![integer(*number), key.as_str(), written_at, digest, hash],
            ),
            SalvagedRow::Answered(answered) => self.execute(
                "insert into answered values (?1, ?2, ?3, ?4, ?5, ?6)
                 on conflict (scope, key) do update set trust = excluded.trust,
                     request = excluded.request, answered_at = excluded.answered_at,
                     answer = excluded.answer
                 where excluded.trust > trust",
                params![
                    answered.scope,
                    answered.key,
                    trust.rank(),
                    answered.request.0,
                    nearest_nanoseconds(answered.at),
                    answered.answer
                ],
            ),
            SalvagedRow::Identity { project, mark } => self.execute(
                "insert into identities values (?1, ?2)
                 on conflict (project) do update set mark = max(mark, excluded.mark)",
                params![project.as_bytes(), mark],
            ),
        }
    }

    fn put_text(&self, it: &SalvagedText) -> rusqlite::Result<()> {
        let sql = "insert or ignore into contents values (?1, ?2, ?3)";
        self.execute(sql, params![it.id.0.0, it.nonce, it.text])?;
        let Some(PackageClaim { format, hash }) = &it.claim else { return Ok(()) };
        let hash = hash.as_ref().map_or(&[][..], |it| &it.0);
        let sql = "insert or ignore into package_claims values (?1, ?2, ?3)";
        self.execute(sql, params![it.id.0.0, format, hash])
    }

    fn put_event(&self, run_number: u64, it: &SalvagedEvent, trust: Trust) -> rusqlite::Result<()> {
        let mut digest = Sha256::new();
        digest.update(it.position.0.to_be_bytes());
        digest.update(it.at.as_nanosecond().to_be_bytes());
        digest.update(it.hash.0);
        digest.update(it.by.as_str());
        digest.update([0]);
        digest.update(&it.body);
        let digest: [u8; 32] = digest.finalize().into();
        let sql = "insert into events values (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)
                   on conflict (run_number, version, digest)
                   do update set is_committed = max(is_committed, excluded.is_committed),
                   rank = max(rank, excluded.rank)";
        self.execute(
            sql,
            params![
                integer(run_number),
                integer(it.version.0),
                digest,
                integer(it.position.0),
                nearest_nanoseconds(it.at),
                it.by.as_str(),
                it.hash.0,
                it.body,
                trust.is_committed(),
                trust.rank()
            ],
        )?;
        self.execute("insert or ignore into run_numbers values (?1)", [integer(run_number)])
    }

    fn put_story(&self, it: &Story, created_at: Timestamp, trust: Trust) -> rusqlite::Result<()> {
        let sql = "insert into stories values (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)
                   on conflict (key) do update set trust = excluded.trust, title = excluded.title,
                       description = excluded.description, acceptance = excluded.acceptance,
                       depends_on = excluded.depends_on, priority = excluded.priority,
                       branch = excluded.branch, pr_url = excluded.pr_url,
                       created_at = excluded.created_at
                   where excluded.trust > trust";
        let depends_on: Vec<String> = it.depends_on.iter().map(|it| it.to_string()).collect();
        let params = params![
            it.key.as_str(),
            trust.rank(),
            it.title,
            it.description,
            list_text(&it.acceptance),
            list_text(&depends_on),
            it.priority,
            it.branch,
            it.pr_url,
            nearest_nanoseconds(created_at)
        ];
        self.execute(sql, params)
    }

    /// Called once everything is held: no hash proves a number, and one flipped bit makes it huge.
    /// Each run and each handoff has an event, so no number exceeds the last position, and that is
    /// close to the mark, or else to the number of events found.
    pub fn drop_implausible_numbers(&mut self, marked: Option<Position>) -> StoreResult<()> {
        let n_events = self.rows("select count(*) as n from events", [], |row| number(row, "n"))?;
        let n_events = n_events.first().copied().unwrap_or(0);
        let most = match marked {
            Some(Position(marked)) => marked.saturating_add(n_events).saturating_add(FEW),
            None => n_events.saturating_mul(MOST_LOST).saturating_add(FEW),
        };
        let drop_them = || {
            let sql = "update events set position = 0 where position > ?1";
            self.execute(sql, [integer(most)])?;
            for table in ["runs", "handoffs", "numbered"] {
                let sql = format!("delete from {table} where number > ?1");
                self.execute(&sql, [integer(most)])?;
            }
            Ok(())
        };
        drop_them().map_err(to_store)?;
        self.most_number = most;
        Ok(())
    }

    /// The highest plausible number.
    pub fn most_number(&self) -> u64 {
        self.most_number
    }

    /// Every number under which rows of a run were found, in order.
    pub fn run_numbers(&self) -> StoreResult<Vec<u64>> {
        let sql = "select run_number as n from run_numbers
                   union select number from runs
                   union select run_number from handoffs order by 1";
        self.rows(sql, [], |row| number(row, "n"))
    }

    /// Every found row of the run with this number, the most advanced last.
    pub fn clues(&self, run_number: u64) -> StoreResult<Vec<RunClue>> {
        let sql = "select id, version, head, is_committed from runs
                   where number = ?1 order by version";
        self.rows(sql, [integer(run_number)], |row| {
            Ok(RunClue {
                id: RunId(Uuid::from_bytes(row.get("id")?)),
                version: Version(number(row, "version")?),
                head: hash(row, "head")?,
                is_committed: row.get("is_committed")?,
            })
        })
    }

    /// Ids that an index has under this number: of a run or a handoff.
    pub fn ids_with_number(&self, number: u64) -> StoreResult<Vec<RunId>> {
        let sql = "select id from numbered where number = ?1";
        self.rows(sql, [integer(number)], |row| Ok(RunId(Uuid::from_bytes(row.get("id")?))))
    }

    /// Every found event of the run with this number, by version.
    pub fn events(&self, run_number: u64) -> StoreResult<Vec<HeldEvent>> {
        let sql = "select rowid as row_number, * from events where run_number = ?1
                   order by version, rank";
        self.rows(sql, [integer(run_number)], held_event)
    }

    /// The runs that have an event at this position.
    pub fn runs_at(&self, position: Position) -> StoreResult<Vec<u64>> {
        let sql = "select distinct run_number as n from events where position = ?1";
        self.rows(sql, [integer(position.0)], |row| number(row, "n"))
    }

    /// The found handoffs of the run with this number.
    pub fn handoffs(&self, run_number: u64) -> StoreResult<Vec<HandoffNo>> {
        let sql = "select distinct no from handoffs where run_number = ?1 order by no";
        self.rows(sql, [integer(run_number)], |row| Ok(HandoffNo(row.get("no")?)))
    }

    /// The number of a handoff; `None` where there is no such handoff, or more than one number.
    pub fn handoff_number(&self, id: HandoffId) -> StoreResult<Option<u64>> {
        let of_rows = "select distinct number as n from handoffs where id = ?1";
        let of_index = "select number as n from numbered where id = ?1";
        for sql in [of_rows, of_index] {
            let numbers = self.rows(sql, [id.0.as_bytes()], |row| number(row, "n"))?;
            if let [number] = numbers.as_slice() {
                return Ok(Some(*number));
            }
        }
        Ok(None)
    }

    /// The text with this hash, without the other columns of its rows.
    pub fn text(&self, id: ContentId) -> StoreResult<Option<SalvagedText>> {
        let sql = "select nonce, text from contents where id = ?1";
        let rows = self.rows(sql, [id.0.0], |row| {
            Ok(SalvagedText { id, nonce: row.get("nonce")?, text: row.get("text")?, claim: None })
        })?;
        Ok(rows.into_iter().next())
    }

    /// What the rows with this text say about it as a package.
    pub fn package_claims(&self, id: ContentId) -> StoreResult<Vec<PackageClaim>> {
        let sql = "select format, hash from package_claims where id = ?1";
        self.rows(sql, [id.0.0], |row| {
            let hash: Vec<u8> = row.get("hash")?;
            let hash = hash.as_slice().try_into().ok().map(Hash);
            Ok(PackageClaim { format: row.get("format")?, hash })
        })
    }

    /// Texts that were found under this hash. The caller has to verify which one matches.
    pub fn definitions(&self, which: Hash) -> StoreResult<Vec<Definition>> {
        let sql = "select rowid as row_number, * from definitions where hash = ?1";
        self.rows(sql, [which.0], definitions::read)
    }

    /// The stories after a key, in their last version.
    pub fn stories(&self, after: &str, most: u32) -> StoreResult<Vec<(Story, Timestamp)>> {
        let sql = "select * from stories where key > ?1 order by key limit ?2";
        self.rows(sql, params![after, most], |row| {
            Ok((stories::story(row)?, time(row, "created_at")?))
        })
    }

    /// The keys that stories were written under, and when first: those that the log of stories
    /// proves, whether or not anything else is left of the story.
    pub fn written_stories(&self) -> StoreResult<BTreeMap<StoryKey, Timestamp>> {
        let sql = "select it.key, it.written_at, it.digest, it.hash, before.hash as head
                   from story_log it left join story_log before on before.number = it.number - 1
                   where before.hash is not null or it.number = 1
                   order by it.number desc";
        let proven = self.rows(sql, [], |row| {
            let key = parsed(row, "key", |it| StoryKey::parse(it).ok())?;
            let head: Option<[u8; 32]> = row.get("head")?;
            let (at, digest): (i64, [u8; 32]) = (row.get("written_at")?, row.get("digest")?);
            let head = head.unwrap_or(story_log::START);
            let hash = baton_store::story_link(&head, key.as_str(), at, &digest);
            let is_proven = hash == row.get::<_, [u8; 32]>("hash")?;
            Ok(is_proven.then_some((key, time(row, "written_at")?)))
        })?;
        Ok(proven.into_iter().flatten().collect())
    }

    /// The last row id of the stories. They are never deleted, so there were as many.
    pub fn last_story_row(&self) -> StoreResult<u64> {
        let sql = "select coalesce(max(number), 0) as n from story_rows
                   where number <= ?1 + ?2 * (select count(*) from story_rows)";
        let limits = [integer(FEW), integer(MOST_LOST)];
        Ok(self.rows(sql, limits, |row| number(row, "n"))?.first().copied().unwrap_or(0))
    }

    /// The last position at which anything was found.
    pub fn last_position(&self) -> StoreResult<Position> {
        let sql = "select coalesce(max(position), 0) as n from events";
        let found = self.rows(sql, [], |row| number(row, "n"))?;
        Ok(found.first().map_or(Position::START, |it| Position(*it)))
    }

    /// A page of the idempotency records after a row, each with its row.
    pub fn answered(&self, after: u64, most: u32) -> StoreResult<Vec<(u64, IdempotencyRecord)>> {
        let sql = "select rowid as row_number, * from answered
                   where rowid > ?1 order by rowid limit ?2";
        self.rows(sql, params![integer(after), most], |row| {
            Ok((number(row, "row_number")?, idempotency::read(row)?))
        })
    }

    /// The project of the database, if all sources agree, and its last mark number.
    pub fn identity(&self) -> StoreResult<Option<(Uuid, u64)>> {
        let found = self.rows("select project, mark from identities", [], |row| {
            Ok((Uuid::from_bytes(row.get("project")?), number(row, "mark")?))
        })?;
        Ok(if let [identity] = found.as_slice() { Some(*identity) } else { None })
    }

    pub(crate) fn execute(&self, sql: &str, params: impl rusqlite::Params) -> rusqlite::Result<()> {
        self.connection.prepare_cached(sql)?.execute(params).map(|_| ())
    }

    pub(crate) fn rows<T>(
        &self,
        sql: &str,
        params: impl rusqlite::Params,
        read: impl FnMut(&Row<'_>) -> rusqlite::Result<T>,
    ) -> StoreResult<Vec<T>> {
        let rows = || -> rusqlite::Result<Vec<T>> {
            self.connection.prepare_cached(sql)?.query_map(params, read)?.collect()
        };
        rows().map_err(to_store)
    }
}

pub(crate) fn held_event(row: &Row<'_>) -> rusqlite::Result<HeldEvent> {
    let event = SalvagedEvent {
        position: Position(number(row, "position")?),
        version: Version(number(row, "version")?),
        at: time(row, "happened_at")?,
        by: parsed(row, "done_by", |it| Principal::parse(it).ok())?,
        body: row.get("body")?,
        hash: hash(row, "hash")?,
    };
    let row_number = number(row, "row_number")?;
    Ok(HeldEvent { row: row_number, event, is_committed: row.get("is_committed")? })
}
