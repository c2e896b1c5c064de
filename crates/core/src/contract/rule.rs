//! One rule of a contract: the field it checks, when it applies, and what it reports.
//!
//! The checks are few and general. The requirements of each source document are data, in the files
//! of contracts and workflows.

use super::body::{Body, items};
use super::rule_text::either;
use super::value::{ValueKind, is_among, scalar};
use crate::document::Node;
use crate::problem::Problem;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ContractRule {
    /// A dotted path: the usual place of the value.
    pub field: String,
    /// Alternative spellings, any of which satisfies the rule.
    pub others: Vec<String>,
    /// Description of the value, for problems, skeletons and prompts.
    pub about: String,
    pub check: Check,
    /// The rule applies only where all of these hold.
    pub when: Vec<When>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Check {
    /// Exists, and is not blank.
    Present,
    /// Exists, and is of this kind. An empty list or map counts: "none" is an answer.
    Kind(ValueKind),
    /// Exists, and is one of these scalars.
    OneOf(Vec<String>),
    /// If it exists, none of these scalars: a contradiction otherwise.
    NoneOf(Vec<String>),
    /// A list with at least this many items.
    AtLeast(usize),
    /// If it exists, a number that is not greater: a contradiction otherwise.
    AtMost(u32),
    /// Left out, or null: a contradiction otherwise.
    Absent,
    /// If both exist, the same scalar as at this path: a contradiction otherwise.
    SameAs(String),
    /// If it exists, a list that is not longer than the number at a path.
    CountedBy(Counted),
}

/// How many items of a list there may be. A list may name fewer than were counted, never more.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Counted {
    /// Path of the number.
    pub by: String,
    /// Only items whose member has this value are counted.
    pub only: Option<(String, String)>,
}

/// A condition under which a rule applies.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct When {
    pub field: String,
    /// Further fields: the condition holds for any of them, and its negation for none.
    pub others: Vec<String>,
    pub test: WhenTest,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum WhenTest {
    /// It exists, and is one of these scalars.
    Is(Vec<String>),
    /// It is none of these scalars, or does not exist.
    IsNot(Vec<String>),
    /// It exists, and is not blank.
    Present,
    /// It does not exist, or is blank.
    Absent,
}

impl When {
    pub fn is(field: &str, words: &[&str]) -> Self {
        let words = words.iter().map(|it| (*it).to_owned()).collect();
        Self { field: field.to_owned(), others: Vec::new(), test: WhenTest::Is(words) }
    }

    fn holds(&self, body: &Body<'_>) -> bool {
        let paths = || std::iter::once(&self.field).chain(&self.others);
        let is_among = |words: &[String]| {
            let is_one = |path: &String| {
                let said = body.at(path).and_then(scalar);
                said.is_some_and(|it| is_among(path, it, words))
            };
            paths().any(is_one)
        };
        let is_there = || paths().filter_map(|it| body.at(it)).any(|it| !it.is_blank());
        match &self.test {
            WhenTest::Is(words) => is_among(words),
            WhenTest::IsNot(words) => !is_among(words),
            WhenTest::Present => is_there(),
            WhenTest::Absent => !is_there(),
        }
    }
}

impl Check {
    /// False where a document without the field keeps it.
    pub fn needs_field(&self) -> bool {
        match self {
            Self::Present | Self::Kind(_) | Self::OneOf(_) | Self::AtLeast(_) => true,
            Self::NoneOf(_)
            | Self::AtMost(_)
            | Self::Absent
            | Self::SameAs(_)
            | Self::CountedBy(_) => false,
        }
    }
}

impl ContractRule {
    /// True where the rule applies to this document.
    pub(crate) fn is_due(&self, body: &Body<'_>) -> bool {
        self.when.iter().all(|it| it.holds(body))
    }

