//! A PostgreSQL server with a data folder of its own, on a free loopback port.

use std::hash::{BuildHasher as _, RandomState};
use std::net::TcpListener;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use anyhow::{Context as _, Result, ensure};

use crate::installation::{Account, PostgresPrograms};

/// Who owns everything in the cluster.
pub(crate) const USER: &str = "baton";
/// Another process may take a port between its choice and its use.
const N_TRIES: usize = 5;
/// Waits until the process that started it is gone, then stops the server, whatever it is doing, and
/// removes the folder.
const GUARD: &str =
    r#"cat >/dev/null; "$1" -D "$2/data" -m immediate stop >/dev/null 2>&1; rm -rf "$2""#;

/// Whether a commit waits for the disk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Durability {
    /// As in production.
    Synced,
    /// Faster, for tests in which no machine loses its power.
    Unsynced,
}

/// How a server is stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ClusterStop {
    /// Its sessions are ended, and everything is written to its place.
    Fast,
    /// As a crash: the next start recovers from the log.
    Immediate,
}

/// A running server, stopped and removed when this is dropped or its process ends.
#[derive(Debug)]
pub struct Cluster {
    programs: PostgresPrograms,
    folder: PathBuf,
    port: u16,
    password: String,
    guard: Child,
}

impl Cluster {
    /// Makes and starts one; says what to install where PostgreSQL is missing.
    pub fn start(durability: Durability) -> Result<Self> {
        let programs = PostgresPrograms::find()?;
        let folder = folder_of(programs.account())?;
        let guard = start_guard(&programs, &folder)?;
        let password = format!("{:016x}", RandomState::new().hash_one(&folder));
        let mut cluster = Self { programs, folder, port: 0, password, guard };
        cluster.init(durability)?;
        cluster.start_on_free_port()?;
        Ok(cluster)
    }

    /// Where clients find it: all they need is in there.
    pub fn url(&self) -> String {
        self.url_at(self.port)
    }

    /// The same through something that listens on another loopback port.
    pub fn url_at(&self, port: u16) -> String {
        format!("postgres://{USER}:{}@127.0.0.1:{port}/postgres", self.password)
    }

    pub fn port(&self) -> u16 {
        self.port
    }

    /// The process that all others of the server are children of.
    pub fn pid(&self) -> Result<u32> {
        let file = std::fs::read_to_string(self.data().join("postmaster.pid"))?;
        let first = file.lines().next().and_then(|it| it.parse().ok());
        first.context("the server is not running")
    }

    pub fn programs(&self) -> &PostgresPrograms {
        &self.programs
    }

    pub(crate) fn password(&self) -> &str {
        &self.password
    }

    pub fn sql(&self, sql: &str) -> Result<String> {
        self.programs.sql(&self.url(), sql)
    }

    /// Sets a parameter for sessions that begin from now on.
    pub fn set(&self, parameter: &str, value: &str) -> Result<()> {
        self.sql(&format!("alter system set {parameter} = '{value}'"))?;
        self.sql("select pg_reload_conf()").map(drop)
    }

    pub fn stop(&self, how: ClusterStop) -> Result<()> {
        let mode = match how {
            ClusterStop::Fast => "fast",
            ClusterStop::Immediate => "immediate",
        };
        self.pg_ctl(&["-m", mode, "stop"])
    }

    /// Starts it again at the same address, once it has been stopped.
    pub fn start_again(&self) -> Result<()> {
        self.pg_ctl(&["-l", &self.log().display().to_string(), "start"])
    }

    /// Stops it, and starts it again as the server that takes over after a failure, or that a backup was
    /// restored to: what it writes from now on is another history than what came before.
    pub fn take_over(&self) -> Result<()> {
        self.stop(ClusterStop::Fast)?;
        let signal = self.data().join("standby.signal");
        std::fs::write(&signal, "")?;
        if let Some(Account { uid, gid }) = self.programs.account() {
            std::os::unix::fs::chown(&signal, Some(uid), Some(gid))?;
        }
        self.start_again()?;
        self.pg_ctl(&["promote"])
    }

