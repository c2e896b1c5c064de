//! One node: a `baton serve` process with a clock of its own.

use std::net::{SocketAddr, TcpListener};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use anyhow::{Context as _, Result, bail, ensure};
use tempfile::TempDir;
use tokio::time::Instant;

use crate::http::connection::Connection;

/// Shifts the clock of a process that is started with it.
const CLOCKS: [&str; 2] = [
    "/usr/lib/x86_64-linux-gnu/faketime/libfaketime.so.1",
    "/usr/lib/aarch64-linux-gnu/faketime/libfaketime.so.1",
];
/// Longer than a start takes on a busy machine.
const LONG: Duration = Duration::from_secs(30);
const N_TRIES: usize = 5;

pub(crate) struct NodeProcess {
    program: PathBuf,
    /// Its project and its output.
    dir: TempDir,
    listen: SocketAddr,
    database_url: String,
    child: Option<Child>,
    /// How far its clock is off, in seconds, from its next start on.
    pub(crate) shift: i64,
}

impl NodeProcess {
    pub(crate) async fn start(program: &Path, database_url: String, shift: i64) -> Result<Self> {
        let dir = tempfile::tempdir()?;
        let made = Command::new(program).arg("init").current_dir(dir.path()).output();
        let made = made.with_context(|| format!("start `{}`", program.display()))?;
        ensure!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
        // The same port in every life, so that its address stays.
        let listen = TcpListener::bind(("127.0.0.1", 0))?.local_addr()?;
        let program = program.to_owned();
        let mut node = Self { program, dir, listen, database_url, child: None, shift };
        node.go().await?;
        Ok(node)
    }

    pub(crate) fn address(&self) -> SocketAddr {
        self.listen
    }

    pub(crate) fn pid(&self) -> Option<u32> {
        self.child.as_ref().map(Child::id)
    }

    /// Starts its process, and waits until it is ready.
    pub(crate) async fn go(&mut self) -> Result<()> {
        let mut went = Ok(());
        for _ in 0..N_TRIES {
            went = self.try_to_go().await;
            if went.is_ok() {
                break;
            }
            // Another process may have had the port for a moment.
            self.kill()?;
        }
        went
    }

    async fn try_to_go(&mut self) -> Result<()> {
        let output = std::fs::File::create(self.dir.path().join("output"))?;
        let mut command = Command::new(&self.program);
        command
            .args(["serve", "--no-runner", "--listen", &self.listen.to_string()])
            .current_dir(self.dir.path())
            .env("BATON_DATABASE_URL", &self.database_url)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(output);
        if self.shift != 0 {
            command
                .env("LD_PRELOAD", clock_library()?)
                .env("FAKETIME", format!("{:+}s", self.shift))
                .env("FAKETIME_DONT_FAKE_MONOTONIC", "1");
        }
        self.child = Some(command.spawn().context("start a node")?);
        self.wait_until_ready().await
    }

    pub(crate) async fn wait_until_ready(&mut self) -> Result<()> {
        let began = Instant::now();
        loop {
            if let Ok(mut connection) = Connection::open(&self.listen.to_string()).await
                && connection.get("/readyz").await.is_ok()
            {
                return Ok(());
            }
            let ended = match &mut self.child {
                Some(child) => child.try_wait()?,
                None => bail!("a node was never started"),
            };
            if ended.is_some() || began.elapsed() > LONG {
                let output = self.dir.path().join("output");
                let said = std::fs::read_to_string(output).unwrap_or_default();
                bail!("a node is not ready ({ended:?}):\n{said}");
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }

    /// SIGKILL: no handler, no destructor, no last words.
    pub(crate) fn kill(&mut self) -> Result<()> {
        if let Some(mut child) = self.child.take() {
            child.kill()?;
            child.wait()?;
            forget_clock(child.id());
        }
        Ok(())
    }

    /// Asks it to end, as a rolling restart does, and waits until it has.
    pub(crate) async fn stop(&mut self) -> Result<()> {
        self.signal("TERM")?;
        let Some(mut child) = self.child.take() else { return Ok(()) };
        let status = tokio::task::spawn_blocking(move || {
            let status = child.wait();
            forget_clock(child.id());
            status
        });
        let status =
            tokio::time::timeout(LONG, status).await.context("a node did not stop")???;
        ensure!(status.success(), "a node ended with {status} when it was stopped");
        Ok(())
    }

    /// Sends it a signal, such as `STOP` and `CONT`.
    pub(crate) fn signal(&self, name: &str) -> Result<()> {
        let Some(child) = &self.child else { return Ok(()) };
        let pid = child.id().to_string();
        let status = Command::new("kill").args(["-s", name, &pid]).status()?;
        ensure!(status.success(), "`kill -s {name}` ended with {status}");
        Ok(())
    }
}

impl Drop for NodeProcess {
    fn drop(&mut self) {
        let _ = self.kill();
    }
}

fn clock_library() -> Result<&'static str> {
    let found = CLOCKS.into_iter().find(|it| Path::new(it).is_file());
    found.context(
        "libfaketime is not installed: install it (Debian and Ubuntu: `apt-get install libfaketime`)",
    )
}

/// What the library keeps for a process that had no time to remove it.
fn forget_clock(pid: u32) {
    for name in [format!("faketime_shm_{pid}"), format!("sem.faketime_sem_{pid}")] {
        let _ = std::fs::remove_file(Path::new("/dev/shm").join(name));
    }
}
