//! The end of the log, as nodes write to it: one task asks the database how far the log is complete,
//! and tells this process.
//!
//! It asks after every append of this process, when another node says that it has appended
//! (`NOTIFY`, at most one for each interval and never in a writer's transaction: a transaction that
//! notifies holds a lock of the whole database at its commit), and in any case from time to time:
//! behind a pooler nothing can be listened for.

use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use baton_store::{Position, StoreError, StoreResult, WriteFault};
use futures_util::StreamExt as _;
use tokio::sync::{Notify, watch};
use tokio::time::Instant;
use tokio_postgres::types::Type;
use tokio_postgres::{AsyncMessage, NoTls};

use crate::columns::Columns;
use crate::events::{self, LogEnd, LogOrigin};
use crate::query::{Connections, Preparing, SqlQuery};
use crate::settings::PostgresSettings;
use crate::{clock, connect, identity, room};

/// How soon after an append the other nodes are notified.
const NOTIFY_EVERY: Duration = Duration::from_millis(20);
/// How often the end is asked for while an older transaction holds it back.
const HELD_BACK: Duration = Duration::from_millis(5);
/// How often it is asked for while something happens, where nothing can be listened for.
const BUSY: Duration = Duration::from_millis(50);
/// How often it is asked for while nothing happens.
const IDLE: Duration = Duration::from_millis(500);
/// How long after the last change something is said to happen.
const BUSY_FOR: Duration = Duration::from_secs(3);
/// How long a listener waits before it connects again.
const RECONNECT: Duration = Duration::from_secs(1);
/// How long the end may be held back before it is reported with the transaction that does so.
const REPORT_AFTER: Duration = Duration::from_secs(1);
/// How long a reader of the log waits for what its own process has appended.
const OWN_APPENDS: Duration = Duration::from_secs(2);
/// How often the clocks are compared, and what else changes beside the log is looked at.
const LOOK_EVERY: Duration = Duration::from_secs(5);

/// The log is not complete up to its newest event: a transaction is still open.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LogLag {
    /// For how long the end has not moved.
    pub held_for: Duration,
    /// Whose transaction is open, where it can be seen.
    pub holder: Option<LogHolder>,
}

/// What has a transaction open.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LogHolder {
    /// A process of the server.
    Process(i32),
    /// Nobody: it was prepared under this name, in this database, and lasts until somebody ends it.
    Prepared { name: String, database: String },
}

/// Whether the log is expected to grow only.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LogWatch {
    Kept,
    /// For a move, which removes rows and writes them anew.
    Withheld,
}

/// Follows the end of the log.
#[derive(Debug)]
pub(crate) struct LogTail {
    settled: watch::Sender<Position>,
    /// The last position that this process appended.
    own: AtomicU64,
    wake: Notify,
    /// There is something to tell the other nodes.
    unannounced: Notify,
    lag: Mutex<Option<LogLag>>,
    clock_offset: Arc<AtomicI64>,
    /// The data that was opened.
    of: Option<LogOrigin>,
    watch: LogWatch,
}

impl LogTail {
    /// Starts the tasks; they end when the connections are closed.
    pub(crate) async fn start(
        connections: Connections,
        settings: PostgresSettings,
        watch: LogWatch,
    ) -> StoreResult<Arc<Self>> {
        let end = events::end(&connections).await?;
        connections.state().is_read_only(end.is_read_only);
        let clock_offset = Arc::new(AtomicI64::new(clock::offset(&connections).await?));
        let tail = Arc::new(Self {
            settled: watch::Sender::new(end.settled),
            own: AtomicU64::new(0),
            wake: Notify::new(),
            unannounced: Notify::new(),
            lag: Mutex::new(None),
            clock_offset,
            of: end.of,
            watch,
        });
        tokio::spawn(follow(Arc::clone(&tail), connections.clone()));
        tokio::spawn(look_at_server(Arc::clone(&tail), connections.clone()));
        if connections.preparing() == Preparing::Kept {
            let channel = channel(&connections).await?;
            tokio::spawn(announce(Arc::clone(&tail), connections.clone(), channel.clone()));
            tokio::spawn(listen(Arc::clone(&tail), connections, settings, channel));
        }
        Ok(tail)
    }

    pub(crate) fn settled(&self) -> watch::Receiver<Position> {
        self.settled.subscribe()
    }

