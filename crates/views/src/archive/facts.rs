//! Baton's own facts about a handoff: the member `baton` of its file, which no sender writes.

use baton_core::acknowledgement::Acknowledgement;
use baton_core::content::{ContentId, ContentKind};
use baton_core::document::Node;
use baton_core::event::{Event, EvidenceEvent, HandoffEvent};
use baton_core::names::Principal;
use baton_core::run::{HandoffNo, HandoffState, Party};
use baton_core::workflow::Place;
use baton_store::HandoffRow;
use baton_wire::formats::{self, Format};

use crate::gate_record::{GateDelegation, GateRecord, GateVote};
use crate::history::{History, Logged};

/// Ordered for people: what it is, what became of it, who said what.
pub(super) fn facts(history: &History, row: &HandoffRow) -> Vec<(String, Node)> {
    let run = &history.row.run;
    let moves = Moves::of(history, row.no);
    let mut facts = DocumentMembers(Vec::new());
    facts.add("label", Node::Text(row.no.label()));
    facts.add("handoff", Node::text(row.id.0.to_string()));
    facts.add("number", Node::count(row.number));
    facts.add("run", Node::text(run.id.to_string()));
    facts.add("story", Node::text(run.story.as_str()));
    facts.add("workflow", Node::text(run.workflow.as_str()));
    facts.add("kind", Node::text(row.kind.name()));
    facts.add("state", Node::text(row.state.name()));
    let record = GateRecord::of(history);
    let outcome = row.outcome.filter(|_| !record.is_rejected(row.no));
    facts.add_some("outcome", outcome.map(|it| Node::text(it.name())));
    facts.add("from", party(&row.from));
    facts.add("to", party(&row.to));
    facts.add("reason", words(history, row.reason));
    facts.add("attempt", Node::count(row.attempt.into()));
    facts.add_some("follows", row.follows.map(|it| Node::Text(it.label())));
    facts.add("created_at", Node::Text(row.created_at.to_string()));
    facts.add_some("created_by", moves.created.map(by));
    facts.add_some("accepted_at", row.accepted_at.map(|it| Node::Text(it.to_string())));
    facts.add_some("accepted_by", moves.accepted.filter(|_| row.accepted_at.is_some()).map(by));
    facts.add_some("ended_at", row.ended_at.map(|it| Node::Text(it.to_string())));
    facts.add_some("ended_by", moves.ended.map(by));
    facts.add_some("ended_reason", row.ended_reason.map(|it| words(history, it)));
    facts.add_some("approved_by", approved_by(&record, row));
    facts.add_some("gate", gate(history, &record, row.no));
    facts.add_some("evidence", evidence(history, row));
    facts.add_some("package", row.package.map(|it| package(history, it)));
    facts.add_some("acknowledgement", row.acknowledgement.map(|it| acknowledged(history, it)));
    let warnings: Vec<Node> = row.warnings.iter().map(Node::text).collect();
    facts.add_some("warnings", (!warnings.is_empty()).then_some(Node::List(warnings)));
    facts.0
}

/// The gate that the handoff is: what the workflow calls it, why it was opened, and the answer. A
/// sender's own `gate` stays where the sender wrote it.
fn gate(history: &History, record: &GateRecord, no: HandoffNo) -> Option<Node> {
    let opened = record.opened.get(&no)?;
    let declared = opened.edge_in(&history.workflow).and_then(|it| it.gate.as_ref());
    let mut facts = DocumentMembers(Vec::new());
    facts.add_some("name", declared.map(|it| Node::text(&it.name)));
    facts.add("type", Node::text(opened.kind.name()));
    facts.add("cause", Node::text(opened.cause.name()));
    if let Some(said) = record.answer_to(no) {
        facts.add("answer", Node::text(said.answer.name()));
        facts.add("answered_by", by(&said.by));
        facts.add("answered_at", Node::Text(said.at.to_string()));
        facts.add("comment", said.comment.map_or(Node::Null, |it| words(history, it)));
    }
    let votes: Vec<Node> = record.votes_at(no).map(|it| vote(history, it)).collect();
    facts.add_some("approvals", (!votes.is_empty()).then_some(Node::List(votes)));
    let passed_on: Vec<Node> =
        record.delegations_at(no).map(|it| delegation(history, it)).collect();
    facts.add_some("votes_passed_on", (!passed_on.is_empty()).then_some(Node::List(passed_on)));
    Some(Node::Map(facts.0))
}

/// One person, or a list of all where the gate needed several.
fn approved_by(record: &GateRecord, row: &HandoffRow) -> Option<Node> {
    match record.approved_by(row).as_slice() {
        [] => None,
        [one] => Some(by(one)),
        several => Some(Node::List(several.iter().map(by).collect())),
    }
}

/// One approval of several.
fn vote(history: &History, vote: &GateVote) -> Node {
    let mut facts = DocumentMembers(Vec::new());
    facts.add("by", by(&vote.by));
    facts.add_some("on_behalf_of", vote.on_behalf_of.first().map(by));
    facts.add("at", Node::Text(vote.at.to_string()));
    facts.add("comment", vote.comment.map_or(Node::Null, |it| words(history, it)));
    Node::Map(facts.0)
}

