//! What a command does to a run: the one place where the rules are.
//!
//! Pure: the run, the workflow, the time and fresh ids come in as values; the result goes out as
//! events. One file for each family of commands. Each matches every [`State`](crate::run::State) of
//! an open handoff by name, so that a new state or command does not compile until its rule is
//! written.

mod accept;
mod answer;
mod approvals;
mod branch;
mod checked;
mod checks;
mod clock;
mod complete;
mod control;
mod create;
mod detour;
mod dispositions;
mod draft;
mod edge;
mod end;
mod files;
mod fork;
mod frame;
mod gate;
mod last;
mod lease;
mod limit;
mod offer;
mod passed;
mod permission;
mod person;
mod phase;
mod question;
mod redact;
mod reject;
mod route;
mod shared;
mod signal;
mod skip;
mod supersede;
mod template;
mod usage;

#[cfg(test)]
mod approval_choice_scenarios;
#[cfg(test)]
mod approval_scenarios;
#[cfg(test)]
mod budget_scenarios;
#[cfg(test)]
mod carried_scenarios;
#[cfg(test)]
mod checked_scenarios;
#[cfg(test)]
mod clock_scenarios;
#[cfg(test)]
mod cycle_scenarios;
#[cfg(test)]
mod detour_scenarios;
#[cfg(test)]
mod disposition_scenarios;
#[cfg(test)]
mod document_scenarios;
#[cfg(test)]
mod event_lines;
#[cfg(test)]
mod file_scenarios;
#[cfg(test)]
mod fixture;
#[cfg(test)]
mod fork_choice_scenarios;
#[cfg(test)]
mod fork_control_scenarios;
#[cfg(test)]
mod fork_scenarios;
#[cfg(test)]
mod gate_scenarios;
#[cfg(test)]
mod hand_off_scenarios;
#[cfg(test)]
mod held_by_checks_scenarios;
#[cfg(test)]
mod lease_scenarios;
#[cfg(test)]
mod lint_scenarios;
#[cfg(test)]
mod mode_scenarios;
#[cfg(test)]
mod outcome_scenarios;
#[cfg(test)]
mod page_scenarios;
#[cfg(test)]
mod passed_scenarios;
#[cfg(test)]
mod permission_scenarios;
#[cfg(test)]
mod portrait_scenarios;
#[cfg(test)]
mod project;
#[cfg(test)]
mod question_scenarios;
#[cfg(test)]
mod raise_scenarios;
#[cfg(test)]
mod records;
#[cfg(test)]
mod records_of_checks;
#[cfg(test)]
mod records_of_detours;
#[cfg(test)]
mod records_of_gates;
#[cfg(test)]
mod records_of_limits;
#[cfg(test)]
mod records_of_shared;
#[cfg(test)]
mod rework_scenarios;
#[cfg(test)]
mod scenarios;
#[cfg(test)]
mod shared_scenarios;
#[cfg(test)]
mod signal_scenarios;
#[cfg(test)]
mod state_machine;
#[cfg(test)]
mod states;
#[cfg(test)]
mod tables;
#[cfg(test)]
mod template_scenarios;
#[cfg(test)]
mod trouble_scenarios;

use std::collections::BTreeMap;

use jiff::Timestamp;
use uuid::Uuid;

pub use approvals::remind_at;
pub use clock::{due_at, expires_at, stale_at};
pub use dispositions::asks_for_answers;
pub use draft::Decision;
use draft::Draft;
pub use fork::which_of_several;
pub use offer::BACK_AT_ORCHESTRATOR;
pub use redact::{ExpiredMessages, expire, redact};
pub use template::{TemplateRequest, template};
pub use usage::{AgentBudget, BudgetedWork, granted_budget, remaining, run_budget};

use crate::budget::Budget;
use crate::command::{Command, Create, StartAt};
use crate::contract::Contract;
use crate::event::RunEvent;
use crate::lint::{self, FileFact};
use crate::names::{CheckName, Principal, StepId, StoryKey};
use crate::problem::Problem;
use crate::refusal::Refusal;
use crate::registry::Agents;
use crate::run::{HandoffNo, Run, RunId, RunStatus};
use crate::view::FindingToAnswer;
use crate::workflow::{Mode, Place, Workflow};

