//! Tests the page in a browser: that it follows the events, keeps what is typed, and sends a person's
//! answer, by mouse and by keyboard; and that a click denies an agent what it asks permission for.
#![expect(clippy::disallowed_methods, reason = "xtask runs programs; it starts no agents")]

mod permission;

use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use anyhow::{Context, Result, bail, ensure};

use crate::browser::{self, Browser};
use crate::project_root;

/// As seen by a person, from the event to the page, on a machine that is busy with other tests. On a
/// quiet one it is below 100 ms; the verdict has the figure.
const MOST_LAG_MS: f64 = 1000.0;
const PACKAGE: &str = r#"{"summary":"Specification of 3 epics"}"#;

/// What was measured, for the verdict.
pub(crate) fn check() -> Result<String> {
    browser::ensure_installed()?;
    let Some(name) = browser::installed() else {
        if std::env::var_os("CI").is_some() {
            bail!("there is no Chromium to open the page in; install `chromium`");
        }
        return Ok("page NOT opened in a browser: no Chromium".to_owned());
    };
    crate::cargo::build_all()?;
    let project = Project::start("gates", &[])?;
    let mut browser = Browser::start(name, &project.folder.join("browser"))?;
    let mut lags = Vec::new();
    for (width, by) in [(1280, "mouse"), (390, "keyboard")] {
        lags.push(answer_a_gate(&project, &mut browser, width, by)?);
    }
    show_an_added_story(&project, &mut browser)?;
    permission::check(&mut browser)?;
    ensure!(browser.complaints.is_empty(), "the browser complained: {:?}", browser.complaints);
    let lag = lags.into_iter().fold(0.0, f64::max);
    ensure!(lag < MOST_LAG_MS, "the page showed an event {lag:.0} ms after it arrived");
    Ok(format!("page {lag:.0} ms behind the events"))
}

/// Brings a story to its gate while the page is open, and approves there. The longest time between an
/// event and the page that shows it.
fn answer_a_gate(project: &Project, browser: &mut Browser, width: u32, by: &str) -> Result<f64> {
    let story = format!("by-{by}");
    project.baton(&["story", "add", &story, "--title", &format!("By {by}")])?;
    browser.open(&project.url, width)?;
    browser.wait_for("document.getElementById('link')?.textContent === 'live'")?;
    let wide = browser.value("document.documentElement.scrollWidth")?;
    ensure!(wide.as_u64() <= Some(width.into()), "{wide} px wide on a screen of {width} px");
    // The page of events beside the page itself: when did each arrive, when was it shown?
    browser.value(
        "window.arrived = []; window.changed = []; \
         new EventSource('/api/events').onmessage = () => arrived.push(performance.now()); \
         new MutationObserver(() => changed.push(performance.now())) \
           .observe(document.getElementById('live'), { childList: true, subtree: true });",
    )?;
    browser.wait_for("arrived.length > 0")?;
    browser.value("arrived.length = changed.length = 0")?;
    project.baton(&["run", "start", &story, "--workflow", "gated-project"])?;
    let title = format!("By {by}");
    browser.wait_for(&format!("document.querySelector('.run h3')?.textContent === '{title}'"))?;
    // The last change is the one that shows the last event.
    let lag = browser.value("changed.at(-1) - arrived.at(-1)")?.as_f64().context("no event")?;
    let handoff = project.pending_of(&story)?;
    project.baton(&["handoff", "accept", &handoff])?;
    project.baton(&[
        "handoff",
        "complete",
        &handoff,
        "--payload",
        PACKAGE,
        "--profile",
        "lenient",
    ])?;
    browser.wait_for("document.querySelectorAll('form.say textarea').length > 0")?;
    browser.value("document.querySelector('form.say textarea').focus()")?;
    browser.type_text("validated with the client")?;
    // Another run moves on: what is typed stays, and so does the focus.
    let other = format!("beside-{by}");
    project.baton(&["run", "start", &other, "--new-story"])?;
    browser.wait_for(&format!("document.body.textContent.includes('{other}')"))?;
    let kept = "document.activeElement.value === 'validated with the client'";
    ensure!(browser.value(kept)? == true, "what was typed is gone");
    if by == "mouse" {
        browser.value("document.querySelector('button[value=approve]').click()")?;
    } else {
        browser.press("Tab", 9)?;
        ensure!(browser.value("document.activeElement.value")? == "approve", "Tab leads elsewhere");
        browser.press("Enter", 13)?;
    }
    browser.wait_for("document.querySelector('form.say textarea') === null")?;
    let shown = project.baton(&["run", "show", &story, "--json"])?;
    ensure!(shown.contains("validated with the client") || shown.contains("\"local\""), "{shown}");
    let headline = browser.value("document.getElementById('headline').textContent")?;
    ensure!(!headline.to_string().contains("waits for you"), "{headline}");
    project.baton(&["run", "cancel", &story])?;
    project.baton(&["run", "cancel", &other])?;
    browser.wait_for("document.querySelector('article.run') === null")?;
    let headline = browser.value("document.getElementById('headline').textContent")?;
    ensure!(headline == "No run is open", "after the end it says {headline}");
    Ok(lag)
}

