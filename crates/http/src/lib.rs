//! Baton over HTTP: the pipeline API to the letter, the native API, and the server around them.
//!
//! This crate turns requests into commands of the engine and results into JSON, and decides
//! nothing. `guard` says which requests are let in; `problem` has the error responses.

mod body;
mod cluster;
mod content_negotiation;
mod credential;
mod errors;
mod events;
mod failure_log;
mod guard;
mod health;
mod heavy;
mod limits;
mod local;
mod lookup;
mod masked;
mod metrics;
mod misfit;
mod openapi;
mod page;
mod params;
mod pipeline;
mod preconditions;
mod problem;
mod query;
mod receive;
mod recount;
mod runner_presence;
mod schemas;
mod scope;
mod serve;
mod usage_metrics;
mod v1;
mod values;

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::http::HeaderValue;
use axum::middleware::from_fn_with_state;
use baton_core::decide::IdSource as _;
use baton_engine::{Engine, SystemClock};
use baton_store::Statistics;
use baton_views::{Archive, Insights};
use tokio::net::TcpListener;
use tokio::sync::{Mutex, Semaphore, oneshot};
use utoipa_axum::router::OpenApiRouter;
use uuid::Uuid;

pub use crate::cluster::{ClusterState, DelayHolder, LogDelay, NodeDirectory, ServerNode};
pub use crate::credential::RunnerKey;
pub use crate::limits::ServerLimits;
pub use crate::local::Local;
pub use crate::usage_metrics::UsageMetrics;

use crate::events::EventTail;
use crate::guard::Origins;
use crate::heavy::HeavyPool;
use crate::metrics::RequestMetrics;
use crate::preconditions::ConditionalRoutes;
use crate::receive::Bodies;
use crate::recount::Recount;
use crate::scope::Door;

/// The server's address and allowed host names.
#[derive(Debug, Clone)]
pub struct ListenOptions {
    pub listen: SocketAddr,
    /// Host names of the server besides the loopback ones, as `host` or `host:port`.
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
        "{address} can be reached from other machines, and there is no access control yet; listen on 127.0.0.1"
    )]
    Open { address: SocketAddr },
}

/// A server that is bound to its address and takes requests once [`Server::run`] is called.
pub struct Server {
    listener: TcpListener,
    address: SocketAddr,
    instance: Uuid,
    engine: Arc<Engine>,
    router: Router,
    live: Arc<EventTail>,
    limits: ServerLimits,
}

/// SSE clients that stopped reading never see the shutdown; wait at most this long.
const MOST_FAREWELL: Duration = Duration::from_secs(3);

/// What the faces stand on: commands go to the engine, and reads through the views.
#[derive(Clone)]
pub struct Backend {
    pub engine: Arc<Engine>,
    /// None where the project keeps no archive.
    pub archive: Option<Arc<Archive>>,
    /// None where no runner can claim work: then no request has a credential.
    pub runner_key: Option<RunnerKey>,
    /// What its pages call the project.
    pub project: Option<String>,
    /// What agents used, for the metrics.
    pub usage: UsageMetrics,
    /// What its pages warn of, looked at for each page; none where there is nothing that could be.
    pub notice: Option<ServerNotice>,
    /// None where one server has the store.
    pub cluster: Option<Arc<dyn NodeDirectory>>,
}

/// A warning for people that the server itself cannot know of, if it is so at the moment.
pub type ServerNotice = Arc<dyn Fn() -> Option<String> + Send + Sync>;

impl From<Arc<Engine>> for Backend {
    fn from(engine: Arc<Engine>) -> Self {
        let usage = UsageMetrics::default();
        Self {
            engine,
            archive: None,
            project: None,
            runner_key: None,
            usage,
            notice: None,
            cluster: None,
        }
    }
}

/// The state that every request can reach.
pub(crate) struct App {
    /// The engine, which no handler can reach but through a caller.
    pub(crate) door: Door,
    pub(crate) archive: Option<Arc<Archive>>,
    /// The name of the project, for the heading and the title of a page.
    pub(crate) project: Option<String>,
    pub(crate) origins: Origins,
    /// Identifies this server instance among all others, earlier or concurrent.
    pub(crate) instance: HeaderValue,
    pub(crate) metrics: RequestMetrics,
    pub(crate) usage: UsageMetrics,
    pub(crate) notice: Option<ServerNotice>,
    pub(crate) cluster: Option<Arc<dyn NodeDirectory>>,
    /// The OpenAPI 3.1 document of every route.
    pub(crate) description: String,
    /// The same as an HTML page.
    pub(crate) page: String,
    pub(crate) conditional: ConditionalRoutes,
    pub(crate) live: Arc<EventTail>,
    /// The metrics of all handoffs.
    pub(crate) statistics: Recount<Statistics>,
    /// The figures of the last seven days.
    pub(crate) insights: Recount<Insights>,
    pub(crate) heavy: HeavyPool,
    pub(crate) bodies: Bodies,
    /// One permit for each further subscriber to events.
    pub(crate) listeners: Arc<Semaphore>,
    /// Held while a story is overwritten.
    pub(crate) story_writes: Mutex<()>,
}

impl App {
    /// Without its description.
    fn new(
        Backend { engine, archive, project, runner_key, usage, notice, cluster }: Backend,
        origins: Origins,
        instance: HeaderValue,
        live: Arc<EventTail>,
        heavy: HeavyPool,
        limits: &ServerLimits,
    ) -> Self {
        Self {
            door: Door::new(engine, runner_key),
            archive,
            project,
            origins,
            instance,
            metrics: RequestMetrics::default(),
            usage,
            notice,
            cluster,
            description: String::new(),
            page: String::new(),
            conditional: ConditionalRoutes::default(),
            live,
            statistics: Recount::default(),
            insights: Recount::default(),
            heavy,
            bodies: Bodies::new(limits),
            listeners: Arc::new(Semaphore::new(limits.listeners)),
            story_writes: Mutex::new(()),
        }
    }
}

