//! Messages of a run: what agents and external systems said while it went on.

use baton_api::MessageDocument;
use baton_engine::LOST_TEXT;

use super::{TimeFormat, block, bold, dim, visible};

/// Only the end of a long talk is shown, and of each message what fits on a screen.
const MOST_MESSAGES: usize = 10;
const MOST_CHARS: usize = 1000;

/// Nothing where there are none.
pub(crate) fn messages(run: u64, messages: &[MessageDocument], times: &TimeFormat) -> String {
    if messages.is_empty() {
        return String::new();
    }
    let n_before = messages.len().saturating_sub(MOST_MESSAGES);
    let mut page = format!("\n\n{}", dim("messages"));
    let mut is_cut = n_before > 0;
    for message in &messages[n_before..] {
        let by = visible(
            message.agent_name.as_deref().or(message.agent.as_deref()).unwrap_or(&message.by),
        );
        let text = message.text.as_deref().unwrap_or(LOST_TEXT);
        let end = text.char_indices().nth(MOST_CHARS).map(|(end, _)| end);
        is_cut |= end.is_some();
        let text = block(&text[..end.unwrap_or(text.len())]);
        page += &format!("\n{} {}\n{text}", times.show(message.at), bold(&by));
    }
    if is_cut {
        let all = format!("shortened: /api/v1/runs/{run}/messages has all of them");
        page += &format!("\n{}", dim(&all));
    }
    page
}
