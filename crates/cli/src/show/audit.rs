//! The audit log as a table.

use baton_api::AuditEntry;

use super::{TimeFormat, list, visible};

pub(crate) fn audit_table(entries: &[AuditEntry]) -> String {
    let times = TimeFormat::local();
    let cells = |it: &AuditEntry| {
        vec![
            it.number.to_string(),
            times.show(it.timestamp),
            format!("{}/{}", it.run, it.label),
            visible(&it.story),
            format!("{} → {}", visible(&it.from_agent_name), visible(&it.to_agent_name)),
            visible(it.step_name.as_deref().unwrap_or_default()),
            it.state.0.name().to_owned(),
            visible(it.reason.as_deref().unwrap_or_default()),
        ]
    };
    let headings = ["NO", "WHEN", "HANDOFF", "STORY", "FROM → TO", "STEP", "STATE", "REASON"];
    list(&headings, entries.iter().map(cells).collect())
}
