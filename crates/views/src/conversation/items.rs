//! What each event is in a conversation.

use baton_core::agent::Agent;
use baton_core::collaboration::{DecisionItem, DecisionText};
use baton_core::content::ContentId;
use baton_core::event::{
    ContentEvent, ContextEvent, Created, DecisionEvent, Event, GateEvent, HandoffEvent,
    MessageEvent, QuestionEvent,
};
use baton_core::gate::Answer;
use baton_core::names::{AgentId, Principal};
use baton_core::package::ReportedDecision;
use baton_core::run::{HandoffNo, Kind};
use baton_engine::{Texts, stored};
use baton_wire::json;

use super::{ConversationItem, ConversationKind, FoundPart, StatedDecision};
use crate::attribution::{Attributions, step_title};
use crate::decisions::{Decided, DecisionRecord, in_place_of};
use crate::gate_record::GateRecord;

/// Whether events of this name are a part of the conversation. The others are not decoded.
pub(super) fn has_part(name: &str) -> bool {
    matches!(
        name,
        "message.posted"
            | "message.asked"
            | "message.replied"
            | "message.repeated"
            | "message.unanswered"
            | "handoff.created"
            | "handoff.answered"
            | "decision.recorded"
            | "decision.superseded"
            | "decision.locked"
            | "gate.approved"
            | "gate.delegated"
            | "gate.answered"
            | "context.changed"
            | "content.redacted"
    )
}

/// The texts that are shown.
pub(super) fn texts_of(event: &Event) -> impl Iterator<Item = ContentId> {
    let texts = event.texts();
    let package = texts.package.filter(|_| matches!(event, Event::Decision(_)));
    texts.words.into_iter().chain(package)
}

/// What items are made with.
pub(super) struct Scene<'a> {
    pub(super) texts: &'a Texts,
    pub(super) people: Attributions<'a>,
    /// The gates of the run, where a part is about one.
    pub(super) gates: &'a GateRecord,
    /// The decisions of the run, where a part is about some.
    pub(super) decided: &'a [Decided],
}

