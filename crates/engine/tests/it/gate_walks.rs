//! Random walks that try to get past a gate with every command but those that may: a person's
//! answer to the gate, goto, a start at a step, and the checks of an automatic one or of an edge.
//!
//! They drive the rules directly: what the engine and the stores add is tested with the model.

pub(crate) mod dice;
mod moves;
mod workflows;

use std::collections::BTreeSet;
use std::ops::Range;

use baton_core::agent::Agent;
use baton_core::approval::GateApproval;
use baton_core::command::{Command, GateAnswer};
use baton_core::decide::{self, Decision, DecisionContext, First, RunStart};
use baton_core::event::Event;
use baton_core::gate::{Answer, GateEdge, GateKind};
use baton_core::lint::Settings;
use baton_core::names::{AgentId, CheckName, Principal, StepId, StoryKey};
use baton_core::refusal::Refusal;
use baton_core::registry::Agents;
use baton_core::run::{Kind, Run, RunId, RunStatus};
use baton_core::workflow::{Mode, Place, Target, Workflow};
use baton_engine::{Clock, FixedClock};
use jiff::SignedDuration;
use uuid::Uuid;

use self::dice::Dice;
use self::moves::Move;
use crate::world::BEGINNING;

const N_WALKS: u64 = 10_000;
const N_MOVES: usize = 44;

/// Which gates stay shut in a walk.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Shut {
    All,
    /// People and checks open every other one.
    One(GateEdge),
}

/// What the walks met, so that a walk that never comes near a gate is noticed.
#[derive(Debug, Default)]
struct Met {
    n_done: u64,
    n_behind_gate: u64,
    n_gates_opened: u64,
    n_gates_passed: u64,
    n_gates_lost: u64,
    n_checked: u64,
    n_passed_by_checks: u64,
    n_completed: u64,
    n_joined: u64,
    n_approved: u64,
    n_votes_passed_on: u64,
}

struct Walk<'a> {
    seed: u64,
    dice: Dice,
    workflow: &'a Workflow,
    agents: &'a Agents,
    clock: FixedClock,
    /// Who makes every package.
    caller: Principal,
    /// Those that only a runner decides.
    checks: Vec<CheckName>,
    shut: Shut,
    /// Where work may be while the shut gates are shut, the end among it as `None`.
    allowed: BTreeSet<Option<StepId>>,
    run: Option<Run>,
    n_runs: u32,
    trail: Vec<Move>,
}

#[test]
fn no_walk_gets_past_a_shut_gate() {
    walk(0..N_WALKS);
}

fn walk(seeds: Range<u64>) {
    let n_walks = seeds.end - seeds.start;
    let workflows = workflows::all();
    let agents = Agents::new(workflows::AGENTS.map(|it| Agent::unknown(agent(it))));
    let mut met = Met::default();
    for seed in seeds {
        let workflow = &workflows[(seed % workflows.len() as u64) as usize];
        let mut walk = Walk::new(seed, workflow, &agents);
        for _ in 0..N_MOVES {
            walk.moves(&mut met);
        }
    }
    // Of what a walk is for there is plenty, or the walks are too tame.
    let each = n_walks / 20;
    assert!(met.n_done > 5 * n_walks, "{met:?}");
    assert!(met.n_behind_gate > each, "{met:?}");
    assert!(met.n_gates_opened > each, "{met:?}");
    assert!(met.n_gates_passed > each, "{met:?}");
    assert!(met.n_gates_lost > each / 10, "{met:?}");
    assert!(met.n_checked > each, "{met:?}");
    assert!(met.n_passed_by_checks > each / 10, "{met:?}");
    assert!(met.n_completed > each / 10, "{met:?}");
    assert!(met.n_joined > each / 10, "{met:?}");
    assert!(met.n_approved > each / 10, "{met:?}");
    assert!(met.n_votes_passed_on > each / 100, "{met:?}");
}

impl<'a> Walk<'a> {
    fn new(seed: u64, workflow: &'a Workflow, agents: &'a Agents) -> Self {
        let mut dice = Dice::new(seed);
        let gates = holding_gates(workflow);
        let shut = match dice.one_of(&gates) {
            Some(gate) if dice.chance(60) => Shut::One(gate.clone()),
            Some(_) | None => Shut::All,
        };
        let is_shut = |gate: &GateEdge| shut.holds(gate) && gates.contains(gate);
        let allowed = reachable(workflow, is_shut);
        let checks = match dice.chance(50) {
            true => vec![CheckName::parse("lint").unwrap()],
            false => Vec::new(),
        };
        Self {
            checks,
            seed,
            dice,
            workflow,
            agents,
            clock: FixedClock::at(BEGINNING),
            caller: Principal::parse(moves::AUTHOR).unwrap(),
            shut,
            allowed,
            run: None,
            n_runs: 0,
            trail: Vec::new(),
        }
    }

