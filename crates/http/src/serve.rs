//! Accepts connections: up to the limit, each with its time-outs, and logs when the limit is
//! reached.

mod activity;
mod connection;
mod descriptors;
mod head;
mod log_throttle;
mod spare;

use std::io::{self, Write as _};
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use baton_engine::Clock;
use jiff::Timestamp;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Semaphore, watch};
use tokio::task::JoinSet;

pub(crate) use self::head::TwoLengths;
use self::log_throttle::LogThrottle;
use self::spare::Spare;
use crate::limits::ServerLimits;

/// How long to wait before the next accept after the system could not give us a connection.
const PAUSE: Duration = Duration::from_millis(200);

/// The response to a client beyond the limit of connections.
const NO_ROOM: &[u8] = b"HTTP/1.1 503 Service Unavailable\r\ncontent-type: text/plain\r\n\
    content-length: 38\r\nretry-after: 5\r\nconnection: close\r\n\r\n\
    too many connections; try again later\n";

/// The response while the machine's clock is not valid in HTTP, which has no date before 1970;
/// hyper panics at one.
const NO_DATE: &[u8] = b"HTTP/1.1 503 Service Unavailable\r\ncontent-type: text/plain\r\n\
    content-length: 80\r\nretry-after: 5\r\nconnection: close\r\n\r\n\
    not ready: the clock of this machine says a time before 1970; set it, try again\n";

/// Serves until `stop` is done and every connection has ended.
pub(crate) async fn serve(
    listener: TcpListener,
    router: Router,
    limits: ServerLimits,
    clock: &dyn Clock,
    stop: impl Future<Output = ()>,
) {
    let n_most = descriptors::most_connections(limits.connections);
    let room = Arc::new(Semaphore::new(n_most));
    let limits = Arc::new(limits);
    let (closing, is_closing) = watch::channel(false);
    let mut connections = JoinSet::new();
    let mut no_room = LogThrottle::default();
    let mut not_accepted = LogThrottle::default();
    let mut no_date = LogThrottle::default();
    let mut spare = Spare::of(&listener);
    tokio::pin!(stop);
    loop {
        let accepted = tokio::select! {
            () = &mut stop => break,
            Some(_) = connections.join_next() => continue,
            accepted = listener.accept() => accepted,
        };
        match accepted {
            Ok((stream, _)) if clock.now() < Timestamp::UNIX_EPOCH => {
                if let Some(n) = no_date.note() {
                    tracing::error!(n, "connections were refused: the clock is before 1970");
                }
                refuse(stream, NO_DATE);
            }
            Ok((stream, _)) => match room.clone().try_acquire_owned() {
                Ok(place) => {
                    let serving = connection::serve(
                        stream,
                        router.clone(),
                        limits.clone(),
                        is_closing.clone(),
                    );
                    connections.spawn(async move {
                        serving.await;
                        drop(place);
                    });
                }
                Err(_) => {
                    if let Some(n) = no_room.note() {
                        tracing::warn!(n, most = n_most, "connections were refused: too many");
                    }
                    refuse(stream, NO_ROOM);
                }
            },
            // The client disconnected before the connection was accepted.
            Err(error) if is_of_the_client(&error) => {}
            Err(error) => {
                if let Some(n) = not_accepted.note() {
                    let error: &(dyn std::error::Error + 'static) = &error;
                    tracing::error!(error, n, "connections cannot be accepted");
                }
                match spare.accept(&listener).await {
                    Some(stream) => refuse(stream, NO_ROOM),
                    None => tokio::time::sleep(PAUSE).await,
                }
                spare.fill(&listener);
            }
        }
    }
    drop(listener);
    closing.send_replace(true);
    while connections.join_next().await.is_some() {}
}

fn is_of_the_client(error: &io::Error) -> bool {
    use io::ErrorKind::{ConnectionAborted, ConnectionRefused, ConnectionReset};
    matches!(error.kind(), ConnectionAborted | ConnectionRefused | ConnectionReset)
}

/// Best effort: the socket is new, so this little fits into it without waiting.
fn refuse(stream: TcpStream, answer: &[u8]) {
    if let Ok(mut stream) = stream.into_std() {
        let _ = stream.write(answer);
        let _ = stream.shutdown(std::net::Shutdown::Write);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_said_has_the_length_it_says() {
        for answer in [NO_ROOM, NO_DATE] {
            let text = std::str::from_utf8(answer).unwrap();
            let (head, body) = text.split_once("\r\n\r\n").unwrap();
            assert!(head.contains(&format!("content-length: {}", body.len())), "{}", body.len());
        }
    }
}