/// Adding a story is no event: the page finds it all the same, without a reload.
fn show_an_added_story(project: &Project, browser: &mut Browser) -> Result<()> {
    browser.open(&project.url, 1280)?;
    browser.wait_for("document.getElementById('link')?.textContent === 'live'")?;
    project.baton(&["story", "add", "added-meanwhile"])?;
    browser.wait_for("document.body.textContent.includes('added-meanwhile')")
}

/// A project with a server; both are gone with it.
struct Project {
    child: Child,
    url: String,
    folder: PathBuf,
}

impl Project {
    /// With these files of its own, and with a runner where there are any.
    fn start(name: &str, files: &[(&str, &str)]) -> Result<Self> {
        let folder = format!("baton-page-{name}-{}", std::process::id());
        let folder = std::env::temp_dir().join(folder);
        std::fs::create_dir_all(&folder)?;
        run(&folder, &["init"])?;
        for (path, text) in files {
            let path = folder.join(path);
            std::fs::create_dir_all(path.parent().context("it is in a folder")?)?;
            std::fs::write(path, text)?;
        }
        let mut serve = baton(&folder, &["serve", "--listen", "127.0.0.1:0"]);
        if files.is_empty() {
            serve.arg("--no-runner");
        } else {
            run(&folder, &["trust", "--yes"])?;
        }
        let mut child = serve.stderr(Stdio::piped()).spawn()?;
        let mut lines = BufReader::new(child.stderr.take().context("no stderr")?).lines();
        let line = lines.next().context("the server said nothing")??;
        let url = line.strip_prefix("listening on ").context("no address")?.to_owned();
        std::thread::spawn(move || lines.for_each(drop));
        Ok(Self { child, url, folder })
    }

    fn baton(&self, args: &[&str]) -> Result<String> {
        run(&self.folder, args)
    }

    /// The number of the handoff that a story waits with.
    fn pending_of(&self, story: &str) -> Result<String> {
        let list = self.baton(&["handoff", "list", "--story", story, "--json"])?;
        let list: serde_json::Value = serde_json::from_str(&list)?;
        let number = list["items"][0]["number"].as_u64().context("no handoff")?;
        Ok(number.to_string())
    }
}

/// The program in a project, whose trust is kept there too.
fn baton(folder: &Path, args: &[&str]) -> Command {
    let mut command = Command::new(project_root().join("target/debug/baton"));
    command.args(args).current_dir(folder).env("XDG_STATE_HOME", folder.join("state"));
    command
}

fn run(folder: &Path, args: &[&str]) -> Result<String> {
    let done = baton(folder, args).output()?;
    ensure!(done.status.success(), "`baton {}`: {done:?}", args.join(" "));
    Ok(String::from_utf8(done.stdout)?)
}

impl Drop for Project {
    fn drop(&mut self) {
        // What is gone already need not be ended.
        let _ = self.child.kill();
        let _ = self.child.wait();
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}