    fn moves(&mut self, met: &mut Met) {
        let it = moves::draw(&mut self.dice, self.workflow, self.run.as_ref());
        self.trail.push(it.clone());
        let decided = match (&it, &self.run) {
            (Move::Wait(seconds), _) => {
                self.clock.advance(SignedDuration::from_secs(*seconds));
                return;
            }
            (Move::Begin(create), run) if run.as_ref().is_none_or(Run::is_finished) => {
                self.n_runs += 1;
                let start = RunStart {
                    run: RunId(Uuid::from_u128(self.n_runs.into())),
                    story: StoryKey::parse("a story").unwrap(),
                    owner: Principal::parse("ada").unwrap(),
                    mode: Mode::Autonomous,
                    budget: Default::default(),
                    first: First::Handoff((**create).clone()),
                };
                decide::start(&start, self.ground())
            }
            (Move::Begin(create), Some(run)) => {
                decide::decide(run, &Command::Create((**create).clone()), self.ground())
            }
            (Move::On(command), Some(run)) if !self.opens(command, run) => {
                decide::decide(run, command, self.ground())
            }
            (Move::Begin(_) | Move::On(_), _) => return,
        };
        match decided {
            Ok(decision) => self.arrives(decision, met),
            Err(Refusal::BehindGate { .. }) => met.n_behind_gate += 1,
            Err(_) => {}
        }
    }

    fn arrives(&mut self, decision: Decision, met: &mut Met) {
        met.n_done += 1;
        for event in &decision.events {
            match event.name() {
                "gate.opened" => met.n_gates_opened += 1,
                "gate.approved" => met.n_approved += 1,
                "gate.delegated" => met.n_votes_passed_on += 1,
                "gate.lost" => met.n_gates_lost += 1,
                "gate.passed" => met.n_passed_by_checks += 1,
                "checks.requested" => met.n_checked += 1,
                _ => {}
            }
        }
        let is_joined = |it: &&Event| it.name() == "branch.joined";
        met.n_joined += decision.events.iter().filter(is_joined).count() as u64;
        let run = decision.run;
        met.n_gates_passed += u64::from(run.passed().is_some_and(|it| !it.is_empty()));
        for handoff in run.handoffs.iter().filter(|it| it.kind != Kind::Question) {
            if let Place::Step(step) = &handoff.to.place {
                self.check(Some(step), &run);
            }
        }
        for step in &run.visited {
            self.check(Some(step), &run);
        }
        if run.status == RunStatus::Completed {
            met.n_completed += 1;
            self.check(None, &run);
        }
        for branch in &run.branches {
            let passed = branch.passed.as_deref().unwrap_or_default();
            assert!(!passed.iter().any(|it| self.shut.holds(it)), "{}", self.story(&run));
        }
        crate::cycle_walks::branches::check(self.workflow, &run, || self.story(&run));
        self.run = Some(run);
    }

    #[track_caller]
    fn check(&self, step: Option<&StepId>, run: &Run) {
        assert!(self.allowed.contains(&step.cloned()), "at {step:?}: {}", self.story(run));
    }

    fn story(&self, run: &Run) -> String {
        let Self { seed, shut, trail, workflow, .. } = self;
        format!("seed {seed}, {shut:?}, by {trail:#?}\nin {workflow:#?}\nthe run is {run:#?}")
    }

