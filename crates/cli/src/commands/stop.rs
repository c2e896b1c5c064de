//! How whoever runs Baton for long tells it to stop.

use tokio::signal::unix::{Signal, SignalKind, signal};

/// Ctrl-C, or what a service manager sends. It is heard from the call on, not only once somebody
/// waits for it: whoever says that it is there can be told to go.
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

/// Where one cannot be listened to, the other still works.
async fn heard(signal: std::io::Result<Signal>) {
    match signal {
        Ok(mut signal) => {
            signal.recv().await;
        }
        Err(_) => std::future::pending().await,
    }
}
