//! A run as the rules of the design describe it, in the plainest way there is: a list of
//! handoffs, where the baton is, and who waits for whom. It shares no code with
//! `baton_core::decide`.
//!
//! Where several refusals would be true, the model says the one that comes first in this order:
//! the run is over, the handoff is over, a person is asked, a question is open, it is not yours,
//! you have lost it, the workflow knows no such way, the handoff is in the wrong state, the way
//! begins or ends behind a gate, the package does not keep the contract.

mod along;
mod answers;
mod approvals;
mod clock;
mod control;
mod counts;
mod create;
mod finish;
mod frames;
mod gates;
mod questions;
mod reject;
mod rows;
mod shows;
mod take;

use std::collections::BTreeMap;

use baton_core::contract::Profile;
use baton_core::outcome::Outcome;

use self::approvals::Approval;
use self::counts::Count;
pub(crate) use self::gates::Cause;
use self::reject::Rounds;
use crate::act::{Act, Create, Order, What};
use crate::flows::{AGENTS, Flow, GATED, HUMAN, ORCHESTRATOR, PIPELINE, Parcel, SIDE_ROADS};
use crate::random::Temper;

/// What a command is answered: it was done, or the code of the refusal.
pub(crate) type Said = Result<(), &'static str>;

pub(crate) const N_STORIES: usize = 3;

/// Three stories, each with the runs it has had.
#[derive(Debug, Clone)]
pub(crate) struct Model {
    runs: [Vec<Run>; N_STORIES],
    /// Seconds since the beginning.
    now: i64,
    /// What the last act was answered.
    pub(crate) said: Said,
    /// What the last act brought about, if it was a sweep.
    pub(crate) swept: Swept,
    pub(crate) temper: Temper,
    /// The story that most of the play is about.
    pub(crate) focus: usize,
}

/// How many things were due.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Swept {
    pub(crate) n_lost: u32,
    pub(crate) n_woken: u32,
    pub(crate) n_stale: u32,
    pub(crate) n_expired: u32,
    pub(crate) n_reminded: u32,
}

#[derive(Debug, Clone)]
pub(crate) struct Run {
    pub(crate) flow: &'static Flow,
    status: Status,
    /// All that there ever were, by number.
    pub(crate) handoffs: Vec<Handoff>,
    pub(crate) baton: Baton,
    /// The parked handoffs whose holders wait, outermost first.
    pub(crate) frames: Vec<u32>,
    rounds: Vec<Rounds>,
    /// By step.
    counts: BTreeMap<&'static str, Count>,
    /// Whose work last fell to the ground.
    had_by: &'static str,
    visited: Vec<&'static str>,
    /// The gates that the work has passed and not gone back before.
    passed: Vec<Forward>,
    /// How many of them are open.
    n_blockers: u32,
    now: i64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Status {
    Open,
    Paused,
    Completed,
    Cancelled,
}

/// Where the baton is, and with whom.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Baton {
    Offered(u32),
    Held(u32),
    /// Parked until a person answers.
    Asked(u32),
    /// Parked until it is time.
    HeldBack(u32),
    Loose {
        at: &'static str,
        other: &'static str,
    },
    Done,
}

#[derive(Debug, Clone)]
pub(crate) struct Handoff {
    pub(crate) no: u32,
    pub(crate) kind: Kind,
    pub(crate) from: Party,
    pub(crate) to: Party,
    pub(crate) state: State,
    /// The edge on which its rejects are counted.
    forward: Forward,
    /// Who gets it back, where that is not its sender.
    reject_to: Option<Party>,
    attempt: u32,
    /// The serial of its package.
    package: Option<u32>,
    pub(crate) fence: u32,
    /// Since when it waits for its receiver.
    waits_since: i64,
    accepted_at: i64,
    created_at: i64,
    pub(crate) is_stale: bool,
    /// In seconds.
    pub(crate) lease: Option<u32>,
    pub(crate) has_lost_lease: bool,
    pub(crate) held_back_until: Option<i64>,
    /// The open question about it, or the gate that stands for one.
    pub(crate) question: Option<u32>,
    /// What it asks about, where it is a question.
    pub(crate) about: Option<u32>,
    n_questions: u32,
    /// How often it was taken and given back.
    n_releases: u32,
    /// It offers again what had been sent back to its receiver.
    came_back: bool,
    /// How the delegate's work ended.
    brings: Option<Outcome>,
    /// Its sender wants it done again.
    is_again: bool,
    /// How many parts were given away while it was held.
    n_parts: u32,
    evidence: Evidence,
    pub(crate) gate: Option<Gate>,
}

