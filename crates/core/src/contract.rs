//! What a package must and should hold on an edge, and what to say when it does not.

use crate::document::{Node, NodeKind};
use crate::problem::Problem;

/// The rules of one edge. `must` makes a handoff usable; `should` makes it good.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Contract {
    pub name: String,
    pub must: Vec<Rule>,
    pub should: Vec<Rule>,
}

/// How severe a contract is taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Profile {
    /// `must` refuses, `should` is told to both sides as a warning.
    Lenient,
    /// Both refuse.
    Strict,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rule {
    /// A dotted path: where the value usually stands.
    pub field: String,
    /// Other spellings, any of which will do.
    pub others: Vec<String>,
    /// What belongs there, for problems, skeletons and prompts.
    pub about: String,
    pub check: Check,
    /// The rule holds only in this case.
    pub when: Option<When>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Check {
    /// There, and not blank.
    Present,
    /// There, and of this kind. An empty list or map counts: "none" is an answer.
    Kind(ValueKind),
    /// There, and one of these scalars.
    OneOf(Vec<String>),
    /// Where it is there, none of these scalars: a contradiction otherwise.
    NoneOf(Vec<String>),
}

/// Contracts read numbers and booleans from text too, since XML has nothing else.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ValueKind {
    Text,
    Number,
    Bool,
    List,
    Map,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct When {
    pub field: String,
    pub is: String,
}

/// What a contract says about one document.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Report {
    pub must: Vec<Problem>,
    pub should: Vec<Problem>,
}

impl Contract {
    /// Checks every rule; nothing is left for a second round.
    pub fn check(&self, document: &Node) -> Report {
        let problems = |rules: &[Rule]| rules.iter().filter_map(|it| it.check(document)).collect();
        Report { must: problems(&self.must), should: problems(&self.should) }
    }

    /// The document with every valid part kept and every missing or wrong one marked.
    pub fn skeleton(&self, document: &Node) -> Node {
        let mut skeleton = match document {
            Node::Map(_) => document.clone(),
            Node::Null | Node::Bool(_) | Node::Number(_) | Node::Text(_) | Node::List(_) => {
                Node::Map(Vec::new())
            }
        };
        for rule in self.must.iter().chain(&self.should) {
            // Once for each spelling: a contradiction may stand in several.
            for _ in rule.spellings() {
                if let Some(problem) = rule.check(&skeleton) {
                    set(&mut skeleton, &problem.path, rule.placeholder());
                }
            }
        }
        skeleton
    }
}

impl Report {
    /// The problems that refuse the document under `profile`.
    pub fn refusing(&self, profile: Profile) -> Vec<Problem> {
        match profile {
            Profile::Lenient => self.must.clone(),
            Profile::Strict if self.must.is_empty() && self.should.is_empty() => Vec::new(),
            Profile::Strict => self.must.iter().chain(&self.should).cloned().collect(),
        }
    }
}

impl Rule {
    fn check(&self, document: &Node) -> Option<Problem> {
        if let Some(when) = &self.when {
            let value = document.at(&when.field).and_then(Node::scalar_text);
            if value != Some(when.is.as_str()) {
                return None;
            }
        }
        if let Check::NoneOf(refused) = &self.check {
            return self.contradiction(document, refused);
        }
        let found = self.spellings().find_map(|it| Some((it, document.at(it)?)));
        let path = found.map_or_else(|| self.natural_path(document), |(path, _)| path);
        match (&self.check, found.map(|(_, node)| node)) {
            (Check::NoneOf(_), _) => None,
            (Check::Present | Check::Kind(_) | Check::OneOf(_), None) => Some(self.missing(path)),
            (Check::Present, Some(node)) => {
                // Another spelling may hold what this one leaves blank.
                let is_there = |it: &String| document.at(it).is_some_and(|it| !it.is_blank());
                let is_blank = node.is_blank() && !self.spellings().any(is_there);
                is_blank.then(|| self.missing(path))
            }
            (Check::Kind(kind), Some(node)) => (!kind.holds(node)).then(|| {
                let message =
                    format!("is {}, not {}: {}", node.kind(), kind.node_kind(), self.about);
                Problem::new(path, "wrong_type", message)
            }),
            (Check::OneOf(allowed), Some(node)) => {
                let is_allowed =
                    node.scalar_text().is_some_and(|it| allowed.iter().any(|word| word == it));
                (!is_allowed).then(|| {
                    let message = format!("must be {}: {}", either(allowed), self.about);
                    Problem::new(path, "wrong_value", message)
                })
            }
        }
    }

