//! The text of a rule: for readers of a workflow, and in a prompt.

use super::rule::{Check, ContractRule, When, WhenTest};

impl Check {
    /// The requirement, to follow the name of the field: `is one of ...`.
    pub fn words(&self) -> String {
        match self {
            Check::Present => "there".to_owned(),
            Check::Kind(kind) => kind.node_kind().to_string(),
            Check::OneOf(words) => format!("one of {}", words.join(", ")),
            Check::NoneOf(words) => format!("not {}", words.join(", ")),
            Check::AtLeast(least) => format!("a list of {least} or more"),
            Check::AtMost(most) => format!("not more than {most}"),
            Check::Absent => "null or left out".to_owned(),
            Check::SameAs(path) => format!("the same as {path}"),
            Check::CountedBy(counted) => match &counted.only {
                Some((_, word)) => format!("no more {word} than {}", counted.by),
                None => format!("no longer than {}", counted.by),
            },
        }
    }
}

impl ContractRule {
    /// The condition of the rule: `status is merged`. Blank where it always applies.
    pub fn case(&self) -> String {
        let cases: Vec<String> = self.when.iter().map(When::words).collect();
        cases.join(" and ")
    }
}

impl When {
    fn words(&self) -> String {
        let field = &self.field;
        match &self.test {
            WhenTest::Is(words) => format!("{field} is {}", words.join(" or ")),
            WhenTest::IsNot(words) => format!("{field} is not {}", words.join(" or ")),
            WhenTest::Present => format!("{field} is there"),
            WhenTest::Absent => format!("{field} is not there"),
        }
    }
}

pub(super) fn either(words: &[String]) -> String {
    let words: Vec<String> = words.iter().map(|it| format!("`{it}`")).collect();
    words.join(" or ")
}
