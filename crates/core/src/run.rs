//! One story going through one workflow: the state that a decision needs, and no more.
//!
//! Everything here is bounded: finished handoffs are in the store, not in the run.

mod cast;
mod counter;
mod files;
mod fork;
mod given;
mod handoff;
mod spent;
mod state_names;
mod waiting;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::budget::Budget;
use crate::collaboration::{ContextMark, DecisionMark, OpenAsk};
use crate::content::ContentId;
use crate::gate::GateEdge;
use crate::hash::Hash;
use crate::named::named;
use crate::names::{AgentId, CommitId, Principal, StepId, StoryKey, WorkflowName};
use crate::sent_file::AttemptFiles;
use crate::workflow::{Mode, Place, Workflow};

pub use self::cast::{Portrait, RunCast};
pub use self::counter::{CounterScope, RunCounter};
pub use self::fork::{Arrival, Fork};
pub use self::given::Given;
pub use self::handoff::{
    Ended, Handoff, HandoffId, HandoffNo, HandoffState, Kind, Party, State, without_failure,
};
pub use self::spent::Spent;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Run {
    pub id: RunId,
    pub story: StoryKey,
    pub workflow: WorkflowName,
    /// The workflow as it was when the run began.
    pub pin: Hash,
    pub owner: Principal,
    /// Chosen at the start, for the whole run.
    #[serde(default, skip_serializing_if = "Mode::is_autonomous")]
    pub mode: Mode,
    pub status: RunStatus,
    /// Branch 0, the trunk, alone; or, from a fan-out to its join, the branches that are under way,
    /// in the order of the workflow. Each has a baton of its own.
    pub branches: Vec<Branch>,
    /// The fan-out that the run is in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fork: Option<Box<Fork>>,
    /// The open handoffs, oldest first.
    pub handoffs: Vec<Handoff>,
    /// What is counted, so that every cycle ends. Stored under the name that it had when rounds were
    /// all that was counted.
    #[serde(rename = "rounds")]
    pub counters: Vec<RunCounter>,
    /// Steps where an agent has worked or sent from, in the order of the first visit.
    pub visited: Vec<StepId>,
    /// The newest package of the run: a skip hands it on.
    pub package: Option<ContentId>,
    /// The last package of each step, so that the step can be offered it again.
    pub given: Vec<Given>,
    /// Holders that wait for a part of the work, outermost first. The baton is in the last frame.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub frames: Vec<Frame>,
    /// Blockers that are still open; the settled ones are in the log.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub blockers: Vec<Blocker>,
    #[serde(default, skip_serializing_if = "is_zero")]
    pub n_blockers: u32,
    /// Edges with checks are among the gates that the work has to pass. Older runs go on without.
    #[serde(default, skip_serializing_if = "is_false")]
    pub has_checks: bool,
    /// An external system reported that the work is good, or that it has been merged.
    #[serde(default, skip_serializing_if = "is_false")]
    pub is_passed: bool,
    #[serde(default, skip_serializing_if = "is_false")]
    pub is_merged: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub merge_commit: Option<CommitId>,
    /// What was shown of the agents, and since which handoff: a later edit of their files does not
    /// change the history of the run.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub casts: Vec<RunCast>,
    /// The same, agent by agent, as earlier versions recorded it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub portraits: Vec<Portrait>,
    /// The decisions of the run: number 1 comes first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub decisions: Vec<DecisionMark>,
    /// The text that their fingerprints are salted with; a redaction drops it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub decision_salt: Option<ContentId>,
    /// The newest version of each context document.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub context: Vec<ContextMark>,
    /// Questions of agents to agents that wait for their answers.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub asks: Vec<OpenAsk>,
    #[serde(default, skip_serializing_if = "is_zero")]
    pub n_asks: u32,
    /// What agents may use, where the run was started with it.
    #[serde(default, skip_serializing_if = "Budget::is_unlimited")]
    pub budget: Budget,
    /// What agents have used.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub spent: Vec<Spent>,
    /// How much was sent back of the newest attempts.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<AttemptFiles>,
    /// Who made the newest packages, where a gate of the workflow asks for that.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub authors: Vec<crate::approval::PackageAuthor>,
    /// How many handoffs the run has had.
    pub n_handoffs: u32,
    pub started_at: Timestamp,
    pub moved_at: Timestamp,
}

