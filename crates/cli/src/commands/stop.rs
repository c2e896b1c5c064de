//! Stop signals for long-running commands.

use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::oneshot;

/// Ctrl-C, or the signal of a service manager. Signals are caught from this call on, not only once
/// the future is awaited: a server that reports itself ready can be stopped at once.
pub(super) fn stop_signal() -> impl Future<Output = ()> + Send + 'static {
    let interrupt = signal(SignalKind::interrupt());
    let terminate = signal(SignalKind::terminate());
    async {
        tokio::select! {
            () = heard(interrupt) => {}
            () = heard(terminate) => {}
        }
    }
}

/// The end of our standard input: the process that started this one holds the other end, which is
/// closed however that process ends.
pub(super) async fn input_ends() {
    let (is_over, over) = oneshot::channel::<()>();
    // A thread of its own: a read that waits for ever would keep the runtime from ending.
    std::thread::spawn(move || {
        let _ = std::io::copy(&mut std::io::stdin().lock(), &mut std::io::sink());
        let _ = is_over.send(());
    });
    let _ = over.await;
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
