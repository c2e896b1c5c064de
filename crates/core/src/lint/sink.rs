//! Collects findings. Nothing is allocated before the first one.

use std::borrow::Cow;

use super::Finding;
use super::rule::{LintRule, Severity};
use crate::contract::ContractReport;

/// Readers stop long before this, and stored records must be bounded.
const MOST_FINDINGS: usize = 100;

#[derive(Default)]
pub(super) struct Sink {
    pub(super) findings: Vec<Finding>,
    pub(super) unverified: Vec<String>,
}

impl Sink {
    /// `message` is in our own words: it may be put into a prompt, where the sender's text is
    /// allowed only inside its fence.
    pub(super) fn say(&mut self, rule: LintRule, path: String, message: impl Into<String>) {
        if self.findings.len() >= MOST_FINDINGS {
            return;
        }
        self.findings.push(Finding {
            rule: Some(rule),
            code: Cow::Borrowed(rule.code()),
            severity: rule.severity(),
            path,
            message: message.into(),
            fix: rule.fix(),
        });
    }

    /// As [`Sink::say`], unless something was found at that place already: a contract that lists
    /// the same words has reported it.
    pub(super) fn say_once(&mut self, rule: LintRule, path: String, message: impl Into<String>) {
        if !self.findings.iter().any(|it| it.path == path) {
            self.say(rule, path, message);
        }
    }

    /// Adds the contract's problems: `must` is an error, a wrong `should` a warning, and an absent
    /// one is for information.
    pub(super) fn contract(&mut self, report: ContractReport) {
        let must = report.must.into_iter().map(|it| (it, Severity::Error));
        let should = report.should.into_iter().map(|it| {
            let severity = if it.rule == "missing" { Severity::Info } else { Severity::Warning };
            (it, severity)
        });
        for (problem, severity) in must.chain(should) {
            let fix = fix_of(&problem.rule);
            let (code, path, message) = (Cow::Owned(problem.rule), problem.path, problem.message);
            self.findings.push(Finding { rule: None, code, severity, path, message, fix });
        }
    }
}

fn fix_of(rule: &str) -> &'static str {
    match rule {
        "missing" => "write it, or ask for what you do not know",
        "wrong_type" => "write it as that kind of value",
        "wrong_value" => "use one of these words",
        _ => "correct it, or hand the work to whom it belongs",
    }
}