/// The inputs of a decision besides the run, all of them values.
#[derive(Clone, Copy)]
pub struct DecisionContext<'a> {
    /// The workflow version that the run is pinned to.
    pub workflow: &'a Workflow,
    pub agents: &'a Agents,
    pub now: Timestamp,
    /// Who gives the command, as the API layer that took it knows them; unknown in a simulation.
    pub caller: Option<&'a Principal>,
    pub fresh: &'a dyn IdSource,
    /// The checks that the project has commands for: only Baton's runner decides those.
    pub checks: &'a [CheckName],
    /// What the project allows its agents to use in each run.
    pub budgets: &'a [AgentBudget],
    /// The project's linter settings.
    pub lint: &'a lint::Settings,
    /// The text that the fingerprints of the run's decisions are salted with, where it has one.
    pub decision_salt: Option<&'a str>,
    /// What is known of the files that the command's package names.
    pub files: Option<&'a BTreeMap<String, FileFact>>,
    /// The findings in the work that the command's sender holds: those that it has to answer.
    pub to_answer: Option<&'a [FindingToAnswer]>,
    /// Contracts for the ways that every workflow has without declaring them, by name.
    pub implied: &'a [Contract],
    /// The steps the run has visited; `decide` takes them from the run. Unknown for a run that is
    /// adopted in the middle of a workflow.
    pub visited: Option<&'a [StepId]>,
    /// The step that the run is at; `decide` takes it from the run.
    pub at: Option<&'a StepId>,
}

/// Source of unused ids and nonces.
pub trait IdSource: Send + Sync {
    fn id(&self) -> Uuid;
    fn nonce(&self) -> [u8; 16];
}

/// What the caller gets back, besides the events.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Effects {
    /// The handoff that the command named or created.
    pub handoff: Option<HandoffNo>,
    /// The handoff that takes rejected work back.
    pub returned: Option<HandoffNo>,
    /// The handoff that asks a person.
    pub gate: Option<HandoffNo>,
    /// The handoff that asks the sender.
    pub question: Option<HandoffNo>,
    /// The holder's fencing token; later commands must pass it once a lease was lost.
    pub fence: Option<u32>,
    pub cancelled: Vec<HandoffNo>,
    /// Handoffs that a clean-up leaves open.
    pub kept: Vec<HandoffNo>,
    /// The contract's `should` rules that are broken, and the linter's findings.
    pub warnings: Vec<Problem>,
}

/// The story and the owner of a new run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunStart {
    pub run: RunId,
    pub story: StoryKey,
    pub owner: Principal,
    /// The workflow of the decision is already that of the mode.
    pub mode: Mode,
    /// In place of the workflow's, unit by unit.
    pub budget: Budget,
    pub first: First,
}

/// The first handoff of a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum First {
    /// Along an edge. From the orchestrator it starts the run; from an agent it adopts the run.
    Handoff(Create),
    /// At the step that the operator names, whatever steps come before it.
    AtStep(StartAt),
}

