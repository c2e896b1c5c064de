//! `/`: what waits for a person, every open run with the holder of its baton, and what ended
//! lately.

use baton_core::plural::counted;
use baton_core::run::{HandoffState, RunStatus};
use baton_engine::{DAMAGED_TEXT, EngineError, Text};
use baton_store::{Order, RunFilter, RunRow};

use super::document::{PageParts, Rendered};
use super::history::{HistoryScene, ShownGates};
use super::html::Html;
use super::inbox::{AskedPerson, InboxScope};
use super::{backlog, history, inbox, pipeline, team, who};
use crate::problem::ApiProblem;
use crate::scope::RequestScope;

/// Runs on one page: those that changed last.
const MOST_RUNS: u32 = 50;
const MOST_FINISHED: usize = 8;
/// Handoffs of a run on this page; the run's own page has more.
const MOST_HANDOFFS: u32 = 8;

pub(super) async fn render(app: &RequestScope) -> Result<Rendered, ApiProblem> {
    let (items, next) = app.read().inbox_after(0, inbox::MOST + 1).await?;
    let has_more = next.is_some();
    let asked = AskedPerson::load(app, items).await?;
    let open = app.read().runs_moved_last(MOST_RUNS).await?;
    let n_open = app.read().count_open_runs().await?;
    let n_left_out = n_open.saturating_sub(open.len() as u64);
    let finished = finished_runs(app).await?;

    let mut html = Html::default();
    inbox::render(&mut html, &asked, InboxScope::AllRuns { has_more });
    if open.is_empty() && finished.is_empty() {
        nothing(&mut html);
    }
    if !open.is_empty() {
        html.raw("<h2 data-key=\"open\">Under way <span class=\"count\">");
        html.number(n_open).raw("</span></h2>");
    } else if !finished.is_empty() {
        html.raw("<p class=\"empty\" data-key=\"idle\">No run is open. ");
        html.raw("<code>baton run start STORY</code> starts the next.</p>");
    }
    for row in &open {
        card(&mut html, app, row).await?;
    }
    if n_left_out > 0 {
        html.raw("<p data-key=\"more\">And ").number(n_left_out);
        html.raw(" more that moved earlier: <code>baton run list</code> has them all.</p>");
    }
    backlog::render(&mut html, app).await?;
    ended(&mut html, app, &finished).await?;
    team::render(&mut html, &app.read().catalog());
    let n_waiting = match (asked.len(), has_more) {
        (0, _) => String::new(),
        (n, false) => n.to_string(),
        (_, true) => format!("{}+", inbox::MOST),
    };
    let title = if n_waiting.is_empty() { n_waiting.clone() } else { format!("({n_waiting}) ") };
    let headline = headline(app, &n_waiting, n_open, &open).await?;
    Ok(Rendered::Page(PageParts { title, headline, main: html }))
}

/// The header of the page, from the rows that the page shows.
async fn headline(
    app: &RequestScope,
    n_waiting: &str,
    n_open: u64,
    open: &[RunRow],
) -> Result<String, EngineError> {
    let waiting = match n_waiting {
        "" => None,
        "1" => Some("1 waits for you".to_owned()),
        n => Some(format!("{n} wait for you")),
    };
    let running = match open {
        [] => "No run is open".to_owned(),
        [row] => {
            let cast = app.read().cast(&row.run).await?;
            format!("{}: {}", title_of(app, row).await?, who::sentence(&row.run, &cast))
        }
        [..] => format!("{n_open} runs under way"),
    };
    Ok(waiting.into_iter().chain([running]).collect::<Vec<_>>().join(" · "))
}

/// The title of the story of a run, or its key.
async fn title_of(app: &RequestScope, row: &RunRow) -> Result<String, EngineError> {
    let story = app.read().find_story(&row.run.story).await?;
    Ok(story.map_or_else(|| row.run.story.to_string(), |it| it.story.title))
}

