//! A server with nothing in it, and somebody who calls it: plain requests, and streams of events
//! read as a browser reads them.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use baton_core::command::{Accept, Command};
use baton_core::names::{Principal, StoryKey, WorkflowName};
use baton_core::registry::Agents;
use baton_core::run::HandoffNo;
use baton_engine::{Caller, Catalog, Engine, Entry, FixedClock, StartRun};
use baton_http::{Backend, ListenOptions, Server};
use baton_store::{RunRef, Store};
use baton_store_tests::MemoryStore;
use baton_views::{Archive, ArchivePlaces};
use baton_wire::{agent_file, builtin, workflow_file};
use jiff::Timestamp;
use serde_json::Value;
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::{TcpSocket, TcpStream};
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

use crate::store_place::{StorePlace, is_on_postgres};

/// Longer than anything takes that is going to happen at all.
const LONG: Duration = Duration::from_secs(30);

pub(crate) struct Site {
    pub(crate) engine: Arc<Engine>,
    pub(crate) clock: Arc<FixedClock>,
    pub(crate) address: std::net::SocketAddr,
    stop: oneshot::Sender<()>,
    serving: JoinHandle<std::io::Result<()>>,
    place: Option<Arc<StorePlace>>,
}

pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) headers: String,
    pub(crate) body: String,
}

impl Site {
    pub(crate) async fn open() -> Self {
        let clock = Arc::new(FixedClock::at(Timestamp::constant(1_750_000_000, 0)));
        // In memory, where the run is not about PostgreSQL.
        let place = is_on_postgres().then(StorePlace::fresh);
        let store: Arc<dyn Store> = match &place {
            Some(place) => place.open().await,
            None => Arc::new(MemoryStore::default()),
        };
        let engine = Engine::open(store, clock.clone(), catalog()).await.unwrap();
        let site = Self::serve(Arc::new(engine).into(), clock).await;
        Self { place: place.map(Arc::new), ..site }
    }

    /// A server of a project of that name.
    pub(crate) async fn open_named(project: &str) -> Self {
        let Self { engine, clock, place, .. } = Self::open().await;
        let project = Some(project.to_owned());
        let site = Self::serve(Backend { project, ..engine.into() }, clock).await;
        Self { place, ..site }
    }

    /// A server of a project that keeps an archive.
    pub(crate) async fn open_with_archive(places: ArchivePlaces) -> (Self, Arc<Archive>) {
        let Self { engine, clock, place, .. } = Self::open().await;
        let archive = Arc::new(Archive::new(engine.clone(), places));
        let backend = Backend { archive: Some(archive.clone()), ..engine.into() };
        (Self { place, ..Self::serve(backend, clock).await }, archive)
    }

    async fn serve(backend: Backend, clock: Arc<FixedClock>) -> Self {
        let listen = std::net::SocketAddr::from(([127, 0, 0, 1], 0));
        let options = ListenOptions { listen, allowed_hosts: Vec::new() };
        let server = Server::bind(backend.clone(), &options).await.unwrap();
        let address = server.address();
        let (stop, stopped) = oneshot::channel();
        let serving = tokio::spawn(server.run(async {
            let _ = stopped.await;
        }));
        Self { engine: backend.engine, clock, address, stop, serving, place: None }
    }

    /// Stops the server and waits until it has ended.
    pub(crate) async fn close(self) {
        let _ = self.stop.send(());
        tokio::time::timeout(LONG, self.serving).await.expect("it ends").unwrap().unwrap();
    }

    /// Another server on the same engine.
    pub(crate) async fn restart(self) -> Self {
        let (engine, clock) = (self.engine.clone(), self.clock.clone());
        let place = self.place.clone();
        self.close().await;
        Self { place, ..Self::serve(engine.into(), clock).await }
    }

    pub(crate) async fn get(&self, path: &str) -> Answer {
        self.ask("GET", path, &[], "").await
    }

