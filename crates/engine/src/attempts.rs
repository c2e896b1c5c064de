//! Attempts: one try of one executor at one handoff, under a lease.
//!
//! A token says which attempt its bearer is. It opens that attempt's handoff and nothing else, and
//! only as long as the fence of the attempt is the handoff's current one.

use baton_core::collaboration::Collaboration;
use baton_core::command::{Accept, ClaimChecks, Clarify, Command, LeaseTime, Token};
use baton_core::decide::Effects;
use baton_core::names::{AgentId, CheckName, FreeText};
use baton_core::person::{Speaker, speaker};
use baton_core::refusal::Refusal;
use baton_core::run::{self, HandoffId, HandoffNo, HandoffState, RunId};
use baton_store::{HandoffFilter, HandoffRef, HandoffRow, RunRef};

use crate::step_limits::FullSteps;
use crate::{Caller, CommandResult, DocumentHints, Engine, EngineError};

/// The attempt that a caller belongs to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Attempt {
    pub agent: AgentId,
    pub handoff: HandoffId,
    pub fence: u32,
}

/// What becomes of a command that an attempt sends.
pub(crate) enum AttemptCommand {
    CarryOut(Command),
    /// Nothing is to be done: the attempt has accepted its handoff already.
    Accepted(Box<CommandResult>),
}

/// How many pending handoffs are ordered by priority at once.
const PAGE: u32 = 200;

impl Engine {
    /// Accepts the most urgent handoff or question that is pending for one of these agents, under a
    /// lease. `None` where nothing can be accepted now.
    pub async fn claim(
        &self,
        caller: &Caller,
        agents: &[AgentId],
        lease: LeaseTime,
    ) -> Result<Option<CommandResult>, EngineError> {
        if let Some(outcome) = self.repeated(caller).await? {
            return Ok(Some(outcome));
        }
        let (mut after, mut full) = (vec![Some(0); agents.len()], FullSteps::default());
        loop {
            let mut page = Vec::new();
            for (agent, after) in agents.iter().zip(&mut after) {
                let Some(from) = *after else { continue };
                let rows = self.pending_after(agent, from).await?;
                let is_last = rows.len() < PAGE as usize;
                *after = rows.last().map(|it| it.number).filter(|_| !is_last);
                page.extend(rows);
            }
            if page.is_empty() {
                return Ok(None);
            }
            for row in self.by_urgency(page).await? {
                let Some(_slot) = self.slot_at_step(&row, &mut full).await? else { continue };
                let accept = Accept {
                    handoff: row.no,
                    by: Some(row.to.agent),
                    acknowledgement: None,
                    lease: Some(lease),
                };
                match self.on_run(caller, row.run, Command::Accept(accept)).await {
                    Ok(outcome) => return Ok(Some(outcome)),
                    // Another was faster, it is held back, or its run is paused.
                    Err(EngineError::Refused { .. }) => {}
                    Err(error) => return Err(error),
                }
            }
        }
    }

    /// Takes the checks of the most urgent work that waits for a runner, under a lease. `None` where
    /// there is none that needs only checks that the runner can run.
    pub async fn claim_checks(
        &self,
        caller: &Caller,
        can_run: &[CheckName],
        lease: LeaseTime,
    ) -> Result<Option<CommandResult>, EngineError> {
        if let Some(outcome) = self.repeated(caller).await? {
            return Ok(Some(outcome));
        }
        let orchestrator = AgentId::orchestrator();
        let mut after = Some(0);
        while let Some(from) = after {
            // What is open and the orchestrator's waits for checks: it answers everything else at once.
            let rows = self.pending_after(&orchestrator, from).await?;
            let is_last = rows.len() < PAGE as usize;
            after = rows.last().map(|it| it.number).filter(|_| !is_last);
            for row in self.by_urgency(rows).await? {
                let can_run = can_run.to_vec();
                let claim = ClaimChecks { handoff: row.no, lease, can_run };
                match self.on_run(caller, row.run, Command::ClaimChecks(claim)).await {
                    Ok(outcome) => return Ok(Some(outcome)),
                    Err(EngineError::Refused { .. }) => {}
                    Err(error) => return Err(error),
                }
            }
        }
        Ok(None)
    }