impl Scene<'_> {
    /// With the step that each agent had to do then.
    pub(super) fn item(&self, part: FoundPart) -> ConversationItem {
        let item = self.plain_item(part);
        let step =
            |it: &Option<Agent>| it.as_ref().and_then(|it| self.people.step_of(&it.id, item.at));
        let agent_step = item.agent_step.clone().or_else(|| step(&item.agent));
        let to_step = item.to_step.clone().or_else(|| step(&item.to));
        ConversationItem { agent_step, to_step, ..item }
    }

    fn plain_item(&self, part: FoundPart) -> ConversationItem {
        let FoundPart { stored, event } = part;
        // The text of a decision is a document: what it says is shown.
        let is_document =
            matches!(event, Event::Decision(DecisionEvent::Recorded { .. }) | Event::Context(_));
        let words = event.texts().words.filter(|_| !is_document);
        let text = words.and_then(|it| self.texts.get(it).whole());
        let (text, tools) = folded(text);
        let item = ConversationItem {
            position: stored.position,
            at: stored.at,
            kind: ConversationKind::Message,
            agent: None,
            agent_step: None,
            principal: stored.by,
            to: None,
            to_step: None,
            line: None,
            text,
            is_damaged: words.is_some_and(|it| self.texts.get(it).is_damaged()),
            tools,
            handoff: event.handoff(),
            decisions: Vec::new(),
            ask: None,
        };
        if let Event::Message(event) = &event {
            return self.message(item, event);
        }
        if let Event::Handoff(HandoffEvent::Created(created)) = &event {
            return self.handoff(item, created);
        }
        if let Event::Question(QuestionEvent::Answered { question, .. }) = &event {
            // Who was asked answers; a person who was has a name.
            let asked = self.people.row(*question).filter(|it| !it.to.agent.is_human());
            let agent = asked.map(|it| self.people.cast.at(&it.to.agent, *question));
            return ConversationItem { kind: ConversationKind::Reply, agent, ..item };
        }
        if let Event::Decision(event) = &event {
            return self.decision(item, event);
        }
        if let Event::Gate(event) = &event {
            return self.gate(item, event);
        }
        if let Event::Content(ContentEvent::Redacted { .. }) = &event {
            let line = Some(format!("{} redacts a text", item.principal));
            return ConversationItem { kind: ConversationKind::Redaction, line, ..item };
        }
        if let Event::Context(ContextEvent::Changed { key, version, by, .. }) = &event {
            // Without an agent it is the principal's own.
            let is_agent = *by != item.principal.to_string();
            let agent = AgentId::parse(by).ok().filter(|_| is_agent);
            let agent = agent.map(|it| self.people.at_time(&it, item.at));
            let line = Some(format!("{by} changes the context `{key}` to version {version}"));
            return ConversationItem { kind: ConversationKind::Context, agent, line, ..item };
        }
        item
    }

    /// Every vote and every answer is the person's own line, with their comment.
    fn gate(&self, item: ConversationItem, event: &GateEvent) -> ConversationItem {
        let kind = ConversationKind::Answer;
        if let GateEvent::Approved { handoff, by, .. } = event {
            let vote = self.gates.votes_at(*handoff).find(|it| it.by == *by);
            let named = vote.and_then(|it| it.on_behalf_of.first());
            let named = named.map(|it| format!(" for {it}")).unwrap_or_default();
            return ConversationItem { kind, line: Some(format!("{by} approves{named}")), ..item };
        }
        if let GateEvent::Delegated { by, to, .. } = event {
            let line = Some(format!("{by} passes the vote on to {to}"));
            return ConversationItem { kind, line, ..item };
        }
        if let GateEvent::Answered { handoff, answer, by, .. } = event {
            let decisions = self.answered(*handoff);
            let attribution = decisions.first().map(|it| format!(". {}", it.attribution));
            let line =
                Some(format!("{by} answers: {}{}", answer.name(), attribution.unwrap_or_default()));
            // The comment stands with the vote.
            let is_told = *answer == Answer::Approve && self.gates.is_told_by_vote(*handoff, by);
            let text = item.text.clone().filter(|_| !is_told);
            return ConversationItem { kind, line, text, decisions, ..item };
        }
        item
    }

    /// The choices that the answer to a gate has decided. What was said stands with the answer.
    fn answered(&self, gate: HandoffNo) -> Vec<StatedDecision> {
        let is_it = |it: &&Decided| {
            it.asked_by.is_some() && it.row.as_ref().is_some_and(|row| row.no == gate)
        };
        let stated = |it: &Decided| {
            Some(StatedDecision {
                no: it.record.as_ref()?.no,
                decision: it.decision.decision.clone(),
                rationale: None,
                attribution: it.attribution(),
                is_only_asked: false,
                record: it.record.clone(),
            })
        };
        self.decided.iter().filter(is_it).filter_map(stated).collect()
    }

    fn message(&self, item: ConversationItem, event: &MessageEvent) -> ConversationItem {
        let shown = |id: &AgentId, portrait: &Option<ContentId>| {
            let agent = self.people.cast.by_portrait(id, *portrait);
            (!id.is_human()).then_some(agent)
        };
        match event {
            MessageEvent::Posted { by, portrait, .. } => {
                let agent = by.as_ref().and_then(|it| shown(it, portrait));
                ConversationItem { agent, ..item }
            }
            MessageEvent::Asked { ask, by, to, portrait, .. } => {
                let to = self.people.cast.by_portrait(to, *portrait);
                let agent = self.people.cast.by_portrait(by, *portrait);
                let line = format!("{} asks {}", agent.label(), to.label());
                ConversationItem {
                    kind: ConversationKind::Question,
                    agent: Some(agent),
                    to: Some(to),
                    line: Some(line),
                    ask: Some(*ask),
                    ..item
                }
            }
            MessageEvent::Replied { ask, by, portrait, .. } => ConversationItem {
                kind: ConversationKind::Reply,
                agent: shown(by, portrait),
                ask: Some(*ask),
                ..item
            },
            MessageEvent::Repeated { ask, .. } => {
                let line = format!("Question {ask} is not answered in time and put again");
                let (kind, ask) = (ConversationKind::Unanswered, Some(*ask));
                ConversationItem { kind, ask, line: Some(line), ..item }
            }
            MessageEvent::Unanswered { ask } => {
                let line = format!("Question {ask} stays without an answer");
                let (kind, ask) = (ConversationKind::Unanswered, Some(*ask));
                ConversationItem { kind, ask, line: Some(line), ..item }
            }
        }
    }

    fn handoff(&self, item: ConversationItem, created: &Created) -> ConversationItem {
        let shown = |id: &AgentId| self.people.cast.at(id, created.handoff);
        let (agent, to) = (shown(&created.from.agent), shown(&created.to.agent));
        let (kind, line) = match created.kind {
            // A question does not move responsibility.
            Kind::Question => {
                let asker = match created.from.agent.is_human() {
                    true => item.principal.to_string(),
                    false => agent.label(),
                };
                (ConversationKind::Question, format!("{asker} asks {}", to.label()))
            }
            Kind::Sequential | Kind::Delegation | Kind::Escalation | Kind::Return => {
                let line = format!("Handing off to {}...", to.label());
                (ConversationKind::Handoff, line)
            }
        };
        let [agent_step, to_step] =
            [&created.from.place, &created.to.place].map(|it| step_title(self.people.workflow, it));
        let line = match &to_step {
            Some(step) => Some(format!("{line} ({step})")),
            None => Some(line),
        };
        // The comment of a person is theirs: it stands with their answer, not with the sender's name.
        let is_comment = self.gates.has_comment(created.reason);
        let text = item.text.clone().filter(|_| !is_comment);
        let (agent, to) = (Some(agent), Some(to));
        ConversationItem { kind, agent, agent_step, to, to_step, line, text, ..item }
    }

    fn decision(&self, item: ConversationItem, event: &DecisionEvent) -> ConversationItem {
        let kind = ConversationKind::Decision;
        let line = match event {
            DecisionEvent::Superseded { decision, replaced_by } => {
                format!("Decision {replaced_by} replaces decision {decision}")
            }
            DecisionEvent::Locked { decision, by, .. } => {
                format!("{by} locks decision {decision}")
            }
            DecisionEvent::Recorded { by, decisions, text, package, portrait, handoff, .. } => {
                let words = self.stated(decisions, *text, *package);
                let agent = self.people.recorded(by, *portrait, item.at).agent;
                let person = by.is_human().then(|| item.principal.clone());
                // A package that a person wrote in an agent's place: earlier versions recorded the agent.
                let person = person.or_else(|| self.person_of(decisions));
                let name = person.as_ref().map_or_else(|| agent.label(), ToString::to_string);
                let attributed = |verb: &str| format!("{verb} by {name} at {:.0}", item.at);
                let stated = decisions.iter().zip(words).map(|(it, said)| StatedDecision {
                    no: it.no,
                    decision: said.decision,
                    rationale: said.rationale,
                    attribution: attributed(if it.is_open { "Asked" } else { "Decided" }),
                    is_only_asked: it.is_open,
                    record: self.record_of(it.no),
                });
                let is_made = decisions.iter().any(|it| !it.is_open);
                let asked: Vec<u32> =
                    decisions.iter().filter(|it| it.is_open).map(|it| it.no).collect();
                let line = match is_made {
                    true if asked.is_empty() => attributed("Decided"),
                    true => format!("{}; asks {}", attributed("Decided"), decision_numbers(&asked)),
                    false => attributed("Asked"),
                };
                let (line, decisions) = (Some(line), stated.collect());
                let agent = person.is_none().then_some(agent);
                let handoff = *handoff;
                return ConversationItem { kind, agent, line, decisions, handoff, ..item };
            }
        };
        ConversationItem { kind, line: Some(line), ..item }
    }

    fn decided(&self, no: u32) -> Option<&Decided> {
        self.decided.iter().find(|it| it.record.as_ref().is_some_and(|it| it.no == no))
    }

    fn record_of(&self, no: u32) -> Option<DecisionRecord> {
        self.decided(no).and_then(|it| it.record.clone())
    }

    /// The person whose package states these decisions.
    fn person_of(&self, items: &[DecisionItem]) -> Option<Principal> {
        let stated = items.iter().filter(|it| !it.is_open).find_map(|it| self.decided(it.no))?;
        stated.person.clone().filter(|_| stated.asked_by.is_none())
    }

    /// Each in the words of its text or its package.
    fn stated(
        &self,
        items: &[DecisionItem],
        text: Option<ContentId>,
        package: Option<ContentId>,
    ) -> Vec<ReportedDecision> {
        if let Some(text) = text {
            let document = self.texts.get(text).whole().and_then(|it| json::parse(it).ok());
            let said = document.map(|it| DecisionText::of_document(&it));
            let said = match said {
                Some(DecisionText { decision, rationale, .. }) => {
                    ReportedDecision { decision, rationale, ..ReportedDecision::default() }
                }
                None => in_place_of(self.texts.get(text)),
            };
            return items.iter().map(|_| said.clone()).collect();
        }
        let Some(id) = package else { return Vec::new() };
        let package = self.texts.content(id).and_then(stored::package);
        let stated = package.map(|it| it.decisions()).unwrap_or_default();
        let of = |it: &DecisionItem| {
            let said = usize::try_from(it.index).ok().and_then(|at| stated.get(at)).cloned();
            said.unwrap_or_else(|| in_place_of(self.texts.get(id)))
        };
        items.iter().map(of).collect()
    }
}

