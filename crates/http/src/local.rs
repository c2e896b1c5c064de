//! The API for a caller in the engine's own process: the same routes, without network and guard.

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;

use axum::Router;
use axum::body::Body;
use axum::http::{HeaderValue, Request, Response};
use bytes::Bytes;
use http_body_util::BodyExt as _;
use tokio::sync::{Mutex, Semaphore};
use tower::ServiceExt as _;

use crate::events::EventTail;
use crate::guard::Origins;
use crate::heavy::HeavyPool;
use crate::limits::ServerLimits;
use crate::metrics::RequestMetrics;
use crate::receive::Bodies;
use crate::recount::Recount;
use crate::{App, Backend, problem, v1};

/// `/api/v1` without a server. There are no event streams here: no other client could cause events.
pub struct Local {
    router: Router,
}

impl Local {
    pub fn new(backend: impl Into<Backend>) -> Self {
        let Backend { engine, archive } = backend.into();
        let nowhere = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
        let app = Arc::new(App {
            live: Arc::new(EventTail::new(engine.clone())),
            engine,
            archive,
            origins: Origins::new(nowhere, &[]),
            instance: HeaderValue::from_static("none"),
            metrics: RequestMetrics::default(),
            statistics: Recount::default(),
            heavy: HeavyPool::inline(),
            bodies: Bodies::new(&ServerLimits::default()),
            listeners: Arc::new(Semaphore::new(0)),
            story_writes: Mutex::new(()),
            description: String::new(),
            page: String::new(),
        });
        let (routes, _) = v1::routes().split_for_parts();
        let router = routes
            .fallback(problem::no_such_page)
            .method_not_allowed_fallback(problem::no_such_method)
            .with_state(app);
        Self { router }
    }

    /// Carries one request out.
    pub async fn send(&self, request: Request<Bytes>) -> Response<Bytes> {
        let response = match self.router.clone().oneshot(request.map(Body::from)).await {
            Ok(response) => response,
            Err(never) => match never {},
        };
        let (parts, body) = response.into_parts();
        let body = match body.collect().await {
            Ok(body) => body.to_bytes(),
            Err(error) => unreachable!("nothing but a stream breaks off: {error}"),
        };
        Response::from_parts(parts, body)
    }
}
