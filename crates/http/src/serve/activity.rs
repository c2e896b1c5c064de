//! The activity of a connection, as far as its time-outs need it.

use std::io;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};

use axum::extract::Request;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio::time::Instant;

use super::head::SentHead;
use crate::limits::ServerLimits;

/// Why the server closes a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Overdue {
    Head,
    Idle,
    /// The client does not read the response.
    Answer,
}

/// Shared by the stream, which sees bytes, and by the service, which sees requests.
#[derive(Debug)]
pub(super) struct Activity(Mutex<ConnectionState>);

#[derive(Debug)]
struct ConnectionState {
    phase: Phase,
    /// When bytes last moved in either direction.
    moved_at: Instant,
    /// Since when the client has read nothing.
    stuck_since: Option<Instant>,
    /// The head of the next request.
    head: SentHead,
}

#[derive(Debug, Clone, Copy)]
enum Phase {
    /// No byte of the next request has arrived.
    Waiting,
    /// A part of its head has arrived.
    Head { since: Instant },
    /// It is being answered. A body has its own time-out.
    Answering,
}

impl Activity {
    pub(super) fn begin(now: Instant) -> Arc<Self> {
        let state = ConnectionState {
            phase: Phase::Waiting,
            moved_at: now,
            stuck_since: None,
            head: SentHead::default(),
        };
        Arc::new(Self(Mutex::new(state)))
    }

    /// Whether the request may state its length in two ways.
    pub(super) fn request_begins<B>(&self, request: &Request<B>) -> bool {
        let mut state = self.state();
        state.phase = Phase::Answering;
        let has_two_lengths = state.head.may_have_two_lengths(request);
        state.head.clear();
        has_two_lengths
    }

    pub(super) fn request_ends(&self) {
        let mut state = self.state();
        state.phase = Phase::Waiting;
        state.moved_at = Instant::now();
    }

    /// Which time-out has passed. Sent bytes count as activity: events may go out for hours.
    pub(super) fn overdue(&self, now: Instant, limits: &ServerLimits) -> Option<Overdue> {
        let state = self.state();
        if state.stuck_since.is_some_and(|it| now >= it + limits.taken_within) {
            return Some(Overdue::Answer);
        }
        match state.phase {
            Phase::Waiting if now >= state.moved_at + limits.idle_within => Some(Overdue::Idle),
            Phase::Head { since } if now >= since + limits.head_within => Some(Overdue::Head),
            Phase::Waiting | Phase::Head { .. } | Phase::Answering => None,
        }
    }

    fn received(&self, bytes: &[u8]) {
        let now = Instant::now();
        let mut state = self.state();
        state.moved_at = now;
        match state.phase {
            Phase::Waiting => {
                state.phase = Phase::Head { since: now };
                state.head.clear();
                state.head.add(bytes);
            }
            Phase::Head { .. } => state.head.add(bytes),
            Phase::Answering => {}
        }
    }

    /// A head that arrives while a response is still being sent has to wait for it.
    fn sent(&self) {
        let now = Instant::now();
        let mut state = self.state();
        state.moved_at = now;
        state.stuck_since = None;
        match state.phase {
            Phase::Head { .. } => state.phase = Phase::Head { since: now },
            Phase::Waiting | Phase::Answering => {}
        }
    }

    fn stuck(&self) {
        let mut state = self.state();
        if state.stuck_since.is_none() {
            state.stuck_since = Some(Instant::now());
        }
    }

    /// The state is consistent after every statement, so a poisoned lock is still usable.
    fn state(&self) -> MutexGuard<'_, ConnectionState> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A stream that records when bytes move.
pub(super) struct Watched {
    pub(super) stream: TcpStream,
    pub(super) activity: Arc<Activity>,
}

impl Watched {
    fn written<T>(&self, written: Poll<io::Result<T>>) -> Poll<io::Result<T>> {
        match &written {
            Poll::Ready(Ok(_)) => self.activity.sent(),
            Poll::Ready(Err(_)) => {}
            Poll::Pending => self.activity.stuck(),
        }
        written
    }
}

impl AsyncRead for Watched {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        let read = Pin::new(&mut self.stream).poll_read(context, buffer);
        if buffer.filled().len() > before {
            self.activity.received(&buffer.filled()[before..]);
        }
        read
    }
}

impl AsyncWrite for Watched {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write(context, bytes);
        self.written(written)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        parts: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write_vectored(context, parts);
        self.written(written)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    /// What is overdue this many seconds after the last of `steps`.
    async fn after(steps: &[fn(&Activity)], seconds: u64) -> Option<Overdue> {
        let activity = Activity::begin(Instant::now());
        for step in steps {
            step(&activity);
            tokio::time::advance(Duration::from_secs(1)).await;
        }
        let now = Instant::now() + Duration::from_secs(seconds);
        activity.overdue(now, &ServerLimits::default())
    }

    #[tokio::test(start_paused = true)]
    async fn each_phase_has_its_own_limit() {
        use Overdue::{Answer, Head, Idle};
        let received: fn(&Activity) = |it| it.received(b"GET");
        let begins: fn(&Activity) = |it| {
            it.request_begins(&Request::new(()));
        };
        let ends: fn(&Activity) = Activity::request_ends;
        let sent: fn(&Activity) = Activity::sent;
        let stuck: fn(&Activity) = Activity::stuck;
        for (steps, seconds, expected) in [
            (&[][..], 74, None),
            (&[], 75, Some(Idle)),
            (&[received], 8, None),
            (&[received], 10, Some(Head)),
            // More of the head does not extend the time-out.
            (&[received, received, received], 8, Some(Head)),
            (&[received, begins], 9999, None),
            (&[received, begins, received], 9999, None),
            (&[received, begins, ends], 70, None),
            (&[received, begins, ends], 80, Some(Idle)),
            (&[received, begins, ends, received], 10, Some(Head)),
            // Events that go out keep their connection alive.
            (&[received, begins, ends, sent, sent], 73, None),
            (&[received, begins, ends, sent, stuck], 58, None),
            (&[received, begins, ends, sent, stuck], 60, Some(Answer)),
            (&[received, begins, stuck, sent], 60, None),
        ] {
            assert_eq!(after(steps, seconds).await, expected, "{} {seconds}", steps.len());
        }
    }
}
