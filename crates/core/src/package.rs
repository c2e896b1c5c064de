//! What is handed over: the document as its sender wrote it, and what Baton reads in it.

use std::collections::BTreeSet;
use std::sync::Arc;

use sha2::{Digest as _, Sha256};

use crate::canonical;
use crate::document::Node;
use crate::hash::Hash;

mod format;

pub use format::Format;

const MOST_BLOCKERS: usize = 20;

/// Cheap to clone: a decision may have to be made more than once.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Package {
    pub format: Format,
    /// The sender's own text: what is stored, and what comes back.
    pub text: Arc<str>,
    pub document: Arc<Node>,
}

/// The typed view: computed, never stored in place of the document.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct View {
    pub summary: Option<String>,
    pub decisions: Vec<Decision>,
    /// Paths of files that the sender made or changed.
    pub artifacts: Vec<String>,
    pub open_questions: Vec<String>,
    pub findings: BTreeSet<Finding>,
    /// The sender says that something went wrong.
    pub error: Option<String>,
    /// What a person is asked to look at.
    pub validation: Option<ValidationRequest>,
}

/// Seed 004's checklist at a gate, and what each answer means there.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ValidationRequest {
    /// The gate's own name.
    pub name: Option<String>,
    pub items: Vec<String>,
    /// By the name of the answer, in the sender's words.
    pub options: Vec<(String, String)>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Decision {
    pub id: Option<String>,
    pub decision: String,
    pub rationale: Option<String>,
}

/// Something a reviewer found. Two reviews found the same if these two fields are the same.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Finding {
    pub location: String,
    pub severity: String,
}

impl Package {
    pub fn new(format: Format, text: impl Into<Arc<str>>, document: Node) -> Self {
        Self { format, text: text.into(), document: Arc::new(document) }
    }

    /// The package's identity: the same for the same content, however it is written.
    pub fn hash(&self) -> Hash {
        canonical::hash(&self.document)
    }

    pub fn view(&self) -> View {
        let document = self.document.as_ref();
        View {
            summary: text_of(document, "summary"),
            decisions: list_of(document, "decisions").iter().filter_map(decision).collect(),
            artifacts: ["artifacts", "files_modified", "files_changed"]
                .iter()
                .flat_map(|key| list_of(document, key))
                .filter_map(|it| it.as_text().or_else(|| it.member("path")?.as_text()))
                .map(str::to_owned)
                .collect(),
            open_questions: list_of(document, "open_questions")
                .iter()
                .filter_map(|it| it.as_text().or_else(|| it.member("question")?.as_text()))
                .map(str::to_owned)
                .collect(),
            findings: self.findings(),
            error: document.member("error").filter(|it| !it.is_blank()).map(error_text),
            validation: self.validation_request(),
        }
    }

    fn validation_request(&self) -> Option<ValidationRequest> {
        let root = self.document.member("handoff").unwrap_or(&self.document);
        let request = root.member("validation_request");
        let gate = root.member("gate");
        if request.is_none() && gate.is_none() {
            return None;
        }
        let items = request.and_then(|it| it.member("items")?.as_list()).unwrap_or_default();
        let options = match request.and_then(|it| it.member("options")) {
            Some(Node::Map(options)) => options.as_slice(),
            Some(_) | None => &[],
        };
        let option =
            |(name, text): &(String, Node)| Some((name.clone(), text.scalar_text()?.to_owned()));
        let name = gate.and_then(|it| it.member("name")).and_then(Node::scalar_text);
        Some(ValidationRequest {
            name: name.map(str::to_owned),
            items: items.iter().filter_map(Node::scalar_text).map(str::to_owned).collect(),
            options: options.iter().filter_map(option).collect(),
        })
    }

    /// What a reviewer found wrong, for telling a review that goes in circles.
    pub fn findings(&self) -> BTreeSet<Finding> {
        ["findings", "issues", "blocking_issues", "blocking_issues.issue"]
            .iter()
            .filter_map(|path| self.document.at(path)?.as_list())
            .flatten()
            .filter_map(finding)
            .collect()
    }

    /// Why the work goes back, where the sender gave no reason beside the package.
    pub fn stated_reason(&self) -> Option<&str> {
        ["reason", "feedback", "summary"]
            .iter()
            .filter_map(|key| text_at(&self.document, key))
            .find(|it| !it.trim().is_empty())
    }

    /// True where the sender says that it stands at a gate (seed 004).
    pub fn asks_for_gate(&self) -> bool {
        ["gate", "handoff.gate"].iter().any(|it| self.document.at(it).is_some())
    }

    /// What keeps the sender from going on, in its own words; no more than anybody could clear.
    pub fn blockers(&self) -> Vec<String> {
        let lists = ["blockers", "handoff.blockers", "context.blockers"];
        let named = lists.iter().find_map(|it| self.document.at(it)?.as_list());
        named.unwrap_or_default().iter().filter_map(blocker).take(MOST_BLOCKERS).collect()
    }

    pub fn has_error(&self) -> bool {
        self.document.member("error").is_some_and(|it| !it.is_blank())
    }
}

/// One digest for a set of findings; none where nothing was found.
pub fn findings_hash(findings: &BTreeSet<Finding>) -> Option<Hash> {
    if findings.is_empty() {
        return None;
    }
    let mut digest = Sha256::new();
    for finding in findings {
        for field in [&finding.location, &finding.severity] {
            digest.update((field.len() as u64).to_be_bytes());
            digest.update(field);
        }
    }
    Some(Hash(digest.finalize().into()))
}

