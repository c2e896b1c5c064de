//! A spare file descriptor. When this process may open no more files, it is closed for a moment, so
//! that a client gets a response that there is no room, instead of none.

use std::os::fd::{AsFd as _, OwnedFd};
use std::time::Duration;

use tokio::net::{TcpListener, TcpStream};

/// A client that has disconnected meanwhile is not waited for.
const WAIT: Duration = Duration::from_millis(20);

#[derive(Debug)]
pub(super) struct Spare(Option<OwnedFd>);

impl Spare {
    pub(super) fn of(listener: &TcpListener) -> Self {
        Self(one_more(listener))
    }

    /// Closes the spare to accept the client that has waited longest. None if there is no spare, or
    /// another part of the process took the descriptor first.
    pub(super) async fn accept(&mut self, listener: &TcpListener) -> Option<TcpStream> {
        self.0.take()?;
        let accepted = tokio::time::timeout(WAIT, listener.accept()).await;
        accepted.ok()?.ok().map(|(stream, _)| stream)
    }

    /// Opens the spare again, once the client has been answered.
    pub(super) fn fill(&mut self, listener: &TcpListener) {
        if self.0.is_none() {
            self.0 = one_more(listener);
        }
    }
}

fn one_more(listener: &TcpListener) -> Option<OwnedFd> {
    listener.as_fd().try_clone_to_owned().ok()
}
