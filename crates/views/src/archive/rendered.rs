//! The files of one run, as texts: their content is decided here, their place by `disk`.

use baton_core::hash::Hash;
use baton_core::run::{HandoffNo, RunId};
use baton_wire::formats::{self, Format};

use super::bounds::Bounds;
use super::decided::decisions;
use super::log::{LOG, log};
use super::session::session;
use super::state::state;
use crate::completion::completion;
use crate::history::History;

pub(super) struct RenderedSession {
    pub(super) run: RunId,
    pub(super) is_open: bool,
    /// Hashes of its events, in order.
    pub(super) hashes: Vec<Hash>,
    /// In `state/`: the run as it is now.
    pub(super) state: String,
    /// The name and the text of the workflow's file: many runs share one.
    pub(super) workflow: Option<(String, String)>,
    /// In the run's session folder, by relative path.
    pub(super) session: Vec<(String, String)>,
}

pub(super) fn rendered(history: &History, bounds: &Bounds) -> RenderedSession {
    let run = &history.row.run;
    let mut files: Vec<(String, String)> = Vec::new();
    for row in &history.handoffs {
        let text = bounds.handoff_file(history, row);
        files.push((format!("handoffs/{}.yaml", row.no.label()), text));
    }
    files.push(("decisions.md".to_owned(), bounds.page(decisions(history))));
    if let Some(completion) = completion(history) {
        for format in [Format::Xml, Format::Json, Format::Yaml] {
            let text = formats::encode(&completion, format);
            if text.len() <= bounds.file_bytes {
                files.push((format!("completion.{}", format.name()), text));
            }
        }
    }
    files.push(("session.md".to_owned(), bounds.page(session(history))));
    files.push((LOG.to_owned(), log(history, bounds.log_bytes)));
    RenderedSession {
        run: run.id,
        is_open: !run.is_finished(),
        hashes: history.log.iter().map(|it| it.hash).collect(),
        workflow: history.workflow_text.clone().map(|text| (format!("{}.yaml", run.pin), text)),
        state: formats::encode(&state(history, bounds.handoffs_listed), Format::Json),
        session: files,
    }
}

/// Whether Baton writes a file of that path to any session folder.
pub(super) fn is_own(path: &str) -> bool {
    match path.split_once('/') {
        Some((folder, name)) => {
            folder == "handoffs" && name.strip_suffix(".yaml").is_some_and(is_label)
        }
        None => [
            "session.md",
            "decisions.md",
            "completion.xml",
            "completion.json",
            "completion.yaml",
            LOG,
        ]
        .contains(&path),
    }
}

/// Only as Baton spells it.
fn is_label(name: &str) -> bool {
    HandoffNo::parse_label(name).is_some_and(|it| it.label() == name)
}
