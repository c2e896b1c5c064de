//! `session.md`: a run as a Markdown page for people.

use std::fmt::Write as _;

use baton_store::HandoffRow;

use super::escaped::escaped;
use super::event_text::words;
use crate::gate_record::GateRecord;
use crate::history::History;
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
        (None, Some(_)) => {
            let phase = escaped(run.phase(&history.workflow));
            let agents: Vec<&str> = run.current_agents().map(|it| it.as_str()).collect();
            let _ = writeln!(page, "- With: {}, {phase}", agents.join(" and "));
        }
        (None, None) => {}
    }
    page += "\n## Handoffs\n\n";
    page += "| handoff | from | to | kind | state | outcome | made | ended | reason |\n";
    page += "|---|---|---|---|---|---|---|---|---|\n";
    let gates = GateRecord::of(history);
    for row in &history.handoffs {
        page += &line(history, &gates, row);
    }
    page += "\n## What happened\n\n";
    for logged in &history.log {
        let _ = writeln!(page, "- {:.0} {}", logged.at, words(history, logged));
    }
    page
}

fn line(history: &History, gates: &GateRecord, row: &HandoffRow) -> String {
    let reason = history.text(row.reason).map_or(LOST_TEXT.to_owned(), escaped);
    let ended = row.ended_at.map(|it| format!("{it:.0}")).unwrap_or_default();
    let outcome = match gates.answer_to(row.no) {
        // What the person said is how a gate ended.
        Some(it) => format!("{} by {}", it.answer.name(), escaped(it.by.as_str())),
        None => row.outcome.map(|it| it.name().to_owned()).unwrap_or_default(),
    };
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
