//! The stories that have not begun, in the order in which they are started.

use baton_core::names::StoryKey;
use baton_engine::EngineError;
use baton_views::in_url;

use super::answer_form;
use super::html::Html;
use crate::scope::RequestScope;

const MOST: u32 = 20;
/// Stories that one waits for are counted beyond that.
const MOST_NAMED: usize = 5;

pub(super) async fn render(html: &mut Html, app: &RequestScope) -> Result<(), EngineError> {
    let n_waiting = app.read().count_stories().await?.n_to_begin;
    if n_waiting == 0 {
        return Ok(());
    }
    let rows = app.read().stories_to_begin(MOST).await?;
    html.raw(
        "<section class=\"backlog\" data-key=\"backlog\"><h2>Not begun <span class=\"count\">",
    );
    html.number(n_waiting).raw("</span></h2><ul>");
    for row in &rows {
        let key = &row.story.key;
        html.raw("<li><a href=\"/stories/").attribute(&in_url(key.as_str())).raw("\">");
        html.name(&row.story.title).raw("</a>");
        if row.story.title != key.as_str() {
            html.raw(" <code>").words(key.as_str()).raw("</code>");
        }
        match app.read().unfinished_dependencies(&row.story).await?.as_slice() {
            [] => answer_form::start(html, key),
            open => {
                html.raw(" <span class=\"meta\">");
                after(html, open);
                html.raw("</span>");
            }
        }
        html.raw("</li>");
    }
    html.raw("</ul>");
    if (rows.len() as u64) < n_waiting {
        html.raw("<p>And ").number(n_waiting - rows.len() as u64);
        html.raw(" more: <code>baton story list</code> has them all.</p>");
    }
    html.raw("</section>");
    Ok(())
}

/// "after `shop:12`": the stories that have to be finished first.
fn after(html: &mut Html, open: &[StoryKey]) {
    html.raw("after ");
    named(html, open);
}

/// Stories by their keys, the first few.
pub(super) fn named(html: &mut Html, open: &[StoryKey]) {
    for (n, key) in open.iter().take(MOST_NAMED).enumerate() {
        html.raw(if n == 0 { "<code>" } else { ", <code>" }).words(key.as_str()).raw("</code>");
    }
    if open.len() > MOST_NAMED {
        html.raw(" and ").number((open.len() - MOST_NAMED) as u64).raw(" more");
    }
}
