//! One connection, from its first byte to its last.

use std::future::poll_fn;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::extract::Request;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::sync::watch;
use tokio::time::{Instant, sleep_until, timeout};
use tower::ServiceExt as _;

use super::activity::{Activity, Overdue, Watched};
use super::head::TwoLengths;
use crate::limits::ServerLimits;

/// The response to a client whose request does not arrive in time.
const TOO_SLOW: &[u8] = b"HTTP/1.1 408 Request Timeout\r\ncontent-length: 0\r\n\
    connection: close\r\n\r\n";

/// Closing a socket with unread bytes in it can make its client lose the response, so some are read
/// before that.
const MOST_LINGERING: Duration = Duration::from_secs(1);
const MOST_LINGERED: usize = 1024 * 1024;

/// Serves one connection until its client, a time-out or the server ends it.
pub(super) async fn serve(
    stream: TcpStream,
    router: Router,
    limits: Arc<ServerLimits>,
    mut closing: watch::Receiver<bool>,
) {
    // Responses are written whole; Nagle's algorithm would only delay them.
    let _ = stream.set_nodelay(true);
    let activity = Activity::begin(Instant::now());
    let service = service_fn({
        let activity = activity.clone();
        move |mut request: Request<Incoming>| {
            if activity.request_begins(&request) {
                request.extensions_mut().insert(TwoLengths);
            }
            let activity = activity.clone();
            let answering = router.clone().oneshot(request.map(Body::new));
            Box::pin(async move {
                let answer = answering.await;
                activity.request_ends();
                answer
            })
        }
    });
    let io = TokioIo::new(Watched { stream, activity: activity.clone() });
    let mut connection = http1::Builder::new()
        .header_read_timeout(None)
        .max_buf_size(ServerLimits::HEAD_BYTES)
        .serve_connection(io, service);
    // Checked now and then, not at every byte: a time-out may come a little late.
    let mut look = pin!(sleep_until(Instant::now() + limits.head_within));
    let mut is_closing = false;
    let overdue = loop {
        tokio::select! {
            biased;
            _ = poll_fn(|it| connection.poll_without_shutdown(it)) => break None,
            () = &mut look => {
                let now = Instant::now();
                let overdue = activity.overdue(now, &limits);
                if overdue.is_some() {
                    break overdue;
                }
                look.as_mut().reset(now + limits.head_within);
            }
            _ = closing.wait_for(|it| *it), if !is_closing => {
                is_closing = true;
                Pin::new(&mut connection).graceful_shutdown();
            }
        }
    };
    if !is_closing {
        end(connection.into_parts().io.into_inner().stream, overdue).await;
    }
}

/// Errors are ignored here: the connection is over.
async fn end(mut stream: TcpStream, overdue: Option<Overdue>) {
    match overdue {
        None => {}
        Some(Overdue::Head) => {
            let _ = stream.try_write(TOO_SLOW);
        }
        Some(Overdue::Idle | Overdue::Answer) => return,
    }
    let lingering = async {
        let _ = stream.shutdown().await;
        let mut unread = [0; 4096];
        let mut n_unread = 0;
        while let Ok(n_bytes @ 1..) = stream.read(&mut unread).await {
            n_unread += n_bytes;
            if n_unread > MOST_LINGERED {
                break;
            }
        }
    };
    // Whether or not everything has been read, the connection ends here.
    let _ = timeout(MOST_LINGERING, Box::pin(lingering)).await;
}
