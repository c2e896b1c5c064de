//! What a package may say that a person has to approve: cost, days, risk, a breaking change, a
//! security impact, a migration of data.
//!
//! A value that cannot be read asks as well: the rule is about what may not be overlooked.

use crate::document::{Node, Number};
use crate::look_alike::outline;
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
    /// One of these words is said, or a known word of a higher level.
    AnyOf(Vec<String>),
    /// There is one: anything but null, an empty text, `false`, `no`, `none`, `n/a`, 0 or a list of these.
    Stated,
}

impl RaiseKind {
    /// The fields in which packages say it, whatever separates and capitalises their words.
    pub fn fields(self) -> &'static [&'static str] {
        match self {
            Self::Cost => &[
                "cost",
                "costs",
                "cost_usd",
                "cost_eur",
                "cost_gbp",
                "cost_chf",
                "total_cost",
                "estimated_cost",
                "cost_estimate",
                "estimate.cost",
                "estimate.cost_usd",
                "estimate.cost_eur",
                "estimate.total_cost",
                "estimate.total",
                "estimate.amount",
            ],
            Self::Days => &["days", "estimated_days", "effort_days", "estimate.days"],
            Self::Risk => &["risk", "risk_level", "overall_risk", "risk.level", "risks"],
            Self::BreakingChange => &[
                "breaking_change",
                "breaking_changes",
                "breaking",
                "is_breaking",
                "is_breaking_change",
                "has_breaking_changes",
            ],
            Self::Security => &["security_impact", "security", "security_risk"],
            Self::Migration => &[
                "data_migration",
                "data_migrations",
                "migration",
                "migrations",
                "database_migration",
                "database_migrations",
                "db_migration",
                "schema_migration",
                "schema_migrations",
                "requires_migration",
            ],
        }
    }

    /// Fields that say it where they have a number; where they say something else, it is another thing.
    fn fields_of_numbers(self) -> &'static [&'static str] {
        match self {
            Self::Cost => &["estimate"],
            Self::Days | Self::Risk | Self::BreakingChange | Self::Security | Self::Migration => {
                &[]
            }
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
        let reason = fields.into_iter().find_map(|field| {
            let found = package.nodes_like(field);
            found.into_iter().find_map(|(field, node)| self.reason_in(&field, node))
        });
        reason.or_else(|| {
            let fields = self.kind.fields_of_numbers().iter().filter(|_| self.field.is_none());
            let mut found = fields.flat_map(|it| package.nodes_like(it));
            found.find_map(|(field, node)| {
                number_in(node).and_then(|_| self.reason_in(&field, node))
            })
        })
    }

    fn reason_in(&self, field: &str, node: &Node) -> Option<String> {
        let noun = self.kind.noun();
        match &self.when {
            RaiseCondition::Over(_) | RaiseCondition::AnyOf(_) if node.is_blank() => None,
            RaiseCondition::Over(limit) => {
                let Some(number) = number_in(node) else {
                    return Some(format!("{noun} (`{field}`) cannot be read as a number"));
                };
                let is_over = value(&number)? > value(limit)?;
                let (number, limit) = (number.as_str(), limit.as_str());
                is_over.then(|| format!("{noun} is {number} (`{field}`), over {limit}"))
            }
            RaiseCondition::AnyOf(words) => match Level::of(node, words) {
                Level::Asked(word) => Some(format!("{noun} is {word} (`{field}`)")),
                Level::Below => None,
                Level::Unreadable => Some(format!("{noun} (`{field}`) cannot be read as a level")),
            },
            RaiseCondition::Stated => is_stated(node).then(|| format!("it has {noun} (`{field}`)")),
        }
    }
}

fn number_in(node: &Node) -> Option<Number> {
    node.scalar_text().and_then(|it| Number::parse(it.trim()))
}

fn value(number: &Number) -> Option<f64> {
    number.as_str().parse().ok()
}

/// What a package says of a level, held against the words that ask.
#[derive(Debug, PartialEq, Eq)]
enum Level {
    Asked(String),
    /// A level that is known, and lower.
    Below,
    Unreadable,
}

/// Words of known levels, each list higher than the one before.
const LEVELS: [&[&str]; 5] = [
    &["none", "no", "nil", "na", "false", "0"],
    &["low", "minor", "minimal", "negligible", "small", "trivial"],
    &["medium", "moderate", "normal"],
    &["high", "major", "serious", "significant"],
    &["critical", "severe", "extreme", "catastrophic"],
];

/// Where an object says its level.
const LEVEL_MEMBERS: [&str; 5] = ["level", "severity", "impact", "rating", "risk"];

impl Level {
    /// A word in a text, in an object or in one of several. What asks counts before what cannot be
    /// read, and that before what is lower.
    fn of(node: &Node, asking: &[String]) -> Self {
        match node {
            Node::List(items) => Self::highest(items.iter(), asking),
            Node::Map(_) => {
                let found = LEVEL_MEMBERS.iter().filter_map(|it| node.member(it));
                let found: Vec<&Node> = found.filter(|it| !it.is_blank()).collect();
                if found.is_empty() { Self::Unreadable } else { Self::highest(found, asking) }
            }
            Node::Null | Node::Bool(_) | Node::Number(_) | Node::Text(_) => {
                Self::in_text(node.scalar_text().unwrap_or_default(), asking)
            }
        }
    }