/// Decides what `command` does to `run`.
pub fn decide(
    run: &Run,
    command: &Command,
    ground: DecisionContext<'_>,
) -> Result<Decision, Refusal> {
    if run.is_finished() && !signal::comes_late(run, command) {
        return Err(Refusal::RunFinished { status: run.status.name() });
    }
    // What supersedes a handoff comes from the step before it.
    let is_earlier = matches!(command, Command::Create(it) if it.supersedes.is_some());
    let branch = fork::branch_of(run, ground.workflow, command);
    let at = run.current_in(branch).filter(|_| !is_earlier).and_then(|it| match &it.to.place {
        Place::Step(step) => Some(step),
        Place::Orchestrator | Place::Human | Place::Delegate(_) => None,
    });
    let ground = DecisionContext { visited: Some(&run.visited), at, ..ground };
    let mut draft = Draft::new(run.clone(), branch, ground);
    passed::carry_from_before(&mut draft);
    match command {
        Command::Create(create) => create::decide(&mut draft, create)?,
        Command::Accept(accept) => accept::decide(&mut draft, accept)?,
        Command::Reject(reject) => reject::decide(&mut draft, reject)?,
        Command::Complete(complete) => complete::decide(&mut draft, complete)?,
        Command::Cancel { handoff, by, reason } => {
            end::cancel(&mut draft, *handoff, by.as_ref(), reason.as_ref())?;
        }
        Command::TimeOut { handoff, reason } => {
            end::time_out(&mut draft, *handoff, reason.as_ref())?;
        }
        Command::MarkStale { handoff } => clock::mark_stale(&mut draft, *handoff)?,
        Command::CleanUp { reason } => end::clean_up(&mut draft, reason.as_ref()),
        Command::Answer(answer) => answer::decide(&mut draft, answer)?,
        Command::DelegateVote(it) => approvals::delegate(&mut draft, it)?,
        Command::Remind { gate } => approvals::remind(&mut draft, *gate)?,
        Command::Clarify(clarify) => question::clarify(&mut draft, clarify)?,
        Command::Reply(reply) => question::reply(&mut draft, reply)?,
        Command::Release(release) => lease::release(&mut draft, release)?,
        Command::Record(given) => checks::record(&mut draft, given)?,
        Command::ClaimChecks(claim) => checked::claim(&mut draft, claim)?,
        Command::ReportChecks(report) => checked::report(&mut draft, report)?,
        Command::Signal(signal) => signal::decide(&mut draft, signal)?,
        Command::Post { by, words } => signal::post(&mut draft, by.as_ref(), words),
        Command::Collaborate(it) => shared::decide(&mut draft, it)?,
        Command::RecordUsage(usage) => usage::record(&mut draft, usage)?,
        Command::SendFile(sent) => files::send(&mut draft, sent)?,
        Command::LoseLease(lost) => {
            lease::lose(&mut draft, lost)?;
        }
        Command::AskPermission(asked) => permission::ask(&mut draft, asked)?,
        Command::WithdrawPermission { gate } => permission::withdraw(&mut draft, *gate)?,
        Command::Wake { handoff } => clock::wake(&mut draft, *handoff)?,
        Command::Expire { handoff } => clock::expire(&mut draft, *handoff)?,
        Command::Pause { reason } => control::pause(&mut draft, reason.as_ref())?,
        Command::Resume => control::resume(&mut draft)?,
        Command::CancelRun { reason } => control::cancel(&mut draft, reason.as_ref()),
        Command::Goto { step, reason, by } => control::goto(&mut draft, step, reason, by)?,
        Command::StartAt(start) => control::start_at(&mut draft, start)?,
        Command::Skip { reason } => control::skip(&mut draft, reason)?,
        Command::Reroute(reroute) => detour::reroute(&mut draft, reroute)?,
    }
    fork::check_decision(&draft)?;
    passed::check_decision(&draft, run.status)?;
    Ok(draft.finish())
}

/// Decides how a run begins.
pub fn start(start: &RunStart, ground: DecisionContext<'_>) -> Result<Decision, Refusal> {
    let mut draft = begin(start, ground);
    match &start.first {
        First::Handoff(create) => {
            // A new run has no handoff that could be superseded.
            if let Some(handoff) = create.supersedes {
                return Err(Refusal::Finished { handoff });
            }
            if let Some(token) = create.token {
                return Err(token.lost(None));
            }
            create::take_up(&mut draft, create, &Place::Orchestrator)?;
        }
        First::AtStep(start) => control::start_at(&mut draft, start)?,
    }
    fork::check_decision(&draft)?;
    passed::check_decision(&draft, RunStatus::Open)?;
    Ok(draft.finish())
}

fn begin<'a>(start: &RunStart, ground: DecisionContext<'a>) -> Draft<'a> {
    let workflow = ground.workflow;
    let entry = Workflow::target_place(&workflow.start.to);
    let run = Run::new(
        start.run,
        start.story.clone(),
        workflow.name.clone(),
        workflow.hash,
        start.owner.clone(),
        entry.clone(),
        ground.now,
    );
    let run = Run { mode: start.mode, budget: start.budget, ..run };
    let mut draft = Draft::new(run, 0, ground);
    draft.emit(RunEvent::Started {
        story: start.story.clone(),
        workflow: workflow.name.clone(),
        pin: workflow.hash,
        owner: start.owner.clone(),
        start: entry,
        has_gates: workflow.graph().has_gates(),
        has_checks: !workflow.graph().checked_edges().is_empty(),
        mode: start.mode,
        budget: start.budget,
    });
    draft
}

/// True where a create from this sender starts the workflow: such a create may also restart it.
pub fn is_first_edge(workflow: &Workflow, create: &Create) -> bool {
    create.from.is_orchestrator()
        && workflow.agents_at(&Workflow::target_place(&workflow.start.to)).contains(&create.to)
}