/// From where to where.
type Forward = (&'static str, &'static str);

/// The newest result of each check, whether it passed, and the fence of the holding it is about.
type Evidence = Vec<(&'static str, bool, u32)>;

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Kind {
    Sequential,
    Delegation,
    Escalation,
    Return,
    Question,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Party {
    pub(crate) agent: &'static str,
    pub(crate) place: &'static str,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum State {
    Pending,
    Clarification,
    Accepted,
    Parked,
    Ended,
}

#[derive(Debug, Clone)]
pub(crate) struct Gate {
    pub(crate) cause: Cause,
    pub(crate) stops: Stops,
    asker: Party,
    worker: Party,
    package: Option<u32>,
    given: Option<u32>,
    /// Along which approved work goes.
    edge: Forward,
    /// On which the rejects of what comes back are counted.
    forward: Forward,
    /// Who had sent what the worker is to do again.
    sender: Option<Party>,
    /// Somebody who held the work was lost, and may yet be alive.
    has_lost_lease: bool,
    /// The handoff that goes on meanwhile.
    pub(crate) beside: Option<u32>,
    /// The handoff that there were too many questions about.
    about: Option<u32>,
    evidence: Evidence,
    approval: Option<Approval>,
    /// In seconds after it was opened.
    remind_after: i64,
    is_reminded: bool,
}

/// How much a gate stops.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stops {
    All,
    Nothing,
    /// All, until these checks have passed.
    Until(&'static [&'static str]),
}

impl Model {
    pub(crate) fn new(temper: Temper, focus: usize) -> Self {
        let runs = [Vec::new(), Vec::new(), Vec::new()];
        Self { runs, now: 0, said: Ok(()), swept: Swept::default(), temper, focus }
    }

    pub(crate) fn latest(&self, story: usize) -> Option<&Run> {
        self.runs[story].last()
    }

    /// Whether there is anything that the act could be done to.
    pub(crate) fn is_possible(&self, act: &Act) -> bool {
        !matches!(act.what, What::On(_)) || self.latest(act.story).is_some()
    }

    pub(crate) fn does(&mut self, act: &Act) {
        self.swept = Swept::default();
        self.said = match &act.what {
            What::Wait { seconds } => {
                self.now += seconds;
                Ok(())
            }
            What::Sweep => {
                self.sweep();
                Ok(())
            }
            What::Start { to } => self.start(act.story, *to),
            What::StartAt { step } => self.start_at(act.story, step),
            What::Create(create) => self.create(act.story, create),
            What::On(order) => self.on_run(act.story, |run| run.does(order)),
        };
    }

    /// Whether an order would be carried out.
    pub(crate) fn would(&self, story: usize, order: &Order) -> bool {
        self.clone().on_run(story, |run| run.does(order)).is_ok()
    }

    /// A command that is refused changes nothing.
    fn on_run(&mut self, story: usize, does: impl FnOnce(&mut Run) -> Said) -> Said {
        let Some(run) = self.runs[story].last_mut() else { return Err("no_such_run") };
        let mut changed = Run { now: self.now, ..run.clone() };
        does(&mut changed)?;
        *run = changed;
        Ok(())
    }

