//! The one writer thread. It takes all waiting commands, executes them in one transaction and
//! commits once: an answer means that the command is on disk, and all waiting callers share the
//! cost.
//!
//! A command that fails does not affect the others. Almost all failing commands have written
//! nothing by then, and are simply left out. If one has, the group is rolled back and executed
//! again with a savepoint for each command. Savepoints are not always used, because SQLite copies
//! every page that changes under one; the cost is not settled (ADR 0004).

mod probe;

use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;

use baton_store::{StoreError, WriteFault};
use rusqlite::Connection;
use tokio::sync::{mpsc, oneshot};

use crate::columns::execute;
use crate::error::{GroupFailed, WriteError, thread_gone};
use crate::marker::MarkWriter;
use crate::statements::KeptStatements;
use crate::watch::WriteGuard;
use crate::{connect, identity};

pub(crate) use self::probe::Prober;

/// How many commands may share a commit.
const MOST_IN_A_GROUP: usize = 256;
/// How many commands may wait. Beyond it, backpressure: senders wait, without blocking a thread.
const MOST_WAITING: usize = 1024;
/// After this long without work SQLite's WAL is copied into the database file and emptied.
const IDLE: Duration = Duration::from_millis(500);

/// Sends work to the thread. Dropping it lets the thread finish, and waits for it.
#[derive(Debug)]
pub(crate) struct Writer {
    // Dropped first, which makes the thread end.
    sender: mpsc::Sender<WriterMessage>,
    _thread: JoinOnDrop,
}

enum WriterMessage {
    Work(Box<dyn QueuedWork>),
    /// Answered when everything is done and the file is closed.
    Close(oneshot::Sender<()>),
}

/// One command of a group.
trait QueuedWork: Send {
    /// Executes it inside the transaction; false where it failed. May be called again after a
    /// rollback.
    fn run(&mut self, statements: &KeptStatements<'_>) -> bool;
    /// The write fault, where it failed because of one.
    fn fault(&self) -> Option<WriteFault>;
    /// Answers the sender, once the group is committed or has failed.
    fn reply(self: Box<Self>, group: Result<(), Failed>);
}

/// Why a whole group was not committed.
#[derive(Clone)]
enum Failed {
    /// A known write fault.
    Unwritable(WriteFault),
    Otherwise(GroupFailed),
}

struct QueuedCommand<T, E, F> {
    work: F,
    result: Option<Result<T, E>>,
    sender: oneshot::Sender<(Result<T, E>, F)>,
}

impl Writer {
    /// `marker` keeps the mark of a database; `None` for a read-only one.
    pub(crate) fn start(
        connection: Connection,
        marker: Option<MarkWriter>,
        guard: Arc<WriteGuard>,
    ) -> std::io::Result<Self> {
        let (sender, receiver) = mpsc::channel(MOST_WAITING);
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build()?;
        let thread = std::thread::Builder::new()
            .name("baton-writer".to_owned())
            .spawn(move || runtime.block_on(write_all(connection, marker, &guard, receiver)))?;
        Ok(Self { sender, _thread: JoinOnDrop::new(thread) })
    }

    /// For testing whether a write works.
    pub(crate) fn prober(&self) -> Prober {
        Prober(self.sender.downgrade())
    }

