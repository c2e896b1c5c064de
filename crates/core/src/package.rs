//! What is handed over: the document as its sender wrote it, and Baton's reading of it.

use std::collections::BTreeSet;
use std::sync::Arc;

use sha2::{Digest as _, Sha256};

use crate::canonical;
use crate::document::kind::{DocumentKind, Shape};
use crate::document::{Node, data_element};
use crate::hash::Hash;
use crate::look_alike::name_outline;
use crate::view;
use crate::view::read::first_text;
pub use crate::view::{ReportedDecision, ReviewFinding, ValidationRequest, View};

mod format;

pub use format::Format;

/// Cheap to clone: a decision may have to be retried.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Package {
    pub format: Format,
    /// The sender's own text, stored and returned unchanged.
    pub text: Arc<str>,
    /// As it is read: see [`data_element`].
    pub document: Arc<Node>,
    /// As it was written, where that is another.
    written: Option<Arc<Node>>,
    /// Found once: every rule asks for it.
    kind: DocumentKind,
    body: BodyPlace,
}

/// Where the fields of a document are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum BodyPlace {
    Whole,
    /// Under the member with this index: the root of the document.
    UnderMember(usize),
}

impl Package {
    pub fn new(format: Format, text: impl Into<Arc<str>>, document: Node) -> Self {
        let (document, written) = match data_element::unfolded(&document) {
            Some(read) => (read, Some(Arc::new(document))),
            None => (document, None),
        };
        let Shape { kind, body } = Shape::of(&document);
        let body = BodyPlace::of(&document, body);
        Self { format, text: text.into(), document: Arc::new(document), written, kind, body }
    }

    /// The package's identity: equal for the same content in any notation.
    pub fn hash(&self) -> Hash {
        canonical::hash(self.written.as_ref().unwrap_or(&self.document))
    }

    pub fn view(&self) -> View {
        View::of(&self.document)
    }

    /// What the sender decided.
    pub fn decisions(&self) -> Vec<ReportedDecision> {
        let decisions = view::decisions(self.body());
        if decisions.is_empty() { view::decisions(&self.document) } else { decisions }
    }

    /// A reviewer's findings, to detect a review that goes in circles.
    pub fn findings(&self) -> BTreeSet<ReviewFinding> {
        let findings = view::findings(self.body());
        if findings.is_empty() { view::findings(&self.document) } else { findings }
    }

    /// One digest of what went wrong, to notice that the same comes again: the findings of a review,
    /// else the failures of a validation, else the error.
    pub fn trouble_hash(&self) -> Option<Hash> {
        let failures = || {
            let failures = view::failures(self.body());
            (!failures.is_empty()).then(|| digest(&failures))
        };
        findings_hash(&self.findings()).or_else(failures).or_else(|| self.error_hash())
    }

    /// One digest of the error that the sender reports: its kind, its message and its details.
    pub fn error_hash(&self) -> Option<Hash> {
        let body = self.body();
        let error = first_text(body, &["error.message", "error"])?;
        let part = |path: &str| first_text(body, &[path]).unwrap_or_default().trim().to_owned();
        let words = (part("error.type"), format!("{}\n{}", error.trim(), part("error.details")));
        Some(digest(&BTreeSet::from([words])))
    }

    /// The findings as a reason, where the sender gave no other: `2 findings: a.rs:1 (critical), …`.
    pub fn findings_in_words(&self) -> Option<String> {
        const MOST_FINDINGS: usize = 3;
        const MOST_CHARS: usize = 100;
        let findings = self.findings();
        let short = |text: &str| match text.char_indices().nth(MOST_CHARS) {
            Some((end, _)) => format!("{}…", &text[..end]),
            None => text.to_owned(),
        };
        let word =
            |it: &ReviewFinding| format!("{} ({})", short(&it.location), short(&it.severity));
        let words: Vec<String> = findings.iter().take(MOST_FINDINGS).map(word).collect();
        let more = match findings.len().saturating_sub(MOST_FINDINGS) {
            0 => String::new(),
            n => format!(", and {n} more in the package"),
        };
        match findings.len() {
            0 => None,
            1 => Some(format!("1 finding: {}", words.join(", "))),
            n => Some(format!("{n} findings: {}{more}", words.join(", "))),
        }
    }