    fn highest<'a>(nodes: impl IntoIterator<Item = &'a Node>, asking: &[String]) -> Self {
        let mut highest = Self::Below;
        for node in nodes {
            match Self::of(node, asking) {
                Self::Asked(word) => return Self::Asked(word),
                Self::Unreadable => highest = Self::Unreadable,
                Self::Below => {}
            }
        }
        highest
    }

    /// By the look of the words, so that a Cyrillic letter changes nothing.
    fn in_text(text: &str, asking: &[String]) -> Self {
        if text.trim().is_empty() {
            return Self::Below;
        }
        let said = words_of(text);
        if let Some(word) = asking.iter().find(|it| said.contains(&words_of(it))) {
            return Self::Asked(word.to_lowercase());
        }
        let rank = |look: &str| {
            let is_in = |words: &&[&str]| words.iter().any(|it| outline(it) == look);
            LEVELS.iter().position(is_in)
        };
        let least = asking.iter().filter_map(|it| rank(&outline(it))).min();
        // "No idea" is no level: such words count alone.
        let is_alone = said.split_whitespace().count() == 1 || said == words_of("no risk");
        let known = said.split_whitespace().filter_map(rank).filter(|it| *it > 0 || is_alone);
        let known: Vec<usize> = known.collect();
        match known.iter().max() {
            Some(highest) if least.is_some_and(|it| *highest >= it) => {
                let words = LEVELS[*highest].iter();
                let word = words.clone().find(|it| said.contains(&words_of(it)));
                Self::Asked(word.unwrap_or(&"high").to_string())
            }
            Some(_) => Self::Below,
            None => Self::Unreadable,
        }
    }
}

/// The outlines of the words of a text, each between two spaces.
fn words_of(text: &str) -> String {
    let look = outline(text).replace("n/a", "na");
    let words = look.split(|it: char| !it.is_alphanumeric()).filter(|it| !it.is_empty());
    format!(" {} ", words.collect::<Vec<_>>().join(" "))
}

fn is_stated(node: &Node) -> bool {
    const NONE: [&str; 6] = ["", "false", "no", "none", "n/a", "0"];
    match node {
        Node::Null => false,
        Node::List(items) => items.iter().any(is_stated),
        // Of one without members nothing is known.
        Node::Map(_) => true,
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
    fn a_level_is_read_as_a_word_of_a_text_and_asks_where_it_cannot_be_read() {
        let high = "the risk is high (`risk`)";
        let unread = "the risk (`risk`) cannot be read as a level";
        for (said, expected) in [
            ("very high", Some(high)),
            ("high: data loss", Some(high)),
            ("High-risk", Some(high)),
            ("h\u{456}gh", Some(high)),
            ("ｈｉｇｈ", Some(high)),
            ("low, was HIGH", Some(high)),
            ("severe", Some("the risk is severe (`risk`)")),
            ("low", None),
            ("Medium: nobody is affected", None),
            ("none", None),
            ("n/a", None),
            ("highly unlikely", Some(unread)),
            ("data may be lost", Some(unread)),
            ("3", Some(unread)),
            ("no idea", Some(unread)),
            ("No risk", None),
        ] {
            check(Node::map([("risk", Node::text(said))]), expected);
        }
        let level = |key: &'static str, it: &str| Node::map([(key, Node::text(it))]);
        check(Node::map([("risk", level("impact", "high"))]), Some(high));
        check(Node::map([("risk", level("impact", "low"))]), None);
        check(Node::map([("risk", level("text", "x"))]), Some(unread));
        check(
            Node::map([("riskLevel", Node::text("high"))]),
            Some("the risk is high (`riskLevel`)"),
        );
        check(
            Node::map([("estimatedCost", number("900"))]),
            Some("the cost is 900 (`estimatedCost`), over 500"),
        );
        check(
            Node::map([("costUsd", number("900"))]),
            Some("the cost is 900 (`costUsd`), over 500"),
        );
    }

    #[test]
    fn a_field_is_found_whatever_separates_and_capitalises_its_words() {
        for (key, expected) in [
            ("Cost", Some("the cost is 6000 (`Cost`), over 500")),
            ("cost_eur", Some("the cost is 6000 (`cost_eur`), over 500")),
            ("Total Cost", Some("the cost is 6000 (`Total Cost`), over 500")),
            ("estimate", Some("the cost is 6000 (`estimate`), over 500")),
            ("Breaking_Change", Some("it has a breaking change (`Breaking_Change`)")),
            ("breaking-change", Some("it has a breaking change (`breaking-change`)")),
            ("breaking", Some("it has a breaking change (`breaking`)")),
            ("database_migration", Some("it has a migration of data (`database_migration`)")),
            ("cost_center", None),
            ("unbreaking", None),
        ] {
            check(Node::map([(key, number("6000"))]), expected);
        }
        let amount = Node::map([("Amount", number("6000"))]);
        let over = "the cost is 6000 (`estimate.Amount`), over 500";
        check(Node::map([("estimate", amount)]), Some(over));
        check(Node::map([("estimate", Node::text("two afternoons"))]), None);
    }

    #[test]
    fn a_field_is_found_in_each_part_that_documents_put_it_in() {
        for part in ["body", "result", "metadata", "context"] {
            let said = Node::map([("breaking_change", Node::Bool(true))]);
            check(Node::map([(part, said)]), Some("it has a breaking change (`breaking_change`)"));
        }
    }

    #[test]
    fn an_object_without_members_is_no_denial() {
        check(
            Node::map([("breaking_change", Node::map([]))]),
            Some("it has a breaking change (`breaking_change`)"),
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
