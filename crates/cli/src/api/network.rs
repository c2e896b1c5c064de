//! HTTP client: one connection per request, in plain HTTP/1.1. The only file that connects.

use std::time::Duration;

use baton_api::{INSTANCE, VERSION};
use bytes::Bytes;
use http::header::{HOST, HeaderValue};
use http::{Request, Response, Uri};
use http_body_util::{BodyExt as _, Full};
use hyper::body::Incoming;
use hyper::client::conn::http1::{self, SendRequest};
use hyper_util::rt::TokioIo;
use tokio::net::TcpStream;
use tokio::time::timeout;

use super::url::{Url, UrlSource};
use crate::args::Cli;
use crate::failure::Failure;

/// Time-outs for connecting and for an answer.
const MOST_CONNECTING: Duration = Duration::from_secs(5);
const MOST_ANSWERING: Duration = Duration::from_secs(60);

/// A server, and the source of its address.
#[derive(Debug, Clone)]
pub(crate) struct RemoteServer {
    pub(crate) url: Url,
    from: UrlSource,
}

impl RemoteServer {
    pub(super) fn new(url: Url, from: UrlSource) -> Self {
        Self { url, from }
    }

    /// The server named on the command line, or in the environment.
    #[expect(clippy::disallowed_methods, reason = "where the server is may be in the environment")]
    pub(crate) fn named(cli: &Cli) -> Result<Option<Self>, Failure> {
        let given = std::env::var("BATON_URL").ok().filter(|it| !it.trim().is_empty());
        let (text, from) = match (&cli.server, given) {
            (Some(text), _) => (text.clone(), UrlSource::Flag),
            (None, Some(text)) => (text, UrlSource::Environment),
            (None, None) => return Ok(None),
        };
        match Url::parse(text.trim()) {
            Ok(url) => Ok(Some(Self { url, from })),
            Err(error) => Err(Failure::Usage(format!("the server `{text}`, {from}: {error}"))),
        }
    }

    /// All servers named in the place of one, separated by commas.
    #[expect(clippy::disallowed_methods, reason = "where the server is may be in the environment")]
    pub(crate) fn all_named(cli: &Cli) -> Result<Vec<Self>, Failure> {
        let given = std::env::var("BATON_URL").ok().filter(|it| !it.trim().is_empty());
        let (text, from) = match (&cli.server, given) {
            (Some(text), _) => (text.clone(), UrlSource::Flag),
            (None, Some(text)) => (text, UrlSource::Environment),
            (None, None) => return Ok(Vec::new()),
        };
        let one = |text: &str| match Url::parse(text.trim()) {
            Ok(url) => Ok(Self { url, from: from.clone() }),
            Err(error) => Err(Failure::Usage(format!("the server `{text}`, {from}: {error}"))),
        };
        text.split(',').map(one).collect()
    }

    /// The server that a process of ours has started.
    pub(crate) fn started(url: &str) -> Result<Self, Failure> {
        match Url::parse(url) {
            Ok(url) => Ok(Self { url, from: UrlSource::Started }),
            Err(error) => Err(Failure::Usage(format!("the server `{url}`: {error}"))),
        }
    }

    /// Whether the user named it, on the command line or in the environment.
    pub(crate) fn is_named(&self) -> bool {
        matches!(self.from, UrlSource::Flag | UrlSource::Environment)
    }

    /// Where its address is from, in words.
    pub(crate) fn source(&self) -> String {
        self.from.to_string()
    }

    pub(super) fn expected_instance(&self) -> Option<&HeaderValue> {
        self.from.instance()
    }

    /// The instance id of the server that answers there.
    pub(super) async fn actual_instance(&self) -> Option<HeaderValue> {
        let mut request = Request::new(Bytes::new());
        *request.uri_mut() = Uri::from_static("/healthz");
        let response = timeout(MOST_CONNECTING, self.stream(request)).await.ok()?.ok()?;
        response.headers().get(INSTANCE).cloned()
    }

    /// True if the expected server instance answers.
    pub(super) async fn is_there(&self) -> bool {
        let mut request = Request::new(Bytes::new());
        *request.uri_mut() = Uri::from_static("/healthz");
        timeout(MOST_CONNECTING, self.stream(request)).await.is_ok_and(|it| it.is_ok())
    }

    /// The result of `/readyz`: whether it is ready, and its text.
    pub(crate) async fn readiness(&self) -> Result<(bool, String), Failure> {
        let mut request = Request::new(Bytes::new());
        *request.uri_mut() = Uri::from_static("/readyz");
        let response = self.send(request).await?;
        let text = String::from_utf8_lossy(response.body()).trim().to_owned();
        Ok((response.status().is_success(), text))
    }

    /// Sends a request and waits for the whole answer.
    pub(crate) async fn send(&self, request: Request<Bytes>) -> Result<Response<Bytes>, Failure> {
        let answering = async {
            let (parts, body) = self.stream(request).await?.into_parts();
            let body = body.collect().await.map_err(|error| self.broke_off(&error))?;
            Ok(Response::from_parts(parts, body.to_bytes()))
        };
        let silent = |_| self.failed("it did not answer within a minute; look before you repeat");
        timeout(MOST_ANSWERING, answering).await.map_err(silent)?
    }

    /// Sends a request and returns the answer as a stream.
    pub(super) async fn stream(
        &self,
        mut request: Request<Bytes>,
    ) -> Result<Response<Incoming>, Failure> {
        let authority = HeaderValue::try_from(self.url.authority())
            .map_err(|error| self.failed(error.to_string()))?;
        request.headers_mut().insert(HOST, authority);
        if let Some(instance) = self.from.instance() {
            request.headers_mut().insert(INSTANCE, instance.clone());
        }
        let mut sender = self.connect().await?;
        let response = sender
            .send_request(request.map(Full::new))
            .await
            .map_err(|error| self.broke_off(&error))?;
        if !response.headers().contains_key(VERSION) {
            return Err(self.failed("whatever answers there is no Baton"));
        }
        // A server that is new enough has refused requests meant for another instance.
        if let Some(instance) = self.from.instance()
            && response.headers().get(INSTANCE) != Some(instance)
        {
            return Err(self.failed("another Baton answers there by now; try again"));
        }
        Ok(response)
    }

    /// The server's version.
    pub(super) fn version(response: &http::response::Parts) -> &str {
        response.headers.get(VERSION).and_then(|it| it.to_str().ok()).unwrap_or("unknown")
    }

    pub(super) fn failed(&self, why: impl Into<String>) -> Failure {
        let Self { url, from } = self;
        Failure::Server { url: url.to_string(), from: from.to_string(), why: why.into() }
    }

    async fn connect(&self) -> Result<SendRequest<Full<Bytes>>, Failure> {
        let stream = timeout(MOST_CONNECTING, TcpStream::connect(self.url.address()))
            .await
            .map_err(|_| self.failed("it cannot be reached: nothing answers"))?
            .map_err(|error| self.failed(format!("it cannot be reached: {error}")))?;
        let (sender, connection) =
            http1::handshake(TokioIo::new(stream)).await.map_err(|error| self.broke_off(&error))?;
        // It ends with the answer, and its errors reach the caller that waits for the answer.
        tokio::spawn(connection);
        Ok(sender)
    }

    fn broke_off(&self, error: &hyper::Error) -> Failure {
        if error.is_parse() {
            return self.failed("whatever answers there is no Baton");
        }
        self.failed(format!("it broke off: {error}"))
    }
}