    /// Why the work cannot go on, where the sender gave no reason: its error, or what blocks it.
    pub fn trouble_in_words(&self) -> Option<String> {
        let at = |paths: &[&str]| self.first_text(paths);
        let error = at(&["error.message", "error"]);
        let (kind, words) = match error {
            Some(message) => (at(&["error.type"]), Some(message)),
            None => {
                let kind = at(&["blocked_reason", "handoff.blocked_reason"]);
                (kind, kind.and_then(|_| at(&["handoff.context", "context"])))
            }
        };
        let parts: Vec<&str> = [kind, words].into_iter().flatten().collect();
        let words = parts.join(": ");
        (!words.is_empty()).then_some(words)
    }

    /// Why the work goes back, where the sender gave no reason beside the package.
    pub fn stated_reason(&self) -> Option<&str> {
        const PATHS: [&str; 6] = [
            "reason",
            "context.reason",
            "feedback",
            "context.feedback",
            "summary",
            "context.summary",
        ];
        self.first_text(&PATHS)
    }

    /// True where the sender asks for a gate (the YAML handoff).
    pub fn asks_for_gate(&self) -> bool {
        [self.body(), &*self.document].iter().any(|it| it.member("gate").is_some())
    }

    /// The sender's blockers, in its own words.
    pub fn blockers(&self) -> Vec<String> {
        view::blockers(self.body())
    }

    pub fn has_error(&self) -> bool {
        let has_error = |it: &&Node| it.member("error").is_some_and(|it| !it.is_blank());
        [self.body(), &*self.document].iter().any(has_error)
    }

    /// The word for what kind of blocker it is.
    pub fn blocked_reason(&self) -> Option<&str> {
        self.first_text(&["blocked_reason", "handoff.blocked_reason"])
    }

    /// What became of blockers, in the words of the agent that resolved them.
    pub fn resolution(&self) -> Option<&str> {
        const PATHS: [&str; 7] = [
            "resolution",
            "handoff.context",
            "context.summary",
            "context",
            "decision",
            "summary",
            "reason",
        ];
        self.first_text(&PATHS)
    }

    /// The text of a field, wherever the document has its body.
    pub fn text_at(&self, field: &str) -> Option<&str> {
        self.first_text(&[field])
    }

    /// The number in a field, wherever the document has its body.
    pub fn number_at(&self, field: &str) -> Option<f64> {
        let node = self.body().at(field).or_else(|| self.document.at(field));
        node.and_then(Node::scalar_text).and_then(|it| it.trim().parse().ok())
    }

    /// Whether a field is there, with whatever value.
    pub fn has_field(&self, field: &str) -> bool {
        self.body().at(field).or_else(|| self.document.at(field)).is_some()
    }

    /// Every value of a field whose name looks like this, with the field as it is written: at the root
    /// of the document, in its body, and in the parts of either that documents put such fields in.
    pub fn nodes_like(&self, field: &str) -> Vec<(String, &Node)> {
        const PARTS: [&str; 4] = ["context", "body", "result", "metadata"];
        let roots = [&*self.document, self.body()];
        let parts = roots.into_iter().flat_map(|it| PARTS.map(|part| it.member(part)));
        let names: Vec<&str> = field.split('.').collect();
        let mut found = Vec::new();
        for root in roots.into_iter().chain(parts.flatten()) {
            find_like(root, &names, "", &mut found);
        }
        found
    }

    /// The phase that the metadata block says it ends.
    pub fn phase(&self) -> Option<&str> {
        let is_block = matches!(self.kind, DocumentKind::MetadataBlock(_));
        first_text(self.body(), &["phase"]).filter(|_| is_block)
    }

    /// The phase that the metadata block names for the work that follows.
    pub fn next_phase(&self) -> Option<&str> {
        view::next_phase(self.kind, self.body())
    }

    /// The receiver that the metadata block suggests.
    pub fn next_agent(&self) -> Option<&str> {
        first_text(self.body(), &["handoff.next_agent"])
    }

