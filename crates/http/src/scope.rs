//! The server as one caller sees it. Handlers take this and not [`App`]: so there is no read
//! without a caller, and one place where callers are told apart.

use std::ops::Deref;
use std::sync::Arc;

use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use baton_engine::Caller;
use baton_views::Views;

use crate::App;
use crate::caller::principal;
use crate::problem::ApiProblem;

#[derive(Clone)]
pub(crate) struct RequestScope {
    app: Arc<App>,
    caller: Caller,
}

impl RequestScope {
    pub(crate) fn new(app: Arc<App>, caller: Caller) -> Self {
        Self { app, caller }
    }

    pub(crate) fn caller(&self) -> &Caller {
        &self.caller
    }

    pub(crate) fn read(&self) -> Views<'_> {
        Views::new(&self.app.engine, &self.caller)
    }
}

impl Deref for RequestScope {
    type Target = App;

    fn deref(&self) -> &App {
        &self.app
    }
}

impl FromRequestParts<Arc<App>> for RequestScope {
    type Rejection = ApiProblem;

    async fn from_request_parts(parts: &mut Parts, app: &Arc<App>) -> Result<Self, ApiProblem> {
        Ok(Self::new(app.clone(), Caller::new(principal(&parts.headers)?)))
    }
}
