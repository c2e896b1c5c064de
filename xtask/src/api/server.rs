//! A server over a project of its own; both are gone with it.

use std::io::{BufRead as _, BufReader};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

use anyhow::{Context, Result, ensure};

use crate::project_root;

pub(super) struct Server {
    child: Child,
    pub(super) url: String,
    project: PathBuf,
}

impl Server {
    pub(super) fn start() -> Result<Self> {
        let baton = project_root().join("target/debug/baton");
        let project = std::env::temp_dir().join(format!("baton-api-{}", std::process::id()));
        std::fs::create_dir_all(&project)?;
        let done = Command::new(&baton).arg("init").current_dir(&project).output()?;
        ensure!(done.status.success(), "`baton init`: {done:?}");
        let mut child = Command::new(&baton)
            .args(["serve", "--listen", "127.0.0.1:0", "--no-runner"])
            .current_dir(&project)
            .stderr(Stdio::piped())
            .spawn()?;
        let mut lines = BufReader::new(child.stderr.take().context("no stderr")?).lines();
        let line = lines.next().context("the server said nothing")??;
        let url = line.strip_prefix("listening on ").context("no address")?.to_owned();
        std::thread::spawn(move || lines.for_each(drop));
        Ok(Self { child, url, project })
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // What is gone already need not be ended.
        let _ = self.child.kill();
        let _ = self.child.wait();
        let _ = std::fs::remove_dir_all(&self.project);
    }
}
