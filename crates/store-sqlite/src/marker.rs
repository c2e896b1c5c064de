//! Keeps the mark up to date and checkpoints behind it: the writer's part of the invariants in
//! [`crate::mark`].

use std::io::{BufReader, Read as _};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use baton_files::{Access, Dir, FileError};
use rusqlite::Connection;

use crate::columns::number;
use crate::error::{OpenError, to_open};
use crate::judge::{Judgement, WAL_FILE};
use crate::mark::{LogPart, Mark, MarkState, MarkedLog, StoredMark};
use crate::opened_files::{DataFile, FileChange, LostFile};
use crate::wal::{FRAME_HEADER, WAL_HEADER, Wal, WalHeader};
use crate::watch::WriteGuard;
use crate::{FILE, events, identity};

/// The maximum age of a mark while commands come in. Together with the idle time after which the
/// writer settles, it stays under a second.
const PERIOD: Duration = Duration::from_millis(400);
/// How many frames the log may have before a checkpoint.
const MOST_FRAMES: u64 = 16_000;
/// How many more frames before the next try: a reader may have blocked the checkpoint.
const MORE_FRAMES: u64 = 1_000;
const BUSY_TIMEOUT: Duration = Duration::from_secs(5);

#[derive(Debug)]
pub(crate) struct MarkWriter {
    dir: Dir,
    commits: Arc<Commits>,
    /// The value of `commits` at the last mark.
    n_marked: u64,
    marked_at: Instant,
    /// Checkpoint when the log has this many frames.
    most_frames: u64,
    page_size: u64,
    log: LogState,
    /// The epoch in which a mark was lost. A later epoch is not affected.
    lost_in: Option<String>,
    is_failing: bool,
}

/// Set by SQLite's hook after each commit.
#[derive(Debug, Default)]
struct Commits {
    n_commits: AtomicU64,
    /// The number of frames in the log after the last commit.
    n_frames: AtomicU64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum LogState {
    Empty,
    /// It has frames that may not be in the database.
    InUse,
    /// All of it is in the database; it has yet to be truncated.
    Moved,
}

impl MarkWriter {
    /// Installs the commit hook on a connection, and writes the first mark where there is none.
    pub(crate) fn start(
        dir: Dir,
        connection: &mut Connection,
        judgement: &Judgement,
        state: MarkState,
    ) -> Result<Self, OpenError> {
        let path = dir.path().join(FILE);
        let commits = Arc::new(Commits::default());
        let shared = Arc::clone(&commits);
        let hook = move |_: &mut rusqlite::hooks::Wal, n_frames: std::ffi::c_int| {
            shared.n_frames.store(u64::try_from(n_frames).unwrap_or(0), Ordering::Relaxed);
            shared.n_commits.fetch_add(1, Ordering::Relaxed);
            Ok(())
        };
        connection.wal_hook(Some(hook)).map_err(to_open(&path))?;
        let lost_in = match state.loss() {
            Some(_) => Some(identity::find(connection).map_err(to_open(&path))?.epoch),
            None => None,
        };
        let mut marker = Self {
            dir,
            commits,
            n_marked: 0,
            marked_at: Instant::now(),
            most_frames: MOST_FRAMES,
            page_size: connection
                .pragma_query_value(None, "page_size", |row| number(row, "page_size"))
                .map_err(to_open(&path))?,
            log: LogState::Empty,
            lost_in,
            is_failing: false,
        };
        let is_marked = matches!(judgement.mark, StoredMark::Mark(_));
        let has_log = marker.dir.entry(WAL_FILE)?.is_some_and(|it| it.n_bytes > 0);
        if has_log || !is_marked {
            // The length of the log is known after a commit.
            identity::count_up(connection).map_err(to_open(&path))?;
            marker.note_commits();
            let mark = marker.mark(connection, MarkedLog::Needed).map_err(to_open(&path))?;
            mark.write(&marker.dir)?;
            marker.n_marked = marker.commits.n_commits.load(Ordering::Relaxed);
        }
        Ok(marker)
    }

    /// Whether the next transaction has to increment the mark number.
    pub(crate) fn is_due(&self) -> bool {
        self.has_news() && self.marked_at.elapsed() >= PERIOD
    }

    /// Whether there is work for an idle moment.
    pub(crate) fn is_unsettled(&self) -> bool {
        self.has_news() || self.log != LogState::Empty
    }

    /// The log, where another program has truncated it since the last commit. The next commit would
    /// be written at the old offset, behind a hole.
    pub(crate) fn cut_log_file(&self) -> Option<LostFile> {
        let n_frames = self.n_frames();
        if n_frames == 0 {
            return None;
        }
        let least = WAL_HEADER as u64 + n_frames * (FRAME_HEADER as u64 + self.page_size);
        let n_bytes = self.dir.entry(WAL_FILE).ok()?.map_or(0, |it| it.n_bytes);
        let change = FileChange::Cut { from: least, to: n_bytes };
        (n_bytes < least).then(|| self.lost_log(change))
    }

    /// Called after a transaction; `is_marked` if it has incremented the mark number.
    pub(crate) fn committed(
        &mut self,
        connection: &Connection,
        guard: &WriteGuard,
        is_marked: bool,
    ) {
        self.note_commits();
        let is_full = self.n_frames() >= self.most_frames;
        if (is_marked || is_full) && !self.write(connection, guard, MarkedLog::Needed) {
            return;
        }
        // Reading all of a full log would take too long between two commits.
        if is_full {
            self.move_log(connection, guard);
        }
    }

