//! A task in the background: one owner, one loop, one way to stop.

use tokio::sync::watch;
use tokio::task::JoinHandle;

/// Runs until it is stopped or dropped.
pub struct BackgroundTask {
    stop: watch::Sender<bool>,
    task: JoinHandle<()>,
}

impl BackgroundTask {
    /// `run` ends once what it is given is true, or gone.
    pub fn start<F>(run: impl FnOnce(watch::Receiver<bool>) -> F) -> Self
    where
        F: Future<Output = ()> + Send + 'static,
    {
        let (stop, stopped) = watch::channel(false);
        Self { stop, task: tokio::spawn(run(stopped)) }
    }

    /// Waits for the work in progress.
    pub async fn stop(self) {
        self.stop.send_replace(true);
        // The runtime has already reported a panic of the task.
        let _ = self.task.await;
    }
}
