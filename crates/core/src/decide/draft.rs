//! A decision in progress: each event is applied when it is emitted, so that later rules see its
//! effect.

use std::fmt::Write as _;
use std::sync::Arc;

use super::{DecisionContext, Effects};
use crate::content::{Content, ContentId, ContentKind};
use crate::event::{Event, HandoffEvent, evolve};
use crate::evidence::{Evidence, PACKAGE_CHECK};
use crate::gate::{Gate, GateCause, GateEdge, GateKind};
use crate::names::{AgentId, CheckName, FreeText, Principal, StepId};
use crate::outcome::Outcome;
use crate::package::Package;
use crate::refusal::Refusal;
use crate::run::{
    Baton, CounterScope, EdgeKey, Given, Handoff, HandoffNo, Kind, Run, RunCounter, State, Wait,
};
use crate::view::ReportedDecision;
use crate::workflow::{Place, Step, Workflow};

/// The result of a command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Decision {
    /// The run after the events.
    pub run: Run,
    pub events: Vec<Event>,
    pub contents: Vec<Content>,
    /// Texts that the events say are dropped for good.
    pub dropped: Vec<ContentId>,
    pub done: Effects,
}

pub(super) struct Draft<'a> {
    pub(super) run: Run,
    /// The branch that the command is about: what is made is made there.
    pub(super) branch: u16,
    pub(super) ground: DecisionContext<'a>,
    pub(super) done: Effects,
    events: Vec<Event>,
    contents: Vec<Content>,
    /// What the packages decide that came with the command, until it is recorded.
    stated: Vec<(ContentId, Vec<ReportedDecision>)>,
    /// What fingerprints of decisions are salted with, where this decision has made it.
    salt: Option<String>,
    /// How complete the package of the command is, until the handoff that brings it is made.
    score: Option<u8>,
    /// Who held the handoff that the command ends, where that is known.
    ended_holder: Option<Principal>,
}

impl<'a> Draft<'a> {
    pub(super) fn new(run: Run, branch: u16, ground: DecisionContext<'a>) -> Self {
        let (events, contents, stated) = (Vec::new(), Vec::new(), Vec::new());
        let (done, salt, score, ended_holder) = (Effects::default(), None, None, None);
        Self { run, branch, ground, done, events, contents, stated, salt, score, ended_holder }
    }

    pub(super) fn finish(mut self) -> Decision {
        self.end_advice();
        let Self { run, events, contents, done, .. } = self;
        Decision { run, events, contents, dropped: Vec::new(), done }
    }

    pub(super) fn emit(&mut self, event: impl Into<Event>) {
        let event = event.into();
        evolve(&mut self.run, &event, self.ground.now);
        self.events.push(event);
    }

    /// Stores a text and returns its content id.
    pub(super) fn keep(&mut self, words: &str) -> ContentId {
        self.put(ContentKind::Words, words.into())
    }

    /// As [`Draft::keep`], for words that are Baton's own or a file's.
    pub(super) fn keep_shared(&mut self, words: String) -> ContentId {
        let content = Content::shared(words);
        let id = content.id;
        self.contents.push(content);
        id
    }

    pub(super) fn keep_some(&mut self, words: Option<&crate::names::Reason>) -> Option<ContentId> {
        words.map(|it| self.keep(it.as_str()))
    }

    pub(super) fn keep_words(&mut self, words: Option<&FreeText>) -> Option<ContentId> {
        words.map(|it| self.keep(it.as_str()))
    }

    pub(super) fn keep_package(&mut self, package: &Package) -> ContentId {
        let kind = ContentKind::Package { format: package.format, hash: package.hash() };
        let id = self.put(kind, package.text.clone());
        let decisions = package.decisions();
        if !decisions.is_empty() {
            self.stated.push((id, decisions));
        }
        id
    }

    /// Whether a text came with this command.
    pub(super) fn is_new(&self, id: ContentId) -> bool {
        self.contents.iter().any(|it| it.id == id)
    }

