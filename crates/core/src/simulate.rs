//! Runs of a workflow without agents: the rules decide as they do for real ones, and outcomes
//! come from a script, or by chance from a seed. The same seed gives the same runs.

mod dice;
mod moves;
mod report;

use jiff::{SignedDuration, Timestamp};
use uuid::Uuid;

pub use report::{SimulatedPath, SimulationReport};

use self::dice::Dice;
use crate::budget::Budget;
use crate::command::{Command, Create};
use crate::contract::{Contract, Profile};
use crate::decide::{self, Decision, DecisionContext, First, IdSource, RunStart};
use crate::event::{BranchEvent, Event, HandoffEvent};
use crate::lint::Settings;
use crate::named::named;
use crate::names::{AgentId, Principal, StoryKey};
use crate::outcome::Outcome;
use crate::package::Package;
use crate::refusal::Refusal;
use crate::registry::Agents;
use crate::run::{Baton, Run, RunId, Wait};
use crate::workflow::{Mode, Workflow};

/// What is simulated.
#[derive(Clone, Copy)]
pub struct Simulation<'a> {
    /// In the mode of its runs.
    pub workflow: &'a Workflow,
    pub mode: Mode,
    pub agents: &'a Agents,
    /// Contracts for the ways that every workflow has without declaring them.
    pub implied: &'a [Contract],
    pub lint: &'a Settings,
}

/// A run that was simulated.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SimulatedRun {
    pub end: SimulatedEnd,
    /// What happened, a line each: `review failure → fixer-agent`.
    pub path: Vec<String>,
    /// Why it goes no further, where it is stuck, and where it waits.
    pub why: Option<String>,
}

named! {
    /// How a simulated run ended.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum SimulatedEnd {
        Completed = "completed",
        /// The person at a gate ended it.
        Aborted = "aborted",
        /// It stands at a gate, and the person does not answer; or the script is at its end.
        Waiting = "waiting",
        /// Nothing that was tried moves it: a defect of the workflow, or of the rules.
        Stuck = "stuck",
    }
}

/// One line of a script: what happens at a place, in the words of a workflow.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ScriptedMove {
    /// Of the script's text, from 1.
    pub line: usize,
    /// A step, a resolver or delegate, or `human`.
    pub at: String,
    pub what: ScriptedOutcome,
    /// Left out: as the workflow says.
    pub to: Option<AgentId>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ScriptedOutcome {
    Ends(Outcome),
    /// The receiver sends it back.
    Rejects,
    /// A person's answer, by its name.
    Answers(String),
}

/// More commands than any run needs that gets anywhere.
const MOST_MOVES: usize = 2_000;
/// Draws in a row that the rules refuse, before a run counts as stuck.
const PATIENCE: usize = 60;

impl Simulation<'_> {
    /// A run whose outcomes are drawn. Its person answers nearly always, and sometimes ends it.
    pub fn by_chance(&self, seed: u64) -> SimulatedRun {
        let mut dice = Dice::new(seed);
        let mut walk = match SimulatedWalk::begin(self) {
            Ok(walk) => walk,
            Err(refusal) => return stuck(Vec::new(), &refusal),
        };
        let mut last = None;
        let mut n_refused = 0;
        for _ in 0..MOST_MOVES {
            if let Some(end) = walk.ended() {
                return walk.over(end, None);
            }
            let Some((command, line)) = moves::draw(&mut dice, &walk) else {
                return walk.over(SimulatedEnd::Waiting, walk.waits_for());
            };
            match walk.does(&command, line) {
                Ok(()) => n_refused = 0,
                Err(refusal) => {
                    n_refused += 1;
                    last = Some(refusal.to_string());
                }
            }
            if n_refused > PATIENCE {
                break;
            }
        }
        let why = last.filter(|_| n_refused > 0).or_else(|| walk.waits_for());
        walk.over(SimulatedEnd::Stuck, why)
    }

    /// As many runs as asked for, each with a seed of its own that follows from `seed`.
    pub fn many(&self, n_runs: u32, seed: u64) -> SimulationReport {
        let mut report = SimulationReport::default();
        let mut seeds = Dice::new(seed);
        for _ in 0..n_runs {
            report.add(&self.by_chance(seeds.next()));
        }
        report
    }

    /// A run that does what a script says, line by line. The error has the line and why not.
    pub fn by_script(&self, script: &[ScriptedMove]) -> Result<SimulatedRun, (usize, String)> {
        let mut walk = SimulatedWalk::begin(self).map_err(|it| (0, it.to_string()))?;
        for line in script {
            if let Some(end) = walk.ended() {
                return Err((line.line, format!("the run is {} before this line", end.name())));
            }
            let (command, words) = moves::scripted(&walk, line).map_err(|it| (line.line, it))?;
            walk.does(&command, words).map_err(|it| (line.line, it.to_string()))?;
            // A script says what agents and people do: checks pass.
            while let Some((command, words)) = moves::pass_checks(&walk) {
                walk.does(&command, words).map_err(|it| (line.line, it.to_string()))?;
            }
        }
        Ok(match walk.ended() {
            Some(end) => walk.over(end, None),
            None => walk.over(SimulatedEnd::Waiting, walk.waits_for()),
        })
    }
}

