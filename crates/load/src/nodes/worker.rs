//! A client that competes with the others of its group for one story after another, at any node, and
//! writes down what it asked and was answered.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use serde_json::Value;
use tokio::time::Instant;

use super::operation::{ClientOperation, OperationKind, OperationOutcome, ShownVersion};
use super::{Doors, NodeDoor, Random};
use crate::crew;
use crate::http::connection::{Connection, LoadResponse};

/// What every accept asks for: short, so that abandoned work is lost within a test.
pub(super) const LEASE: Duration = Duration::from_secs(3);
/// Without an answer for so long, a try has an unknown result.
const PATIENCE: Duration = Duration::from_secs(2);
const MOST_PAUSE_MS: u64 = 20;
/// One in so many commands is sent to two nodes at once, under one key.
const TWICE: u64 = 10;
/// One in so many commands is not sent again where nothing is known of it.
const GIVEN_UP: u64 = 5;
/// One in so many holders does nothing more.
const ABANDONED: u64 = 40;

/// The number of the story that a group is at.
pub(super) type StoryCounter = Arc<Mutex<u64>>;

pub(super) struct Worker {
    name: String,
    group: usize,
    doors: Doors,
    stories: StoryCounter,
    random: Random,
    began: Instant,
    /// To each node, where it is open.
    connections: Vec<Option<Connection>>,
    held: Option<HeldWork>,
    n_operations: u64,
    operations: Vec<ClientOperation>,
}

struct HeldWork {
    story: String,
    handoff: String,
    fence: u64,
}

/// What a try came to.
enum Tried {
    Answered(NodeDoor, LoadResponse),
    /// It may have happened.
    Unsure(&'static str),
}

impl Worker {
    pub(super) fn new(
        group: usize,
        n: usize,
        doors: Doors,
        stories: StoryCounter,
        random: Random,
        began: Instant,
    ) -> Self {
        let connections = doors.0.iter().map(|_| None).collect();
        Self {
            name: format!("g{group}w{n}"),
            group,
            doors,
            stories,
            random,
            began,
            connections,
            held: None,
            n_operations: 0,
            operations: Vec::new(),
        }
    }

    /// Works until `until`; what has no answer then is sent again until `give_up`.
    pub(super) async fn work(mut self, until: Instant, give_up: Instant) -> Vec<ClientOperation> {
        while Instant::now() < until {
            self.step(give_up).await;
            let pause = Duration::from_millis(self.random.below(MOST_PAUSE_MS));
            tokio::time::sleep(pause).await;
        }
        self.operations
    }