    async fn pending_after(
        &self,
        agent: &AgentId,
        after: u64,
    ) -> Result<Vec<HandoffRow>, EngineError> {
        let filter = HandoffFilter {
            to: Some(agent.clone()),
            states: vec![HandoffState::Open(run::State::Pending)],
            after,
            limit: PAGE,
            ..HandoffFilter::default()
        };
        Ok(self.store.handoffs(&filter).await?)
    }

    /// By the priority of the story, then by age.
    async fn by_urgency(&self, rows: Vec<HandoffRow>) -> Result<Vec<HandoffRow>, EngineError> {
        let mut rated: Vec<(i64, HandoffRow)> = Vec::with_capacity(rows.len());
        for row in rows {
            let known = rated.iter().rev().find(|(_, it)| it.story == row.story).map(|it| it.0);
            let priority = match known {
                Some(priority) => priority,
                None => self.store.story(&row.story).await?.map_or(0, |it| it.story.priority),
            };
            rated.push((priority, row));
        }
        rated.sort_by_key(|(priority, row)| (std::cmp::Reverse(*priority), row.number));
        Ok(rated.into_iter().map(|(_, row)| row).collect())
    }

    /// Checks a command that an attempt sends, and adds its fencing token.
    pub(crate) async fn as_attempt(
        &self,
        caller: &Caller,
        run: RunId,
        command: Command,
    ) -> Result<AttemptCommand, EngineError> {
        let Some(attempt) = &caller.attempt else {
            return Ok(AttemptCommand::CarryOut(self.in_own_name(caller, command)));
        };
        let (own_run, own) = self.resolve_handoff(&HandoffRef::Id(attempt.handoff)).await?;
        let row = self.run(&RunRef::Id(own_run)).await?;
        let held = row.run.handoff(own);
        let mut command = command;
        let (target, fence_check) = bind_to_attempt(&mut command, attempt, own);
        let is_own = match target {
            CommandTarget::Handoff(no) => no == own,
            // A question is answered by its own name or by that of the handoff it is about.
            CommandTarget::Question(no) => no == own || held.and_then(|it| it.about) == Some(no),
            CommandTarget::Sender(from) => from == attempt.agent,
            CommandTarget::Run => true,
            CommandTarget::Operator => false,
        };
        if own_run != run || !is_own {
            return Err(other(attempt, own, command.name()));
        }
        let is_live = held.is_some_and(|it| it.fence == attempt.fence && it.lease.is_some());
        if matches!(fence_check, FenceCheck::Here) && !is_live {
            let current = held.map(|it| it.fence);
            let lost = Refusal::StaleFence { handoff: own, fence: attempt.fence, current };
            return Err(EngineError::refused(lost));
        }
        let Command::Accept(accept) = command else {
            return Ok(AttemptCommand::CarryOut(command));
        };
        let (by, fence) = (Some(attempt.agent.clone()), Some(attempt.fence));
        match said(&accept) {
            None => self.accepted(run, own, attempt.fence).await,
            Some(Said::Asks(question)) => {
                let clarify = Clarify { handoff: own, by, question, fence };
                Ok(AttemptCommand::CarryOut(Command::Clarify(clarify)))
            }
            Some(Said::Restates(words)) => {
                Ok(AttemptCommand::CarryOut(Command::Post { by, words }))
            }
        }
    }

    /// The agent that a caller speaks as: that of its attempt, else the one that its name names.
    pub fn agent_of(&self, caller: &Caller) -> Option<AgentId> {
        if let Some(attempt) = &caller.attempt {
            return Some(attempt.agent.clone());
        }
        match speaker(&caller.principal, self.catalog().agents(), &[]) {
            Speaker::Agent(agent) => Some(agent),
            Speaker::Person | Speaker::Reserved => None,
        }
    }