/// `decision 1`, `decisions 1, 3`.
fn decision_numbers(numbers: &[u32]) -> String {
    let noun = if numbers.len() == 1 { "decision" } else { "decisions" };
    let numbers: Vec<String> = numbers.iter().map(ToString::to_string).collect();
    format!("{noun} {}", numbers.join(", "))
}

/// The words, and apart from them the lines in which a program's use of a tool is reported: `[Read] a.rs`.
fn folded(text: Option<&str>) -> (Option<String>, Vec<String>) {
    let Some(text) = text else { return (None, Vec::new()) };
    let (mut words, mut tools) = (Vec::new(), Vec::new());
    for line in text.lines() {
        if is_tool(line) { tools.push(line.to_owned()) } else { words.push(line) }
    }
    if tools.is_empty() {
        return (Some(text.to_owned()), tools);
    }
    (Some(words.join("\n").trim_matches('\n').to_owned()), tools)
}

fn is_tool(line: &str) -> bool {
    let name = line.strip_prefix('[').and_then(|it| it.split_once("] ")).map(|it| it.0);
    let is_name = |it: char| it.is_ascii_alphanumeric() || matches!(it, '_' | '-' | '.' | ':');
    name.is_some_and(|it| !it.is_empty() && it.len() <= 100 && it.chars().all(is_name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_use_of_tools_is_told_apart_from_words() {
        let text = "I look around.\n[Read] src/lib.rs\n[Bash] cargo test\nIt [works] now.";
        let (words, tools) = folded(Some(text));
        assert_eq!(words.as_deref(), Some("I look around.\nIt [works] now."));
        assert_eq!(tools, ["[Read] src/lib.rs", "[Bash] cargo test"]);
        let (words, tools) = folded(Some("[a note] stays\n"));
        assert_eq!((words.as_deref(), tools.len()), (Some("[a note] stays\n"), 0));
    }
}
