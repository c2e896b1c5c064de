//! The parts of a view, each read from every place and in every form that a source document uses.

use std::collections::BTreeSet;

use super::read::{field, items, items_at, owned_at, text, text_at, texts_at};
use crate::document::Node;
use crate::gate::GateKind;

const MOST_BLOCKERS: usize = 20;

#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ReportedDecision {
    pub id: Option<String>,
    pub decision: String,
    pub rationale: Option<String>,
    /// What it is about.
    pub subject: Option<String>,
    /// What was not chosen.
    pub alternatives: Vec<String>,
    /// The decision that it replaces: its number in the run, or its author's id.
    pub supersedes: Option<String>,
    pub depends_on: Vec<String>,
}

impl ReportedDecision {
    /// True where the choice is still to be made: the YAML handoff gives it the id `pending`.
    pub fn is_open(&self) -> bool {
        self.id.as_deref().is_some_and(|it| it.trim().eq_ignore_ascii_case("pending"))
    }
}

/// Something the sender made. Without a path it cannot be inspected.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Artifact {
    pub path: Option<String>,
    /// `spec`, `code`, `doc`, `config`: the sender's word.
    pub kind: Option<String>,
    pub description: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct OpenQuestion {
    pub question: String,
    pub priority: Option<String>,
    pub context: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Expectations {
    pub deliverable: Option<String>,
    pub constraints: Vec<String>,
    pub success_criteria: Vec<String>,
}

/// A reviewer's finding. Two findings are the same if both fields are equal.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct ReviewFinding {
    pub location: String,
    pub severity: String,
}

/// A finding that its receiver has to answer. Each one counts: two at one place are two, and one
/// without a place is one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FindingToAnswer {
    pub location: Option<String>,
    /// Critical or important, or listed among what blocks without a severity.
    pub is_blocking: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ErrorReport {
    pub message: String,
    pub is_recoverable: Option<bool>,
}

/// The YAML handoff's checklist at a gate, and what each answer means there.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ValidationRequest {
    /// The gate's own name.
    pub name: Option<String>,
    /// The sender's kind of the gate, where it is one of ours.
    pub kind: Option<GateKind>,
    pub items: Vec<String>,
    /// By the name of the answer, in the sender's words.
    pub options: Vec<(String, String)>,
}

/// The members of `key`: under `context` in the YAML handoff, at the top in all other documents.
fn listed<'a>(body: &'a Node, key: &str) -> &'a [Node] {
    let nested = || body.member("context").and_then(|it| it.member(key));
    body.member(key).or_else(nested).map(items).unwrap_or_default()
}

pub(crate) fn decisions(body: &Node) -> Vec<ReportedDecision> {
    let decision = |node: &Node| {
        let decision = text(node).or_else(|| field(node, "decision"))?.to_owned();
        let own = |key: &str| field(node, key).map(str::to_owned);
        let listed = |keys: &[&str]| {
            keys.iter().map(|it| options(node, it)).find(|it| !it.is_empty()).unwrap_or_default()
        };
        Some(ReportedDecision {
            id: own("id"),
            decision,
            rationale: own("rationale"),
            subject: own("subject"),
            alternatives: listed(&["alternatives", "alternatives_considered"]),
            supersedes: listed(&["supersedes"]).into_iter().next(),
            depends_on: listed(&["depends_on", "dependsOn"]),
        })
    };
    let disposition = |node: &Node| {
        let about = ["finding", "item", "location"].iter().find_map(|it| field(node, it))?;
        let disposition = field(node, "disposition").or_else(|| field(node, "answer"))?;
        let rationale = ["reason", "rationale", "#text"].iter().find_map(|it| field(node, it));
        Some(ReportedDecision {
            id: field(node, "id").map(str::to_owned),
            decision: format!("{disposition}: {about}"),
            rationale: rationale.map(str::to_owned),
            ..ReportedDecision::default()
        })
    };
    let made = ["decisions", "key_decisions"].iter().flat_map(|it| listed(body, it));
    let settled = listed(body, "dispositions").iter().filter_map(disposition);
    made.filter_map(decision).chain(settled).collect()
}

/// The texts of a list whose items are texts, or name what they are about.
fn options(node: &Node, key: &str) -> Vec<String> {
    let named = |it: &Node| {
        let keys = ["option", "alternative", "name", "decision", "id"];
        let said = text(it).or_else(|| keys.iter().find_map(|key| field(it, key)));
        said.map(|it| it.trim().to_owned()).filter(|it| !it.is_empty())
    };
    items_at(node, key).iter().filter_map(named).collect()
}

pub(super) fn artifacts(body: &Node) -> Vec<Artifact> {
    let artifact = |node: &Node| {
        let own = |key: &str| field(node, key).map(str::to_owned);
        let path = text(node).map(str::to_owned).or_else(|| own("path"));
        Artifact { path, kind: own("type"), description: own("description") }
    };
    listed(body, "artifacts").iter().map(artifact).collect()
}

/// A number of files (the XML handoff) names none.
pub(super) fn files(body: &Node) -> Vec<String> {
    let path = |node: &Node| Some(text(node).or_else(|| field(node, "path"))?.to_owned());
    ["files_modified", "files_changed"]
        .iter()
        .filter(|it| body.member(it).is_some_and(|it| it.scalar_text().is_none()))
        .flat_map(|it| listed(body, it))
        .filter_map(path)
        .collect()
}

