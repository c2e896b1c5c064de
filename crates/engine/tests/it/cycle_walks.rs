//! Every cycle ends: agents do whatever they may in workflows that are drawn at random, with no
//! other aim than to go round. Every run ends or waits for a person, after no more handoffs than
//! its workflow implies, and no step is entered more often than it allows.
//!
//! Operators do nothing here, people neither: a run that waits for a person has kept the promise.

pub(crate) mod branches;
mod habits;
mod moves;
mod workflows;

use std::collections::BTreeMap;

use baton_core::agent::Agent;
use baton_core::command::Command;
use baton_core::decide::{self, Decision, DecisionContext, First, RunStart};
use baton_core::event::{BlockerEvent, Created, Event, HandoffEvent, replay};
use baton_core::gate::{GateCause, GateKind};
use baton_core::lint::Settings;
use baton_core::names::{AgentId, Principal, StepId, StoryKey};
use baton_core::registry::Agents;
use baton_core::run::{Baton, Kind, Run, RunId, Wait};
use baton_core::workflow::{Mode, Place, Workflow};
use baton_engine::{Clock, FixedClock};
use jiff::Timestamp;
use uuid::Uuid;

use self::habits::Habit;
use crate::gate_walks::dice::Dice;
use crate::world::BEGINNING;

const N_WALKS: u64 = 10_000;
const N_STUBBORN_WALKS: u64 = 5_000;

/// Moves in a row that the rules may refuse before a walk is given up.
const PATIENCE: usize = 40;

/// How the walks ended, so that walks that never go round are noticed.
#[derive(Debug, Default)]
struct Met {
    n_completed: u64,
    n_loose: u64,
    by_cause: BTreeMap<&'static str, u64>,
    n_stuck: u64,
    /// A question waits for a person.
    n_asked: u64,
    longest: u32,
    /// Blocked work that went to a resolver, and that came back resolved.
    n_detours: u64,
    n_resolved: u64,
}

struct Walk<'a> {
    seed: u64,
    dice: Dice,
    workflow: &'a Workflow,
    agents: &'a Agents,
    clock: FixedClock,
    run: Run,
    /// Handoffs that agents made.
    n_made: u32,
    n_detours: u64,
    n_resolved: u64,
    /// By branch and step.
    entered: BTreeMap<(u16, StepId), u32>,
    trail: Vec<Command>,
    log: Vec<(Event, Timestamp)>,
}

#[test]
fn every_run_ends_or_waits_for_a_person_within_the_bound_of_its_workflow() {
    let agents = Agents::new(workflows::AGENTS.map(|it| Agent::unknown(agent(it))));
    let mut met = Met::default();
    for seed in 0..N_WALKS {
        let mut dice = Dice::new(seed);
        let workflow = workflows::drawn(&mut dice);
        Walk::new(seed, dice, &workflow, &agents).goes(&mut met);
    }
    let asked = |cause: GateCause| met.by_cause.get(cause.name()).copied().unwrap_or_default();
    let each = N_WALKS / 50;
    assert!(met.n_completed > each, "{met:?}");
    assert!(asked(GateCause::Entries) > 5 * each, "{met:?}");
    assert!(asked(GateCause::Rounds) > each / 4, "{met:?}");
    assert!(asked(GateCause::SameFindings) > each / 8, "{met:?}");
    assert!(asked(GateCause::Delegations) > each / 4, "{met:?}");
    assert!(asked(GateCause::Blocked) > each / 4, "{met:?}");
    assert!(met.n_detours > each, "{met:?}");
    assert!(met.n_resolved > each / 4, "{met:?}");
    assert!(met.n_stuck < each, "{met:?}");
}

/// As above, by agents that do the same few things again and again: what goes round without a new
/// handoff is found too, and so are circles that any other move would leave.
#[test]
fn agents_of_few_habits_end_or_wait_for_a_person_too() {
    let agents = Agents::new(workflows::AGENTS.map(|it| Agent::unknown(agent(it))));
    let mut met = Met::default();
    for seed in 0..N_STUBBORN_WALKS {
        let mut dice = Dice::new(seed);
        let workflow = workflows::drawn(&mut dice);
        let habits = habits::drawn(&mut dice);
        Walk::new(seed, dice, &workflow, &agents).goes_by(&habits, &mut met);
    }
    let asked = |cause: GateCause| met.by_cause.get(cause.name()).copied().unwrap_or_default();
    let each = N_STUBBORN_WALKS / 50;
    assert!(asked(GateCause::Releases) > each / 2, "{met:?}");
    assert!(asked(GateCause::Questions) > each, "{met:?}");
    assert!(asked(GateCause::Entries) > each, "{met:?}");
    assert!(asked(GateCause::Delegations) > each / 4, "{met:?}");
    assert!(met.n_asked > each / 4, "{met:?}");
}