    /// Takes what a package of this decision decides: it is recorded once.
    pub(super) fn take_stated(&mut self, package: ContentId) -> Vec<ReportedDecision> {
        let index = self.stated.iter().position(|it| it.0 == package);
        index.map_or_else(Vec::new, |it| self.stated.swap_remove(it).1)
    }

    pub(super) fn ended_holder(&self) -> Option<&Principal> {
        self.ended_holder.as_ref()
    }

    pub(super) fn note_score(&mut self, points: u8) {
        self.score = Some(points);
    }

    /// The score of the package that a new handoff brings: of several, the first has it.
    pub(super) fn take_score(&mut self, package: Option<ContentId>) -> Option<u8> {
        package.and_then(|_| self.score.take())
    }

    /// What fingerprints of decisions are salted with, and its id where it is new to the run.
    pub(super) fn decision_salt(&mut self) -> (String, Option<ContentId>) {
        let known = self.ground.decision_salt.filter(|_| self.run.decision_salt.is_some());
        if let Some(salt) = self.salt.as_deref().or(known) {
            return (salt.to_owned(), None);
        }
        let salt = format!("{:032x}", u128::from_be_bytes(self.ground.fresh.nonce()));
        self.salt = Some(salt.clone());
        let id = self.keep(&salt);
        (salt, Some(id))
    }

    /// Stores what is shown of the agents from now on, unless the run has the same already.
    pub(super) fn portray(&mut self) -> Option<ContentId> {
        let cast = self.ground.agents.cast()?;
        let is_known = self.run.casts.last().is_some_and(|it| it.cast == cast.id);
        if is_known || self.run.casts.len() >= Run::MOST_CASTS {
            return None;
        }
        self.contents.push(cast.clone());
        Some(cast.id)
    }

    /// What is shown of the agents from now on, stored where the run has not had it; and whether it is
    /// new to the run.
    pub(super) fn portrait_now(&mut self) -> (Option<ContentId>, bool) {
        match self.portray() {
            Some(cast) => (Some(cast), true),
            None => (self.run.casts.last().map(|it| it.cast), false),
        }
    }

    pub(super) fn put(&mut self, kind: ContentKind, text: Arc<str>) -> ContentId {
        let content = Content::new(self.ground.fresh.nonce(), kind, text);
        let id = content.id;
        self.contents.push(content);
        id
    }

    pub(super) fn baton(&self) -> &Baton {
        self.run.baton_in(self.branch)
    }

    pub(super) fn passed(&self) -> Option<&[GateEdge]> {
        self.run.passed_in(self.branch)
    }

    pub(super) fn given(&self, place: &Place) -> Option<&Given> {
        self.run.given_in(self.branch, place)
    }

    /// The branch in which entries of a step are counted.
    pub(super) fn branch_at(&self, step: &StepId) -> u16 {
        match self.branch {
            0 => self.workflow().branch_of(step).map_or(0, |(_, branch)| branch),
            branch => branch,
        }
    }

    /// The newest package of the branch.
    pub(super) fn newest_package(&self) -> Option<ContentId> {
        self.run.package_in(self.branch)
    }

    pub(super) fn counter(&self, scope: &CounterScope) -> Option<&RunCounter> {
        self.run.counter(self.branch, scope)
    }

    pub(super) fn count_of(&self, scope: &CounterScope) -> u32 {
        self.run.count_of(self.branch, scope)
    }

    pub(super) fn rounds(&self, forward: &EdgeKey) -> Option<&RunCounter> {
        self.run.rounds(self.branch, forward)
    }

