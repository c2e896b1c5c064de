//! Handoffs, newest first: who handed what to whom, why, how it ended, and the package.

use std::collections::HashMap;

use baton_core::content::ContentId;
use baton_core::document::Node;
use baton_core::gate::{Answer, Gate, GateCause};
use baton_core::names::Principal;
use baton_core::outcome::Outcome;
use baton_core::run::{Ended, HandoffNo, HandoffState, Kind, Party, RunId, without_failure};
use baton_core::workflow::Workflow;
use baton_engine::{DAMAGED_TEXT, EngineError, LOST_TEXT, Text, Texts};
use baton_store::{HandoffFilter, HandoffRef, HandoffRow, RunRow};
use baton_views::{Cast, GateRecord};
use baton_wire::json;

use super::html::Html;
use super::who;
use crate::scope::RequestScope;
use crate::v1::step_title;

/// How much of a package is shown on a page with many; the handoff's own page shows all of it.
const MOST_CHARS: usize = 2000;
/// If a run has more handoffs, the newest are read one by one, instead of all.
const FEW: u32 = 64;

/// A longer text is shown once in a list.
const MOST_REPEATED: usize = 120;

/// How much is shown on the handoff's own page, where one character may take forty bytes of markup.
const MOST_PAGE_BYTES: usize = 256 * 1024;

/// How much of each package is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Packages {
    Begun,
    Whole,
}

/// The newest handoffs of a run, newest first.
pub(super) async fn newest(
    app: &RequestScope,
    run: &RunRow,
    n_wanted: u32,
) -> Result<Vec<HandoffRow>, EngineError> {
    let id = run.run.id;
    let mut rows = Vec::new();
    if run.run.n_handoffs <= FEW {
        let filter = HandoffFilter { run: Some(id), ..HandoffFilter::default() };
        rows = app.read().handoffs(&filter).await?;
        rows.reverse();
        rows.truncate(n_wanted as usize);
        return Ok(rows);
    }
    let oldest = run.run.n_handoffs.saturating_sub(n_wanted) + 1;
    for no in (oldest..=run.run.n_handoffs).rev() {
        let which = HandoffRef::InRun(id, baton_core::run::HandoffNo(no));
        rows.extend(app.read().find_handoff(&which).await?);
    }
    Ok(rows)
}

/// What handoffs are shown with.
#[derive(Clone, Copy)]
pub(super) struct HistoryScene<'a> {
    pub(super) texts: &'a Texts,
    pub(super) cast: &'a Cast,
    pub(super) gates: &'a ShownGates,
    pub(super) workflow: &'a Workflow,
}

/// The gates of a run, with what people wrote at them.
pub(super) struct ShownGates {
    record: GateRecord,
    comments: Texts,
}

impl ShownGates {
    pub(super) async fn load(app: &RequestScope, run: RunId) -> Result<Self, EngineError> {
        let record = app.read().gate_record(run).await?;
        let comments = app.read().texts(run, record.comments()).await?;
        Ok(Self { record, comments })
    }
}

pub(super) fn render(html: &mut Html, rows: &[HandoffRow], scene: &HistoryScene<'_>) {
    html.raw("<ol class=\"history\" reversed>");
    let repeats = Repeats::of(rows, scene.texts);
    for row in rows {
        html.raw("<li class=\"handoff ").raw(tone(row, scene.texts)).raw("\">");
        handoff(html, row, scene, Packages::Begun, &repeats);
        html.raw("</li>");
    }
    html.raw("</ol>");
}

/// The handoffs with which long texts are shown: each once in a list, though it may be the reason of one and
/// the end of another.
#[derive(Default)]
pub(super) struct Repeats(HashMap<String, HandoffNo>);

impl Repeats {
    fn of(rows: &[HandoffRow], texts: &Texts) -> Self {
        let mut first = HashMap::new();
        for row in rows {
            for id in [Some(row.reason), row.ended_reason].into_iter().flatten() {
                let text = whole(texts, Some(id));
                if let Some(text) = text.filter(|it| it.chars().count() > MOST_REPEATED) {
                    first.entry(text.to_owned()).or_insert(row.no);
                }
            }
        }
        Self(first)
    }

