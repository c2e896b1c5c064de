//! `/`: what waits for a person, every open run with whoever has its baton, and what ended lately.

use std::sync::Arc;

use axum::extract::State;
use axum::response::Response;
use baton_core::names::Principal;
use baton_core::run::RunStatus;
use baton_engine::{DAMAGED_TEXT, EngineError, Text};
use baton_store::{RunFilter, RunRow};

use super::html::Html;
use super::{document, history, inbox, pipeline, who};
use crate::App;
use crate::problem::Problem;

/// Runs that stand on one page, those that moved last.
const MOST_RUNS: usize = 50;
const MOST_FINISHED: usize = 8;
/// Handoffs of a run on this page; its own has more.
const MOST_HANDOFFS: u32 = 8;

pub(super) async fn get(State(app): State<Arc<App>>) -> Result<Response, Problem> {
    let me = Principal::parse("local")?;
    let items = app.engine.inbox(&me).await?;
    let mut open = open_runs(&app).await?;
    open.sort_by_key(|it| std::cmp::Reverse(it.run.moved_at));
    let n_left_out = open.len().saturating_sub(MOST_RUNS);
    open.truncate(MOST_RUNS);
    let finished = finished_runs(&app).await?;

    let mut html = Html::default();
    inbox::render(&mut html, &items);
    if open.is_empty() && finished.is_empty() {
        nothing(&mut html);
    }
    if !open.is_empty() {
        html.raw("<h2 data-key=\"open\">Under way <span class=\"count\">");
        html.number((open.len() + n_left_out) as u64).raw("</span></h2>");
    } else if !finished.is_empty() {
        html.raw("<p class=\"empty\" data-key=\"idle\">No run is open. ");
        html.raw("<code>baton run start STORY</code> starts the next.</p>");
    }
    for row in &open {
        card(&mut html, &app, row).await?;
    }
    if n_left_out > 0 {
        html.raw("<p data-key=\"more\">And ").number(n_left_out as u64);
        html.raw(" more that moved earlier: <code>baton run list</code> has them all.</p>");
    }
    ended(&mut html, &app, &finished).await?;
    let title = match items.len() {
        0 => "Baton".to_owned(),
        n => format!("({n}) Baton"),
    };
    Ok(document::page(&title, html))
}

async fn open_runs(app: &App) -> Result<Vec<RunRow>, EngineError> {
    let statuses = vec![RunStatus::Open, RunStatus::Paused];
    let filter = RunFilter { statuses, ..RunFilter::default() };
    Ok(app.engine.store().runs(&filter).await?)
}

/// Of the newest runs those that are over, newest first.
async fn finished_runs(app: &App) -> Result<Vec<RunRow>, EngineError> {
    let Some(newest) = newest_number(app).await? else { return Ok(Vec::new()) };
    let statuses = vec![RunStatus::Completed, RunStatus::Cancelled];
    let after = newest.saturating_sub(MOST_RUNS as u64);
    let filter = RunFilter { statuses, after, ..RunFilter::default() };
    let mut rows = app.engine.store().runs(&filter).await?;
    rows.sort_by_key(|it| std::cmp::Reverse(it.run.moved_at));
    rows.truncate(MOST_FINISHED);
    Ok(rows)
}

/// The number of the run that something happened to last. A store has no shorter way to the end
/// of its runs, and this keeps the page from reading all of them.
async fn newest_number(app: &App) -> Result<Option<u64>, EngineError> {
    let store = app.engine.store();
    let last = store.last_position().await?;
    let Some(before) = last.0.checked_sub(1) else { return Ok(None) };
    let after = baton_store::Position(before);
    let filter = baton_store::EventFilter { after, run: None, limit: 1 };
    let Some(event) = store.events(&filter).await?.into_iter().next() else { return Ok(None) };
    let row = store.run(&baton_store::RunRef::Id(event.run)).await?;
    Ok(row.map(|it| it.number))
}