    /// When idle: writes a mark, checkpoints and truncates the log.
    pub(crate) fn settle(&mut self, connection: &Connection, guard: &WriteGuard) {
        if let Some(lost) = self.cut_log_file() {
            return guard.note_loss(lost);
        }
        if self.has_news() {
            if let Err(error) = identity::count_up(connection) {
                return self.failed(&error);
            }
            self.note_commits();
            if !self.write(connection, guard, MarkedLog::Needed) {
                return;
            }
        }
        if self.log == LogState::InUse {
            if !self.is_log_whole() {
                return guard.note_loss(self.lost_log(FileChange::Overwritten));
            }
            self.move_log(connection, guard);
        }
        if self.log == LogState::Moved {
            self.cut_log(connection, guard);
        }
    }

    fn move_log(&mut self, connection: &Connection, guard: &WriteGuard) {
        let moved = self.checkpoint(connection, guard, "passive");
        if moved == Some(Checkpointed::All) && self.write(connection, guard, MarkedLog::Moved) {
            self.log = LogState::Moved;
            self.most_frames = MOST_FRAMES;
        } else {
            self.most_frames = self.n_frames() + MORE_FRAMES;
        }
    }

    fn cut_log(&mut self, connection: &Connection, guard: &WriteGuard) {
        // Do not wait for a reader: commands would wait too.
        let _ = connection.busy_timeout(Duration::ZERO);
        if self.checkpoint(connection, guard, "truncate") == Some(Checkpointed::All) {
            self.log = LogState::Empty;
            self.commits.n_frames.store(0, Ordering::Relaxed);
        }
        let _ = connection.busy_timeout(BUSY_TIMEOUT);
    }

    fn has_news(&self) -> bool {
        self.commits.n_commits.load(Ordering::Relaxed) != self.n_marked
    }

    fn n_frames(&self) -> u64 {
        self.commits.n_frames.load(Ordering::Relaxed)
    }

    fn note_commits(&mut self) {
        if self.has_news() {
            self.log = LogState::InUse;
        }
    }

    /// False where the mark could not be written. Then no checkpoint is allowed; commands continue.
    fn write(
        &mut self,
        connection: &Connection,
        guard: &WriteGuard,
        log: fn(LogPart) -> MarkedLog,
    ) -> bool {
        self.marked_at = Instant::now();
        let mark = match self.mark(connection, log) {
            Ok(mark) => mark,
            Err(error) => {
                self.failed(&error);
                return false;
            }
        };
        let written = mark.write(&self.dir);
        guard.note_mark(written.as_ref().copied());
        if let Err(error) = written {
            self.failed(&error);
            return false;
        }
        self.n_marked = self.commits.n_commits.load(Ordering::Relaxed);
        self.is_failing = false;
        true
    }

    /// `None` where it failed, which costs only time, or where the files are no longer ours.
    fn checkpoint(
        &mut self,
        connection: &Connection,
        guard: &WriteGuard,
        mode: &str,
    ) -> Option<Checkpointed> {
        let _moving = guard.begin_move()?;
        let sql = format!("pragma wal_checkpoint({mode})");
        let moved = connection.query_row(&sql, [], |row| {
            let (is_busy, n_frames, n_moved): (bool, i64, i64) =
                (row.get(0)?, row.get(1)?, row.get(2)?);
            let is_all = !is_busy && n_frames == n_moved;
            Ok(if is_all { Checkpointed::All } else { Checkpointed::Part })
        });
        moved.inspect_err(|error| self.failed(error)).ok()
    }

    /// It is retried twice a second; only the first failure is logged.
    fn failed(&mut self, error: &(dyn std::error::Error + 'static)) {
        if !self.is_failing {
            tracing::warn!(error, "the log cannot be marked or moved into the database");
            self.is_failing = true;
        }
    }

    fn mark(
        &self,
        connection: &Connection,
        log: fn(LogPart) -> MarkedLog,
    ) -> rusqlite::Result<Mark> {
        let n_frames = self.n_frames();
        let salts = self.log_header().ok().flatten().map(|it| it.salts);
        let identity = identity::find(connection)?;
        Ok(Mark {
            is_renewed: self.lost_in.as_ref() == Some(&identity.epoch),
            identity,
            number: identity::mark_number(connection)?,
            position: events::last_position(connection)?,
            log: salts.map_or(MarkedLog::Empty, |salts| log(LogPart { salts, n_frames })),
        })
    }

    /// Whether every frame is valid: SQLite itself does not check before a checkpoint.
    fn is_log_whole(&self) -> bool {
        let read = || {
            let file = self.dir.open_file(WAL_FILE, Access::Read).ok()?;
            let n_bytes = file.entry().ok()?.n_bytes;
            Wal::read(BufReader::with_capacity(1 << 20, file), n_bytes, |_| {}).ok()
        };
        match read() {
            Some(Wal::Frames(frames)) => frames.n_committed >= self.n_frames(),
            Some(Wal::Empty | Wal::HeaderBroken { .. }) => self.n_frames() == 0,
            // An unreadable log may be valid; the next check shows whether it exists.
            None => true,
        }
    }

    fn lost_log(&self, change: FileChange) -> LostFile {
        LostFile { kind: DataFile::Log, path: self.dir.path().join(WAL_FILE), change }
    }

    /// `None` where there is no log.
    fn log_header(&self) -> Result<Option<WalHeader>, FileError> {
        let mut bytes = [0; WAL_HEADER];
        // Opening and closing it is safe: SQLite's locks are on the other files.
        let mut file = self.dir.open_file(WAL_FILE, Access::Read)?;
        Ok(file.read_exact(&mut bytes).ok().and_then(|()| WalHeader::parse(&bytes)))
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Checkpointed {
    All,
    /// A reader still needs the rest.
    Part,
}