    async fn step(&mut self, give_up: Instant) {
        let (number, story) = self.story();
        let Some(response) = self.read(&story).await else { return };
        let run: Value = serde_json::from_str(&response.body).unwrap_or_default();
        if response.status == 404 {
            let body = format!(r#"{{"story":"{story}","newStory":true}}"#);
            self.command(OperationKind::Start, "/api/v1/runs", &body, give_up).await;
            return;
        }
        let handoff = run["currentHandoff"].as_str().unwrap_or_default().to_owned();
        match (run["status"].as_str(), run["baton"].as_str()) {
            (Some("open"), Some("offered")) => self.accept(story, handoff, give_up).await,
            (Some("open"), Some("held")) => self.go_on(&story, &handoff, give_up).await,
            // It is over, or waits for a person: the group goes on with the next one.
            _ => self.next_story(number),
        }
    }

    async fn accept(&mut self, story: String, handoff: String, give_up: Instant) {
        let path = format!("/api/v1/handoffs/{story}%2F{handoff}/accept");
        let body = format!(r#"{{"leaseSeconds":{}}}"#, LEASE.as_secs());
        let kind = OperationKind::Accept { handoff: handoff.clone(), lease: LEASE };
        let answer = self.command(kind, &path, &body, give_up).await;
        if let Some(fence) = answer.and_then(|it| it.fence) {
            self.held = Some(HeldWork { story, handoff, fence });
        }
    }

    /// The holder goes on; others post a message meanwhile.
    async fn go_on(&mut self, story: &str, handoff: &str, give_up: Instant) {
        let is_held = |it: &&HeldWork| it.story == story && it.handoff == handoff;
        let Some(HeldWork { fence, .. }) = self.held.as_ref().filter(is_held) else {
            return self.post(story, give_up).await;
        };
        let fence = *fence;
        if self.random.below(ABANDONED) == 0 {
            self.held = None;
            return;
        }
        let path = format!("/api/v1/handoffs/{story}%2F{handoff}");
        match self.random.below(10) {
            0 => {
                let body = format!(r#"{{"fence":{fence},"reason":"somebody else may do it"}}"#);
                let kind = OperationKind::Release { handoff: handoff.to_owned(), fence };
                self.command(kind, &format!("{path}/release"), &body, give_up).await;
                self.held = None;
            }
            // A heartbeat is no command: nothing is promised but that it does no harm.
            1 | 2 => {
                let door = self.doors.any(&mut self.random);
                let path = format!("{path}/heartbeat");
                let body = format!(r#"{{"fence":{fence}}}"#);
                self.send(door, "POST", &path, "", &body).await;
            }
            3..=5 => self.post(story, give_up).await,
            _ => {
                let package = crew::PACKAGE;
                let body = format!(
                    r#"{{"outcome":"success","fence":{fence},"profile":"lenient","package":{package}}}"#
                );
                let kind = OperationKind::Complete { handoff: handoff.to_owned(), fence };
                self.command(kind, &format!("{path}/complete"), &body, give_up).await;
                self.held = None;
            }
        }
    }

    async fn post(&mut self, story: &str, give_up: Instant) {
        let path = format!("/api/v1/runs/{story}/messages");
        self.command(OperationKind::Post, &path, r#"{"text":"still at it"}"#, give_up).await;
    }

    async fn read(&mut self, story: &str) -> Option<LoadResponse> {
        let tag = self.tag();
        let invoked = self.began.elapsed();
        let door = self.doors.any(&mut self.random);
        let path = format!("/api/v1/runs/{story}");
        let tried = self.send(door, "GET", &path, "", "").await;
        let (outcome, response) = match tried {
            Tried::Answered(_, response) if response.status == 200 => {
                let document: Value = serde_json::from_str(&response.body).unwrap_or_default();
                let answer = acknowledgement(&document, None)?;
                (OperationOutcome::Acknowledged(vec![answer]), Some(response))
            }
            Tried::Answered(_, response) if response.status == 404 => return Some(response),
            Tried::Answered(_, response) => (OperationOutcome::Unknown(problem(&response)), None),
            Tried::Unsure(why) => (OperationOutcome::Unknown(why.to_owned()), None),
        };
        self.note(tag, OperationKind::Read, invoked, outcome, door);
        response
    }

    /// Sends a command until its result is known, or this client no longer cares.
    async fn command(
        &mut self,
        kind: OperationKind,
        path: &str,
        body: &str,
        give_up: Instant,
    ) -> Option<ShownVersion> {
        let tag = self.tag();
        let headers = format!("idempotency-key: {tag}\r\nbaton-as: {tag}\r\n");
        let insists = self.random.below(GIVEN_UP) != 0;
        let invoked = self.began.elapsed();
        let mut door = self.doors.any(&mut self.random);
        let mut unsure = None;
        let outcome = loop {
            let mut acknowledged = Vec::new();
            let mut refused = None;
            for tried in self.try_once(path, &headers, body).await {
                let (at, response) = match tried {
                    Tried::Answered(at, response) => (at, response),
                    Tried::Unsure(why) => {
                        unsure = Some(why.to_owned());
                        continue;
                    }
                };
                door = at;
                let document: Value = serde_json::from_str(&response.body).unwrap_or_default();
                let (status, fence) = (response.status, document["fence"].as_u64());
                match (status, acknowledgement(&document["run"], fence)) {
                    (200 | 201, Some(answer)) => acknowledged.push(answer),
                    (400..=499, _) => {
                        let code = document["code"].as_str().unwrap_or_default().to_owned();
                        refused = Some(OperationOutcome::Refused { status, code });
                    }
                    _ => unsure = Some(problem(&response)),
                }
            }
            if !acknowledged.is_empty() {
                break OperationOutcome::Acknowledged(acknowledged);
            }
            match (refused, &unsure) {
                (Some(refused), None) => break refused,
                // An earlier try may be under way still.
                (Some(_), Some(why)) => break OperationOutcome::Unknown(why.clone()),
                (None, _) => {}
            }
            if !insists || Instant::now() > give_up {
                break OperationOutcome::Unknown(unsure.unwrap_or_default());
            }
            let pause = Duration::from_millis(20 + self.random.below(100));
            tokio::time::sleep(pause).await;
        };
        self.note(tag, kind, invoked, outcome, door);
        self.operations.last().and_then(ClientOperation::acknowledgement).cloned()
    }

    /// At one node, or at two at once.
    async fn try_once(&mut self, path: &str, headers: &str, body: &str) -> Vec<Tried> {
        let one = self.doors.any(&mut self.random);
        let other = self.doors.any(&mut self.random);
        if self.random.below(TWICE) != 0 || one.index == other.index {
            return vec![self.send(one, "POST", path, headers, body).await];
        }
        let (first, second) =
            (self.connections[one.index].take(), self.connections[other.index].take());
        let (first, second) = tokio::join!(
            send(first, one, "POST", path, headers, body),
            send(second, other, "POST", path, headers, body)
        );
        self.connections[one.index] = first.0;
        self.connections[other.index] = second.0;
        vec![first.1, second.1]
    }

    async fn send(
        &mut self,
        door: NodeDoor,
        method: &str,
        path: &str,
        headers: &str,
        body: &str,
    ) -> Tried {
        let connection = self.connections[door.index].take();
        let (connection, tried) = send(connection, door, method, path, headers, body).await;
        self.connections[door.index] = connection;
        tried
    }

    fn note(
        &mut self,
        tag: String,
        kind: OperationKind,
        invoked: Duration,
        outcome: OperationOutcome,
        door: NodeDoor,
    ) {
        let ended = self.began.elapsed();
        let node = door.index;
        self.operations.push(ClientOperation { tag, kind, invoked, ended, outcome, node });
    }

    fn tag(&mut self) -> String {
        self.n_operations += 1;
        format!("{}n{}", self.name, self.n_operations)
    }

    fn story(&self) -> (u64, String) {
        let number = *self.stories.lock().unwrap_or_else(PoisonError::into_inner);
        (number, format!("story-{}-{number}", self.group))
    }

    /// One of the group is first.
    fn next_story(&self, from: u64) {
        let mut number = self.stories.lock().unwrap_or_else(PoisonError::into_inner);
        if *number == from {
            *number += 1;
        }
    }
}

/// Sends a request on a connection, or on a new one; one that failed is not used again.
async fn send(
    connection: Option<Connection>,
    door: NodeDoor,
    method: &str,
    path: &str,
    headers: &str,
    body: &str,
) -> (Option<Connection>, Tried) {
    let sending = async {
        let mut connection = match connection {
            Some(connection) => connection,
            None => Connection::open_through(door.proxy, door.node).await?,
        };
        let response = connection.send(method, path, headers, body).await?;
        anyhow::Ok((connection, response))
    };
    match tokio::time::timeout(PATIENCE, sending).await {
        Ok(Ok((connection, response))) => (Some(connection), Tried::Answered(door, response)),
        Ok(Err(_)) => (None, Tried::Unsure("the connection failed")),
        Err(_) => (None, Tried::Unsure("no answer in time")),
    }
}

/// The status and the code of an answer that settles nothing.
fn problem(response: &LoadResponse) -> String {
    let document: Value = serde_json::from_str(&response.body).unwrap_or_default();
    format!("{} {}", response.status, document["code"].as_str().unwrap_or_default())
}

fn acknowledgement(run: &Value, fence: Option<u64>) -> Option<ShownVersion> {
    let (id, version) = (run["id"].as_str()?.to_owned(), run["version"].as_u64()?);
    Some(ShownVersion { run: id, version, fence })
}
