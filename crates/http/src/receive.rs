//! Receives a request body: into one buffer, bounded in size and time, and within a bound on all
//! bodies together.

use std::sync::Arc;
use std::time::Duration;

use axum::body::{Body, HttpBody as _};
use axum::http::StatusCode;
use bytes::Bytes;
use http_body_util::BodyExt as _;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::timeout;

use crate::body::MOST_BYTES;
use crate::heavy::busy;
use crate::limits::ServerLimits;
use crate::problem::ApiProblem;

/// The memory for all bodies together, in units of [`UNIT`].
pub(crate) struct Bodies {
    units: Arc<Semaphore>,
    within: Duration,
}

/// A body, and its share of the bound until its request is answered.
pub(crate) struct ReceivedBody {
    pub(crate) bytes: Bytes,
    pub(crate) held: Option<OwnedSemaphorePermit>,
}

const UNIT: usize = ServerLimits::SMALL_BODY;

/// How much of a refused request is read, so that its connection can be reused.
const MOST_DRAINED: usize = 64 * 1024;
const DRAINED_WITHIN: Duration = Duration::from_secs(1);

impl Bodies {
    pub(crate) fn new(limits: &ServerLimits) -> Self {
        let units = Arc::new(Semaphore::new(limits.body_bytes / UNIT));
        Self { units, within: limits.body_within }
    }

    /// Receives the whole body. If it is refused, the rest of it is still on its way.
    pub(crate) async fn receive(&self, body: Body) -> Result<ReceivedBody, ApiProblem> {
        if body.is_end_stream() {
            return Ok(ReceivedBody { bytes: Bytes::new(), held: None });
        }
        if body.size_hint().lower() > MOST_BYTES as u64 {
            return Err(too_large());
        }
        match timeout(self.within, self.collect(body)).await {
            Ok(received) => received,
            Err(_) => {
                let seconds = self.within.as_secs();
                let message = format!("the body did not arrive within {seconds} s");
                Err(ApiProblem::new(StatusCode::REQUEST_TIMEOUT, "too_slow_body", message))
            }
        }
    }

    async fn collect(&self, mut body: Body) -> Result<ReceivedBody, ApiProblem> {
        let first = match next(&mut body).await? {
            // Nearly every body comes in one piece, which need not be copied.
            Some(piece) if body.is_end_stream() => {
                return Ok(ReceivedBody { bytes: piece, held: None });
            }
            Some(piece) => piece,
            None => Bytes::new(),
        };
        let expected = usize::try_from(body.size_hint().lower()).unwrap_or(MOST_BYTES);
        let mut whole = Vec::with_capacity((first.len() + expected).min(UNIT));
        let mut held: Option<OwnedSemaphorePermit> = None;
        whole.extend_from_slice(&first);
        while let Some(piece) = next(&mut body).await? {
            let length = whole.len() + piece.len();
            if length > MOST_BYTES {
                return Err(too_large());
            }
            if length > whole.capacity() {
                self.hold(length, &mut held)?;
                // Doubles each time, but never beyond the most bytes of a body.
                let capacity = (2 * length).min(MOST_BYTES);
                whole.reserve_exact(capacity - whole.len());
            }
            whole.extend_from_slice(&piece);
        }
        Ok(ReceivedBody { bytes: whole.into(), held })
    }

    /// Takes the further share of the bound that a body of this length needs.
    fn hold(
        &self,
        length: usize,
        held: &mut Option<OwnedSemaphorePermit>,
    ) -> Result<(), ApiProblem> {
        let n_held = held.as_ref().map_or(0, OwnedSemaphorePermit::num_permits);
        let capacity = (2 * length).min(MOST_BYTES);
        let more = capacity.div_ceil(UNIT).saturating_sub(1).saturating_sub(n_held);
        if more == 0 {
            return Ok(());
        }
        let more = u32::try_from(more).map_err(|_| busy())?;
        let permit = self.units.clone().try_acquire_many_owned(more).map_err(|_| busy())?;
        match held {
            Some(held) => held.merge(permit),
            None => *held = Some(permit),
        }
        Ok(())
    }
}