    fn elsewhere(&self, row: &HandoffRow, text: Option<&str>) -> Option<HandoffNo> {
        self.0.get(text?).copied().filter(|it| *it != row.no)
    }
}

fn whole(texts: &Texts, id: Option<ContentId>) -> Option<&str> {
    id.and_then(|it| texts.get(it).whole())
}

/// One handoff, on any page.
pub(super) fn handoff(
    html: &mut Html,
    row: &HandoffRow,
    scene: &HistoryScene<'_>,
    packages: Packages,
    repeats: &Repeats,
) {
    let HistoryScene { texts, gates, .. } = *scene;
    html.raw("<p class=\"line\">");
    party(html, &row.from, row, scene);
    html.raw("<span class=\"arrow\" aria-label=\"to\">→</span>");
    party(html, &row.to, row, scene);
    let word = row.state.word(whole(texts, row.ended_reason));
    html.raw(" <span class=\"word\">").raw(word).raw("</span>");
    let answer = gates.record.answer_to(row.no);
    if row.kind != Kind::Sequential {
        html.raw(" <span class=\"kind\">").raw(kind(row, gates)).raw("</span>");
    }
    if row.attempt > 1 {
        html.raw(" <span class=\"kind\">attempt ").number(row.attempt).raw("</span>");
    }
    if row.is_stale {
        html.raw(" <span class=\"word warn\">stale</span>");
    }
    html.raw(" <a class=\"label\" href=\"/handoffs/").number(row.number).raw("\">");
    html.text(&row.no.label()).raw("</a></p>");
    let is_reject = answer.is_some_and(|it| it.answer == Answer::Reject);
    times(html, row, word, row.outcome.filter(|_| !is_reject));
    if row.kind == Kind::Question {
        exchange(html, row, texts);
    } else {
        reason(html, row, scene, repeats);
        match repeats.elsewhere(row, whole(texts, row.ended_reason)) {
            Some(no) => same_as(html, ended_because(row, word), no, "why"),
            None => said(html, ended_because(row, word), row.ended_reason, texts, "why"),
        }
    }
    answered(html, row, gates);
    let approved_by = gates.record.approved_by(row);
    if !approved_by.is_empty() {
        html.raw("<p class=\"approved\"><span class=\"tag\">Approved by</span> ");
        html.words(&names(&approved_by)).raw("</p>");
    }
    if !row.warnings.is_empty() {
        html.raw("<p class=\"unverified\"><span class=\"tag\">Not verified</span> ");
        html.words(&row.warnings.join(", ")).raw("</p>");
    }
    document(html, "Understood as", "a", row, row.acknowledgement, texts, packages);
    document(html, "Package", "p", row, row.package, texts, packages);
}

/// An agent as it was shown then, or as it is today with a note that the record is damaged.
fn party(html: &mut Html, party: &Party, row: &HandoffRow, scene: &HistoryScene<'_>) {
    let (id, cast) = (&party.agent, scene.cast);
    let step = step_title(scene.workflow, &party.place);
    who::agent_at(html, &cast.at(id, row.no), step.as_deref());
    if cast.is_damaged(id, row.no) {
        html.raw(" <em>").words(DAMAGED_TEXT).raw("</em>");
    }
}

fn times(html: &mut Html, row: &HandoffRow, word: &'static str, outcome: Option<Outcome>) {
    html.raw("<p class=\"times\">created ").time(row.created_at);
    if let Some(at) = row.accepted_at {
        html.raw(", accepted ").time(at);
    }
    if let Some(at) = row.ended_at {
        html.raw(", ").raw(word).raw(" ").time(at);
    }
    if let Some(outcome) = outcome {
        html.raw(", outcome ").raw(outcome.name());
    }
    html.raw("</p>");
}

