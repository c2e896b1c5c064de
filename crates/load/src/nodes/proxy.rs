//! A TCP proxy on loopback between two parts of a test, which fails on request: it cuts
//! connections, holds bytes back, delays them, and delivers them in small pieces.

use std::net::SocketAddr;
use std::time::Duration;

use anyhow::Result;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream, tcp};
use tokio::sync::watch;
use tokio::task::JoinHandle;

/// How much is read at once; less than an answer, so that one may arrive in part.
const CHUNK: usize = 8 * 1024;
/// A piece of a split delivery.
const PIECE: usize = 7;
/// Splitting costs a write for each piece: only the beginning of a chunk is.
const MOST_PIECES: usize = 64;

/// What happens to bytes on their way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LinkState {
    Clear,
    /// Each chunk waits.
    Slow(Duration),
    /// Each chunk arrives in small pieces.
    Split,
    /// Connections stay open, and nothing arrives until the link is clear again.
    Silent,
    /// New connections are closed at once.
    Down,
}

/// What a link does, and how often its connections have been cut.
#[derive(Debug, Clone, Copy)]
struct LinkOrder {
    state: LinkState,
    n_cuts: u64,
}

/// The proxy; its connections end with it.
#[derive(Debug)]
pub(crate) struct LinkProxy {
    address: SocketAddr,
    orders: watch::Sender<LinkOrder>,
    accepting: JoinHandle<()>,
}

impl LinkProxy {
    pub(crate) async fn start(target: SocketAddr) -> Result<Self> {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await?;
        let address = listener.local_addr()?;
        let (orders, received) = watch::channel(LinkOrder { state: LinkState::Clear, n_cuts: 0 });
        let accepting = tokio::spawn(accept(listener, target, received));
        Ok(Self { address, orders, accepting })
    }

    pub(crate) fn address(&self) -> SocketAddr {
        self.address
    }

    pub(crate) fn set(&self, state: LinkState) {
        self.orders.send_modify(|it| it.state = state);
    }

    /// Resets every connection there is.
    pub(crate) fn cut(&self) {
        self.orders.send_modify(|it| it.n_cuts += 1);
    }
}

impl Drop for LinkProxy {
    fn drop(&mut self) {
        self.accepting.abort();
        self.cut();
    }
}

async fn accept(listener: TcpListener, target: SocketAddr, orders: watch::Receiver<LinkOrder>) {
    while let Ok((client, _)) = listener.accept().await {
        if orders.borrow().state == LinkState::Down {
            reset(client);
            continue;
        }
        tokio::spawn(connect(client, target, orders.clone()));
    }
}

async fn connect(client: TcpStream, target: SocketAddr, orders: watch::Receiver<LinkOrder>) {
    let Ok(server) = TcpStream::connect(target).await else { return reset(client) };
    let _ = (client.set_nodelay(true), server.set_nodelay(true));
    let ((from_client, to_client), (from_server, to_server)) =
        (client.into_split(), server.into_split());
    let there = tokio::spawn(pump(from_client, to_server, orders.clone()));
    let back = tokio::spawn(pump(from_server, to_client, orders));
    let _ = tokio::join!(there, back);
}

/// Carries bytes one way until an end or a cut.
async fn pump(
    mut from: tcp::OwnedReadHalf,
    mut to: tcp::OwnedWriteHalf,
    mut orders: watch::Receiver<LinkOrder>,
) {
    let n_cuts = orders.borrow().n_cuts;
    let mut cuts = orders.clone();
    let carrying = async {
        let mut buffer = vec![0; CHUNK];
        loop {
            let n_read = from.read(&mut buffer).await?;
            if n_read == 0 {
                return to.shutdown().await;
            }
            deliver(&mut to, &buffer[..n_read], &mut orders).await?;
        }
    };
    // A dropped half resets the connection once both ways have ended.
    tokio::select! {
        _ = carrying => {}
        _ = cuts.wait_for(|it| it.n_cuts != n_cuts) => {}
    }
}