    pub(super) fn workflow(&self) -> &'a Workflow {
        self.ground.workflow
    }

    /// An open handoff, or the refusal that it does not exist or has ended.
    pub(super) fn open(&self, no: HandoffNo) -> Result<Handoff, Refusal> {
        self.run.handoff(no).cloned().ok_or(Refusal::Finished { handoff: no })
    }

    /// As [`Draft::open`], for commands that are not an answer to a gate.
    pub(super) fn open_task(&self, no: HandoffNo) -> Result<Handoff, Refusal> {
        let handoff = self.open(no)?;
        if let Some(work) = &handoff.checks {
            let checks: Vec<&str> = work.checks.iter().map(CheckName::as_str).collect();
            return Err(Refusal::ChecksOpen { handoff: no, checks: checks.join(", ") });
        }
        match &handoff.gate {
            Some(gate) => Err(gate_open(&handoff, gate)),
            None => Ok(handoff),
        }
    }

    /// As [`Draft::open_task`], for commands that apply to work, not to a question about it.
    pub(super) fn open_work(&self, no: HandoffNo) -> Result<Handoff, Refusal> {
        let handoff = self.open_task(no)?;
        match handoff.kind {
            Kind::Question => Err(Refusal::QuestionOpen { handoff: no }),
            Kind::Sequential | Kind::Delegation | Kind::Escalation | Kind::Return => Ok(handoff),
        }
    }

    /// As [`Draft::open_work`], for commands that end it: refused while a person is asked about it.
    pub(super) fn open_end(&self, no: HandoffNo) -> Result<Handoff, Refusal> {
        let handoff = self.open_work(no)?;
        let question = handoff.question.and_then(|it| self.run.handoff(it));
        match question.and_then(|it| Some((it, it.gate.as_ref()?))) {
            Some((row, gate)) => Err(gate_open(row, gate)),
            None => Ok(handoff),
        }
    }

    /// As [`Draft::open_end`], and also for work that waits for its checks.
    pub(super) fn open_unanswered(&self, no: HandoffNo) -> Result<Handoff, Refusal> {
        match self.open(no)? {
            handoff if handoff.checks.is_some() => Ok(handoff),
            _ => self.open_end(no),
        }
    }

    /// The results that decide. Of a check that the project has a command for, only what Baton's runner
    /// saw does; what a caller says of it is kept as a claim.
    pub(super) fn counting(&self, evidence: &[Evidence]) -> Vec<Evidence> {
        let counts = |it: &&Evidence| it.is_observed || !self.is_decided_by_runner(&it.check);
        evidence.iter().filter(counts).cloned().collect()
    }

    /// Whether only what Baton's runner saw decides the check: a result that is posted is a claim.
    pub(super) fn is_decided_by_runner(&self, check: &CheckName) -> bool {
        self.ground.checks.contains(check) || check.as_str() == PACKAGE_CHECK
    }

    /// Closes advisory gates whose work has ended.
    pub(super) fn end_advice(&mut self) {
        let is_over = |gate: &Gate| {
            let Some(beside) = gate.beside else { return false };
            match self.run.handoff(beside) {
                None => true,
                // Without its holder there is no program that waits.
                Some(it) => gate.cause == GateCause::Permission && it.state != State::Accepted,
            }
        };
        let over: Vec<HandoffNo> = (self.run.gates())
            .filter(|(_, gate)| gate.kind == GateKind::Advisory && is_over(gate))
            .map(|(row, _)| row.no)
            .collect();
        for handoff in over {
            self.complete(handoff, Outcome::Skipped, None);
        }
    }

    pub(super) fn complete(
        &mut self,
        handoff: HandoffNo,
        outcome: Outcome,
        package: Option<ContentId>,
    ) {
        let holder = self.run.handoff(handoff).and_then(|it| it.holder.clone());
        self.ended_holder = holder.or_else(|| self.ended_holder.take());
        self.emit(HandoffEvent::Completed { handoff, outcome, package, answer: None });
    }

    pub(super) fn step_at(&self, place: &Place) -> Option<&'a Step> {
        match place {
            Place::Step(id) => self.workflow().step(id),
            Place::Orchestrator | Place::Human | Place::Delegate(_) => None,
        }
    }

    /// The agent's parked handoff, if it is waiting for a delegate or a person.
    pub(super) fn waiting(&self, agent: &AgentId) -> Option<&Handoff> {
        let callers = self.run.frames.iter().rev().filter_map(|it| self.run.handoff(it.caller));
        callers.into_iter().find(|it| it.to.agent == *agent)
    }

    /// The baton's position as text, for callers that do not have it.
    pub(super) fn whereabouts(&self) -> String {
        if self.run.fork.is_none() {
            return self.whereabouts_in(self.branch);
        }
        let name = |no| self.run.fork.as_ref().and_then(|it| it.first(no));
        let of_branch = |no: u16| {
            let name = name(no).map_or_else(String::new, ToString::to_string);
            format!("in the branch `{name}` {}", self.whereabouts_in(no))
        };
        let all: Vec<String> = self.run.branches.iter().map(|it| of_branch(it.no)).collect();
        all.join("; ")
    }

    fn whereabouts_in(&self, branch: u16) -> String {
        let current = self.run.current_in(branch);
        match (self.run.baton_in(branch), current) {
            (Baton::Offered { .. }, Some(it)) if it.state == State::Clarification => {
                let asked = self.run.current_agent_in(branch).unwrap_or(&it.from.agent);
                format!("{} waits for an answer from `{asked}`", it.no)
            }
            (Baton::Offered { .. }, Some(it)) => {
                format!("{} offers it to `{}`", it.no, it.to.agent)
            }
            (Baton::Held { .. }, Some(it)) => format!("`{}` holds it with {}", it.to.agent, it.no),
            (Baton::Parked { on: Wait::Timer, .. }, Some(it)) => {
                format!("{} is held back for `{}`", it.no, it.to.agent)
            }
            (Baton::Parked { on: Wait::Person, .. }, Some(it)) => {
                format!("it waits for `{}` with {}", it.to.agent, it.no)
            }
            (Baton::Parked { on: Wait::Checks, .. }, Some(it)) => {
                format!("{} waits for its checks", it.no)
            }
            (Baton::Loose { at, .. }, _) => {
                let mut whereabouts = format!("it lies loose at `{at}`");
                let agents: Vec<String> =
                    (self.workflow().agents_at(at).iter()).map(|it| format!("`{it}`")).collect();
                // Writing to a string cannot fail.
                let _ = write!(whereabouts, ", for {} to take up", agents.join(" or "));
                whereabouts
            }
            (Baton::Offered { .. } | Baton::Held { .. } | Baton::Parked { .. }, None)
            | (Baton::Done, _) => "the run is at its end".to_owned(),
        }
    }
}