/// As above, where a step of each workflow hands to several at once.
#[test]
fn runs_in_branches_end_or_wait_for_a_person_too() {
    let agents = Agents::new(workflows::AGENTS.map(|it| Agent::unknown(agent(it))));
    let (mut met, mut seen) = (Met::default(), branches::Seen::default());
    for seed in 0..N_STUBBORN_WALKS {
        let mut dice = Dice::new(seed);
        let workflow = workflows::fanned(&mut dice);
        let habits = habits::drawn(&mut dice);
        let mut walk = Walk::new(seed, dice, &workflow, &agents);
        match seed % 4 {
            0 => walk.goes_by(&habits, &mut met),
            _ => walk.goes(&mut met),
        }
        seen.add(&walk.log);
    }
    let each = N_STUBBORN_WALKS / 50;
    assert!(seen.n_forked > 10 * each, "{seen:?} {met:?}");
    assert!(seen.n_joined > each, "{seen:?} {met:?}");
    assert!(seen.n_cancelled > each / 4, "{seen:?} {met:?}");
    assert!(met.n_completed > each / 4, "{seen:?} {met:?}");
    assert!(met.n_stuck < N_STUBBORN_WALKS / 4, "{seen:?} {met:?}");
}

/// The moves that agents can make at most, with or without a handoff: each handoff is accepted and
/// released, asked about and corrected only so often.
fn most_moves(workflow: &Workflow) -> u32 {
    let limits = &workflow.limits;
    8 * bound(workflow) * (limits.questions + limits.releases + 3)
}

/// The handoffs that agents can make at most before the run ends or a person is asked.
fn bound(workflow: &Workflow) -> u32 {
    let limits = &workflow.limits;
    let n_entries: u32 = workflow.steps.iter().map(|it| workflow.entries_of(&it.id)).sum();
    // Each branch may bring work back to the step that fans out, and counts that by itself; and each
    // entry may arrive at the join.
    let n_branches = workflow.fan_outs().iter().map(|it| it.branches.len() as u32).sum::<u32>();
    let n_entries = if n_branches == 0 { n_entries } else { (n_branches + 2) * n_entries };
    // Each entry may be blocked so often, and each block sends the work to a resolver and back.
    let n_blocks = workflow.steps.iter().map(|it| it.limits.blocks).max().unwrap_or_default();
    let n_detours = 2 * n_entries * (1 + limits.retries) * n_blocks;
    // Each entry is held, and held again after each retry; so is what a detour brings.
    let n_held = (n_entries + n_detours) * (1 + limits.retries);
    let n_parts = workflow.steps.iter().map(|it| it.limits.delegations).max().unwrap_or_default();
    // A delegate's part and its return; and both again for each round between any two of them.
    let n_places = (workflow.steps.len() + workflows::AGENTS.len()) as u32;
    let n_pairs = n_places * workflows::AGENTS.len() as u32;
    let delegated = 2 * n_held * n_parts + 2 * (limits.rounds + 1) * n_pairs;
    // Each holding may end with an error for the orchestrator, and with a row that asks or informs.
    n_entries + n_detours + n_held + 2 * n_held + delegated + 2
}

impl<'a> Walk<'a> {
    fn new(seed: u64, dice: Dice, workflow: &'a Workflow, agents: &'a Agents) -> Self {
        let clock = FixedClock::at(BEGINNING);
        let start = RunStart {
            run: RunId(Uuid::from_u128(1)),
            story: StoryKey::parse("a story").unwrap(),
            owner: Principal::parse("ada").unwrap(),
            mode: Mode::Autonomous,
            budget: Default::default(),
            first: First::Handoff(moves::start(workflow)),
        };
        let ground = ground(workflow, agents, &clock);
        let decision = decide::start(&start, ground).unwrap();
        let mut walk = Self {
            seed,
            dice,
            workflow,
            agents,
            clock,
            run: decision.run.clone(),
            n_made: 0,
            n_detours: 0,
            n_resolved: 0,
            entered: BTreeMap::new(),
            trail: Vec::new(),
            log: Vec::new(),
        };
        walk.arrives(decision);
        walk
    }

    fn goes(&mut self, met: &mut Met) {
        let most = bound(self.workflow);
        let mut n_refused = 0;
        while let Some(command) = moves::draw(&mut self.dice, self.workflow, &self.run) {
            let ground = ground(self.workflow, self.agents, &self.clock);
            match decide::decide(&self.run, &command, ground) {
                Ok(decision) => {
                    n_refused = 0;
                    self.trail.push(command);
                    self.arrives(decision);
                    assert!(self.n_made <= most, "more than {most}: {}", self.story());
                }
                Err(_) => n_refused += 1,
            }
            if n_refused > PATIENCE {
                break;
            }
        }
        met.longest = met.longest.max(self.n_made);
        met.n_detours += self.n_detours;
        met.n_resolved += self.n_resolved;
        self.ends(met, n_refused);
    }