/// Discards the rest of a small body. False if more is on its way than is worth reading.
pub(crate) async fn drain(mut body: Body) -> bool {
    let draining = async {
        let mut n_bytes = 0;
        while let Ok(Some(piece)) = next(&mut body).await {
            n_bytes += piece.len();
            if n_bytes > MOST_DRAINED {
                return false;
            }
        }
        body.is_end_stream()
    };
    timeout(DRAINED_WITHIN, draining).await.unwrap_or(false)
}

/// The next frame that is not a trailer.
async fn next(body: &mut Body) -> Result<Option<Bytes>, ApiProblem> {
    loop {
        let Some(frame) = body.frame().await else { return Ok(None) };
        let broken = |_| ApiProblem::malformed("broken_off", "the body did not arrive whole");
        if let Ok(piece) = frame.map_err(broken)?.into_data() {
            return Ok(Some(piece));
        }
    }
}

pub(crate) fn too_large() -> ApiProblem {
    ApiProblem::too_large(format!("a request has at most {MOST_BYTES} bytes"))
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;

    use futures_util::stream;

    use super::*;

    fn chunked(n_chunks: usize, size: usize) -> Body {
        let chunk = Bytes::from(vec![b'x'; size]);
        let chunks = (0..n_chunks).map(move |_| Ok::<_, Infallible>(chunk.clone()));
        Body::from_stream(stream::iter(chunks))
    }

    fn bodies(body_bytes: usize) -> Bodies {
        Bodies::new(&ServerLimits { body_bytes, ..ServerLimits::default() })
    }

    async fn code(bodies: &Bodies, body: Body) -> String {
        bodies.receive(body).await.err().map_or(String::new(), |it| it.code().to_owned())
    }

    #[tokio::test]
    async fn a_body_is_received_whole_and_takes_at_most_twice_itself() {
        let bodies = bodies(8 * MOST_BYTES);
        let all = 8 * MOST_BYTES / UNIT;
        for (n_chunks, size) in [(0, 1), (1, 1), (300_000, 1), (3, UNIT), (MOST_BYTES / UNIT, UNIT)]
        {
            let received = bodies.receive(chunked(n_chunks, size)).await.unwrap();
            let n_bytes = received.bytes.len();
            assert_eq!(n_bytes, n_chunks * size);
            let n_held = (all - bodies.units.available_permits()) * UNIT;
            // The first unit is free.
            assert!(n_held + UNIT >= n_bytes, "{n_held} for {n_bytes}");
            assert!(n_held <= (2 * n_bytes).min(MOST_BYTES), "{n_held} for {n_bytes}");
            drop(received);
            assert_eq!(bodies.units.available_permits(), all);
        }
    }

    #[tokio::test]
    async fn what_is_too_large_is_refused_before_it_is_kept() {
        let bodies = bodies(8 * MOST_BYTES);
        assert_eq!(code(&bodies, chunked(MOST_BYTES / UNIT + 1, UNIT)).await, "too_large");
        let announced = Body::from(vec![0; MOST_BYTES + 1]);
        assert_eq!(code(&bodies, announced).await, "too_large");
    }

    #[tokio::test]
    async fn all_bodies_together_are_bounded_and_small_ones_always_come_in() {
        let bodies = bodies(MOST_BYTES);
        let first = bodies.receive(chunked(MOST_BYTES / UNIT, UNIT)).await.unwrap();
        assert_eq!(code(&bodies, chunked(4, UNIT)).await, "busy");
        assert_eq!(code(&bodies, chunked(UNIT / 2, 1)).await, "");
        drop(first);
        assert_eq!(code(&bodies, chunked(4, UNIT)).await, "");
    }

    #[tokio::test(start_paused = true)]
    async fn a_body_that_does_not_come_is_given_up() {
        let bodies = bodies(MOST_BYTES);
        let never = Body::from_stream(stream::pending::<Result<Bytes, Infallible>>());
        assert_eq!(code(&bodies, never).await, "too_slow_body");
    }
}
