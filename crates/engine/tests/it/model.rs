//! A run as the rules of the design describe it, in the plainest way there is: a list of
//! handoffs, from which everything else is read. It shares no code with `baton_core::decide`.
//!
//! Where several refusals would be true, the model says the one that comes first in this order:
//! the run is over, the handoff is over, a person is asked, it is not yours, the workflow knows
//! no such way, the handoff is in the wrong state, the package does not keep the contract.

mod answers;
mod control;
mod work;

use baton_core::contract::Profile;

use crate::act::{Act, Create, Order, What};
use crate::flows::{Flow, HUMAN, ORCHESTRATOR, PIPELINE, Parcel, SIDE_ROADS};
use crate::random::Temper;

/// What a command is answered: it was done, or the code of the refusal.
pub(crate) type Said = Result<(), &'static str>;

/// Two stories, each with the runs it has had.
#[derive(Debug, Clone)]
pub(crate) struct Model {
    runs: [Vec<Run>; 2],
    /// Minutes since the beginning.
    now: i64,
    /// What the last act was answered.
    pub(crate) said: Said,
    /// How many handoffs the last act marked as stale, if it was a sweep.
    pub(crate) n_swept: u32,
    pub(crate) temper: Temper,
}

#[derive(Debug, Clone)]
pub(crate) struct Run {
    pub(crate) flow: &'static Flow,
    status: Status,
    pub(crate) handoffs: Vec<Handoff>,
    rounds: Vec<Rounds>,
    visited: Vec<&'static str>,
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
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Baton {
    Offered(u32),
    Held(u32),
    Parked(u32),
    Loose { at: &'static str, other: &'static str },
    Done,
}

#[derive(Debug, Clone)]
pub(crate) struct Handoff {
    pub(crate) no: u32,
    kind: &'static str,
    pub(crate) from: Party,
    pub(crate) to: Party,
    state: State,
    was_accepted: bool,
    /// The edge on which its rejects are counted.
    forward: (&'static str, &'static str),
    /// Who gets it back, where that is not its sender.
    reject_to: Option<Party>,
    attempt: u32,
    /// The serial of its package.
    package: u32,
    created_at: i64,
    accepted_at: i64,
    is_stale: bool,
    pub(crate) gate: Option<Gate>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Party {
    pub(crate) agent: &'static str,
    pub(crate) place: &'static str,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Pending,
    Accepted,
    Ended,
}

#[derive(Debug, Clone)]
pub(crate) struct Gate {
    cause: Cause,
    asker: Party,
    worker: Party,
    package: u32,
    given: u32,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Cause {
    /// The work went back too often.
    Rounds,
    /// It went back twice for the same.
    SameFindings,
    /// The step cannot go on by itself.
    Stuck,
    Review,
}

impl Gate {
    pub(crate) fn why(&self) -> &'static str {
        match self.cause {
            Cause::Rounds => "too often",
            Cause::SameFindings => "the same again",
            Cause::Stuck => "stuck",
            Cause::Review => "to be reviewed",
        }
    }
}

#[derive(Debug, Clone)]
struct Rounds {
    edge: (&'static str, &'static str),
    n_rejects: u32,
    n_extra: u32,
    findings: &'static [u8],
}

impl Model {
    pub(crate) fn new(temper: Temper) -> Self {
        Self { runs: [Vec::new(), Vec::new()], now: 0, said: Ok(()), n_swept: 0, temper }
    }

    pub(crate) fn latest(&self, story: usize) -> Option<&Run> {
        self.runs[story].last()
    }

    /// Whether there is anything that the act could be done to.
    pub(crate) fn is_possible(&self, act: &Act) -> bool {
        !matches!(act.what, What::On(_)) || self.latest(act.story).is_some()
    }

