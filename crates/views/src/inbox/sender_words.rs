//! What the sender of a package says in it, as far as a person needs it to decide.
//!
//! These are the sender's words and no facts: every face shows them apart from the workflow's own,
//! under the sender's name. They are bounded; the package itself has all of it.

use baton_core::content::ContentId;
use baton_core::document::Node;
use baton_core::document::kind::Shape;
use baton_core::gate::{Gate, GateCause};
use baton_core::names::AgentId;
use baton_core::outcome::Outcome;
use baton_core::run::{HandoffNo, Party};
use baton_core::view::View;
use baton_core::view::read::{field, first_text, items, text, text_at};
use baton_store::HandoffRow;

/// The bounds of what is shown: of one text in characters, of one part in texts, and of all of it.
const MOST_CHARS: usize = 600;
const MOST_TEXTS: usize = 12;
const MOST_CHARS_IN_ALL: usize = 6000;
/// A step that is blocked again and again says what it said before, at most this often.
const MOST_BLOCKS: usize = 4;

/// What one package says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SenderWords {
    /// Who wrote the package.
    pub by: AgentId,
    /// The first handoff that carries it, if there is one.
    pub handoff: Option<HandoffNo>,
    pub parts: Vec<SaidPart>,
    /// True where something was shortened or left out.
    pub is_cut: bool,
}

/// One part of a package, in the order in which a person reads them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SaidPart {
    pub name: &'static str,
    pub texts: Vec<String>,
}

/// A package whose words a person needs, and who wrote it.
pub(super) struct SentBy {
    pub(super) package: ContentId,
    pub(super) by: AgentId,
}

impl SentBy {
    /// Written by the agent that first handed it on; where that does not say it, by `else_by`.
    pub(super) fn of(package: ContentId, trail: &[HandoffRow], else_by: &AgentId) -> Self {
        let by = writer(package, trail).unwrap_or(else_by).clone();
        Self { package, by }
    }
}

fn first_with(package: ContentId, trail: &[HandoffRow]) -> Option<&HandoffRow> {
    trail.iter().find(|it| it.package == Some(package))
}

/// The agent that first handed a package on. What the orchestrator or a person hands on first may be
/// an agent's all the same.
fn writer(package: ContentId, trail: &[HandoffRow]) -> Option<&AgentId> {
    let sender = &first_with(package, trail)?.from.agent;
    Some(sender).filter(|it| !is_between(it))
}

fn is_between(agent: &AgentId) -> bool {
    agent.is_orchestrator() || agent.is_human()
}

impl SenderWords {
    pub(super) fn of(sent: &SentBy, trail: &[HandoffRow], document: &Node) -> Self {
        let collected = CollectedParts::of(document);
        let row = first_with(sent.package, trail);
        let row = row.filter(|it| it.from.agent == sent.by || is_between(&it.from.agent));
        Self {
            by: sent.by.clone(),
            handoff: row.map(|it| it.no),
            parts: collected.parts,
            is_cut: collected.is_cut,
        }
    }
}

/// The packages that a gate is about, each once. Where work went round too often, these are the review
/// and the work that it is about; where a step is blocked again, also what it said before.
pub(super) fn packages_of(gate: &Gate, trail: &[HandoffRow]) -> Vec<SentBy> {
    let asker = &gate.asker.agent;
    let sender = gate.sender.as_ref().map_or(asker, |it| &it.agent);
    let (given, package) = (gate.given, gate.package);
    let sent: Vec<(Option<ContentId>, &AgentId)> = match gate.cause {
        GateCause::Rounds | GateCause::SameFindings => {
            let review = given.filter(|it| package != Some(*it));
            let work = newest_of(&gate.worker, trail);
            vec![(review, asker), (work, &gate.worker.agent), (package, &gate.worker.agent)]
        }
        // On its way to a step again: what came back from there, and what was made of it.
        GateCause::Entries if given == package => {
            vec![(newest_of(&gate.asker, trail), asker), (package, sender)]
        }
        GateCause::Entries => {
            let work = newest_of(&gate.worker, trail);
            vec![(given, asker), (work, &gate.worker.agent), (package, asker)]
        }
        GateCause::Blocked => {
            let before = blocked_before(&gate.asker, trail);
            let before = before.into_iter().map(|it| (Some(it), asker));
            std::iter::once((package, asker)).chain(before).collect()
        }
        // Nothing has come back: the package is still that of the agent that offered the work.
        GateCause::NoProgress if gate.asker == gate.worker && package == given => {
            vec![(package, sender)]
        }
        GateCause::LostLease
        | GateCause::Releases
        | GateCause::Stalled
        | GateCause::Expired
        | GateCause::Questions => vec![(package, sender)],
        // Its words are the question itself.
        GateCause::Permission => Vec::new(),
        GateCause::RunLimit
        | GateCause::Budget
        | GateCause::Delegations
        | GateCause::Failure
        | GateCause::Unrecoverable
        | GateCause::NeedsClarification
        | GateCause::NeedsReview
        | GateCause::Declared
        | GateCause::Checks
        | GateCause::NoProgress
        | GateCause::Confidence
        | GateCause::Raised
        | GateCause::Escalation => vec![(package, asker)],
    };
    let mut packages: Vec<SentBy> = Vec::new();
    for (package, else_by) in sent {
        let Some(package) = package else { continue };
        if packages.iter().all(|it| it.package != package) {
            packages.push(SentBy::of(package, trail, else_by));
        }
    }
    packages
}

