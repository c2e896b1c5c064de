//! Runners on other machines: with a clone of the project, a token, and a network that fails.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;

use serde_json::Value;

use super::killed::Ended;
use super::{Workshop, text};
use crate::serve::Served;

/// A clone of a project on "another machine": with data, trust and settings of its own.
struct Machine<'w> {
    workshop: &'w Workshop,
    place: tempfile::TempDir,
}

impl<'w> Machine<'w> {
    fn new(workshop: &'w Workshop, way: &str) -> Self {
        let machine = Self { workshop, place: tempfile::tempdir().unwrap() };
        let (from, to) = (workshop.path().to_str().unwrap(), machine.folder());
        workshop.git(&["clone", "-q", from, to.to_str().unwrap()]);
        let settings = to.join(".baton/baton.toml");
        let own = std::fs::read_to_string(&settings).unwrap();
        std::fs::write(
            &settings,
            own.replace("\"tools/agent.sh\", \"json\"", &format!("\"tools/agent.sh\", \"{way}\"")),
        )
        .unwrap();
        let trusted = machine.command(&["trust", "--yes"]).output().unwrap();
        assert!(trusted.status.success(), "{trusted:?}");
        machine
    }

    fn commit(&self, message: &str) {
        let author = ["-c", "user.name=ada", "-c", "user.email=ada@localhost"];
        let mut git = Command::new("git");
        git.current_dir(self.folder()).args(author).args(["commit", "-q", "-a", "-m", message]);
        assert!(git.status().unwrap().success());
    }

    fn folder(&self) -> PathBuf {
        self.place.path().join("clone")
    }

    fn command(&self, args: &[&str]) -> Command {
        let mut command = self.workshop.command(args);
        command.current_dir(self.folder());
        command.env("XDG_STATE_HOME", self.place.path());
        // It has no way to the data but the server's.
        command.env_remove("BATON_DATABASE_URL");
        command
    }

    /// A runner that asks these servers.
    fn runs(&self, servers: &str, more: &[&str]) -> Ended {
        let args: Vec<&str> =
            ["runner", "--server", servers].into_iter().chain(more.iter().copied()).collect();
        let mut command = self.command(&args);
        command.env("BATON_RUNNER_TOKEN", token(self.workshop));
        Ended(command.stderr(Stdio::null()).spawn().unwrap())
    }

    /// What the runner has recorded of its only attempt, once it looks like this.
    fn until_recorded(&self, is_so: impl Fn(&Value) -> bool) -> Value {
        let attempts = self.folder().join(".baton/data/runner/attempts");
        let begun = std::time::Instant::now();
        loop {
            let folders = std::fs::read_dir(&attempts).into_iter().flatten().flatten();
            let records = folders.filter_map(|it| read_json(&it.path().join("attempt.json")));
            if let Some(record) = records.into_iter().find(&is_so) {
                return record;
            }
            assert!(begun.elapsed().as_secs() < 100, "no such record");
            thread::yield_now();
        }
    }
}

fn read_json(path: &Path) -> Option<Value> {
    serde_json::from_str(&std::fs::read_to_string(path).ok()?).ok()
}

fn token(workshop: &Workshop) -> String {
    let key = std::fs::read_to_string(workshop.path().join(".baton/data/runner.key")).unwrap();
    key.lines().next().unwrap().to_owned()
}

/// A proxy on loopback whose connections can be cut.
struct Link {
    address: SocketAddr,
    is_down: Arc<AtomicBool>,
    open: Arc<Mutex<Vec<TcpStream>>>,
}

impl Link {
    fn to(server: &Served, listener: TcpListener) -> Self {
        let target: SocketAddr = server.url.strip_prefix("http://").unwrap().parse().unwrap();
        let link = Self {
            address: listener.local_addr().unwrap(),
            is_down: Arc::default(),
            open: Arc::default(),
        };
        let (is_down, open) = (link.is_down.clone(), link.open.clone());
        thread::spawn(move || {
            for client in listener.incoming().flatten() {
                if is_down.load(Ordering::SeqCst) {
                    continue;
                }
                let Ok(server) = TcpStream::connect(target) else { continue };
                let mut open = open.lock().unwrap();
                for (from, to) in [(&client, &server), (&server, &client)] {
                    let (from, to) = (from.try_clone().unwrap(), to.try_clone().unwrap());
                    thread::spawn(move || carry(from, to));
                }
                open.extend([client, server]);
            }
        });
        link
    }

    fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    fn cut(&self) {
        self.is_down.store(true, Ordering::SeqCst);
        for stream in self.open.lock().unwrap().drain(..) {
            let _ = stream.shutdown(std::net::Shutdown::Both);
        }
    }

    fn mend(&self) {
        self.is_down.store(false, Ordering::SeqCst);
    }
}

fn carry(mut from: TcpStream, mut to: TcpStream) {
    let mut bytes = [0; 4096];
    while let Ok(n @ 1..) = from.read(&mut bytes) {
        if to.write_all(&bytes[..n]).is_err() {
            break;
        }
    }
    let _ = to.shutdown(std::net::Shutdown::Write);
}