    pub(crate) fn does(&mut self, act: &Act) {
        self.n_swept = 0;
        self.said = match &act.what {
            What::Wait { minutes } => {
                self.now += minutes;
                Ok(())
            }
            What::Sweep => {
                self.sweep();
                Ok(())
            }
            What::Start { to } => self.start(act.story, *to),
            What::Create(create) => self.create(act.story, create),
            What::On(order) => self.on_run(act.story, |run| run.does(order)),
        };
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
            profile: Profile::Lenient,
        };
        match self.latest(story) {
            Some(run) if !run.is_finished() => {
                let Baton::Loose { at, other } = run.baton() else { return Err("already_open") };
                let step = [at, other].into_iter().find(|it| run.flow.step(it).is_some());
                let agent = step.and_then(|it| run.flow.agents_at(it).first().copied());
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
        match self.latest(story) {
            Some(run) if !run.is_finished() => self.on_run(story, |run| run.create(create)),
            Some(_) if !is_first_edge => Err("run_finished"),
            Some(_) | None => self.begin(story, create),
        }
    }

    fn begin(&mut self, story: usize, create: &Create) -> Said {
        // A run that is not there yet has nothing that could be superseded.
        if create.supersedes.is_some() {
            return Err("finished");
        }
        let mut run = Run {
            flow: flow_of(story),
            status: Status::Open,
            handoffs: Vec::new(),
            rounds: Vec::new(),
            visited: Vec::new(),
            now: self.now,
        };
        run.take_up(create, ORCHESTRATOR, ORCHESTRATOR)?;
        self.runs[story].push(run);
        Ok(())
    }

    fn sweep(&mut self) {
        for story in 0..self.runs.len() {
            let open = self.latest(story).and_then(Run::open).map(|it| it.no);
            let Some(no) = open else { continue };
            if self.on_run(story, |run| run.mark_stale(no)).is_ok() {
                self.n_swept += 1;
            }
        }
    }
}

pub(crate) fn flow_of(story: usize) -> &'static Flow {
    [&PIPELINE, &SIDE_ROADS][story]
}

impl Run {
    /// The baton follows from the handoffs: the newest one is where it went last.
    pub(crate) fn baton(&self) -> Baton {
        if self.is_finished() {
            return Baton::Done;
        }
        let Some(last) = self.handoffs.last() else { return Baton::Done };
        let (from, to) = (last.from.place, last.to.place);
        match last.state {
            State::Pending if last.gate.is_some() => Baton::Parked(last.no),
            State::Pending => Baton::Offered(last.no),
            State::Accepted => Baton::Held(last.no),
            State::Ended if last.was_accepted => Baton::Loose { at: to, other: from },
            State::Ended => Baton::Loose { at: from, other: to },
        }
    }

    pub(crate) fn is_finished(&self) -> bool {
        matches!(self.status, Status::Completed | Status::Cancelled)
    }

    pub(crate) fn is_paused(&self) -> bool {
        self.status == Status::Paused
    }

    /// No run has more than one open handoff: that is what a baton means.
    pub(crate) fn open(&self) -> Option<&Handoff> {
        self.handoffs.last().filter(|it| it.state != State::Ended && !self.is_finished())
    }

    fn does(&mut self, order: &Order) -> Said {
        if order.no().is_some_and(|no| no == 0 || no as usize > self.handoffs.len()) {
            return Err("no_such_handoff");
        }
        if self.is_finished() {
            return Err("run_finished");
        }
        match order {
            Order::Accept { no, by } => self.accept(*no, *by),
            Order::Reject { no, by } => self.reject(*no, *by),
            Order::Complete(complete) => self.complete(complete),
            Order::Cancel { no, by } => self.cancel_handoff(*no, *by),
            Order::TimeOut { no } => self.time_out(*no),
            Order::MarkStale { no } => self.mark_stale(*no),
            Order::CleanUp => self.clean_up(),
            Order::Answer { no, answer } => self.answer(*no, answer),
            Order::Pause => self.pause(),
            Order::Resume => self.resume(),
            Order::CancelRun => self.cancel(),
            Order::Goto { step } => self.goto(step),
            Order::Skip => self.skip(),
        }
    }

    /// The open handoff of that number, whatever it is.
    fn find(&self, no: u32) -> Result<Handoff, &'static str> {
        self.open().filter(|it| it.no == no).cloned().ok_or("finished")
    }

    /// The open handoff of that number, if it is anybody's but a person's.
    fn find_work(&self, no: u32) -> Result<Handoff, &'static str> {
        let handoff = self.find(no)?;
        if handoff.gate.is_some() { Err("gate_open") } else { Ok(handoff) }
    }

