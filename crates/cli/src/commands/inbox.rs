//! `baton inbox`: what waits for a person, what happened so far, and the effect of each answer.

use baton_api::{ChoiceDocument, EvidenceDocument, InboxItemDocument, Page};

use crate::api::{Api, Ask};
use crate::failure::Failure;
use crate::show::{self, OutputFormat};

/// How many are shown at once; a person will not answer more before looking again.
const MOST: &str = "20";
/// Only the end of a long story is shown; `baton run show` has all of it.
const TRAIL: usize = 6;

pub(crate) async fn run(api: &Api) -> Result<(), Failure> {
    api.warn_if_not_ready().await;
    let ask = Ask::get(["inbox"]);
    match api.format {
        OutputFormat::Json => {
            show::answer_json(&api.list::<InboxItemDocument>(ask).await?.into_json())
        }
        OutputFormat::Table => show_first(api, &api.get(&ask.with("limit", MOST)).await?),
    }
    Ok(())
}

fn show_first(api: &Api, page: &Page<InboxItemDocument>) {
    if page.items.is_empty() {
        show::note("nothing waits for you");
    }
    for (index, item) in page.items.iter().enumerate() {
        if index > 0 {
            show::answer("");
        }
        show_item(api, item);
    }
    if page.next.is_some() {
        show::answer("\nthere are more: answer these first, or see all with `baton inbox --json`");
    }
}

fn show_item(api: &Api, item: &InboxItemDocument) {
    let story = show::visible(&item.run.story);
    show::answer(&format!("{} {}", show::bold(&story), show::warn(&show::visible(&item.why))));
    for line in asked(item) {
        show::answer(&line);
    }
    let n_before = item.trail.len().saturating_sub(TRAIL);
    if n_before > 0 {
        let handoffs = if n_before == 1 { "handoff" } else { "handoffs" };
        show::answer(&show::dim(&format!("{n_before} earlier {handoffs}")));
    }
    show::answer(&show::handoffs_table(&item.trail[n_before..], api.now()));
    let row =
        |it: &ChoiceDocument| vec![show::one_line(&it.command), show::one_line(&consequence(it))];
    let rows = item.choices.iter().map(row).collect();
    show::answer(&format!("\n{}", show::table(&["TYPE", "AND THEN"], rows)));
}

/// The effect of the answer by the rules, and the gate's own description of it.
fn consequence(choice: &ChoiceDocument) -> String {
    match &choice.meaning {
        Some(meaning) => format!("{meaning} ({})", choice.then),
        None => choice.then.clone(),
    }
}

/// The exact questions, one per line.
fn asked(item: &InboxItemDocument) -> Vec<String> {
    let mut lines = Vec::new();
    lines.extend(item.name.as_deref().map(|it| format!("  {}", show::one_line(it))));
    lines.extend(item.words.as_deref().map(show::block));
    if !item.damaged.is_empty() {
        let what = show::visible(&item.damaged.join(", "));
        let then = "`baton verify` says more, `baton recover` saves what is whole";
        lines.push(show::warn(&format!("  damaged: {what}; {then}")));
    }
    lines.extend(item.items.iter().map(|it| format!("  ☐ {}", show::visible(it))));
    lines.extend(item.blockers.iter().map(|it| format!("  ✘ {}", show::visible(it))));
    let verdict = |check: &str| {
        let is_it = |it: &&EvidenceDocument| it.check == check;
        item.evidence.iter().find(is_it).map(|it| it.verdict.as_str())
    };
    for check in &item.checks {
        lines.push(match verdict(check) {
            Some("passed") => format!("  {} {check} passed", show::good("✔")),
            Some(verdict) => format!("  {} {check} {verdict}", show::warn("✘")),
            None => format!("  {} {check} has no result", show::warn("•")),
        });
    }
    lines
}