/// The files of a handoff, as anyone sees them.
fn files(workshop: &Workshop, handoff: &str) -> Vec<Value> {
    workshop.json(&["handoff", "files", handoff])["items"].as_array().unwrap().clone()
}

fn completed(workshop: &Workshop, story: &str) -> Vec<String> {
    let handoffs = workshop.handoffs(story);
    let completed = handoffs.iter().filter(|it| text(it, "state") == "completed");
    completed.map(|it| format!("{}>{}", text(it, "fromAgent"), text(it, "toAgent"))).collect()
}

#[test]
fn what_a_runner_elsewhere_did_is_seen_from_anywhere() {
    let workshop = Workshop::new("json", "");
    let served = workshop.serves_alone();
    let machine = Machine::new(&workshop, "json");
    let _runner = machine.runs(&served.url, &[]);
    workshop.start("s1");
    workshop.until_completed("s1");
    let handoffs = workshop.handoffs("s1");
    let of = |agent: &str| handoffs.iter().find(|it| text(it, "toAgent") == agent).unwrap();
    let number = of("implementer")["number"].to_string();
    let sent = files(&workshop, &number);
    let kinds: Vec<&str> = sent.iter().map(|it| text(it, "kind")).collect();
    assert_eq!(kinds, ["log", "diff", "artifact"], "{sent:#?}");
    let diff = workshop.ok(&["handoff", "file", &number, "changes.diff"]);
    assert!(diff.contains("+++ b/src/app.txt") && diff.contains("+hello"), "{diff}");
    let log = workshop.ok(&["handoff", "file", &number, "output.txt"]);
    assert!(log.contains("I am done, and hand on."), "{log}");
    assert_eq!(workshop.ok(&["handoff", "file", &number, "src/app.txt"]), "hello\n");
    workshop.ok(&["verify"]);
    let sha256 = text(&sent[1], "sha256").to_owned();
    let redact = ["audit", "redact", "s1", "--file", &sha256, "--reason", "it names a customer"];
    workshop.ok(&redact);
    assert_eq!(text(&files(&workshop, &number)[1], "name"), "[redacted]");
    workshop.ok(&["verify"]);
    assert!(!machine.folder().join(".baton/data/baton.db").exists(), "the data is elsewhere");
}