    fn last_mut(&mut self) -> &mut Handoff {
        self.handoffs.last_mut().expect("a run begins with a handoff")
    }

    fn end(&mut self) {
        self.last_mut().state = State::Ended;
    }

    fn take(&mut self) {
        let now = self.now;
        let last = self.last_mut();
        last.state = State::Accepted;
        last.was_accepted = true;
        last.accepted_at = now;
        last.is_stale = false;
        let place = last.to.place;
        self.visit(place);
    }

    fn visit(&mut self, place: &'static str) {
        if self.flow.step(place).is_some() && !self.visited.contains(&place) {
            self.visited.push(place);
        }
    }

    /// A new handoff. The orchestrator takes what it is given at once.
    fn offer(&mut self, kind: &'static str, from: Party, to: Party, package: u32) -> &mut Handoff {
        let is_taken = to.agent == ORCHESTRATOR;
        self.handoffs.push(Handoff {
            no: self.handoffs.len() as u32 + 1,
            kind,
            from,
            to,
            state: if is_taken { State::Ended } else { State::Pending },
            was_accepted: is_taken,
            forward: (from.place, to.place),
            reject_to: None,
            attempt: 1,
            package,
            created_at: self.now,
            accepted_at: self.now,
            is_stale: false,
            gate: None,
        });
        self.last_mut()
    }

    /// The orchestrator gives a place again what it was last given, or something better.
    fn offer_again(&mut self, to: Party, better: Option<u32>) {
        let from = Party { agent: ORCHESTRATOR, place: ORCHESTRATOR };
        let last = self.handoffs.iter().rev().find(|it| it.to.place == to.place).cloned();
        let Some(last) = last else {
            let package = better.unwrap_or_else(|| self.newest_package());
            self.offer("sequential", from, to, package);
            return;
        };
        let sender = last.reject_to.unwrap_or(last.from);
        let again = self.offer("sequential", from, to, better.unwrap_or(last.package));
        again.forward = last.forward;
        again.reject_to = (sender.place != ORCHESTRATOR).then_some(sender);
    }

    fn newest_package(&self) -> u32 {
        self.handoffs.last().map_or(0, |it| it.package)
    }

    /// Everything that anybody can see of a run, on one line.
    pub(crate) fn shows(&self) -> String {
        let status = match self.status {
            Status::Open => "open",
            Status::Paused => "paused",
            Status::Completed => "completed",
            Status::Cancelled => "cancelled",
        };
        let (baton, agent) = match self.baton() {
            Baton::Offered(_) => ("offered", self.open().map(|it| it.to.agent)),
            Baton::Held(_) => ("held", self.open().map(|it| it.to.agent)),
            Baton::Parked(_) => ("parked", Some(HUMAN)),
            Baton::Loose { .. } => ("loose", None),
            Baton::Done => ("done", None),
        };
        let place = match self.baton() {
            Baton::Loose { at, other } => format!("{at}/{other}"),
            Baton::Offered(_) | Baton::Held(_) | Baton::Parked(_) | Baton::Done => String::new(),
        };
        let open = self.open().map_or_else(String::new, |it| {
            let state = if it.state == State::Pending { "pending" } else { "accepted" };
            let stale = if it.is_stale { " stale" } else { "" };
            format!(
                "HO-{:03} {}@{}→{}@{} {state} {} try {} package {}{stale}",
                it.no,
                it.from.agent,
                it.from.place,
                it.to.agent,
                it.to.place,
                it.kind,
                it.attempt,
                it.package
            )
        });
        let rounds: Vec<String> = self
            .rounds
            .iter()
            .map(|it| format!("{}→{} {}+{}", it.edge.0, it.edge.1, it.n_rejects, it.n_extra))
            .collect();
        let visited = self.visited.join(" ");
        format!(
            "{status}; {baton} {place}; {}; [{open}]; [{}]; [{visited}]; {} handoffs",
            agent.unwrap_or("nobody"),
            rounds.join(", "),
            self.handoffs.len()
        )
    }
}
