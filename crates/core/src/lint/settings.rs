//! A project's linter settings: which rules are silenced, where and why, and the minimum score.

use super::Finding;
use super::rule::LintRule;

#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Settings {
    /// A package with a lower score is refused in strict.
    pub min_score: Option<u8>,
    pub silences: Vec<Silence>,
}

/// A silenced rule, with the reason for later readers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Silence {
    pub rule: LintRule,
    pub reason: String,
    /// A file, or a folder with everything below it. Left out: everywhere.
    pub path: Option<String>,
}

impl Settings {
    /// Splits the findings into those that count and those that are silenced, with the reason.
    pub(super) fn sift(
        &self,
        findings: Vec<Finding>,
        file: Option<&str>,
    ) -> (Vec<Finding>, Vec<(Finding, String)>) {
        if self.silences.is_empty() {
            return (findings, Vec::new());
        }
        let (mut counting, mut silenced) = (Vec::new(), Vec::new());
        for finding in findings {
            let silence = self.silences.iter().find(|it| it.covers(&finding, file));
            match silence {
                Some(silence) => silenced.push((finding, silence.reason.clone())),
                None => counting.push(finding),
            }
        }
        (counting, silenced)
    }
}

impl Silence {
    /// Parses `RULE=REASON`. `None` for an unknown rule or a missing reason.
    pub fn parse(words: &str) -> Option<Self> {
        let (rule, reason) = words.split_once('=')?;
        let reason = reason.trim();
        let rule = LintRule::parse(rule.trim())?;
        (!reason.is_empty()).then(|| Self { rule, reason: reason.to_owned(), path: None })
    }

    fn covers(&self, finding: &Finding, file: Option<&str>) -> bool {
        if finding.rule != Some(self.rule) {
            return false;
        }
        let Some(path) = self.path.as_deref() else { return true };
        let path = path.trim_end_matches('/');
        let below = |file: &str| {
            file.strip_prefix(path).is_some_and(|it| it.is_empty() || it.starts_with('/'))
        };
        file.is_some_and(|it| below(it.trim_start_matches("./")))
    }
}
