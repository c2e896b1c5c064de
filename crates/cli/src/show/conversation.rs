//! The conversation of a run, and decisions, on a terminal.

use baton_api::{ConversationDecision, ConversationItemDocument, DecisionDocument};

use super::{TimeFormat, block, bold, dim, fields, one_line, visible, warn};

/// One part of a conversation: who, when, and what was said.
pub(crate) fn conversation_item(it: &ConversationItemDocument, times: &TimeFormat) -> String {
    let by = it
        .agent
        .as_ref()
        .map_or_else(|| visible(&it.by), |agent| visible(&agent.attribution.agent_name));
    let mut text = format!("{} {}", dim(&times.show(it.at)), bold(&by));
    if let Some(line) = &it.line {
        text += &format!("  {}", one_line(line));
    }
    for decision in &it.decisions {
        let said = one_line(&decision.decision);
        text += &format!("\n  decision {}{}: {said}", decision.number, marks(decision));
        if let Some(rationale) = &decision.rationale {
            text += &format!("\n{}", block(rationale));
        }
    }
    if let Some(words) = it.text.as_ref().filter(|it| !it.trim().is_empty()) {
        text += &format!("\n{}", block(words));
    }
    match it.tools.as_slice() {
        [] => {}
        [one] => text += &format!("\n  {}", dim(&one_line(one))),
        [first, .., last] => {
            let line = format!(
                "{} uses of tools: {} ... {}",
                it.tools.len(),
                one_line(first),
                one_line(last)
            );
            text += &format!("\n  {}", dim(&line));
        }
    }
    if !it.damaged.is_empty() {
        text += &format!("\n  {}", warn("the text is damaged; `baton verify` says more"));
    }
    text
}

/// ` (asked, open)`: whether it was only asked, and what became of it.
fn marks(it: &ConversationDecision) -> String {
    let asked = it.attribution.starts_with("Asked").then(|| "asked".to_owned());
    let status = it.status.as_deref().filter(|it| *it != "standing");
    let status = status.map(|status| match it.superseded_by {
        Some(no) => format!("{status} by {no}"),
        None => status.to_owned(),
    });
    let locked = it.locked_by.as_ref().map(|by| format!("locked by {}", visible(by)));
    let others = numbers(&it.conflicts_with);
    let conflicts = (!others.is_empty()).then(|| warn(&format!("contradicts {others}")));
    let marks: Vec<String> = [asked, status, locked, conflicts].into_iter().flatten().collect();
    if marks.is_empty() { String::new() } else { format!(" ({})", marks.join(", ")) }
}

/// One line of a list.
pub(crate) fn decision_line(it: &DecisionDocument) -> String {
    let number = it.record.as_ref().map_or_else(String::new, |it| format!("{} ", it.number));
    let status = it.record.as_ref().map_or("", |it| it.status.as_str());
    let status = if matches!(status, "" | "standing") { "" } else { status };
    let mut line = format!("{number}{}", one_line(&it.decision));
    if !status.is_empty() {
        line += &format!(" ({status})");
    }
    if let Some(record) = &it.record {
        if record.locked_by.is_some() {
            line += " (locked)";
        }
        if !record.conflicts_with.is_empty() {
            let others = numbers(&record.conflicts_with);
            line += &format!(" {}", warn(&format!("contradicts {others}")));
        }
    }
    // Of a question that was left open, the person's words are the decision.
    if let Some(words) = it.rationale.as_ref().filter(|_| it.asked_by.is_some()) {
        line += &format!("\n  {}", one_line(words));
    }
    line + &format!("\n  {}", dim(&attribution(it)))
}

/// A decision with its reasoning.
pub(crate) fn decision(it: &DecisionDocument) -> String {
    let mut lines = vec![
        ("decision", one_line(&it.decision)),
        ("by", attribution(it)),
        ("reasoning", one_line(it.rationale.as_deref().unwrap_or("none given"))),
    ];
    if let Some(handoff) = &it.handoff {
        lines.push(("handoff", handoff.clone()));
    }
    if let Some(record) = &it.record {
        lines.insert(0, ("number", record.number.to_string()));
        lines.push(("status", record.status.clone()));
        if let Some(subject) = &record.subject {
            lines.push(("subject", one_line(subject)));
        }
        for it in &record.alternatives {
            lines.push(("instead of", one_line(it)));
        }
        if let Some(by) = &record.locked_by {
            lines.push(("locked by", visible(by)));
            lines.extend(record.lock_reason.iter().map(|it| ("locked because", one_line(it))));
        }
        if let Some(no) = record.supersedes {
            lines.push(("supersedes", no.to_string()));
        }
        if let Some(no) = record.superseded_by {
            lines.push(("superseded by", no.to_string()));
        }
        for (name, others) in [
            ("depends on", &record.depends_on),
            ("rests on it", &record.dependents),
            ("contradicts", &record.conflicts_with),
        ] {
            if !others.is_empty() {
                lines.push((name, numbers(others)));
            }
        }
    }
    fields(lines)
}

/// Who decided, who asked where another did, and who wrote it down in an agent's name.
fn attribution(it: &DecisionDocument) -> String {
    let mut line = visible(&it.attribution);
    if let Some(asker) = &it.asked_by {
        line += &format!(", asked by {}", visible(&asker.attribution.agent_name));
    }
    if let Some(by) = &it.recorded_by {
        line += &format!(", recorded by {}", visible(by));
    }
    line
}

fn numbers(numbers: &[u32]) -> String {
    numbers.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
}
