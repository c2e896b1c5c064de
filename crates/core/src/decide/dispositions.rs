//! Every finding of a review gets an answer. A contract that asks for `dispositions` asks for one for
//! each finding in the work that the sender had: accepted, declined with the reason, or deferred.
//! Where it also says that nothing blocks, no finding is accepted, and none is critical or important.

use std::collections::BTreeMap;

use crate::contract::{Body, Check, Contract, ContractRule, Profile};
use crate::document::Node;
use crate::outcome::Outcome;
use crate::package::{Format, Package};
use crate::plural::counted;
use crate::problem::Problem;
use crate::view::FindingToAnswer;
use crate::view::read::{field, items_at, text};

const FIELD: &str = "dispositions";
const BLOCKING: &str = "blocking_issues";

/// Each answer with the other forms in which agents write it. The first needs a reason.
const DECLINE: &[&str] = &["decline", "declined", "wontfix", "reject", "rejected"];
const ACCEPT: &[&str] = &["accept", "accepted", "fixed"];
const DEFER: &[&str] = &["defer", "deferred"];

/// Marks in the grammar of skeletons; see `docs/contracts.md`.
const ANSWER_MARK: &str = "<one of `accept`, `decline`, `defer`: what becomes of the finding>";
const UNFIXED_MARK: &str = "<one of `decline`, `defer`: what becomes of the finding>";
const REASON_MARK: &str = "<text: what was done, or why it is not done>";

/// What a package lacks of the answers that its contract asks for, or says against it.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct MissingAnswers {
    pub(super) problems: Vec<Problem>,
    /// The contract makes `dispositions` a `must`.
    is_must: bool,
    /// The package contradicts itself or the work that its sender had.
    is_contradicted: bool,
    /// The findings without an answer, by their places; blank for one without a place.
    locations: Vec<String>,
    way: WayOfAnswers,
    format: Format,
}

/// Where the answers go with the work.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum WayOfAnswers {
    /// To another review.
    Review,
    /// On, with nothing changed: a step that was skipped.
    Unchanged,
    /// Past the review: nothing was changed, and nothing blocks.
    PastReview,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Disposition {
    Accept,
    Decline,
    Defer,
}

/// True where a contract asks for the answers to a review.
pub fn asks_for_answers(contract: &Contract) -> bool {
    contract.must.iter().chain(&contract.should).any(|it| it.field == FIELD)
}

/// True for the rules of a contract that are about the answers, or about what they leave open.
pub(super) fn is_about_answers(rule: &ContractRule) -> bool {
    rule.field == FIELD || says_nothing_blocks(rule)
}

fn says_nothing_blocks(rule: &ContractRule) -> bool {
    rule.field == BLOCKING && rule.check == Check::Absent && rule.when.is_empty()
}

/// `None` where a contract asks for no answers, or all are there and go with the way.
pub(super) fn missing(
    contract: Option<&Contract>,
    to_answer: Option<&[FindingToAnswer]>,
    package: &Package,
    outcome: Option<Outcome>,
) -> Option<MissingAnswers> {
    let contract = contract.filter(|it| asks_for_answers(it))?;
    let asked = to_answer.unwrap_or_default();
    let way = if contract.must.iter().any(says_nothing_blocks) {
        WayOfAnswers::PastReview
    } else if outcome == Some(Outcome::Skipped) {
        WayOfAnswers::Unchanged
    } else {
        WayOfAnswers::Review
    };
    let body = Body::of(&package.document);
    let given = items_at(body.fields(), FIELD);
    let field_path = body.field_path(FIELD);
    let mut problems = unclear_ones(given, &field_path);
    let locations = unanswered(asked, given);
    // Where none is given, the contract's own rule says so.
    if !locations.is_empty() && !given.is_empty() {
        let message = format!(
            "leaves out {} of the {} in the work that came here; each finding needs an answer of \
             its own, with its `location` and an `answer`: accept, decline with the reason, or defer",
            locations.len(),
            counted(asked.len() as u64, "finding")
        );
        problems.push(Problem::new(&field_path, "unanswered_finding", message));
    }
    let contradictions = contradictions(asked, given, way, &field_path);
    let is_contradicted = !contradictions.is_empty();
    problems.extend(contradictions);
    let is_must = contract.must.iter().any(|it| it.field == FIELD);
    let is_complete = problems.is_empty() && locations.is_empty();
    let format = package.format;
    (!is_complete).then_some(MissingAnswers {
        problems,
        is_must,
        is_contradicted,
        locations,
        way,
        format,
    })
}

fn unclear_ones(given: &[Node], path: &str) -> Vec<Problem> {
    let problem = |(index, item): (usize, &Node)| {
        let message = unclear(item)?;
        Some(Problem::new(format!("{path}[{index}]"), "unclear_disposition", message))
    };
    given.iter().enumerate().filter_map(problem).collect()
}