    fn goes_by(&mut self, habits: &[Habit], met: &mut Met) {
        let most = most_moves(self.workflow);
        let (mut n_refused, mut n_moves) = (0, 0);
        while n_refused <= PATIENCE && !habits::waits_for_person(&self.run) {
            let habit = self.dice.one_of(habits).copied();
            let command = habit.and_then(|it| it.command(&mut self.dice, self.workflow, &self.run));
            let ground = ground(self.workflow, self.agents, &self.clock);
            let decided = command.map(|it| (decide::decide(&self.run, &it, ground), it));
            let Some((Ok(decision), command)) = decided else {
                n_refused += 1;
                continue;
            };
            (n_refused, n_moves) = (0, n_moves + 1);
            self.trail.push(command);
            self.arrives(decision);
            assert!(n_moves <= most, "more than {most} by {habits:?}: {}", self.story());
        }
        self.ends(met, n_refused);
    }

    fn arrives(&mut self, decision: Decision) {
        for event in &decision.events {
            let is_routed = matches!(event, Event::Blocker(BlockerEvent::Routed { .. }));
            self.n_detours += u64::from(is_routed);
            let is_resolved = matches!(event, Event::Blocker(BlockerEvent::Resolved { .. }));
            self.n_resolved += u64::from(is_resolved);
            let Event::Handoff(HandoffEvent::Created(created)) = event else { continue };
            self.n_made += 1;
            if let Some(step) = entered(created) {
                let n = self.entered.entry((created.branch, step.clone())).or_default();
                *n += 1;
                let (n, most) = (*n, self.workflow.entries_of(step));
                assert!(n <= most, "`{step}` was entered {n} times of {most}: {}", self.story());
            }
        }
        let now = self.clock.now();
        self.log.extend(decision.events.into_iter().map(|it| (it, now)));
        self.run = decision.run;
        branches::check(self.workflow, &self.run, || self.story());
    }

    fn ends(&self, met: &mut Met, n_refused: usize) {
        let replayed = replay(self.run.id, self.log.iter().cloned());
        assert_eq!(replayed.as_ref(), Some(&self.run), "{}", self.story());
        if self.run.fork.is_some() {
            let waits = |it: &u16| {
                let is_person =
                    matches!(self.run.baton_in(*it), Baton::Parked { on: Wait::Person, .. });
                is_person || habits::asks_person(&self.run)
            };
            let all_wait = self.run.branches.iter().all(|it| waits(&it.no));
            assert!(
                n_refused > PATIENCE || all_wait || self.run.gate().is_some(),
                "{}",
                self.story()
            );
            met.n_stuck += u64::from(n_refused > PATIENCE);
            return;
        }
        match self.run.baton() {
            Baton::Done => met.n_completed += 1,
            Baton::Loose { .. } => met.n_loose += 1,
            Baton::Parked { on: Wait::Person, .. } => {
                let (_, gate) = self.run.gate().expect("a person is asked");
                assert_ne!(gate.kind, GateKind::Advisory, "{}", self.story());
                *met.by_cause.entry(gate.cause.name()).or_default() += 1;
            }
            Baton::Offered { .. } if habits::asks_person(&self.run) => met.n_asked += 1,
            Baton::Offered { .. } | Baton::Held { .. } | Baton::Parked { .. } => {
                assert!(n_refused > PATIENCE, "{}", self.story());
                met.n_stuck += 1;
            }
        }
    }

    fn story(&self) -> String {
        let Self { seed, trail, workflow, run, .. } = self;
        // Of a walk without an end, the last moves are enough.
        let trail = &trail[trail.len().saturating_sub(60)..];
        format!("seed {seed}, by {trail:#?}\nin {workflow:#?}\nthe run is {run:#?}")
    }
}

/// The step that a handoff brings work to, but not a retry, or what a delegate or a resolver brings
/// back.
fn entered(created: &Created) -> Option<&StepId> {
    let is_resolved = matches!(created.from.place, Place::Delegate(_));
    let is_question = created.kind == Kind::Question;
    let is_work = created.attempt == 1 && created.brings.is_none() && !is_question && !is_resolved;
    match &created.to.place {
        Place::Step(step) if is_work => Some(step),
        Place::Step(_) | Place::Orchestrator | Place::Human | Place::Delegate(_) => None,
    }
}

fn ground<'a>(
    workflow: &'a Workflow,
    agents: &'a Agents,
    clock: &'a FixedClock,
) -> DecisionContext<'a> {
    static LINT: std::sync::LazyLock<Settings> = std::sync::LazyLock::new(Settings::default);
    let (now, fresh) = (clock.now(), clock.as_fresh());
    DecisionContext {
        checks: &[],
        budgets: &[],
        workflow,
        agents,
        now,
        caller: None,
        fresh,
        lint: &LINT,
        visited: None,
        decision_salt: None,
        at: None,
        files: None,
        to_answer: None,
        implied: &[],
    }
}

fn agent(name: &str) -> AgentId {
    AgentId::parse(name).unwrap()
}
