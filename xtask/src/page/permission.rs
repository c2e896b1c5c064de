//! An agent asks for permission, a person denies it with a click, and the agent goes on without.

use anyhow::{Result, ensure};
use serde_json::Value;

use super::Project;
use crate::browser::Browser;

const AGENT: &str = include_str!("../../page/asking_agent.py");
const SETTINGS: &str = r#"[project]
workflow = "story-pipeline"

[executors.asking]
kind = "acp"
run = ["python3", "tools/agent.py"]
permissions = "ask"

[agents.analyst]
executors = ["asking"]
"#;

pub(super) fn check(browser: &mut Browser) -> Result<()> {
    let files =
        [("tools/agent.py", AGENT), ("README.md", "A shop.\n"), (".baton/baton.toml", SETTINGS)];
    let project = Project::start("permission", &files)?;
    project.baton(&["story", "add", "publish", "--title", "Publish it"])?;
    browser.open(&project.url, 1280)?;
    browser.wait_for("document.getElementById('link')?.textContent === 'live'")?;
    project.baton(&["run", "start", "publish"])?;
    // The page shows it by itself, with what is asked and in whose name.
    browser.wait_for(
        "document.querySelector('.inbox blockquote')?.textContent.includes('npm publish')",
    )?;
    let speaker = browser.value("document.querySelector('.inbox .speaker').textContent")?;
    ensure!(speaker == "analyst says:", "{speaker}");
    let buttons = browser.value(
        "[...document.querySelectorAll('.inbox form.say button')] \
         .filter(it => it.offsetParent !== null && !it.disabled).map(it => it.textContent).join()",
    )?;
    ensure!(buttons == "Allow once,Deny,Allow this kind", "{buttons}");
    let run = project.shown("publish")?;
    ensure!(run["baton"] == "held" && run["currentAgent"] == "analyst", "it is at work: {run}");
    browser.value("document.querySelector('button[value=reject]').click()")?;
    browser.wait_for("document.querySelector('.inbox') === null")?;
    browser.open(&format!("{}/runs/1", project.url), 1280)?;
    // The work is HO-001, the question HO-002, and what the agent hands on HO-003.
    for words in ["a person denied it", "I was told reject_once, and go on.", "HO-003"] {
        browser.wait_for(&format!("document.body.textContent.includes('{words}')"))?;
    }
    let run = project.shown("publish")?;
    ensure!(run["currentAgent"] == "implementer", "the agent has handed on: {run}");
    Ok(())
}

impl Project {
    fn shown(&self, story: &str) -> Result<Value> {
        Ok(serde_json::from_str(&self.baton(&["run", "show", story, "--json"])?)?)
    }
}