impl Server {
    /// Binds the address; port 0 picks a free one.
    pub async fn bind(
        backend: impl Into<Backend>,
        options: &ListenOptions,
    ) -> Result<Self, ServeError> {
        Self::bind_within(backend, options, ServerLimits::default()).await
    }

    /// As [`Server::bind`], with the caller's own limits.
    pub async fn bind_within(
        backend: impl Into<Backend>,
        options: &ListenOptions,
        limits: ServerLimits,
    ) -> Result<Self, ServeError> {
        let backend = backend.into();
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
        let live = Arc::new(EventTail::new(backend.engine.clone()));
        let instance = Uuid::from_bytes(SystemClock.nonce());
        let heavy = HeavyPool::start(&limits).map_err(failed)?;
        let engine = backend.engine.clone();
        let router = router(backend, origins, instance, live.clone(), heavy, &limits);
        Ok(Self { listener, address, instance, engine, router, live, limits })
    }

    /// The value of [`baton_api::INSTANCE`] in its responses.
    pub fn instance(&self) -> Uuid {
        self.instance
    }

    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Serves until `stop` is done and the requests in progress are answered. Event streams end
    /// then; their clients reconnect to the next server with the last id they received.
    pub async fn run(self, stop: impl Future<Output = ()> + Send + 'static) -> io::Result<()> {
        let Self { listener, engine, router, live, limits, .. } = self;
        let (stopped, overdue) = oneshot::channel();
        let ends = live.clone();
        let stop = async move {
            stop.await;
            ends.close();
            // The receiver is gone if the server has already ended.
            let _ = stopped.send(());
        };
        let serving = serve::serve(listener, router, limits, engine.clock(), stop);
        let overdue = async {
            match overdue.await {
                Ok(()) => tokio::time::sleep(MOST_FAREWELL).await,
                // The server failed by itself, and returns its own error.
                Err(_) => std::future::pending().await,
            }
        };
        let telling = tokio::spawn({
            let live = live.clone();
            async move { live.run().await }
        });
        tokio::select! {
            () = serving => {}
            () = overdue => {}
        }
        live.close();
        telling.await.map_err(io::Error::other)
    }
}

/// All routes of a server. A caller in the same process has [`Local`] instead.
pub(crate) fn router(
    backend: Backend,
    origins: Origins,
    instance: Uuid,
    live: Arc<EventTail>,
    heavy: HeavyPool,
    limits: &ServerLimits,
) -> Router {
    let (routes, description) = described_routes();
    let instance = match HeaderValue::try_from(instance.to_string()) {
        Ok(instance) => instance,
        Err(error) => unreachable!("an id is plain letters: {error}"),
    };
    let app = Arc::new(App {
        page: openapi::render(&description),
        conditional: ConditionalRoutes::of(&description),
        description: match description.to_json() {
            Ok(description) => description,
            Err(error) => unreachable!("our own description always encodes: {error}"),
        },
        ..App::new(backend, origins, instance, live, heavy, limits)
    });
    routes
        .merge(page::routes())
        .fallback(problem::no_such_page)
        .method_not_allowed_fallback(problem::no_such_method)
        .layer(from_fn_with_state(app.clone(), guard::check))
        .with_state(app)
}

/// Every route, and the OpenAPI description of all of them.
fn described_routes() -> (Router<Arc<App>>, utoipa::openapi::OpenApi) {
    let (routes, mut description) = OpenApiRouter::with_openapi(openapi::head())
        .merge(v1::routes())
        .merge(pipeline::routes())
        .merge(events::routes())
        .merge(openapi::routes())
        .merge(health::routes())
        .merge(metrics::routes())
        .merge(schemas::routes())
        .merge(errors::routes())
        .split_for_parts();
    openapi::finish(&mut description);
    (routes, description)
}

/// How many threads a server should have for its requests: one core is left to the writer thread,
/// for which they all wait.
pub fn n_workers() -> usize {
    let n_cores = std::thread::available_parallelism().map_or(2, usize::from);
    n_cores.saturating_sub(1).max(1)
}

/// Suggests a free port.
async fn taken(address: SocketAddr, source: io::Error) -> ServeError {
    let other = TcpListener::bind(SocketAddr::new(address.ip(), 0)).await;
    match other.and_then(|it| it.local_addr()) {
        Ok(free) => ServeError::Taken { address, free },
        Err(_) => ServeError::Listen { address, source },
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use expect_test::expect_file;

    use super::*;

    /// A change of the API is a change of this file: `UPDATE_EXPECT=1` writes it again.
    #[test]
    fn the_committed_description_is_that_of_the_routes() {
        let (_, description) = described_routes();
        let printed = description.to_pretty_json().unwrap() + "\n";
        expect_file!["../../../docs/openapi.json"].assert_eq(&printed);
    }

    /// The reverse, that every documented path exists, is an integration test.
    #[test]
    fn every_path_that_is_there_is_described() {
        let (routes, description) = described_routes();
        let described: BTreeSet<&str> =
            description.paths.paths.keys().map(String::as_str).collect();
        // A router does not expose its paths, but its debug output has them, each in quotes.
        let printed = format!("{routes:?}");
        // The first two belong to the fallback.
        let is_ours = |it: &&str| it.starts_with('/') && *it != "/" && !it.starts_with("/{*__");
        let there: BTreeSet<&str> = printed.split('"').filter(is_ours).collect();
        assert!(there.len() > 30, "{printed}");
        assert_eq!(there, described);
    }
}