/// The newest package of a party's own.
fn newest_of(party: &Party, trail: &[HandoffRow]) -> Option<ContentId> {
    let own = trail.iter().rev().filter(|it| it.from == *party).filter_map(|it| it.package);
    own.into_iter().find(|it| writer(*it, trail) == Some(&party.agent))
}

/// What a party said each time that it was blocked, the newest first.
fn blocked_before(party: &Party, trail: &[HandoffRow]) -> Vec<ContentId> {
    let is_blocked = |no: HandoffNo| {
        let row = trail.iter().find(|it| it.no == no);
        row.is_some_and(|it| it.to == *party && it.outcome == Some(Outcome::Blocked))
    };
    let after = trail.iter().rev().filter(|it| it.follows.is_some_and(is_blocked));
    after.filter_map(|it| it.package).take(MOST_BLOCKS).collect()
}

#[derive(Default)]
struct CollectedParts {
    parts: Vec<SaidPart>,
    n_chars: usize,
    is_cut: bool,
}

/// What a package says as lines of text, for a prompt; `None` where that would leave something out.
pub(crate) fn said_in(document: &Node) -> Option<String> {
    let CollectedParts { parts, is_cut, .. } = CollectedParts::of(document);
    if is_cut {
        return None;
    }
    let line = |part: &SaidPart, text: &String| format!("{}: {text}", part.name.replace('_', " "));
    let lines = parts.iter().flat_map(|part| part.texts.iter().map(move |it| line(part, it)));
    Some(lines.collect::<Vec<_>>().join("\n"))
}

impl CollectedParts {
    fn of(document: &Node) -> Self {
        let mut collected = Self::default();
        collected.collect(document);
        collected
    }

    fn collect(&mut self, document: &Node) {
        let view = View::of(document);
        let body = Shape::of(document).body;
        // Fields may also stand beside a root.
        let is_beside = |key: &str| body.at(key).is_none() && document.at(key).is_some();
        let place = |key: &str| if is_beside(key) { document } else { body };
        let listed = |key: &str| listed(place(key), key);
        self.add("error", error(place("error")));
        self.add(
            "blocked_reason",
            one(first_text(place("blocked_reason"), &["blocked_reason", "handoff.blocked_reason"])),
        );
        self.add("summary", view.summary);
        self.add("context", view.context);
        self.add("question", one(first_text(place("question"), &["question", "context.question"])));
        let findings = ["findings", "issues", "blocking_issues", "failures"];
        self.add("findings", findings.iter().flat_map(|it| listed(it)).map(finding));
        let feedback = ["feedback", "context.feedback", "required_changes"];
        let feedback = feedback.iter().find_map(|it| first_text(place(it), &[it]));
        self.add("feedback", one(feedback));
        let fixes = ["fixes_applied", "fixes"];
        self.add("fixes", fixes.iter().flat_map(|it| listed(it)).map(finding));
        self.add("dispositions", listed("dispositions").map(words));
        self.add("attempted", listed("attempted").map(words));
        self.add("blockers", listed("blockers").map(blocker));
        let questions = listed("open_questions").chain(listed("questions"));
        self.add("open_questions", questions.map(question));
        self.add("options", listed("options").map(words));
        let open = view.decisions.into_iter().filter(|it| it.is_open());
        self.add("to_be_decided", open.map(|it| beside(it.decision, it.rationale)));
        self.add("deliverable", view.expectations.and_then(|it| it.deliverable));
        if let Some(asked) = view.validation {
            let kind = place("gate.type").at("gate.type").and_then(text).map(str::to_owned);
            let name = asked.name.map(|it| beside(it, kind.clone())).or(kind);
            self.add("gate", name);
            self.add("checklist", asked.items);
            // The workflow says what an answer does; this is only what the sender says about it.
            let answers = asked.options.into_iter();
            self.add("answers", answers.map(|(answer, text)| format!("{answer}: {text}")));
        }
    }

