//! Tests the server against its OpenAPI description: schemathesis sends valid and invalid requests
//! for `/openapi.json`, and looks for undocumented responses.
#![expect(clippy::disallowed_methods, reason = "xtask runs programs; it starts no agents")]

use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use anyhow::{Context, Result, ensure};

use crate::project_root;

const VERSION: &str = "schemathesis==4.32.5";

/// No undocumented response, and no server error. A well-formed request may still be refused by the
/// rules.
const CHECKS: &str = "not_a_server_error,status_code_conformance,content_type_conformance,\
                      response_headers_conformance,response_schema_conformance";

/// Installs schemathesis from PyPI below `target` if it is not there.
pub(crate) fn ensure_installed() -> Result<()> {
    let venv = venv();
    if venv.join("bin/schemathesis").exists() {
        return Ok(());
    }
    let has_python = succeeds(Command::new("python3").args(["-c", "import venv, ensurepip"]));
    ensure!(
        has_python,
        "python3 with its module `venv` is missing; schemathesis is installed with it"
    );
    install(&venv)
}

pub(crate) fn check() -> Result<()> {
    ensure_installed()?;
    crate::cargo::run(&["build", "--package", "baton-cli"], &[])?;
    let server = Server::start()?;
    let status = Command::new(venv().join("bin/schemathesis"))
        .arg("run")
        .arg(format!("{}/openapi.json", server.url))
        // A stream has no end to wait for.
        .args(["--exclude-path", "/api/events", "--exclude-path", "/api/v1/events"])
        .args(["--checks", CHECKS, "--phases", "examples,coverage,fuzzing"])
        .args(["--max-examples", "20", "--generation-deterministic", "--no-color"])
        // Its cache goes into the working directory, whatever is asked for.
        .current_dir(venv())
        .status()
        .context("schemathesis could not be started")?;
    ensure!(status.success(), "schemathesis ended with {status}");
    Ok(())
}

fn install(venv: &Path) -> Result<()> {
    let made = Command::new("python3").args(["-m", "venv"]).arg(venv).status()?;
    ensure!(made.success(), "`python3 -m venv` ended with {made}");
    let pip = venv.join("bin/pip");
    let installed = Command::new(pip).args(["install", "--quiet", VERSION]).status()?;
    ensure!(installed.success(), "`pip install {VERSION}` ended with {installed}");
    Ok(())
}

fn venv() -> PathBuf {
    project_root().join("target/schemathesis")
}

fn succeeds(command: &mut Command) -> bool {
    let quiet = command.stdout(Stdio::null()).stderr(Stdio::null());
    quiet.status().is_ok_and(|it| it.success())
}

/// A server over a project of its own, with a story under way; both are gone with it.
struct Server {
    child: Child,
    url: String,
    project: PathBuf,
}

impl Server {
    fn start() -> Result<Self> {
        let baton = project_root().join("target/debug/baton");
        let project = std::env::temp_dir().join(format!("baton-api-{}", std::process::id()));
        std::fs::create_dir_all(&project)?;
        for args in [&["init"][..], &["story", "add", "s1"], &["run", "start", "s1"]] {
            let done = Command::new(&baton).args(args).current_dir(&project).output()?;
            ensure!(done.status.success(), "`baton {}`: {done:?}", args.join(" "));
        }
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
