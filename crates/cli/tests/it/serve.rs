//! The server, as the page of the pipeline API talks to it: real curl lines against the real program.

use std::io::{BufRead as _, BufReader};
use std::process::{Child, Command, Stdio};

use serde_json::{Value, json};

use crate::Project;

/// A server that stops when the test does.
pub(crate) struct Served {
    child: Child,
    pub(crate) url: String,
}

impl Project {
    pub(crate) fn serves(&self) -> Served {
        self.serves_with(&[])
    }

    pub(crate) fn serves_with(&self, options: &[&str]) -> Served {
        let mut command = self.command(&["serve", "--listen", "127.0.0.1:0", "--no-runner"]);
        command.args(options);
        Served::listening(command)
    }
}

impl Served {
    /// Waits until it says where it listens.
    pub(crate) fn listening(mut command: Command) -> Self {
        let mut child = command.stderr(Stdio::piped()).spawn().unwrap();
        let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
        // On a database the first server says before that where the data is.
        let url = |line: std::io::Result<String>| {
            line.unwrap().strip_prefix("listening on ").map(str::to_owned)
        };
        let url = lines.by_ref().find_map(url).unwrap();
        // Whatever else it says is read, so that it never waits for a reader.
        std::thread::spawn(move || lines.for_each(drop));
        Self { child, url }
    }

    /// Waits until the server's address is known.
    pub(crate) fn spawn(mut command: Command, url: impl Fn() -> Option<String>) -> Self {
        let child = command.spawn().unwrap();
        let mut served = Self { child, url: String::new() };
        loop {
            if let Some(url) = url() {
                served.url = url;
                return served;
            }
            assert_eq!(served.child.try_wait().unwrap(), None, "it ended");
            std::thread::yield_now();
        }
    }

    /// Ends it as a crash would.
    pub(crate) fn kill(self) {
        drop(self);
    }

    pub(crate) fn id(&self) -> u32 {
        self.child.id()
    }

    /// Waits until another process has killed it.
    pub(crate) fn until_killed(mut self) {
        assert!(!self.child.wait().unwrap().success());
    }

    /// Waits until it ends by itself, and says how.
    pub(crate) fn ended(mut self) -> Option<i32> {
        self.child.wait().unwrap().code()
    }