/// Who gets the work by a decision, in words: every branch of a fan-out.
fn receivers(decision: &Decision) -> Option<String> {
    let created = |event: &Event| {
        let Event::Handoff(HandoffEvent::Created(it)) = event else { return None };
        Some((it.handoff, it.to.agent.clone()))
    };
    let has = |is_it: fn(&BranchEvent) -> bool| {
        decision.events.iter().any(|it| matches!(it, Event::Branch(it) if is_it(it)))
    };
    let run = &decision.run;
    if let Some(fork) = run.fork.as_ref().filter(|_| has(is_arrival)) {
        let (n_arrived, join) = (fork.arrived.len(), &fork.join);
        return Some(format!("join {join} ({n_arrived} of {})", fork.need));
    }
    let mut made = decision.events.iter().filter_map(created);
    if has(is_fork) {
        let open = made.filter(|(no, _)| run.handoff(*no).is_some());
        let names: Vec<String> = open.map(|(_, agent)| agent.to_string()).collect();
        return Some(names.join(" + "));
    }
    made.next_back().map(|(_, agent)| agent.to_string())
}

fn is_arrival(event: &BranchEvent) -> bool {
    matches!(event, BranchEvent::Arrived { .. })
}

fn is_fork(event: &BranchEvent) -> bool {
    matches!(event, BranchEvent::Forked { .. })
}

fn stuck(path: Vec<String>, refusal: &Refusal) -> SimulatedRun {
    SimulatedRun { end: SimulatedEnd::Stuck, path, why: Some(refusal.to_string()) }
}

/// A run on its way.
struct SimulatedWalk<'a> {
    simulation: &'a Simulation<'a>,
    fresh: SequentialIds,
    now: Timestamp,
    run: Run,
    path: Vec<String>,
}

impl<'a> SimulatedWalk<'a> {
    fn begin(simulation: &'a Simulation<'a>) -> Result<Self, Refusal> {
        let workflow = simulation.workflow;
        let first = Workflow::target_place(&workflow.start.to);
        let agents = workflow.agents_at(&first);
        let to = workflow.agent_of_own_domain(&agents).or_else(|| agents.first().cloned());
        let fresh = SequentialIds::default();
        let create = create(
            AgentId::orchestrator(),
            to.unwrap_or_else(AgentId::orchestrator),
            moves::start_package(simulation),
        );
        let start = RunStart {
            run: RunId(Uuid::from_u128(1)),
            story: StoryKey::parse("simulated").map_err(|_| Refusal::Paused)?,
            owner: Principal::of_agent(&AgentId::human()),
            mode: simulation.mode,
            budget: Budget::default(),
            first: First::Handoff(create),
        };
        let now = Timestamp::UNIX_EPOCH;
        let decision = decide::start(&start, ground(simulation, &fresh, now))?;
        let path = Vec::new();
        let mut walk = Self { simulation, fresh, now, run: decision.run.clone(), path };
        walk.arrives(decision, "start".to_owned());
        Ok(walk)
    }

