//! What the runner costs for each handoff: from the claim to the first act of the agent's program, and from
//! its last act to the offer to the next agent.
//!
//! Measured is `baton serve` itself, in a git repository, with a program that does nothing but print its
//! handoff as a block. Both ends of each span are read from the same clock: the server's stamps and the
//! program's.
#![expect(clippy::disallowed_methods, reason = "it measures programs, which it has to start")]

use std::io::{BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use anyhow::{Context as _, Result, ensure};
use clap::Args;
use jiff::Timestamp;
use serde_json::Value;

use crate::bench::milliseconds;
use crate::growth;
use crate::http::PIPELINE;
use crate::http::connection::Connection;

#[derive(Debug, Args)]
pub(crate) struct RunnerBenchOptions {
    /// How many stories go through the pipeline, one after the other; each is five attempts
    #[arg(long, default_value_t = 20)]
    stories: usize,
    /// No new story begins after so many seconds: the figures are of those that were finished
    #[arg(long, default_value_t = 120)]
    seconds: u64,
}

#[derive(Debug, Args)]
pub(crate) struct BenchAgentOptions {
    /// Where it writes down when it began and ended, by the number of its handoff
    #[arg(long)]
    into: PathBuf,
}

/// The target, at the 95th percentile.
const MOST_MS: u32 = 100;
const MOST_WAIT: Duration = Duration::from_secs(60);

/// What `runner` has its agents do: nothing, and then it hands on.
pub(crate) fn play_agent(options: &BenchAgentOptions) -> Result<()> {
    let began = now()?;
    let env = |name: &str| std::env::var(name).with_context(|| format!("no {name}"));
    let (agent, story) = (env("BATON_AGENT")?, env("STORY_ID")?);
    let at = PIPELINE.iter().position(|it| *it == agent).context("not of the pipeline")?;
    let next = PIPELINE.get(at + 1).context("it is the last")?;
    println!("```baton\n{}\n```", crate::http::create_body(&story, &agent, next));
    std::io::stdout().flush()?;
    let file = options.into.join(env("BATON_HANDOFF")?);
    std::fs::write(file, format!("{began} {}", now()?))?;
    Ok(())
}

/// In microseconds since 1970.
fn now() -> Result<i64> {
    Ok(i64::try_from(SystemTime::now().duration_since(UNIX_EPOCH)?.as_micros())?)
}

pub(crate) async fn run(options: &RunnerBenchOptions) -> Result<()> {
    let (root, state, times) = (tempfile::tempdir()?, tempfile::tempdir()?, tempfile::tempdir()?);
    let project =
        BenchProject { program: growth::program()?, root: root.path(), state: state.path() };
    project.lay_out(times.path())?;
    let serving = project.serve()?;
    let mut connection = Connection::open(&serving.address).await?;
    let mut spans = Spans::default();
    let (began, load_before) = (std::time::Instant::now(), load_average());
    let mut n_stories = 0;
    for n in 1..=options.stories {
        if began.elapsed().as_secs() >= options.seconds {
            break;
        }
        let story = format!("bench-{n}");
        let start = format!(r#"{{"story":"{story}","newStory":true}}"#);
        let started = connection.post_keyed("/api/v1/runs", None, &start).await?;
        ensure!(started.status == 201, "{}", started.body);
        let handoffs = completed(&mut connection, n).await?;
        spans.add(&handoffs, times.path())?;
        n_stories = n;
    }
    drop(serving);
    let profile = if cfg!(debug_assertions) { "debug" } else { "release" };
    println!(
        "{n_stories} stories in {:.1} s, {profile} build, {} cores, load average {load_before} before and {} after\n",
        began.elapsed().as_secs_f64(),
        std::thread::available_parallelism().map_or(0, usize::from),
        load_average(),
    );
    println!("| what the runner takes | n | p50 ms | p95 ms | most ms | goal |");
    println!("|---|---|---|---|---|---|");
    let goal = MOST_MS.to_string();
    print_row("claim to the program's first act, in a workspace that is there", spans.later, &goal);
    print_row("the same with a new worktree, once for each run", spans.first, "–");
    print_row("the program's last act to the next offer", spans.on, &goal);
    Ok(())
}

/// How many processes have wanted to run in the last minute, as the system tells.
fn load_average() -> String {
    let text = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
    text.split_whitespace().next().unwrap_or("unknown").to_owned()
}

/// The handoffs of a run, once it is completed.
async fn completed(connection: &mut Connection, run: usize) -> Result<Vec<Value>> {
    let began = std::time::Instant::now();
    loop {
        let shown: Value =
            serde_json::from_str(&connection.get(&format!("/api/v1/runs/{run}")).await?)?;
        if shown["status"] == "completed" {
            break;
        }
        ensure!(began.elapsed() < MOST_WAIT, "run {run} does not come to its end: {shown}");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    let list = connection.get(&format!("/api/v1/handoffs?run=run%3A{run}&limit=500")).await?;
    let list: Value = serde_json::from_str(&list)?;
    list["items"].as_array().cloned().context("no handoffs")
}

/// What was measured, in microseconds.
#[derive(Default)]
struct Spans {
    /// From a claim to the first act of the program, with a new workspace and without.
    first: Vec<i64>,
    later: Vec<i64>,
    /// From the last act of the program to the next offer.
    on: Vec<i64>,
}

impl Spans {
    fn add(&mut self, handoffs: &[Value], times: &Path) -> Result<()> {
        for (index, pair) in handoffs.windows(2).enumerate() {
            let [handoff, next] = pair else { continue };
            let file = times.join(handoff["number"].to_string());
            let text = std::fs::read_to_string(&file).with_context(|| format!("{handoff}"))?;
            let (began, ended) = text.split_once(' ').context("two times")?;
            let span = began.parse::<i64>()? - stamp(handoff, "acceptedAt")?;
            if index == 0 {
                self.first.push(span)
            } else {
                self.later.push(span)
            }
            self.on.push(stamp(next, "createdAt")? - ended.parse::<i64>()?);
        }
        Ok(())
    }
}

fn stamp(handoff: &Value, field: &str) -> Result<i64> {
    let text = handoff[field].as_str().with_context(|| format!("no {field} in {handoff}"))?;
    Ok(text.parse::<Timestamp>()?.as_microsecond())
}

fn print_row(what: &str, mut spans: Vec<i64>, goal: &str) {
    spans.sort_unstable();
    let at = |percent: usize| {
        let index = (spans.len() * percent / 100).min(spans.len().saturating_sub(1));
        let span = spans.get(index).copied().unwrap_or(0);
        milliseconds(Duration::from_micros(u64::try_from(span).unwrap_or(0)))
    };
    println!(
        "| {what} | {} | {:.1} | {:.1} | {:.1} | {goal} |",
        spans.len(),
        at(50),
        at(95),
        at(100)
    );
}

/// A repository whose agents are this very program.
struct BenchProject<'a> {
    program: PathBuf,
    root: &'a Path,
    /// Where the user's trust is kept.
    state: &'a Path,
}

/// The server, which is killed when this is dropped.
struct ServingRunner {
    child: Child,
    address: String,
}

impl BenchProject<'_> {
    fn lay_out(&self, times: &Path) -> Result<()> {
        self.done(self.baton(&["init"]))?;
        // What the packages name is there, so that the linter lets them through.
        for name in ["src/session.rs", "src/login.rs", "tests/login.rs", "docs/login.md"] {
            let file = self.root.join(name);
            std::fs::create_dir_all(file.parent().context("it is in a folder")?)?;
            std::fs::write(file, "")?;
        }
        let here = std::env::current_exe()?;
        let text = format!(
            "[project]\nworkflow = \"story-pipeline\"\n[executors.bench]\nkind = \"command\"\nrun = \
             [{:?}, \"agent\", \"--into\", {:?}]\n[agents.\"*\"]\nexecutors = [\"bench\"]\n",
            here.display().to_string(),
            times.display().to_string(),
        );
        std::fs::write(self.root.join(".baton/baton.toml"), text)?;
        let git = |args: &[&str]| {
            let mut command = Command::new("git");
            command.args(["-c", "user.name=bench", "-c", "user.email=bench@localhost"]).args(args);
            command.current_dir(self.root);
            command
        };
        for args in [&["init", "-q", "."][..], &["add", "-A"], &["commit", "-q", "-m", "Begin"]] {
            self.done(git(args))?;
        }
        self.done(self.baton(&["trust", "--yes"]))
    }

    fn baton(&self, args: &[&str]) -> Command {
        let mut command = Command::new(&self.program);
        command.args(args).current_dir(self.root).env("XDG_STATE_HOME", self.state);
        command
    }

    fn done(&self, mut command: Command) -> Result<()> {
        let done = command.output()?;
        let said = String::from_utf8_lossy(&done.stderr);
        ensure!(done.status.success(), "{command:?}: {said}");
        Ok(())
    }

    fn serve(&self) -> Result<ServingRunner> {
        let mut command = self.baton(&["serve", "--listen", "127.0.0.1:0"]);
        let mut child = command.stderr(Stdio::piped()).spawn()?;
        let mut lines = BufReader::new(child.stderr.take().context("no stderr")?).lines();
        let line = lines.next().context("it says nothing")??;
        let address = line.strip_prefix("listening on http://").context(line.clone())?.to_owned();
        // Whatever else it says is read, so that it never waits for a reader.
        std::thread::spawn(move || lines.for_each(drop));
        Ok(ServingRunner { child, address })
    }
}

impl Drop for ServingRunner {
    fn drop(&mut self) {
        // It may be gone already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