/// A person's words stand under the person's name, and the sender's under none: it is the sender's handoff.
fn reason(html: &mut Html, row: &HandoffRow, scene: &HistoryScene<'_>, repeats: &Repeats) {
    if let Some(no) = repeats.elsewhere(row, whole(scene.texts, Some(row.reason))) {
        return same_as(html, "Reason", no, "reason");
    }
    let Some(person) = scene.gates.record.author_of_reason(row) else {
        return said(html, "Reason", Some(row.reason), scene.texts, "reason");
    };
    html.raw("<p class=\"reason\"><span class=\"tag\">").words(person.by.as_str());
    html.raw(" says</span> ");
    words_of(html, scene.texts.get(row.reason));
    html.raw("</p>");
}

/// Every vote, every vote that was passed on, and the answer of a gate.
fn answered(html: &mut Html, row: &HandoffRow, gates: &ShownGates) {
    let comment = |html: &mut Html, id: Option<ContentId>| {
        if let Some(id) = id {
            html.raw(": ");
            words_of(html, gates.comments.get(id));
        }
        html.raw("</p>");
    };
    for it in gates.record.delegations_at(row.no) {
        html.raw("<p class=\"answer\"><span class=\"tag\">Vote</span> ").words(it.by.as_str());
        html.raw(" passed it on to ").words(it.to.as_str()).raw(" ").time(it.at);
        comment(html, it.comment);
    }
    for it in gates.record.votes_at(row.no) {
        html.raw("<p class=\"answer\"><span class=\"tag\">Approval</span> ").words(it.by.as_str());
        if let Some(named) = it.on_behalf_of.first() {
            html.raw(" for ").words(named.as_str());
        }
        html.raw(" ").time(it.at);
        comment(html, it.comment);
    }
    if let Some(it) = gates.record.answer_to(row.no) {
        html.raw("<p class=\"answer\"><span class=\"tag\">Answered</span> ");
        html.text(it.answer.name()).raw(" by ").words(&names(&gates.record.answered_by(row.no)));
        html.raw(" ").time(it.at);
        let is_told = gates.record.votes_at(row.no).any(|vote| vote.comment == it.comment);
        comment(html, it.comment.filter(|_| !is_told));
    }
}

fn names(people: &[Principal]) -> String {
    people.iter().map(Principal::as_str).collect::<Vec<_>>().join(", ")
}

fn exchange(html: &mut Html, row: &HandoffRow, texts: &Texts) {
    said(html, "Question", Some(row.reason), texts, "question");
    match row.state {
        HandoffState::Ended(Ended::Completed) => {
            said(html, "Answer", row.ended_reason, texts, "answer");
        }
        HandoffState::Ended(_) => said(html, "Ended because", row.ended_reason, texts, "why"),
        HandoffState::Open(_) => {
            html.raw("<p class=\"answer open\">Not answered yet</p>");
        }
    }
}

fn same_as(html: &mut Html, what: &'static str, no: HandoffNo, class: &'static str) {
    html.raw("<p class=\"").raw(class).raw("\"><span class=\"tag\">").raw(what);
    html.raw("</span> the same text as with ").text(&no.label()).raw("</p>");
}

fn said(
    html: &mut Html,
    what: &'static str,
    words: Option<ContentId>,
    texts: &Texts,
    class: &'static str,
) {
    let Some(id) = words else { return };
    html.raw("<p class=\"").raw(class).raw("\"><span class=\"tag\">").raw(what).raw("</span> ");
    words_of(html, texts.get(id));
    html.raw("</p>");
}

fn words_of(html: &mut Html, text: Text<'_>) {
    match text {
        Text::Whole(text) => html.words(without_failure(text)),
        Text::Gone => html.raw("<em>").words(LOST_TEXT).raw("</em>"),
        Text::Damaged => html.raw("<em>").words(DAMAGED_TEXT).raw("</em>"),
    };
}