fn nothing(html: &mut Html) {
    html.raw("<section class=\"empty\" data-key=\"empty\"><h2>Nothing is under way</h2>");
    html.raw(
        "<p>Hand a story in with <code>baton run start STORY</code>, or let an agent begin with ",
    );
    html.raw("<code>POST /api/handoffs</code>. ");
    html.raw(
        "Whoever has the baton then stands here, and the page follows by itself.</p></section>",
    );
}

async fn card(html: &mut Html, app: &App, row: &RunRow) -> Result<(), EngineError> {
    let run = &row.run;
    let agents = app.engine.catalog().agents();
    let workflow = app.engine.workflow_of(row).await?;
    let rows = history::newest(app, row, MOST_HANDOFFS).await?;
    let texts = app.engine.texts_of(&rows).await?;
    html.raw("<article class=\"run\" data-key=\"run-").number(row.number);
    html.raw("\" aria-labelledby=\"run-").number(row.number).raw("\">");
    heading(html, app, row).await?;
    who::has_the_baton(html, run, agents);
    match rows.first().map(|it| texts.get(it.reason)) {
        Some(Text::Whole(reason)) => {
            html.raw("<p class=\"because\">").words(reason).raw("</p>");
        }
        Some(Text::Damaged) => {
            html.raw("<p class=\"because\"><em>").words(DAMAGED_TEXT).raw("</em></p>");
        }
        Some(Text::Gone) | None => {}
    }
    pipeline::render(html, run, &workflow);
    html.raw("<details id=\"history-").number(row.number).raw("\"><summary>");
    html.number(run.n_handoffs);
    html.raw(if run.n_handoffs == 1 { " handoff" } else { " handoffs" }).raw("</summary>");
    history::render(html, &rows, &texts, agents);
    if rows.len() < run.n_handoffs as usize {
        html.raw("<p><a href=\"/runs/").number(row.number).raw("\">All of them</a></p>");
    }
    html.raw("</details></article>");
    Ok(())
}

async fn heading(html: &mut Html, app: &App, row: &RunRow) -> Result<(), EngineError> {
    let run = &row.run;
    let story = app.engine.store().story(&run.story).await?;
    let title = story.as_ref().map_or(run.story.as_str(), |it| &it.story.title);
    html.raw("<h3 id=\"run-").number(row.number).raw("\"><a href=\"/runs/").number(row.number);
    html.raw("\">").name(title).raw("</a>");
    if run.status == RunStatus::Paused {
        html.raw(" <span class=\"word warn\">paused</span>");
    }
    html.raw("</h3><p class=\"meta\">");
    if title != run.story.as_str() {
        html.raw("<code>").words(run.story.as_str()).raw("</code> · ");
    }
    html.raw("run ").number(row.number).raw(" · ").words(run.workflow.as_str());
    html.raw(" · moved ").time(run.moved_at).raw("</p>");
    Ok(())
}

async fn ended(html: &mut Html, app: &App, rows: &[RunRow]) -> Result<(), EngineError> {
    if rows.is_empty() {
        return Ok(());
    }
    html.raw("<section class=\"ended\" data-key=\"ended\"><h2>Ended lately</h2><ul>");
    for row in rows {
        let story = app.engine.store().story(&row.run.story).await?;
        let title = story.as_ref().map_or(row.run.story.as_str(), |it| &it.story.title);
        html.raw("<li class=\"")
            .raw(row.run.status.name())
            .raw("\"><span class=\"mark\" aria-hidden=\"true\">");
        html.raw(if row.run.status == RunStatus::Completed { "✓" } else { "–" });
        html.raw("</span><a href=\"/runs/").number(row.number).raw("\">").name(title);
        html.raw("</a> <span class=\"times\">").raw(row.run.status.name()).raw(" ");
        html.time(row.run.moved_at).raw("</span></li>");
    }
    html.raw("</ul></section>");
    Ok(())
}
