//! `/runs/{run}`: one run, with all its handoffs.

use baton_core::story::Story;
use baton_store::StoryRow;
use baton_views::ConversationWindow;

use super::document::{PageParts, Rendered};
use super::history::{HistoryScene, ShownGates};
use super::html::Html;
use super::inbox::{AskedPerson, InboxScope};
use super::{conversation, history, inbox, pipeline, who};
use crate::problem::ApiProblem;
use crate::scope::RequestScope;

/// Handoffs on one page; a run with more is out of control.
const MOST_HANDOFFS: u32 = 200;
const MOST_ITEMS: u32 = 50;

pub(super) async fn render(app: &RequestScope, name: &str) -> Result<Rendered, ApiProblem> {
    let row = app.read().run_named(name).await?;
    let run = &row.run;
    let cast = app.read().cast(run).await?;
    let workflow = app.read().workflow_of(&row).await?;
    let story = app.read().find_story(&run.story).await?;
    let rows = history::newest(app, &row, MOST_HANDOFFS).await?;
    let texts = app.read().texts_of(&rows).await?;
    let title = story.as_ref().map_or(run.story.as_str(), |it| &it.story.title);

    let mut html = Html::default();
    html.raw("<section data-key=\"run\" class=\"run\"><p class=\"meta\"><a href=\"/\">All runs</a></p><h2>");
    html.name(title).raw("</h2><p class=\"meta\">");
    if title != run.story.as_str() {
        html.raw("<code>").words(run.story.as_str()).raw("</code> · ");
    }
    html.raw("run ").number(row.number).raw(" · ").words(&workflow.title);
    html.raw(" · ").raw(run.status.name()).raw(" · started ").time(run.started_at).raw("</p>");
    who::has_the_baton(&mut html, run, &workflow, &cast);
    pipeline::render(&mut html, run, &workflow, &rows);
    let description = |it: &StoryRow| {
        let text = &it.story.description;
        // A story from before the bound may be longer.
        text[..text.floor_char_boundary(Story::MOST_DESCRIPTION)].to_owned()
    };
    if let Some(story) = story.as_ref().filter(|it| !it.story.description.is_empty()) {
        html.raw("<details id=\"story\"><summary>The story</summary><p class=\"prose\">");
        html.words(&description(story)).raw("</p></details>");
    }
    html.raw("</section>");
    if !run.is_finished() {
        let items = app.read().inbox_items(row.clone()).await?;
        let asked = AskedPerson::load(app, items).await?;
        inbox::render(&mut html, &asked, InboxScope::OneRun);
    }
    html.raw("<section data-key=\"history\"><h2>History <span class=\"count\">");
    html.number(run.n_handoffs).raw(", newest first</span></h2>");
    let gates = ShownGates::load(app, run.id).await?;
    history::render(
        &mut html,
        &rows,
        &HistoryScene { texts: &texts, cast: &cast, gates: &gates, workflow: &workflow },
    );
    if rows.len() < run.n_handoffs as usize {
        html.raw("<p>The newest ").number(rows.len() as u64);
        html.raw("; <code>baton run show</code> has them all.</p>");
    }
    html.raw("</section>");
    let newest = ConversationWindow::NEWEST;
    let page = app.read().conversation(&row, newest, MOST_ITEMS).await?;
    conversation::render(&mut html, row.number, &page);
    let headline = who::sentence(run, &cast);
    Ok(Rendered::Page(PageParts { title: title.to_owned(), headline, main: html }))
}
