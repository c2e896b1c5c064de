//! What a receiver sends when it takes a handoff: the task restated, or what is unclear.

use std::sync::Arc;

use crate::document::Node;
use crate::document::kind::DocumentKind;
use crate::evidence::{Evidence, Verdict};
use crate::lint::{self, Facts, ReceiverAnswer};
use crate::names::{AgentId, CheckName, FreeText};
use crate::problem::Problem;

/// The receiver's acknowledgement, as it was sent and as Baton reads it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Acknowledgement {
    /// The receiver's own text: what is stored.
    pub text: Arc<str>,
    /// The sender of the handoff, as the receiver names it.
    pub from: Option<AgentId>,
    pub understood: Understood,
    pub questions: Vec<String>,
    pub blockers: Vec<String>,
    pub action: Action,
    /// The YAML handoff's four checks, as far as their results are known.
    pub checks: Vec<Evidence>,
}

/// The checks a receiver makes before it starts, in the order of the YAML handoff. Baton makes the
/// first three; the receiver reports the fourth.
pub const CHECKS: [&str; 4] =
    ["received-summary", "received-artifacts", "received-deliverable", "received-constraints"];

/// True for a check of what was received.
pub fn is_receipt(check: &CheckName) -> bool {
    CHECKS.contains(&check.as_str())
}

