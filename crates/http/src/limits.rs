//! What one server takes on at a time: the numbers of docs/how-to/server.md.

use std::time::Duration;

/// Bounds on connections, on requests that take long, and on what they keep in memory.
#[derive(Debug, Clone)]
pub struct ServerLimits {
    /// Connections at a time; fewer where the system allows this process fewer files.
    pub connections: usize,
    /// Of them, those that listen to events.
    pub listeners: usize,
    /// For the head of a request, from its first byte.
    pub head_within: Duration,
    /// For the body of a request.
    pub body_within: Duration,
    /// For the next request on a connection that is kept open.
    pub idle_within: Duration,
    /// For a client to take any of the bytes that wait for it.
    pub taken_within: Duration,
    /// All bodies that are being received or worked on, in bytes. Bodies of up to
    /// [`ServerLimits::SMALL_BODY`] are not counted.
    pub body_bytes: usize,
    /// Large requests that wait for their turn.
    pub waiting: usize,
    /// For the turn of a large request.
    pub turn_within: Duration,
    /// For a large request to be carried out.
    pub done_within: Duration,
}

impl ServerLimits {
    /// What has more bytes than this is read, linted and rendered apart from other requests.
    pub const SMALL_DOCUMENT: usize = 8 * 1024;

    /// Bodies up to this size are always received.
    pub const SMALL_BODY: usize = 64 * 1024;

    /// The head of a request, and what is read from a connection at once: a head that is complete
    /// by the read that crosses this bound is taken, so the most is twice as much.
    pub(crate) const HEAD_BYTES: usize = 32 * 1024;
}

impl Default for ServerLimits {
    fn default() -> Self {
        Self {
            connections: 10_000,
            listeners: 5_000,
            head_within: Duration::from_secs(10),
            body_within: Duration::from_secs(60),
            idle_within: Duration::from_secs(75),
            taken_within: Duration::from_secs(60),
            body_bytes: 64 * 1024 * 1024,
            waiting: 64,
            turn_within: Duration::from_secs(10),
            done_within: Duration::from_secs(30),
        }
    }
}