#[test]
fn a_runner_that_is_cut_off_loses_its_work_to_another_and_is_refused_when_it_comes_back() {
    let workshop = Workshop::new("json", "");
    // A tunnel with another port is another name of the server.
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let name = listener.local_addr().unwrap().to_string();
    let serve = ["serve", "--listen", "127.0.0.1:0", "--no-runner", "--allow-host", &name];
    let served = Served::listening(workshop.command(&serve));
    let link = Link::to(&served, listener);
    let (far, near) = (Machine::new(&workshop, "hang"), Machine::new(&workshop, "json"));
    let _first = far.runs(&link.url(), &["--agents", "analyst"]);
    workshop.start("s1");
    let cut_off = far.until_recorded(|it| text(it, "stage") == "agent_started");
    link.cut();
    workshop.until("s1", "the lease is over", |_| workshop.attempts("s1", "analyst") > 1);
    let _second = near.runs(&served.url, &[]);
    workshop.until_completed("s1");

    link.mend();
    let over = far.until_recorded(|it| text(it, "stage") == "handed_off");
    assert!(text(&over, "result").starts_with("lost: "), "{over}");
    let agent = cut_off["process"]["pid"].as_u64().unwrap();
    let state = std::fs::read_to_string(format!("/proc/{agent}/stat")).unwrap_or_default();
    assert!(state.is_empty() || state.contains(") Z"), "its agent is ended: {state}");

    let before = workshop.handoffs("s1");
    let handoff = text(&cut_off["key"], "handoff").to_owned();
    let bearer = format!("authorization: Bearer {}", token(&workshop));
    let attempt = format!("authorization: Bearer {}", text(&cut_off["key"], "token"));
    let hash = "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824";
    let file = format!("/api/v1/handoffs/{handoff}/files/{hash}?fence=1&kind=log&name=output.txt");
    let at = |verb: &str| format!("/api/v1/handoffs/{handoff}/{verb}");
    for (header, method, path, body) in [
        (&bearer, "POST", at("heartbeat"), r#"{"fence":1}"#),
        (&bearer, "PUT", file.clone(), "hello"),
        (&attempt, "PUT", file, "hello"),
        (&attempt, "POST", at("complete"), r#"{"outcome":"success","package":{"plan":"x"}}"#),
        (&bearer, "POST", at("lost"), r#"{"fence":1,"reason":"late"}"#),
    ] {
        let json = "content-type: application/json";
        let late = served.curl(&["-X", method, "-H", header, "-H", json, "-d", body], &path);
        assert!((400..500).contains(&late.status), "{path}: {late:?}");
        let code = text(&late.body, "code");
        assert!(
            matches!(code, "stale_fence" | "finished" | "no_lease" | "run_finished"),
            "{path}: {late:?}"
        );
    }
    assert_eq!(workshop.handoffs("s1"), before, "nothing is done twice");
    let (ways, mut once) = (completed(&workshop, "s1"), completed(&workshop, "s1"));
    once.sort();
    once.dedup();
    assert_eq!((once.len(), ways.len()), (6, 6), "{ways:?}");
}

#[test]
fn a_runner_goes_on_at_the_next_server_in_the_middle_of_an_attempt() {
    let workshop = Workshop::new("json", "[runner]\nlease = \"20s\"\n");
    let first = workshop.serves_alone();
    // A free port, for the server that comes next.
    let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let next = format!("127.0.0.1:{port}");
    let machine = Machine::new(&workshop, "json");
    let settings = machine.folder().join("tools/agent.sh");
    let agent = std::fs::read_to_string(&settings).unwrap();
    let gate = machine.place.path().join("gate");
    let waits = format!("prompt=$(cat)\nuntil [ -e '{}' ]; do sleep 0.05; done", gate.display());
    std::fs::write(&settings, agent.replacen("prompt=$(cat)", &waits, 1)).unwrap();
    machine.commit("Wait for the gate");
    let trusted = machine.command(&["trust", "--yes"]).output().unwrap();
    assert!(trusted.status.success(), "{trusted:?}");
    let _runner = machine.runs(&format!("{},http://{next}", first.url), &[]);
    workshop.start("s1");
    machine.until_recorded(|it| text(it, "stage") == "agent_started");
    assert_eq!(first.stop(), Some(0));
    let _second = Served::listening(workshop.command(&["serve", "--listen", &next, "--no-runner"]));
    std::fs::write(&gate, "").unwrap();
    workshop.until_completed("s1");
    assert!(workshop.handoffs("s1").iter().all(|it| it["attempt"] == 1), "nothing was lost");
    let sent = files(&workshop, "1");
    assert!(sent.iter().any(|it| text(it, "kind") == "log"), "{sent:#?}");
}

#[test]
fn a_runner_says_which_servers_do_not_answer_and_what_to_type_without_a_token() {
    let workshop = Workshop::new("json", "");
    let served = workshop.serves_alone();
    let machine = Machine::new(&workshop, "json");
    let refused = |args: &[&str]| {
        let output = machine.command(args).env_remove("BATON_RUNNER_TOKEN").output().unwrap();
        assert!(!output.status.success(), "{output:?}");
        (output.status.code(), String::from_utf8(output.stderr).unwrap())
    };
    let dead = "http://127.0.0.1:1,http://127.0.0.1:2";
    let (code, said) = refused(&["runner", "--server", dead, "--token", "env"]);
    assert!(said.contains("`--token` is empty") && said.contains("BATON_RUNNER_TOKEN"), "{said}");
    assert_eq!(code, Some(2));
    let (code, said) = refused(&["runner", "--server", dead, "--token", "baton-runner.x"]);
    assert!(said.contains("none of the servers answers"), "{said}");
    assert!(said.contains("127.0.0.1:1") && said.contains("127.0.0.1:2"), "{said}");
    assert_eq!(code, Some(5));
    let (_, said) = refused(&["runner", "--server", &served.url]);
    assert!(said.contains("--token"), "{said}");
    let (_, said) = refused(&["runner", "--server", &served.url, "--token", "baton-runner.x"]);
    assert!(said.contains("does not take this runner's credential"), "{said}");
    let mistyped =
        ["runner", "--server", &served.url, "--capabilities", "no-such-thing", "--token"];
    let key = format!("@{}", workshop.path().join(".baton/data/runner.key").display());
    let mistyped: Vec<&str> = mistyped.into_iter().chain([key.as_str()]).collect();
    let (_, said) = refused(&mistyped);
    assert!(said.contains("no agent has the capability `no-such-thing`"), "{said}");
}

#[test]
fn a_typed_token_is_not_among_the_arguments_of_the_runner_nor_in_its_agents() {
    let workshop = Workshop::new("environment", "");
    let served = workshop.serves_alone();
    let machine = Machine::new(&workshop, "environment");
    let token = token(&workshop);
    let mut command = machine.command(&["runner", "--server", &served.url, "--token", &token]);
    let runner = Ended(command.stderr(Stdio::null()).spawn().unwrap());
    workshop.start("s1");
    workshop.until_completed("s1");
    let typed = std::fs::read_to_string(format!("/proc/{}/cmdline", runner.0.id())).unwrap();
    assert!(typed.contains("--token") && !typed.contains(&token), "{typed}");
    let attempts = machine.folder().join(".baton/data/runner/attempts");
    for folder in std::fs::read_dir(attempts).unwrap().flatten() {
        let environment = folder.path().join("output/environment");
        let environment = std::fs::read_to_string(environment).unwrap();
        assert!(
            !environment.contains(&token) && environment.contains("BATON_TOKEN=baton-attempt.")
        );
    }
}
