//! Runs requests that keep a processor busy: in a runtime of their own, few at a time and at low
//! priority, so that the workers which serve all other requests never wait for them.
//!
//! A request is heavy by its body, or because it renders stored documents. Each of the two kinds
//! has its own queue, so that large documents of one client do not keep others from reading theirs.

use std::io;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;

use axum::http::StatusCode;
use futures_util::FutureExt as _;
use tokio::runtime::{Builder, Runtime};
use tokio::sync::Semaphore;
use tokio::task::JoinHandle;
use tokio::time::timeout;

use crate::limits::ServerLimits;
use crate::problem::ApiProblem;

/// Why a request is not for the workers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Heavy {
    /// It has a large document as its body.
    Document,
    /// It renders stored documents.
    Rendering,
}

pub(crate) struct HeavyPool {
    /// None if there are no other requests that would have to wait.
    runtime: Option<Runtime>,
    documents: Turns,
    renderings: Turns,
    turn_within: Duration,
    done_within: Duration,
}

struct Turns {
    running: Arc<Semaphore>,
    /// One permit for each request that runs or waits.
    admitted: Arc<Semaphore>,
}

/// A request that renders holds no memory while it waits, so more of them may wait.
const RENDERINGS_PER_DOCUMENT: usize = 4;

impl HeavyPool {
    /// One thread for each kind of request and each core but one.
    pub(crate) fn start(limits: &ServerLimits) -> io::Result<Self> {
        let n_cores = std::thread::available_parallelism().map_or(2, usize::from);
        let n_running = n_cores.saturating_sub(1).max(1);
        let runtime = Builder::new_multi_thread()
            .worker_threads(2 * n_running)
            .thread_name("heavy")
            .on_thread_start(yield_to_others)
            .enable_all()
            .build()?;
        Ok(Self {
            runtime: Some(runtime),
            documents: Turns::new(n_running, limits.waiting),
            renderings: Turns::new(n_running, limits.waiting * RENDERINGS_PER_DOCUMENT),
            turn_within: limits.turn_within,
            done_within: limits.done_within,
        })
    }

    /// Everything runs on the caller's own thread.
    pub(crate) fn inline() -> Self {
        let none = || Turns::new(0, 0);
        let (turn_within, done_within) = (Duration::ZERO, Duration::ZERO);
        Self { runtime: None, documents: none(), renderings: none(), turn_within, done_within }
    }

    /// Carries `work` out when it is its turn. If the caller goes away, its work is aborted.
    pub(crate) async fn run<T: Send + 'static>(
        &self,
        kind: Heavy,
        work: impl Future<Output = T> + Send + 'static,
    ) -> Result<T, ApiProblem> {
        let Some(runtime) = &self.runtime else { return Ok(work.await) };
        let turns = match kind {
            Heavy::Document => &self.documents,
            Heavy::Rendering => &self.renderings,
        };
        let admitted = turns.admitted.clone().try_acquire_owned().map_err(|_| busy())?;
        let turn = timeout(self.turn_within, turns.running.clone().acquire_owned()).await;
        let running = turn.map_err(|_| busy())?.map_err(|_| busy())?;
        let mut task = AbortOnDrop(runtime.spawn(async move {
            // Both permits are released when the work has ended, not when its caller has gone:
            // until then it keeps a thread.
            let _held = (admitted, running);
            AssertUnwindSafe(work).catch_unwind().await
        }));
        match timeout(self.done_within, &mut task.0).await {
            Ok(Ok(Ok(done))) => Ok(done),
            Ok(Ok(Err(_)) | Err(_)) => Err(ApiProblem::bug()),
            Err(_) => Err(too_slow(self.done_within)),
        }
    }

    /// Runs `work` here if it is about few bytes, else in the pool when it is its turn.
    pub(crate) async fn render<T: Send + 'static>(
        &self,
        n_bytes: usize,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, ApiProblem> {
        if n_bytes <= ServerLimits::SMALL_BODY {
            return Ok(work());
        }
        self.run(Heavy::Rendering, async move { work() }).await
    }
}