    fn add(&mut self, name: &'static str, texts: impl IntoIterator<Item = String>) {
        for text in texts {
            let text = self.cut(&text);
            if text.is_empty() {
                continue;
            }
            let part = self.parts.iter().position(|it| it.name == name);
            let n_texts = part.map_or(0, |it| self.parts[it].texts.len());
            if n_texts >= MOST_TEXTS || self.n_chars + text.len() > MOST_CHARS_IN_ALL {
                self.is_cut = true;
                return;
            }
            self.n_chars += text.len();
            match part {
                Some(part) => self.parts[part].texts.push(text),
                None => self.parts.push(SaidPart { name, texts: vec![text] }),
            }
        }
    }

    fn cut(&mut self, text: &str) -> String {
        let text = text.trim();
        let Some((end, _)) = text.char_indices().nth(MOST_CHARS) else { return text.to_owned() };
        self.is_cut = true;
        format!("{}…", &text[..end])
    }
}

/// The items of a list at the top, in `handoff` or in `context`, wherever the format has it.
fn listed<'a>(body: &'a Node, key: &str) -> std::slice::Iter<'a, Node> {
    let places = [key.to_owned(), format!("handoff.{key}"), format!("context.{key}")];
    let found = places.iter().find_map(|it| body.at(it).filter(|it| !it.is_blank()));
    found.map(items).unwrap_or_default().iter()
}

fn one(text: Option<&str>) -> Option<String> {
    text.map(str::to_owned)
}

/// The text of an item, or all the texts of its members.
fn words(node: &Node) -> String {
    match (text(node), node) {
        (Some(text), _) => text.to_owned(),
        (None, Node::Map(members)) => {
            let member = |(key, node): &(String, Node)| Some(format!("{key}: {}", text(node)?));
            members.iter().filter_map(member).collect::<Vec<_>>().join("; ")
        }
        (None, _) => String::new(),
    }
}

/// `src/a.rs:1 (critical): no test for it`.
fn finding(node: &Node) -> String {
    let place = field(node, "location").or_else(|| field(node, "file"));
    let kind = field(node, "severity").or_else(|| field(node, "type"));
    let what = ["description", "issue", "message", "text", "#text"];
    let what = what.iter().find_map(|it| field(node, it));
    let Some(place) = place.or(what) else { return words(node) };
    let kind = kind.map(|it| format!(" ({it})")).unwrap_or_default();
    let what = what.filter(|it| *it != place).map(|it| format!(": {it}")).unwrap_or_default();
    format!("{place}{kind}{what}")
}

/// `missing_dependency: no endpoint; to resolve: wait for the backend`.
fn blocker(node: &Node) -> String {
    let what = text(node).or_else(|| {
        ["description", "text", "blocker", "reason"].iter().find_map(|it| field(node, it))
    });
    let kind = field(node, "type").map(|it| format!("{it}: ")).unwrap_or_default();
    let how = field(node, "resolution").map(|it| format!("; to resolve: {it}")).unwrap_or_default();
    format!("{kind}{}{how}", what.unwrap_or_default())
}

/// `requirement: Refresh by itself? (high); options: yes / no; impact: the whole page waits`.
fn question(node: &Node) -> String {
    let category = field(node, "category").map(|it| format!("{it}: ")).unwrap_or_default();
    let impact = field(node, "impact").map(|it| format!("; impact: {it}")).unwrap_or_default();
    let asked = text(node).or_else(|| field(node, "question")).unwrap_or_default();
    let priority = field(node, "priority").map(|it| format!(" ({it})")).unwrap_or_default();
    let context = field(node, "context").map(|it| format!("; {it}")).unwrap_or_default();
    let options: Vec<String> =
        node.at("options").map(items).unwrap_or_default().iter().map(words).collect();
    let options = match options.is_empty() {
        true => String::new(),
        false => format!("; options: {}", options.join(" / ")),
    };
    format!("{category}{asked}{priority}{context}{options}{impact}")
}

fn error(body: &Node) -> Vec<String> {
    let Some(error) = body.member("error").filter(|it| !it.is_blank()) else { return Vec::new() };
    if let Some(message) = text(error) {
        return vec![message.to_owned()];
    }
    let parts = ["type", "message", "details", "recoverable", "suggested_action"];
    let part =
        |it: &&str| text_at(error, it).map(|text| format!("{}: {text}", it.replace('_', " ")));
    let said: Vec<String> = parts.iter().filter_map(part).collect();
    if said.is_empty() { vec![words(error)] } else { said }
}

fn beside(text: String, more: Option<String>) -> String {
    match more {
        Some(more) => format!("{text} ({more})"),
        None => text,
    }
}
