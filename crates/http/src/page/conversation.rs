//! The conversation of a run on its page: words, handoffs, decisions, questions, newest last.

use baton_engine::DAMAGED_TEXT;
use baton_views::{ConversationItem, ConversationPage, DecisionStatus, StatedDecision};

use super::html::Html;
use super::who;

/// How much of a text is shown; the API has all of it.
const MOST_CHARS: usize = 2000;

pub(super) fn render(html: &mut Html, run: u64, page: &ConversationPage) {
    if page.items.is_empty() {
        return;
    }
    html.raw("<section data-key=\"messages\" class=\"messages\"><h2>Conversation <span class=\"count\">oldest first</span></h2>");
    let mut is_cut = page.has_more;
    html.raw("<ul>");
    for item in &page.items {
        html.raw("<li><p class=\"line\">");
        match &item.agent {
            Some(agent) => who::agent_at(html, agent, item.agent_step.as_deref()),
            None => {
                html.words(item.principal.as_str());
            }
        }
        html.raw(" <span class=\"times\">").time(item.at).raw("</span>");
        if let Some(line) = &item.line {
            html.raw(" <strong>").sentence(line).raw("</strong>");
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

/// Its number, whether it was only asked, and what became of it.
fn marks(html: &mut Html, it: &StatedDecision) {
    html.raw(" <span class=\"times\">decision ").number(it.no).raw("</span>");
    if it.is_only_asked {
        html.raw(" <span class=\"word\">asked</span>");
    }
    let Some(record) = &it.record else { return };
    if record.status != DecisionStatus::Standing {
        html.raw(" <span class=\"word\">").raw(record.status.name());
        if let Some(no) = record.superseded_by {
            html.raw(" by ").number(no);
        }
        html.raw("</span>");
    }
    if let Some(by) = &record.locked_by {
        html.raw(" <span class=\"word\">locked by ").words(by.as_str()).raw("</span>");
    }
    if !record.conflicts_with.is_empty() {
        let others: Vec<String> = record.conflicts_with.iter().map(ToString::to_string).collect();
        html.raw(" <span class=\"word warn\">contradicts ").text(&others.join(", "));
        html.raw("</span>");
    }
}

/// True where something is left out.
fn words(html: &mut Html, item: &ConversationItem) -> bool {
    let mut is_cut = false;
    for it in &item.decisions {
        html.raw("<blockquote><strong>").words(&it.decision).raw("</strong>");
        marks(html, it);
        if let Some(rationale) = &it.rationale {
            html.raw("\n");
            is_cut |= cut(html, rationale);
        }
        html.raw("</blockquote>");
    }
    if let Some(text) = item.text.as_ref().filter(|it| !it.trim().is_empty()) {
        html.raw("<blockquote>");
        // Of what Baton itself says, `baton run log` has the whole hashes.
        is_cut |= match item.principal.as_str().starts_with("baton:") {
            true => cut(html, &with_short_hashes(text)),
            false => cut(html, text),
        };
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

/// How many digits of a hash are shown.
const SHORT: usize = 12;

fn with_short_hashes(text: &str) -> String {
    let is_digit = |it: char| it.is_ascii_hexdigit();
    let mut short = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(begin) = rest.find(is_digit) {
        let (before, word) = rest.split_at(begin);
        let end = word.find(|it: char| !is_digit(it)).unwrap_or(word.len());
        short.push_str(before);
        match end {
            64 => short.extend([&word[..SHORT], "…"]),
            end => short.push_str(&word[..end]),
        }
        rest = &word[end..];
    }
    short + rest
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hashes_are_shortened_and_all_else_stays() {
        let hash = "5f842cae5400357a7c1360f8dc9d451a122f0d170f9b18a322336eca089bb49e";
        let text =
            format!("HO-001 is with `cook`. The prompt has the hash {hash}, the package {hash}");
        let short = "HO-001 is with `cook`. The prompt has the hash 5f842cae5400…, the package 5f842cae5400…";
        assert_eq!(with_short_hashes(&text), short);
        for text in ["", "no hash: cafe 42", "é 04e99f4 é"] {
            assert_eq!(with_short_hashes(text), text);
        }
    }
}
