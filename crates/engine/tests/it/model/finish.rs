//! Work is done, or a part of it is for somebody else: complete, and create by who has it.

use baton_core::command::Way;
use baton_core::contract::Profile;
use baton_core::outcome::Outcome;

use super::along::Leg;
use super::counts::comes_along;
use super::frames::{DEEPEST, check};
use super::{Cause, Handoff, Kind, Party, Run, Said, State, is_known, only, orchestrator};
use crate::act::{Complete, Create};
use crate::flows::{Contract, Edge, EdgeGate, HUMAN, ORCHESTRATOR, Parcel, Step, is_delegate};

/// What somebody does with a handoff that it has, whichever way it said so.
pub(super) struct Work {
    pub(super) parcel: Parcel,
    pub(super) package: u32,
    outcome: Option<Outcome>,
    to: Option<&'static str>,
    way: Option<Way>,
    /// How it ended, for whoever waits for it.
    brings: Outcome,
    pub(super) profile: Profile,
    /// Only who creates can mean a delegate.
    is_create: bool,
}

/// Where work goes.
enum Route {
    Along(Edge, &'static str),
    Review(Edge, &'static str),
    ToOrchestrator,
    Past(Edge, &'static str),
    Again,
    Ask(Cause),
    Delegate(&'static str),
    Escalate,
    Bring,
}

type Found = Result<Route, &'static str>;

impl Run {
    pub(super) fn complete(&mut self, complete: &Complete) -> Said {
        let handoff = self.find_work(complete.no)?;
        only(handoff.to.agent, complete.by)?;
        Self::check_fence(&handoff, complete.fence)?;
        let work = Work {
            parcel: complete.parcel,
            package: complete.parcel.serial(complete.serial),
            outcome: Some(complete.outcome),
            to: complete.to,
            way: None,
            brings: complete.outcome,
            profile: complete.profile,
            is_create: false,
        };
        self.finish(&handoff, &work)
    }

    /// A create by who has the baton.
    pub(super) fn hand_on(&mut self, handoff: &Handoff, create: &Create) -> Said {
        match create.token {
            Some((no, _)) if no != handoff.no => return Err("stale_fence"),
            Some((_, fence)) => Self::check_fence(handoff, Some(fence))?,
            None => Self::check_fence(handoff, None)?,
        }
        let work = Work {
            parcel: create.parcel,
            package: create.parcel.serial(create.serial),
            outcome: create.outcome,
            to: Some(create.to),
            way: create.way,
            brings: brought(create),
            profile: create.profile,
            is_create: true,
        };
        self.finish(handoff, &work)
    }

    fn finish(&mut self, named: &Handoff, work: &Work) -> Said {
        // What comes back to a caller is taken by going on with the work that it belongs to.
        let own = match self.caller_of(named.no) {
            Some(caller) if named.kind == Kind::Return => caller.no,
            Some(_) | None => named.no,
        };
        let route = self.enough_help(self.row(own), self.route(self.row(own), work)?);
        match named.state {
            State::Parked => return Err("frame_open"),
            State::Clarification | State::Ended => return Err("wrong_state"),
            State::Pending => self.take_unsaid(named, &route, work)?,
            State::Accepted => {}
        }
        let handoff = &self.row(own).clone();
        let is_deeper = matches!(route, Route::Delegate(_) | Route::Escalate);
        if is_deeper && self.frames.len() >= DEEPEST {
            return Err("too_deep");
        }
        match route {
            Route::Delegate(agent) => self.delegate(handoff, agent, work),
            Route::Escalate => self.escalate(handoff, work),
            Route::Bring => self.bring(handoff, work.brings, work),
            Route::Along(edge, agent) => self.goes_along(handoff, edge, agent, work),
            Route::Review(edge, agent) => self.asks_for_review(handoff, edge, agent, work),
            Route::ToOrchestrator => {
                check(Contract::Error, work)?;
                self.end(handoff.no);
                let sent = Some(work.package);
                self.offer(Kind::Sequential, handoff.to, orchestrator(), sent);
                Ok(())
            }
            Route::Past(edge, agent) => {
                let is_blank = work.parcel == Parcel::Nothing;
                let package = if is_blank { handoff.package } else { Some(work.package) };
                self.end(handoff.no);
                let leg = Leg::new(handoff.to, Party { agent, place: edge.to }, package);
                let comes = comes_along(&edge, &[]);
                let leg = Leg { counted: handoff.forward, comes, ..leg };
                self.pass(edge.gate, leg, &handoff.found_in_it());
                Ok(())
            }
            Route::Again if handoff.attempt <= self.flow.retries => {
                self.advise_on_next(handoff.no);
                self.end(handoff.no);
                let again = self.offer(handoff.kind, handoff.from, handoff.to, handoff.package);
                again.forward = handoff.forward;
                again.reject_to = handoff.reject_to;
                again.attempt = handoff.attempt + 1;
                again.has_lost_lease = handoff.has_lost_lease;
                again.came_back = handoff.came_back;
                Ok(())
            }
            Route::Again => self.is_stuck(handoff, Cause::Failure, work),
            Route::Ask(cause) => {
                if cause == Cause::Blocked {
                    check(Contract::Blocked, work)?;
                }
                self.is_stuck(handoff, cause, work)
            }
        }
    }

    /// Who is blocked again goes to a person, once somebody has helped.
    fn enough_help(&self, handoff: &Handoff, route: Route) -> Route {
        let is_helped = self.count_of(handoff.to.place).n_helped >= 1;
        if let Route::Along(edge, _) = &route
            && edge.on == Outcome::Blocked
            && is_helped
        {
            return Route::Ask(Cause::Blocked);
        }
        route
    }

    /// Whoever hands on what it never took has taken it by that, if nobody is strict about it.
    fn take_unsaid(&mut self, handoff: &Handoff, route: &Route, work: &Work) -> Said {
        let is_strict_way = match route {
            Route::Along(edge, _) | Route::Review(edge, _) | Route::Past(edge, _) => edge.is_strict,
            Route::ToOrchestrator | Route::Again | Route::Ask(_) => false,
            Route::Delegate(_) | Route::Escalate | Route::Bring => false,
        };
        if work.profile == Profile::Strict || is_strict_way {
            return Err("accept_first");
        }
        self.check_time(handoff.no)?;
        if self.is_paused() {
            return Err("paused");
        }
        if self.caller_of(handoff.no).is_some() && handoff.kind == Kind::Return {
            self.end(handoff.no);
            self.close_frame();
        } else {
            self.take(handoff.no);
        }
        Ok(())
    }

    fn goes_along(
        &mut self,
        handoff: &Handoff,
        edge: Edge,
        agent: &'static str,
        work: &Work,
    ) -> Said {
        if !edge.takes(work.parcel, work.profile == Profile::Strict) {
            return Err("contract");
        }
        // What contradicts itself keeps no contract; where there is none, the linter says so.
        let is_linted = work.profile == Profile::Strict && edge.contract == Contract::None;
        if is_linted && edge.on == Outcome::Success && work.parcel == Parcel::Contradiction {
            return Err("lint");
        }
        let to = Party { agent, place: edge.to };
        if edge.is_back {
            self.send_back(handoff, to, work);
        } else {
            self.end(handoff.no);
            let leg = Leg::new(handoff.to, to, Some(work.package));
            let comes = comes_along(&edge, work.parcel.findings());
            let leg = Leg { counted: handoff.forward, comes, ..leg };
            self.pass(edge.gate, leg, &handoff.found_in_it());
        }
        Ok(())
    }

    fn asks_for_review(
        &mut self,
        handoff: &Handoff,
        edge: Edge,
        agent: &'static str,
        work: &Work,
    ) -> Said {
        if !edge.takes(work.parcel, work.profile == Profile::Strict) {
            return Err("contract");
        }
        self.end(handoff.no);
        let worker = Party { agent, place: edge.to };
        let cause = match edge.gate {
            Some(EdgeGate::Blocking | EdgeGate::Approved(_) | EdgeGate::Automatic(_)) => {
                Cause::Declared
            }
            Some(EdgeGate::Advisory) | None => Cause::NeedsReview,
        };
        let gate = self.ask(handoff, cause, worker, Some(work.package), handoff.package);
        gate.sender = None;
        // Whoever was lost was lost here, and not where the work goes.
        gate.has_lost_lease = false;
        gate.asks_people(edge.gate);
        Ok(())
    }

    fn is_stuck(&mut self, handoff: &Handoff, cause: Cause, work: &Work) -> Said {
        self.end(handoff.no);
        self.ask(handoff, cause, handoff.to, Some(work.package), handoff.package);
        if cause == Cause::Blocked {
            let gate = self.handoffs.last_mut().expect("somebody was just asked");
            gate.from = orchestrator();
            self.n_blockers += if work.parcel == Parcel::Blockers { 3 } else { 1 };
        }
        Ok(())
    }

    fn route(&self, handoff: &Handoff, work: &Work) -> Found {
        let (place, to) = (handoff.to.place, work.to);
        if work.way == Some(Way::Delegation) {
            let to = to.ok_or("not_an_edge")?;
            if [HUMAN, ORCHESTRATOR, handoff.to.agent].contains(&to) {
                return Err("not_an_edge");
            }
            return if is_known(to) { Ok(Route::Delegate(to)) } else { Err("unknown_agent") };
        }
        if work.way == Some(Way::Escalation) {
            return if to == Some(HUMAN) { Ok(Route::Escalate) } else { Err("not_an_edge") };
        }
        if is_delegate(place) {
            return self.route_of_delegate(handoff, work);
        }
        if work.way == Some(Way::Return) {
            return Err("not_in_frame");
        }
        let step = self.flow.step(place).ok_or("not_an_edge")?;
        let is_listed =
            |to| to != handoff.to.agent && step.delegates.iter().any(|it| it.agent == to);
        match to {
            Some(to) if work.is_create && work.way.is_none() && is_listed(to) => {
                Ok(Route::Delegate(to))
            }
            Some(HUMAN) if work.way == Some(Way::Sequential) => Err("not_an_edge"),
            Some(HUMAN) => self.route_to_person(step, work),
            Some(_) | None => self.route_of_step(step, work),
        }
    }

    /// A delegate has nobody but its caller, its own delegates, and people.
    fn route_of_delegate(&self, handoff: &Handoff, work: &Work) -> Found {
        let caller = self.caller_of(handoff.no).expect("a delegate has a caller").to.agent;
        match (work.way, work.to) {
            (None, None) => Ok(Route::Bring),
            (None | Some(Way::Return), Some(to)) if to == caller => Ok(Route::Bring),
            (None, Some(HUMAN)) => Ok(Route::Escalate),
            (_, _) => Err("not_an_edge"),
        }
    }

    fn route_to_person(&self, step: &'static Step, work: &Work) -> Found {
        match work.outcome {
            Some(Outcome::Success | Outcome::NeedsReview) => self.route_to_review(step),
            None if work.parcel == Parcel::Gate => self.route_to_review(step),
            None | Some(Outcome::Skipped) => Ok(Route::Escalate),
            Some(Outcome::Failure | Outcome::Unknown) => Ok(Route::Ask(Cause::Failure)),
            Some(Outcome::Blocked) => Ok(Route::Ask(Cause::Blocked)),
            Some(Outcome::NeedsClarification) => Ok(Route::Ask(Cause::NeedsClarification)),
        }
    }

    fn route_to_review(&self, step: &'static Step) -> Found {
        let (edge, agent) = self.only_way(step, Outcome::Success).ok_or("choose_receiver")?;
        Ok(Route::Review(edge, agent))
    }

    fn route_of_step(&self, step: &'static Step, work: &Work) -> Found {
        // A review is asked for on the way of good work; so is what was skipped passed on.
        let is_as_good = matches!(work.outcome, Some(Outcome::NeedsReview | Outcome::Skipped));
        let on = if is_as_good { Some(Outcome::Success) } else { work.outcome };
        let is_error = match work.outcome {
            Some(outcome) => outcome == Outcome::Failure,
            None => work.parcel == Parcel::Error,
        };
        // The agent that would have got good work cannot help one that is stopped.
        let is_stop = |it: &Outcome| matches!(it, Outcome::Blocked | Outcome::NeedsClarification);
        let stopped = work.outcome.filter(is_stop);
        let is_for_nobody = |to| {
            let leads = |on| self.edge(step.id, to, on).is_some();
            to == ORCHESTRATOR || (!leads(stopped) && leads(None))
        };
        let (edge, agent) = match work.to.filter(|to| stopped.is_none() || !is_for_nobody(*to)) {
            Some(ORCHESTRATOR) if is_error => return Ok(Route::ToOrchestrator),
            Some(to) => (self.edge(step.id, to, on).ok_or("not_an_edge")?, to),
            None => {
                let on = on.unwrap_or(Outcome::Success);
                let has_edge = step.edges.iter().any(|it| it.on == on);
                if !has_edge && on == Outcome::Failure {
                    return Ok(Route::Again);
                }
                if !has_edge && on == Outcome::Blocked {
                    return Ok(Route::Ask(Cause::Blocked));
                }
                if !has_edge && on == Outcome::NeedsClarification {
                    return Ok(Route::Ask(Cause::NeedsClarification));
                }
                self.only_way(step, on).ok_or("choose_receiver")?
            }
        };
        match work.outcome {
            Some(Outcome::Skipped) if step.is_optional => Ok(Route::Past(edge, agent)),
            Some(Outcome::Skipped) => Err("not_optional"),
            Some(Outcome::NeedsReview) => Ok(Route::Review(edge, agent)),
            _ => Ok(Route::Along(edge, agent)),
        }
    }

    fn only_way(&self, step: &'static Step, on: Outcome) -> Option<(Edge, &'static str)> {
        let edges: Vec<&Edge> = step.edges.iter().filter(|it| it.on == on).collect();
        let agents: Vec<&'static str> =
            edges.iter().flat_map(|it| self.flow.agents_at(it.to)).collect();
        match (edges.as_slice(), agents.as_slice()) {
            ([edge], [agent]) => Some((**edge, *agent)),
            _ => None,
        }
    }

    pub(super) fn edge(&self, place: &str, to: &str, on: Option<Outcome>) -> Option<Edge> {
        let leads_there = |it: &&Edge| {
            self.flow.agents_at(it.to).contains(&to) && on.is_none_or(|outcome| outcome == it.on)
        };
        self.flow.edges_from(place).iter().find(leads_there).copied()
    }
}

/// How work ended that is given back, where its maker need not say so.
fn brought(create: &Create) -> Outcome {
    match create.outcome {
        Some(outcome) => outcome,
        None if create.parcel == Parcel::Error => Outcome::Failure,
        None => Outcome::Success,
    }
}