    pub(crate) fn lag(&self) -> Option<LogLag> {
        self.lag.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub(crate) fn clock_offset(&self) -> Arc<AtomicI64> {
        Arc::clone(&self.clock_offset)
    }

    /// This process has appended.
    pub(crate) fn appended(&self, position: Position) {
        self.own.fetch_max(position.0, Ordering::Relaxed);
        self.wake.notify_one();
        self.unannounced.notify_one();
    }

    /// Something was written beside appends.
    pub(crate) fn refresh(&self) {
        self.wake.notify_one();
        self.unannounced.notify_one();
    }

    /// Waits a little until what this process has appended can be read in its order.
    pub(crate) async fn catch_up(&self) {
        let own = Position(self.own.load(Ordering::Relaxed));
        if *self.settled.borrow() >= own {
            return;
        }
        let mut settled = self.settled.subscribe();
        let waited = settled.wait_for(|it| *it >= own);
        // Held back for longer: the reader gets what is complete.
        let _ = tokio::time::timeout(OWN_APPENDS, waited).await;
    }

    /// Wakes everything that waits for the end of the log: the store is closing.
    pub(crate) fn end(&self) {
        self.settled.send_modify(|_| {});
        self.wake.notify_one();
        self.unannounced.notify_one();
    }

    fn report(&self, lag: Option<LogLag>) {
        *self.lag.lock().unwrap_or_else(PoisonError::into_inner) = lag;
    }
}

async fn follow(tail: Arc<LogTail>, connections: Connections) {
    let mut changed_at = Instant::now();
    let mut held_since: Option<Instant> = None;
    while !connections.is_closed() {
        let wait = match events::end(&connections).await {
            Ok(end) => {
                connections.state().is_read_only(end.is_read_only);
                if let Some(what) = replaced(&tail, &connections, &end).await {
                    connections.state().replace(what);
                    return;
                }
                let is_news = tail.settled.send_if_modified(|it| {
                    let is_news = *it < end.settled;
                    *it = end.settled.max(*it);
                    is_news
                });
                if is_news {
                    changed_at = Instant::now();
                }
                held_since = held(&tail, &connections, &end, held_since).await;
                let is_busy = changed_at.elapsed() < BUSY_FOR;
                match (held_since, connections.preparing()) {
                    (Some(since), _) if since.elapsed() < REPORT_AFTER => HELD_BACK,
                    (Some(_), _) => BUSY,
                    (None, Preparing::Never) if is_busy => BUSY,
                    (None, Preparing::Never | Preparing::Kept) => IDLE,
                }
            }
            Err(StoreError::Closed | StoreError::Unwritable(WriteFault::Replaced { .. })) => return,
            // Commands say what is wrong with the database.
            Err(_) => IDLE,
        };
        let _ = tokio::time::timeout(wait, tail.wake.notified()).await;
    }
}

/// What has happened to the data, where it is not that which was opened. Connections look at their server;
/// this is about the data on it.
async fn replaced(tail: &LogTail, connections: &Connections, end: &LogEnd) -> Option<&'static str> {
    let (opened, found) = (tail.of.as_ref()?, end.of.as_ref()?);
    if opened != found {
        return Some("the database was restored from a backup, or its data was replaced");
    }
    let is_less = end.newest < *tail.settled.borrow();
    if !is_less || tail.watch == LogWatch::Withheld || end.is_read_only {
        return None;
    }
    // Files that were put back leave no other trace, so the next process could not tell.
    if let Err(error) = identity::end_epoch(connections, &opened.epoch).await {
        let error: &dyn std::error::Error = &error;
        tracing::error!(error, "no other epoch could be begun");
    }
    Some("events that were read are gone: the database was restored from a backup")
}

/// Since when events are held back; `None` where all can be read.
async fn held(
    tail: &LogTail,
    connections: &Connections,
    end: &LogEnd,
    since: Option<Instant>,
) -> Option<Instant> {
    if end.settled >= end.newest {
        tail.report(None);
        return None;
    }
    let since = since.unwrap_or_else(Instant::now);
    if since.elapsed() >= REPORT_AFTER {
        let holder = oldest_writer(connections).await.ok().flatten();
        tail.report(Some(LogLag { held_for: since.elapsed(), holder }));
    }
    Some(since)
}

