//! Where findings are gathered. Nothing is allocated before there is one.

use std::borrow::Cow;

use super::Finding;
use super::rule::{LintRule, Severity};
use crate::contract::ContractReport;

/// Nobody reads more, and a record has to end somewhere.
const MOST_FINDINGS: usize = 100;

#[derive(Default)]
pub(super) struct Sink {
    pub(super) findings: Vec<Finding>,
    pub(super) unverified: Vec<String>,
}

impl Sink {
    /// `message` is in our own words: it may come to stand in a prompt, where nothing of the sender's
    /// has a place outside of its fence.
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

    /// What the contract of an edge says: `must` is an error, an absent `should` good to know.
    pub(super) fn contract(&mut self, report: ContractReport) {
        let must = report.must.into_iter().map(|it| (it, Severity::Error));
        let should = report.should.into_iter().map(|it| (it, Severity::Info));
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