    /// Tells it to stop, and says how it ended.
    pub(crate) fn stop(mut self) -> Option<i32> {
        let id = self.child.id().to_string();
        assert!(Command::new("kill").args(["-TERM", &id]).status().unwrap().success());
        self.child.wait().unwrap().code()
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// What curl got.
#[derive(Debug)]
pub(crate) struct Got {
    pub(crate) status: u16,
    pub(crate) body: Value,
}

impl Served {
    /// Plain curl, as a person would type it: what comes after `curl -s`.
    pub(crate) fn curl(&self, args: &[&str], path: &str) -> Got {
        let output = Command::new("curl")
            .args(["-s", "-w", "\n%{http_code}"])
            .args(args)
            .arg(format!("{}{path}", self.url))
            .output()
            .unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        let (body, status) = text.rsplit_once('\n').unwrap();
        let body = serde_json::from_str(body).unwrap_or_else(|_| Value::String(body.to_owned()));
        Got { status: status.parse().unwrap(), body }
    }

    fn get(&self, path: &str) -> Value {
        let got = self.curl(&[], path);
        assert_eq!(got.status, 200, "{path}: {got:?}");
        got.body
    }

    fn post(&self, path: &str, body: &Value) -> Got {
        self.curl(&["-X", "POST", "-d", &body.to_string()], path)
    }

    #[track_caller]
    fn posted(&self, path: &str, body: &Value) -> Value {
        let got = self.post(path, body);
        assert_eq!(got.status, 200, "{body}: {got:?}");
        got.body
    }
}

const STORY: &str = "v0.1:1.1.1";

fn create(from: &str, to: &str, payload: Value) -> Value {
    json!({ "action": "create", "storyId": STORY, "fromAgent": from, "toAgent": to, "payload": payload })
}

#[test]
fn the_printed_lines_of_the_pipeline_api_work_on_an_empty_server() {
    let project = Project::new();
    let server = project.serves();
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/000.sh");
    let output = Command::new("sh").arg(script).arg(&server.url).output().unwrap();
    assert!(output.status.success(), "{output:?}");
    let said = String::from_utf8(output.stdout).unwrap();
    let answers: Vec<Value> =
        said.lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
    assert_eq!(answers.len(), 10, "{said}");
    assert_eq!(answers[0]["handoff"]["status"], "pending");
    assert_eq!(answers[1]["handoff"]["status"], "accepted");
    assert_eq!(answers[2]["returnHandoff"]["to_agent"], "analyst");
    assert_eq!((&answers[3]["code"], &answers[3]["status"]), (&json!("finished"), &json!(409)));
    assert_eq!(answers[4]["handoff"]["status"], "timed_out");
    assert_eq!(answers[5], json!({ "success": true, "cancelled": [], "kept": [] }));
    assert_eq!(answers[6]["handoffs"].as_array().unwrap().len(), 2);
    assert_eq!(answers[7], json!({ "handoff": null }));
    assert_eq!(answers[8], json!({ "stale": [], "thresholdMinutes": 30 }));
    assert_eq!(answers[9]["currentStory"], STORY, "a loose baton is handed in again");
}

/// What an example prints, and who has to act after each of its commands.
fn example(name: &str) -> (String, Vec<String>) {
    let project = Project::new();
    let server = project.serves();
    let script = format!("{}/../../examples/{name}", env!("CARGO_MANIFEST_DIR"));
    let output = Command::new("sh").arg(script).arg(&server.url).output().unwrap();
    assert!(output.status.success(), "{output:?}");
    let said = String::from_utf8(output.stdout).unwrap();
    let acts = said
        .lines()
        .filter_map(|line| serde_json::from_str::<Value>(line).ok())
        .filter_map(|it| {
            assert!(it["status"].as_u64().is_none_or(|it| it < 400), "{it}");
            let run = it.get("run").filter(|it| it.is_object())?;
            let word = |name: &str| run[name].as_str().unwrap_or("no agent").to_owned();
            Some(format!("{} {}", word("phase"), word("currentAgent")))
        })
        .collect();
    (said, acts)
}

#[test]
fn the_printed_messages_of_the_xml_protocol_go_from_the_first_to_the_last() {
    let (said, acts) = example("001.sh");
    let expected = [
        "preparing prep-agent",
        "implementing implementer-agent",
        "waiting no agent",
        "implementing implementer-agent",
        "in_review reviewer-agent",
        "fixing fixer-agent",
        "in_review reviewer-agent",
        "validating validator-agent",
        "fixing fixer-agent",
        "in_review reviewer-agent",
        "validating validator-agent",
        "merging closer-agent",
        "complete no agent",
    ];
    assert_eq!(acts, expected, "{said}");
    assert!(said.contains("<review_iterations>2</review_iterations>"), "{said}");
}

#[test]
fn the_printed_documents_of_the_json_phases_go_by_curl_and_a_blocker_goes_round() {
    let (said, acts) = example("002.sh");
    let expected = [
        "architecture frontend-lead",
        "implementation frontend-developer",
        "testing backend-tester",
        "complete no agent",
        "architecture frontend-lead",
        "implementation frontend-developer",
        "waiting human",
        "implementation frontend-developer",
        "architecture frontend-lead",
        "implementation frontend-developer",
        "implementation frontend-security",
        "implementation frontend-developer",
    ];
    assert_eq!(acts, expected, "{said}");
    assert!(said.contains("Searched for API specification in docs/"), "{said}");
}

#[test]
fn a_delivery_is_attributed_and_an_unsure_agent_waits_for_a_person() {
    let (said, acts) = example("003.sh");
    let expected = [
        "planning product-manager",
        "designing architect",
        "waiting human",
        "developing developer",
        "reviewing reviewer",
        "complete no agent",
    ];
    assert_eq!(acts, expected, "{said}");
    for part in [
        "`confidence` is 0.62, below 0.7: The bus has not been measured with 30 nodes",
        "Step requires Architect expertise",
        "Use the message bus for revocations",
        "Decided by Architect at",
    ] {
        assert!(said.contains(part), "{part}: {said}");
    }
}

#[test]
fn the_printed_documents_of_the_yaml_handoff_go_by_curl_as_they_are() {
    let project = Project::new();
    let server = project.serves();
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/004.sh");
    let output = Command::new("sh").arg(script).arg(&server.url).output().unwrap();
    assert!(output.status.success(), "{output:?}");
    let said = String::from_utf8(output.stdout).unwrap();
    let batons: Vec<String> = said
        .lines()
        .filter_map(|line| serde_json::from_str::<Value>(line).ok())
        .filter_map(|it| {
            let run = it.get("run").filter(|it| it.is_object())?;
            let word = |name: &str| run[name].as_str().unwrap_or("no agent").to_owned();
            Some(format!("{} {}", word("baton"), word("currentAgent")))
        })
        .collect();
    let expected = [
        "offered specification",
        "held specification",
        "parked human",
        "offered architecture",
        "held architecture",
        "offered security-check",
        "offered architecture",
        "offered security-check",
        "held security-check",
        "offered architecture",
    ];
    assert_eq!(batons, expected, "{said}");
    assert!(said.contains("<decision>JWT with refresh token rotation</decision>"), "{said}");
}

#[test]
fn a_story_goes_through_the_pipeline_by_curl_and_its_state_is_told_at_every_step() {
    let project = Project::new();
    project.ok(&["story", "add", STORY, "--title", "Log in"]);
    let server = project.serves();
    let state = || server.get(&format!("/api/handoffs?storyId={STORY}"));
    assert_eq!(state(), json!({ "currentAgent": null, "phase": null, "handoffs": [] }));

    let started = server.posted("/api/run", &json!({ "action": "start" }));
    assert_eq!((&started["status"], &started["currentStory"]), (&json!("running"), &json!(STORY)));
    let first = server.get("/api/handoffs?agent=analyst");
    assert_eq!(first["handoffs"][0]["payload"]["story"]["title"], "Log in");
    assert_eq!(state()["phase"], "analyzing");
    server.posted("/api/handoffs", &json!({ "action": "accept", "handoffId": 1 }));
    assert_eq!(state()["currentAgent"], "analyst", "whoever works is current");
    server.posted("/api/handoffs", &create("analyst", "implementer", json!({ "plan": "..." })));
    assert_eq!(state()["phase"], "implementing");
    // Handing on without having accepted says that it was.
    server.posted("/api/handoffs", &create("implementer", "reviewer", json!({})));
    let back = server.posted(
        "/api/handoffs",
        &create("reviewer", "implementer", json!({ "feedback": "no test" })),
    );
    assert_eq!((&back["handoff"]["kind"], &back["handoff"]["id"]), (&json!("return"), &json!(4)));
    server.posted("/api/handoffs", &create("implementer", "reviewer", json!({})));
    server.posted("/api/handoffs", &create("reviewer", "refactorer", json!({ "approved": true })));
    server.posted("/api/handoffs", &create("refactorer", "documenter", json!({})));
    server.posted("/api/handoffs", &create("documenter", "orchestrator", json!({})));
    let done = state();
    assert_eq!((&done["currentAgent"], &done["phase"]), (&Value::Null, &json!("complete")));
    assert_eq!(done["handoffs"].as_array().unwrap().len(), 8, "nothing is deleted at success");
    assert_eq!(server.get(&format!("/api/story/{STORY}"))["status"], "passed");
    let idle = server.posted("/api/run", &json!({ "action": "start" }));
    assert_eq!(idle["status"], "idle");
    assert!(idle["reason"].as_str().unwrap().contains("every story"), "{idle}");
    let again =
        server.post("/api/handoffs", &create("analyst", "implementer", json!({ "plan": "p" })));
    assert_eq!((again.status, &again.body["code"]), (409, &json!("run_finished")));
}

#[test]
fn every_no_has_its_status_and_says_what_to_do() {
    let project = Project::new();
    let server = project.serves();
    let plan = json!({ "plan": "p" });
    server.posted("/api/handoffs", &create("analyst", "implementer", plan.clone()));
    let no = |body: Value, status: u16, code: &str, words: &str| {
        let got = server.post("/api/handoffs", &body);
        assert_eq!(
            (got.status, got.body["code"].as_str()),
            (status, Some(code)),
            "{body}: {got:?}"
        );
        assert!(got.body["error"].as_str().unwrap().contains(words), "{got:?}");
    };
    no(json!({}), 400, "missing_field", "create, accept");
    no(json!({ "action": "eat" }), 400, "unknown_action", "create, accept, reject");
    no(json!({ "action": "accept" }), 400, "missing_field", "handoffId");
    no(json!({ "action": "accept", "handoffId": "x" }), 400, "wrong_type", "whole number");
    no(
        json!({ "action": "accept", "handoffId": 1, "hurry": 1 }),
        400,
        "unknown_field",
        "handoffId",
    );
    no(json!({ "action": "accept", "handoffId": 99 }), 404, "no_such_handoff", "99");
    no(json!({ "action": "reject", "handoffId": 1, "reason": " " }), 400, "bad_text", "empty");
    no(create("analyst", "nobody", plan.clone()), 400, "unknown_agent", "analyst");
    no(create("analyst", "implementer", plan.clone()), 409, "duplicate", "HO-001");
    no(create("documenter", "reviewer", plan), 409, "not_holder", "implementer");
    server.posted("/api/handoffs", &json!({ "action": "accept", "handoffId": 1 }));
    no(json!({ "action": "accept", "handoffId": 1 }), 409, "already_accepted", "implementer");
    let bad = create("implementer", "reviewer", json!({ "build_passes": false }));
    no(bad, 422, "contract", "broken");
    let got = server.curl(&["-X", "POST", "-d", "{\"a\":\n !}"], "/api/handoffs");
    assert_eq!(got.status, 400);
    assert!(got.body["error"].as_str().unwrap().contains("line 2"), "{got:?}");
    assert_eq!(server.curl(&["-X", "DELETE"], "/api/handoffs").status, 405);
    assert_eq!(server.curl(&[], "/api/nothing").status, 404);
    assert_eq!(server.curl(&[], "/api/handoffs").status, 400);
    assert_eq!(server.curl(&[], "/api/handoffs?agent=nobody").status, 400);
    assert_eq!(server.curl(&[], "/api/handoffs?storyid=x").status, 400);
}

#[test]
fn a_gate_is_answered_in_the_words_of_the_pipeline_api() {
    let project = Project::new();
    let server = project.serves();
    let send =
        |from: &str, to: &str, payload| server.posted("/api/handoffs", &create(from, to, payload));
    send("analyst", "implementer", json!({ "plan": "p" }));
    let review = json!({ "action": "create", "storyId": STORY, "fromAgent": "implementer",
        "toAgent": "human", "outcome": "needs_review", "payload": {} });
    server.posted("/api/handoffs", &review);
    let run = server.get("/api/run");
    assert_eq!(
        (&run["status"], &run["gate"]["type"]),
        (&json!("waiting_gate"), &json!("needs_review"))
    );
    let reset = server.posted("/api/run", &json!({ "action": "reset" }));
    assert_eq!((&reset["clearedHandoffs"], &reset["kept"]), (&json!(0), &json!([2])));
    let feedback = json!({ "action": "continue",
        "gateResponse": { "type": "pr_review", "response": "feedback", "feedback": "Rename it" } });
    let answered = server.posted("/api/run", &feedback);
    assert_eq!(answered["agentState"]["currentAgent"], "implementer");
    assert_eq!(server.post("/api/run", &feedback).status, 409, "no gate is open");
    server.posted("/api/run", &json!({ "action": "stop" }));
    let refused = server.post("/api/handoffs", &json!({ "action": "accept", "handoffId": 3 }));
    assert_eq!(refused.body["code"], "paused");
    server.posted("/api/run", &json!({ "action": "continue" }));
    server.posted("/api/handoffs", &json!({ "action": "accept", "handoffId": 3 }));
}

#[test]
fn signals_say_how_far_a_story_has_come() {
    let project = Project::new();
    let server = project.serves();
    let send =
        |from: &str, to: &str, payload| server.posted("/api/handoffs", &create(from, to, payload));
    let signal = |action: &str, more: Value| {
        let mut body = json!({ "action": action, "storyId": STORY });
        body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        server.post("/api/signal", &body)
    };
    assert_eq!(signal("passed", json!({})).status, 404);
    send("analyst", "implementer", json!({ "plan": "p" }));
    assert_eq!(signal("progress", json!({ "message": "half-way" })).status, 200);
    // Not at the end: a flag, and the work goes on.
    assert_eq!(signal("passed", json!({})).body["passes"], json!(true));
    assert_eq!(server.get("/api/run")["status"], "running");
    let blocked = signal("blocked", json!({ "message": "no access to the database" }));
    assert_eq!(blocked.status, 200, "{blocked:?}");
    assert_eq!(server.get("/api/run")["gate"]["type"], "blocked");
    server.posted("/api/run", &json!({ "action": "continue", "gateResponse": "continue" }));
    send("implementer", "reviewer", json!({}));
    send("reviewer", "refactorer", json!({ "approved": true }));
    send("refactorer", "documenter", json!({}));
    server.posted("/api/handoffs", &json!({ "action": "accept", "handoffId": 6 }));
    // At the end: whoever holds the last step is done.
    assert_eq!(signal("complete", json!({})).body["status"], "passed");
    let merged = signal("merged", json!({ "mergeCommit": "ABC1234", "prUrl": "http://x/1" }));
    assert_eq!(
        (&merged.body["mergeCommit"], &merged.body["prUrl"]),
        (&json!("abc1234"), &json!("http://x/1"))
    );
    assert_eq!(server.get(&format!("/api/story/{STORY}"))["merged"], json!(true));
    assert_eq!(signal("eaten", json!({})).body["code"], "unknown_action");
    assert_eq!(signal("progress", json!({ "message": "more" })).body["code"], "run_finished");
    drop(server);
    assert!(project.ok(&["verify"]).contains("every chain is whole"));
}

/// What a page in the same browser could send is not taken.
#[test]
fn no_web_page_can_use_the_server() {
    let project = Project::new();
    let server = project.serves();
    let port = server.url.rsplit(':').next().unwrap().to_owned();
    let ours = format!("http://localhost:{port}");
    let body = create("analyst", "implementer", json!({ "plan": "p" })).to_string();
    let post = |headers: &[&str]| {
        let mut args = vec!["-X", "POST", "-d", &body];
        for header in headers {
            args.extend(["-H", header]);
        }
        server.curl(&args, "/api/handoffs").status
    };
    let get = |headers: &[&str], path: &str| {
        let args: Vec<&str> = headers.iter().flat_map(|it| ["-H", it]).collect();
        server.curl(&args, path).status
    };
    for path in ["/api/handoffs?storyId=s", "/api/run", "/healthz", "/metrics"] {
        assert_eq!(get(&["Host: evil.example"], path), 421, "{path}");
        assert_eq!(get(&[&format!("Host: localhost:{port}1")], path), 421, "{path}");
        assert_eq!(get(&["Origin: http://evil.example"], path), 403, "{path}");
        assert_eq!(get(&["Origin: null"], path), 403, "{path}");
        assert_eq!(get(&["Sec-Fetch-Site: cross-site"], path), 403, "{path}");
        assert_eq!(get(&["Sec-Fetch-Site: same-site", "Sec-Fetch-Mode: navigate"], path), 403);
        assert_eq!(get(&[&format!("Origin: {ours}"), "Sec-Fetch-Site: same-origin"], path), 200);
    }
    let json = "Content-Type: application/json";
    assert_eq!(post(&["Origin: http://evil.example", json]), 403);
    assert_eq!(post(&["Sec-Fetch-Site: cross-site", json]), 403);
    for browser in
        [&format!("Origin: {ours}"), "Referer: http://x/", "Cookie: a=b", "Sec-Fetch-Mode: cors"]
    {
        assert_eq!(post(&[browser]), 415, "{browser}: a form that a page can send");
        assert_eq!(post(&[browser, "Content-Type: text/plain"]), 415, "{browser}");
    }
    assert_eq!(server.get("/api/handoffs?storyId=v0.1:1.1.1")["handoffs"], json!([]));
    assert_eq!(post(&[&format!("Origin: {ours}"), json]), 200);
}

#[test]
fn a_taken_port_is_named_with_a_free_one_and_the_world_is_not_let_in() {
    let project = Project::new();
    let server = project.serves();
    let address = server.url.strip_prefix("http://").unwrap();
    let other = Project::new();
    other.fails(&["serve", "--listen", address], 5, "is free");
    other.fails(&["serve", "--listen", "0.0.0.0:0"], 5, "from other machines");
}

#[test]
fn what_was_accepted_by_curl_is_still_accepted_after_a_kill() {
    let project = Project::new();
    let server = project.serves();
    server.posted("/api/handoffs", &create("analyst", "implementer", json!({ "plan": "p" })));
    server.posted("/api/handoffs", &json!({ "action": "accept", "handoffId": 1 }));
    drop(server);
    let server = project.serves();
    let state = server.get(&format!("/api/handoffs?storyId={STORY}"));
    assert_eq!(
        (&state["currentAgent"], &state["handoffs"][0]["status"]),
        (&json!("implementer"), &json!("accepted"))
    );
}
