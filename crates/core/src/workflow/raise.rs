//! What a package may say that a person has to approve: cost, days, risk, a breaking change, a
//! security impact, a migration of data.
//!
//! A value that cannot be read asks as well: the rule is about what may not be overlooked.

use crate::document::{Node, Number};
use crate::named::named;
use crate::package::Package;

/// One rule of an edge.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RaiseRule {
    pub kind: RaiseKind,
    /// Where the package says it; where left out, each of [`RaiseKind::fields`] is read.
    pub field: Option<String>,
    pub when: RaiseCondition,
}

named! {
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum RaiseKind {
        Cost = "cost",
        Days = "days",
        Risk = "risk",
        BreakingChange = "breaking_change",
        Security = "security",
        Migration = "migration",
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RaiseCondition {
    /// The number is greater.
    Over(Number),
    /// The word is one of these; its case does not matter.
    AnyOf(Vec<String>),
    /// There is one: anything but `false`, `no`, `none`, 0 or an empty list.
    Stated,
}

impl RaiseKind {
    /// The fields in which packages say it, in the body of a document or in its `context`.
    pub fn fields(self) -> &'static [&'static str] {
        match self {
            Self::Cost => {
                &["cost", "cost_usd", "estimated_cost", "estimate.cost", "estimate.cost_usd"]
            }
            Self::Days => &["days", "estimated_days", "estimate.days"],
            Self::Risk => &["risk", "risk_level", "risk.level", "risks"],
            Self::BreakingChange => &["breaking_change", "breaking_changes"],
            Self::Security => &["security_impact", "security"],
            Self::Migration => &["data_migration", "migration", "migrations"],
        }
    }

    fn noun(self) -> &'static str {
        match self {
            Self::Cost => "the cost",
            Self::Days => "the number of days",
            Self::Risk => "the risk",
            Self::BreakingChange => "a breaking change",
            Self::Security => "a security impact",
            Self::Migration => "a migration of data",
        }
    }
}

/// Why a person is asked before this package goes on: every rule that asks, in one sentence.
pub fn raised(rules: &[RaiseRule], package: &Package) -> Option<String> {
    let reasons: Vec<String> = rules.iter().filter_map(|it| it.reason(package)).collect();
    (!reasons.is_empty()).then(|| format!("A person is asked because {}", reasons.join("; ")))
}

impl RaiseRule {
    fn reason(&self, package: &Package) -> Option<String> {
        let fields = match &self.field {
            Some(field) => vec![field.as_str()],
            None => self.kind.fields().to_vec(),
        };
        fields.into_iter().find_map(|field| {
            let found = package.nodes_at(field);
            found.into_iter().find_map(|node| self.reason_in(field, node))
        })
    }

    fn reason_in(&self, field: &str, node: &Node) -> Option<String> {
        let noun = self.kind.noun();
        match &self.when {
            RaiseCondition::Over(_) | RaiseCondition::AnyOf(_) if node.is_blank() => None,
            RaiseCondition::Over(limit) => {
                let number = node.scalar_text().and_then(|it| Number::parse(it.trim()));
                let Some(number) = number else {
                    return Some(format!("{noun} (`{field}`) cannot be read as a number"));
                };
                let is_over = value(&number)? > value(limit)?;
                let (number, limit) = (number.as_str(), limit.as_str());
                is_over.then(|| format!("{noun} is {number} (`{field}`), over {limit}"))
            }
            RaiseCondition::AnyOf(words) => {
                let said = words.iter().find(|word| says(node, word))?;
                Some(format!("{noun} is {said} (`{field}`)"))
            }
            RaiseCondition::Stated => is_stated(node).then(|| format!("it has {noun} (`{field}`)")),
        }
    }
}

fn value(number: &Number) -> Option<f64> {
    number.as_str().parse().ok()
}

/// A word, or the `level` or `severity` of one of several.
fn says(node: &Node, word: &str) -> bool {
    match node {
        Node::List(items) => items.iter().any(|it| says(it, word)),
        Node::Map(_) => {
            ["level", "severity"].iter().filter_map(|it| node.member(it)).any(|it| says(it, word))
        }
        Node::Null | Node::Bool(_) | Node::Number(_) | Node::Text(_) => {
            node.scalar_text().is_some_and(|it| it.trim().eq_ignore_ascii_case(word))
        }
    }
}

