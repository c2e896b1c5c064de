//! `baton inbox`: what waits for a person, what happened so far, and the effect of each answer.

use baton_api::{ChoiceDocument, EvidenceDocument, InboxItemDocument, Page, SenderDocument};

use crate::api::{Api, Ask};
use crate::failure::Failure;
use crate::runners::tell_if_untrusted;
use crate::show::{self, OutputFormat};

/// How many are shown at once; a person will not answer more before looking again.
const MOST: &str = "20";
/// Only the end of a long story is shown; `baton run show` has all of it.
const TRAIL: usize = 6;
/// How much of the detail of a check fits into its line.
const MOST_DETAIL: usize = 200;

pub(crate) async fn run(api: &Api) -> Result<(), Failure> {
    api.warn_if_not_ready().await;
    if let Some(project) = api.project() {
        tell_if_untrusted(project);
    }
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
        let earlier = show::counted(n_before as u64, "earlier handoff");
        show::answer(&show::dim(&earlier));
    }
    show::answer(&show::handoffs_table(&item.trail[n_before..], api.now()));
    let command = |it: &str| show::one_line(&show::as_caller(it));
    let row = |it: &ChoiceDocument| [command(&it.command), show::one_line(&consequence(it))];
    let mut rows: Vec<[String; 2]> = item.choices.iter().map(row).collect();
    rows.extend(delegation(item));
    rows.extend(item.history.as_ref().map(|it| {
        [show::one_line(it), "you see all that has happened; nothing changes".to_owned()]
    }));
    show::answer(&format!("\n{}", show::commands(&["TYPE", "AND THEN"], rows)));
}

/// The command for a person who has a vote and lets another one use it.
fn delegation(item: &InboxItemDocument) -> Option<[String; 2]> {
    let approvals = item.approvals.as_ref().filter(|it| !it.any_person)?;
    let which = format!("{}/{}", item.run.number, item.handoff.as_ref()?);
    let of: Vec<String> = approvals.open.iter().map(|it| show::visible(it)).collect();
    if of.is_empty() {
        return None;
    }
    let command = format!("baton delegate {which} --to PERSON");
    let of = of.join(" or ");
    let command = show::as_caller(&command);
    Some([command, format!("PERSON may approve instead of you, if you are {of}")])
}

/// The effect of the answer by the rules, and the workflow's description of it.
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
    if let Some(words) = item.words.as_deref().filter(|it| *it != item.why) {
        lines.extend(item.words_by.as_deref().map(|it| format!("  {} says:", show::visible(it))));
        lines.push(show::block(words));
    }
    if !item.damaged.is_empty() {
        let what = show::visible(&item.damaged.join(", "));
        let then = "`baton verify` says more, `baton recover` saves what is whole";
        lines.push(show::warn(&format!("  damaged: {what}; {then}")));
    }
    if let Some(approvals) = &item.approvals {
        lines.extend(show::approvals(approvals).iter().map(|it| format!("  {it}")));
    }
    if let Some(at) = item.reminded_at {
        let at = show::TimeFormat::local().show(at);
        lines.push(show::warn(&format!("  a reminder was sent at {at}")));
    }
    lines.extend(item.items.iter().map(|it| format!("  ☐ {}", show::visible(it))));
    lines.extend(item.blockers.iter().map(|it| format!("  ✘ {}", show::visible(it))));
    lines.extend(item.checks.iter().map(|it| checked(item, it)));
    let claims = item.evidence.iter().filter(|it| it.is_claim && !item.checks.contains(&it.check));
    lines.extend(claims.map(|it| checked(item, &it.check)));
    lines.extend(show::unverified(&item.unverified).map(|it| format!("  {it}")));
    for sender in &item.sender {
        lines.extend(said(item, sender));
    }
    lines
}

fn checked(item: &InboxItemDocument, check: &str) -> String {
    let is_it = |it: &&EvidenceDocument| it.check == check;
    let Some(evidence) = item.evidence.iter().find(is_it) else {
        return format!("  {} {check} has no result", show::warn("•"));
    };
    let detail = evidence.detail.as_deref();
    let detail = detail.map(|it| format!(": {}", show::shortened(it, MOST_DETAIL)));
    let detail = detail.unwrap_or_default();
    let by = evidence.by.as_ref().map(|it| format!(", by {}", show::visible(it)));
    let detail = by.unwrap_or_default() + &detail;
    match evidence.verdict.as_str() {
        verdict if evidence.is_claim => {
            let claim = format!("{check} {verdict} is a claim{detail}");
            format!("  {} {claim}; only a runner decides it", show::warn("•"))
        }
        "passed" => format!("  {} {check} passed{detail}", show::good("✔")),
        verdict => format!("  {} {check} {verdict}{detail}", show::warn("✘")),
    }
}

/// The sender's own words, behind a margin and under its name: they may claim anything.
fn said(item: &InboxItemDocument, sender: &SenderDocument) -> Vec<String> {
    let heading =
        format!("  in the package of {}, in its own words:", show::visible(&sender.agent));
    let mut lines = vec![show::dim(&heading)];
    for part in &sender.parts {
        let name = part.name.replace('_', " ");
        lines.extend(part.texts.iter().map(|it| show::block(&format!("{name}: {it}"))));
    }
    if sender.is_cut {
        let label = sender.handoff.as_ref().or(item.handoff.as_ref());
        let row = item.trail.iter().find(|it| Some(&it.label) == label);
        let whole = row.map(|it| format!(": `baton handoff show {}` has all of it", it.number));
        lines.push(show::dim(&format!("  shortened{}", whole.unwrap_or_default())));
    }
    lines
}
