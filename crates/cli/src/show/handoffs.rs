//! Handoffs as tables and as a page.

use baton_api::{
    AnsweredGate, EvidenceDocument, GateDocument, HandoffDetail, HandoffExtras, HandoffSummary,
    OpenGate, Question,
};
use baton_core::names::AgentId;
use baton_core::run::{Kind, without_failure};
use baton_engine::LOST_TEXT;
use jiff::Timestamp;

use super::{
    TimeFormat, ago, as_caller, block, cell, counted, dim, fields, good, list_cutting, pretty,
    shortened, visible, warn,
};

/// The label of the first handoff of a run, which starts it.
const FIRST: &str = "HO-001";

/// Shown in place of a text that does not match its hash.
const DAMAGED: &str = "(damaged: see `baton verify`)";

pub(crate) fn handoffs_table(rows: &[HandoffSummary], now: Timestamp) -> String {
    let cells = |row: &HandoffSummary| {
        vec![
            row.number.to_string(),
            visible(&row.story),
            row.label.clone(),
            between(row, rows),
            state_word(row),
            ago(row.ended_at.or(row.accepted_at).unwrap_or(row.created_at), now),
            cell(last_words(row), 60),
        ]
    };
    let headings = ["#", "STORY", "LABEL", "HANDOFF", "STATE", "SINCE", "REASON"];
    // The reason is in `baton handoff show` too.
    list_cutting(&headings, rows.iter().map(cells).collect(), &[6])
}

/// The two sides. Where the orchestrator asks a person, the agent that is blocked is named too, if
/// its handoff is among `rows`.
fn between(row: &HandoffSummary, rows: &[HandoffSummary]) -> String {
    let sides = format!("{} → {}", row.from_agent, row.to_agent);
    let is_asked = row.from_agent == AgentId::ORCHESTRATOR && row.to_agent == AgentId::HUMAN;
    let is_before =
        |it: &&HandoffSummary| it.run_id == row.run_id && Some(&it.label) == row.follows.as_ref();
    match rows.iter().find(is_before).filter(|_| is_asked) {
        Some(blocked) => format!("{sides}, for {}", blocked.to_agent),
        None => sides,
    }
}

/// How often the orchestrator offered work of the run again. What failed its checks goes back, and is
/// not offered again.
pub(crate) fn n_offered_again(rows: &[HandoffSummary]) -> usize {
    let is_again = |it: &&HandoffSummary| {
        let is_return = it.kind.name() == Kind::Return.name();
        let is_to_step = it.to_step.is_some() && !is_return;
        it.from_agent == AgentId::ORCHESTRATOR && is_to_step && it.label != FIRST
    };
    rows.iter().filter(is_again).count()
}