    /// What a caller says under the name of an agent is that agent's, whatever the request says.
    fn in_own_name(&self, caller: &Caller, mut command: Command) -> Command {
        if let Command::Post { by, .. } = &mut command {
            *by = self.agent_of(caller).or(by.take());
        } else if let Command::Collaborate(it) = &mut command
            && let Some(agent) = self.agent_of(caller)
        {
            speak_as(it, &agent);
        }
        command
    }

    /// The answer to an attempt that accepts its own handoff: as its claim was answered.
    async fn accepted(
        &self,
        run: RunId,
        no: HandoffNo,
        fence: u32,
    ) -> Result<AttemptCommand, EngineError> {
        let row = self.run(&RunRef::Id(run)).await?;
        let handoff = self.handoff(&HandoffRef::InRun(run, no)).await?;
        let done = Effects { handoff: Some(no), fence: Some(fence), ..Effects::default() };
        Ok(AttemptCommand::Accepted(Box::new(CommandResult {
            run,
            version: row.version,
            done,
            rows: vec![handoff],
            at: self.clock.now(),
            adopted: false,
            is_repeat: true,
        })))
    }

    /// Refuses an attempt at another handoff.
    pub(crate) async fn check_own_handoff(
        &self,
        attempt: &Attempt,
        named: (RunId, HandoffNo),
        command: &'static str,
    ) -> Result<(), EngineError> {
        let own = self.resolve_handoff(&HandoffRef::Id(attempt.handoff)).await?;
        if own == named { Ok(()) } else { Err(other(attempt, own.1, command)) }
    }

    /// Refuses what is not about a handoff.
    pub(crate) fn not_for_attempts(
        &self,
        caller: &Caller,
        command: &'static str,
    ) -> Result<(), EngineError> {
        match &caller.attempt {
            Some(attempt) => {
                let agent = attempt.agent.clone();
                Err(EngineError::OtherAttempt { agent, handoff: None, command })
            }
            None => Ok(()),
        }
    }

    /// What an attempt knows besides its document: its run, its handoff, its agent and its fence.
    pub(crate) async fn hints_of(
        &self,
        caller: &Caller,
        hints: &DocumentHints,
    ) -> Result<DocumentHints, EngineError> {
        let Some(attempt) = &caller.attempt else { return Ok(hints.clone()) };
        let own = HandoffRef::Id(attempt.handoff);
        let (run, no) = self.resolve_handoff(&own).await?;
        if let Some(named) = &hints.handoff
            && self.resolve_handoff(named).await? != (run, no)
        {
            return Err(other(attempt, no, "document"));
        }
        if let Some(named) = &hints.run
            && self.resolve_run(named).await? != run
        {
            return Err(other(attempt, no, "document"));
        }
        Ok(DocumentHints {
            run: Some(RunRef::Id(run)),
            handoff: Some(own),
            agent: hints.agent.clone().or(Some(attempt.agent.clone())),
            fence: hints.fence.or(Some(attempt.fence)),
            ..hints.clone()
        })
    }
}

/// What a command is about, as far as it matters to an attempt.
enum CommandTarget {
    Handoff(HandoffNo),
    Question(HandoffNo),
    Sender(AgentId),
    Run,
    /// No agent may send it.
    Operator,
}

/// Who compares the fencing token of an attempt with that of the holding.
enum FenceCheck {
    /// The command has it.
    ByRules,
    /// The command has none, or the rules do not ask whether the holding is alive.
    Here,
}

