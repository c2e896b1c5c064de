//! `session.md` and `decisions.md`: a run as a Markdown page for people.

use std::fmt::Write as _;

use baton_core::document::Node;
use baton_core::event::{Event, GateEvent};
use baton_core::view::View;
use baton_store::HandoffRow;

use super::escaped::escaped;
use super::event_text::words;
use crate::history::{Handed, History, Logged};
use baton_engine::LOST_TEXT;

/// Who held what when, and the events in order.
pub(super) fn session(history: &History) -> String {
    let run = &history.row.run;
    let mut page = format!("# Session {}\n\n", run.id);
    let title = history.story.as_ref().map(|it| it.title.as_str());
    let title = title.filter(|it| *it != run.story.as_str()).map(escaped);
    let title = title.map(|it| format!(", {it}")).unwrap_or_default();
    let _ = writeln!(page, "- Story: {}{title}", escaped(run.story.as_str()));
    let _ = writeln!(page, "- Workflow: {}", run.workflow);
    let _ = writeln!(page, "- Owner: {}", escaped(run.owner.as_str()));
    let _ = writeln!(page, "- Started: {:.0}", run.started_at);
    let _ = writeln!(page, "- Status: {}", run.status.name());
    match (history.ended_at(), run.current_agent()) {
        (Some(ended), _) => {
            let _ = writeln!(page, "- Ended: {ended:.0}");
        }
        (None, Some(agent)) => {
            let phase = escaped(run.phase(&history.workflow));
            let _ = writeln!(page, "- With: {agent}, {phase}");
        }
        (None, None) => {}
    }
    page += "\n## Handoffs\n\n";
    page += "| handoff | from | to | kind | state | outcome | made | ended | reason |\n";
    page += "|---|---|---|---|---|---|---|---|---|\n";
    for row in &history.handoffs {
        page += &line(history, row);
    }
    page += "\n## What happened\n\n";
    for logged in &history.log {
        let _ = writeln!(page, "- {:.0} {}", logged.at, words(history, logged));
    }
    page
}

fn line(history: &History, row: &HandoffRow) -> String {
    let reason = history.text(row.reason).map_or(LOST_TEXT.to_owned(), escaped);
    let ended = row.ended_at.map(|it| format!("{it:.0}")).unwrap_or_default();
    let outcome = row.outcome.map(|it| it.name()).unwrap_or_default();
    format!(
        "| {} | {} | {} | {} | {} | {outcome} | {:.0} | {ended} | {reason} |\n",
        row.no,
        row.from.agent,
        row.to.agent,
        row.kind.name(),
        row.state.name(),
        row.created_at,
    )
}

/// The decisions: of agents in their packages, and of people at gates.
pub(super) fn decisions(history: &History) -> String {
    let mut page = format!("# Decisions of session {}\n", history.row.run.id);
    page += "\n## In packages\n\n";
    page += "| when | who | id | decision | why | handoff |\n|---|---|---|---|---|---|\n";
    for Handed { by, at, handoff, document } in history.packages() {
        for it in decided(&document) {
            let [id, decision, why] = it;
            let _ = writeln!(page, "| {at:.0} | {by} | {id} | {decision} | {why} | {handoff} |");
        }
    }
    page += "\n## By people\n\n";
    page += "| when | who | answer | why | handoff |\n|---|---|---|---|---|\n";
    for Logged { at, event, .. } in &history.log {
        let Event::Gate(GateEvent::Answered { handoff, answer, by, comment, .. }) = event else {
            continue;
        };
        let why = comment.map(|it| history.text(it).map_or(LOST_TEXT.to_owned(), escaped));
        let why = why.unwrap_or_default();
        let who = escaped(by.as_str());
        let _ = writeln!(page, "| {at:.0} | {who} | {} | {why} | {handoff} |", answer.name());
    }
    page
}

/// Id, decision and rationale of each decision in a package.
fn decided(document: &Node) -> impl Iterator<Item = [String; 3]> {
    View::of(document).decisions.into_iter().map(|it| {
        [it.id.unwrap_or_default(), it.decision, it.rationale.unwrap_or_default()]
            .map(|it| escaped(&it))
    })
}
