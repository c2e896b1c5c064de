//! How requests reach the API: in the server's own process, or over the network.

use async_trait::async_trait;
use bytes::Bytes;
use http::{Request, Response};

/// Sends requests to `/api/v1`.
#[async_trait]
pub trait ApiTransport: Send + Sync {
    async fn send(&self, request: Request<Bytes>) -> Result<Response<Bytes>, Unreachable>;

    /// The address of the server that answered last, where it may change.
    fn url(&self) -> Option<String> {
        None
    }
}

/// The server did not answer.
#[derive(Debug, thiserror::Error)]
#[error("{why}")]
pub struct Unreachable {
    pub why: String,
}
