//! What a package must and should contain on an edge, and the problems to report when it does not.

mod body;
mod implied;
mod rule;
mod rule_text;
mod value;

use std::borrow::Cow;

use crate::document::Node;
use crate::problem::Problem;

pub use body::{Body, items};
pub use implied::ImpliedWay;
pub use rule::{Check, ContractRule, Counted, When, WhenTest};
pub use value::ValueKind;

/// The rules of one edge. `must` makes a handoff usable; `should` makes it good.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Contract {
    pub name: String,
    pub must: Vec<ContractRule>,
    pub should: Vec<ContractRule>,
}

/// How strictly a contract is applied.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Profile {
    /// A broken `must` refuses; a broken `should` is a warning to both sides.
    Lenient,
    /// Both refuse.
    #[default]
    Strict,
}

impl Profile {
    pub const ALL: [Self; 2] = [Self::Strict, Self::Lenient];

    pub fn name(self) -> &'static str {
        match self {
            Profile::Strict => "strict",
            Profile::Lenient => "lenient",
        }
    }
}

/// What a contract says about one document.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ContractReport {
    pub must: Vec<Problem>,
    pub should: Vec<Problem>,
}

impl Contract {
    /// Checks every rule and reports all problems at once.
    pub fn check(&self, document: &Node) -> ContractReport {
        let body = Body::of(document);
        let problems =
            |rules: &[ContractRule]| rules.iter().filter_map(|it| it.check(&body)).collect();
        ContractReport { must: problems(&self.must), should: problems(&self.should) }
    }

    /// The contract with `reasons` beside its own words for what blocks: a workflow that routes a
    /// reason takes it.
    pub fn with_blocked_reasons<'r>(
        &self,
        reasons: impl Iterator<Item = &'r str> + Clone,
    ) -> Cow<'_, Self> {
        let lacks = |it: &ContractRule| it.lacks_blocked_reason(reasons.clone());
        if !self.must.iter().chain(&self.should).any(lacks) {
            return Cow::Borrowed(self);
        }
        let widened = |rules: &[ContractRule]| {
            rules.iter().map(|it| it.with_blocked_reasons(reasons.clone())).collect()
        };
        Cow::Owned(Self {
            name: self.name.clone(),
            must: widened(&self.must),
            should: widened(&self.should),
        })
    }

    /// How many of its rules apply to this document, and how many of those it keeps.
    pub fn kept(&self, document: &Node) -> (usize, usize) {
        let body = Body::of(document);
        let speaking = || self.must.iter().chain(&self.should).filter(|it| it.is_due(&body));
        (speaking().filter(|it| it.check(&body).is_none()).count(), speaking().count())
    }
}

impl ContractReport {
    /// The problems that refuse the document under `profile`.
    pub fn refusing(&self, profile: Profile) -> Vec<Problem> {
        match profile {
            Profile::Lenient => self.must.clone(),
            Profile::Strict if self.must.is_empty() && self.should.is_empty() => Vec::new(),
            Profile::Strict => self.must.iter().chain(&self.should).cloned().collect(),
        }
    }
}

#[cfg(test)]
mod conditions;
#[cfg(test)]
mod tests;
