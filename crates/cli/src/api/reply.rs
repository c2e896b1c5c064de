//! A response: the API's own JSON for programs, its parsed documents for display.

use baton_api::{DryRun, Page, ProblemDocument};
use baton_core::document::Node;
use baton_wire::json;
use bytes::Bytes;
use http::{Response, StatusCode};
use serde::Deserialize;
use serde::de::DeserializeOwned;

use super::network::RemoteServer;
use crate::failure::Failure;

pub(crate) struct ApiReply {
    pub(crate) status: StatusCode,
    /// The raw body.
    pub(crate) body: String,
    /// The server that answered, if any.
    server: Option<RemoteServer>,
}

/// A complete list.
pub(crate) struct Listed<T> {
    pub(crate) items: Vec<T>,
    pub(super) next: Option<String>,
    /// The same, as the API's JSON.
    nodes: Vec<Node>,
    server: Option<RemoteServer>,
}

/// Whether an answer is that of a dry run.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct DryRunMark {
    #[serde(default)]
    dry_run: bool,
}

impl ApiReply {
    /// What the command would do, where this is the answer to a dry run.
    pub(crate) fn rehearsed(&self) -> Result<Option<DryRun>, Failure> {
        let DryRunMark { dry_run } = self.document()?;
        if dry_run { self.document().map(Some) } else { Ok(None) }
    }

    pub(super) fn read(
        response: Response<Bytes>,
        server: Option<&RemoteServer>,
    ) -> Result<Self, Failure> {
        let (parts, body) = response.into_parts();
        let body = String::from_utf8_lossy(&body).into_owned();
        let reply = Self { status: parts.status, body, server: server.cloned() };
        if reply.status.is_success() {
            return Ok(reply);
        }
        let problem: ProblemDocument = reply.document()?;
        if let (Some(server), "no_such_page" | "no_such_method") = (server, problem.code.as_ref()) {
            let (theirs, ours) = (RemoteServer::version(&parts), env!("CARGO_PKG_VERSION"));
            if theirs != ours {
                let why = format!("it is Baton {theirs} and does not know this; we are {ours}");
                return Err(server.failed(why));
            }
        }
        let format = baton_core::package::Format::Json;
        Err(Failure::Refused {
            problem: Box::new(problem),
            document: reply.body,
            format,
            hint: None,
        })
    }

    pub(crate) fn document<T: DeserializeOwned>(&self) -> Result<T, Failure> {
        serde_json::from_str(&self.body).map_err(|error| not_ours(self.server.as_ref(), &error))
    }
}

impl<T: DeserializeOwned> Listed<T> {
    pub(super) fn begin(reply: &ApiReply) -> Result<Self, Failure> {
        let server = reply.server.clone();
        let mut listed = Self { items: Vec::new(), next: None, nodes: Vec::new(), server };
        listed.go_on(reply)?;
        Ok(listed)
    }

    pub(super) fn go_on(&mut self, reply: &ApiReply) -> Result<(), Failure> {
        let Page { items, next } = reply.document()?;
        self.items.extend(items);
        self.next = next;
        let page = json::parse_within(&reply.body, usize::MAX)
            .map_err(|error| not_ours(self.server.as_ref(), &error))?;
        if let Some(Node::List(nodes)) = page.member("items") {
            self.nodes.extend(nodes.iter().cloned());
        }
        Ok(())
    }

    /// One page with everything in it.
    pub(crate) fn into_json(self) -> Node {
        Node::map([("items", Node::List(self.nodes)), ("next", Node::Null)])
    }
}

/// An unreadable response.
fn not_ours(server: Option<&RemoteServer>, error: &dyn std::fmt::Display) -> Failure {
    match server {
        Some(server) => server.failed(format!("its answer cannot be read: {error}")),
        None => unreachable!("our own answers can be read: {error}"),
    }
}
