//! `/handoffs/{handoff}`: one handoff, with the whole package.

use baton_store::RunRef;

use super::document::{PageParts, Rendered};
use super::history::{self, HistoryScene, Packages, ShownGates};
use super::html::Html;
use super::who;
use crate::problem::ApiProblem;
use crate::scope::RequestScope;

pub(super) async fn render(app: &RequestScope, name: &str) -> Result<Rendered, ApiProblem> {
    let which = app.read().handoff_named(name, None).await?;
    let row = app.read().handoff(&which).await?;
    let run = app.read().run(&RunRef::Id(row.run)).await?;
    let texts = app.read().texts_of(std::slice::from_ref(&row)).await?;
    let asked = app.read().exchanges(&row).await?;
    let cast = app.read().cast(&run.run).await?;
    let gates = ShownGates::load(app, row.run).await?;
    let workflow = app.read().workflow_of(&run).await?;
    let scene = HistoryScene { texts: &texts, cast: &cast, gates: &gates, workflow: &workflow };
    let title = format!("{} of {}", row.no, row.story);

    let mut html = Html::default();
    html.raw("<section data-key=\"handoff\"><p class=\"meta\"><a href=\"/\">All runs</a> · <a href=\"/runs/");
    html.number(run.number).raw("\">run ").number(run.number).raw("</a></p><h2>");
    html.words(&title).raw("</h2><div class=\"handoff alone\">");
    history::handoff(&mut html, &row, &scene, Packages::Whole);
    html.raw("</div></section>");
    if !asked.is_empty() {
        let rows: Vec<_> = asked.into_iter().map(|it| it.row).rev().collect();
        let texts = app.read().texts_of(&rows).await?;
        html.raw("<section data-key=\"asked\"><h2>Asked about it</h2>");
        history::render(&mut html, &rows, &HistoryScene { texts: &texts, ..scene });
        html.raw("</section>");
    }
    let headline = who::sentence(&run.run, &cast);
    Ok(Rendered::Page(PageParts { title, headline, main: html }))
}