    fn spellings(&self) -> impl Iterator<Item = &String> {
        std::iter::once(&self.field).chain(&self.others)
    }

    /// Where the value would stand in this document: beside what the sender has written already.
    fn natural_path(&self, document: &Node) -> &String {
        let depth = |path: &String| {
            let parents = path.match_indices('.').map(|(at, _)| &path[..at]);
            parents.filter(|it| document.at(it).is_some()).count()
        };
        // The first of the deepest: the usual spelling, where none is better.
        let deepest = self.spellings().map(depth).max().unwrap_or(0);
        self.spellings().find(|it| depth(it) == deepest).unwrap_or(&self.field)
    }

    /// Whichever spelling says it: a contradiction is one wherever it stands.
    fn contradiction(&self, document: &Node, refused: &[String]) -> Option<Problem> {
        let says_it = |path: &&String| {
            let value = document.at(path).and_then(Node::scalar_text);
            value.is_some_and(|it| refused.iter().any(|word| word == it))
        };
        let path = self.spellings().find(says_it)?;
        let message = format!("cannot be {} here: {}", either(refused), self.about);
        Some(Problem::new(path, "contradiction", message))
    }

    fn missing(&self, path: &str) -> Problem {
        let message = if self.others.is_empty() {
            format!("is missing: {}", self.about)
        } else {
            let spellings: Vec<String> = self.spellings().cloned().collect();
            format!("is missing (one of {}): {}", either(&spellings), self.about)
        };
        Problem::new(path, "missing", message)
    }

    /// What a skeleton shows where the rule is not kept yet.
    fn placeholder(&self) -> Node {
        let mark = Node::Text(format!("<{}>", self.about));
        match &self.check {
            Check::Kind(ValueKind::List) => Node::List(vec![mark]),
            Check::Kind(ValueKind::Bool) => Node::Text(format!("<true or false: {}>", self.about)),
            Check::Kind(ValueKind::Number) => Node::Text(format!("<a number: {}>", self.about)),
            Check::OneOf(allowed) => Node::Text(format!("<{}: {}>", either(allowed), self.about)),
            Check::Kind(ValueKind::Map) => Node::Text(format!("<a map: {}>", self.about)),
            Check::Present | Check::Kind(ValueKind::Text) | Check::NoneOf(_) => mark,
        }
    }
}

impl ValueKind {
    fn holds(self, node: &Node) -> bool {
        match self {
            ValueKind::Text => node.as_text().is_some_and(|it| !it.trim().is_empty()),
            ValueKind::List => node.kind() == NodeKind::List,
            ValueKind::Map => node.kind() == NodeKind::Map,
            ValueKind::Bool => matches!(node.scalar_text(), Some("true" | "false")),
            ValueKind::Number => {
                node.scalar_text().is_some_and(|it| crate::document::Number::parse(it).is_some())
            }
        }
    }

    fn node_kind(self) -> NodeKind {
        match self {
            ValueKind::Text => NodeKind::Text,
            ValueKind::Number => NodeKind::Number,
            ValueKind::Bool => NodeKind::Bool,
            ValueKind::List => NodeKind::List,
            ValueKind::Map => NodeKind::Map,
        }
    }
}

/// Writes `value` at a dotted path, making the maps on the way.
fn set(node: &mut Node, path: &str, value: Node) {
    let (key, rest) = path.split_once('.').map_or((path, None), |(key, rest)| (key, Some(rest)));
    if node.kind() != NodeKind::Map {
        *node = Node::Map(Vec::new());
    }
    let Node::Map(members) = node else { return };
    let index = members.iter().position(|(it, _)| it == key).unwrap_or_else(|| {
        members.push((key.to_owned(), Node::Null));
        members.len() - 1
    });
    match rest {
        Some(rest) => set(&mut members[index].1, rest, value),
        None => members[index].1 = value,
    }
}