    /// Where a role that is not the owner of the cluster finds a database of its own; it is made with that.
    pub fn url_of_role(&self, role: &str) -> Result<String> {
        let password = &self.password;
        self.sql(&format!("create role {role} login password '{password}'"))?;
        self.sql(&format!("create database {role} owner {role}"))?;
        let host = format!("127.0.0.1:{}", self.port);
        Ok(format!("postgres://{role}:{password}@{host}/{role}"))
    }

    /// Where clients find another database of this server.
    pub fn url_of(&self, database: &str) -> String {
        self.url().replace("/postgres", &format!("/{database}"))
    }

    /// What the server has written to its log.
    pub fn log_text(&self) -> String {
        let bytes = std::fs::read(self.log()).unwrap_or_default();
        String::from_utf8_lossy(&bytes).into_owned()
    }

    fn init(&self, durability: Durability) -> Result<()> {
        let passwords = self.folder.join("password");
        std::fs::write(&passwords, &self.password)?;
        let output = self
            .programs
            .command("initdb")
            .args(["--no-sync", "--encoding=UTF8", "--locale=C", "--auth=password"])
            .args(["--username", USER, "--pwfile"])
            .arg(&passwords)
            .arg(self.data())
            .output()
            .context("start initdb")?;
        let said = String::from_utf8_lossy(&output.stderr);
        ensure!(output.status.success(), "initdb failed: {said}");
        let settings = self.data().join("postgresql.conf");
        let mut text = std::fs::read_to_string(&settings)?;
        text +=
            "listen_addresses = '127.0.0.1'\nunix_socket_directories = ''\nmax_connections = 300\n";
        if durability == Durability::Unsynced {
            text += "fsync = off\nfull_page_writes = off\n";
        }
        std::fs::write(&settings, text)?;
        Ok(())
    }

    fn start_on_free_port(&mut self) -> Result<()> {
        let settings = self.data().join("postgresql.conf");
        let text = std::fs::read_to_string(&settings)?;
        let mut tried = Ok(());
        for _ in 0..N_TRIES {
            self.port = TcpListener::bind(("127.0.0.1", 0))?.local_addr()?.port();
            std::fs::write(&settings, format!("{text}port = {}\n", self.port))?;
            tried = self.start_again();
            if tried.is_ok() {
                break;
            }
        }
        tried
    }

    fn pg_ctl(&self, args: &[&str]) -> Result<()> {
        let status = self
            .programs
            .command("pg_ctl")
            .arg("-D")
            .arg(self.data())
            .args(["-w", "-s"])
            .args(args)
            // The server that it starts would keep a pipe open.
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .status()
            .context("start pg_ctl")?;
        let args = args.join(" ");
        ensure!(status.success(), "`pg_ctl {args}` ended with {status}:\n{}", self.log_text());
        Ok(())
    }

    fn data(&self) -> PathBuf {
        self.folder.join("data")
    }

    fn log(&self) -> PathBuf {
        self.folder.join("log")
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        // The guard reads until its input ends.
        drop(self.guard.stdin.take());
        let _ = self.guard.wait();
    }
}

/// A new folder that belongs to the account of the server.
pub(crate) fn folder_of(account: Option<Account>) -> Result<PathBuf> {
    let folder = tempfile::Builder::new().prefix("baton-postgres-").tempdir()?;
    if let Some(Account { uid, gid }) = account {
        std::os::unix::fs::chown(folder.path(), Some(uid), Some(gid))?;
    }
    // The guard removes it, also where this process cannot.
    Ok(folder.keep())
}

fn start_guard(programs: &PostgresPrograms, folder: &Path) -> Result<Child> {
    let mut guard = programs.as_account(Command::new("sh"));
    guard.args(["-c", GUARD, "guard"]).arg(programs.path("pg_ctl")).arg(folder);
    // Signals to the group of this process are not meant for it.
    guard.process_group(0).stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
    guard.spawn().context("start the guard of the cluster")
}
