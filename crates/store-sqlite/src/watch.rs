//! Detects when the data is no longer where it was opened, and when a failed disk works again. The
//! writer checks before it writes, and a separate thread checks twice a second.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, mpsc};
use std::time::{Duration, Instant};

use baton_files::{Dir, FileError};
use baton_store::WriteFault;
use rusqlite::Connection;

use crate::data_loss::{CommandContext, DataLoss, RescueState};
use crate::error::{GroupFailed, fault_of_io, write_fault};
use crate::health::WriteHealth;
use crate::opened_files::{LostFile, MovingLog, OpenedFiles};
use crate::rescue::{LostPlace, rescue};
use crate::room::has_room;
use crate::writer::{JoinOnDrop, Prober};

/// How often the thread checks.
const EVERY: Duration = Duration::from_millis(500);
/// The writer's minimum interval between checks. Commands answered between a deletion and the next
/// check are still in the open files: a server copies them with the rest.
const EVERY_MS_WRITING: u64 = 20;

/// How long after a failed copy the next one is tried.
const COPY_AGAIN_AFTER: Duration = Duration::from_secs(5);

/// Guards every write.
#[derive(Debug)]
pub(crate) struct WriteGuard {
    dir: Dir,
    /// The path of the opened folder, with all links resolved.
    path: PathBuf,
    files: OpenedFiles,
    health: WriteHealth,
    opened_at: Instant,
    /// Time of the last check, since `opened_at`.
    looked_at_ms: AtomicU64,
    loss: Mutex<Option<Loss>>,
    /// Why the last mark could not be written.
    unmarked: Mutex<Option<String>>,
    /// Set where lost data is worth a copy: a server may be the last process that has it.
    context: OnceLock<CommandContext>,
}

/// What was found, and the response to it.
#[derive(Debug)]
struct Loss {
    file: LostFile,
    kind: DataLoss,
    rescue: RescueState,
    tried_at: Option<Instant>,
}

impl WriteGuard {
    /// For a store that has its files in `dir` open by now. `path` leads there without a link.
    pub(crate) fn of(dir: Dir, path: &Path) -> Self {
        Self::new(dir, path, OpenedFiles::of(path), WriteHealth::default())
    }

    /// For a read-only store.
    pub(crate) fn refusing(dir: Dir, path: &Path, fault: WriteFault) -> Self {
        Self::new(dir, path, OpenedFiles::default(), WriteHealth::refusing(fault))
    }

    fn new(dir: Dir, path: &Path, files: OpenedFiles, health: WriteHealth) -> Self {
        Self {
            dir,
            path: path.to_owned(),
            files,
            health,
            opened_at: Instant::now(),
            looked_at_ms: AtomicU64::new(0),
            loss: Mutex::default(),
            unmarked: Mutex::default(),
            context: OnceLock::new(),
        }
    }

    /// The current write fault, after a recent check.
    pub(crate) fn fault(&self) -> Option<WriteFault> {
        self.refusal().or_else(|| self.health.fault()).or_else(|| {
            let cause = self.unmarked.lock().unwrap_or_else(PoisonError::into_inner).clone()?;
            Some(WriteFault::Unmarked { cause })
        })
    }

    /// Why the last mark could not be written, if it failed. Commands continue either way.
    pub(crate) fn note_mark(&self, written: Result<(), &FileError>) {
        let cause = written.err().map(|it| in_a_line(it));
        *self.unmarked.lock().unwrap_or_else(PoisonError::into_inner) = cause;
    }

    /// From now on, lost data is copied while it is still open here.
    pub(crate) fn rescue_when_lost(&self, context: CommandContext) {
        // A second context would be the same.
        let _ = self.context.set(context);
    }

    /// Why nothing may be written, after a recent check.
    pub(crate) fn refusal(&self) -> Option<WriteFault> {
        let refusal = self.health.refusal();
        if refusal.is_some() {
            return refusal;
        }
        let now_ms = u64::try_from(self.opened_at.elapsed().as_millis()).unwrap_or(u64::MAX);
        let looked_at_ms = self.looked_at_ms.load(Ordering::Relaxed);
        if now_ms.saturating_sub(looked_at_ms) >= EVERY_MS_WRITING {
            self.looked_at_ms.store(now_ms, Ordering::Relaxed);
            self.look();
        }
        self.health.refusal()
    }

    /// Checks whether the paths still lead to the open files, and what else has changed since they
    /// do not: a folder is deleted file by file.
    pub(crate) fn look(&self) {
        if let Some(lost) = self.files.lost() {
            self.note_loss(lost);
        }
    }