fn is_stated(node: &Node) -> bool {
    const NONE: [&str; 6] = ["", "false", "no", "none", "n/a", "0"];
    match node {
        Node::Null => false,
        Node::List(items) => items.iter().any(is_stated),
        Node::Map(members) => !members.is_empty(),
        Node::Bool(_) | Node::Number(_) | Node::Text(_) => {
            let text = node.scalar_text().unwrap_or_default().trim().to_ascii_lowercase();
            !NONE.contains(&text.as_str())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::package::Format;

    fn over(kind: RaiseKind, limit: &str) -> RaiseRule {
        let when = RaiseCondition::Over(Number::parse(limit).unwrap());
        RaiseRule { kind, field: None, when }
    }

    fn stated(kind: RaiseKind) -> RaiseRule {
        RaiseRule { kind, field: None, when: RaiseCondition::Stated }
    }

    fn rules() -> Vec<RaiseRule> {
        let levels = ["high", "critical"].map(str::to_owned).to_vec();
        let risk =
            RaiseRule { kind: RaiseKind::Risk, field: None, when: RaiseCondition::AnyOf(levels) };
        vec![
            over(RaiseKind::Cost, "500"),
            over(RaiseKind::Days, "5"),
            risk,
            stated(RaiseKind::BreakingChange),
            stated(RaiseKind::Security),
            stated(RaiseKind::Migration),
        ]
    }

    #[track_caller]
    fn check(document: Node, expected: Option<&str>) {
        let package = Package::new(Format::Json, "", document);
        let expected = expected.map(|it| format!("A person is asked because {it}"));
        assert_eq!(raised(&rules(), &package), expected);
    }

    fn number(digits: &str) -> Node {
        Node::Number(Number::parse(digits).unwrap())
    }

    fn list(items: Vec<Node>) -> Node {
        Node::List(items)
    }

    #[test]
    fn each_rule_reads_its_fields() {
        check(Node::map([("cost", number("800"))]), Some("the cost is 800 (`cost`), over 500"));
        check(Node::map([("cost_usd", number("500"))]), None);
        let estimate = Node::map([("cost", number("500.01")), ("days", Node::text(" 6 "))]);
        check(
            Node::map([("estimate", estimate.clone())]),
            Some(
                "the cost is 500.01 (`estimate.cost`), over 500; the number of days is 6 \
                 (`estimate.days`), over 5",
            ),
        );
        let context = Node::map([("summary", Node::text("s")), ("estimate", estimate)]);
        check(
            Node::map([("handoff", Node::map([("context", context)]))]),
            Some(
                "the cost is 500.01 (`estimate.cost`), over 500; the number of days is 6 \
                 (`estimate.days`), over 5",
            ),
        );
        check(Node::map([("risk", Node::text("High"))]), Some("the risk is high (`risk`)"));
        check(Node::map([("risk", Node::text("low"))]), None);
        let levels = list(vec![
            Node::map([("level", Node::text("low"))]),
            Node::map([("severity", Node::text("CRITICAL"))]),
        ]);
        check(Node::map([("risks", levels)]), Some("the risk is critical (`risks`)"));
        check(
            Node::map([("breaking_change", Node::Bool(true))]),
            Some("it has a breaking change (`breaking_change`)"),
        );
        check(
            Node::map([("security_impact", Node::text("tokens are stored"))]),
            Some("it has a security impact (`security_impact`)"),
        );
        check(
            Node::map([("migrations", list(vec![Node::text("0014")]))]),
            Some("it has a migration of data (`migrations`)"),
        );
    }

    #[test]
    fn what_is_not_there_does_not_ask() {
        check(Node::map([]), None);
        for none in [Node::Null, Node::Bool(false), Node::text("None"), number("0"), list(vec![])] {
            let fields = ["breaking_change", "security", "migration"];
            check(Node::map(fields.map(|it| (it, none.clone()))), None);
        }
    }

    #[test]
    fn what_cannot_be_read_or_is_said_twice_asks() {
        for value in ["800 usd", "NaN", "lots", "1e"] {
            check(
                Node::map([("cost", Node::text(value))]),
                Some("the cost (`cost`) cannot be read as a number"),
            );
        }
        check(
            Node::map([("days", number("1e999"))]),
            Some("the number of days is 1e999 (`days`), over 5"),
        );
        // The higher of two counts, wherever it stands.
        let twice = Node::map([("cost", number("1")), ("estimated_cost", number("900"))]);
        check(twice, Some("the cost is 900 (`estimated_cost`), over 500"));
    }
}
