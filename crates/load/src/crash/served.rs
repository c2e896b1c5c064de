//! Kills a server under load, starts the next one on the same data, and lets the same clients
//! continue: each retries the command that had no answer. If anything were lost, a client would get
//! an error that its predecessor is missing; if anything were done twice, its story would show it.

use std::time::Duration;

use anyhow::{Context as _, Result, bail, ensure};
use serde_json::Value;

use super::{N_CALLERS, Random};
use crate::crew;
use crate::http::connection::{Connection, LoadResponse};
use crate::http::{PIPELINE, Served, accept_body, create_body, handoff_id};

/// A new database after this many lives, so that checking it stays quick.
const LIVES_PER_DATABASE: u32 = 10;
/// No life under load lasts longer.
const MOST_MILLISECONDS: u64 = 300;
const PATH: &str = "/api/handoffs";

pub(super) async fn kill_servers(kills: u32, random: &mut Random) -> Result<()> {
    let mut n_killed = 0;
    let (mut n_acked, mut n_again, mut n_rows) = (0, 0, 0);
    while n_killed < kills {
        let dir = tempfile::tempdir()?;
        let mut callers: Vec<ServedCaller> = (0..N_CALLERS).map(ServedCaller::new).collect();
        for _ in 0..LIVES_PER_DATABASE.min(kills - n_killed) {
            n_killed += 1;
            let mut served = Served::start(dir.path())?;
            let mut working = Vec::new();
            for caller in callers {
                working.push(tokio::spawn(caller.work(served.address.clone())));
            }
            let lasting = Duration::from_millis(random.below(MOST_MILLISECONDS));
            tokio::time::sleep(lasting).await;
            served.child.kill().context("kill the server")?;
            callers = Vec::new();
            for caller in working {
                callers.push(caller.await?.with_context(|| format!("life {n_killed}"))?);
            }
        }
        let served = Served::start(dir.path())?;
        for caller in &callers {
            n_rows += caller.examine(&served.address).await?;
            n_acked += caller.n_acked;
            n_again += caller.n_again;
        }
        drop(served);
        let store = crew::sqlite(dir.path())?;
        let verified = baton_engine::verify_all(store.as_ref()).await?;
        ensure!(verified.problems.is_empty(), "{:?}", verified.problems);
        store.close().await;
    }
    println!(
        "{n_killed} kills: {n_acked} acknowledged commands, 0 lost, 0 twice; \
         {n_again} sent again, {n_rows} handoffs as their callers know them"
    );
    ensure!(n_acked > u64::from(kills), "hardly anything was acknowledged: nothing was tested");
    Ok(())
}

/// One caller with stories of its own, which outlives the servers that it talks to.
struct ServedCaller {
    name: String,
    /// Half of them send no key, as plain curl does.
    has_keys: bool,
    n_stories: u32,
    /// How many commands of the story have been carried out.
    at: usize,
    /// The handoff that was made last.
    handoff: u64,
    /// The command was sent before, and its result is unknown.
    is_unsure: bool,
    n_acked: u64,
    n_again: u64,
}

/// For each pair of agents a create and, but for the last, an accept.
const N_COMMANDS: usize = 2 * (PIPELINE.len() - 1) - 1;

impl ServedCaller {
    fn new(n: usize) -> Self {
        Self {
            name: format!("c{n}"),
            has_keys: n.is_multiple_of(2),
            n_stories: 1,
            at: 0,
            handoff: 0,
            is_unsure: false,
            n_acked: 0,
            n_again: 0,
        }
    }

    /// Works until the server is gone. An impossible answer is an error.
    async fn work(mut self, address: String) -> Result<Self> {
        let Ok(mut connection) = Connection::open(&address).await else { return Ok(self) };
        loop {
            if self.at == N_COMMANDS {
                self.n_stories += 1;
                self.at = 0;
            }
            self.n_again += u64::from(self.is_unsure);
            let key = self.has_keys.then(|| format!("{}/{}", self.story(), self.at));
            let answer = connection.post_keyed(PATH, key.as_deref(), &self.command()).await;
            let Ok(answer) = answer else {
                self.is_unsure = true;
                return Ok(self);
            };
            self.take(&answer)?;
        }
    }

    fn story(&self) -> String {
        format!("{}:{}", self.name, self.n_stories)
    }

    fn command(&self) -> String {
        let pair = self.at / 2;
        if self.at.is_multiple_of(2) {
            create_body(&self.story(), PIPELINE[pair], PIPELINE[pair + 1])
        } else {
            accept_body(self.handoff)
        }
    }

    fn take(&mut self, answer: &LoadResponse) -> Result<()> {
        let is_create = self.at.is_multiple_of(2);
        match answer.status {
            200 => {}
            // Without an idempotency key, the retry's error shows that the first try had succeeded.
            409 if self.is_unsure && !self.has_keys => {}
            status => bail!("{} at {}: {status}: {}", self.story(), self.at, answer.body),
        }
        if is_create {
            self.handoff = handoff_id(&answer.body).context("an answer without a handoff")?;
        }
        self.at += 1;
        self.n_acked += 1;
        self.is_unsure = false;
        Ok(())
    }

    /// Compares every story with its client's record; returns the number of handoffs.
    async fn examine(&self, address: &str) -> Result<u64> {
        let mut connection = Connection::open(address).await?;
        let mut n_rows = 0;
        for n in 1..=self.n_stories {
            let story = format!("{}:{n}", self.name);
            let n_done = if n < self.n_stories { N_COMMANDS } else { self.at };
            let answer = connection.get(&format!("{PATH}?storyId={story}")).await?;
            let state: Value = serde_json::from_str(&answer)?;
            let rows = state["handoffs"].as_array().context("no handoffs")?;
            let shown: Vec<String> = rows.iter().map(row_words).collect();
            let is_unsure = self.is_unsure && n == self.n_stories;
            let known = words_after(n_done);
            let is_right = shown == known || is_unsure && shown == words_after(n_done + 1);
            ensure!(is_right, "{story} after {n_done}: {shown:?}, and not {known:?}");
            n_rows += rows.len() as u64;
        }
        Ok(n_rows)
    }
}

fn row_words(row: &Value) -> String {
    let word = |name: &str| row[name].as_str().unwrap_or("?").to_owned();
    format!("{} {} {}", word("from_agent"), word("to_agent"), word("status"))
}

/// What a story looks like after so many of its commands.
fn words_after(n_done: usize) -> Vec<String> {
    let n_rows = n_done.div_ceil(2);
    let row = |n: usize| {
        let is_last_pair = n + 2 == PIPELINE.len();
        let is_accepted = n_done > 2 * n + 1 || is_last_pair;
        let status = if is_accepted { "accepted" } else { "pending" };
        format!("{} {} {status}", PIPELINE[n], PIPELINE[n + 1])
    };
    (0..n_rows).map(row).collect()
}