/// The places of the findings that have no answer, one for each finding. An answer to no known place
/// is one to a finding without a place.
fn unanswered(asked: &[FindingToAnswer], given: &[Node]) -> Vec<String> {
    let mut open: BTreeMap<&str, usize> = BTreeMap::new();
    for finding in asked {
        *open.entry(place_of(finding)).or_default() += 1;
    }
    for item in given {
        let location = field(item, "location").unwrap_or_default();
        let place = if open.contains_key(location) { location } else { "" };
        if let Some(n_open) = open.get_mut(place) {
            *n_open = n_open.saturating_sub(1);
        }
    }
    let each = |(place, n_open): (&str, usize)| vec![place.to_owned(); n_open];
    open.into_iter().flat_map(each).collect()
}

fn place_of(finding: &FindingToAnswer) -> &str {
    finding.location.as_deref().unwrap_or_default().trim()
}

fn contradictions(
    asked: &[FindingToAnswer],
    given: &[Node],
    way: WayOfAnswers,
    path: &str,
) -> Vec<Problem> {
    let mut problems = Vec::new();
    let mut places: Vec<&str> = asked.iter().map(place_of).filter(|it| !it.is_empty()).collect();
    places.sort_unstable();
    places.dedup();
    for place in places {
        let n_asked = asked.iter().filter(|it| place_of(it) == place).count();
        let answers: Vec<Disposition> = given
            .iter()
            .filter(|it| field(it, "location") == Some(place))
            .filter_map(answer_of)
            .collect();
        let differ = answers.windows(2).any(|it| it[0] != it[1]);
        if answers.len() > n_asked && differ {
            let message = format!(
                "has {} that differ for {} at one place; give each finding one answer",
                counted(answers.len() as u64, "answer"),
                counted(n_asked as u64, "finding")
            );
            problems.push(Problem::new(path, "contradictory_disposition", message));
        }
    }
    if way == WayOfAnswers::Review {
        return problems;
    }
    for (index, item) in given.iter().enumerate() {
        if answer_of(item) == Some(Disposition::Accept) {
            let message = "accepts a finding where nothing was changed; hand what is fixed to the \
                           reviewer, or decline or defer the finding";
            let path = format!("{path}[{index}]");
            problems.push(Problem::new(path, "contradictory_disposition", message));
        }
    }
    let n_blocking = asked.iter().filter(|it| it.is_blocking).count();
    if way == WayOfAnswers::PastReview && n_blocking > 0 {
        let message = format!(
            "leaves {} that block open, critical or important ones: fix them and hand the work to \
             the reviewer, or give it back with `baton handoff reject` and the reason",
            counted(n_blocking as u64, "finding")
        );
        problems.push(Problem::new(path, "blocking_finding", message));
    }
    problems
}

fn answer_of(item: &Node) -> Option<Disposition> {
    let answer = field(item, "answer").or_else(|| field(item, "disposition"))?.to_lowercase();
    let words = [
        (ACCEPT, Disposition::Accept),
        (DECLINE, Disposition::Decline),
        (DEFER, Disposition::Defer),
    ];
    let known = words.into_iter().find(|(words, _)| words.contains(&answer.as_str()));
    known.map(|(_, disposition)| disposition)
}

fn unclear(item: &Node) -> Option<&'static str> {
    match answer_of(item) {
        None => Some("has no `answer`: accept, decline or defer"),
        Some(Disposition::Decline) => {
            let reason = text(item).map(str::trim).filter(|it| !it.is_empty());
            let reason =
                reason.or_else(|| field(item, "reason")).or_else(|| field(item, "rationale"));
            reason.is_none().then_some("declines a finding without a reason")
        }
        Some(Disposition::Accept | Disposition::Defer) => None,
    }
}

impl MissingAnswers {
    pub(super) fn refuses(&self, profile: Profile) -> bool {
        let is_asked = self.is_must || profile == Profile::Strict;
        self.is_contradicted || (is_asked && !self.problems.is_empty())
    }

    /// The skeleton with a place for every answer that is missing, unclear or contradicted.
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
        for answer in answers.iter_mut().filter(|it| self.is_refused(it)) {
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

    fn is_refused(&self, answer: &Node) -> bool {
        let is_fixed = answer_of(answer) == Some(Disposition::Accept);
        unclear(answer).is_some() || (is_fixed && self.way != WayOfAnswers::Review)
    }

    fn answer(&self, location: &str) -> Node {
        let keys = match self.format {
            Format::Xml => ["@location", "@answer", "#text"],
            Format::Json | Format::Yaml | Format::Markdown => ["location", "answer", "reason"],
        };
        let location =
            if location.is_empty() { "<text: the `location` of the finding>" } else { location };
        let mark = match self.way {
            WayOfAnswers::Review => ANSWER_MARK,
            WayOfAnswers::Unchanged | WayOfAnswers::PastReview => UNFIXED_MARK,
        };
        let values = [location, mark, REASON_MARK].map(Node::text);
        Node::map(keys.into_iter().zip(values))
    }
}

fn member_mut<'a>(node: &'a mut Node, key: &str) -> Option<&'a mut Node> {
    let Node::Map(members) = node else { return None };
    members.iter_mut().find(|(it, _)| it == key).map(|(_, node)| node)
}
