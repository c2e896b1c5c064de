//! Headless Chromium, driven through the pipe that it offers for debugging: a message is a JSON text
//! with a NUL behind it.
#![expect(clippy::disallowed_methods, reason = "xtask runs programs; it starts no agents")]

use std::fs::{File, OpenOptions};
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use serde_json::{Value, json};

use crate::debian;

const NAMES: &[&str] = &["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"];
/// Longer than anything takes that is going to happen at all.
const LONG: Duration = Duration::from_secs(30);

pub(crate) struct Browser {
    child: Child,
    requests: File,
    responses: BufReader<File>,
    folder: PathBuf,
    n_requests: u64,
    /// The tab, once it is open.
    session: Option<String>,
    /// Uncaught exceptions, and what the content security policy refused.
    pub(crate) complaints: Vec<String>,
}

/// The name of an installed Chromium.
pub(crate) fn installed() -> Option<&'static str> {
    let path = std::env::var_os("PATH")?;
    let is_there = |name: &&&str| std::env::split_paths(&path).any(|it| it.join(name).is_file());
    NAMES.iter().find(is_there).copied()
}

/// Installs Chromium where there is none, in CI only: it is a package of the whole system.
pub(crate) fn ensure_installed() -> Result<()> {
    if installed().is_some() || std::env::var_os("CI").is_none() {
        return Ok(());
    }
    debian::install(&["chromium"])
}

impl Browser {
    pub(crate) fn start(name: &str, folder: &Path) -> Result<Self> {
        std::fs::create_dir_all(folder)?;
        let made = Command::new("mkfifo").args(["in", "out"]).current_dir(folder).status()?;
        ensure!(made.success(), "`mkfifo` ended with {made}");
        // It reads from descriptor 3 and writes to descriptor 4. Containers have no sandbox to offer.
        let line = format!(
            "exec {name} --headless=new --no-sandbox --disable-gpu --disable-dev-shm-usage \
             --remote-debugging-pipe --user-data-dir=profile about:blank 3<in 4>out"
        );
        let child = Command::new("bash")
            .args(["-c", &line])
            .current_dir(folder)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()?;
        let requests = OpenOptions::new().write(true).open(folder.join("in"))?;
        let responses = BufReader::new(File::open(folder.join("out"))?);
        let folder = folder.to_owned();
        Ok(Self {
            child,
            requests,
            responses,
            folder,
            n_requests: 0,
            session: None,
            complaints: Vec::new(),
        })
    }

    /// Opens a tab of this size at an address.
    pub(crate) fn open(&mut self, url: &str, width: u32) -> Result<()> {
        self.session = None;
        let target = self.call("Target.createTarget", &json!({ "url": "about:blank" }))?;
        let attach = json!({ "targetId": target["targetId"], "flatten": true });
        let session = self.call("Target.attachToTarget", &attach)?;
        self.session = session["sessionId"].as_str().map(str::to_owned);
        for domain in ["Page", "Runtime", "Log"] {
            self.call(&format!("{domain}.enable"), &json!({}))?;
        }
        let size = json!({
            "width": width, "height": 844, "deviceScaleFactor": 1, "mobile": width < 500,
        });
        self.call("Emulation.setDeviceMetricsOverride", &size)?;
        self.call("Page.navigate", &json!({ "url": url }))?;
        Ok(())
    }

    /// The value of an expression in the page.
    pub(crate) fn value(&mut self, expression: &str) -> Result<Value> {
        let params =
            json!({ "expression": expression, "returnByValue": true, "awaitPromise": true });
        let answer = self.call("Runtime.evaluate", &params)?;
        ensure!(answer["exceptionDetails"].is_null(), "`{expression}`: {answer}");
        Ok(answer["result"]["value"].clone())
    }

    /// Waits until an expression is true in the page.
    pub(crate) fn wait_for(&mut self, expression: &str) -> Result<()> {
        let began = Instant::now();
        while self.value(expression)? != true {
            if began.elapsed() > LONG {
                let text = self.value("document.body.innerText")?;
                bail!("`{expression}` never became true; the page says:\n{text}");
            }
        }
        Ok(())
    }

    /// Types into the element that has the focus.
    pub(crate) fn type_text(&mut self, text: &str) -> Result<()> {
        self.call("Input.insertText", &json!({ "text": text }))?;
        Ok(())
    }

    /// Presses a key as a person would, such as Tab or Enter.
    pub(crate) fn press(&mut self, key: &str, code: u32) -> Result<()> {
        let text = if key == "Enter" { "\r" } else { "" };
        let down = json!({
            "type": "keyDown", "key": key, "code": key, "windowsVirtualKeyCode": code, "text": text,
        });
        self.call("Input.dispatchKeyEvent", &down)?;
        let up = json!({ "type": "keyUp", "key": key, "code": key, "windowsVirtualKeyCode": code });
        self.call("Input.dispatchKeyEvent", &up)?;
        Ok(())
    }

    fn call(&mut self, method: &str, params: &Value) -> Result<Value> {
        self.n_requests += 1;
        let mut request = json!({ "id": self.n_requests, "method": method, "params": params });
        if let Some(session) = &self.session {
            request["sessionId"] = json!(session);
        }
        self.requests.write_all(format!("{request}\0").as_bytes())?;
        loop {
            let mut bytes = Vec::new();
            self.responses.read_until(0, &mut bytes)?;
            let (0, message) = (bytes.pop().context("the browser has ended")?, bytes) else {
                bail!("the browser broke off");
            };
            let message: Value = serde_json::from_slice(&message)?;
            match message["method"].as_str() {
                Some("Runtime.exceptionThrown" | "Log.entryAdded") => {
                    self.complaints.push(message["params"].to_string());
                }
                Some(_) => {}
                None if message["id"] == self.n_requests => {
                    ensure!(message["error"].is_null(), "{method}: {}", message["error"]);
                    return Ok(message["result"].clone());
                }
                None => {}
            }
        }
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        // What is gone already need not be ended.
        let _ = self.child.kill();
        let _ = self.child.wait();
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}
