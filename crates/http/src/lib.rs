//! Baton over HTTP: seed 000's API to the letter, and what a server needs around it.
//!
//! A face like any other: it turns requests into commands of the engine and answers into JSON,
//! and decides nothing. Who may ask at all is [`guard`]; what a no looks like is [`problem`].

mod body;
mod events;
mod guard;
mod health;
mod metrics;
mod page;
mod problem;
mod seed;

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::middleware::from_fn_with_state;
use baton_engine::Engine;
use tokio::net::TcpListener;
use tokio::sync::oneshot;

use crate::events::Live;
use crate::guard::Origins;
use crate::metrics::Metrics;

/// How a server listens, and to whom.
#[derive(Debug, Clone)]
pub struct Options {
    pub listen: SocketAddr,
    /// Names by which it may be called besides the loopback ones, as `host` or `host:port`.
    pub allowed_hosts: Vec<String>,
}

#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    #[error("{address} is taken; {free} is free")]
    Taken { address: SocketAddr, free: SocketAddr },
    #[error("cannot listen on {address}")]
    Listen {
        address: SocketAddr,
        #[source]
        source: io::Error,
    },
    #[error(
        "{address} can be reached from other machines, and nobody would have to say who they are; listen on 127.0.0.1"
    )]
    Open { address: SocketAddr },
}

/// A server that has its address and takes requests once [`Server::run`] is called.
pub struct Server {
    listener: TcpListener,
    address: SocketAddr,
    router: Router,
    live: Arc<Live>,
}

/// Whoever does not read cannot be told that it is over: the rest does not wait for them.
const MOST_FAREWELL: Duration = Duration::from_secs(3);

/// What every request can reach.
pub(crate) struct App {
    pub(crate) engine: Arc<Engine>,
    pub(crate) origins: Origins,
    pub(crate) metrics: Metrics,
    pub(crate) live: Arc<Live>,
}

impl Server {
    /// Takes the address; a port of 0 picks a free one.
    pub async fn bind(engine: Arc<Engine>, options: &Options) -> Result<Self, ServeError> {
        let asked = options.listen;
        if !asked.ip().is_loopback() {
            return Err(ServeError::Open { address: asked });
        }
        let listener = match TcpListener::bind(asked).await {
            Ok(listener) => listener,
            Err(error) if error.kind() == io::ErrorKind::AddrInUse => {
                return Err(taken(asked, error).await);
            }
            Err(source) => return Err(ServeError::Listen { address: asked, source }),
        };
        let failed = |source| ServeError::Listen { address: asked, source };
        let address = listener.local_addr().map_err(failed)?;
        let origins = Origins::new(address, &options.allowed_hosts);
        let live = Arc::new(Live::new(engine.clone()));
        let router = router(engine, origins, live.clone());
        Ok(Self { listener, address, router, live })
    }

    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Serves until `stop` is done and the requests under way are answered. Streams of events end
    /// then, and come back to the next server with the last id they heard.
    pub async fn run(self, stop: impl Future<Output = ()> + Send + 'static) -> io::Result<()> {
        let Self { listener, router, live, .. } = self;
        let (stopped, overdue) = oneshot::channel();
        let ends = live.clone();
        let stop = async move {
            stop.await;
            ends.close();
            // Nobody waits for it any more where everything has ended already.
            let _ = stopped.send(());
        };
        let serving = axum::serve(listener, router).with_graceful_shutdown(stop);
        let overdue = async {
            match overdue.await {
                Ok(()) => tokio::time::sleep(MOST_FAREWELL).await,
                // The server failed by itself, and says so.
                Err(_) => std::future::pending().await,
            }
        };
        let telling = tokio::spawn({
            let live = live.clone();
            async move { live.run().await }
        });
        let served = tokio::select! {
            served = serving => served,
            () = overdue => Ok(()),
        };
        live.close();
        telling.await.map_err(io::Error::other)?;
        served
    }
}

/// The whole face, for a server and for whoever calls it without a network.
pub(crate) fn router(engine: Arc<Engine>, origins: Origins, live: Arc<Live>) -> Router {
    let app = Arc::new(App { engine, origins, metrics: Metrics::default(), live });
    Router::new()
        .merge(health::routes())
        .merge(metrics::routes())
        .merge(seed::routes())
        .merge(events::routes())
        .merge(page::routes())
        .fallback(problem::no_such_page)
        .method_not_allowed_fallback(problem::no_such_method)
        .layer(from_fn_with_state(app.clone(), guard::check))
        .layer(from_fn_with_state(app.clone(), metrics::count))
        .with_state(app)
}

/// Says which port could be had instead.
async fn taken(address: SocketAddr, source: io::Error) -> ServeError {
    let other = TcpListener::bind(SocketAddr::new(address.ip(), 0)).await;
    match other.and_then(|it| it.local_addr()) {
        Ok(free) => ServeError::Taken { address, free },
        Err(_) => ServeError::Listen { address, source },
    }
}