    /// Whether trying again could help, by what the sender says of its error.
    pub fn retry_class(&self) -> RetryClass {
        let error = self.body().member("error").or_else(|| self.document.member("error"));
        let word = error.and_then(|it| it.member("recoverable"));
        let said = match word {
            Some(Node::Bool(is_recoverable)) => Some(*is_recoverable),
            Some(Node::Text(word)) if word.trim().eq_ignore_ascii_case("true") => Some(true),
            Some(Node::Text(word)) if word.trim().eq_ignore_ascii_case("false") => Some(false),
            Some(_) | None => None,
        };
        match said {
            Some(true) => return RetryClass::Transient,
            Some(false) => return RetryClass::Permanent,
            None => {}
        }
        let kind = error.and_then(|it| it.member("type")).and_then(Node::scalar_text);
        // `RateLimitError`, `rate-limit` and `rate_limit` are the same kind.
        let letters = |it: &str| -> String {
            it.chars()
                .filter(char::is_ascii_alphanumeric)
                .map(|it| it.to_ascii_lowercase())
                .collect()
        };
        let kind = kind.map(letters).unwrap_or_default();
        let is_one_of = |kinds: &[&str]| kinds.iter().any(|it| kind.contains(it));
        if is_one_of(&TRANSIENT) {
            RetryClass::Transient
        } else if is_one_of(&PERMANENT) {
            RetryClass::Permanent
        } else {
            RetryClass::Unclear
        }
    }

    /// In the body, or else beside a root.
    fn first_text(&self, paths: &[&str]) -> Option<&str> {
        first_text(self.body(), paths).or_else(|| view::beside_root(&self.document, paths))
    }

    fn body(&self) -> &Node {
        match (self.body, &*self.document) {
            (BodyPlace::UnderMember(index), Node::Map(members)) => &members[index].1,
            (BodyPlace::UnderMember(_) | BodyPlace::Whole, document) => document,
        }
    }
}

impl BodyPlace {
    fn of(document: &Node, body: &Node) -> Self {
        let Node::Map(members) = document else { return Self::Whole };
        let index = members.iter().position(|(_, member)| std::ptr::eq(member, body));
        index.map_or(Self::Whole, Self::UnderMember)
    }
}

/// Whether a failed step is worth another try.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RetryClass {
    /// It may pass by itself: tried again after a while.
    Transient,
    /// A person is asked at once.
    Permanent,
    /// Tried again at once.
    Unclear,
}

/// Kinds of errors that pass by themselves, and that never do, in the letters of `error.type`.
const TRANSIENT: [&str; 5] = ["timeout", "ratelimit", "network", "unavailable", "temporary"];
const PERMANENT: [&str; 3] = ["mergeconflict", "security", "permission"];

/// One digest for a set of findings; `None` for an empty set. Neither the order nor the case of a
/// severity matters, nor how often one is listed.
pub fn findings_hash(findings: &BTreeSet<ReviewFinding>) -> Option<Hash> {
    if findings.is_empty() {
        return None;
    }
    let plain =
        |it: &ReviewFinding| (it.location.trim().to_owned(), it.severity.trim().to_lowercase());
    Some(digest(&findings.iter().map(plain).collect()))
}

fn digest(pairs: &BTreeSet<(String, String)>) -> Hash {
    let mut digest = Sha256::new();
    for (first, second) in pairs {
        for field in [first, second] {
            digest.update((field.len() as u64).to_be_bytes());
            digest.update(field);
        }
    }
    Hash(digest.finalize().into())
}

/// Outlines are worked out where letters of other scripts are about: a document may have many members.
fn is_same_name(one: &str, other: &str) -> bool {
    if !one.is_ascii() || !other.is_ascii() {
        return name_outline(one) == name_outline(other);
    }
    letters(one).eq(letters(other))
}

fn letters(name: &str) -> impl Iterator<Item = u8> {
    let letters = name.bytes().filter(|it| !matches!(it, b'-' | b'_' | b'.' | b' '));
    letters.map(|it| it.to_ascii_lowercase())
}