fn delegation(history: &History, it: &GateDelegation) -> Node {
    let mut facts = DocumentMembers(Vec::new());
    facts.add("by", by(&it.by));
    facts.add("to", by(&it.to));
    facts.add("at", Node::Text(it.at.to_string()));
    facts.add("comment", it.comment.map_or(Node::Null, |it| words(history, it)));
    Node::Map(facts.0)
}

/// What Baton's runner saw when it checked the work: with the handoff that stood for it then, and with
/// the one that offered it.
fn evidence(history: &History, row: &HandoffRow) -> Option<Node> {
    let checked = row.follows.filter(|_| row.to.place != Place::Orchestrator).unwrap_or(row.no);
    let mut seen = Vec::new();
    for Logged { event, .. } in &history.log {
        let Event::Evidence(EvidenceEvent::Recorded {
            handoff,
            check,
            verdict,
            detail,
            ran: Some(ran),
            ..
        }) = event
        else {
            continue;
        };
        if *handoff != checked {
            continue;
        }
        let mut facts = DocumentMembers(Vec::new());
        facts.add("check", Node::text(check.as_str()));
        facts.add("verdict", Node::text(verdict.name()));
        facts.add_some("exit_code", ran.exit_code.map(|it| Node::text(it.to_string())));
        facts.add("milliseconds", Node::count(ran.millis));
        facts.add_some("commit", ran.commit.as_ref().map(|it| Node::text(it.as_str())));
        facts.add_some("tree", ran.tree.as_ref().map(|it| Node::text(it.as_str())));
        facts.add_some("output", detail.map(|it| words(history, it)));
        seen.push(Node::Map(facts.0));
    }
    (!seen.is_empty()).then_some(Node::List(seen))
}

struct DocumentMembers(Vec<(String, Node)>);

impl DocumentMembers {
    fn add(&mut self, key: &str, node: Node) {
        self.0.push((key.to_owned(), node));
    }

    fn add_some(&mut self, key: &str, node: Option<Node>) {
        if let Some(node) = node {
            self.add(key, node);
        }
    }
}

/// Who created a handoff, accepted it last, and ended it.
#[derive(Default)]
struct Moves<'a> {
    created: Option<&'a Principal>,
    accepted: Option<&'a Principal>,
    ended: Option<&'a Principal>,
}

impl<'a> Moves<'a> {
    fn of(history: &'a History, no: HandoffNo) -> Self {
        let mut moves = Self::default();
        let is_about = |it: &&Logged| it.event.handoff() == Some(no);
        for Logged { by, event, .. } in history.log.iter().filter(is_about) {
            match event.state_after() {
                Some(HandoffState::Ended(_)) => moves.ended = Some(by),
                Some(HandoffState::Open(_)) | None => {}
            }
            if let Event::Handoff(HandoffEvent::Created(_)) = event {
                moves.created = Some(by);
            }
            if let Event::Handoff(HandoffEvent::Accepted { .. }) = event {
                moves.accepted = Some(by);
            }
        }
        moves
    }
}

/// An agent and its step; null where the workflow does not have it.
pub(super) fn party(party: &Party) -> Node {
    Node::map([("agent", Node::text(party.agent.as_str())), ("step", step(&party.place))])
}

pub(super) fn step(place: &Place) -> Node {
    match place {
        Place::Step(step) => Node::text(step.as_str()),
        Place::Orchestrator | Place::Human | Place::Delegate(_) => Node::Null,
    }
}

/// Null where the text was lost in a recovery.
pub(super) fn words(history: &History, id: ContentId) -> Node {
    history.text(id).map_or(Node::Null, Node::text)
}

/// Its format and its content hash.
fn package(history: &History, id: ContentId) -> Node {
    match history.content(id).map(|it| it.kind) {
        Some(ContentKind::Package { format, hash }) => Node::map([
            ("format", Node::text(format.name())),
            ("sha256", Node::text(hash.to_string())),
        ]),
        Some(ContentKind::Words) | None => Node::Null,
    }
}

/// The members of the YAML handoff's document, or the receiver's own text.
fn acknowledged(history: &History, id: ContentId) -> Node {
    let Some(text) = history.text(id) else { return Node::Null };
    let read = |format| formats::decode(format, text).ok();
    let document = read(Format::Json).or_else(|| read(Format::Xml)).or_else(|| read(Format::Yaml));
    let roots = ["acknowledgment", "acknowledgement"];
    let known = ["received", "understood", "questions", "blockers", "starting", "action"];
    let body =
        document.as_ref().map(|it| roots.iter().find_map(|key| it.member(key)).unwrap_or(it));
    let is_known = |it: &&Node| known.iter().any(|key| it.member(key).is_some());
    match body.filter(is_known) {
        Some(body) if Acknowledgement::read(body, text).is_ok() => body.clone(),
        Some(_) | None => Node::map([("understood", Node::text(text))]),
    }
}

fn by(principal: &Principal) -> Node {
    Node::text(principal.as_str())
}