    pub(crate) async fn post(&self, path: &str, body: &str) -> Answer {
        let answer = self.ask("POST", path, &[], body).await;
        assert!(answer.status < 500, "{}", answer.body);
        answer
    }

    /// Sends a request and reads the whole answer.
    pub(crate) async fn ask(
        &self,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: &str,
    ) -> Answer {
        let mut headers = headers.to_vec();
        headers.push(("Connection", "close"));
        let mut stream = TcpStream::connect(self.address).await.unwrap();
        stream.write_all(self.request(method, path, &headers, body).as_bytes()).await.unwrap();
        let mut text = String::new();
        let read = stream.read_to_string(&mut text);
        tokio::time::timeout(LONG, read).await.expect("an answer").unwrap();
        let (headers, body) = text.split_once("\r\n\r\n").unwrap();
        let status = headers.split(' ').nth(1).unwrap().parse().unwrap();
        Answer { status, headers: headers.to_ascii_lowercase(), body: body.to_owned() }
    }

    fn request(&self, method: &str, path: &str, headers: &[(&str, &str)], body: &str) -> String {
        let mut request = format!("{method} {path} HTTP/1.1\r\n");
        if !headers.iter().any(|(name, _)| *name == "Host") {
            request += &format!("Host: {}\r\n", self.address);
        }
        for (name, value) in headers {
            request += &format!("{name}: {value}\r\n");
        }
        if !body.is_empty() {
            request += &format!("Content-Length: {}\r\n", body.len());
        }
        request + "\r\n" + body
    }

    /// Hands a story in: a few events of a new run.
    pub(crate) async fn start(&self, story: &str) {
        let story = StoryKey::parse(story).unwrap();
        let start = StartRun::of(story);
        self.engine.start(&caller(), start).await.unwrap();
    }

    pub(crate) async fn accept(&self, story: &str, no: u32) {
        let handoff = HandoffNo(no);
        let accept = Accept { handoff, by: None, acknowledgement: None, lease: None };
        self.on_run(story, Command::Accept(accept)).await;
    }

    pub(crate) async fn on_run(&self, story: &str, command: Command) {
        let story = StoryKey::parse(story).unwrap();
        let run = self.engine.read_as(&caller()).run(&RunRef::LatestOf(story)).await.unwrap();
        self.engine.on_run(&caller(), run.run.id, command).await.unwrap();
    }
}

pub(crate) fn caller() -> Caller {
    Caller::new(Principal::parse("ada").unwrap())
}

/// Everything that comes with Baton.
fn catalog() -> Catalog {
    let entries = builtin::workflows().iter().map(|(_, text)| Entry {
        workflow: Arc::new(workflow_file::parse(text).unwrap()),
        text: (*text).to_owned(),
    });
    let agents = builtin::agents().iter().map(|(_, text)| agent_file::parse(text).unwrap().agent);
    Catalog::new(entries, Agents::new(agents), WorkflowName::parse("story-pipeline").ok())
}

/// Somebody who listens to events.
pub(crate) struct Listener {
    stream: BufReader<TcpStream>,
    /// What has come and is not yet a whole message.
    text: String,
}

/// One message of a stream.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Heard {
    pub(crate) id: Option<String>,
    pub(crate) name: Option<String>,
    pub(crate) data: Value,
    pub(crate) n_bytes: usize,
}

impl Listener {
    pub(crate) async fn open(site: &Site, path: &str, last: Option<&str>) -> Self {
        let headers: Vec<(&str, &str)> = last.map(|it| ("Last-Event-ID", it)).into_iter().collect();
        let stream = TcpStream::connect(site.address).await.unwrap();
        Self::on(stream, site.request("GET", path, &headers, "")).await
    }

    /// One who has heard nothing, at any server.
    pub(crate) async fn from_the_beginning(address: SocketAddr, path: &str) -> Self {
        let stream = TcpStream::connect(address).await.unwrap();
        let request =
            format!("GET {path} HTTP/1.1\r\nhost: {address}\r\nlast-event-id: 0.0\r\n\r\n");
        Self::on(stream, request).await
    }

