//! The servers that a runner may use: the next one once the last does not answer.

use std::sync::atomic::{AtomicUsize, Ordering};

use bytes::Bytes;
use http::{Request, Response};

use crate::api::RemoteServer;
use crate::failure::Failure;

/// At least one server, and which of them is used.
pub(crate) struct ServerList {
    servers: Vec<RemoteServer>,
    current: AtomicUsize,
}

/// A request on its way. One that is given up, for it took too long, counts as not answered.
struct SentRequest<'a> {
    list: &'a ServerList,
    used: usize,
    is_answered: bool,
}

impl ServerList {
    /// `None` where there are none.
    pub(crate) fn new(servers: Vec<RemoteServer>) -> Option<Self> {
        (!servers.is_empty()).then(|| Self { servers, current: AtomicUsize::new(0) })
    }

    /// The address of the server that is used now.
    pub(crate) fn url(&self) -> String {
        self.server(self.current.load(Ordering::Relaxed)).url.to_string()
    }

    /// Begins at the first server that answers.
    pub(crate) async fn find(&self) -> Result<(), Failure> {
        let mut silent: Vec<Failure> = Vec::new();
        for (at, server) in self.servers.iter().enumerate() {
            match server.readiness().await {
                Ok(_) => {
                    self.current.store(at, Ordering::Relaxed);
                    return Ok(());
                }
                Err(failure) => silent.push(failure),
            }
        }
        let failure = match (silent.pop(), silent.is_empty()) {
            (Some(only), true) => only,
            (last, _) => {
                silent.extend(last);
                let whys: Vec<String> = silent.iter().map(ToString::to_string).collect();
                Failure::NoneAnswers { whys: whys.join("; ") }
            }
        };
        Err(failure)
    }

    /// Sends a request to the server that is used now. A server that is stopping does not answer either.
    pub(crate) async fn send(&self, request: Request<Bytes>) -> Result<Response<Bytes>, Failure> {
        let used = self.current.load(Ordering::Relaxed);
        let mut sent = SentRequest { list: self, used, is_answered: false };
        let answer = self.server(used).send(request).await;
        sent.is_answered = answer.as_ref().is_ok_and(|it| !it.status().is_server_error());
        answer
    }

    fn server(&self, at: usize) -> &RemoteServer {
        &self.servers[at % self.servers.len()]
    }
}

impl Drop for SentRequest<'_> {
    fn drop(&mut self) {
        let Self { list, used, is_answered } = *self;
        if is_answered || list.servers.len() == 1 {
            return;
        }
        // Of several requests that failed together, the first one goes on to the next server.
        let (next, order) = ((used + 1) % list.servers.len(), Ordering::Relaxed);
        if list.current.compare_exchange(used, next, order, order).is_ok() {
            let (silent, next) = (&list.server(used).url, &list.server(next).url);
            tracing::warn!(%silent, %next, "a server does not answer; going on with the next one");
        }
    }
}
