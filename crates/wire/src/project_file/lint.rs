//! `[lint]` of a `baton.toml`: the thresholds, and which rules are silenced for which reason.

use baton_core::lint::{LintRule, Settings, Silence};

use crate::fields::{FieldAt, Fields};
use crate::file_problem::Problems;
use crate::workflow_file::score;

pub(crate) const KEYS: &[&str] = &["min_score", "silence"];
pub(crate) const SILENCE_KEYS: &[&str] = &["rule", "reason", "path"];

pub(super) fn settings(field: &FieldAt<'_>, problems: &mut Problems) -> Settings {
    let Some(fields) = Fields::open(field, KEYS, problems) else { return Settings::default() };
    let min_score = fields.get("min_score").and_then(|it| score(&it, problems));
    let silences = fields.get("silence").map(|it| it.list(problems)).unwrap_or_default();
    let silences = silences.iter().filter_map(|it| silence(it, problems)).collect();
    Settings { min_score, silences }
}

fn silence(field: &FieldAt<'_>, problems: &mut Problems) -> Option<Silence> {
    let fields = Fields::open(field, SILENCE_KEYS, problems)?;
    let rules = LintRule::ALL.map(|it| (it.code(), it));
    let rule = fields.required("rule", problems).and_then(|it| it.choice(&rules, problems));
    // Without a reason, later readers cannot judge whether to remove it.
    let reason = fields.required("reason", problems).and_then(|it| it.line(problems));
    let path = match fields.get("path") {
        Some(it) => Some(it.line(problems)?),
        None => None,
    };
    Some(Silence { rule: rule?, reason: reason?, path })
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::*;
    use crate::project_file::parse;

    #[test]
    fn what_a_project_silences_is_read_with_its_reason() {
        let text = "[lint]\nmin_score = 60\n\n[[lint.silence]]\nrule = \"vague_summary\"\nreason = \"old archive\"\npath = \"docs/old\"\n";
        let silence = Silence {
            rule: LintRule::VagueSummary,
            reason: "old archive".to_owned(),
            path: Some("docs/old".to_owned()),
        };
        let expected = Settings { min_score: Some(60), silences: vec![silence] };
        assert_eq!(parse(text).unwrap().lint, expected);
    }

    #[test]
    fn a_rule_that_does_not_exist_and_a_missing_reason_are_told() {
        let text = "[lint]\nmin_score = 101\nsilence = [{ rule = \"vague_sumary\" }]\n";
        let lines: Vec<String> = parse(text).unwrap_err().iter().map(ToString::to_string).collect();
        expect![[r#"
            line 2, column 13: lint.min_score: must be a whole number from 0 to 100 [wrong_number]
            line 3, column 12: lint.silence[0].reason: is missing [missing]
            line 3, column 21: lint.silence[0].rule: cannot be `vague_sumary`; did you mean `vague_summary`? [wrong_value]"#]]
        .assert_eq(&lines.join("\n"));
    }
}