/// What a failed check means to the receiver, as a fragment of a sentence.
pub fn failure(check: &CheckName) -> &'static str {
    match check.as_str() {
        "received-summary" => "the package has no summary that says what was done; ask the sender",
        "received-artifacts" => "not every artifact of the package is there; ask the sender",
        "received-deliverable" => "the package does not say what is expected; ask the sender",
        _ => "the constraints are not understood in full; ask the sender",
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Understood {
    Fully { task: Option<String>, constraints: Vec<String> },
    Partly,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Action {
    Start,
    /// The sender has to answer a question first. This is not a reject.
    RequestClarification,
}

/// The YAML handoff writes it without the second `e`.
const ROOTS: [&str; 2] = ["acknowledgment", "acknowledgement"];

impl Acknowledgement {
    /// The task restated in plain words.
    pub fn words(text: impl Into<Arc<str>>) -> Self {
        let text = text.into();
        let task = Some(text.trim().to_owned()).filter(|it| !it.is_empty());
        Self {
            text,
            from: None,
            understood: Understood::Fully { task, constraints: Vec::new() },
            questions: Vec::new(),
            blockers: Vec::new(),
            action: Action::Start,
            checks: Vec::new(),
        }
    }

    /// Adds the results of the checks on the received package.
    #[must_use]
    pub fn checked(self, document: Option<&Node>, facts: &Facts) -> Self {
        let made = document.map(|it| lint::checklist(it, facts).map(|it| it.answer));
        let [summary, artifacts, deliverable, _] = made.unwrap_or([ReceiverAnswer::Unverified; 4]);
        // Other packages need no summary and no deliverable: for them, a missing one is unverified.
        let is_package = document
            .map(DocumentKind::of)
            .is_some_and(|it| matches!(it, DocumentKind::YamlHandoff | DocumentKind::YamlGate));
        let fair = |it| {
            if it == ReceiverAnswer::No && !is_package { ReceiverAnswer::Unverified } else { it }
        };
        let (summary, deliverable) = (fair(summary), fair(deliverable));
        let constraints = match &self.understood {
            Understood::Partly => ReceiverAnswer::No,
            Understood::Fully { constraints, .. } if constraints.is_empty() => {
                ReceiverAnswer::Unverified
            }
            Understood::Fully { .. } => ReceiverAnswer::Yes,
        };
        // The receiver's word counts: it looked where it works, which may be elsewhere.
        let is_missing = self.blockers.iter().chain(&self.questions).any(|it| misses_a_file(it));
        let artifacts = if is_missing { ReceiverAnswer::No } else { artifacts };
        let answers = [summary, artifacts, deliverable, constraints];
        let checks = CHECKS.iter().zip(answers).filter_map(|(name, answer)| {
            let verdict = match answer {
                ReceiverAnswer::Yes => Verdict::Passed,
                ReceiverAnswer::No => Verdict::Failed,
                ReceiverAnswer::Unverified => return None,
            };
            Some(Evidence {
                check: CheckName::parse(name).ok()?,
                verdict,
                fence: None,
                is_observed: false,
            })
        });
        Self { checks: checks.collect(), ..self }
    }

    /// True for a document with the root key of an acknowledgement, or with what stands under it.
    pub fn is_one(document: &Node) -> bool {
        ROOTS.iter().any(|it| document.member(it).is_some()) || is_bare(document)
    }

    /// Reads a document: the YAML handoff's is parsed, any other is only stored.
    pub fn read(document: &Node, text: impl Into<Arc<str>>) -> Result<Self, Vec<Problem>> {
        let rooted = ROOTS.iter().find_map(|it| document.member(it));
        let root = rooted.unwrap_or(document);
        let mut problems = Vec::new();
        let mut problem = |path: &str, rule: &str, message: &str| {
            problems.push(Problem::new(path, rule, message));
        };
        let scalar = |key: &str| root.member(key).and_then(Node::scalar_text).map(str::trim);
        // A receiver that asks has not taken the work, and need not say what it understood of it.
        let asks = scalar("action") == Some("request_clarification");
        let is_one = Self::is_one(document);
        let takes = is_one && !asks;
        match scalar("received") {
            Some("true") => {}
            Some("false") => {
                problem("received", "not_received", "must be true: reject what did not arrive");
            }
            Some(_) => problem("received", "wrong_word", "must be `true`"),
            None if takes => {
                problem("received", "missing", "is missing: say `received: true`");
            }
            None => {}
        }
        // What a template has there is a placeholder, and names no agent.
        let is_name = |it: &&str| is_one && !it.is_empty() && !it.starts_with('[');
        let from = match scalar("from").filter(is_name) {
            Some(name) => match AgentId::parse(name) {
                Ok(agent) => Some(agent),
                Err(_) => {
                    problem("from", "wrong_word", "is not the id of an agent: name the sender");
                    None
                }
            },
            None => None,
        };
        let reading = if takes { Reading::Acknowledgement } else { Reading::Anything };
        let understood = understood(root, reading, &mut problem);
        let questions = root.member("questions").map(texts).unwrap_or_default();
        let blockers = root.member("blockers").map(texts).unwrap_or_default();
        let is_starting = scalar("starting");
        let action = match scalar("action") {
            Some("start" | "starting") => Action::Start,
            Some("request_clarification") => Action::RequestClarification,
            // What blocks has to be answered first, unless the receiver says that it begins.
            None if is_one && !blockers.is_empty() && is_starting != Some("true") => {
                Action::RequestClarification
            }
            None => Action::Start,
            Some(_) => {
                problem("action", "wrong_word", "must be `start` or `request_clarification`");
                Action::Start
            }
        };
        if is_starting == Some("false") && action == Action::Start {
            let message = "is false: say `action: request_clarification`, and what is unclear";
            problem("starting", "not_starting", message);
        }
        let begins_all_the_same = scalar("action").is_some() && action == Action::Start;
        if is_starting == Some("true") && understood == Understood::Partly && !begins_all_the_same {
            let message = "is true beside `understood: partial`: say `action: start` to begin all \
                           the same, or leave it out to ask";
            problem("starting", "not_clear", message);
        }
        let is_unclear = action == Action::RequestClarification || understood == Understood::Partly;
        if is_unclear && questions.is_empty() && blockers.is_empty() {
            let message = "say what is unclear, in `questions` or `blockers`";
            problem("questions", "missing", message);
        }
        if !problems.is_empty() {
            return Err(problems);
        }
        let checks = Vec::new();
        Ok(Self { text: text.into(), from, understood, questions, blockers, action, checks })
    }

    /// The question to the sender, where the receiver will not start without an answer.
    pub fn question(&self) -> Option<FreeText> {
        match self.action {
            Action::Start => None,
            Action::RequestClarification => {
                let points: Vec<&str> =
                    self.questions.iter().chain(&self.blockers).map(String::as_str).collect();
                FreeText::shortened(&points.join("\n"), "the acknowledgement has the rest")
            }
        }
    }
}

/// True for the members of an acknowledgement without a root key: what nothing else has.
fn is_bare(document: &Node) -> bool {
    ["received", "understood"].iter().any(|it| document.member(it).is_some())
}

/// Whether a document takes the work as an acknowledgement does. Any other one is only kept, or asks.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Reading {
    Acknowledgement,
    Anything,
}

fn understood(
    root: &Node,
    reading: Reading,
    problem: &mut impl FnMut(&str, &str, &str),
) -> Understood {
    let fully = || Understood::Fully { task: None, constraints: Vec::new() };
    match root.member("understood") {
        None if reading == Reading::Acknowledgement => {
            let message = "is missing: say `task` and `constraints`, or `partial`";
            problem("understood", "missing", message);
            fully()
        }
        None => fully(),
        Some(node @ Node::Map(_)) => {
            let task = node.member("task").and_then(Node::scalar_text).map(str::trim);
            let task = task.filter(|it| !it.is_empty()).map(str::to_owned);
            if task.is_none() && reading == Reading::Acknowledgement {
                problem("understood.task", "missing", "is missing: say the task in your own words");
            }
            let constraints = node.member("constraints").map(texts).unwrap_or_default();
            Understood::Fully { task, constraints }
        }
        Some(node) => match node.scalar_text() {
            Some("partial") => Understood::Partly,
            Some("full" | "true") => fully(),
            Some(_) | None => {
                let message = "must be `partial`, or have `task` and `constraints`";
                problem("understood", "wrong_word", message);
                fully()
            }
        },
    }
}

/// True where a receiver says that a file is not there: "specs/feature.md not found".
fn misses_a_file(text: &str) -> bool {
    const GONE: [&str; 12] = [
        "not found",
        "missing",
        "not there",
        "isn't there",
        "does not exist",
        "doesn't exist",
        "do not exist",
        "no such",
        "cannot find",
        "can't find",
        "could not find",
        "not exist",
    ];
    let text = text.to_lowercase();
    let is_path = |it: &str| {
        let name = it.trim_matches(|it: char| !it.is_alphanumeric() && it != '/');
        let has_end = name.rsplit_once('.').is_some_and(|(stem, end)| {
            !stem.is_empty() && (1..=5).contains(&end.len()) && !end.starts_with(char::is_numeric)
        });
        name.len() > 2 && (name.contains('/') || has_end)
    };
    let names_file = || {
        text.contains("artifact") || text.contains(" file") || text.split_whitespace().any(is_path)
    };
    GONE.iter().any(|it| text.contains(it)) && names_file()
}

/// One text, or a list of them. `{question: …}` is a text too.
fn texts(node: &Node) -> Vec<String> {
    let text = |it: &Node| {
        let named = || it.member("question").and_then(Node::scalar_text);
        it.scalar_text().or_else(named).map(str::to_owned)
    };
    match node.as_list() {
        Some(items) => items.iter().filter_map(text).collect(),
        None => text(node).into_iter().filter(|it| !it.trim().is_empty()).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn list(texts: &[&str]) -> Node {
        Node::List(texts.iter().map(|it| Node::text(*it)).collect())
    }

    #[test]
    fn the_full_acknowledgement_of_the_yaml_handoff_is_read() {
        let understood = Node::map([
            ("task", Node::text("Design the API")),
            ("constraints", Node::text("No new services")),
        ]);
        let document = Node::map([(
            "acknowledgment",
            Node::map([
                ("received", Node::Bool(true)),
                ("from", Node::text("specification")),
                ("understood", understood),
                ("questions", list(&[])),
                ("starting", Node::Bool(true)),
            ]),
        )]);
        let read = Acknowledgement::read(&document, "…").unwrap();
        let expected = Understood::Fully {
            task: Some("Design the API".to_owned()),
            constraints: vec!["No new services".to_owned()],
        };
        assert_eq!((read.understood, read.action), (expected, Action::Start));
        assert_eq!(Acknowledgement::read(&document, "…").unwrap().question(), None);
    }

    #[test]
    fn the_partial_acknowledgement_of_the_yaml_handoff_is_a_question() {
        let document = Node::map([(
            "acknowledgment",
            Node::map([
                ("received", Node::Bool(true)),
                ("understood", Node::text("partial")),
                (
                    "blockers",
                    list(&[
                        "Artifact .project/specs/feature.md not found",
                        "Constraint 'quickly' not measurable",
                    ]),
                ),
                ("action", Node::text("request_clarification")),
            ]),
        )]);
        let read = Acknowledgement::read(&document, "…").unwrap();
        assert_eq!(read.understood, Understood::Partly);
        assert_eq!(
            read.question().unwrap().as_str(),
            "Artifact .project/specs/feature.md not found\nConstraint 'quickly' not measurable"
        );
    }

    #[test]
    fn any_other_document_is_kept_and_means_nothing_special() {
        let document = Node::map([("branch", Node::text("feat/x"))]);
        let read = Acknowledgement::read(&document, "…").unwrap();
        assert_eq!(read.action, Action::Start);
        assert_eq!(Acknowledgement::words(" do it ").question(), None);
    }

    #[test]
    fn baton_makes_three_checks_and_the_receiver_says_the_fourth() {
        let package = Node::map([
            ("summary", Node::text("Added 3 routes for the login in src/login.rs, with 9 tests")),
            ("artifacts", list(&["src/login.rs"])),
            ("expectations", Node::map([("deliverable", Node::text("A review"))])),
        ]);
        let understood = |constraints: &str| Understood::Fully {
            task: None,
            constraints: texts(&Node::text(constraints)),
        };
        let checked = |understood: Understood, package: Option<&Node>, facts: &Facts| {
            let ours = Acknowledgement { understood, ..Acknowledgement::words("w") };
            let word = |it: &Evidence| format!("{} {}", it.check, it.verdict.name());
            let checks = ours.checked(package, facts).checks;
            checks.iter().map(word).collect::<Vec<_>>().join(", ")
        };
        let nothing = Facts::default();
        assert_eq!(
            checked(understood("none"), Some(&package), &nothing),
            "received-summary passed, received-deliverable passed, received-constraints passed"
        );
        let gone = Facts {
            files: [("src/login.rs".to_owned(), lint::FileFact::Missing)].into(),
            ..Facts::default()
        };
        assert_eq!(
            checked(Understood::Partly, Some(&package), &gone),
            "received-summary passed, received-artifacts failed, received-deliverable passed, \
             received-constraints failed"
        );
        assert_eq!(checked(understood(""), None, &nothing), "");
        let story = Node::map([("story_id", Node::text("s1"))]);
        assert_eq!(checked(understood(""), Some(&story), &nothing), "received-artifacts passed");
        let agent = |name: &str| Node::map([("agent", Node::text(name))]);
        let poor = Node::map([("from", agent("a")), ("to", agent("b"))]);
        assert_eq!(
            checked(understood(""), Some(&Node::map([("handoff", poor)])), &nothing),
            "received-summary failed, received-artifacts passed, received-deliverable failed"
        );
    }

    #[test]
    fn every_mistake_is_told_at_once() {
        let document = Node::map([
            ("received", Node::Bool(false)),
            ("understood", Node::text("somewhat")),
            ("action", Node::text("request_clarification")),
        ]);
        let idle = Node::map([("starting", Node::Bool(false))]);
        assert_eq!(Acknowledgement::read(&idle, "…").unwrap_err()[0].rule, "not_starting");
        let problems = Acknowledgement::read(&document, "…").unwrap_err();
        let rules: Vec<&str> = problems.iter().map(|it| it.rule.as_str()).collect();
        assert_eq!(rules, ["not_received", "wrong_word", "missing"]);
    }

    #[track_caller]
    fn check_problems(members: Vec<(&'static str, Node)>, expected: &[&str]) {
        let document = Node::map([("acknowledgment", Node::map(members))]);
        let problems = Acknowledgement::read(&document, "…").err().unwrap_or_default();
        let found: Vec<String> =
            problems.iter().map(|it| format!("{} {}", it.path, it.rule)).collect();
        assert_eq!(found, expected);
    }

    #[test]
    fn an_acknowledgement_says_that_and_what_it_received() {
        let received = || ("received", Node::Bool(true));
        let partial = || ("understood", Node::text("partial"));
        let task = || ("understood", Node::map([("task", Node::text("Plan the login"))]));
        check_problems(vec![], &["received missing", "understood missing"]);
        check_problems(
            vec![received(), ("understood", Node::map([]))],
            &["understood.task missing"],
        );
        check_problems(vec![received(), partial()], &["questions missing"]);
        check_problems(vec![received(), task(), ("from", Node::text("A B"))], &["from wrong_word"]);
        check_problems(vec![received(), task()], &[]);
        let starting = ("starting", Node::Bool(true));
        check_problems(
            vec![received(), partial(), ("blockers", list(&["no specs"])), starting],
            &["starting not_clear"],
        );
        check_problems(vec![received(), partial(), ("blockers", list(&["no specs"]))], &[]);
    }

    #[test]
    fn an_acknowledgement_without_its_root_is_judged_as_one() {
        let task = || ("understood", Node::map([("task", Node::text("Plan the login"))]));
        let received = || ("received", Node::Bool(true));
        for members in [
            vec![task()],
            vec![received()],
            vec![received(), ("understood", Node::map([]))],
            vec![received(), task(), ("from", Node::text("A B"))],
            vec![received(), task()],
        ] {
            let bare = Node::map(members.clone());
            let rooted = Node::map([("acknowledgment", bare.clone())]);
            let read = |it: &Node| Acknowledgement::read(it, "…");
            assert_eq!(read(&bare), read(&rooted), "{bare:?}");
        }
    }

    #[test]
    fn blockers_without_an_action_are_a_question() {
        let read = |members: Vec<(&'static str, Node)>| {
            let received = ("received", Node::Bool(true));
            let members = std::iter::once(received).chain(members);
            let document = Node::map([("acknowledgment", Node::map(members))]);
            Acknowledgement::read(&document, "…").unwrap().action
        };
        let blockers = || ("blockers", list(&["Constraint 'quickly' not measurable"]));
        let partial = || ("understood", Node::text("partial"));
        assert_eq!(read(vec![partial(), blockers()]), Action::RequestClarification);
        let full = ("understood", Node::text("full"));
        assert_eq!(read(vec![full, blockers()]), Action::RequestClarification);
        let begins = ("action", Node::text("start"));
        assert_eq!(read(vec![partial(), blockers(), begins]), Action::Start);
    }

    #[test]
    fn a_receiver_that_misses_a_file_says_so_in_any_words() {
        for missing in [
            "Artifact .project/specs/feature.md not found",
            "specs/feature.md is not there",
            "The file with the routes is missing",
            "cannot find US-001.md",
        ] {
            assert!(misses_a_file(missing), "{missing}");
        }
        for other in
            ["Constraint 'quickly' not measurable", "Missing: who pays?", "Which of 2.0 and 3?"]
        {
            assert!(!misses_a_file(other), "{other}");
        }
    }
}
