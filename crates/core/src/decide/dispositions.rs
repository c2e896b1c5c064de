//! Every finding of a review gets an answer. A contract that asks for `dispositions` asks for one for
//! each finding in the work that the sender had: accepted, declined with the reason, or deferred.

use std::collections::BTreeSet;

use crate::contract::{Body, Contract, Profile};
use crate::document::Node;
use crate::package::{Format, Package};
use crate::problem::Problem;
use crate::view::ReviewFinding;
use crate::view::read::{field, items_at, text};

pub(super) const FIELD: &str = "dispositions";

/// Each answer with the other forms in which agents write it. The first needs a reason.
const DECLINE: &[&str] = &["decline", "declined", "wontfix", "reject", "rejected"];
const OTHERS: &[&str] = &["accept", "accepted", "fixed", "defer", "deferred"];

/// Marks in the grammar of skeletons; see `docs/contracts.md`.
const ANSWER_MARK: &str = "<one of `accept`, `decline`, `defer`: what becomes of the finding>";
const REASON_MARK: &str = "<text: what was done, or why it is not done>";

/// What a package lacks of the answers that its contract asks for.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct MissingAnswers {
    pub(super) problems: Vec<Problem>,
    /// The contract makes `dispositions` a `must`.
    is_must: bool,
    /// The findings without an answer, by their places.
    locations: Vec<String>,
    format: Format,
}

/// True where a contract asks for the answers to a review.
pub fn asks_for_answers(contract: &Contract) -> bool {
    contract.must.iter().chain(&contract.should).any(|it| it.field == FIELD)
}

/// `None` where the contract asks for no answers, or all are there.
pub(super) fn missing(
    contract: Option<&Contract>,
    to_answer: Option<&BTreeSet<ReviewFinding>>,
    package: &Package,
) -> Option<MissingAnswers> {
    let contract = contract.filter(|it| asks_for_answers(it))?;
    let body = Body::of(&package.document);
    let given = items_at(body.fields(), FIELD);
    let mut problems = Vec::new();
    for (index, item) in given.iter().enumerate() {
        let path = || format!("{}[{index}]", body.field_path(FIELD));
        problems.extend(
            unclear(item).map(|message| Problem::new(path(), "unclear_disposition", message)),
        );
    }
    let answered: BTreeSet<&str> = given.iter().filter_map(|it| field(it, "location")).collect();
    let asked: BTreeSet<&str> =
        to_answer.into_iter().flatten().map(|it| it.location.trim()).collect();
    let locations: Vec<String> = asked.difference(&answered).map(|it| (*it).to_owned()).collect();
    // Where none is given, the contract's own rule says so.
    if !locations.is_empty() && !given.is_empty() {
        let message = format!(
            "leaves out {} of the {} places with findings in the work that came here; each finding \
             needs its `location` and an `answer`: accept, decline with the reason, or defer",
            locations.len(),
            asked.len()
        );
        problems.push(Problem::new(body.field_path(FIELD), "unanswered_finding", message));
    }
    let is_must = contract.must.iter().any(|it| it.field == FIELD);
    let is_complete = problems.is_empty() && locations.is_empty();
    (!is_complete).then_some(MissingAnswers {
        problems,
        is_must,
        locations,
        format: package.format,
    })
}

fn unclear(item: &Node) -> Option<&'static str> {
    let answer = field(item, "answer").or_else(|| field(item, "disposition"));
    let answer = answer.unwrap_or_default().to_lowercase();
    if DECLINE.contains(&answer.as_str()) {
        let reason = text(item).map(str::trim).filter(|it| !it.is_empty());
        let reason = reason.or_else(|| field(item, "reason")).or_else(|| field(item, "rationale"));
        return reason.is_none().then_some("declines a finding without a reason");
    }
    let is_known = OTHERS.contains(&answer.as_str());
    (!is_known).then_some("has no `answer`: accept, decline or defer")
}

impl MissingAnswers {
    pub(super) fn refuses(&self, profile: Profile) -> bool {
        (self.is_must || profile == Profile::Strict) && !self.problems.is_empty()
    }

    /// The skeleton with a place for every answer that is missing or unclear.
    pub(super) fn marked(&self, mut skeleton: Node, package: &Package) -> Node {
        let root = Body::of(&skeleton).inside.map(|(key, _)| key.to_owned());
        let has_answers = !items_at(Body::of(&package.document).fields(), FIELD).is_empty();
        let fields = match &root {
            Some(root) => member_mut(&mut skeleton, root),
            None => Some(&mut skeleton),
        };
        let Some(Node::Map(members)) = fields else { return skeleton };
        if !members.iter().any(|(key, _)| key == FIELD) {
            members.push((FIELD.to_owned(), Node::Null));
        }
        let Some((_, given)) = members.iter_mut().find(|(key, _)| key == FIELD) else {
            return skeleton;
        };
        let mut answers = match has_answers {
            true => items_at(&Node::Map(vec![(FIELD.to_owned(), given.clone())]), FIELD).to_vec(),
            // A mark of the contract's own rule stands there.
            false => Vec::new(),
        };
        for answer in answers.iter_mut().filter(|it| unclear(it).is_some()) {
            *answer = self.answer(field(answer, "location").unwrap_or_default());
        }
        answers.extend(self.locations.iter().map(|it| self.answer(it)));
        if !answers.is_empty() {
            *given = match self.format {
                Format::Xml => Node::map([("disposition", Node::List(answers))]),
                Format::Json | Format::Yaml | Format::Markdown => Node::List(answers),
            };
        }
        skeleton
    }

    fn answer(&self, location: &str) -> Node {
        let keys = match self.format {
            Format::Xml => ["@location", "@answer", "#text"],
            Format::Json | Format::Yaml | Format::Markdown => ["location", "answer", "reason"],
        };
        let location =
            if location.is_empty() { "<text: the `location` of the finding>" } else { location };
        let values = [location, ANSWER_MARK, REASON_MARK].map(Node::text);
        Node::map(keys.into_iter().zip(values))
    }
}

fn member_mut<'a>(node: &'a mut Node, key: &str) -> Option<&'a mut Node> {
    let Node::Map(members) = node else { return None };
    members.iter_mut().find(|(it, _)| it == key).map(|(_, node)| node)
}