/// A holder that waits for a delegate or a person: its handoff is parked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Frame {
    pub caller: HandoffNo,
    #[serde(default, skip_serializing_if = "is_first_branch")]
    pub branch: u16,
}

/// A reason why a step cannot go on, until it is resolved or waived.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Blocker {
    /// Counted within its run, from 1.
    pub no: u32,
    /// The handoff whose work it stops.
    pub handoff: HandoffNo,
    pub by: AgentId,
    pub about: ContentId,
    #[serde(default, skip_serializing_if = "is_first_branch")]
    pub branch: u16,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct RunId(pub Uuid);

named! {
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
    #[serde(rename_all = "snake_case")]
    pub enum RunStatus {
        Open = "open",
        /// Held work may finish; no handoff may be accepted.
        Paused = "paused",
        Completed = "completed",
        Cancelled = "cancelled",
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Branch {
    pub no: u16,
    pub baton: Baton,
    /// The gates that the work has passed and not gone back before. `None` where not recorded: the
    /// workflow has no gates, or the run is older than the record and has not moved since.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub passed: Option<Vec<GateEdge>>,
    /// The newest package of the branch, where it is not the trunk.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub package: Option<ContentId>,
}

/// Who is responsible for a branch, and so who must act next.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Baton {
    /// The receiver must accept or reject.
    Offered { handoff: HandoffNo },
    /// The agent that accepted must finish.
    Held { handoff: HandoffNo },
    /// The holder waits for `on`.
    Parked { handoff: HandoffNo, on: Wait },
    /// The orchestrator, or the agent of either place, must hand off again.
    Loose {
        at: Place,
        other: Place,
        /// The agent that had the work, where the step would be offered to another one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        meant_for: Option<AgentId>,
    },
    /// The branch is at its end.
    Done,
}

named! {
    /// Where a baton is, without the handoff that it rests on.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum BatonPlace {
        Offered = "offered",
        Held = "held",
        Parked = "parked",
        Loose = "loose",
        Done = "done",
    }
}