pub(crate) fn handoff_page(detail: &HandoffDetail) -> String {
    let row = &detail.handoff.row;
    let times = TimeFormat::local();
    let mut rows = vec![
        ("handoff", format!("{} ({})", row.number, row.label)),
        ("id", row.id.to_string()),
        ("story", visible(&row.story)),
        ("from", party(&row.from_agent, &detail.beside.from_name, row.from_step.as_deref())),
        ("to", party(&row.to_agent, &detail.beside.to_name, row.to_step.as_deref())),
        ("kind", row.kind.name().to_owned()),
        ("state", state_word(row)),
        ("reason", visible(row.reason.as_deref().map_or(LOST_TEXT, without_failure))),
    ];
    if let Some(outcome) = row.outcome {
        rows.push(("outcome", outcome.name().to_owned()));
    }
    if let Some(reason) = &row.ended_reason {
        rows.push(("ended because", visible(without_failure(reason))));
    }
    if let Some(acknowledgement) = &row.acknowledgement {
        rows.push(("understood as", visible(acknowledgement)));
    }
    if let Some(follows) = &row.follows {
        rows.push(("follows", follows.clone()));
    }
    if let Some(by) = &row.approved_by {
        rows.push(("approved by", visible(by)));
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
    let package = detail.handoff.package.as_deref().map(|it| block(&package_text(it.get())));
    let package = package.unwrap_or_else(|| "  (none)".to_owned());
    let mut page = format!("{}\n\n{}\n{package}", fields(rows), dim("package"));
    for words in beside(&detail.beside) {
        page += &format!("\n\n{words}");
    }
    page
}

/// Related items of a handoff, each in a paragraph of its own.
fn beside(beside: &HandoffExtras) -> Vec<String> {
    let mut words = Vec::new();
    if let (Some(fence), Some(seconds)) = (beside.fence, beside.lease_seconds) {
        let every = counted(seconds.into(), "second");
        words.push(format!("held with fence {fence}; a heartbeat is due at least every {every}"));
    }
    if !beside.evidence.is_empty() {
        let posted = |is_claim: bool| {
            let posted = beside.evidence.iter().filter(move |it| !it.is_observed);
            posted.filter(move |it| it.is_claim == is_claim).map(posted_words).collect()
        };
        let (claimed, recorded): (Vec<String>, Vec<String>) = (posted(true), posted(false));
        if !recorded.is_empty() {
            words.push(format!("recorded: {}", recorded.join(", ")));
        }
        if !claimed.is_empty() {
            let claimed = claimed.join(", ");
            words.push(warn(&format!("claimed, and only a runner decides it: {claimed}")));
        }
        words.extend(beside.evidence.iter().filter(|it| it.is_observed).map(observed));
    }
    words.extend(unverified(&beside.unverified));
    words.extend(beside.questions.iter().map(exchange));
    words.extend(beside.question.as_ref().map(asked));
    words
}

/// The claims of a package that no check of Baton's has confirmed.
pub(crate) fn unverified(claims: &[String]) -> Option<String> {
    const MOST: usize = 10;
    if claims.is_empty() {
        return None;
    }
    let mut shown: Vec<String> = claims.iter().take(MOST).map(|it| shortened(it, 80)).collect();
    if claims.len() > MOST {
        shown.push(format!("and {} more", claims.len() - MOST));
    }
    Some(warn(&format!("not verified: no check has confirmed {}", shown.join(", "))))
}

/// A posted result, with the caller who posted it.
fn posted_words(it: &EvidenceDocument) -> String {
    let by = it.by.as_ref().map_or_else(String::new, |by| format!(", by {}", visible(by)));
    match &it.detail {
        Some(detail) => format!("{} {} ({}){by}", it.check, it.verdict, shortened(detail, 200)),
        None => format!("{} {}{by}", it.check, it.verdict),
    }
}

/// What Baton's runner saw of a check.
fn observed(it: &EvidenceDocument) -> String {
    let mut line = format!("Baton ran {}: {}", it.check, it.verdict);
    if let Some(code) = it.exit_code {
        line += &format!(", exit code {code}");
    }
    if let Some(millis) = it.millis {
        line += &format!(", {millis} ms");
    }
    if let Some(commit) = &it.commit {
        line += &format!(", at commit {}", visible(commit));
    }
    match &it.detail {
        Some(detail) => format!("{line}\n{}", block(detail)),
        None => line,
    }
}

fn exchange(it: &Question) -> String {
    let question = format!("{} asked {}:\n{}", it.from, it.to, block(&it.question));
    match &it.answer {
        Some(answer) => format!("{question}\n  {}\n{}", good("answer:"), block(answer)),
        None if it.is_open => {
            format!("{question}\n  baton handoff answer {} --text TEXT", it.number)
        }
        None => format!("{question}\n  {}", dim("withdrawn")),
    }
}

fn asked(asked: &GateDocument) -> String {
    match asked {
        GateDocument::Open(OpenGate {
            why, command, approvals, content_hash, reminded_at, ..
        }) => {
            let mut lines = vec![warn(&visible(why))];
            lines.extend(approvals.iter().flat_map(super::approvals).map(|it| format!("  {it}")));
            lines.extend(content_hash.as_ref().map(|it| format!("  content hash {}", visible(it))));
            lines
                .extend(reminded_at.map(|it| {
                    format!("  a reminder was sent at {}", TimeFormat::local().show(it))
                }));
            lines.push(format!("  {}", visible(&as_caller(command))));
            lines.push("  baton inbox   says what each would do".to_owned());
            lines.join("\n")
        }
        GateDocument::Answered(AnsweredGate {
            answer,
            by,
            comment,
            at,
            approvals,
            delegated,
            ..
        }) => {
            let at = TimeFormat::local().show(*at);
            let comment = comment.as_deref();
            let comment = comment.map_or_else(String::new, |it| format!("\n{}", block(it)));
            let given = super::given_approvals(approvals);
            let given: Vec<String> = given.iter().map(|it| format!("\n  {it}")).collect();
            let passed = delegated.iter().map(|it| {
                let comment = it.comment.as_ref().map(|it| format!(": {}", super::one_line(it)));
                let (by, to) = (visible(&it.by), visible(&it.to));
                format!("\n  {by} passed the vote on to {to}{}", comment.unwrap_or_default())
            });
            let given = given.concat() + &passed.collect::<String>();
            format!("answered {} by {} at {at}{comment}{given}", good(answer), visible(by))
        }
    }
}

/// Why it ended, else why it was created. A question ends with its answer, and is still a question.
fn last_words(row: &HandoffSummary) -> &str {
    let members = [("endedReason", &row.ended_reason), ("reason", &row.reason)];
    let is_question = row.kind.name() == Kind::Question.name();
    let members = if is_question { &members[1..] } else { &members[..] };
    let texts = members.iter().map(|(name, text)| match text {
        None if row.damaged.iter().any(|it| it == name) => Some(DAMAGED),
        text => text.as_deref().map(without_failure),
    });
    texts.flatten().next().unwrap_or(LOST_TEXT)
}

fn state_word(row: &HandoffSummary) -> String {
    let word = row.state.word(row.ended_reason.as_deref());
    match row.state.is_open() {
        true if row.is_stale => warn(&format!("{word}, stale")),
        true => word.to_owned(),
        false => dim(word),
    }
}

/// The id, which is what is typed, and the name, which is what people read.
fn party(agent: &str, name: &str, step: Option<&str>) -> String {
    let name = visible(name);
    match step {
        Some(step) => format!("{agent} ({name}, step {step})"),
        None if agent == AgentId::HUMAN || agent == AgentId::ORCHESTRATOR => agent.to_owned(),
        None => format!("{agent} ({name}, a part of the work)"),
    }
}

/// JSON with one member per line; a text of another format as it was written.
fn package_text(package: &str) -> String {
    match serde_json::from_str::<String>(package) {
        Ok(text) => text.trim_end().to_owned(),
        Err(_) => pretty(package),
    }
}