pub(super) fn open_questions(body: &Node) -> Vec<OpenQuestion> {
    let question = |node: &Node| {
        let own = |key: &str| field(node, key).map(str::to_owned);
        let question = text(node).map(str::to_owned).or_else(|| own("question"))?;
        Some(OpenQuestion { question, priority: own("priority"), context: own("context") })
    };
    listed(body, "open_questions").iter().filter_map(question).collect()
}

pub(super) fn expectations(body: &Node) -> Option<Expectations> {
    let expectations = body.member("expectations")?;
    Some(Expectations {
        deliverable: owned_at(expectations, "deliverable"),
        constraints: texts_at(expectations, "constraints"),
        success_criteria: texts_at(expectations, "success_criteria"),
    })
}

/// Where a reviewer lists its findings.
const FINDINGS: [&str; 3] = ["findings", "issues", BLOCKING];
const BLOCKING: &str = "blocking_issues";

pub(crate) fn findings(body: &Node) -> BTreeSet<ReviewFinding> {
    let finding = |node: &Node| {
        let own = |key: &str| field(node, key).map(str::to_owned);
        Some(ReviewFinding { location: own("location")?, severity: own("severity")? })
    };
    FINDINGS.iter().flat_map(|it| items_at(body, it)).filter_map(finding).collect()
}

/// Every finding, as its receiver has to answer it. What two lists say of one finding counts once.
pub(super) fn findings_to_answer(body: &Node) -> Vec<FindingToAnswer> {
    let mut found: Vec<(&str, String, bool)> = Vec::new();
    for key in FINDINGS {
        let mut before = found.clone();
        let items = items_at(body, key);
        for (index, item) in items.iter().enumerate() {
            if item.is_blank() || items[..index].contains(item) {
                continue;
            }
            let location = field(item, "location").unwrap_or_default();
            let severity = field(item, "severity").unwrap_or_default().to_lowercase();
            let is_blocking = match severity.as_str() {
                "critical" | "important" => true,
                "" => key == BLOCKING,
                _ => false,
            };
            let same = before.iter().position(|it| it.0 == location && it.1 == severity);
            match same {
                Some(at) => drop(before.remove(at)),
                None => found.push((location, severity, is_blocking)),
            }
        }
    }
    let finding = |(location, _, is_blocking): (&str, String, bool)| FindingToAnswer {
        location: (!location.is_empty()).then(|| location.to_owned()),
        is_blocking,
    };
    found.into_iter().map(finding).collect()
}

/// The failures of a validation: the kind of each, and its text.
pub(crate) fn failures(body: &Node) -> BTreeSet<(String, String)> {
    let failure = |node: &Node| {
        let words = ["message", "description", "details"].iter().find_map(|it| field(node, it));
        let place = || field(node, "location");
        let words =
            text(node).or(words).or_else(place).map(str::trim).filter(|it| !it.is_empty())?;
        let kind = field(node, "type").unwrap_or_default().trim().to_lowercase();
        Some((kind, words.to_owned()))
    };
    items_at(body, "failures").iter().filter_map(failure).collect()
}

pub(super) fn error(body: &Node) -> Option<ErrorReport> {
    let error = body.member("error").filter(|it| !it.is_blank())?;
    let message = text(error).or_else(|| field(error, "message"));
    Some(ErrorReport {
        message: message.unwrap_or("an error without a message").to_owned(),
        is_recoverable: match text_at(error, "recoverable") {
            Some("true") => Some(true),
            Some("false") => Some(false),
            Some(_) | None => None,
        },
    })
}

/// The sender's blockers, in its own words; limited to a number that people can resolve. The last one
/// has all that are more.
pub(crate) fn blockers(body: &Node) -> Vec<String> {
    let blocker = |node: &Node| {
        let named =
            || ["description", "text", "blocker", "reason"].iter().find_map(|it| field(node, it));
        let description = text(node).or_else(named)?.trim();
        (!description.is_empty()).then(|| description.to_owned())
    };
    let places = ["blockers", "handoff.blockers", "context.blockers"];
    let place = places.iter().find(|it| body.at(it).is_some());
    let nodes = place.map(|it| items_at(body, it)).unwrap_or_default();
    let mut blockers: Vec<String> = nodes.iter().filter_map(blocker).collect();
    if blockers.len() > MOST_BLOCKERS {
        let last = blockers.split_off(MOST_BLOCKERS - 1);
        blockers.push(last.join("\n"));
    }
    blockers
}

pub(super) fn validation(body: &Node) -> Option<ValidationRequest> {
    let request = body.member("validation_request");
    let gate = body.member("gate");
    if request.is_none() && gate.is_none() {
        return None;
    }
    let options = match request.and_then(|it| it.member("options")) {
        Some(Node::Map(options)) => options.as_slice(),
        Some(_) | None => &[],
    };
    let option = |(name, node): &(String, Node)| Some((name.clone(), text(node)?.to_owned()));
    Some(ValidationRequest {
        name: gate.and_then(|it| owned_at(it, "name")),
        kind: gate.and_then(|it| text_at(it, "type")).and_then(GateKind::parse),
        items: request.map(|it| texts_at(it, "items")).unwrap_or_default(),
        options: options.iter().filter_map(option).collect(),
    })
}
