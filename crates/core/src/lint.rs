//! The linter: what is poor about a handoff, each thing by a named rule, and how complete it is.
//!
//! [`lint`] is the one way in. It looks at nothing but values: what is known of files and of the run
//! comes in as [`Facts`], and what is not known is `unverified`, never a finding.

mod artifacts;
mod blanks;
mod claims;
mod counts;
mod facts;
mod instructions;
mod invisible;
mod marks;
mod measure;
mod persons;
mod points;
mod ranges;
mod receiving;
mod rule;
mod score;
mod secrets;
mod settings;
mod sink;
mod state;
mod summary;
mod texts;
mod tokens;
mod vague;

use std::borrow::Cow;

pub use artifacts::paths;
pub use facts::{Facts, FileFact, RunFact};
pub use receiving::{Point, ReceiverAnswer, checklist};
pub use rule::{LintRule, Severity};
pub use score::{Score, ScorePart};
pub use secrets::redacted;
pub use settings::{Settings, Silence};

use crate::contract::{Body, Contract, Profile};
use crate::document::Node;
use crate::problem::Problem;
use sink::Sink;

/// What is looked at, and in which light.
#[derive(Debug, Clone, Copy)]
pub struct LintSubject<'a> {
    pub document: &'a Node,
    /// What its edge asks for.
    pub contract: Option<&'a Contract>,
    pub facts: &'a Facts,
    pub settings: &'a Settings,
    /// Where the document was read from, for rules that are silenced in one place only.
    pub file: Option<&'a str>,
}

/// Everything there is to say about a document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LintReport {
    pub findings: Vec<Finding>,
    /// What would have been a finding, and why it is none.
    pub silenced: Vec<(Finding, String)>,
    /// Claims that nobody could look at, by their paths.
    pub unverified: Vec<String>,
    pub score: Score,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// The linter's own rule; none where the contract of the edge says it.
    pub rule: Option<LintRule>,
    /// Which rule: one of [`LintRule`]'s codes, or one of a contract's.
    pub code: Cow<'static, str>,
    pub severity: Severity,
    /// Where, as a dotted path from the top of the document.
    pub path: String,
    /// What is wrong, as a fragment of a sentence.
    pub message: String,
    /// What to do about it.
    pub fix: &'static str,
}

/// Looks at a document by every rule there is.
pub fn lint(subject: &LintSubject<'_>) -> LintReport {
    let body = Body::of(subject.document);
    let mut sink = Sink::default();
    if let Some(contract) = subject.contract {
        sink.contract(contract.check(subject.document));
    }
    run_rules(&body, subject.facts, &mut sink);
    let (findings, silenced) = subject.settings.sift(sink.findings, subject.file);
    let score = score::score(&body, subject.contract, &findings);
    LintReport { findings, silenced, unverified: sink.unverified, score }
}

/// As [`lint`], without the contract and the score: what the rules alone find.
pub fn findings(document: &Node, facts: &Facts) -> Vec<Finding> {
    let mut sink = Sink::default();
    run_rules(&Body::of(document), facts, &mut sink);
    sink.findings
}

fn run_rules(body: &Body<'_>, facts: &Facts, sink: &mut Sink) {
    texts::check(body.document, sink);
    summary::check(body, sink);
    measure::check(body, sink);
    artifacts::check(body, facts, sink);
    ranges::check(body, facts, sink);
    points::check(body, sink);
    claims::check(body, sink);
    counts::check(body, sink);
    state::check(body, facts, sink);
}

impl LintReport {
    /// The findings that refuse the document under `profile`.
    pub fn refusing(&self, profile: Profile) -> impl Iterator<Item = &Finding> {
        self.findings.iter().filter(move |it| match (profile, it.rule) {
            (Profile::Lenient, None) => it.severity == Severity::Error,
            (Profile::Lenient, Some(_)) => false,
            (Profile::Strict, None) => true,
            (Profile::Strict, Some(_)) => it.severity > Severity::Info,
        })
    }

    /// What both sides are told where nothing refuses it.
    pub fn warnings(&self) -> impl Iterator<Item = &Finding> {
        self.findings.iter().filter(|it| it.rule.is_none() || it.severity > Severity::Info)
    }

    /// True where nothing of severity error or warning is left.
    pub fn is_clean(&self) -> bool {
        self.findings.iter().all(|it| it.severity == Severity::Info)
    }

    pub fn n_of(&self, severity: Severity) -> usize {
        self.findings.iter().filter(|it| it.severity == severity).count()
    }
}

impl Finding {
    /// As a problem, which is how refusals and stored handoffs tell it.
    pub fn to_problem(&self) -> Problem {
        let message = match self.rule {
            Some(_) => format!("{}; {}", self.message, self.fix),
            // A contract says itself what belongs there.
            None => self.message.clone(),
        };
        Problem::new(&*self.path, &*self.code, message)
    }
}

#[cfg(test)]
mod tests;