    pub(crate) fn check(&self, body: &Body<'_>) -> Option<Problem> {
        if !self.is_due(body) {
            return None;
        }
        let found = self.spellings().find_map(|it| Some((it, body.at(it)?)));
        let path = || {
            let path = found.map_or_else(|| self.natural_path(body), |(path, _)| path);
            body.path(path)
        };
        let node = found.map(|(_, node)| node);
        match &self.check {
            Check::NoneOf(refused) => self.contradiction(body, refused),
            Check::AtMost(most) => self.excess(body, *most),
            Check::Absent => self.presence(body),
            Check::SameAs(other) => self.difference(body, path, node?, other),
            Check::CountedBy(counted) => self.surplus(body, path, node?, counted),
            Check::Present => {
                // Another spelling may hold the value that this one leaves blank.
                let is_there = |it: &String| body.at(it).is_some_and(|it| !it.is_blank());
                (!self.spellings().any(is_there)).then(|| self.missing(path()))
            }
            Check::Kind(kind) => {
                let Some(node) = node else { return Some(self.missing(path())) };
                (!kind.holds(node)).then(|| {
                    let (found, wanted) = (node.kind(), kind.node_kind());
                    let message = match found == wanted {
                        // Empty text is text, and says nothing.
                        true => format!("is empty: {}", self.about),
                        false => format!("is {found}, not {wanted}: {}", self.about),
                    };
                    Problem::new(path(), "wrong_type", message)
                })
            }
            Check::OneOf(allowed) => {
                let Some(node) = node else { return Some(self.missing(path())) };
                let at = found.map_or(&self.field, |(path, _)| path);
                let is_allowed = scalar(node).is_some_and(|it| is_among(at, it, allowed));
                (!is_allowed).then(|| {
                    let message = format!("must be {}: {}", either(allowed), self.about);
                    Problem::new(path(), "wrong_value", message)
                })
            }
            Check::AtLeast(least) => {
                let n_items = node.and_then(items).map_or(0, <[Node]>::len);
                (n_items < *least).then(|| self.too_few(path(), node, n_items, *least))
            }
        }
    }