/// The caller has to be `allowed`; a command that names no agent is taken as theirs.
pub(super) fn require_agent(
    allowed: &AgentId,
    by: Option<&AgentId>,
    command: &'static str,
    handoff: HandoffNo,
) -> Result<(), Refusal> {
    match by {
        Some(by) if by != allowed => {
            Err(Refusal::NotYours { command, handoff, allowed: allowed.clone(), by: by.clone() })
        }
        Some(_) | None => Ok(()),
    }
}

/// Refuses a stale fencing token, and a missing one where a lease was lost.
pub(super) fn check_fence(handoff: &Handoff, fence: Option<u32>) -> Result<(), Refusal> {
    let is_free = handoff.state == State::Accepted && handoff.lease.is_none();
    match fence {
        Some(fence) if fence != handoff.fence => {
            let current = Some(handoff.fence);
            Err(Refusal::StaleFence { handoff: handoff.no, fence, current })
        }
        None if handoff.has_lost_lease && !is_free => {
            Err(Refusal::FenceRequired { handoff: handoff.no })
        }
        Some(_) | None => Ok(()),
    }
}

pub(super) fn wrong_state(command: &'static str, it: &Handoff, hint: &'static str) -> Refusal {
    Refusal::WrongState { command, handoff: it.no, state: it.state.name(), hint }
}

fn gate_open(row: &Handoff, gate: &Gate) -> Refusal {
    Refusal::GateOpen { handoff: row.no, choices: gate.choices().join(", ") }
}
