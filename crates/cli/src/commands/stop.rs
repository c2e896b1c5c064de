//! Stop signals for long-running commands.

use tokio::signal::unix::{Signal, SignalKind, signal};

/// Ctrl-C, or the signal of a service manager. Signals are caught from this call on, not only once
/// the future is awaited: a server that reports itself ready can be stopped at once.
pub(super) fn told_to_stop() -> impl Future<Output = ()> + Send + 'static {
    let interrupt = signal(SignalKind::interrupt());
    let terminate = signal(SignalKind::terminate());
    async {
        tokio::select! {
            () = heard(interrupt) => {}
            () = heard(terminate) => {}
        }
    }
}

/// If one signal cannot be caught, the other still works.
async fn heard(signal: std::io::Result<Signal>) {
    match signal {
        Ok(mut signal) => {
            signal.recv().await;
        }
        Err(_) => std::future::pending().await,
    }
}
