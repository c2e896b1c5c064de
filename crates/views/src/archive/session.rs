//! `session.md` and `decisions.md`: a run as a Markdown page for people.

use std::collections::HashSet;
use std::fmt::Write as _;

use baton_core::view::View;
use baton_store::HandoffRow;

use super::escaped::escaped;
use super::event_text::words;
use crate::decisions::{decisions_in, standing};
use crate::gate_record::GateRecord;
use crate::history::History;
use baton_engine::{LOST_TEXT, stored};

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

/// The decisions: of agents in the packages that count, and of people at gates.
pub(super) fn decisions(history: &History) -> String {
    let mut page = format!("# Decisions of session {}\n", history.row.run.id);
    page += "\n## In packages\n\n";
    page += "| when | who | id | decision | why | handoff |\n|---|---|---|---|---|---|\n";
    let gates = GateRecord::of(history);
    let mut listed = HashSet::new();
    for package in standing(&history.handoffs, &gates) {
        let document = history.content(package.id).and_then(stored::document);
        let decisions = document.map(|it| View::of(&it).decisions).unwrap_or_default();
        let by = package.person.map_or_else(|| package.by.to_string(), |it| escaped(it.as_str()));
        let (at, handoff) = (package.row.created_at, package.row.no);
        for it in decisions_in(decisions, &mut listed) {
            let [id, decision, why] =
                [it.id.unwrap_or_default(), it.decision, it.rationale.unwrap_or_default()]
                    .map(|it| escaped(&it));
            let _ = writeln!(page, "| {at:.0} | {by} | {id} | {decision} | {why} | {handoff} |");
        }
    }
    page += "\n## By people\n\n";
    page += "| when | who | answer | why | handoff |\n|---|---|---|---|---|\n";
    let name = |no| gates.name(no, &history.workflow);
    let votes = gates.earlier_votes();
    let votes =
        votes.map(|it| (it.at, &it.by, it.words(&name(it.handoff)), it.comment, it.handoff));
    let answers = gates.answers.iter();
    let answers =
        answers.map(|it| (it.at, &it.by, it.words(&name(it.handoff)), it.comment, it.handoff));
    let mut said: Vec<_> = votes.chain(answers).collect();
    said.sort_by_key(|it| (it.0, it.4));
    for (at, by, answer, comment, handoff) in said {
        let why = comment.map(|it| history.text(it).map_or(LOST_TEXT.to_owned(), escaped));
        let (who, answer) = (escaped(by.as_str()), escaped(&answer));
        let why = why.unwrap_or_default();
        let _ = writeln!(page, "| {at:.0} | {who} | {answer} | {why} | {handoff} |");
    }
    page
}
