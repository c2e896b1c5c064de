//! The text of a rule: for readers of a workflow, in a prompt, and in a skeleton.

use super::rule::{Check, ContractRule, When, WhenTest};
use super::value::ValueKind;
use crate::document::Node;

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

    /// The placeholder in a skeleton where the rule is not kept yet.
    pub(super) fn placeholder(&self) -> Node {
        let mark = Node::Text(format!("<{}>", self.about));
        match &self.check {
            Check::Kind(ValueKind::List) => Node::List(vec![mark]),
            Check::AtLeast(least) => Node::List(vec![mark; *least]),
            Check::CountedBy(_) => Node::List(Vec::new()),
            // A placeholder would contradict the other field as well.
            Check::Absent | Check::SameAs(_) => Node::Null,
            Check::Kind(ValueKind::Bool) => Node::Text(format!("<true or false: {}>", self.about)),
            Check::Kind(ValueKind::Number) | Check::AtMost(_) => {
                Node::Text(format!("<a number: {}>", self.about))
            }
            Check::OneOf(allowed) => Node::Text(format!("<{}: {}>", either(allowed), self.about)),
            Check::Kind(ValueKind::Map) => Node::Text(format!("<a map: {}>", self.about)),
            Check::Present | Check::Kind(ValueKind::Text) | Check::NoneOf(_) => mark,
        }
    }
}

impl When {
    fn words(&self) -> String {
        let fields: Vec<&str> =
            std::iter::once(&self.field).chain(&self.others).map(String::as_str).collect();
        let field = fields.join(" or ");
        match &self.test {
            WhenTest::Is(words) => format!("{field} is {}", words.join(" or ")),
            WhenTest::IsNot(words) => format!("{field} is not {}", words.join(" or ")),
            WhenTest::Present => format!("{field} is there"),
            WhenTest::Absent if self.others.is_empty() => format!("{field} is not there"),
            WhenTest::Absent => format!("none of {} is there", fields.join(", ")),
        }
    }
}

pub(super) fn either(words: &[String]) -> String {
    let words: Vec<String> = words.iter().map(|it| format!("`{it}`")).collect();
    words.join(" or ")
}
