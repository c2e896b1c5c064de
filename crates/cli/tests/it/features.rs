//! The acceptance criteria and the edge cases of seed 003 as Given/When/Then: each `.feature` file in
//! `tests/features` runs against the real server, and a step without a definition fails.

mod given;
mod listener;
mod then;
mod when;

use std::fmt;
use std::path::PathBuf;

use cucumber::World as _;
use cucumber::writer::Stats as _;
use serde_json::{Value, json};

use self::listener::{Listener, Message};
use crate::Project;
use crate::serve::{Got, Served};

/// The scenario's server, run and listeners.
#[derive(cucumber::World)]
#[world(init = Self::new)]
pub(crate) struct FeatureWorld {
    project: Project,
    server: Option<Served>,
    listener: Option<Listener>,
    /// What failing subscribers hold open.
    subscribers: Vec<std::net::TcpStream>,
    /// The id of the last event that was received, before the connection was lost.
    last_event: Option<String>,
    /// What the last query or step found, for the next one.
    found: Value,
    last_message: Option<Message>,
    n_steps: usize,
}

/// The story of the one run that most scenarios have.
const STORY: &str = "sessions";

impl FeatureWorld {
    fn new() -> Self {
        Self {
            project: Project::new(),
            server: None,
            listener: None,
            subscribers: Vec::new(),
            last_event: None,
            found: Value::Null,
            last_message: None,
            n_steps: 0,
        }
    }

    fn server(&self) -> &Served {
        self.server.as_ref().unwrap()
    }

    fn serve(&mut self) {
        self.server = Some(self.project.serves());
    }

    #[track_caller]
    fn get(&self, path: &str) -> Value {
        let got = self.server().curl(&[], path);
        assert_eq!(got.status, 200, "{path}: {got:?}");
        got.body
    }

    fn page(&self) -> String {
        let got = self.server().curl(&[], "/runs/1");
        assert_eq!(got.status, 200, "{got:?}");
        got.body.as_str().unwrap().to_owned()
    }

    fn send(&self, path: &str, body: &Value) -> Got {
        let json = ["-H", "content-type: application/json", "-H", "baton-as: sarah"];
        let body = body.to_string();
        self.server().curl(&[&json[..], &["-X", "POST", "-d", &body]].concat(), path)
    }

    #[track_caller]
    fn post(&self, path: &str, body: &Value) -> Value {
        let got = self.send(path, body);
        assert!(matches!(got.status, 200 | 201), "{path}: {got:?}");
        got.body
    }

    /// Hands the run on, with a package that its workflow takes.
    #[track_caller]
    fn hand_off(&self, run: &str, from: &str, to: &str, more: Value) -> Value {
        let mut package = json!({
            "summary": format!("{from} has done its part of the sessions view for {to}"),
            "build_passes": true, "approved": true, "confidence": 0.9, "reasoning": "measured",
        });
        for (key, value) in more.as_object().unwrap() {
            package[key] = value.clone();
        }
        let body = json!({"run": run, "fromAgent": from, "toAgent": to, "profile": "lenient",
            "package": package});
        self.post("/api/v1/handoffs", &body)
    }

    /// The audit log of the one run.
    fn trail(&self) -> Vec<Value> {
        let page = self.get(&format!("/api/v1/workflows/{STORY}/handoffs?pageSize=100"));
        page["items"].as_array().unwrap().clone()
    }

    fn conversation(&self) -> Vec<Value> {
        let page = self.get(&format!("/api/v1/runs/{STORY}/conversation?limit=500"));
        page["items"].as_array().unwrap().clone()
    }

    fn listen(&mut self) {
        let last = self.last_event.as_deref();
        self.listener = Some(Listener::open(&self.server().url, STORY, last));
    }

    fn listener(&mut self) -> &mut Listener {
        self.listener.as_mut().unwrap()
    }
}

impl fmt::Debug for FeatureWorld {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FeatureWorld").field("found", &self.found).finish_non_exhaustive()
    }
}

fn folder() -> PathBuf {
    PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/features"))
}

async fn check(feature: &str) {
    let cucumber = FeatureWorld::cucumber().fail_on_skipped().max_concurrent_scenarios(1);
    // Not the arguments of the test program.
    let ran = cucumber.with_default_cli().run(folder().join(feature)).await;
    assert!(!ran.execution_has_failed(), "{feature} failed: see above");
    assert_eq!((ran.skipped_steps(), ran.parsing_errors()), (0, 0), "{feature}");
    assert!(ran.passed_steps() > 0, "{feature} has no steps");
}

#[tokio::test]
async fn criterion_1_a_handoff_indicator_is_shown() {
    check("1-handoff-indicator.feature").await;
}

#[tokio::test]
async fn criterion_2_each_message_shows_its_agent() {
    check("2-chat-history.feature").await;
}

#[tokio::test]
async fn criterion_3_decisions_are_attributed() {
    check("3-decision-attribution.feature").await;
}

#[tokio::test]
async fn criterion_4_an_agent_has_a_tooltip() {
    check("4-agent-tooltip.feature").await;
}

#[tokio::test]
async fn criterion_5_the_audit_log_is_queried() {
    check("5-audit-log.feature").await;
}

#[tokio::test]
async fn an_unknown_agent_has_a_placeholder() {
    check("edge-unknown-agent.feature").await;
}

#[tokio::test]
async fn a_lost_connection_is_caught_up() {
    check("edge-lost-connection.feature").await;
}

#[tokio::test]
async fn rapid_handoffs_are_recorded_each() {
    check("edge-rapid-handoffs.feature").await;
}

#[tokio::test]
async fn an_agent_hands_off_to_itself() {
    check("edge-same-agent.feature").await;
}

#[tokio::test]
async fn a_failing_subscriber_stops_no_run() {
    check("edge-failing-subscriber.feature").await;
}

#[test]
fn every_feature_file_is_run() {
    let files = std::fs::read_dir(folder()).unwrap();
    let files: Vec<String> =
        files.map(|it| it.unwrap().file_name().into_string().unwrap()).collect();
    assert!(files.len() >= 10, "{files:?}");
    let tests = include_str!("features.rs");
    for file in files {
        assert!(tests.contains(&format!("check(\"{file}\").await")), "{file} has no test");
    }
}