/// Who has the oldest open transaction that writes, in any database of the server.
pub(crate) async fn oldest_writer(connections: &Connections) -> StoreResult<Option<LogHolder>> {
    let sql = "select pid, null::text as name, '' as database, age(backend_xid) as age
               from pg_stat_activity where backend_xid is not null
               union all
               select null, gid, database::text, age(transaction) from pg_prepared_xacts
               order by age desc limit 1";
    let Some(row) = connections.read_one(&SqlQuery::new(sql)).await? else { return Ok(None) };
    let row = Columns::of(&row, "pg_stat_activity", "pid");
    Ok(match row.get::<Option<String>>("name")? {
        Some(name) => {
            // Any program may have chosen it, and it is shown as a line.
            let name = name.replace(char::is_control, " ");
            Some(LogHolder::Prepared { name, database: row.get("database")? })
        }
        None => Some(LogHolder::Process(row.get("pid")?)),
    })
}

async fn look_at_server(tail: Arc<LogTail>, connections: Connections) {
    while !connections.is_closed() {
        tokio::time::sleep(LOOK_EVERY).await;
        if let Ok(offset) = clock::offset(&connections).await {
            tail.clock_offset.store(offset, Ordering::Relaxed);
        }
        if connections.state().is_disk_full() {
            room::look(&connections).await;
        }
        // A pooler keeps its connections to this process when the server behind it is another one.
        if connections.preparing() == Preparing::Never
            && let Ok(connection) = connections.connection().await
        {
            connections.state().is_same_on(&connection).await;
        }
    }
}

/// One channel for each schema.
async fn channel(connections: &Connections) -> StoreResult<String> {
    let sql = "select 'baton_' || md5(current_schema()) as channel";
    let row = connections.read_one(&SqlQuery::new(sql)).await?;
    let row = row.ok_or_else(|| crate::error::damaged("no schema is chosen"))?;
    Columns::of(&row, "pg_namespace", "channel").get("channel")
}

/// Tells the other nodes that there is something to read: once for many appends.
async fn announce(tail: Arc<LogTail>, connections: Connections, channel: String) {
    while !connections.is_closed() {
        tail.unannounced.notified().await;
        let query = SqlQuery::new("select pg_notify($1, '')").with(channel.as_str(), Type::TEXT);
        match connections.rows(&query).await {
            Ok(_) => {}
            Err(StoreError::Closed) => return,
            // The others ask from time to time.
            Err(_) => {}
        }
        tokio::time::sleep(NOTIFY_EVERY).await;
    }
}

/// Listens on a connection of its own, again and again until the store is closed.
async fn listen(
    tail: Arc<LogTail>,
    connections: Connections,
    settings: PostgresSettings,
    channel: String,
) {
    while !connections.is_closed() {
        if let Err(error) = hear(&tail, &connections, &settings, &channel).await {
            tracing::debug!(
                error = error.as_ref() as &dyn std::error::Error,
                "the database cannot be listened to"
            );
        }
        tokio::time::sleep(RECONNECT).await;
    }
}

type ListenError = Box<dyn std::error::Error + Send + Sync>;

async fn hear(
    tail: &LogTail,
    connections: &Connections,
    settings: &PostgresSettings,
    channel: &str,
) -> Result<(), ListenError> {
    if settings.wants_tls() {
        let (client, connection) = settings.config.connect(connect::tls(settings)?).await?;
        hear_on(tail, connections, client, connection, channel).await
    } else {
        let (client, connection) = settings.config.connect(NoTls).await?;
        hear_on(tail, connections, client, connection, channel).await
    }
}

async fn hear_on<S>(
    tail: &LogTail,
    connections: &Connections,
    client: tokio_postgres::Client,
    mut connection: tokio_postgres::Connection<tokio_postgres::Socket, S>,
    channel: &str,
) -> Result<(), ListenError>
where
    S: tokio::io::AsyncRead + tokio::io::AsyncWrite + Unpin,
{
    let mut messages = futures_util::stream::poll_fn(move |cx| connection.poll_message(cx));
    let sql = format!("listen {channel}");
    let mut listening = std::pin::pin!(client.batch_execute(&sql));
    let mut is_listening = false;
    loop {
        tokio::select! {
            result = &mut listening, if !is_listening => {
                result?;
                is_listening = true;
                // What was said before is asked for once.
                tail.wake.notify_one();
            }
            message = messages.next() => match message {
                Some(Ok(AsyncMessage::Notification(_))) => tail.wake.notify_one(),
                Some(Ok(_)) => {}
                Some(Err(error)) => return Err(error.into()),
                None => return Ok(()),
            },
            () = tokio::time::sleep(IDLE) => {
                if connections.is_closed() {
                    return Ok(());
                }
            }
        }
    }
}
