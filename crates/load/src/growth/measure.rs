//! Measures the `baton` program from outside.
#![expect(clippy::disallowed_methods, reason = "it measures programs, which it has to start")]

use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, ensure};
use baton_core::run::{HandoffState, State};
use baton_store::HandoffFilter;

use crate::crew;
use crate::http::connection::Connection;

/// How often a start or a command is measured.
const N_STARTS: usize = 5;
const N_REQUESTS: usize = 21;
/// What follows a start is over by then: every lease is written once.
const WARM_UP: Duration = Duration::from_secs(5);

/// The first page of every list that a server has, with the filters that find little.
const LISTS: [&str; 39] = [
    "/",
    "/runs/1",
    "/metrics",
    "/api/v1/status",
    "/api/v1/runs",
    "/api/v1/runs?order=newest",
    "/api/v1/runs?status=open",
    "/api/v1/runs?status=paused",
    "/api/v1/runs?status=completed",
    "/api/v1/runs?workflow=gated-project",
    "/api/v1/runs?status=open&workflow=gated-project",
    "/api/v1/runs?limit=500",
    "/api/v1/runs/1/events",
    "/api/v1/runs/1/decisions",
    "/api/v1/workflows/1/handoffs",
    "/api/v1/handoffs",
    "/api/v1/handoffs?order=newest",
    "/api/v1/handoffs?limit=500",
    "/api/v1/handoffs?state=pending",
    "/api/v1/handoffs?state=pending&order=newest",
    "/api/v1/handoffs?state=accepted,parked",
    "/api/v1/handoffs?state=clarification",
    "/api/v1/handoffs?state=rejected",
    "/api/v1/handoffs?state=pending&kind=question",
    "/api/v1/handoffs?kind=question",
    "/api/v1/handoffs?stale=true",
    "/api/v1/handoffs?stale=false",
    "/api/v1/handoffs?agent=documenter",
    "/api/v1/handoffs?agent=documenter&state=pending",
    "/api/v1/handoffs?agent=security-check",
    "/api/v1/stories",
    "/api/v1/stories?limit=500",
    "/api/v1/inbox",
    "/api/v1/blockers",
    "/api/v1/agents",
    "/api/v1/definitions",
    "/api/v1/metrics",
    "/api/run",
    "/api/handoffs?storyId=growth:000001",
];

/// Without an archive: what was filled in without one would be written to it first.
const PROJECT: &str = "[project]\nworkflow = \"story-pipeline\"\n";

/// Makes a project in `root` where there is none; says where its data are.
pub(super) fn data_of(program: &Path, root: &Path) -> Result<PathBuf> {
    std::fs::create_dir_all(root)?;
    let data = root.join(".baton/data");
    if !root.join(".baton").exists() {
        let made = Command::new(program).arg("init").current_dir(root).output()?;
        ensure!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
        std::fs::write(root.join(".baton/baton.toml"), PROJECT)?;
    }
    std::fs::create_dir_all(&data)?;
    Ok(data)
}

/// Commands without a server, each with its median.
pub(super) async fn commands(
    program: &Path,
    root: &Path,
    data: &Path,
) -> Result<Vec<(String, Duration)>> {
    let mut measured = Vec::new();
    for words in [&["run", "show", "1"][..], &["status"], &["inbox"]] {
        let took = (0..N_STARTS).map(|_| command(program, root, words)).collect::<Result<_>>()?;
        measured.push((format!("`baton {}`", words.join(" ")), median(took)));
    }
    let mut took = Vec::new();
    for number in some_pending(data).await? {
        took.push(command(program, root, &["handoff", "accept", &number.to_string()])?);
    }
    measured.push(("`baton handoff accept N`".to_owned(), median(took)));
    Ok(measured)
}

fn command(program: &Path, root: &Path, words: &[&str]) -> Result<Duration> {
    let began = Instant::now();
    let done = Command::new(program).args(words).current_dir(root).output()?;
    let took = began.elapsed();
    let said = String::from_utf8_lossy(&done.stderr);
    ensure!(done.status.success(), "baton {}: {said}", words.join(" "));
    Ok(took)
}