    fn start(&mut self, story: usize, to: Option<&'static str>) -> Said {
        let by_orchestrator = |to, parcel| Create {
            from: ORCHESTRATOR,
            to,
            parcel,
            serial: 0,
            outcome: None,
            supersedes: None,
            way: None,
            token: None,
            profile: Profile::Lenient,
        };
        match self.latest(story) {
            Some(run) if !run.is_finished() => {
                let Baton::Loose { at, other } = run.baton else { return Err("already_open") };
                let step = [at, other].into_iter().find(|it| run.flow.step(it).is_some());
                let agents = step.map_or_else(Vec::new, |it| run.flow.agents_at(it));
                let had_by = Some(run.had_by).filter(|it| agents.contains(it));
                let agent = had_by.or_else(|| agents.first().copied());
                let create = by_orchestrator(to.or(agent).unwrap_or(ORCHESTRATOR), Parcel::Nothing);
                self.on_run(story, |run| run.create(&create))
            }
            Some(_) | None => {
                let flow = flow_of(story);
                let to = to.unwrap_or(flow.agents_at(flow.start.to)[0]);
                self.begin(story, &by_orchestrator(to, Parcel::Story))
            }
        }
    }

    fn create(&mut self, story: usize, create: &Create) -> Said {
        let flow = flow_of(story);
        let is_first_edge =
            create.from == ORCHESTRATOR && flow.agents_at(flow.start.to).contains(&create.to);
        let said = match self.latest(story) {
            Some(run) if !run.is_finished() => self.on_run(story, |run| run.create(create)),
            Some(_) if !is_first_edge => Err("run_finished"),
            Some(_) | None => self.begin(story, create),
        };
        match said {
            // No way leads to somebody who does not exist: then that is the mistake.
            Err("not_an_edge") if !is_known(create.to) || !is_known(create.from) => {
                Err("unknown_agent")
            }
            said => said,
        }
    }

    fn begin(&mut self, story: usize, create: &Create) -> Said {
        // A run that is not there yet has nothing that could be superseded, or held.
        if create.supersedes.is_some() {
            return Err("finished");
        }
        if create.token.is_some() {
            return Err("stale_fence");
        }
        let mut run = self.fresh(story);
        run.take_up(create, ORCHESTRATOR, ORCHESTRATOR)?;
        self.runs[story].push(run);
        Ok(())
    }

    fn fresh(&self, story: usize) -> Run {
        Run {
            flow: flow_of(story),
            status: Status::Open,
            handoffs: Vec::new(),
            baton: Baton::Done,
            frames: Vec::new(),
            rounds: Vec::new(),
            counts: BTreeMap::new(),
            had_by: ORCHESTRATOR,
            visited: Vec::new(),
            passed: Vec::new(),
            n_blockers: 0,
            now: self.now,
        }
    }

    /// An operator hands a story in where they say, past every gate before it.
    fn start_at(&mut self, story: usize, step: &'static str) -> Said {
        match self.latest(story) {
            Some(run) if !run.is_finished() => {
                if !matches!(run.baton, Baton::Loose { .. }) {
                    return Err("already_open");
                }
                self.on_run(story, |run| run.start_at(step))
            }
            Some(_) | None => {
                let mut run = self.fresh(story);
                run.start_at(step)?;
                self.runs[story].push(run);
                Ok(())
            }
        }
    }

    fn sweep(&mut self) {
        for story in 0..N_STORIES {
            for handoff in self.open_in(story) {
                let no = handoff.no;
                let is_silent =
                    handoff.lease.is_some_and(|it| handoff.accepted_at + i64::from(it) <= self.now);
                if is_silent && self.on_run(story, |it| it.lose_lease(no, handoff.fence)).is_ok() {
                    self.swept.n_lost += 1;
                } else if self.on_run(story, |run| run.wake(no)).is_ok() {
                    self.swept.n_woken += 1;
                }
            }
            for Handoff { no, .. } in self.open_in(story) {
                if self.on_run(story, |run| run.expire(no)).is_ok() {
                    self.swept.n_expired += 1;
                } else if self.on_run(story, |run| run.remind(no)).is_ok() {
                    self.swept.n_reminded += 1;
                } else if self.on_run(story, |run| run.mark_stale(no)).is_ok() {
                    self.swept.n_stale += 1;
                }
            }
        }
    }

    /// What is open in the newest run of a story.
    fn open_in(&self, story: usize) -> Vec<Handoff> {
        self.latest(story).into_iter().flat_map(Run::open).cloned().collect()
    }
}