/// Seeds 000 and 002 write at the top, seed 004 under `context`.
fn text_at<'a>(document: &'a Node, key: &str) -> Option<&'a str> {
    let nested = || document.member("context").and_then(|it| it.member(key));
    document.member(key).or_else(nested).and_then(Node::as_text)
}

fn text_of(document: &Node, key: &str) -> Option<String> {
    text_at(document, key).map(|it| it.trim().to_owned()).filter(|it| !it.is_empty())
}

fn list_of<'a>(document: &'a Node, key: &str) -> &'a [Node] {
    let nested = || document.member("context").and_then(|it| it.member(key));
    document.member(key).or_else(nested).and_then(Node::as_list).unwrap_or_default()
}

fn decision(node: &Node) -> Option<Decision> {
    let text = |key: &str| node.member(key).and_then(Node::as_text).map(str::to_owned);
    let decision = node.as_text().map(str::to_owned).or_else(|| text("decision"))?;
    Some(Decision { id: text("id"), decision, rationale: text("rationale") })
}

fn finding(node: &Node) -> Option<Finding> {
    let text = |key: &str| {
        let attribute = || node.member(&format!("@{key}"));
        node.member(key).or_else(attribute).and_then(Node::scalar_text).map(str::to_owned)
    };
    Some(Finding { location: text("location")?, severity: text("severity")? })
}

fn blocker(node: &Node) -> Option<String> {
    let named = || {
        let keys = ["description", "text", "blocker", "reason"];
        keys.iter().find_map(|it| node.member(it)?.scalar_text())
    };
    let text = node.scalar_text().or_else(named)?.trim();
    if text.is_empty() { None } else { Some(text.chars().take(1000).collect()) }
}

fn error_text(node: &Node) -> String {
    let message = || node.member("message").and_then(Node::scalar_text);
    node.scalar_text().or_else(message).unwrap_or("an error without a message").to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn package(document: Node) -> Package {
        Package::new(Format::Json, "", document)
    }

    fn issue(location: &str, severity: &str) -> Node {
        Node::map([("location", Node::text(location)), ("severity", Node::text(severity))])
    }

    #[test]
    fn the_view_reads_the_top_and_the_context() {
        let decisions = Node::List(vec![Node::map([
            ("id", Node::text("D-001")),
            ("decision", Node::text("JWT")),
            ("rationale", Node::text("stateless")),
        ])]);
        let artifact = Node::map([("path", Node::text("docs/a.md"))]);
        let context = Node::map([
            ("summary", Node::text(" Did it. ")),
            ("decisions", decisions),
            ("artifacts", Node::List(vec![artifact, Node::text("b.rs")])),
        ]);
        let view = package(Node::map([("context", context)])).view();
        let expected = View {
            summary: Some("Did it.".to_owned()),
            decisions: vec![Decision {
                id: Some("D-001".to_owned()),
                decision: "JWT".to_owned(),
                rationale: Some("stateless".to_owned()),
            }],
            artifacts: vec!["docs/a.md".to_owned(), "b.rs".to_owned()],
            ..View::default()
        };
        assert_eq!(view, expected);
    }

    #[test]
    fn open_questions_are_read_in_either_form() {
        let question = Node::map([
            ("question", Node::text("time or quality?")),
            ("priority", Node::text("high")),
        ]);
        let questions = Node::List(vec![question, Node::text("who pays?")]);
        let view = package(Node::map([("open_questions", questions)])).view();
        assert_eq!(view.open_questions, ["time or quality?", "who pays?"]);
    }

    #[test]
    fn what_a_gate_asks_to_be_looked_at_is_read_with_and_without_its_root() {
        let request = Node::map([
            ("items", Node::List(vec![Node::text("All epics named"), Node::text("Costs")])),
            ("options", Node::map([("approve", Node::text("Continue with next step"))])),
        ]);
        let gate = Node::map([("type", Node::text("blocking")), ("name", Node::text("Specs"))]);
        let document = Node::map([("gate", gate), ("validation_request", request)]);
        let expected = ValidationRequest {
            name: Some("Specs".to_owned()),
            items: vec!["All epics named".to_owned(), "Costs".to_owned()],
            options: vec![("approve".to_owned(), "Continue with next step".to_owned())],
        };
        for document in [document.clone(), Node::map([("handoff", document)])] {
            assert_eq!(package(document).view().validation, Some(expected.clone()));
        }
        assert_eq!(package(Node::map([])).view().validation, None);
    }

    #[test]
    fn the_same_findings_in_another_order_are_the_same() {
        let list = |issues: Vec<Node>| package(Node::map([("findings", Node::List(issues))]));
        let one = list(vec![issue("a:1", "critical"), issue("b:2", "important")]).findings();
        let other = list(vec![issue("b:2", "important"), issue("a:1", "critical")]).findings();
        assert_eq!(findings_hash(&one), findings_hash(&other));
        let fewer = list(vec![issue("a:1", "critical")]).findings();
        assert_ne!(findings_hash(&one), findings_hash(&fewer));
        assert_eq!(findings_hash(&BTreeSet::new()), None);
    }

    #[test]
    fn a_reason_is_found_where_the_sender_put_it() {
        let sent = package(Node::map([
            ("summary", Node::text("s")),
            ("feedback", Node::text("f")),
            ("reason", Node::text(" ")),
        ]));
        assert_eq!(sent.stated_reason(), Some("f"));
        assert_eq!(package(Node::Null).stated_reason(), None);
    }
}
