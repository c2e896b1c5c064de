//! The messages that subscribers receive for an event: names and members in the form of the API
//! that they subscribe to. No message contains free text, and each is smaller than a kilobyte.

use baton_core::agent::Agent;
use baton_core::collaboration::DecisionItem;
use baton_core::document::Node;
use baton_core::event::{
    BlockerEvent, ChecksEvent, ContentEvent, Created, DecisionEvent, Event, EvidenceEvent,
    FileEvent, GateEvent, HandoffEvent, StepEvent, UsageEvent,
};
use baton_core::names::{AgentId, Principal, StepId};
use baton_core::run::{HandoffState, Kind, RunId, RunStatus};
use baton_core::workflow::Place;
use baton_views::Cast;
use baton_wire::json;
use jiff::Timestamp;

use self::members::{
    MOST_NAME, MOST_PERSON, NamedMembers, agent, agent_without_avatar, branch, context, cut,
    cut_text, ends, gate, lease, message, pipeline_words, principal, reported, settled,
    step_status, text,
};
use super::names::{HandoffNames, RunNames};
use crate::pipeline::rows;

mod members;

/// Which API's names and values a message uses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Dialect {
    /// `/api/events`: numbers and the pipeline API's names; no `event:` line, because its client
    /// reads `{type, data}` with `onmessage`, which is not called for named events.
    Pipeline,
    /// `/api/v1/events`: ids and native names, each message under its event name.
    Native,
}

/// An event with everything that its messages need.
pub(super) struct EventToSend<'a> {
    pub(super) run: RunId,
    pub(super) at: Timestamp,
    pub(super) by: &'a Principal,
    pub(super) event: &'a Event,
    pub(super) names: &'a RunNames,
    /// The names of the handoff that it is about.
    pub(super) handoff: Option<HandoffNames>,
    /// That handoff's current state; only for `handoff.stale`, which does not contain it.
    pub(super) state: Option<HandoffState>,
    /// The agents of the run, as they were shown when it happened.
    pub(super) cast: &'a Cast,
}

pub(super) struct EventMessage {
    pub(super) name: &'static str,
    pub(super) data: Node,
}

/// A message with its frame has fewer bytes than this.
pub(super) const MOST_BYTES: usize = 1024;

/// Without the frame, and with a story key that needs no escaping.
const MOST_WITH_AVATARS: usize = 600;