pub(crate) fn flow_of(story: usize) -> &'static Flow {
    [&PIPELINE, &SIDE_ROADS, &GATED][story]
}

pub(crate) fn is_known(agent: &str) -> bool {
    AGENTS.contains(&agent) || agent == ORCHESTRATOR || agent == HUMAN
}

fn orchestrator() -> Party {
    Party { agent: ORCHESTRATOR, place: ORCHESTRATOR }
}

fn human() -> Party {
    Party { agent: HUMAN, place: HUMAN }
}

fn only(allowed: &str, by: Option<&str>) -> Said {
    if by.is_none_or(|it| it == allowed) { Ok(()) } else { Err("not_yours") }
}

impl Handoff {
    /// What was recorded while the present holder had it.
    fn found_in_it(&self) -> Evidence {
        self.evidence.iter().filter(|(.., fence)| *fence == self.fence).copied().collect()
    }

    /// Whether a person may object to what goes on meanwhile.
    pub(crate) fn advises(&self) -> bool {
        self.gate.as_ref().is_some_and(|it| it.beside.is_some())
    }

    /// The handoff that a question, or a gate that stands for one, is about.
    pub(crate) fn about(&self) -> Option<u32> {
        self.about.or_else(|| self.gate.as_ref()?.about)
    }
}

impl Run {
    pub(crate) fn is_finished(&self) -> bool {
        matches!(self.status, Status::Completed | Status::Cancelled)
    }

    pub(crate) fn is_paused(&self) -> bool {
        self.status == Status::Paused
    }

    pub(crate) fn open(&self) -> impl Iterator<Item = &Handoff> {
        self.handoffs.iter().filter(|it| it.state != State::Ended)
    }

    /// What the baton rests on.
    pub(crate) fn current(&self) -> Option<&Handoff> {
        match self.baton {
            Baton::Offered(no) | Baton::Held(no) | Baton::Asked(no) | Baton::HeldBack(no) => {
                Some(self.row(no))
            }
            Baton::Loose { .. } | Baton::Done => None,
        }
    }

    pub(crate) fn row(&self, no: u32) -> &Handoff {
        &self.handoffs[no as usize - 1]
    }

    fn row_mut(&mut self, no: u32) -> &mut Handoff {
        &mut self.handoffs[no as usize - 1]
    }

    fn does(&mut self, order: &Order) -> Said {
        if order.no().is_some_and(|no| no == 0 || no as usize > self.handoffs.len()) {
            return Err("no_such_handoff");
        }
        if self.is_finished() {
            return Err("run_finished");
        }
        match order {
            Order::Accept { no, by, says, lease } => self.accept(*no, *by, *says, *lease),
            Order::Reject { no, by, fence } => self.reject(*no, *by, *fence),
            Order::Complete(complete) => self.complete(complete),
            Order::Cancel { no, by } => self.cancel_handoff(*no, *by),
            Order::TimeOut { no } => self.time_out(*no),
            Order::MarkStale { no } => self.mark_stale(*no),
            Order::Answer(answered) => self.answer(answered),
            Order::DelegateVote { no, by, to } => self.delegate_vote(*no, by, to),
            Order::Remind { no } => self.remind(*no),
            Order::Clarify { no, by, fence } => self.clarify(*no, *by, *fence),
            Order::Reply { no, by, fence } => self.reply(*no, *by, *fence),
            Order::Release { no, by, fence } => self.release(*no, *by, *fence),
            Order::Record { no, check, has_passed } => self.record(*no, check, *has_passed),
            Order::LoseLease { no, fence } => self.lose_lease(*no, *fence),
            Order::Wake { no } => self.wake(*no),
            Order::Expire { no } => self.expire(*no),
            Order::CleanUp => self.clean_up(),
            Order::Pause => self.pause(),
            Order::Resume => self.resume(),
            Order::CancelRun => self.cancel(),
            Order::Goto { step } => self.goto(step),
            Order::Skip => self.skip(),
        }
    }
}
