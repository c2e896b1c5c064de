//! The conversation of a run on its page: words, handoffs, decisions, questions, newest last.

use baton_engine::DAMAGED_TEXT;
use baton_views::{ConversationItem, ConversationPage};

use super::html::Html;
use super::who;

/// How much of a text is shown; the API has all of it.
const MOST_CHARS: usize = 2000;

pub(super) fn render(html: &mut Html, run: u64, page: &ConversationPage) {
    if page.items.is_empty() {
        return;
    }
    html.raw("<section data-key=\"messages\" class=\"messages\"><h2>Conversation</h2>");
    let mut is_cut = page.has_more;
    html.raw("<ul>");
    for item in &page.items {
        html.raw("<li><p class=\"line\">");
        match &item.agent {
            Some(agent) => who::agent(html, agent),
            None => {
                html.words(item.principal.as_str());
            }
        }
        html.raw(" <span class=\"times\">").time(item.at).raw("</span>");
        if let Some(line) = &item.line {
            html.raw(" <strong>").words(line).raw("</strong>");
        }
        html.raw("</p>");
        is_cut |= words(html, item);
        html.raw("</li>");
    }
    html.raw("</ul>");
    if is_cut {
        html.raw("<p class=\"more\">Shortened: <code>baton run log --all</code> or ");
        html.raw("<a href=\"/api/v1/runs/").number(run);
        html.raw("/conversation\">the API</a> has all of it</p>");
    }
    html.raw("</section>");
}

/// True where something is left out.
fn words(html: &mut Html, item: &ConversationItem) -> bool {
    let mut is_cut = false;
    for it in &item.decisions {
        html.raw("<blockquote><strong>").words(&it.decision).raw("</strong>");
        if let Some(rationale) = &it.rationale {
            html.raw("\n");
            is_cut |= cut(html, rationale);
        }
        html.raw("</blockquote>");
    }
    if let Some(text) = item.text.as_ref().filter(|it| !it.trim().is_empty()) {
        html.raw("<blockquote>");
        is_cut |= cut(html, text);
        html.raw("</blockquote>");
    }
    if item.is_damaged {
        html.raw("<blockquote><em>").words(DAMAGED_TEXT).raw("</em></blockquote>");
    }
    if !item.tools.is_empty() {
        html.raw("<details><summary>Use of tools: ").number(item.tools.len() as u64);
        html.raw("</summary><blockquote>");
        is_cut |= cut(html, &item.tools.join("\n"));
        html.raw("</blockquote></details>");
    }
    is_cut
}

fn cut(html: &mut Html, text: &str) -> bool {
    match text.char_indices().nth(MOST_CHARS) {
        Some((end, _)) => {
            html.words(&text[..end]).raw("…");
            true
        }
        None => {
            html.words(text);
            false
        }
    }
}
