//! Stands between a server and its database, and notes the statements that it sends.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};

use anyhow::Result;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinHandle;

use super::protocol::{ClientStream, SentStatement};

pub(super) struct Capture {
    pub(super) address: SocketAddr,
    sent: Arc<Mutex<Vec<SentStatement>>>,
    accepting: JoinHandle<()>,
}

impl Capture {
    pub(super) async fn start(database: SocketAddr) -> Result<Self> {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await?;
        let address = listener.local_addr()?;
        let sent = Arc::<Mutex<Vec<SentStatement>>>::default();
        let noted = sent.clone();
        let accepting = tokio::spawn(async move {
            while let Ok((client, _)) = listener.accept().await {
                tokio::spawn(carry(client, database, noted.clone()));
            }
        });
        Ok(Self { address, sent, accepting })
    }

    /// What has been sent since this was asked the last time.
    pub(super) fn take(&self) -> Vec<SentStatement> {
        std::mem::take(&mut *self.sent.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Drop for Capture {
    fn drop(&mut self) {
        self.accepting.abort();
    }
}

async fn carry(
    client: TcpStream,
    database: SocketAddr,
    noted: Arc<Mutex<Vec<SentStatement>>>,
) -> Result<()> {
    let server = TcpStream::connect(database).await?;
    let ((mut from_client, mut to_client), (mut from_server, mut to_server)) =
        (client.into_split(), server.into_split());
    let back = tokio::spawn(async move {
        let _ = tokio::io::copy(&mut from_server, &mut to_client).await;
    });
    let mut stream = ClientStream::default();
    let mut buffer = vec![0; 64 * 1024];
    loop {
        let n_read = from_client.read(&mut buffer).await?;
        if n_read == 0 {
            break;
        }
        let statements = stream.take(&buffer[..n_read])?;
        noted.lock().unwrap_or_else(PoisonError::into_inner).extend(statements);
        to_server.write_all(&buffer[..n_read]).await?;
    }
    to_server.shutdown().await?;
    Ok(back.await?)
}
