//! A server with a clock that is set by hand, and a client that knows just enough HTTP.

use std::net::SocketAddr;
use std::sync::Arc;

use baton_core::agent::Agent;
use baton_core::names::WorkflowName;
use baton_core::registry::Agents;
use baton_engine::{Catalog, Engine, Entry, FixedClock};
use baton_http::{Backend, ListenOptions, RunnerKey, Server, ServerLimits};
use baton_wire::{agent_file, builtin, workflow_file};
use jiff::Timestamp;
use serde_json::Value;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

use crate::store_place::StorePlace;

/// 2025-06-15T15:06:40Z.
pub(crate) const BEGINNING: Timestamp = Timestamp::constant(1_750_000_000, 0);

/// What the server shares with its runners.
pub(crate) const SECRET: [u8; 32] = [7; 32];

pub(crate) struct World {
    pub(crate) client: Client,
    pub(crate) clock: Arc<FixedClock>,
    stop: oneshot::Sender<()>,
    server: JoinHandle<()>,
    place: StorePlace,
}

#[derive(Clone, Copy)]
pub(crate) struct Client {
    pub(crate) address: SocketAddr,
}

#[derive(Debug)]
pub(crate) struct Reply {
    pub(crate) status: u16,
    pub(crate) head: String,
    pub(crate) text: String,
}

pub(crate) async fn world() -> World {
    world_within(ServerLimits::default()).await
}

/// A server with bounds of its own.
pub(crate) async fn world_within(limits: ServerLimits) -> World {
    world_at(StorePlace::fresh(), limits).await
}

/// A server on data that is there already.
pub(crate) async fn world_at(place: StorePlace, limits: ServerLimits) -> World {
    world_with(place, limits, catalog_with(&[])).await
}

/// A server of a project that has workflows and agents of its own.
pub(crate) async fn world_of(files: &[&str]) -> World {
    world_with(StorePlace::fresh(), ServerLimits::default(), catalog_with(files)).await
}

/// As [`world_at`], with other workflows and agents.
pub(crate) async fn world_with(place: StorePlace, limits: ServerLimits, catalog: Catalog) -> World {
    let store = place.open().await;
    let clock = Arc::new(FixedClock::at(BEGINNING));
    let engine = Arc::new(Engine::open(store, clock.clone(), catalog).await.unwrap());
    let options = ListenOptions { listen: ([127, 0, 0, 1], 0).into(), allowed_hosts: Vec::new() };
    let backend = Backend { runner_key: Some(RunnerKey::new(SECRET)), ..engine.into() };
    let server = Server::bind_within(backend, &options, limits).await.unwrap();
    let client = Client { address: server.address() };
    let (stop, stopped) = oneshot::channel();
    let running = server.run(async {
        let _ = stopped.await;
    });
    let server = tokio::spawn(async {
        let _ = running.await;
    });
    World { client, clock, stop, server, place }
}

/// What comes with Baton, the pipeline first, and more workflows with their agents.
pub(crate) fn catalog_with(files: &[&str]) -> Catalog {
    let texts = builtin::workflows().iter().map(|(_, text)| *text).chain(files.iter().copied());
    let entries: Vec<Entry> = texts
        .map(|text| Entry {
            workflow: Arc::new(workflow_file::parse(text).unwrap()),
            text: text.to_owned(),
        })
        .collect();
    let own = entries.iter().rev().take(files.len()).flat_map(|it| &it.workflow.steps);
    let own: Vec<Agent> =
        own.flat_map(|it| &it.agents).map(|it| Agent::unknown(it.clone())).collect();
    let agents = builtin::agents().iter().map(|(_, text)| agent_file::parse(text).unwrap().agent);
    let default = WorkflowName::parse("story-pipeline").unwrap();
    Catalog::new(entries, Agents::new(agents.chain(own)), Some(default))
}

impl World {
    /// Ends the server, and returns where its data is.
    pub(crate) async fn stop(self) -> StorePlace {
        let _ = self.stop.send(());
        self.server.await.unwrap();
        self.place
    }

    pub(crate) async fn get(&self, path: &str) -> Reply {
        self.client.send("GET", path, &[], "").await
    }

    /// A get with headers of its own.
    pub(crate) async fn get_with(&self, path: &str, headers: &[(&str, &str)]) -> Reply {
        self.client.send("GET", path, headers, "").await
    }

    pub(crate) async fn post(&self, path: &str, body: &str) -> Reply {
        self.client.send("POST", path, &[JSON], body).await
    }