fn find_like<'a>(
    node: &'a Node,
    names: &[&str],
    before: &str,
    found: &mut Vec<(String, &'a Node)>,
) {
    let (Some((wanted, rest)), Node::Map(members)) = (names.split_first(), node) else { return };
    for (name, value) in members.iter().filter(|(name, _)| is_same_name(name, wanted)) {
        let path = if before.is_empty() { name.to_string() } else { format!("{before}.{name}") };
        match rest {
            [] => found.push((path, value)),
            rest => find_like(value, rest, &path, found),
        }
    }
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
    fn the_fields_of_a_package_are_those_of_its_shape() {
        let text = Node::text;
        let sides = [("from", text("analyst")), ("to", text("implementer"))];
        let under_handoff = Node::map([("handoff", Node::map(sides.clone()))]);
        let beside_others =
            Node::map([("notes", text("later")), ("handoff", Node::map(sides.clone()))]);
        let flat = Node::map([("from_agent", text("a")), ("to_agent", text("b"))]);
        let payload = Node::map([("summary", text("Wrote a.rs")), ("handoff", text("later"))]);
        let documents = [under_handoff, beside_others, flat, payload, text("words"), Node::Null];
        for document in documents {
            let package = package(document);
            let shape = Shape::of(&package.document);
            assert_eq!(package.kind, shape.kind);
            assert!(std::ptr::eq(package.body(), shape.body), "{:?}", package.document);
        }
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
    fn trouble_is_an_error_or_what_blocks() {
        let words =
            |members: Vec<(&'static str, Node)>| package(Node::map(members)).trouble_in_words();
        let error = [("type", Node::text("BuildError")), ("message", Node::text("no module"))];
        let error = ("error", Node::map(error));
        assert_eq!(words(vec![error]).as_deref(), Some("BuildError: no module"));
        assert_eq!(words(vec![("error", Node::text("it broke"))]).as_deref(), Some("it broke"));
        let context = ("handoff", Node::map([("context", Node::text("no API"))]));
        let blocked = vec![("blocked_reason", Node::text("unknown")), context.clone()];
        assert_eq!(words(blocked).as_deref(), Some("unknown: no API"));
        assert_eq!(words(vec![context]), None);
    }

    #[test]
    fn the_same_failures_or_the_same_error_are_noticed_in_any_notation() {
        let failure = |kind: &str, words: &str| {
            Node::map([("@type", Node::text(kind)), ("#text", Node::text(words))])
        };
        let xml = |items: Vec<Node>| {
            let failures = Node::map([("failure", Node::List(items))]);
            package(Node::map([(
                "handoff",
                Node::map([("from", Node::text("a")), ("failures", failures)]),
            )]))
        };
        let [test, lint] = [failure("test", "a - expected 200"), failure("lint", "b:15 - unused")];
        let one = xml(vec![test.clone(), lint.clone()]).trouble_hash();
        assert!(one.is_some());
        assert_eq!(xml(vec![lint.clone(), test.clone()]).trouble_hash(), one);
        assert_ne!(xml(vec![test]).trouble_hash(), one);
        let item =
            Node::map([("type", Node::text("lint")), ("message", Node::text("b:15 - unused"))]);
        let json = package(Node::map([("failures", Node::List(vec![item]))]));
        assert_eq!(json.trouble_hash(), xml(vec![lint]).trouble_hash());

        let error = |node: Node| package(Node::map([("error", node)])).trouble_hash();
        assert_eq!(error(Node::text("no space")), error(Node::text(" no space")));
        assert_ne!(error(Node::text("no space")), error(Node::text("no inode")));
        assert_eq!(package(Node::map([])).trouble_hash(), None);
        let findings =
            package(Node::map([("findings", Node::List(vec![issue("a:1", "critical")]))]));
        assert_eq!(findings.trouble_hash(), findings_hash(&findings.findings()));
    }

    #[test]
    fn findings_make_a_reason() {
        let list = |issues: Vec<Node>| package(Node::map([("findings", Node::List(issues))]));
        assert_eq!(list(vec![]).findings_in_words(), None);
        let one = list(vec![issue("a:1", "critical")]);
        assert_eq!(one.findings_in_words().as_deref(), Some("1 finding: a:1 (critical)"));
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
