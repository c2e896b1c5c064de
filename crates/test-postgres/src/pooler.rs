//! PgBouncer between Baton and a server: each transaction may get another connection.

use std::net::{TcpListener, TcpStream};
use std::os::unix::process::CommandExt as _;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, ensure};

use crate::cluster::{Cluster, USER, folder_of};

const MISSING: &str =
    "PgBouncer is not installed: install it (Debian and Ubuntu: `apt-get install pgbouncer`)";
const PLACES: [&str; 3] = ["/usr/sbin/pgbouncer", "/usr/bin/pgbouncer", "/usr/local/bin/pgbouncer"];
/// Longer than it takes to listen.
const LONG: Duration = Duration::from_secs(10);

/// Starts it, waits until the process that wanted it is gone, then ends it and removes its folder.
const GUARD: &str =
    r#"f="$1"; shift; "$@" & p=$!; cat >/dev/null; kill "$p"; wait "$p"; rm -rf "$f""#;

/// A running PgBouncer in transaction mode, ended with this or its process.
#[derive(Debug)]
pub struct Pooler {
    guard: Child,
    port: u16,
}

impl Pooler {
    /// In front of a cluster, with no more than so many connections to it.
    pub fn start(cluster: &Cluster, n_connections: usize) -> Result<Self> {
        let program =
            PLACES.iter().find(|it| std::path::Path::new(it).is_file()).context(MISSING)?;
        let folder = folder_of(cluster.programs().account())?;
        let port = TcpListener::bind(("127.0.0.1", 0))?.local_addr()?.port();
        let users = folder.join("users.txt");
        std::fs::write(&users, format!("\"{USER}\" \"{}\"\n", cluster.password()))?;
        let settings = format!(
            "[databases]\npostgres = host=127.0.0.1 port={}\n[pgbouncer]\nlisten_addr = 127.0.0.1\n\
             listen_port = {port}\nunix_socket_dir =\nauth_type = trust\nauth_file = {}\n\
             pool_mode = transaction\ndefault_pool_size = {n_connections}\nmax_client_conn = 500\n",
            cluster.port(),
            users.display(),
        );
        let file = folder.join("pgbouncer.ini");
        std::fs::write(&file, settings)?;
        let mut guard = cluster.programs().as_account(Command::new("sh"));
        guard.args(["-c", GUARD, "guard"]).arg(&folder).args([program, "--quiet"]).arg(&file);
        guard.process_group(0).stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
        let pooler = Self { guard: guard.spawn().context("start PgBouncer")?, port };
        pooler.wait_until_it_listens()?;
        Ok(pooler)
    }

    pub fn port(&self) -> u16 {
        self.port
    }

    fn wait_until_it_listens(&self) -> Result<()> {
        let began = Instant::now();
        while TcpStream::connect(("127.0.0.1", self.port)).is_err() {
            ensure!(began.elapsed() < LONG, "PgBouncer does not listen");
            std::thread::park_timeout(Duration::from_millis(10));
        }
        Ok(())
    }
}

impl Drop for Pooler {
    fn drop(&mut self) {
        drop(self.guard.stdin.take());
        let _ = self.guard.wait();
    }
}