/// Those of the newest runs that are over, the last changed first.
async fn finished_runs(app: &RequestScope) -> Result<Vec<RunRow>, EngineError> {
    let filter = RunFilter { order: Order::NewestFirst, limit: MOST_RUNS, ..RunFilter::default() };
    let mut rows = app.read().runs(&filter).await?;
    rows.retain(|it| it.run.is_finished());
    rows.sort_by_key(|it| std::cmp::Reverse(it.run.moved_at));
    rows.truncate(MOST_FINISHED);
    Ok(rows)
}

fn nothing(html: &mut Html) {
    html.raw("<section class=\"empty\" data-key=\"empty\"><h2>Nothing is under way</h2>");
    html.raw(
        "<p>Add a story with <code>baton story add KEY --title TEXT</code> and start it with <code>baton run start</code>, or let an agent begin with ",
    );
    html.raw("<code>POST /api/handoffs</code>. ");
    html.raw(
        "The holder of the baton is then shown here, and the page updates itself.</p></section>",
    );
}

async fn card(html: &mut Html, app: &RequestScope, row: &RunRow) -> Result<(), EngineError> {
    let run = &row.run;
    let cast = app.read().cast(run).await?;
    let workflow = app.read().workflow_of(row).await?;
    let rows = history::newest(app, row, MOST_HANDOFFS).await?;
    let texts = app.read().texts_of(&rows).await?;
    html.raw("<article class=\"run\" data-key=\"run-").number(row.number);
    html.raw("\" aria-labelledby=\"run-").number(row.number).raw("\">");
    heading(html, app, row).await?;
    who::has_the_baton(html, run, &workflow, &cast);
    // What has ended, such as a question with its answer, is no reason any more.
    let open = rows.iter().find(|it| !matches!(it.state, HandoffState::Ended(_)));
    match open.or(rows.first()).map(|it| texts.get(it.reason)) {
        Some(Text::Whole(reason)) => {
            html.raw("<p class=\"because\">").words(reason).raw("</p>");
        }
        Some(Text::Damaged) => {
            html.raw("<p class=\"because\"><em>").words(DAMAGED_TEXT).raw("</em></p>");
        }
        Some(Text::Gone) | None => {}
    }
    pipeline::render(html, run, &workflow, &rows);
    html.raw("<details id=\"history-").number(row.number).raw("\"><summary>");
    html.text(&counted(run.n_handoffs.into(), "handoff")).raw("</summary>");
    let gates = ShownGates::load(app, row.run.id).await?;
    history::render(
        html,
        &rows,
        &HistoryScene { texts: &texts, cast: &cast, gates: &gates, workflow: &workflow },
    );
    if rows.len() < run.n_handoffs as usize {
        html.raw("<p><a href=\"/runs/").number(row.number).raw("\">All of them</a></p>");
    }
    html.raw("</details></article>");
    Ok(())
}

async fn heading(html: &mut Html, app: &RequestScope, row: &RunRow) -> Result<(), EngineError> {
    let run = &row.run;
    let title = title_of(app, row).await?;
    html.raw("<h3 id=\"run-").number(row.number).raw("\"><a href=\"/runs/").number(row.number);
    html.raw("\">").name(&title).raw("</a>");
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

async fn ended(html: &mut Html, app: &RequestScope, rows: &[RunRow]) -> Result<(), EngineError> {
    if rows.is_empty() {
        return Ok(());
    }
    html.raw("<section class=\"ended\" data-key=\"ended\"><h2>Ended lately</h2><ul>");
    for row in rows {
        let title = title_of(app, row).await?;
        html.raw("<li class=\"")
            .raw(row.run.status.name())
            .raw("\"><span class=\"mark\" aria-hidden=\"true\">");
        html.raw(if row.run.status == RunStatus::Completed { "✓" } else { "–" });
        html.raw("</span><a href=\"/runs/").number(row.number).raw("\">").name(&title);
        html.raw("</a> <span class=\"times\">").raw(row.run.status.name()).raw(" ");
        html.time(row.run.moved_at).raw("</span></li>");
    }
    html.raw("</ul></section>");
    Ok(())
}
