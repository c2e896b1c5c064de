//! `[retention]` of a `baton.toml`: how long the texts of finished runs are kept.

use jiff::SignedDuration;

use crate::fields::{FieldAt, Fields};
use crate::file_problem::Problems;

pub(crate) const KEYS: &[&str] = &["messages"];

const HOURS_A_DAY: i64 = 24;
const MOST_DAYS: i64 = 36_500;

/// Nothing is dropped unless the project says so.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct RetentionSettings {
    /// How long after the end of a run its messages are kept: what agents printed and what was said.
    /// `None` for ever.
    pub messages: Option<SignedDuration>,
}

pub(super) fn settings(field: &FieldAt<'_>, problems: &mut Problems) -> RetentionSettings {
    let Some(fields) = Fields::open(field, KEYS, problems) else {
        return RetentionSettings::default();
    };
    let messages = fields.get("messages").and_then(|it| days(&it, problems));
    RetentionSettings { messages }
}

/// `90d`; a shorter time would drop what people still talk about.
fn days(field: &FieldAt<'_>, problems: &mut Problems) -> Option<SignedDuration> {
    let text = field.scalar(problems)?.trim();
    let days = text.strip_suffix('d').and_then(|it| it.trim().parse::<i64>().ok());
    let days = days.filter(|it| (1..=MOST_DAYS).contains(it));
    if days.is_none() {
        let message = "must be a number of days from 1 to 36500, such as `90d`";
        field.problem("wrong_duration", message, problems);
    }
    days.map(|it| SignedDuration::from_hours(it * HOURS_A_DAY))
}
