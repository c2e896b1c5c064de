//! The audit log as a table.

use baton_api::AuditEntry;

use super::table::{list_within, terminal_width};
use super::{TimeFormat, dim, shortened, visible};

/// From this width on, an entry fits into one line with enough of its reason.
const WIDE: u16 = 120;

/// One line for each entry; on a narrow terminal two.
pub(crate) fn audit_table(entries: &[AuditEntry]) -> String {
    let times = TimeFormat::local();
    let rows: Vec<AuditRow> = entries.iter().map(|it| AuditRow::of(it, &times)).collect();
    table_within(terminal_width(), rows)
}

/// The texts of one entry.
struct AuditRow {
    number: String,
    when: String,
    handoff: String,
    story: String,
    sides: String,
    step: String,
    state: String,
    reason: String,
}

impl AuditRow {
    fn of(it: &AuditEntry, times: &TimeFormat) -> Self {
        Self {
            number: it.number.to_string(),
            when: times.show(it.timestamp),
            handoff: format!("{}/{}", it.run, it.label),
            story: visible(&it.story),
            sides: format!("{} → {}", visible(&it.from_agent_name), visible(&it.to_agent_name)),
            step: visible(it.step_name.as_deref().unwrap_or_default()),
            state: match (&it.answer, &it.answered_by) {
                (Some(answer), Some(by)) => format!("{} by {}", visible(answer), visible(by)),
                (Some(_), None) | (None, _) => it.state.0.name().to_owned(),
            },
            reason: visible(it.reason.as_deref().unwrap_or_default()),
        }
    }
}

fn table_within(width: Option<u16>, rows: Vec<AuditRow>) -> String {
    let Some(width) = width.filter(|it| *it < WIDE) else {
        let headings = ["NO", "WHEN", "HANDOFF", "STORY", "FROM → TO", "STEP", "STATE", "REASON"];
        let cells = |it: AuditRow| {
            vec![it.number, it.when, it.handoff, it.story, it.sides, it.step, it.state, it.reason]
        };
        return list_within(width, &headings, rows.into_iter().map(cells).collect());
    };
    let below: Vec<String> = rows.iter().map(|it| below(it, width)).collect();
    let cells = |it: AuditRow| vec![it.number, it.when, it.handoff, it.state, it.sides];
    let headings = ["NO", "WHEN", "HANDOFF", "STATE", "FROM → TO"];
    let above = list_within(Some(width), &headings, rows.into_iter().map(cells).collect());
    let mut lines = above.lines();
    let mut all: Vec<String> = lines.next().map(str::to_owned).into_iter().collect();
    for (line, below) in lines.zip(below) {
        all.push(line.to_owned());
        all.push(below);
    }
    all.join("\n")
}

/// The rest of an entry in the line under it.
fn below(row: &AuditRow, width: u16) -> String {
    let parts = [&row.story, &row.step, &row.reason].into_iter().filter(|it| !it.is_empty());
    let text = parts.map(String::as_str).collect::<Vec<_>>().join(", ");
    dim(&format!("    {}", shortened(&text, usize::from(width).saturating_sub(5))))
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use super::*;

    #[track_caller]
    fn check(width: Option<u16>, expected: &Expect) {
        let row = AuditRow {
            number: "1".to_owned(),
            when: "2026-11-18 05:17:33 UTC".to_owned(),
            handoff: "1/HO-001".to_owned(),
            story: "shop:12".to_owned(),
            sides: "Orchestrator → Analyst".to_owned(),
            step: "Analyze".to_owned(),
            state: "completed".to_owned(),
            reason: "The story needs a plan before anybody writes code".to_owned(),
        };
        let drawn = table_within(width, vec![row]);
        expected.assert_eq(&anstream::adapter::strip_str(&drawn).to_string());
    }

    #[test]
    fn a_narrow_terminal_has_the_time_and_both_names_of_each_entry() {
        check(
            Some(80),
            &expect![[r#"
                NO  WHEN                     HANDOFF   STATE      FROM → TO
                1   2026-11-18 05:17:33 UTC  1/HO-001  completed  Orchestrator → Analyst
                    shop:12, Analyze, The story needs a plan before anybody writes code"#]],
        );
        check(
            None,
            &expect![[r#"
                NO  WHEN                     HANDOFF   STORY    FROM → TO               STEP     STATE      REASON
                1   2026-11-18 05:17:33 UTC  1/HO-001  shop:12  Orchestrator → Analyst  Analyze  completed  The story needs a plan before anybody writes code"#]],
        );
    }
}