    fn does(&mut self, command: &Command, line: String) -> Result<(), Refusal> {
        let ground = ground(self.simulation, &self.fresh, self.now);
        let decision = decide::decide(&self.run, command, ground)?;
        self.arrives(decision, line);
        Ok(())
    }

    fn arrives(&mut self, decision: Decision, line: String) {
        // Only what hands work on is a part of the path.
        if let Some(to) = receivers(&decision) {
            self.path.push(format!("{line} → {to}"));
        } else if decision.run.is_finished() {
            self.path.push(format!("{line} → {}", decision.run.status.name()));
        }
        self.run = decision.run;
        // Time is no matter here: what is held back for some seconds is offered at once.
        for until in self.run.handoffs.iter().filter_map(|it| it.held_back_until) {
            self.now = self.now.max(until);
        }
        self.now = self.now.checked_add(SignedDuration::from_secs(1)).unwrap_or(self.now);
    }

    fn ended(&self) -> Option<SimulatedEnd> {
        match self.run.status {
            crate::run::RunStatus::Completed => Some(SimulatedEnd::Completed),
            crate::run::RunStatus::Cancelled => Some(SimulatedEnd::Aborted),
            crate::run::RunStatus::Open | crate::run::RunStatus::Paused => None,
        }
    }

    /// Who has to move, in words.
    fn waits_for(&self) -> Option<String> {
        let waits: Vec<String> =
            self.run.branches.iter().filter_map(|it| self.waits_for_in(it.no)).collect();
        (!waits.is_empty()).then(|| waits.join("; "))
    }

    fn waits_for_in(&self, branch: u16) -> Option<String> {
        Some(match (self.run.baton_in(branch), self.run.current_in(branch)) {
            (Baton::Parked { on: Wait::Person, .. }, Some(it)) => {
                let why = it.gate.as_ref().map(crate::gate::Gate::sentence);
                format!("{} waits for a person: {}", it.no, why.unwrap_or_default())
            }
            (Baton::Parked { on: Wait::Checks, .. }, Some(it)) => {
                format!("{} waits for its checks", it.no)
            }
            (Baton::Loose { at, .. }, _) => format!("the baton lies loose at `{at}`"),
            (_, Some(it)) => format!("{} is with `{}`", it.no, it.to.agent),
            (_, None) => return None,
        })
    }

    fn over(&self, end: SimulatedEnd, why: Option<String>) -> SimulatedRun {
        SimulatedRun { end, path: self.path.clone(), why }
    }
}

fn ground<'a>(
    simulation: &Simulation<'a>,
    fresh: &'a SequentialIds,
    now: Timestamp,
) -> DecisionContext<'a> {
    DecisionContext {
        checks: &[],
        budgets: &[],
        workflow: simulation.workflow,
        agents: simulation.agents,
        now,
        caller: None,
        fresh,
        lint: simulation.lint,
        files: None,
        to_answer: None,
        implied: simulation.implied,
        visited: None,
        decision_salt: None,
        at: None,
    }
}

fn create(from: AgentId, to: AgentId, package: Package) -> Create {
    Create {
        from,
        to,
        package,
        outcome: None,
        reason: None,
        supersedes: None,
        hands_on: None,
        way: None,
        token: None,
        profile: Profile::Lenient,
    }
}

/// Ids that are the same every time.
#[derive(Default)]
struct SequentialIds(std::sync::atomic::AtomicU64);

impl SequentialIds {
    fn next(&self) -> u64 {
        self.0.fetch_add(1, std::sync::atomic::Ordering::Relaxed) + 1
    }
}

impl IdSource for SequentialIds {
    fn id(&self) -> Uuid {
        Uuid::from_u128(self.next().into())
    }

    fn nonce(&self) -> [u8; 16] {
        u128::from(self.next()).to_be_bytes()
    }
}