impl EventToSend<'_> {
    /// All messages of the event, in order; a subscriber may be cut off between any two. Names are those
    /// of the time of the event: it has the same messages whenever it is sent.
    pub(super) fn messages(&self, face: Dialect) -> Vec<EventMessage> {
        let mut messages = vec![];
        let mut tell = |name, members: Vec<(&'static str, Node)>| {
            let data = Node::map(self.about(face).into_iter().chain(members));
            messages.push(EventMessage { name, data });
        };
        if let Some(state) = self.handoff_state() {
            let status = match face {
                Dialect::Pipeline => rows::status(state),
                Dialect::Native => state.name(),
            };
            tell("handoff", vec![("handoffId", self.handoff_id(face)), ("status", text(status))]);
        }
        if let Event::Handoff(HandoffEvent::Created(created)) = self.event
            // A question does not move the baton.
            && created.kind != Kind::Question
        {
            tell("AGENT_HANDOFF", self.agent_handoff(created));
        }
        if let Some(status) = self.run_status() {
            let (state, story) = pipeline_words(status);
            let run = match face {
                Dialect::Pipeline => Some(("runId", self.run_id())),
                // Every native message contains it.
                Dialect::Native => None,
            };
            tell("run_state", run.into_iter().chain([("status", text(state))]).collect());
            tell("story_update", vec![("status", text(story))]);
            let workflow = vec![
                ("workflowId", text(self.names.workflow.name.as_str())),
                ("workflowInstanceId", self.run_id()),
                ("status", text(status.name())),
                ("timestamp", rows::time(self.at)),
            ];
            tell("WORKFLOW_STATUS_CHANGED", workflow);
        }
        for (name, members) in self.decisions() {
            tell(name, members);
        }
        if let Some((name, members)) = self.beside(face) {
            tell(name, members);
        }
        for (name, members) in self.decided_by_answer() {
            tell(name, members);
        }
        messages
    }

    /// The members that identify the run. Pipeline API messages have only their documented members.
    fn about(&self, face: Dialect) -> Vec<(&'static str, Node)> {
        let story = ("storyId", text(self.names.story.as_str()));
        match face {
            Dialect::Pipeline => vec![story],
            Dialect::Native => vec![story, ("runId", self.run_id())],
        }
    }

    fn run_id(&self) -> Node {
        text(&self.run.to_string())
    }

    fn handoff_id(&self, face: Dialect) -> Node {
        match (self.handoff, face) {
            (Some(names), Dialect::Pipeline) => Node::count(names.number),
            (Some(names), Dialect::Native) => text(&names.id.0.to_string()),
            (None, _) => Node::Null,
        }
    }

    /// The handoff's state after the event, if the event says something about it.
    fn handoff_state(&self) -> Option<HandoffState> {
        let is_stale = matches!(self.event, Event::Handoff(HandoffEvent::Stale { .. }));
        if is_stale { self.state } else { self.event.state_after() }
    }

    /// From the workflow API: who takes over from whom, as the page shows it.
    fn agent_handoff(&self, created: &Created) -> Vec<(&'static str, Node)> {
        let shown = |it: &AgentId| self.cast.at(it, created.handoff);
        let (from, to) = (shown(&created.from.agent), shown(&created.to.agent));
        let name = cut_text(&to.label(), MOST_NAME);
        let step = match &created.to.place {
            place @ Place::Step(_) => cut(self.names.title(place), MOST_NAME),
            Place::Delegate(_) | Place::Orchestrator | Place::Human => Node::Null,
        };
        let members = |agent: fn(&Agent) -> Node| {
            vec![
                ("fromAgent", agent(&from)),
                ("toAgent", agent(&to)),
                ("stepName", step.clone()),
                ("timestamp", rows::time(self.at)),
                ("message", Node::Text(format!("Handing off to {name}..."))),
            ]
        };
        self.within_bounds(members(agent), || members(agent_without_avatar))
    }

    /// A longer avatar is a URL; half of one would be useless.
    fn within_bounds(
        &self,
        members: Vec<(&'static str, Node)>,
        without_avatar: impl FnOnce() -> Vec<(&'static str, Node)>,
    ) -> Vec<(&'static str, Node)> {
        let n_bytes =
            json::print(&Node::map(members.clone())).len() + self.names.story.as_str().len();
        if n_bytes < MOST_WITH_AVATARS { members } else { without_avatar() }
    }

    fn run_status(&self) -> Option<RunStatus> {
        match self.event {
            Event::Run(event) => event.status_after(),
            Event::Step(_)
            | Event::Handoff(_)
            | Event::Question(_)
            | Event::Frame(_)
            | Event::Lease(_)
            | Event::Gate(_)
            | Event::Evidence(_)
            | Event::Checks(_)
            | Event::Blocker(_)
            | Event::Message(_)
            | Event::Decision(_)
            | Event::Context(_)
            | Event::Branch(_)
            | Event::Content(_)
            | Event::Usage(_)
            | Event::File(_) => None,
        }
    }

    /// Events of neither a handoff nor the run's status: one message each, named after the event.
    fn beside(&self, face: Dialect) -> Option<NamedMembers> {
        let handoff = || ("handoffId", self.handoff_id(face));
        Some(match self.event {
            Event::Run(event) => return reported(event),
            Event::Step(event) => self.step(event),
            Event::Gate(event) => gate(event, handoff()),
            Event::Lease(event) => lease(event, handoff()),
            Event::Evidence(EvidenceEvent::Recorded { check, verdict, .. }) => {
                let verdict = ("verdict", text(verdict.name()));
                ("EVIDENCE_RECORDED", vec![handoff(), ("check", text(check.as_str())), verdict])
            }
            Event::Checks(ChecksEvent::Requested { work, .. }) => {
                let n_checks = Node::count(work.checks.len() as u64);
                let to = text(work.worker.agent.as_str());
                ("CHECKS_REQUESTED", vec![handoff(), ("toAgent", to), ("nChecks", n_checks)])
            }
            Event::Blocker(BlockerEvent::Raised { blocker: no, by, .. }) => {
                let by = ("by", text(by.as_str()));
                ("BLOCKER_RAISED", vec![handoff(), ("blocker", Node::count((*no).into())), by])
            }
            Event::Blocker(BlockerEvent::Resolved { blocker, by, .. }) => {
                ("BLOCKER_RESOLVED", settled(*blocker, by))
            }
            Event::Blocker(BlockerEvent::Waived { blocker, by, .. }) => {
                ("BLOCKER_WAIVED", settled(*blocker, by))
            }
            Event::Blocker(BlockerEvent::Routed { detour, .. }) => {
                let blocked = ("by", text(detour.blocked().agent.as_str()));
                ("BLOCKER_ROUTED", vec![handoff(), blocked, ("reason", text(&detour.reason))])
            }
            Event::Blocker(BlockerEvent::Rerouted { to, cause, by, .. }) => {
                let (to, by) = (("to", text(to.as_str())), ("by", text(by.as_str())));
                ("BLOCKER_REROUTED", vec![handoff(), to, by, ("cause", text(cause.name()))])
            }
            Event::Branch(event) => branch(event),
            Event::Message(event) => message(event),
            Event::Context(event) => context(event),
            // Each decision is a message of its own.
            Event::Decision(_) => return None,
            Event::Content(ContentEvent::Redacted { .. }) => ("CONTENT_REDACTED", Vec::new()),
            Event::Content(ContentEvent::Expired { n_texts, .. }) => {
                ("CONTENT_EXPIRED", vec![("nTexts", Node::count(*n_texts))])
            }
            Event::Usage(UsageEvent::Recorded { agent, usage, .. }) => {
                let tokens = ("tokens", Node::count(usage.tokens()));
                let cost = ("microUsd", usage.micro_usd.map_or(Node::Null, Node::count));
                let work = ("workMs", Node::count(usage.work_ms));
                let agent = ("agent", text(agent.as_str()));
                ("USAGE_RECORDED", vec![handoff(), agent, tokens, cost, work])
            }
            Event::File(FileEvent::Sent { kind, n_bytes, text: bytes, .. }) => {
                let (kind, n_bytes) = (text(kind.name()), Node::count(*n_bytes));
                let is_left_out = ("isLeftOut", Node::Bool(bytes.is_none()));
                ("FILE_SENT", vec![handoff(), ("kind", kind), ("bytes", n_bytes), is_left_out])
            }
            Event::Handoff(_) | Event::Question(_) | Event::Frame(_) => return None,
        })
    }

    /// One message for each decision: its number, and who decided. Its words are in the API.
    fn decisions(&self) -> Vec<NamedMembers> {
        let Event::Decision(event) = self.event else { return Vec::new() };
        let number = |key, no: u32| (key, Node::count(no.into()));
        match event {
            DecisionEvent::Recorded { by, decisions, portrait, handoff, .. } => {
                let shown = match (portrait, handoff) {
                    (None, Some(handoff)) => self.cast.at(by, *handoff),
                    (portrait, _) => self.cast.by_portrait(by, *portrait),
                };
                decisions.iter().map(|it| self.decision(it, &shown)).collect()
            }
            DecisionEvent::Superseded { decision, replaced_by } => {
                let members =
                    vec![number("decision", *decision), number("replacedBy", *replaced_by)];
                vec![("DECISION_SUPERSEDED", members)]
            }
            DecisionEvent::Locked { decision, by, .. } => {
                vec![(
                    "DECISION_LOCKED",
                    vec![number("decision", *decision), ("by", principal(by))],
                )]
            }
        }
    }

    fn decision(&self, it: &DecisionItem, by: &Agent) -> NamedMembers {
        // A choice that is still to be made is no decision.
        let (event, who, verb) = match it.is_open {
            true => ("DECISION_ASKED", "askedBy", "Asked"),
            false => ("DECISION_MADE", "decidedBy", "Decided"),
        };
        let members = |agent: fn(&Agent) -> Node| {
            let mut members = vec![("decision", Node::count(it.no.into())), (who, agent(by))];
            members.extend(self.attribution(verb, by));
            members
        };
        (event, self.within_bounds(members(agent), || members(agent_without_avatar)))
    }

    /// The choices that a person's answer has decided, each by that person.
    fn decided_by_answer(&self) -> Vec<NamedMembers> {
        let Event::Gate(GateEvent::Answered { decisions: Some(decided), .. }) = self.event else {
            return Vec::new();
        };
        let person = Agent::without_file(AgentId::human());
        let members = |no: &u32| {
            let mut members =
                vec![("decision", Node::count((*no).into())), ("decidedBy", agent(&person))];
            members.extend(self.attribution("Decided", &person));
            ("DECISION_MADE", members)
        };
        decided.iter().map(members).collect()
    }

    /// `Decided by Analyst at ...`; a person by name, who is a member too.
    fn attribution(&self, verb: &str, by: &Agent) -> Vec<(&'static str, Node)> {
        let is_person = by.id.is_human();
        let name = if is_person { self.by.to_string() } else { by.label() };
        let name = cut_text(&name, MOST_NAME);
        let line = Node::Text(format!("{verb} by {name} at {:.0}", self.at));
        let person = is_person.then(|| ("person", cut(self.by.as_str(), MOST_PERSON)));
        std::iter::once(("attribution", line)).chain(person).collect()
    }

    fn step(&self, event: &StepEvent) -> NamedMembers {
        let step = |id: &StepId, status| {
            let place = Place::Step(id.clone());
            let title = cut(self.names.title(&place), MOST_NAME);
            vec![("step", text(&place.to_string())), ("stepName", title), ("status", text(status))]
        };
        match event {
            StepEvent::Started { step: id, agent } => {
                let members = step(id, "started").into_iter();
                ("STEP_CHANGED", members.chain([("agent", text(agent.as_str()))]).collect())
            }
            StepEvent::Completed { step: id, agent, outcome, is_rejected } => {
                let mut members = step(id, step_status(*outcome, *is_rejected));
                let outcome = ("outcome", text(outcome.name()));
                members.extend([("agent", text(agent.as_str())), outcome]);
                ("STEP_CHANGED", members)
            }
            StepEvent::Skipped { step: id, .. } => ("STEP_CHANGED", step(id, "skipped")),
            StepEvent::RoundCounted { forward, .. } => ("ROUND_COUNTED", ends(forward)),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use baton_core::content::ContentId;
    use baton_core::event::RunEvent;
    use baton_core::gate::{Answer, Gate, GateCause, GateKind, ReachedLimit};
    use baton_core::hash::Hash;
    use baton_core::names::StoryKey;
    use baton_core::outcome::Outcome;
    use baton_core::registry::Agents;
    use baton_core::run::{EdgeKey, HandoffId, HandoffNo, Party};
    use baton_engine::Catalog;
    use baton_store::Position;
    use baton_wire::{builtin, workflow_file};
    use uuid::Uuid;

    use super::super::batch::frame;
    use super::super::id::EventId;
    use super::*;

    /// As long as an agent's or a step's id may be.
    const LONG_ID: &str = "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa";

    /// Every text at its longest, in the characters that take most room in JSON.
    fn longest() -> (RunNames, Cast) {
        let mut workflow = workflow_file::parse(builtin::workflows()[0].1).unwrap();
        workflow.steps[0].id = StepId::parse(LONG_ID).unwrap();
        workflow.steps[0].title = "\u{1}".repeat(500);
        let story = StoryKey::parse(&"\"".repeat(200)).unwrap();
        let mut agent = Agent::unknown(AgentId::parse(LONG_ID).unwrap());
        agent.name = "\\".repeat(500);
        agent.avatar = Some("https://example.org/".repeat(10));
        let catalog = Catalog::new([], Agents::new([agent]), None);
        (RunNames { story, workflow: Arc::new(workflow) }, Cast::of_today(Arc::new(catalog)))
    }

    fn party() -> Party {
        let place = Place::Step(StepId::parse(LONG_ID).unwrap());
        Party { agent: AgentId::parse(LONG_ID).unwrap(), place }
    }

    fn created() -> Event {
        let id = ContentId(Hash([0; 32]));
        Event::Handoff(HandoffEvent::Created(Created {
            handoff: HandoffNo(u32::MAX),
            id: HandoffId(Uuid::max()),
            branch: 0,
            kind: Kind::Sequential,
            from: party(),
            to: party(),
            package: Some(id),
            reason: id,
            forward: EdgeKey { from: party().place, to: party().place },
            reject_to: None,
            attempt: 1,
            follows: None,
            approved_by: None,
            author: None,
            warnings: vec!["missing context".to_owned(); 100],
            score: Some(100),
            brings: None,
            held_back_until: None,
            has_lost_lease: false,
            cast: None,
            from_portrait: None,
            to_portrait: None,
            entry: None,
            rework_reason: None,
            n_questions: 0,
            n_releases: 0,
            failure: None,
            lost_output: None,
            tree: None,
        }))
    }

    #[test]
    fn the_longest_of_each_stays_below_a_kilobyte_and_has_no_member_twice() {
        let (names, cast) = longest();
        let by = Principal::parse(&"\"".repeat(200)).unwrap();
        let events = longest_events(&by);
        for event in &events {
            let sent = EventToSend {
                run: RunId(Uuid::max()),
                at: Timestamp::MAX,
                by: &by,
                event,
                names: &names,
                handoff: Some(HandoffNames { number: u64::MAX, id: HandoffId(Uuid::max()) }),
                state: None,
                cast: &cast,
            };
            for face in [Dialect::Pipeline, Dialect::Native] {
                let messages = sent.messages(face);
                assert!(!messages.is_empty(), "{}", event.name());
                for message in messages {
                    let epoch = "abcdefgh".into();
                    let id = EventId { epoch, position: Position(u64::MAX), part: 2 };
                    let n_bytes = frame(face, &id, message.name, &message.data).len();
                    assert!(n_bytes < MOST_BYTES, "{n_bytes}: {}", event.name());
                    // This also refuses a duplicate member.
                    let printed = json::print(&message.data);
                    let read = json::parse(&printed);
                    assert_eq!(read.as_ref(), Ok(&message.data), "{}: {printed}", message.name);
                }
            }
        }
    }

    fn longest_events(by: &Principal) -> Vec<Event> {
        let agent = AgentId::parse(LONG_ID).unwrap();
        let step = StepId::parse(LONG_ID).unwrap();
        let edge = EdgeKey { from: party().place, to: party().place };
        let (handoff, outcome) = (HandoffNo(1), Outcome::NeedsClarification);
        vec![
            created(),
            Event::Run(RunEvent::Completed),
            Event::Step(StepEvent::Completed {
                step,
                agent: agent.clone(),
                outcome,
                is_rejected: false,
            }),
            opened(GateCause::Rounds),
            opened(GateCause::Blocked),
            Event::Gate(GateEvent::Passed {
                edge: edge.clone(),
                evidence: Vec::new(),
                on: None,
                branch: 0,
            }),
            Event::Gate(GateEvent::Waived {
                gates: Vec::new(),
                by: by.clone(),
                reason: None,
                branch: 0,
            }),
            Event::Step(StepEvent::RoundCounted { forward: edge, findings: None, branch: 0 }),
            Event::Gate(GateEvent::Answered {
                handoff,
                answer: Answer::HandTo(agent.clone()),
                by: by.clone(),
                comment: None,
                n_extra: 3,
                resets: Vec::new(),
                decisions: Some(vec![u32::MAX]),
            }),
            Event::Decision(DecisionEvent::Recorded {
                by: agent.clone(),
                decisions: vec![decision(true), decision(false)],
                handoff: Some(handoff),
                package: None,
                text: None,
                portrait: None,
                is_new_cast: false,
                salt: None,
            }),
            Event::Blocker(BlockerEvent::Raised {
                branch: 0,
                blocker: u32::MAX,
                handoff,
                by: agent,
                about: ContentId(Hash([0; 32])),
            }),
            Event::Blocker(BlockerEvent::Waived { blocker: u32::MAX, by: by.clone(), why: None }),
            Event::Handoff(HandoffEvent::TimedOut { handoff, reason: None }),
        ]
    }

    fn decision(is_open: bool) -> DecisionItem {
        let (id_fingerprint, supersedes, depends_on) = (None, None, Vec::new());
        let (no, index, fingerprint) = (u32::MAX, 0, 0);
        DecisionItem { no, index, fingerprint, id_fingerprint, is_open, supersedes, depends_on }
    }

    fn opened(cause: GateCause) -> Event {
        let edge = EdgeKey { from: party().place, to: party().place };
        let gate = Gate {
            cause,
            kind: GateKind::Blocking,
            asker: party(),
            worker: party(),
            package: None,
            given: None,
            reason: None,
            forward: edge,
            sender: None,
            beside: None,
            about: None,
            edge: None,
            has_lost_lease: false,
            evidence: Vec::new(),
            warnings: Vec::new(),
            limit: Some(ReachedLimit { n: u32::MAX, most: u32::MAX }),
            budget: None,
            approval: None,
            is_raised: false,
            remind_at: None,
            reminded_at: None,
        };
        Event::Gate(GateEvent::Opened { handoff: HandoffNo(1), gate })
    }
}
