//! What each rule asks of a package, said before it is written: prompts print it, so that an agent meets
//! no rule for the first time in a refusal.

use super::points::PRIORITIES;
use super::rule::{LintRule, Severity};
use super::summary::{MOST_CHARS, MOST_SENTENCES};
use super::{artifacts, claims, measure, persons, points, ranges, summary};
use crate::contract::Profile;

/// Where a rule looks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LintScope {
    /// At every text of a package.
    EveryText,
    /// At these fields, by their paths from the top of the package.
    Fields(&'static [&'static str]),
    /// At members of these names, wherever they stand.
    Keys(&'static [&'static str]),
    /// At these fields of a whole handoff document: XML, YAML under `handoff:`, a metadata block.
    Document(&'static [&'static str]),
    /// At what an agent says when it accepts a handoff.
    Acknowledgement,
}

/// One demand on a package, which one or more rules make.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LintDemand {
    pub rules: Vec<LintRule>,
    pub scope: LintScope,
    /// What has to hold, as a fragment of a sentence.
    pub words: String,
}

impl LintRule {
    /// True where a package that breaks the rule may be refused.
    pub fn may_refuse(self, profile: Profile) -> bool {
        match profile {
            Profile::Lenient => false,
            Profile::Strict => self.severity() > Severity::Info,
        }
    }

    pub fn scope(self) -> LintScope {
        use LintScope::{Acknowledgement, Document, EveryText, Fields, Keys};
        match self {
            LintRule::BlankField
            | LintRule::Placeholder
            | LintRule::Secret
            | LintRule::InvisibleCharacter
            | LintRule::InstructionToReader => EveryText,
            LintRule::PersonalData => Keys(persons::REASONS),
            LintRule::VagueSummary | LintRule::LongSummary => Fields(summary::SUMMARIES),
            LintRule::Unmeasurable => Fields(measure::MEASURED),
            LintRule::ArtifactWithoutPath
            | LintRule::ArtifactOutside
            | LintRule::ArtifactMissing
            | LintRule::ArtifactChanged => Fields(artifacts::LISTS),
            LintRule::QuestionWithoutPriority => Fields(points::QUESTIONS),
            LintRule::DecisionWithoutRationale => Fields(points::DECISIONS),
            LintRule::DecisionWithoutId => Document(points::DECISIONS),
            LintRule::ClaimWithoutEvidence | LintRule::FailedCheck => Keys(claims::CLAIMS),
            LintRule::CountMismatch | LintRule::ImpossibleNumber => Fields(COUNTED),
            LintRule::StaleWorkflowState => Document(&["workflow_state"]),
            LintRule::WrongRange => Fields(&[ranges::FIELD]),
            LintRule::MissingParty => Document(&["from", "to"]),
            LintRule::RepeatedField => Document(&["status", "summary"]),
            LintRule::UnknownStatus => Document(&["status"]),
            LintRule::BadTimestamp => Document(&["timestamp"]),
            LintRule::UnknownWord => Document(&["context.artifacts"]),
            LintRule::IncompleteItem => Document(&["context.open_questions", "handoff.blockers"]),
            LintRule::NumberMismatch => Document(&["issue_number", "pr_number"]),
            LintRule::UnclearAcknowledgement => Acknowledgement,
        }
    }