    fn ground(&self) -> DecisionContext<'_> {
        static LINT: std::sync::LazyLock<Settings> = std::sync::LazyLock::new(Settings::default);
        DecisionContext {
            checks: &self.checks,
            budgets: &[],
            workflow: self.workflow,
            agents: self.agents,
            now: self.clock.now(),
            caller: Some(&self.caller),
            fresh: self.clock.as_fresh(),
            lint: &LINT,
            visited: None,
            decision_salt: None,
            at: None,
            files: None,
            to_answer: None,
            implied: &[],
        }
    }

    /// Whether a command is one of those that may open a gate which is to stay shut.
    fn opens(&self, command: &Command, run: &Run) -> bool {
        let gate_of = |no| run.handoff(no).and_then(|it| it.gate.as_ref());
        match command {
            Command::Goto { .. } | Command::StartAt(_) => true,
            Command::Answer(given) => match gate_of(given.handoff) {
                // What a person says elsewhere may lead past gates on record, so only answers at
                // declared ones are given.
                Some(gate) => {
                    let is_harmless = matches!(given.answer, Answer::Reject | Answer::Question);
                    let is_advice = gate.kind == GateKind::Advisory;
                    let is_open = gate.edge.as_ref().is_some_and(|it| !self.shut.holds(it));
                    let is_vain = gate.approval.as_ref().is_some_and(|it| is_vain(it, given));
                    !(is_advice || is_open || is_harmless && gate.edge.is_some() || is_vain)
                }
                None => false,
            },
            Command::Record(record) => self.never_passes(&record.check),
            Command::ReportChecks(report) => {
                report.results.iter().any(|it| self.never_passes(&it.check))
            }
            Command::Create(_)
            | Command::Accept(_)
            | Command::Reject(_)
            | Command::Complete(_)
            | Command::Cancel { .. }
            | Command::TimeOut { .. }
            | Command::MarkStale { .. }
            | Command::DelegateVote(_)
            | Command::Remind { .. }
            | Command::CleanUp { .. }
            | Command::Clarify(_)
            | Command::Reply(_)
            | Command::Release(_)
            | Command::Signal(_)
            | Command::Post { .. }
            | Command::Collaborate(_)
            | Command::RecordUsage(_)
            | Command::SendFile(_)
            | Command::LoseLease(_)
            | Command::ClaimChecks(_)
            | Command::AskPermission(_)
            | Command::WithdrawPermission { .. }
            | Command::Wake { .. }
            | Command::Expire { .. }
            | Command::Pause { .. }
            | Command::Resume
            | Command::CancelRun { .. }
            | Command::Skip { .. }
            | Command::Reroute(_) => false,
        }
    }
}

impl Walk<'_> {
    /// The one check that never passes: the last of the shut gate, or of the shut edge.
    fn never_passes(&self, check: &CheckName) -> bool {
        match &self.shut {
            Shut::All => check.as_str() == workflows::LAST_CHECK,
            Shut::One(shut) => {
                let edge = self.workflow.edge_between(&shut.from, &shut.to, shut.on);
                let checks = edge.map(|it| it.stopping_gate().map_or(&it.checks, |it| &it.checks));
                checks.and_then(|it| it.last()) == Some(check)
            }
        }
    }
}

/// Whether an approval must not open the gate: others are missing, the person made the package, or has
/// approved before.
fn is_vain(asked: &GateApproval, given: &GateAnswer) -> bool {
    let is_counted = !asked.is_author(&given.by) && asked.approved_as(&given.by).is_none();
    given.answer == Answer::Approve && (!is_counted || asked.n_given() + 1 < asked.need)
}

impl Shut {
    fn holds(&self, gate: &GateEdge) -> bool {
        match self {
            Shut::All => true,
            Shut::One(shut) => shut == gate,
        }
    }
}

/// Every place that the start leads to with some gates shut, in the plainest way there is: again and
/// again, until nothing is added. A join is reached once enough of its branches can come to it.
fn reachable(workflow: &Workflow, is_shut: impl Fn(&GateEdge) -> bool) -> BTreeSet<Option<StepId>> {
    let mut reached: BTreeSet<Option<StepId>> = BTreeSet::new();
    loop {
        let before = reached.len();
        let mut arrived: BTreeSet<(StepId, u16)> = BTreeSet::new();
        for (from, edge) in workflow.edges() {
            let is_there = from.as_step().is_none_or(|it| reached.contains(&Some(it.clone())));
            let to = Workflow::target_place(&edge.to);
            if !is_there || is_shut(&GateEdge { from: from.clone(), to, on: edge.on }) {
                continue;
            }
            let own = from.as_step().and_then(|it| workflow.branch_of(it));
            for target in edge.targets() {
                match (target, own) {
                    (Target::Complete, _) => {
                        reached.insert(None);
                    }
                    (Target::Step(step), Some((fan_out, branch))) if step == fan_out.join => {
                        arrived.insert((step, branch));
                    }
                    (Target::Step(step), _) => {
                        reached.insert(Some(step));
                    }
                }
            }
        }
        for fan_out in workflow.fan_outs() {
            let n_arrived = arrived.iter().filter(|(join, _)| *join == fan_out.join).count();
            if n_arrived >= fan_out.n_needed() {
                reached.insert(Some(fan_out.join.clone()));
            }
        }
        if reached.len() == before {
            return reached;
        }
    }
}

fn holding_gates(workflow: &Workflow) -> Vec<GateEdge> {
    workflow
        .edges()
        .filter(|(_, edge)| edge.holds())
        .map(|(from, edge)| GateEdge { from, to: Workflow::target_place(&edge.to), on: edge.on })
        .collect()
}

fn agent(name: &str) -> AgentId {
    AgentId::parse(name).unwrap()
}
