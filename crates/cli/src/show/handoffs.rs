//! Handoffs as tables, as a page, and as JSON.

use baton_core::content::ContentId;
use baton_core::document::{Node, Number};
use baton_core::gate::{Answer, Gate};
use baton_core::run::Party;
use baton_core::workflow::Place;
use baton_engine::Texts;
use baton_store::{HandoffRow, HandoffState};
use baton_wire::json;
use jiff::Timestamp;

use super::{Times, ago, dim, fields, shortened, table, visible, warn};

pub(crate) fn handoffs_table(rows: &[HandoffRow], texts: &Texts, now: Timestamp) -> String {
    let cells = |row: &HandoffRow| {
        let reason = texts.get(row.ended_reason.unwrap_or(row.reason)).unwrap_or("(redacted)");
        vec![
            row.number.to_string(),
            visible(row.story.as_str()),
            row.no.label(),
            format!("{} → {}", row.from.agent, row.to.agent),
            state_word(row),
            ago(row.ended_at.or(row.accepted_at).unwrap_or(row.created_at), now),
            shortened(reason, 60),
        ]
    };
    let headings = ["#", "STORY", "LABEL", "HANDOFF", "STATE", "SINCE", "REASON"];
    table(&headings, rows.iter().map(cells).collect())
}

pub(crate) fn handoff_page(row: &HandoffRow, texts: &Texts) -> String {
    let times = Times::local();
    let words = |id: ContentId| visible(texts.get(id).unwrap_or("(redacted)"));
    let mut rows = vec![
        ("handoff", format!("{} ({})", row.number, row.no)),
        ("id", row.id.0.to_string()),
        ("story", visible(row.story.as_str())),
        ("from", party(&row.from)),
        ("to", party(&row.to)),
        ("kind", row.kind.name().to_owned()),
        ("state", state_word(row)),
        ("reason", words(row.reason)),
    ];
    if let Some(outcome) = row.outcome {
        rows.push(("outcome", outcome.name().to_owned()));
    }
    if let Some(reason) = row.ended_reason {
        rows.push(("ended because", words(reason)));
    }
    if let Some(acknowledgement) = row.acknowledgement {
        rows.push(("understood as", words(acknowledgement)));
    }
    if let Some(follows) = row.follows {
        rows.push(("follows", follows.label()));
    }
    if let Some(by) = &row.approved_by {
        rows.push(("approved by", visible(by.as_str())));
    }
    if row.attempt > 1 {
        rows.push(("attempt", row.attempt.to_string()));
    }
    if !row.warnings.is_empty() {
        rows.push(("unverified", warn(&visible(&row.warnings.join(", ")))));
    }
    rows.push(("created", times.show(row.created_at)));
    rows.push(("accepted", times.show_some(row.accepted_at)));
    rows.push(("ended", times.show_some(row.ended_at)));
    let package = row.package.map(|it| package_text(it, texts));
    let package = package.unwrap_or_else(|| "(none)".to_owned());
    format!("{}\n\n{}\n{package}", fields(rows), dim("package"))
}

pub(crate) fn handoff_json(row: &HandoffRow, texts: &Texts) -> Node {
    let words = |id: ContentId| texts.get(id).map_or(Node::Null, Node::text);
    let some_words = |id: Option<ContentId>| id.map_or(Node::Null, words);
    let time = |at: Timestamp| Node::text(at.to_string());
    let some_time = |at: Option<Timestamp>| at.map_or(Node::Null, time);
    let package = row
        .package
        .and_then(|it| texts.get(it))
        .map_or(Node::Null, |text| json::parse(text).unwrap_or_else(|_| Node::text(text)));
    Node::map([
        ("number", number(row.number)),
        ("id", Node::text(row.id.0.to_string())),
        ("label", Node::text(row.no.label())),
        ("run", Node::text(row.run.to_string())),
        ("story", Node::text(row.story.as_str())),
        ("kind", Node::text(row.kind.name())),
        ("fromAgent", Node::text(row.from.agent.as_str())),
        ("fromStep", step(&row.from.place)),
        ("toAgent", Node::text(row.to.agent.as_str())),
        ("toStep", step(&row.to.place)),
        ("state", Node::text(row.state.name())),
        ("outcome", row.outcome.map_or(Node::Null, |it| Node::text(it.name()))),
        ("isStale", Node::Bool(row.is_stale)),
        ("attempt", number(row.attempt.into())),
        ("follows", row.follows.map_or(Node::Null, |it| Node::text(it.label()))),
        ("reason", words(row.reason)),
        ("endedReason", some_words(row.ended_reason)),
        ("acknowledgement", some_words(row.acknowledgement)),
        ("approvedBy", row.approved_by.as_ref().map_or(Node::Null, |it| Node::text(it.as_str()))),
        ("warnings", Node::List(row.warnings.iter().map(Node::text).collect())),
        ("package", package),
        ("createdAt", time(row.created_at)),
        ("acceptedAt", some_time(row.accepted_at)),
        ("endedAt", some_time(row.ended_at)),
    ])
}

/// Printed for people to read: one member a line where it is JSON.
fn package_text(id: ContentId, texts: &Texts) -> String {
    match texts.get(id) {
        Some(text) => {
            let pretty = json::parse(text).map(|it| json::print_pretty(&it));
            visible(&pretty.unwrap_or_else(|_| text.to_owned()))
        }
        None => "(redacted)".to_owned(),
    }
}

/// The command that answers a gate, with all that may be said.
pub(crate) fn what_to_answer(which: &str, gate: &Gate) -> String {
    let is_choice = |it: &&&str| !matches!(**it, "answer" | "modify");
    let choices: Vec<String> =
        gate.choices().iter().filter(is_choice).map(|it| it.replace('_', "-")).collect();
    let choices = choices.join("|");
    if gate.takes(&Answer::Reply) {
        return format!("baton answer {which} [{choices}] --comment TEXT");
    }
    format!("baton answer {which} {choices}")
}

fn state_word(row: &HandoffRow) -> String {
    match row.state {
        HandoffState::Open(_) if row.is_stale => warn(&format!("{}, stale", row.state.name())),
        HandoffState::Open(_) => row.state.name().to_owned(),
        HandoffState::Ended(_) => dim(row.state.name()),
    }
}

fn party(party: &Party) -> String {
    match &party.place {
        Place::Step(step) => format!("{} (step {step})", party.agent),
        Place::Delegate(_) => format!("{} (a part of the work)", party.agent),
        Place::Orchestrator | Place::Human => party.agent.to_string(),
    }
}

fn step(place: &Place) -> Node {
    match place {
        Place::Step(step) => Node::text(step.as_str()),
        Place::Orchestrator | Place::Human | Place::Delegate(_) => Node::Null,
    }
}

pub(super) fn number(number: u64) -> Node {
    Node::Number(Number::from(i64::try_from(number).unwrap_or(i64::MAX)))
}