async fn deliver(
    to: &mut tcp::OwnedWriteHalf,
    bytes: &[u8],
    orders: &mut watch::Receiver<LinkOrder>,
) -> std::io::Result<()> {
    // Where the proxy is gone, so is the connection.
    let order = orders.wait_for(|it| it.state != LinkState::Silent).await;
    let state = order.map_or(LinkState::Clear, |it| it.state);
    match state {
        LinkState::Slow(by) => tokio::time::sleep(by).await,
        LinkState::Split => {
            let split = bytes.len().min(PIECE * MOST_PIECES);
            for piece in bytes[..split].chunks(PIECE) {
                to.write_all(piece).await?;
                tokio::task::yield_now().await;
            }
            return to.write_all(&bytes[split..]).await;
        }
        LinkState::Clear | LinkState::Silent | LinkState::Down => {}
    }
    to.write_all(bytes).await
}

/// Closes a connection so that its other side sees an error rather than an end.
fn reset(stream: TcpStream) {
    let _ = stream.set_zero_linger();
    drop(stream);
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A server that sends back what it gets.
    async fn echo() -> SocketAddr {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
        let address = listener.local_addr().unwrap();
        tokio::spawn(async move {
            while let Ok((mut stream, _)) = listener.accept().await {
                tokio::spawn(async move {
                    let (mut from, mut to) = stream.split();
                    let _ = tokio::io::copy(&mut from, &mut to).await;
                });
            }
        });
        address
    }

    async fn linked() -> (LinkProxy, TcpStream) {
        let proxy = LinkProxy::start(echo().await).await.unwrap();
        let stream = TcpStream::connect(proxy.address()).await.unwrap();
        (proxy, stream)
    }

    async fn echoed(stream: &mut TcpStream, text: &[u8]) -> std::io::Result<Vec<u8>> {
        stream.write_all(text).await?;
        let mut back = vec![0; text.len()];
        stream.read_exact(&mut back).await?;
        Ok(back)
    }

    #[tokio::test]
    async fn bytes_arrive_whole_whatever_the_link_does_to_them() {
        let (proxy, mut stream) = linked().await;
        let text: Vec<u8> = (0..20_000_u32).map(|it| it as u8).collect();
        for state in [LinkState::Clear, LinkState::Split, LinkState::Slow(Duration::from_millis(1))]
        {
            proxy.set(state);
            assert_eq!(echoed(&mut stream, &text).await.unwrap(), text, "{state:?}");
        }
    }

    #[tokio::test]
    async fn a_cut_ends_the_connections_there_are_and_no_later_one() {
        let (proxy, mut stream) = linked().await;
        echoed(&mut stream, b"before").await.unwrap();
        proxy.cut();
        assert!(echoed(&mut stream, b"after").await.is_err());
        let mut again = TcpStream::connect(proxy.address()).await.unwrap();
        assert_eq!(echoed(&mut again, b"again").await.unwrap(), b"again");
    }

    #[tokio::test]
    async fn a_silent_link_delivers_when_it_is_clear_again() {
        let (proxy, mut stream) = linked().await;
        echoed(&mut stream, b"before").await.unwrap();
        proxy.set(LinkState::Silent);
        stream.write_all(b"late").await.unwrap();
        let mut back = [0; 4];
        let waited = tokio::time::timeout(Duration::from_millis(50), stream.read(&mut back)).await;
        assert!(waited.is_err(), "{waited:?}");
        proxy.set(LinkState::Clear);
        stream.read_exact(&mut back).await.unwrap();
        assert_eq!(&back, b"late");
    }

    #[tokio::test]
    async fn a_link_that_is_down_takes_no_connection() {
        let (proxy, _stream) = linked().await;
        proxy.set(LinkState::Down);
        let opened = TcpStream::connect(proxy.address()).await;
        let said = match opened {
            Ok(mut stream) => echoed(&mut stream, b"hello").await,
            Err(error) => Err(error),
        };
        assert!(said.is_err());
    }
}