async fn some_pending(data: &Path) -> Result<Vec<u64>> {
    let store = crew::sqlite(data)?;
    let filter = HandoffFilter {
        states: vec![HandoffState::Open(State::Pending)],
        limit: u32::try_from(N_STARTS)?,
        ..HandoffFilter::default()
    };
    let found = store.handoffs(&filter).await?;
    store.close().await;
    Ok(found.iter().map(|it| it.number).collect())
}

/// How long it takes from the start of a server until it listens.
pub(super) async fn listening(program: &Path, root: &Path) -> Result<Duration> {
    let mut took = Vec::new();
    for _ in 0..N_STARTS {
        let serving = Serving::start(program, root)?;
        took.push(serving.listening_after);
        // One that was killed would check all of its data at the next start.
        serving.stop().await?;
    }
    Ok(median(took))
}

/// A server, which is killed when this is dropped.
pub(super) struct Serving {
    child: Child,
    address: String,
    listening_after: Duration,
}

impl Serving {
    pub(super) fn start(program: &Path, root: &Path) -> Result<Self> {
        let began = Instant::now();
        let mut child = Command::new(program)
            .args(["serve", "--listen", "127.0.0.1:0"])
            .current_dir(root)
            .stderr(Stdio::piped())
            .spawn()?;
        let stderr = child.stderr.take().context("no stderr")?;
        let mut serving = Self { child, address: String::new(), listening_after: Duration::ZERO };
        let mut lines = BufReader::new(stderr).lines();
        for line in lines.by_ref() {
            let line = line?;
            if let Some((_, url)) = line.split_once("listening on http://") {
                serving.address = url.trim().to_owned();
                break;
            }
        }
        serving.listening_after = began.elapsed();
        ensure!(!serving.address.is_empty(), "the server did not start");
        // Its other output is discarded, and must not block it.
        std::thread::spawn(move || lines.for_each(drop));
        Ok(serving)
    }

    /// The share of a core that the idle server uses.
    pub(super) async fn idle_share(&self, lasting: Duration) -> Result<f64> {
        tokio::time::sleep(WARM_UP).await;
        let (before, began) = (cpu_ticks(self.child.id())?, Instant::now());
        tokio::time::sleep(lasting).await;
        let ticks = cpu_ticks(self.child.id())? - before;
        // Linux counts a hundred ticks a second.
        Ok(ticks as f64 / 100.0 / began.elapsed().as_secs_f64())
    }

    /// Lets it stop by itself; how long that takes.
    pub(super) async fn stop(mut self) -> Result<Duration> {
        let began = Instant::now();
        let id = self.child.id().to_string();
        Command::new("kill").args(["-TERM", &id]).status()?;
        while self.child.try_wait()?.is_none() {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        Ok(began.elapsed())
    }
}

impl Drop for Serving {
    fn drop(&mut self) {
        // It may be gone already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The first page of every list, each with its median.
pub(super) async fn lists(serving: &Serving) -> Result<Vec<(&'static str, Duration)>> {
    let mut connection = Connection::open(&serving.address).await?;
    let mut measured = Vec::new();
    for path in LISTS {
        let mut took = Vec::new();
        for _ in 0..N_REQUESTS {
            let began = Instant::now();
            connection.get(path).await?;
            took.push(began.elapsed());
        }
        measured.push((path, median(took)));
    }
    Ok(measured)
}

/// What a process has used of all cores, in user and kernel mode.
fn cpu_ticks(pid: u32) -> Result<u64> {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat"))?;
    // The name of the program may have blanks, and ends with the last bracket.
    let (_, fields) = stat.rsplit_once(')').context("no name")?;
    let fields: Vec<&str> = fields.split_whitespace().collect();
    let ticks = |n: usize| fields.get(n).and_then(|it| it.parse::<u64>().ok());
    Ok(ticks(11).context("no user time")? + ticks(12).context("no kernel time")?)
}

fn median(mut took: Vec<Duration>) -> Duration {
    took.sort_unstable();
    took.get(took.len() / 2).copied().unwrap_or_default()
}
