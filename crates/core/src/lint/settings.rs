//! What a project sets for the linter: which rules are silent, where and why, and how much is enough.

use super::Finding;
use super::rule::LintRule;

#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Settings {
    /// A package that scores less is refused in strict.
    pub min_score: Option<u8>,
    pub silences: Vec<Silence>,
}

/// A rule that does not apply, with the reason that whoever finds it later will look for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Silence {
    pub rule: LintRule,
    pub reason: String,
    /// A file, or a folder with everything below it. Left out: everywhere.
    pub path: Option<String>,
}

impl Settings {
    /// The findings that count, and those that are silenced with the reason for it.
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
    /// Reads `RULE=REASON`. None where there is no such rule, or no reason.
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