    /// Allows a checkpoint until the returned guard is dropped. `None` where the files are not
    /// those that were opened.
    pub(crate) fn begin_move(&self) -> Option<MovingLog<'_>> {
        if self.health.refusal().is_some() {
            return None;
        }
        self.files.begin_move().map_err(|lost| self.note_loss(lost)).ok()
    }

    /// Nothing may be written from now on.
    pub(crate) fn note_loss(&self, file: LostFile) {
        let kind = DataLoss::of(&file, &self.files, &self.dir, &self.path);
        let mut loss = self.lock_loss();
        if loss.as_ref().is_some_and(|it| !kind.says_more_than(&it.kind)) {
            return;
        }
        let rescue = RescueState::Pending;
        self.refuse(loss.insert(Loss { file, kind, rescue, tried_at: None }));
    }

    fn refuse(&self, loss: &Loss) {
        let Loss { file, kind, rescue, .. } = loss;
        self.health.refuse(&kind.fault(file, &self.path, rescue, self.context.get()));
    }

    /// A group of writes failed as a whole, or one of them by itself: finds the reason, once.
    pub(crate) fn failed(&self, fault: Option<WriteFault>, group: Option<&GroupFailed>) {
        let fault = fault.or_else(|| group.and_then(|it| write_fault(&it.0)));
        if fault.is_none() && self.health.fault().is_some() {
            return;
        }
        // SQLite has one code for every disk error. A trial write in the folder gives the exact
        // one.
        let fault = fault
            .or_else(|| has_room(&self.path).err().as_ref().and_then(fault_of_io))
            .unwrap_or(WriteFault::Failing);
        self.health.failed(&fault, group.map(|it| it as _));
    }

    /// The error for a failed group, where its fault is known.
    pub(crate) fn named_fault(&self) -> Option<WriteFault> {
        self.health.fault().filter(|it| *it != WriteFault::Failing)
    }

    /// One round of the thread.
    fn tick(&self, connection: &Connection, prober: &Prober) {
        self.look();
        self.save(connection);
        let is_mended = match self.health.fault() {
            None
            | Some(
                WriteFault::Replaced { .. }
                | WriteFault::Unmarked { .. }
                | WriteFault::DatabaseReadOnly,
            ) => false,
            Some(WriteFault::Failing) => prober.probe(),
            Some(WriteFault::DiskFull | WriteFault::ReadOnly) => {
                has_room(&self.path).is_ok() && prober.probe()
            }
        };
        if is_mended {
            self.health.recovered();
        }
    }

    /// Copies lost data, and reports where the copy is. Retries until it succeeds, and also where
    /// the copy was deleted with the rest: a folder is deleted file by file.
    fn save(&self, connection: &Connection) {
        let Some(context) = self.context.get() else { return };
        let mut loss = self.lock_loss();
        let Some(loss) = loss.as_mut().filter(|it| it.is_copy_due()) else { return };
        loss.tried_at = Some(Instant::now());
        let project = context.project_path();
        let place = LostPlace { data: &self.dir, path: &self.path, project: &project };
        loss.rescue = match rescue(connection, place) {
            Ok(copy) => RescueState::Copied { copy },
            Err(error) => RescueState::Failed { cause: in_a_line(error.as_ref()) },
        };
        self.refuse(loss);
    }

    /// It is set as a whole, so a poisoned lock is still good.
    fn lock_loss(&self) -> MutexGuard<'_, Option<Loss>> {
        self.loss.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Loss {
    fn is_copy_due(&self) -> bool {
        match (&self.kind, &self.rescue) {
            (DataLoss::Deleted, RescueState::Pending) => true,
            (DataLoss::Deleted, RescueState::Copied { copy }) => copy.symlink_metadata().is_err(),
            (DataLoss::Deleted, RescueState::Failed { .. }) => {
                self.tried_at.is_none_or(|it| it.elapsed() >= COPY_AGAIN_AFTER)
            }
            (DataLoss::Lock | DataLoss::Moved { .. } | DataLoss::Changed(_), _) => false,
        }
    }
}

/// An error with its causes.
fn in_a_line(error: &(dyn std::error::Error + 'static)) -> String {
    let causes = std::iter::successors(Some(error), |it| it.source());
    causes.map(ToString::to_string).collect::<Vec<_>>().join(": ")
}

/// The watcher thread. Dropping it lets a running check finish.
#[derive(Debug)]
pub(crate) struct FileWatcher {
    // Dropped first, which makes the thread end.
    stop: Option<mpsc::Sender<()>>,
    thread: JoinOnDrop,
}

impl FileWatcher {
    /// `connection` can read the open data even after its file was deleted.
    pub(crate) fn start(
        guard: Arc<WriteGuard>,
        connection: Connection,
        prober: Prober,
    ) -> std::io::Result<Self> {
        let (stop, stopped) = mpsc::channel();
        let thread =
            std::thread::Builder::new().name("baton-watcher".to_owned()).spawn(move || {
                while stopped.recv_timeout(EVERY) == Err(mpsc::RecvTimeoutError::Timeout) {
                    guard.tick(&connection, &prober);
                }
                // The last check before the files are closed: the close must not act on other files
                // at their paths.
                guard.look();
                guard.save(&connection);
            })?;
        Ok(Self { stop: Some(stop), thread: JoinOnDrop::new(thread) })
    }

    /// Checks for the last time, and ends. Idempotent.
    pub(crate) fn stop(&mut self) {
        self.stop = None;
        self.thread.join();
    }
}