impl Drop for HeavyPool {
    fn drop(&mut self) {
        // Blocking on the threads is not allowed here, and their results are not needed any more.
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}

impl Turns {
    fn new(n_running: usize, n_waiting: usize) -> Self {
        Self {
            running: Arc::new(Semaphore::new(n_running)),
            admitted: Arc::new(Semaphore::new(n_running + n_waiting)),
        }
    }
}

/// A task that is aborted when its caller is gone; it ends at its next `await`.
struct AbortOnDrop<T>(JoinHandle<T>);

impl<T> Drop for AbortOnDrop<T> {
    fn drop(&mut self) {
        self.0.abort();
    }
}

/// On Linux a thread has its own niceness: these threads get what the others leave.
#[cfg(target_os = "linux")]
fn yield_to_others() {
    const NICENESS: i32 = 10;
    // If it fails, the pool is as bounded, only at normal priority.
    let _ = rustix::process::setpriority_process(Some(rustix::thread::gettid()), NICENESS);
}

#[cfg(not(target_os = "linux"))]
fn yield_to_others() {}

pub(crate) fn busy() -> ApiProblem {
    let message = "the server has as many large requests as it takes at a time, and has not begun \
                   with this one; send it again in a moment";
    ApiProblem::new(StatusCode::SERVICE_UNAVAILABLE, "busy", message).again_after(1)
}

fn too_slow(within: Duration) -> ApiProblem {
    let message = format!(
        "the request was given up after {} s; it may have been carried out: look before you send \
         it again, or send it with the same `Idempotency-Key`",
        within.as_secs()
    );
    ApiProblem::new(StatusCode::SERVICE_UNAVAILABLE, "too_slow", message).again_after(30)
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use tokio::sync::oneshot;

    use super::*;

    fn limits() -> ServerLimits {
        ServerLimits { waiting: 1, ..ServerLimits::default() }
    }

    fn code(problem: &ApiProblem) -> &str {
        problem.code()
    }

    #[tokio::test]
    async fn the_workers_go_on_while_the_pool_is_busy_and_beyond_its_bound_it_refuses() {
        let pool = Arc::new(HeavyPool::start(&limits()).unwrap());
        let n_running = pool.documents.running.available_permits();
        let mut gates = Vec::new();
        let mut tasks = Vec::new();
        for _ in 0..n_running + 1 {
            let (open, gate) = mpsc::channel::<()>();
            gates.push(open);
            let pool = pool.clone();
            // Blocks its thread, like work that never awaits.
            let work = async move { gate.recv().is_err() };
            tasks.push(tokio::spawn(async move { pool.run(Heavy::Document, work).await }));
        }
        while pool.documents.admitted.available_permits() > 0 {
            tokio::task::yield_now().await;
        }
        // The only worker of this test is still free, and requests of the other kind still run.
        let refused = pool.run(Heavy::Document, async {}).await.unwrap_err();
        assert_eq!(code(&refused), "busy");
        assert_eq!(pool.run(Heavy::Rendering, async { 7 }).await.unwrap(), 7);
        drop(gates);
        for task in tasks {
            assert!(task.await.unwrap().unwrap());
        }
        pool.run(Heavy::Document, async {}).await.unwrap();
    }

    #[tokio::test]
    async fn work_that_takes_too_long_is_given_up_and_frees_its_place() {
        let limits = ServerLimits { done_within: Duration::from_millis(1), ..limits() };
        let pool = HeavyPool::start(&limits).unwrap();
        let (dropped, is_dropped) = oneshot::channel::<()>();
        let work = async move {
            let _dropped = dropped;
            std::future::pending::<()>().await;
        };
        let given_up = pool.run(Heavy::Document, work).await.unwrap_err();
        assert_eq!(code(&given_up), "too_slow");
        assert!(is_dropped.await.is_err());
    }

    #[tokio::test]
    async fn a_panic_is_answered() {
        let pool = HeavyPool::start(&limits()).unwrap();
        let work = async { unreachable!("on purpose") };
        let problem = pool.run::<()>(Heavy::Document, work).await.unwrap_err();
        assert_eq!(code(&problem), "bug");
        pool.run(Heavy::Document, async {}).await.unwrap();
    }
}