fn either(words: &[String]) -> String {
    let words: Vec<String> = words.iter().map(|it| format!("`{it}`")).collect();
    words.join(" or ")
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    #[test]
    fn what_is_missing_is_marked_where_the_sender_would_have_written_it() {
        let rule = Rule {
            field: "context.artifacts".to_owned(),
            others: vec!["handoff.context.artifacts".to_owned(), "artifacts".to_owned()],
            about: "the files".to_owned(),
            check: Check::Kind(ValueKind::List),
            when: None,
        };
        let contract = Contract { name: "c".to_owned(), must: vec![rule], should: Vec::new() };
        let context = || Node::map([("summary", Node::text("s"))]);
        let rooted = Node::map([("handoff", Node::map([("context", context())]))]);
        for (document, path) in [
            (Node::map([]), "context.artifacts"),
            (Node::map([("context", context())]), "context.artifacts"),
            (rooted, "handoff.context.artifacts"),
        ] {
            assert_eq!(contract.check(&document).must[0].path, path);
        }
    }

    use super::*;

    fn rule(fields: &[&str], check: Check) -> Rule {
        let mut fields = fields.iter().map(|it| (*it).to_owned());
        let field = fields.next().unwrap();
        let about = "what it is for".to_owned();
        Rule { field, others: fields.collect(), about, check, when: None }
    }

    fn contract(must: Vec<Rule>) -> Contract {
        Contract { name: "test".to_owned(), must, should: Vec::new() }
    }

    #[track_caller]
    fn check(rule: Rule, document: Node, expected: Expect) {
        let report = contract(vec![rule]).check(&document);
        let problems: Vec<String> = report.must.iter().map(ToString::to_string).collect();
        expected.assert_eq(&problems.join("\n"));
    }

    #[test]
    fn a_field_has_to_be_there_and_say_something() {
        let plan = || rule(&["plan"], Check::Present);
        check(plan(), Node::map([]), expect!["plan: is missing: what it is for [missing]"]);
        check(
            plan(),
            Node::map([("plan", Node::text(" \n"))]),
            expect!["plan: is missing: what it is for [missing]"],
        );
        check(plan(), Node::map([("plan", Node::text("..."))]), expect![""]);
    }

    #[test]
    fn either_spelling_will_do() {
        let story = || rule(&["story", "story_id"], Check::Present);
        check(story(), Node::map([("story_id", Node::text("1"))]), expect![""]);
        check(
            story(),
            Node::map([("story", Node::Null), ("story_id", Node::text("1"))]),
            expect![""],
        );
        check(
            story(),
            Node::map([]),
            expect!["story: is missing (one of `story` or `story_id`): what it is for [missing]"],
        );
    }

    #[test]
    fn a_contradiction_is_one_only_where_it_is_said() {
        let build = || rule(&["build_passes"], Check::NoneOf(vec!["false".to_owned()]));
        check(build(), Node::map([]), expect![""]);
        check(build(), Node::map([("build_passes", Node::Bool(true))]), expect![""]);
        for failing in [Node::Bool(false), Node::text("false")] {
            check(
                build(),
                Node::map([("build_passes", failing)]),
                expect!["build_passes: cannot be `false` here: what it is for [contradiction]"],
            );
        }
    }

    #[test]
    fn a_contradiction_counts_in_every_spelling() {
        let rule = rule(&["approved", "ok"], Check::NoneOf(vec!["false".to_owned()]));
        let contract = contract(vec![rule]);
        let both = Node::map([("approved", Node::Bool(false)), ("ok", Node::Bool(false))]);
        assert_eq!(contract.check(&both).must.len(), 1);
        let skeleton = contract.skeleton(&both);
        assert_eq!(contract.check(&skeleton), Report::default(), "{skeleton:?}");
    }

    #[test]
    fn a_rule_may_hold_in_one_case_only() {
        let merged = || Rule {
            when: Some(When { field: "status".to_owned(), is: "merged".to_owned() }),
            ..rule(&["sha"], Check::Present)
        };
        check(merged(), Node::map([("status", Node::text("open"))]), expect![""]);
        check(
            merged(),
            Node::map([("status", Node::text("merged"))]),
            expect!["sha: is missing: what it is for [missing]"],
        );
    }

    #[test]
    fn numbers_and_booleans_are_read_from_text_too() {
        let number = || rule(&["n"], Check::Kind(ValueKind::Number));
        check(number(), Node::map([("n", Node::text("12"))]), expect![""]);
        check(
            number(),
            Node::map([("n", Node::text("12 or so"))]),
            expect!["n: is text, not a number: what it is for [wrong_type]"],
        );
    }

    #[test]
    fn a_skeleton_keeps_what_is_right_and_passes_once_filled() {
        let contract = contract(vec![
            rule(&["context.summary"], Check::Present),
            rule(&["files"], Check::Kind(ValueKind::List)),
            rule(&["plan"], Check::Present),
        ]);
        let sent = Node::map([("plan", Node::text("mine")), ("files", Node::text("a.rs"))]);
        let skeleton = contract.skeleton(&sent);
        let mark = || Node::text("<what it is for>");
        let expected = Node::map([
            ("plan", Node::text("mine")),
            ("files", Node::List(vec![mark()])),
            ("context", Node::map([("summary", mark())])),
        ]);
        assert_eq!(skeleton, expected);
        assert_eq!(contract.check(&skeleton), Report::default());
    }
}
