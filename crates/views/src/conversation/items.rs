//! What each event is in a conversation.

use baton_core::collaboration::{DecisionItem, DecisionText};
use baton_core::content::ContentId;
use baton_core::event::{
    ContextEvent, Created, DecisionEvent, Event, GateEvent, HandoffEvent, MessageEvent,
    QuestionEvent,
};
use baton_core::names::AgentId;
use baton_core::run::Kind;
use baton_core::workflow::{Place, Workflow};
use baton_engine::{Texts, stored};
use baton_wire::json;

use super::{ConversationItem, ConversationKind, FoundPart, StatedDecision};
use crate::Cast;

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
            | "gate.answered"
            | "context.changed"
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
    pub(super) cast: &'a Cast,
    pub(super) workflow: &'a Workflow,
}

impl Scene<'_> {
    pub(super) fn item(&self, part: FoundPart) -> ConversationItem {
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
            principal: stored.by,
            to: None,
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
        if let Event::Question(QuestionEvent::Answered { .. }) = &event {
            return ConversationItem { kind: ConversationKind::Reply, ..item };
        }
        if let Event::Decision(event) = &event {
            return self.decision(item, event);
        }
        if let Event::Gate(GateEvent::Answered { answer, .. }) = &event {
            let line = Some(format!("{} answers: {}", item.principal, answer.name()));
            return ConversationItem { kind: ConversationKind::Answer, line, ..item };
        }
        if let Event::Context(ContextEvent::Changed { key, version, by, .. }) = &event {
            // Without an agent it is the principal's own.
            let is_agent = *by != item.principal.to_string();
            let agent = AgentId::parse(by).ok().filter(|_| is_agent);
            let agent = agent.map(|it| self.cast.today(&it));
            let line = Some(format!("{by} changes the context `{key}` to version {version}"));
            return ConversationItem { kind: ConversationKind::Context, agent, line, ..item };
        }
        item
    }

    fn message(&self, item: ConversationItem, event: &MessageEvent) -> ConversationItem {
        let shown = |id: &AgentId, portrait: &Option<ContentId>| {
            let agent = self.cast.by_portrait(id, *portrait);
            (!id.is_human()).then_some(agent)
        };
        match event {
            MessageEvent::Posted { by, portrait, .. } => {
                let agent = by.as_ref().and_then(|it| shown(it, portrait));
                ConversationItem { agent, ..item }
            }
            MessageEvent::Asked { ask, by, to, portrait, .. } => {
                let to = self.cast.today(to);
                let agent = self.cast.by_portrait(by, *portrait);
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
        let shown = |id: &AgentId| self.cast.at(id, created.handoff);
        let (agent, to) = (shown(&created.from.agent), shown(&created.to.agent));
        let (kind, line) = match created.kind {
            // A question does not move responsibility.
            Kind::Question => {
                let line = format!("{} asks {}", agent.label(), to.label());
                (ConversationKind::Question, line)
            }
            Kind::Sequential | Kind::Delegation | Kind::Escalation | Kind::Return => {
                let line = format!("Handing off to {}...", to.label());
                (ConversationKind::Handoff, line)
            }
        };
        let step = step_title(self.workflow, &created.to.place);
        let line = Some(step.map_or_else(|| line.clone(), |it| format!("{line} ({it})")));
        ConversationItem { kind, agent: Some(agent), to: Some(to), line, ..item }
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
                let stated = self.stated(decisions, *text, *package);
                let agent = self.cast.by_portrait(by, *portrait);
                let person = item.principal.to_string();
                let name = if by.is_human() { person } else { agent.label() };
                let line = Some(format!("Decided by {name} at {:.0}", item.at));
                let agent = (!by.is_human()).then_some(agent);
                let handoff = *handoff;
                return ConversationItem { kind, agent, line, decisions: stated, handoff, ..item };
            }
        };
        ConversationItem { kind, line: Some(line), ..item }
    }

    fn stated(
        &self,
        items: &[DecisionItem],
        text: Option<ContentId>,
        package: Option<ContentId>,
    ) -> Vec<StatedDecision> {
        if let Some(text) = text {
            let document = self.texts.get(text).whole().and_then(|it| json::parse(it).ok());
            let text = document.map(|it| DecisionText::of_document(&it)).unwrap_or_default();
            let of = |it: &DecisionItem| StatedDecision {
                no: it.no,
                decision: text.decision.clone(),
                rationale: text.rationale.clone(),
            };
            return items.iter().map(of).collect();
        }
        let package = package.and_then(|it| self.texts.content(it)).and_then(stored::package);
        let stated = package.map(|it| it.decisions()).unwrap_or_default();
        let of = |it: &DecisionItem| {
            let decision = stated.get(usize::try_from(it.index).ok()?)?;
            let (no, rationale) = (it.no, decision.rationale.clone());
            Some(StatedDecision { no, decision: decision.decision.clone(), rationale })
        };
        items.iter().filter_map(of).collect()
    }
}

/// The words, and apart from them the lines in which a program's use of a tool is told: `[Read] a.rs`.
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

fn step_title(workflow: &Workflow, place: &Place) -> Option<String> {
    match place {
        Place::Step(id) => workflow.step(id).map(|it| it.title.clone()),
        Place::Orchestrator | Place::Human | Place::Delegate(_) => None,
    }
    .filter(|it| !it.is_empty())
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
