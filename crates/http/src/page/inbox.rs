//! What waits for a person: the question, and for every answer the command and its consequence.

use baton_core::evidence::Verdict;
use baton_engine::DAMAGED_TEXT;
use baton_views::{InboxItem, SenderWords, Waits};

use super::html::Html;

/// More than a person answers before looking again.
pub(super) const MOST: usize = 20;
/// How much of the detail of a check is shown.
const MOST_DETAIL: usize = 200;

/// If there are more items, the count covers only those that are shown.
pub(super) fn render(html: &mut Html, items: &[InboxItem], has_more: bool) {
    if items.is_empty() {
        return;
    }
    html.raw("<section class=\"inbox\" data-key=\"inbox\" aria-labelledby=\"inbox-title\">");
    html.raw("<h2 id=\"inbox-title\">Waits for you <span class=\"count\">");
    if has_more {
        html.number(MOST as u64).raw("+</span></h2><ul>");
    } else {
        html.number(items.len() as u64).raw("</span></h2><ul>");
    }
    for item in items.iter().take(MOST) {
        html.raw("<li class=\"ask\">");
        ask(html, item);
        html.raw("</li>");
    }
    html.raw("</ul>");
    if has_more {
        html.raw("<p>And more: <code>baton inbox --json</code> has them all.</p>");
    } else if items.len() > MOST {
        html.raw("<p>And ").number((items.len() - MOST) as u64);
        html.raw(" more: <code>baton inbox</code> has them all.</p>");
    }
    html.raw("</section>");
}

fn ask(html: &mut Html, item: &InboxItem) {
    html.raw("<h3><a href=\"/runs/").number(item.run.number).raw("\">");
    html.words(item.run.run.story.as_str()).raw("</a></h3><p class=\"sentence\">");
    html.words(&item.sentence()).raw("</p>");
    let asked = &item.asked;
    if let Some(name) = &asked.name {
        html.raw("<p class=\"gate\">").words(name).raw("</p>");
    }
    // A gate without words of its own would only repeat why it is there.
    if let Some(words) = asked.words.as_ref().filter(|it| **it != item.sentence()) {
        if let Some(by) = &asked.words_by {
            html.raw("<p class=\"speaker\">").words(by.as_str()).raw(" says:</p>");
        }
        html.raw("<blockquote>").words(words).raw("</blockquote>");
    }
    if !asked.damaged.is_empty() {
        html.raw("<p class=\"damaged\">").words(&asked.damaged.join(", ")).raw(": <em>");
        html.words(DAMAGED_TEXT).raw("</em></p>");
    }
    list(html, "look", &asked.items);
    list(html, "blockers", &asked.blockers);
    checks(html, item);
    for sender in &asked.sender {
        said(html, item, sender);
    }
    html.raw("<dl class=\"choices\">");
    for choice in &item.choices {
        html.raw("<div><dt><code>").text(&item.command(choice)).raw("</code></dt><dd>");
        html.words(&item.consequence(choice)).raw("</dd></div>");
    }
    html.raw("</dl>");
    if let Waits::Gate { handoff, .. } | Waits::Question { handoff, .. } = &item.why
        && let Some(row) = item.trail.iter().find(|it| it.no == *handoff)
    {
        html.raw("<p class=\"more\"><a href=\"/handoffs/").number(row.number);
        html.raw("\">What was handed over with ").text(&row.no.label()).raw("</a></p>");
    }
}

/// The sender's own words, under its name and apart from the workflow's: they may claim anything.
fn said(html: &mut Html, item: &InboxItem, sender: &SenderWords) {
    html.raw("<section class=\"said\"><p class=\"speaker\">In the package of ");
    html.words(sender.by.as_str()).raw(", in its own words:</p><dl>");
    for part in &sender.parts {
        html.raw("<div><dt>").text(&part.name.replace('_', " ")).raw("</dt>");
        for text in &part.texts {
            html.raw("<dd>").words(text).raw("</dd>");
        }
        html.raw("</div>");
    }
    html.raw("</dl>");
    let row = item.trail.iter().find(|it| Some(it.no) == sender.handoff);
    if let Some(row) = row.filter(|_| sender.is_cut) {
        html.raw("<p class=\"more\">Shortened: <a href=\"/handoffs/").number(row.number);
        html.raw("\">all of it</a></p>");
    }
    html.raw("</section>");
}

/// The detail of a check in one line.
fn shortened(text: &str) -> String {
    match text.char_indices().nth(MOST_DETAIL) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

fn list(html: &mut Html, class: &'static str, items: &[String]) {
    if items.is_empty() {
        return;
    }
    html.raw("<ul class=\"").raw(class).raw("\">");
    for item in items {
        html.raw("<li>").words(item).raw("</li>");
    }
    html.raw("</ul>");
}

fn checks(html: &mut Html, item: &InboxItem) {
    let asked = &item.asked;
    if asked.checks.is_empty() {
        return;
    }
    html.raw("<ul class=\"checks\">");
    for check in &asked.checks {
        let found = asked.evidence.iter().find(|it| it.evidence.check == *check);
        let (class, words) = match found.map(|it| it.evidence.verdict) {
            Some(Verdict::Passed) => ("passed", " passed"),
            Some(Verdict::Failed) => ("failed", " failed"),
            None => ("missing", " has no result"),
        };
        html.raw("<li class=\"").raw(class).raw("\"><code>").text(check.as_str());
        html.raw("</code>").raw(words);
        if let Some(detail) = found.and_then(|it| it.detail.as_deref()) {
            html.raw(": ").words(&shortened(detail));
        }
        html.raw("</li>");
    }
    html.raw("</ul>");
}