fn ended_because(row: &HandoffRow, word: &str) -> &'static str {
    match row.state {
        HandoffState::Ended(Ended::TimedOut) if word != row.state.name() => "Failed because",
        HandoffState::Ended(Ended::Rejected) => "Rejected because",
        HandoffState::Ended(Ended::TimedOut) => "Timed out because",
        HandoffState::Ended(Ended::Completed) => "Answer",
        HandoffState::Ended(Ended::Cancelled | Ended::Superseded) | HandoffState::Open(_) => {
            "Ended because"
        }
    }
}

/// A collapsible document; expanded if it has the page for itself.
fn document(
    html: &mut Html,
    what: &'static str,
    key: &'static str,
    row: &HandoffRow,
    id: Option<ContentId>,
    texts: &Texts,
    packages: Packages,
) {
    let Some(id) = id else { return };
    let text = match texts.get(id) {
        Text::Whole(text) => Ok(pretty(text, packages)),
        Text::Gone => Err(LOST_TEXT),
        Text::Damaged => Err(DAMAGED_TEXT),
    };
    // The orchestrator's first package is often empty.
    if text.as_ref().is_ok_and(|it| it == "{}") {
        return;
    }
    html.raw("<details class=\"package\" id=\"").raw(key).raw("-").number(row.number).raw("\"");
    if packages == Packages::Whole {
        html.raw(" open");
    }
    html.raw("><summary>").raw(what).raw("</summary>");
    match text {
        Ok(text) => contents(html, row, text, packages),
        Err(why_not) => {
            html.raw("<p><em>").words(why_not).raw("</em></p>");
        }
    }
    html.raw("</details>");
}

fn contents(html: &mut Html, row: &HandoffRow, text: String, packages: Packages) {
    let n_chars = text.chars().count();
    let most = match packages {
        Packages::Begun => MOST_CHARS,
        Packages::Whole => MOST_PAGE_BYTES,
    };
    let is_cut = n_chars > most;
    let shown: String = if is_cut { text.chars().take(most).collect() } else { text };
    html.raw("<pre tabindex=\"0\" dir=\"auto\">").text(&shown).raw("</pre>");
    if !is_cut {
        return;
    }
    match packages {
        Packages::Begun => html.raw("<p><a href=\"/handoffs/").number(row.number).raw("\">"),
        Packages::Whole => {
            html.raw("<p><a href=\"/api/v1/handoffs/").number(row.number).raw("/package\">")
        }
    };
    html.raw("All of it</a> (").number(n_chars as u64).raw(" characters)</p>");
}

/// JSON with one member a line; a JSON string without its quotes. A package larger than is shown
/// stays as it was written.
fn pretty(text: &str, packages: Packages) -> String {
    let most = match packages {
        Packages::Begun => 8 * MOST_CHARS,
        Packages::Whole => MOST_PAGE_BYTES,
    };
    if text.len() > most {
        return text.to_owned();
    }
    match json::parse(text) {
        Ok(Node::Text(text)) => text,
        Ok(node) => json::print_pretty(&node),
        Err(_) => text.to_owned(),
    }
}

/// A gate that the workflow declares is no escalation: no agent asked for it.
fn kind(row: &HandoffRow, gates: &ShownGates) -> &'static str {
    let is_declared = |it: &Gate| it.cause == GateCause::Declared;
    match gates.record.gate(row.no).is_some_and(is_declared) {
        true => "gate",
        false => row.kind.name(),
    }
}

fn tone(row: &HandoffRow, texts: &Texts) -> &'static str {
    match row.state {
        HandoffState::Open(_) if row.to.agent.is_human() => "waits",
        HandoffState::Open(_) => "open",
        HandoffState::Ended(Ended::Completed) => "completed",
        HandoffState::Ended(Ended::Rejected) => "rejected",
        HandoffState::Ended(Ended::TimedOut) => {
            match row.state.word(whole(texts, row.ended_reason)) {
                "failed" => "rejected",
                _ => "timed-out",
            }
        }
        HandoffState::Ended(Ended::Cancelled | Ended::Superseded) => "cancelled",
    }
}