    fn demand(self) -> String {
        match self {
            LintRule::BlankField => "no blank text".to_owned(),
            LintRule::Placeholder => {
                "no placeholder such as `TODO`, `TBD`, `...` alone, or a `<...>` of the example left in".to_owned()
            }
            LintRule::Secret => "no key, token or password".to_owned(),
            LintRule::InvisibleCharacter => "no invisible characters".to_owned(),
            LintRule::InstructionToReader => {
                "no orders to the reader such as \"ignore the rules\"".to_owned()
            }
            LintRule::PersonalData => "no person's address or number".to_owned(),
            LintRule::VagueSummary => {
                "names what was made or changed, with names, numbers or paths".to_owned()
            }
            LintRule::LongSummary => format!(
                "1 to {MOST_SENTENCES} sentences, at most {MOST_CHARS} characters; more goes into a \
                 field of its own, such as `notes`"
            ),
            LintRule::Unmeasurable => {
                "each can be checked: a number, a command, a result".to_owned()
            }
            LintRule::ArtifactWithoutPath => "each item is or has a `path`".to_owned(),
            LintRule::ArtifactOutside => "relative to the project's root".to_owned(),
            LintRule::ArtifactMissing => {
                "each file exists (for a deleted one: `{\"path\": \"...\", \"status\": \"deleted\"}`)"
                    .to_owned()
            }
            LintRule::ArtifactChanged => "a `sha256`, if given, is the file's".to_owned(),
            LintRule::QuestionWithoutPriority => {
                format!("each with `question` and `priority` ({})", PRIORITIES.join(", "))
            }
            LintRule::DecisionWithoutRationale => {
                "each with `decision` and `rationale` (those under `discoveries` are plain texts)".to_owned()
            }
            LintRule::DecisionWithoutId => "each with an `id`".to_owned(),
            LintRule::ClaimWithoutEvidence => {
                "with the command and what it printed in `evidence`".to_owned()
            }
            LintRule::FailedCheck => "never false beside a success".to_owned(),
            LintRule::CountMismatch => {
                "a count is at least the number of items in the list of that name (`learnings`, `gotchas`), if the \
                 package has it"
                    .to_owned()
            }
            LintRule::ImpossibleNumber => "no number is below 0, no coverage above 100".to_owned(),
            LintRule::StaleWorkflowState => "leave it out: Baton knows it".to_owned(),
            LintRule::WrongRange => "as `path:start-end`, with lines that the file has".to_owned(),
            LintRule::MissingParty => "the ids of agents, or leave both out".to_owned(),
            LintRule::RepeatedField => "once".to_owned(),
            LintRule::UnknownStatus => {
                "one of `success`, `failure`, `blocked`, `needs_review`".to_owned()
            }
            LintRule::BadTimestamp => "as `2024-01-15T10:30:00Z`".to_owned(),
            LintRule::UnknownWord => "a `type` is `spec`, `code`, `doc` or `config`".to_owned(),
            LintRule::IncompleteItem => "each with its `question` or `description`".to_owned(),
            LintRule::NumberMismatch => "the number in its address".to_owned(),
            LintRule::UnclearAcknowledgement => {
                "`received`, what is `understood`, and what is unclear".to_owned()
            }
        }
    }
}

/// Fields with numbers that packages of every kind may have.
const COUNTED: &[&str] = &["learnings_added", "gotchas_added", "coverage"];

/// Every demand whose rules may refuse a package, rules of the same scope together.
pub fn demands(profile: Profile) -> Vec<LintDemand> {
    let mut demands: Vec<LintDemand> = Vec::new();
    for rule in LintRule::ALL.into_iter().filter(|it| it.may_refuse(profile)) {
        match demands.iter_mut().find(|it| it.scope == rule.scope()) {
            Some(demand) => {
                demand.rules.push(rule);
                demand.words = format!("{}, {}", demand.words, rule.demand());
            }
            None => demands.push(LintDemand {
                rules: vec![rule],
                scope: rule.scope(),
                words: rule.demand(),
            }),
        }
    }
    demands
}

impl LintDemand {
    /// Whether it is about one of these fields, by their paths.
    pub fn is_about<'a>(&self, mut fields: impl Iterator<Item = &'a str>) -> bool {
        let last = |path: &'a str| path.rsplit('.').next().unwrap_or(path);
        match self.scope {
            LintScope::EveryText => true,
            LintScope::Fields(own) | LintScope::Document(own) => fields.any(|it| own.contains(&it)),
            LintScope::Keys(own) => fields.any(|it| own.contains(&last(it))),
            LintScope::Acknowledgement => false,
        }
    }

    /// The last names of the fields, each once.
    pub fn fields(&self) -> Vec<&'static str> {
        let own = match self.scope {
            LintScope::Fields(own) | LintScope::Keys(own) | LintScope::Document(own) => own,
            LintScope::EveryText | LintScope::Acknowledgement => &[],
        };
        let mut names: Vec<&str> = Vec::new();
        for path in own {
            let name = path.rsplit('.').next().unwrap_or(path);
            if !names.contains(&name) {
                names.push(name);
            }
        }
        names
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_rule_that_may_refuse_makes_a_demand() {
        let stated: Vec<LintRule> =
            demands(Profile::Strict).into_iter().flat_map(|it| it.rules).collect();
        for rule in LintRule::ALL {
            assert_eq!(stated.contains(&rule), rule.severity() > Severity::Info, "{rule}");
        }
        assert_eq!(demands(Profile::Lenient), []);
    }

    #[test]
    fn a_demand_is_about_the_fields_that_its_rules_look_at() {
        let all = demands(Profile::Strict);
        let long = all.iter().find(|it| it.rules.contains(&LintRule::LongSummary)).unwrap();
        assert!(long.words.contains("1 to 3 sentences, at most 600 characters"), "{}", long.words);
        assert!(long.is_about(["context.summary"].into_iter()));
        assert!(long.is_about(["plan", "refactor_summary"].into_iter()));
        assert!(!long.is_about(["plan", "part.summary"].into_iter()));
        let person = all.iter().find(|it| it.rules.contains(&LintRule::PersonalData)).unwrap();
        assert!(person.is_about(["part.reason"].into_iter()));
        assert_eq!(long.fields(), ["summary", "refactor_summary"]);
    }
}
