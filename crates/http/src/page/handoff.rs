//! `/handoffs/{handoff}`: one handoff, with the whole package.

use baton_store::{HandoffRow, RunRef};

use super::document::{PageParts, Rendered};
use super::history::{self, HistoryScene, Packages, Repeats, ShownGates};
use super::html::Html;
use super::inbox::{AskedPerson, InboxScope};
use super::{inbox, who};
use crate::problem::ApiProblem;
use crate::scope::RequestScope;
use crate::v1::files::file_document;

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
    history::handoff(&mut html, &row, &scene, Packages::Whole, &Repeats::default());
    html.raw("</div></section>");
    files(&mut html, app, &row).await?;
    let own = app.read().inbox_items(run.clone()).await?;
    let own = own.into_iter().filter(|it| it.why.handoff() == Some(row.no)).collect();
    inbox::render(&mut html, &AskedPerson::load(app, own).await?, InboxScope::OneHandoff);
    if !asked.is_empty() {
        let rows: Vec<_> = asked.into_iter().map(|it| it.row).rev().collect();
        let texts = app.read().texts_of(&rows).await?;
        html.raw("<section data-key=\"asked\"><h2>Asked about it</h2>");
        history::render(&mut html, &rows, &HistoryScene { texts: &texts, ..scene });
        html.raw("</section>");
    }
    // What waits elsewhere in the run is not for this page to ask.
    let mut current = run.run.branches.iter().filter_map(|it| run.run.current_in(it.no));
    let headline = match current.any(|it| it.no == row.no) {
        true => who::sentence(&run.run, &cast),
        false => {
            let why = row.ended_reason.and_then(|it| texts.get(it).whole());
            format!("{} is {}", row.no, row.state.word(why).replace('_', " "))
        }
    };
    Ok(Rendered::Page(PageParts { title, headline, main: html }))
}

/// What runners sent back, as links to the bytes.
async fn files(html: &mut Html, app: &RequestScope, row: &HandoffRow) -> Result<(), ApiProblem> {
    let mut files = app.read().files(row.run).await?;
    files.retain(|it| it.handoff == row.no);
    if files.is_empty() {
        return Ok(());
    }
    html.raw("<section data-key=\"files\"><h2>Files</h2><ul>");
    for file in files.iter().map(file_document) {
        html.raw("<li>");
        match &file.sha256 {
            Some(sha256) => {
                html.raw("<a href=\"/api/v1/handoffs/").number(row.number).raw("/files/");
                html.words(sha256).raw("\">").words(&file.name).raw("</a>");
            }
            None => {
                html.words(&file.name);
            }
        }
        let kind = format!(" {}, {} bytes", file.kind.name(), file.bytes);
        html.raw("<span class=\"meta\">").words(&kind);
        if let Some(note) = &file.note {
            html.raw("; ").words(note);
        }
        html.raw("</span></li>");
    }
    html.raw("</ul></section>");
    Ok(())
}
