//! The API for a caller in the engine's own process: the same routes, without network and guard.

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;

use axum::Router;
use axum::body::Body;
use axum::http::{HeaderValue, Request, Response};
use bytes::Bytes;
use http_body_util::BodyExt as _;
use tower::ServiceExt as _;

use crate::events::EventTail;
use crate::guard::Origins;
use crate::heavy::HeavyPool;
use crate::limits::ServerLimits;
use crate::{App, Backend, problem, v1};

/// `/api/v1` without a server. There are no event streams here: no other client could cause events.
pub struct Local {
    router: Router,
}

impl App {
    pub(crate) fn local(backend: Backend) -> Self {
        let origins = Origins::new(SocketAddr::from((Ipv4Addr::LOCALHOST, 0)), &[]);
        let instance = HeaderValue::from_static("none");
        let live = Arc::new(EventTail::new(backend.engine.clone()));
        Self::new(backend, origins, instance, live, HeavyPool::inline(), &ServerLimits::default())
    }
}

impl Local {
    pub fn new(backend: impl Into<Backend>) -> Self {
        let (routes, _) = v1::routes().split_for_parts();
        let router = routes
            .fallback(problem::no_such_page)
            .method_not_allowed_fallback(problem::no_such_method)
            .with_state(Arc::new(App::local(backend.into())));
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
