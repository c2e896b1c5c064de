//! `decisions.md`: what was decided in a run, by whom, when and why, as a Markdown page for people.

use std::fmt::Write as _;

use super::escaped::escaped;
use crate::decisions::{Decided, DecisionRecord};
use crate::gate_record::GateRecord;
use crate::history::History;
use baton_engine::LOST_TEXT;

/// The decisions, and what people answered at gates.
pub(super) fn decisions(history: &History) -> String {
    let mut page = format!("# Decisions of session {}\n", history.row.run.id);
    page += "\n## Decisions\n\n";
    page += "| no | when | who | id | decision | why | status | handoff |\n";
    page += "|---|---|---|---|---|---|---|---|\n";
    // The other answers of people have a list of their own.
    let is_listed = |it: &&Decided| it.record.is_some() || it.answer.is_none();
    for it in history.decided.iter().filter(is_listed) {
        page += &line(it);
    }
    page += "\n## By people\n\n";
    page += "| when | who | answer | why | handoff |\n|---|---|---|---|---|\n";
    let gates = GateRecord::of(history);
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

fn line(it: &Decided) -> String {
    let no = it.record.as_ref().map(|it| it.no.to_string()).unwrap_or_default();
    let who = match &it.asked_by {
        Some(asker) => format!("{}, asked by {}", it.author(), asker.agent.label()),
        None if it.is_only_asked() => format!("asked by {}", it.author()),
        None => it.author(),
    };
    let own_id = it.decision.id.as_deref().unwrap_or_default();
    let why = it.decision.rationale.as_deref().unwrap_or_default();
    let status = it.record.as_ref().map(status).unwrap_or_default();
    let [who, own_id, decision, why, status] =
        [&who, own_id, &it.decision.decision, why, &status].map(escaped);
    let handoff = it.row.as_ref().map(|it| it.no.label()).unwrap_or_default();
    let at = it.at;
    format!("| {no} | {at:.0} | {who} | {own_id} | {decision} | {why} | {status} | {handoff} |\n")
}

/// `superseded by 3; about storage; instead of MySQL`.
fn status(record: &DecisionRecord) -> String {
    let numbers = |list: &[u32]| {
        let list: Vec<String> = list.iter().map(ToString::to_string).collect();
        (!list.is_empty()).then(|| list.join(", "))
    };
    let status = match record.superseded_by {
        Some(no) => format!("{} by {no}", record.status.name()),
        None => record.status.name().to_owned(),
    };
    let alternatives = record.alternatives.join(", ");
    let parts = [
        ("locked by", record.locked_by.as_ref().map(ToString::to_string)),
        ("about", record.subject.clone()),
        ("instead of", Some(alternatives).filter(|it| !it.is_empty())),
        ("supersedes", record.supersedes.map(|it| it.to_string())),
        ("depends on", numbers(&record.depends_on)),
        ("contradicts", numbers(&record.conflicts_with)),
    ];
    let parts = parts.into_iter().filter_map(|(what, it)| Some(format!("{what} {}", it?)));
    std::iter::once(status).chain(parts).collect::<Vec<_>>().join("; ")
}
