//! What agents and external systems said while a run went on, newest last.

use baton_engine::{DAMAGED_TEXT, LOST_TEXT};
use baton_views::{Cast, PostedMessage};

use super::html::Html;
use super::who;

/// How much of a message is shown; the API has all of it.
const MOST_CHARS: usize = 2000;

pub(super) fn render(
    html: &mut Html,
    run: u64,
    messages: &[PostedMessage],
    n_before: usize,
    cast: &Cast,
) {
    if messages.is_empty() {
        return;
    }
    html.raw(
        "<section data-key=\"messages\" class=\"messages\"><h2>Messages <span class=\"count\">",
    );
    html.number((messages.len() + n_before) as u64).raw("</span></h2>");
    let mut is_cut = n_before > 0;
    html.raw("<ul>");
    for message in messages {
        html.raw("<li><p class=\"line\">");
        match &message.by {
            Some(agent) => who::agent(html, &cast.today(agent)),
            None => {
                html.words(message.principal.as_str());
            }
        }
        html.raw(" <span class=\"times\">").time(message.at).raw("</span></p><blockquote>");
        let text = message.text.as_deref();
        match text.and_then(|it| it.char_indices().nth(MOST_CHARS)) {
            Some((end, _)) => {
                is_cut = true;
                html.words(&text.unwrap_or_default()[..end]).raw("…");
            }
            None if message.is_damaged => {
                html.raw("<em>").words(DAMAGED_TEXT).raw("</em>");
            }
            None => {
                html.words(text.unwrap_or(LOST_TEXT));
            }
        }
        html.raw("</blockquote></li>");
    }
    html.raw("</ul>");
    if is_cut {
        html.raw("<p class=\"more\">Shortened: <a href=\"/api/v1/runs/").number(run);
        html.raw("/messages\">all of them</a></p>");
    }
    html.raw("</section>");
}
