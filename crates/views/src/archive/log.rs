//! The run as hash-chained, verifiable lines: the run can be rebuilt from them.

use baton_wire::run_log::{RUN_LOG_VERSION, RunLogLine, StoryLine, TextLine};
use jiff::Timestamp;

use crate::history::History;

/// In a session folder.
pub(crate) const LOG: &str = "log.jsonl";

/// The log, limited to `most` bytes: what it contains can be verified without the rest, and the
/// first line says how much there was.
pub(super) fn log(history: &History, most: usize) -> String {
    let row = &history.row;
    let mut text = RunLogLine::Run {
        v: RUN_LOG_VERSION,
        project: history.project,
        id: row.run.id.0,
        number: row.number,
        version: row.version.0,
        head: row.head,
    }
    .encode();
    if let (Some(story), Some(created_at)) = (&history.story, history.story_created_at) {
        text += &RunLogLine::Story(StoryLine::of(story, nanoseconds(created_at))).encode();
    }
    for it in &history.handoffs {
        text += &RunLogLine::Handoff { no: it.no.0, id: it.id.0, number: it.number }.encode();
    }
    let mut seen = std::collections::BTreeSet::new();
    for it in &history.log {
        let begin = text.len();
        let named = it.event.texts().without_file().iter().map(|(id, _)| id);
        let new = named.filter(|id| seen.insert(*id));
        for content in new.filter_map(|id| history.content(id)) {
            text += &RunLogLine::Text(TextLine::of(content)).encode();
        }
        text += &RunLogLine::Event {
            position: it.position.0,
            version: it.version.0,
            at: nanoseconds(it.at),
            by: it.by.as_str().to_owned(),
            hash: it.hash,
            body: it.body.clone(),
        }
        .encode();
        // An event without its texts would look as if its texts were lost.
        if text.len() > most {
            text.truncate(begin);
            break;
        }
    }
    text
}

/// Every time that was ever stored fits.
fn nanoseconds(at: Timestamp) -> i64 {
    i64::try_from(at.as_nanosecond()).unwrap_or(i64::MAX)
}