    /// True where the rule lists the words for what blocks, and one of `reasons` is not among them.
    pub(super) fn lacks_blocked_reason<'r>(
        &self,
        mut reasons: impl Iterator<Item = &'r str>,
    ) -> bool {
        match &self.check {
            Check::OneOf(words) if self.spellings().any(|it| is_blocked_reason(it)) => {
                reasons.any(|reason| !words.iter().any(|it| it == reason))
            }
            Check::OneOf(_)
            | Check::Present
            | Check::Kind(_)
            | Check::NoneOf(_)
            | Check::AtLeast(_)
            | Check::AtMost(_)
            | Check::Absent
            | Check::SameAs(_)
            | Check::CountedBy(_) => false,
        }
    }

    pub(super) fn with_blocked_reasons<'r>(
        &self,
        reasons: impl Iterator<Item = &'r str> + Clone,
    ) -> Self {
        let mut rule = self.clone();
        if self.lacks_blocked_reason(reasons.clone())
            && let Check::OneOf(words) = &mut rule.check
        {
            let known = words.clone();
            let is_new = |it: &&str| !known.iter().any(|word| word == it);
            words.extend(reasons.filter(is_new).map(str::to_owned));
        }
        rule
    }

    pub(crate) fn spellings(&self) -> impl Iterator<Item = &String> {
        std::iter::once(&self.field).chain(&self.others)
    }

    /// Where the value belongs in this document: beside the fields the sender has already written.
    fn natural_path(&self, body: &Body<'_>) -> &String {
        let depth = |path: &String| {
            let parents = path.match_indices('.').map(|(at, _)| &path[..at]);
            parents.filter(|it| body.at(it).is_some()).count()
        };
        // The first of the deepest: the usual spelling, unless another is deeper.
        let deepest = self.spellings().map(depth).max().unwrap_or(0);
        self.spellings().find(|it| depth(it) == deepest).unwrap_or(&self.field)
    }

    /// Checks every spelling: any of them may hold the contradiction.
    fn contradiction(&self, body: &Body<'_>, refused: &[String]) -> Option<Problem> {
        let says_it = |path: &&String| {
            let value = body.at(path).and_then(scalar);
            value.is_some_and(|it| is_among(path, it, refused))
        };
        let path = self.spellings().find(says_it)?;
        let message = format!("cannot be {} here: {}", either(refused), self.about);
        Some(Problem::new(body.path(path), "contradiction", message))
    }

    /// Checks every spelling, as a contradiction.
    fn excess(&self, body: &Body<'_>, most: u32) -> Option<Problem> {
        let problem = |path: &String| {
            let node = body.at(path).filter(|it| !it.is_blank())?;
            let number: Option<f64> = scalar(node).and_then(|it| it.trim().parse().ok());
            let (rule, message) = match number.filter(|it| it.is_finite()) {
                Some(number) if number <= f64::from(most) => return None,
                Some(_) => ("contradiction", format!("cannot be more than {most} here")),
                // What cannot be read may well be too much.
                None => ("wrong_type", format!("is not a number up to {most}")),
            };
            Some(Problem::new(body.path(path), rule, format!("{message}: {}", self.about)))
        };
        self.spellings().find_map(problem)
    }

    fn presence(&self, body: &Body<'_>) -> Option<Problem> {
        let is_there = |path: &&String| body.at(path).is_some_and(|it| !it.is_blank());
        let path = self.spellings().find(is_there)?;
        let message = format!("has to be null here: {}", self.about);
        Some(Problem::new(body.path(path), "contradiction", message))
    }

    fn difference(
        &self,
        body: &Body<'_>,
        path: impl Fn() -> String,
        node: &Node,
        other: &str,
    ) -> Option<Problem> {
        let (one, two) = (scalar(node)?.trim(), scalar(body.at(other)?)?.trim());
        (one != two).then(|| {
            let message = format!("is not what `{other}` says: {}", self.about);
            Problem::new(path(), "contradiction", message)
        })
    }

    fn surplus(
        &self,
        body: &Body<'_>,
        path: impl Fn() -> String,
        node: &Node,
        counted: &Counted,
    ) -> Option<Problem> {
        let most: usize = scalar(body.at(&counted.by)?)?.trim().parse().ok()?;
        let says = |item: &Node, key: &str, word: &str| {
            let attribute = || item.member(&format!("@{key}"));
            item.member(key).or_else(attribute).and_then(scalar) == Some(word)
        };
        let is_counted = |item: &&Node| match &counted.only {
            Some((key, word)) => says(item, key, word),
            None => true,
        };
        let n_items = items(node)?.iter().filter(is_counted).count();
        (n_items > most).then(|| {
            let which = counted.only.as_ref().map_or(String::new(), |(_, word)| format!("{word} "));
            let message = format!(
                "lists {n_items} {which}where `{}` says {most}: {}",
                counted.by, self.about
            );
            Problem::new(path(), "contradiction", message)
        })
    }

    fn too_few(&self, path: String, node: Option<&Node>, n_items: usize, least: usize) -> Problem {
        match node {
            None => self.missing(path),
            Some(node) if items(node).is_none() && !node.is_blank() => {
                let message = format!("is {}, not a list: {}", node.kind(), self.about);
                Problem::new(path, "wrong_type", message)
            }
            Some(_) => {
                let found =
                    if n_items == 0 { "none".to_owned() } else { format!("only {n_items}") };
                let message = format!("needs at least {least}, and has {found}: {}", self.about);
                Problem::new(path, "missing", message)
            }
        }
    }

    fn missing(&self, path: String) -> Problem {
        let message = if self.others.is_empty() {
            format!("is missing: {}", self.about)
        } else {
            let spellings: Vec<String> = self.spellings().cloned().collect();
            format!("is missing (one of {}): {}", either(&spellings), self.about)
        };
        Problem::new(path, "missing", message)
    }
}

fn is_blocked_reason(path: &str) -> bool {
    path.rsplit('.').next() == Some("blocked_reason")
}