named! {
    /// What a parked baton waits for.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
    #[serde(rename_all = "snake_case")]
    pub enum Wait {
        /// The time at which the handoff is offered again.
        Timer = "timer",
        Person = "person",
        /// A runner, which runs the checks of the work.
        Checks = "checks",
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks for it")]
pub(crate) fn is_zero(n: &u32) -> bool {
    *n == 0
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks for it")]
pub(crate) fn is_first_branch(no: &u16) -> bool {
    *no == 0
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks for it")]
pub(crate) fn is_false(it: &bool) -> bool {
    !*it
}

/// An edge by its ends.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct EdgeKey {
    pub from: Place,
    pub to: Place,
}

impl Run {
    /// More are not recorded: agent files are not edited so often during one run.
    pub const MOST_CASTS: usize = 50;

    pub fn new(
        id: RunId,
        story: StoryKey,
        workflow: WorkflowName,
        pin: Hash,
        owner: Principal,
        start: Place,
        now: Timestamp,
    ) -> Self {
        let baton = Baton::Loose { at: Place::Orchestrator, other: start, meant_for: None };
        Self {
            id,
            story,
            workflow,
            pin,
            owner,
            mode: Mode::default(),
            status: RunStatus::Open,
            branches: vec![Branch::trunk(baton, None)],
            fork: None,
            handoffs: Vec::new(),
            counters: Vec::new(),
            visited: Vec::new(),
            package: None,
            given: Vec::new(),
            frames: Vec::new(),
            blockers: Vec::new(),
            n_blockers: 0,
            has_checks: false,
            is_passed: false,
            is_merged: false,
            merge_commit: None,
            casts: Vec::new(),
            portraits: Vec::new(),
            decisions: Vec::new(),
            decision_salt: None,
            context: Vec::new(),
            asks: Vec::new(),
            n_asks: 0,
            budget: Budget::default(),
            spent: Vec::new(),
            files: Vec::new(),
            authors: Vec::new(),
            n_handoffs: 0,
            started_at: now,
            moved_at: now,
        }
    }

    pub fn handoff(&self, no: HandoffNo) -> Option<&Handoff> {
        self.handoffs.iter().find(|it| it.no == no)
    }

    /// The first branch that is under way, in the order of the workflow.
    pub fn first_branch(&self) -> u16 {
        self.branches.first().map_or(0, |it| it.no)
    }

    pub fn branch(&self, no: u16) -> Option<&Branch> {
        self.branches.iter().find(|it| it.no == no)
    }

    /// The baton of the first branch.
    pub fn baton(&self) -> &Baton {
        self.baton_in(self.first_branch())
    }

    pub fn baton_in(&self, branch: u16) -> &Baton {
        self.branch(branch).map_or(&Baton::Done, |it| &it.baton)
    }

    /// The gates that the work of the first branch has passed, where that is recorded.
    pub fn passed(&self) -> Option<&[GateEdge]> {
        self.passed_in(self.first_branch())
    }

    pub fn passed_in(&self, branch: u16) -> Option<&[GateEdge]> {
        self.branch(branch)?.passed.as_deref()
    }

    /// The open handoff that the baton of the first branch rests on.
    pub fn current(&self) -> Option<&Handoff> {
        self.current_in(self.first_branch())
    }

    pub fn current_in(&self, branch: u16) -> Option<&Handoff> {
        match self.baton_in(branch) {
            Baton::Offered { handoff }
            | Baton::Held { handoff }
            | Baton::Parked { handoff, .. } => self.handoff(*handoff),
            Baton::Loose { .. } | Baton::Done => None,
        }
    }

    /// The handoff that an agent has to move, where one branch or several are under way: what it
    /// holds, else what it is offered, else that of the first branch.
    pub fn current_of(&self, agent: Option<&AgentId>) -> Option<&Handoff> {
        let currents = || self.branches.iter().filter_map(|it| self.current_in(it.no));
        let is_own = |it: &&Handoff| Some(&it.to.agent) == agent;
        let held = currents().filter(is_own).find(|it| it.state == State::Accepted);
        held.or_else(|| currents().find(is_own)).or_else(|| self.current())
    }

    /// The handoffs that an agent has to move, one for each branch: those that it holds, else those that
    /// it is offered.
    pub fn currents_of(&self, agent: &AgentId) -> Vec<&Handoff> {
        let currents = self.branches.iter().filter_map(|it| self.current_in(it.no));
        let own: Vec<&Handoff> = currents.filter(|it| it.to.agent == *agent).collect();
        let is_held = |it: &&Handoff| it.state == State::Accepted;
        let held: Vec<&Handoff> = own.iter().copied().filter(is_held).collect();
        if held.is_empty() { own } else { held }
    }

    /// Whether the baton of a branch rests on this handoff.
    pub fn is_current(&self, no: HandoffNo) -> bool {
        self.branches.iter().any(|it| self.current_in(it.no).is_some_and(|it| it.no == no))
    }

    /// The agent that must act next: the pipeline API's `currentAgent`. Of several branches, that of
    /// the first in the order of the workflow.
    pub fn current_agent(&self) -> Option<&AgentId> {
        self.current_agents().next()
    }

    /// The agents that must act next, one for each branch whose baton rests with one.
    pub fn current_agents(&self) -> impl Iterator<Item = &AgentId> {
        self.branches.iter().filter_map(|it| self.current_agent_in(it.no))
    }

    pub fn current_agent_in(&self, branch: u16) -> Option<&AgentId> {
        let handoff = self.current_in(branch)?;
        match handoff.state {
            State::Pending | State::Accepted | State::Parked => Some(&handoff.to.agent),
            State::Clarification => {
                let question = handoff.question.and_then(|it| self.handoff(it));
                Some(question.map_or(&handoff.from.agent, |it| &it.to.agent))
            }
        }
    }

    /// The frames of a branch, outermost first.
    pub fn frames_in(&self, branch: u16) -> impl DoubleEndedIterator<Item = &Frame> {
        self.frames.iter().filter(move |it| it.branch == branch)
    }

    /// The parked handoff whose holder waits directly for `handoff`, which may have ended.
    pub fn caller_of(&self, handoff: &Handoff) -> Option<&Handoff> {
        let is_around = |it: &&Frame| it.caller != handoff.no;
        let frame = self.frames_in(handoff.branch).take_while(is_around).last()?;
        self.handoff(frame.caller)
    }

    /// The handoff whose holder waits for all others in its branch, or would: that of the outermost
    /// frame.
    pub(crate) fn outermost(&self, branch: u16, caller: HandoffNo) -> HandoffNo {
        self.frames_in(branch).next().map_or(caller, |it| it.caller)
    }

    /// The first branch whose baton lies loose.
    pub fn loose_branch(&self) -> Option<u16> {
        let loose = self.branches.iter().find(|it| matches!(it.baton, Baton::Loose { .. }));
        loose.map(|it| it.no)
    }

    /// The agent to which the first loose baton is offered again where no other is named.
    pub fn restarts_with(&self, workflow: &Workflow) -> Option<AgentId> {
        self.restarts_in(self.loose_branch()?, workflow)
    }

    /// As [`Run::restarts_with`], for one branch. Where another branch is loose too, its own step comes
    /// before the one that fanned out, which would not say which of them is meant.
    pub fn restarts_in(&self, branch: u16, workflow: &Workflow) -> Option<AgentId> {
        let Baton::Loose { at, other, meant_for } = self.baton_in(branch) else { return None };
        let is_loose = |it: &&Branch| matches!(it.baton, Baton::Loose { .. });
        let is_one_of_several = self.branches.iter().filter(is_loose).count() > 1;
        let is_own = |it: &&Place| {
            let step = it.as_step().and_then(|it| workflow.branch_of(it));
            step.is_some_and(|(_, no)| no == branch)
        };
        let own = [at, other].into_iter().find(is_own).filter(|_| is_one_of_several);
        let step = own.or_else(|| [at, other].into_iter().find(|it| it.is_step()))?;
        let agents = workflow.agents_at(step);
        let meant_for = meant_for.clone().filter(|it| agents.contains(it));
        meant_for.or_else(|| agents.into_iter().next())
    }

    /// Where the baton of the first branch is, as a place of the workflow.
    pub fn current_place(&self) -> Option<&Place> {
        self.current_place_in(self.first_branch())
    }

    pub fn current_place_in(&self, branch: u16) -> Option<&Place> {
        match self.baton_in(branch) {
            Baton::Loose { at, .. } => Some(at),
            Baton::Offered { .. } | Baton::Held { .. } | Baton::Parked { .. } => {
                self.current_in(branch).map(|it| &it.to.place)
            }
            Baton::Done => None,
        }
    }

    /// The display name of the current work: the step's phase, or that no agent is working.
    pub fn phase<'a>(&self, workflow: &'a Workflow) -> &'a str {
        match self.status {
            RunStatus::Completed => return "complete",
            RunStatus::Cancelled => return "cancelled",
            RunStatus::Open | RunStatus::Paused => {}
        }
        let is_under_way = match self.baton() {
            Baton::Offered { .. }
            | Baton::Held { .. }
            | Baton::Parked { on: Wait::Timer | Wait::Checks, .. } => true,
            Baton::Parked { on: Wait::Person, .. } | Baton::Loose { .. } | Baton::Done => false,
        };
        // A delegate does a part of the step of the holder that waits for it.
        let frames = self.frames_in(self.first_branch());
        let callers = frames.rev().filter_map(|it| self.handoff(it.caller));
        let places = self.current().into_iter().chain(callers).map(Handoff::work_place);
        let steps = places.filter_map(|it| match it {
            Place::Step(step) => workflow.step(step),
            Place::Orchestrator | Place::Human | Place::Delegate(_) => None,
        });
        let step = steps.into_iter().next().filter(|_| is_under_way);
        step.map_or("waiting", |it| it.phase.as_str())
    }

    /// The last package given to a place, in a branch: where the branch was not given one, that of
    /// the trunk.
    pub fn given_in(&self, branch: u16, place: &Place) -> Option<&Given> {
        let is_here = |it: &&Given| Some(&it.step) == place.as_step();
        let own = self.given.iter().filter(is_here).find(|it| it.branch == branch);
        own.or_else(|| self.given.iter().filter(is_here).find(|it| it.branch == 0))
    }

    /// The newest package of a branch.
    pub(crate) fn package_in(&self, branch: u16) -> Option<ContentId> {
        self.branch(branch).and_then(|it| it.package).or(self.package)
    }
}

impl Branch {
    pub(crate) fn trunk(baton: Baton, passed: Option<Vec<GateEdge>>) -> Self {
        Self { no: 0, baton, passed, package: None }
    }
}

impl std::fmt::Display for RunId {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}", self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_label_reads_back() {
        for no in [1, 12, 999, 1000, 123_456] {
            assert_eq!(HandoffNo::parse_label(&HandoffNo(no).label()), Some(HandoffNo(no)));
        }
        for bad in ["HO-", "HO-0", "HO-x", "ho-1", "1", "HO-+1", "HO-99999999999"] {
            assert_eq!(HandoffNo::parse_label(bad), None, "{bad}");
        }
    }
}