/// Puts the attempt's own fencing token and agent into a command, whatever the sender gave: a token opens one
/// holding, and not the next one of the same handoff.
fn bind_to_attempt(
    command: &mut Command,
    attempt: &Attempt,
    own: HandoffNo,
) -> (CommandTarget, FenceCheck) {
    use CommandTarget::{Handoff, Operator, Question, Run, Sender};
    use FenceCheck::{ByRules, Here};
    let fence = Some(attempt.fence);
    match command {
        Command::Create(it) => {
            it.token = Some(Token { handoff: own, fence: attempt.fence });
            (Sender(it.from.clone()), ByRules)
        }
        Command::Complete(it) => {
            it.fence = fence;
            (Handoff(it.handoff), ByRules)
        }
        Command::Reject(it) => {
            it.fence = fence;
            (Handoff(it.handoff), ByRules)
        }
        Command::Clarify(it) => {
            it.fence = fence;
            (Handoff(it.handoff), ByRules)
        }
        Command::Release(it) => {
            it.fence = fence;
            (Handoff(it.handoff), ByRules)
        }
        Command::Reply(it) => {
            it.fence = fence;
            (Question(it.handoff), ByRules)
        }
        Command::RecordUsage(it) => {
            it.fence = attempt.fence;
            (Handoff(it.handoff), Here)
        }
        Command::SendFile(it) => {
            it.fence = attempt.fence;
            (Handoff(it.handoff), Here)
        }
        Command::Accept(it) => (Handoff(it.handoff), Here),
        Command::Record(it) => (Handoff(it.handoff), Here),
        Command::Signal(_) => (Run, Here),
        Command::Post { by, .. } => {
            *by = Some(attempt.agent.clone());
            (Run, Here)
        }
        Command::Collaborate(it) => {
            speak_as(it, &attempt.agent);
            let target = match it {
                // Only a person locks a decision.
                Collaboration::LockDecision { .. } => Operator,
                Collaboration::Decide(_)
                | Collaboration::SetContext(_)
                | Collaboration::ReadContext { .. }
                | Collaboration::Ask { .. }
                | Collaboration::Reply { .. }
                | Collaboration::Lapse { .. } => Run,
            };
            (target, Here)
        }
        Command::Cancel { .. }
        | Command::TimeOut { .. }
        | Command::MarkStale { .. }
        | Command::CleanUp { .. }
        | Command::Answer(_)
        | Command::DelegateVote(_)
        | Command::Remind { .. }
        | Command::LoseLease(_)
        | Command::AskPermission(_)
        | Command::WithdrawPermission { .. }
        | Command::ClaimChecks(_)
        | Command::ReportChecks(_)
        | Command::Wake { .. }
        | Command::Expire { .. }
        | Command::Pause { .. }
        | Command::Resume
        | Command::Reroute(_)
        | Command::CancelRun { .. }
        | Command::Goto { .. }
        | Command::StartAt(_)
        | Command::Skip { .. } => (Operator, Here),
    }
}

/// An attempt speaks for its own agent, whatever the sender said.
fn speak_as(command: &mut Collaboration, agent: &AgentId) {
    match command {
        Collaboration::Decide(it) => it.by = Some(agent.clone()),
        Collaboration::SetContext(it) => it.by = Some(agent.clone()),
        Collaboration::ReadContext { by, .. } | Collaboration::Ask { by, .. } => {
            *by = agent.clone();
        }
        Collaboration::Reply { by, .. } => *by = Some(agent.clone()),
        Collaboration::LockDecision { .. } | Collaboration::Lapse { .. } => {}
    }
}

/// What an acknowledgement says to a handoff that is accepted already.
enum Said {
    Restates(FreeText),
    Asks(FreeText),
}

fn said(accept: &Accept) -> Option<Said> {
    let acknowledgement = accept.acknowledgement.as_ref()?;
    if let Some(question) = acknowledgement.question() {
        return Some(Said::Asks(question));
    }
    FreeText::parse(&acknowledgement.text).ok().map(Said::Restates)
}

fn other(attempt: &Attempt, own: HandoffNo, command: &'static str) -> EngineError {
    EngineError::OtherAttempt { agent: attempt.agent.clone(), handoff: Some(own), command }
}
