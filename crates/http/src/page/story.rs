//! `/stories/{story}`: the newest run of a story, or the story itself if it has never had a run.

use baton_core::story::Story;
use baton_engine::shell_word;
use baton_store::RunRef;

use super::document::{PageParts, Rendered};
use super::html::Html;
use super::{answer_form, backlog};
use crate::lookup::{not_found, story_key};
use crate::problem::ApiProblem;
use crate::scope::RequestScope;

pub(super) async fn render(app: &RequestScope, name: &str) -> Result<Rendered, ApiProblem> {
    let no_such = || not_found("no_such_story", format!("there is no story `{name}`"));
    let key = story_key(app, Some(name)).await?.ok_or_else(no_such)?;
    if let Some(run) = app.read().find_run(&RunRef::LatestOf(key.clone())).await? {
        return Ok(Rendered::Elsewhere(format!("/runs/{}", run.number)));
    }
    let story = app.read().find_story(&key).await?.ok_or_else(no_such)?.story;
    let mut html = Html::default();
    html.raw("<section data-key=\"story\" class=\"run\"><p class=\"meta\"><a href=\"/\">All runs</a></p><h2>");
    html.name(&story.title).raw("</h2>");
    if story.title != key.as_str() {
        html.raw("<p class=\"meta\"><code>").words(key.as_str()).raw("</code></p>");
    }
    let open = app.read().unfinished_dependencies(&story).await?;
    let command = format!("baton run start {}", shell_word(key.as_str()));
    html.raw("<p class=\"baton\">");
    if open.is_empty() {
        html.raw("It has not begun: <code>").text(&command).raw("</code> starts it.</p>");
        answer_form::start(&mut html, &key);
    } else {
        html.raw("Waits for ");
        backlog::named(&mut html, &open);
        html.raw(". To start it now: <code>").text(&command).raw(" --anyway</code></p>");
    }
    let text = &story.description;
    if !text.is_empty() {
        // A story from before the bound may be longer.
        let text = &text[..text.floor_char_boundary(Story::MOST_DESCRIPTION)];
        html.raw("<p class=\"prose\">").words(text).raw("</p>");
    }
    if !story.acceptance.is_empty() {
        html.raw("<h3>Acceptance criteria</h3><ul>");
        for criterion in &story.acceptance {
            html.raw("<li>").words(criterion).raw("</li>");
        }
        html.raw("</ul>");
    }
    html.raw("</section>");
    let headline = "It has not begun".to_owned();
    Ok(Rendered::Page(PageParts { title: story.title, headline, main: html }))
}