    /// One whose machine takes hardly anything that it has not read.
    pub(crate) async fn narrow(site: &Site, path: &str) -> Self {
        let socket = TcpSocket::new_v4().unwrap();
        socket.set_recv_buffer_size(4096).unwrap();
        let stream = socket.connect(site.address).await.unwrap();
        Self::on(stream, site.request("GET", path, &[], "")).await
    }

    async fn on(stream: TcpStream, request: String) -> Self {
        let mut stream = BufReader::with_capacity(1024, stream);
        stream.write_all(request.as_bytes()).await.unwrap();
        let mut head = String::new();
        while !head.ends_with("\r\n\r\n") {
            assert_ne!(stream.read_line(&mut head).await.unwrap(), 0, "{head}");
        }
        assert!(head.starts_with("HTTP/1.1 200"), "{head}");
        let head = head.to_ascii_lowercase();
        assert!(head.contains("content-type: text/event-stream\r\n"), "{head}");
        assert!(head.contains("transfer-encoding: chunked\r\n"), "{head}");
        Self { stream, text: String::new() }
    }

    /// The next message; `None` once the server has ended the stream.
    pub(crate) async fn next(&mut self) -> Option<Heard> {
        loop {
            if let Some((block, rest)) = self.text.split_once("\n\n") {
                let (heard, rest) = (read(block), rest.to_owned());
                self.text = rest;
                match heard {
                    Some(heard) => return Some(heard),
                    None => continue,
                }
            }
            let chunk = tokio::time::timeout(LONG, self.chunk()).await.expect("a message");
            self.text += &chunk?;
        }
    }

    /// The next message, if all of it has come already.
    pub(crate) fn at_hand(&mut self) -> Option<Heard> {
        let (block, rest) = self.text.split_once("\n\n")?;
        let (heard, rest) = (read(block), rest.to_owned());
        self.text = rest;
        heard
    }

    /// The next so many.
    pub(crate) async fn next_of(&mut self, n: usize) -> Vec<Heard> {
        let mut heard = Vec::new();
        while heard.len() < n {
            heard.push(self.next().await.expect("more to hear"));
        }
        heard
    }

    /// Everything up to and with the message that `is_last`.
    pub(crate) async fn until(&mut self, is_last: impl Fn(&Heard) -> bool) -> Vec<Heard> {
        let mut heard = Vec::new();
        loop {
            let next = self.next().await.expect("more to hear");
            let is_over = is_last(&next);
            heard.push(next);
            if is_over {
                return heard;
            }
        }
    }

    async fn chunk(&mut self) -> Option<String> {
        let mut size = String::new();
        self.stream.read_line(&mut size).await.ok().filter(|it| *it > 0)?;
        let n_bytes = usize::from_str_radix(size.trim(), 16).unwrap();
        let mut bytes = vec![0; n_bytes + 2];
        self.stream.read_exact(&mut bytes).await.ok()?;
        bytes.truncate(n_bytes);
        (n_bytes > 0).then(|| String::from_utf8(bytes).unwrap())
    }
}

/// What a browser makes of a block; comments and bare settings are nothing.
fn read(block: &str) -> Option<Heard> {
    let field = |name: &str| {
        let line = block.lines().find_map(|it| it.strip_prefix(name));
        line.map(|it| it.strip_prefix(' ').unwrap_or(it).to_owned())
    };
    let data = serde_json::from_str(&field("data:")?).unwrap();
    // The first message also has the setting of the stream.
    // A heartbeat is a comment of its own line, in front of whatever comes next.
    let is_message = |line: &&str| !line.starts_with(':') && !line.starts_with("retry:");
    let n_bytes = block.lines().filter(is_message).map(|it| it.len() + 1).sum::<usize>() + 1;
    Some(Heard { id: field("id:"), name: field("event:"), data, n_bytes })
}
