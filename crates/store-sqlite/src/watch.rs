//! Notices when the data is not where it was opened any more, and when a disk that failed works
//! again. The writer looks before it writes, a thread of its own looks while nobody writes.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, mpsc};
use std::time::{Duration, Instant};

use baton_store::WriteFault;
use rusqlite::Connection;

use crate::error::{GroupFailed, fault_of_io, write_fault};
use crate::health::WriteHealth;
use crate::opened_files::{FileKind, OpenedFiles};
use crate::rescue::rescue;
use crate::room::has_room;
use crate::writer::{JoinOnDrop, Prober};

/// How often is looked while nobody writes.
const EVERY: Duration = Duration::from_millis(500);
/// How often at most is looked while many write. Whatever was answered just before a file was
/// deleted is lost with it in any case.
const EVERY_MS_WRITING: u64 = 20;

/// Stands before every write.
#[derive(Debug)]
pub(crate) struct WriteGuard {
    dir: PathBuf,
    files: OpenedFiles,
    health: WriteHealth,
    opened_at: Instant,
    /// After `opened_at`.
    looked_at_ms: AtomicU64,
    /// The data is lost, and what is still open of it should be copied.
    must_rescue: AtomicBool,
    /// Whether it is worth a copy: a server may be the last that has it.
    rescues: AtomicBool,
}

impl WriteGuard {
    /// Of a store that has its files open by now.
    pub(crate) fn of(dir: &Path) -> Self {
        Self::new(dir, OpenedFiles::of(dir), WriteHealth::default())
    }

    /// Of one that is only read.
    pub(crate) fn refusing(dir: &Path, fault: WriteFault) -> Self {
        Self::new(dir, OpenedFiles::default(), WriteHealth::refusing(fault))
    }

    fn new(dir: &Path, files: OpenedFiles, health: WriteHealth) -> Self {
        Self {
            dir: dir.to_owned(),
            files,
            health,
            opened_at: Instant::now(),
            looked_at_ms: AtomicU64::new(0),
            must_rescue: AtomicBool::new(false),
            rescues: AtomicBool::new(false),
        }
    }

    pub(crate) fn fault(&self) -> Option<WriteFault> {
        self.health.fault()
    }

    /// From now on, data that is lost is copied while it is still open here.
    pub(crate) fn rescue_when_lost(&self) {
        self.rescues.store(true, Ordering::Relaxed);
    }

    /// Why nothing may be written, after a look that is not old.
    pub(crate) fn refusal(&self) -> Option<WriteFault> {
        let now_ms = u64::try_from(self.opened_at.elapsed().as_millis()).unwrap_or(u64::MAX);
        let looked_at_ms = self.looked_at_ms.load(Ordering::Relaxed);
        if now_ms.saturating_sub(looked_at_ms) >= EVERY_MS_WRITING {
            self.looked_at_ms.store(now_ms, Ordering::Relaxed);
            self.look();
        }
        self.health.refusal()
    }

    /// Looks whether the paths still lead to the files that are open.
    pub(crate) fn look(&self) {
        if self.health.refusal().is_some() {
            return;
        }
        let Some(lost) = self.files.lost() else { return };
        let advice = match lost.kind {
            FileKind::Lock => {
                "another Baton may work on the same data; stop this server and start it again"
            }
            FileKind::Database | FileKind::Log if self.rescues.load(Ordering::Relaxed) => {
                "leave this server running until `/readyz` names the copy of all that was recorded"
            }
            FileKind::Database | FileKind::Log => {
                "stop Baton, then type `baton restore FILE --replace` with a backup"
            }
        };
        self.must_rescue.store(lost.kind != FileKind::Lock, Ordering::Relaxed);
        self.health.refuse(&WriteFault::Replaced { what: lost.what, advice: advice.to_owned() });
    }

    /// A group of writes failed as a whole, or one of them by itself: finds out why, once.
    pub(crate) fn failed(&self, fault: Option<WriteFault>, group: Option<&GroupFailed>) {
        let fault = fault.or_else(|| group.and_then(|it| write_fault(&it.0)));
        if fault.is_none() && self.health.fault().is_some() {
            return;
        }
        // SQLite has one code for everything that a disk may say. The folder says it again.
        let fault = fault
            .or_else(|| has_room(&self.dir).err().as_ref().and_then(fault_of_io))
            .unwrap_or(WriteFault::Failing);
        self.health.failed(&fault, group.map(|it| it as _));
    }

    /// What a group that failed is answered, where that has a name.
    pub(crate) fn named_fault(&self) -> Option<WriteFault> {
        self.health.fault().filter(|it| *it != WriteFault::Failing)
    }

    /// What the thread does each time.
    fn tick(&self, connection: &Connection, prober: &Prober) {
        self.look();
        self.save(connection);
        let is_mended = match self.health.fault() {
            None | Some(WriteFault::Replaced { .. }) => false,
            Some(WriteFault::Failing) => prober.probe(),
            Some(WriteFault::DiskFull | WriteFault::ReadOnly) => {
                has_room(&self.dir).is_ok() && prober.probe()
            }
        };
        if is_mended {
            self.health.recovered();
        }
    }

    /// Copies what is lost, once, and says where it is.
    fn save(&self, connection: &Connection) {
        if !self.rescues.load(Ordering::Relaxed) || !self.must_rescue.swap(false, Ordering::Relaxed)
        {
            return;
        }
        let Some(WriteFault::Replaced { what, .. }) = self.health.refusal() else { return };
        let advice = match rescue(connection, &self.dir) {
            Ok(copy) => format!(
                "all that was recorded is in `{}`: stop this server, then type `baton restore {} --replace`",
                copy.display(),
                shell_word(&copy.to_string_lossy())
            ),
            Err(error) => {
                let error: &(dyn std::error::Error + 'static) = error.as_ref();
                tracing::error!(error, "what is still open of the data could not be copied");
                "stop this server, then type `baton restore FILE --replace` with a backup"
                    .to_owned()
            }
        };
        self.health.refuse(&WriteFault::Replaced { what, advice });
    }
}

/// A path as a shell takes it.
fn shell_word(path: &str) -> String {
    if path.chars().all(|it| it.is_alphanumeric() || "/._-".contains(it)) {
        return path.to_owned();
    }
    format!("'{}'", path.replace('\'', r"'\''"))
}

/// The thread that looks. Dropping it lets a look under way finish.
#[derive(Debug)]
pub(crate) struct Watcher {
    // Dropped first, which is what tells the thread to end.
    stop: Option<mpsc::Sender<()>>,
    thread: JoinOnDrop,
}

impl Watcher {
    /// `connection` reads what is open, even after its file was deleted.
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
                // Whoever closes the file after this must not take another one for it.
                guard.look();
                guard.save(&connection);
            })?;
        Ok(Self { stop: Some(stop), thread: JoinOnDrop::new(thread) })
    }

    /// Looks for the last time, and ends. A second time it does nothing.
    pub(crate) fn stop(&mut self) {
        self.stop = None;
        self.thread.join();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_can_be_pasted_into_a_shell() {
        for (path, word) in [
            (
                "/srv/shop/.baton/data/rescued-1/baton.db",
                "/srv/shop/.baton/data/rescued-1/baton.db",
            ),
            ("/srv/my shop/baton.db", "'/srv/my shop/baton.db'"),
            ("/srv/bea's/$x", r"'/srv/bea'\''s/$x'"),
        ] {
            assert_eq!(shell_word(path), word);
        }
    }
}
