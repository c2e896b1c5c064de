//! What there is before something happens.

use std::fmt::Write as _;
use std::io::Write as _;
use std::net::TcpStream;

use cucumber::given;
use serde_json::json;

use super::{FeatureWorld, STORY};

impl FeatureWorld {
    /// Starts the run of a workflow; one of the project's own is written first.
    fn start(&mut self, workflow: &str, file: Option<String>) {
        if let Some(text) = file {
            let folder = self.project.path().join(".baton/workflows");
            std::fs::create_dir_all(&folder).unwrap();
            std::fs::write(folder.join(format!("{workflow}.yaml")), text).unwrap();
        }
        if self.server.is_none() {
            self.serve();
        }
        let body = json!({"story": STORY, "newStory": true, "workflow": workflow});
        self.post("/api/v1/runs", &body);
    }
}

/// A workflow of steps in a row, each with its agent.
fn in_a_row(name: &str, steps: &[(&str, &str)]) -> String {
    let mut text =
        format!("name: {name}\ntitle: In a row\nstart: {{ to: {} }}\nsteps:\n", steps[0].0);
    for (index, (step, agent)) in steps.iter().enumerate() {
        let next = steps.get(index + 1).map_or("complete", |it| it.0);
        writeln!(text, "  {step}: {{ agent: {agent}, on: {{ success: {{ to: {next} }} }} }}")
            .unwrap();
    }
    text
}

#[given(expr = "a server with a run of the workflow {string}")]
fn a_run(world: &mut FeatureWorld, workflow: String) {
    world.start(&workflow, None);
}

#[given(expr = "a server with {int} runs of the workflow {string}")]
fn many_runs(world: &mut FeatureWorld, n: usize, workflow: String) {
    world.serve();
    for number in 1..=n {
        let body =
            json!({"story": format!("story-{number}"), "newStory": true, "workflow": workflow});
        world.post("/api/v1/runs", &body);
    }
    world.n_steps = n;
}

#[given(
    expr = "a server with a run of a workflow whose second step belongs to {string}, which no file describes"
)]
fn an_unknown_agent(world: &mut FeatureWorld, agent: String) {
    // Before the file: a server tells first what is wrong with the files of its project.
    world.serve();
    let file = in_a_row("haunted", &[("first", "analyst"), ("second", &agent)]);
    world.start("haunted", Some(file));
}

#[given(expr = "a server with a run of a workflow whose two steps both belong to {string}")]
fn one_agent(world: &mut FeatureWorld, agent: String) {
    let file = in_a_row("twice", &[("first", &agent), ("second", &agent)]);
    world.start("twice", Some(file));
}

#[given(expr = "a server with a run of a workflow of {int} steps")]
fn many_steps(world: &mut FeatureWorld, n: usize) {
    let names: Vec<String> = (1..=n).map(|it| format!("step-{it}")).collect();
    let agents = ["analyst", "implementer"];
    let steps: Vec<(&str, &str)> =
        names.iter().enumerate().map(|(at, name)| (name.as_str(), agents[at % 2])).collect();
    world.n_steps = n;
    world.start("long", Some(in_a_row("long", &steps)));
}

#[given("I follow the run live")]
fn follow(world: &mut FeatureWorld) {
    world.listen();
}

#[given("a subscriber that never reads what it is sent")]
fn a_silent_subscriber(world: &mut FeatureWorld) {
    subscribe(world, None);
}

#[given("a subscriber that closes its connection at once")]
fn a_closed_subscriber(world: &mut FeatureWorld) {
    subscribe(world, None);
    world.subscribers.clear();
}

#[given("a subscriber that sends nonsense as its last event")]
fn a_confused_subscriber(world: &mut FeatureWorld) {
    subscribe(world, Some("no such id"));
}

fn subscribe(world: &mut FeatureWorld, last: Option<&str>) {
    let address = world.server().url.strip_prefix("http://").unwrap();
    let mut stream = TcpStream::connect(address).unwrap();
    let last = last.map_or_else(String::new, |it| format!("last-event-id: {it}\r\n"));
    write!(stream, "GET /api/v1/events HTTP/1.1\r\nhost: {address}\r\n{last}\r\n").unwrap();
    world.subscribers.push(stream);
}