    /// Executes `work` in a transaction that is on disk when this returns. If `work` fails, it is
    /// rolled back. It is executed even if the caller stops waiting for the answer.
    pub(crate) async fn write<T, E>(
        &self,
        work: impl Fn(&KeptStatements<'_>) -> Result<T, E> + Send + 'static,
    ) -> Result<T, E>
    where
        T: Send + 'static,
        E: WriteError + Send + 'static,
    {
        let (sender, receiver) = oneshot::channel();
        let command = QueuedCommand { work, result: None, sender };
        let message = WriterMessage::Work(Box::new(command));
        self.sender.send(message).await.map_err(|_| StoreError::Closed)?;
        // The work is returned with its result: the caller that allocated it frees it, which is
        // cheapest.
        let (result, _work) = receiver.await.map_err(|_| E::from(thread_gone()))?;
        result
    }

    /// Finishes waiting work and closes the file. Idempotent.
    pub(crate) async fn close(&self) {
        let (sender, receiver) = oneshot::channel();
        if self.sender.send(WriterMessage::Close(sender)).await.is_ok() {
            // The thread is gone either way.
            let _ = receiver.await;
        }
    }
}

async fn write_all(
    connection: Connection,
    mut marker: Option<MarkWriter>,
    guard: &WriteGuard,
    mut receiver: mpsc::Receiver<WriterMessage>,
) {
    let statements = KeptStatements::of(&connection);
    let mut messages = Vec::with_capacity(MOST_IN_A_GROUP);
    let mut closers = Vec::new();
    loop {
        let waiting = receiver.recv_many(&mut messages, MOST_IN_A_GROUP);
        let n_messages = if marker.as_ref().is_some_and(MarkWriter::is_unsettled) {
            match tokio::time::timeout(IDLE, waiting).await {
                Ok(n_messages) => n_messages,
                Err(_) => {
                    settle(&connection, marker.as_mut(), guard);
                    continue;
                }
            }
        } else {
            waiting.await
        };
        if n_messages == 0 {
            break;
        }
        // Later commands go into the next commit. Waiting for them was tried: it makes groups
        // larger, and every caller slower.
        let mut group = Vec::with_capacity(n_messages);
        for message in messages.drain(..) {
            match message {
                WriterMessage::Work(work) => group.push(work),
                WriterMessage::Close(sender) => {
                    receiver.close();
                    closers.push(sender);
                }
            }
        }
        // Only the end was sent; in a read-only store, no write may be tried.
        if !group.is_empty() {
            carry_out(&statements, marker.as_mut(), guard, group);
        }
    }
    settle(&connection, marker.as_mut(), guard);
    if marker.is_some_and(|it| !it.is_unsettled()) && guard.refusal().is_none() {
        connect::remove_log_on_close(&connection);
    }
    drop(statements);
    drop(connection);
    for closer in closers {
        // The caller may be gone.
        let _ = closer.send(());
    }
}

/// Executes a group in one transaction, then answers every sender.
fn carry_out(
    statements: &KeptStatements<'_>,
    marker: Option<&mut MarkWriter>,
    guard: &WriteGuard,
    mut group: Vec<Box<dyn QueuedWork>>,
) {
    if let Some(lost) = marker.as_ref().and_then(|it| it.cut_log_file()) {
        guard.note_loss(lost);
    }
    let is_marked = marker.as_ref().is_some_and(|it| it.is_due());
    let committed = match guard.refusal() {
        Some(fault) => Err(Failed::Unwritable(fault)),
        None => commit(statements, &mut group, is_marked).map_err(|error| {
            if !statements.is_autocommit() {
                // Uncommitted data is lost anyway; this only makes room for the next group.
                let _ = execute(statements, "rollback", []);
            }
            let failed = GroupFailed(Arc::new(error));
            guard.failed(group.iter().find_map(|it| it.fault()), Some(&failed));
            guard.named_fault().map_or(Failed::Otherwise(failed), Failed::Unwritable)
        }),
    };
    let is_committed = committed.is_ok();
    if is_committed && let Some(fault) = group.iter().find_map(|it| it.fault()) {
        guard.failed(Some(fault), None);
    }
    for work in group {
        work.reply(committed.clone());
    }
    if is_committed && let Some(marker) = marker {
        marker.committed(statements, guard, is_marked);
    }
}

/// Idle work. Where the files were deleted or replaced, the files at their paths are no longer
/// ours, and are left alone.
fn settle(connection: &Connection, marker: Option<&mut MarkWriter>, guard: &WriteGuard) {
    if let Some(marker) = marker
        && guard.refusal().is_none()
    {
        marker.settle(connection, guard);
    }
}

fn commit(
    statements: &KeptStatements<'_>,
    group: &mut [Box<dyn QueuedWork>],
    is_marked: bool,
) -> rusqlite::Result<()> {
    begin(statements, is_marked)?;
    match run_plainly(statements, group) {
        GroupRun::Well => {}
        GroupRun::LeftSomething => {
            execute(statements, "rollback", [])?;
            begin(statements, is_marked)?;
            run_apart(statements, group)?;
        }
    }
    execute(statements, "commit", [])
}

fn begin(statements: &KeptStatements<'_>, is_marked: bool) -> rusqlite::Result<()> {
    execute(statements, "begin immediate", [])?;
    if is_marked { identity::count_up(statements) } else { Ok(()) }
}

/// The result of a group without savepoints.
enum GroupRun {
    Well,
    /// A command failed after a partial write.
    LeftSomething,
}

fn run_plainly(statements: &KeptStatements<'_>, group: &mut [Box<dyn QueuedWork>]) -> GroupRun {
    for work in group {
        let before = statements.total_changes();
        if !work.run(statements) && statements.total_changes() != before {
            return GroupRun::LeftSomething;
        }
        // On a full or failing disk, SQLite may end the transaction by itself. The next command
        // would then be committed without the others; the rollback that follows finds no
        // transaction, and so the group fails.
        if statements.is_autocommit() {
            return GroupRun::LeftSomething;
        }
    }
    GroupRun::Well
}

fn run_apart(
    statements: &KeptStatements<'_>,
    group: &mut [Box<dyn QueuedWork>],
) -> rusqlite::Result<()> {
    for work in group {
        execute(statements, "savepoint command", [])?;
        // In a transaction that ended by itself these find no savepoint, and fail.
        if !work.run(statements) {
            execute(statements, "rollback to command", [])?;
        }
        execute(statements, "release command", [])?;
    }
    Ok(())
}

impl<T, E, F> QueuedWork for QueuedCommand<T, E, F>
where
    T: Send,
    E: WriteError + Send,
    F: Fn(&KeptStatements<'_>) -> Result<T, E> + Send,
{
    fn run(&mut self, statements: &KeptStatements<'_>) -> bool {
        self.result = Some((self.work)(statements));
        matches!(self.result, Some(Ok(_)))
    }

    fn fault(&self) -> Option<WriteFault> {
        match &self.result {
            Some(Err(error)) => error.fault().cloned(),
            Some(Ok(_)) | None => None,
        }
    }

    fn reply(self: Box<Self>, group: Result<(), Failed>) {
        let failed = |failed| {
            E::from(match failed {
                Failed::Unwritable(fault) => StoreError::Unwritable(fault),
                Failed::Otherwise(error) => StoreError::Unavailable(Box::new(error)),
            })
        };
        let result = match (self.result, group) {
            // Even a refusal may rest on rows that another command of the group had written.
            (_, Err(error)) => Err(failed(error)),
            (Some(result), Ok(())) => result,
            (None, Ok(())) => Err(thread_gone().into()),
        };
        // The sender may have stopped waiting; its command is executed all the same.
        let _ = self.sender.send((result, self.work));
    }
}

#[derive(Debug)]
pub(crate) struct JoinOnDrop(Option<JoinHandle<()>>);

impl JoinOnDrop {
    pub(crate) fn new(thread: JoinHandle<()>) -> Self {
        Self(Some(thread))
    }

    /// Waits for the thread. Idempotent.
    pub(crate) fn join(&mut self) {
        if let Some(thread) = self.0.take() {
            // The thread has reported its panic itself.
            let _ = thread.join();
        }
    }
}

impl Drop for JoinOnDrop {
    fn drop(&mut self) {
        self.join();
    }
}
