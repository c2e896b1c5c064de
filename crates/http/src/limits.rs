//! The limits of one server: the numbers of docs/how-to/server.md.

use std::time::Duration;

/// Limits on connections, on long requests, and on the memory that they hold.
#[derive(Debug, Clone)]
pub struct ServerLimits {
    /// Concurrent connections; fewer if the system allows this process fewer files.
    pub connections: usize,
    /// How many of them may subscribe to events.
    pub listeners: usize,
    /// Time-out for the head of a request, from its first byte.
    pub head_within: Duration,
    /// Time-out for the body of a request.
    pub body_within: Duration,
    /// Time-out for the next request on a connection that is kept open.
    pub idle_within: Duration,
    /// Time-out for a client to read any of the bytes that wait for it.
    pub taken_within: Duration,
    /// All bodies that are being received or processed, in bytes. Bodies of up to
    /// [`ServerLimits::SMALL_BODY`] are not counted.
    pub body_bytes: usize,
    /// Heavy requests that wait for their turn.
    pub waiting: usize,
    /// Time-out for the turn of a heavy request.
    pub turn_within: Duration,
    /// Time-out for a heavy request to be carried out.
    pub done_within: Duration,
}

impl ServerLimits {
    /// Documents with more bytes than this are read, linted and rendered apart from other requests.
    pub const SMALL_DOCUMENT: usize = 8 * 1024;

    /// Bodies up to this size are always received.
    pub const SMALL_BODY: usize = 64 * 1024;

    /// The head of a request, and the size of one read from a connection: a head that is complete
    /// by the read that crosses this bound is accepted, so the most is twice as much.
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