    pub(crate) async fn put(&self, path: &str, body: &str) -> Reply {
        self.client.send("PUT", path, &[JSON], body).await
    }

    /// A post with headers of its own.
    pub(crate) async fn post_with(
        &self,
        path: &str,
        headers: &[(&str, &str)],
        body: &str,
    ) -> Reply {
        let headers: Vec<_> = [JSON].into_iter().chain(headers.iter().copied()).collect();
        self.client.send("POST", path, &headers, body).await
    }

    /// Adds a story and hands it in: `HO-001` waits for the analyst, or for the workflow's first.
    pub(crate) async fn started(&self, story: &str, workflow: &str) {
        self.post("/api/v1/stories", &format!(r#"{{"key":"{story}"}}"#)).await.is(201);
        let start = format!(r#"{{"story":"{story}","workflow":"{workflow}"}}"#);
        self.post("/api/v1/runs", &start).await.is(201);
    }

    /// Every event there is, so that a test can say that none was added.
    pub(crate) async fn events(&self, run: &str) -> Value {
        self.get(&format!("/api/v1/runs/{run}/events?limit=500")).await.is(200)
    }
}

pub(crate) const JSON: (&str, &str) = ("content-type", "application/json");
pub(crate) const PIPELINE: &str = "story-pipeline";
pub(crate) const GATED: &str = "gated-project";

impl Client {
    pub(crate) async fn send(
        &self,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: &str,
    ) -> Reply {
        self.send_bytes(method, path, headers, body.as_bytes()).await
    }

    pub(crate) async fn send_bytes(
        &self,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: &[u8],
    ) -> Reply {
        let mut stream = TcpStream::connect(self.address).await.unwrap();
        let mut head = format!("{method} {path} HTTP/1.1\r\nconnection: close\r\n");
        if !headers.iter().any(|(name, _)| *name == "host") {
            head += &format!("host: {}\r\n", self.address);
        }
        for (name, value) in headers {
            head += &format!("{name}: {value}\r\n");
        }
        head += &format!("content-length: {}\r\n\r\n", body.len());
        stream.write_all(head.as_bytes()).await.unwrap();
        // Whoever has heard enough hangs up: what it said before that counts.
        let _ = stream.write_all(body).await;
        let mut bytes = Vec::new();
        let _ = stream.read_to_end(&mut bytes).await;
        Reply::parse(&bytes)
    }
}

impl Reply {
    fn parse(bytes: &[u8]) -> Self {
        let text = String::from_utf8(bytes.to_vec()).unwrap();
        let (head, body) = text.split_once("\r\n\r\n").expect("an answer has a head");
        let status = head.split(' ').nth(1).and_then(|it| it.parse().ok()).unwrap();
        let reply = Self { status, head: head.to_owned(), text: body.to_owned() };
        let text = match reply.header("transfer-encoding") {
            Some("chunked") => joined(body),
            Some(_) | None => body.to_owned(),
        };
        Self { text, ..reply }
    }

    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        let lines = self.head.lines().skip(1).filter_map(|it| it.split_once(':'));
        lines.into_iter().find(|(it, _)| it.eq_ignore_ascii_case(name)).map(|(_, it)| it.trim())
    }

    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.text).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }

    /// The body, if this is the status; otherwise the test ends here.
    #[track_caller]
    pub(crate) fn is(&self, status: u16) -> Value {
        assert_eq!(self.status, status, "{}", self.text);
        self.json()
    }

    /// A problem of this status and code; gives the whole of it.
    #[track_caller]
    pub(crate) fn refuses(&self, status: u16, code: &str) -> Value {
        let problem = self.is(status);
        assert_eq!(self.header("content-type"), Some("application/problem+json"), "{problem}");
        assert_eq!(problem["code"], code, "{problem}");
        assert_eq!(problem["status"], status, "{problem}");
        assert_eq!(problem["detail"], problem["error"], "{problem}");
        problem
    }
}

fn joined(chunks: &str) -> String {
    let mut rest = chunks;
    let mut text = String::new();
    while let Some((size, after)) = rest.split_once("\r\n") {
        let size = usize::from_str_radix(size.trim(), 16).unwrap();
        text += &after[..size];
        rest = &after[(size + 2).min(after.len())..];
        if size == 0 {
            break;
        }
    }
    text
}

/// The texts at `field` of a list's items.
pub(crate) fn texts(list: &Value, field: &str) -> Vec<String> {
    let items = list["items"].as_array().unwrap_or_else(|| panic!("no items: {list}"));
    items.iter().map(|it| it[field].as_str().unwrap_or_default().to_owned()).collect()
}
