//! The linter: finds weaknesses of a handoff, each under a named rule, and scores its completeness.
//!
//! [`lint`] is the only entry point. It is pure: facts about files and the run come in as
//! [`Facts`]; a claim without a fact is `unverified`, never a finding.

mod artifacts;
mod blanks;
mod claims;
mod counts;
mod demand;
mod facts;
mod failed_checks;
mod instructions;
mod invisible;
mod marks;
mod measure;
pub(crate) mod nature;
mod numbers;
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
mod structure;
mod summary;
mod texts;
mod tokens;
mod vague;
mod vocabulary;

use std::borrow::Cow;

pub use artifacts::{paths, uncompared};
pub use demand::{LintDemand, LintScope, demands};
pub use facts::{Facts, FileFact, Parties, RunFact, StepFact};
pub use failed_checks::likely_outcome;
pub use receiving::{Point, ReceiverAnswer, checklist};
pub use rule::{LintRule, Severity};
pub use score::{Score, ScorePart};
pub use secrets::redacted;
pub use settings::{Settings, Silence};
pub(crate) use texts::{rules_of_key, rules_of_text};

use crate::contract::{Body, Contract, Profile};
use crate::document::Node;
use crate::document::kind::DocumentKind;
use crate::problem::Problem;
use sink::Sink;

/// The document to lint, and its context.
#[derive(Debug, Clone, Copy)]
pub struct LintSubject<'a> {
    pub document: &'a Node,
    /// The contract of its edge.
    pub contract: Option<&'a Contract>,
    pub facts: &'a Facts,
    pub settings: &'a Settings,
    /// Where the document was read from, for rules that are silenced in one place only.
    pub file: Option<&'a str>,
}

/// The complete result for one document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LintReport {
    pub findings: Vec<Finding>,
    /// Findings that the settings silence, each with the reason.
    pub silenced: Vec<(Finding, String)>,
    /// Claims that could not be checked, by their paths.
    pub unverified: Vec<String>,
    pub score: Score,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// The linter's own rule; `None` for a rule of the edge's contract.
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

/// Checks a document against every rule.
pub fn lint(subject: &LintSubject<'_>) -> LintReport {
    let body = Body::of(subject.document);
    let kind = DocumentKind::of(subject.document);
    let mut sink = Sink::default();
    if let Some(contract) = subject.contract {
        sink.contract(contract.check(subject.document));
    }
    run_rules(&body, kind, subject.facts, &mut sink);
    let (findings, silenced) = subject.settings.sift(sink.findings, subject.file);
    let score = score::score(&body, kind, subject.contract, &findings);
    LintReport { findings, silenced, unverified: sink.unverified, score }
}

/// As [`lint`], without the contract and the score: only the findings of the linter's rules.
pub fn findings(document: &Node, facts: &Facts) -> Vec<Finding> {
    let mut sink = Sink::default();
    run_rules(&Body::of(document), DocumentKind::of(document), facts, &mut sink);
    sink.findings
}

fn run_rules(body: &Body<'_>, kind: DocumentKind, facts: &Facts, sink: &mut Sink) {
    texts::check(body.document, sink);
    summary::check(body, sink);
    measure::check(body, sink);
    artifacts::check(body, facts, sink);
    ranges::check(body, facts, sink);
    points::check(body, sink);
    claims::check(body, sink);
    counts::check(body, sink);
    state::check(body, kind, facts, sink);
    structure::check(body, kind, facts, sink);
    vocabulary::check(body, kind, sink);
    numbers::check(body, kind, sink);
    failed_checks::check(body, kind, facts, sink);
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

    /// The warnings that both sides get where nothing refuses the document.
    pub fn warnings(&self) -> impl Iterator<Item = &Finding> {
        self.findings.iter().filter(|it| it.rule.is_none() || it.severity > Severity::Info)
    }

    /// True where no error and no warning is left.
    pub fn is_clean(&self) -> bool {
        self.findings.iter().all(|it| it.severity == Severity::Info)
    }

    pub fn n_of(&self, severity: Severity) -> usize {
        self.findings.iter().filter(|it| it.severity == severity).count()
    }
}

impl Finding {
    /// As a problem, the form that refusals and stored handoffs use.
    pub fn to_problem(&self) -> Problem {
        let message = match self.rule {
            Some(_) => format!("{}; {}", self.message, self.fix),
            // The contract's message already says what is required.
            None => self.message.clone(),
        };
        Problem::new(&*self.path, &*self.code, message)
    }
}

#[cfg(test)]
mod tests;
