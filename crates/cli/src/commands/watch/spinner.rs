//! Shows which agents work now, on the last line of a terminal; nowhere else.

use std::io::{IsTerminal as _, Write as _};
use std::time::Duration;

use baton_api::{Page, RunDocument};
use baton_core::run::BatonPlace;
use uuid::Uuid;

use crate::api::{Api, Ask};
use crate::show::{self, OutputFormat};

const MARKS: [char; 10] = ['⠋', '⠙', '⠹', '⠸', '⠼', '⠴', '⠦', '⠧', '⠇', '⠏'];
const TURN: Duration = Duration::from_millis(100);
/// A line has no room for more.
const MOST_RUNS: usize = 3;

pub(super) struct Spinner {
    is_on: bool,
    /// In words.
    who: String,
    n_turns: usize,
}

impl Spinner {
    pub(super) fn new(format: OutputFormat) -> Self {
        let is_on = format == OutputFormat::Table && std::io::stderr().is_terminal();
        Self { is_on, who: String::new(), n_turns: 0 }
    }

    /// Refreshes who works. It is optional: if the server does not answer, nothing is shown.
    pub(super) async fn look(&mut self, api: &Api, run: Option<Uuid>) {
        if !self.is_on {
            return;
        }
        self.who = match run {
            Some(run) => {
                let run = api.get::<RunDocument>(&Ask::get(["runs", &run.to_string()])).await;
                run.map(|it| who(&[it])).unwrap_or_default()
            }
            None => {
                let ask = Ask::get(["runs"]).with("status", "open").with("order", "newest");
                let runs = api.get::<Page<RunDocument>>(&ask).await;
                runs.map(|it| who(&it.items)).unwrap_or_default()
            }
        };
    }

    /// Waits a moment and turns; without a spinner, it waits for ever.
    pub(super) async fn turn(&mut self) {
        if !self.is_on {
            return std::future::pending().await;
        }
        tokio::time::sleep(TURN).await;
        self.n_turns += 1;
        let mark = MARKS[self.n_turns % MARKS.len()];
        write(&format!("\r\x1b[2K{mark} {}", self.who));
    }

    /// Clears the spinner's line for other output.
    pub(super) fn clear(&self) {
        if self.is_on {
            write("\r\x1b[2K");
        }
    }
}

impl Drop for Spinner {
    fn drop(&mut self) {
        self.clear();
    }
}

fn write(text: &str) {
    let mut stderr = std::io::stderr().lock();
    // The next real output reports a closed terminal.
    let _ = stderr.write_all(text.as_bytes()).and_then(|()| stderr.flush());
}

fn who(runs: &[RunDocument]) -> String {
    let held = runs.iter().filter(|it| *it.baton == BatonPlace::Held);
    let works = |it: &RunDocument| {
        let agent = it.current_agent.as_deref().unwrap_or("an agent");
        format!("{agent} works on {}", show::shortened(&it.story, 30))
    };
    let works: Vec<String> = held.map(works).collect();
    match works.len() {
        0 => "no agent works".to_owned(),
        n if n > MOST_RUNS => {
            format!("{}, and {} more", works[..MOST_RUNS].join(", "), n - MOST_RUNS)
        }
        _ => works.join(", "),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn run(story: &str, baton: &str, agent: Option<&str>) -> RunDocument {
        let run = json!({
            "number": 1, "id": Uuid::nil(), "story": story, "workflow": "w", "workflowHash": "",
            "owner": "ada", "status": "open", "baton": baton, "currentAgent": agent,
            "currentPlace": null, "currentHandoff": null, "parkedOn": null, "isAsked": false,
            "isStale": false, "phase": "p", "openHandoffs": [], "visited": [], "nHandoffs": 1,
            "version": 1, "head": "", "startedAt": "2026-01-01T00:00:00Z",
            "movedAt": "2026-01-01T00:00:00Z",
        });
        serde_json::from_value(run).unwrap()
    }

    #[test]
    fn only_who_holds_something_works() {
        let held = || run("s1", "held", Some("analyst"));
        assert_eq!(who(&[]), "no agent works");
        assert_eq!(who(&[run("s1", "offered", Some("analyst"))]), "no agent works");
        assert_eq!(who(&[held(), run("s2", "loose", None)]), "analyst works on s1");
        let many = who(&[held(), held(), held(), held(), held()]);
        assert!(many.ends_with("and 2 more"), "{many}");
        let odd = who(&[run("\u{1b}[2J", "held", Some("analyst"))]);
        assert_eq!(odd, "analyst works on \\u{1b}[2J");
    }
}
