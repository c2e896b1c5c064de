//! Create, accept, complete and reject: how work goes from one to the next.

use baton_core::contract::Profile;
use baton_core::outcome::Outcome;

use super::{Baton, Cause, Gate, Handoff, Party, Rounds, Run, Said, State};
use crate::act::{Complete, Create};
use crate::flows::{Edge, HUMAN, ORCHESTRATOR, Parcel, Rejects, Step};

/// Finished work, whichever way its maker said so.
struct Work {
    parcel: Parcel,
    package: u32,
    outcome: Option<Outcome>,
    to: Option<&'static str>,
    profile: Profile,
}

/// Where work goes.
enum Way {
    Along(Edge, &'static str),
    Review(Edge, &'static str),
    ToOrchestrator,
    Past(Edge, &'static str),
    Again,
    Ask,
}

impl Run {
    pub(super) fn create(&mut self, create: &Create) -> Said {
        if let Some(no) = create.supersedes {
            let old = self.find_work(no)?;
            return match old.state {
                State::Pending => self.supersede(&old, create),
                State::Accepted | State::Ended => Err("already_accepted"),
            };
        }
        let open = self.open().cloned();
        match (self.baton(), open) {
            (Baton::Loose { at, other }, _) => {
                let is_concerned = create.from == ORCHESTRATOR
                    || [at, other].iter().any(|it| self.flow.agents_at(it).contains(&create.from));
                if create.profile == Profile::Strict && !is_concerned {
                    return Err("not_holder");
                }
                if self.is_paused() && create.from != ORCHESTRATOR {
                    return Err("paused");
                }
                self.take_up(create, at, other)
            }
            (Baton::Held(_), Some(held)) if held.to.agent == create.from => {
                self.finish(&held, &work_of(create))
            }
            (Baton::Offered(_), Some(offered)) => {
                if (offered.from.agent, offered.to.agent) == (create.from, create.to) {
                    Err("duplicate")
                } else if offered.to.agent == create.from {
                    self.finish(&offered, &work_of(create))
                } else {
                    Err("not_holder")
                }
            }
            (Baton::Parked(_), _) => Err("gate_open"),
            (Baton::Held(_) | Baton::Offered(_) | Baton::Done, _) => Err("not_holder"),
        }
    }

    /// Takes up a baton that nobody has, which lies at `at` or was on its way to `other`.
    pub(super) fn take_up(
        &mut self,
        create: &Create,
        at: &'static str,
        other: &'static str,
    ) -> Said {
        let sent = create.parcel.serial(create.serial);
        if create.from == ORCHESTRATOR && !self.handoffs.is_empty() {
            let is_there = |it: &&'static str| {
                self.flow.step(it).is_some_and(|step| step.agents.contains(&create.to))
            };
            if let Some(place) = [at, other].into_iter().find(|it| is_there(it)) {
                let better = (create.parcel != Parcel::Nothing).then_some(sent);
                self.offer_again(Party { agent: create.to, place }, better);
                return Ok(());
            }
        }
        let mut places = self.flow.places_of(create.from);
        // From where the baton lies, if that is possible at all.
        places.sort_by_key(|it| *it != at);
        let way = |place| Some((place, self.edge(place, create.to, create.outcome)?));
        let (place, edge) = places.into_iter().find_map(way).ok_or("not_an_edge")?;
        if !edge.takes(create.parcel, create.profile == Profile::Strict) {
            return Err("contract");
        }
        let from = Party { agent: create.from, place };
        self.visit(place);
        let to = Party { agent: create.to, place: edge.to };
        if edge.is_back {
            self.go_back(create, from, to);
            return Ok(());
        }
        self.offer("sequential", from, to, sent);
        let is_error = create.outcome.is_none() && create.parcel == Parcel::Error;
        self.finish_at(edge.to, is_error);
        Ok(())
    }

    /// What the sender of a pending handoff says instead of it.
    fn supersede(&mut self, old: &Handoff, create: &Create) -> Said {
        if create.from != old.from.agent {
            return Err("not_yours");
        }
        let edge = self.edge(old.from.place, create.to, create.outcome);
        let is_same_way = create.to == old.to.agent;
        if edge.is_none() && !is_same_way {
            return Err("not_an_edge");
        }
        if edge.is_some_and(|it| !it.takes(create.parcel, create.profile == Profile::Strict)) {
            return Err("contract");
        }
        self.end();
        let sent = create.parcel.serial(create.serial);
        match edge {
            Some(edge) if edge.is_back && !is_same_way => {
                self.go_back(create, old.from, Party { agent: create.to, place: edge.to });
            }
            Some(edge) if !is_same_way => {
                let to = Party { agent: create.to, place: edge.to };
                self.offer("sequential", old.from, to, sent).attempt = old.attempt;
                let is_error = create.outcome.is_none() && create.parcel == Parcel::Error;
                self.finish_at(edge.to, is_error);
            }
            Some(_) | None => {
                let new = self.offer(old.kind, old.from, old.to, sent);
                new.forward = old.forward;
                new.reject_to = old.reject_to;
                new.attempt = old.attempt;
            }
        }
        Ok(())
    }

    /// A create along a back edge counts, even where nothing is rejected for it.
    fn go_back(&mut self, create: &Create, from: Party, to: Party) {
        let sent = create.parcel.serial(create.serial);
        let before = self.newest_package();
        let forward = (to.place, from.place);
        match self.count(forward, to, create.parcel.findings()) {
            Some(cause) => self.ask_for(from, forward, cause, to, before, sent),
            None => self.offer("return", from, to, sent).forward = forward,
        }
    }

    pub(super) fn accept(&mut self, no: u32, by: Option<&'static str>) -> Said {
        let handoff = self.find_work(no)?;
        if handoff.state == State::Accepted {
            return Err("already_accepted");
        }
        only(handoff.to.agent, by)?;
        if self.is_paused() {
            return Err("paused");
        }
        self.take();
        Ok(())
    }

    pub(super) fn complete(&mut self, complete: &Complete) -> Said {
        let handoff = self.find_work(complete.no)?;
        only(handoff.to.agent, complete.by)?;
        let work = Work {
            parcel: complete.parcel,
            package: complete.parcel.serial(complete.serial),
            outcome: Some(complete.outcome),
            to: complete.to,
            profile: complete.profile,
        };
        self.finish(&handoff, &work)
    }

    fn finish(&mut self, handoff: &Handoff, work: &Work) -> Said {
        let step = self.flow.step(handoff.to.place).ok_or("wrong_state")?;
        let way = self.way(step, work)?;
        if handoff.state == State::Pending {
            let is_strict_way = match &way {
                Way::Along(edge, _) | Way::Review(edge, _) | Way::Past(edge, _) => edge.is_strict,
                Way::ToOrchestrator | Way::Again | Way::Ask => false,
            };
            if work.profile == Profile::Strict || is_strict_way {
                return Err("accept_first");
            }
            if self.is_paused() {
                return Err("paused");
            }
            self.take();
        }
        let worker = handoff.to;
        match way {
            Way::Along(edge, agent) => {
                if !edge.takes(work.parcel, work.profile == Profile::Strict) {
                    return Err("contract");
                }
                let to = Party { agent, place: edge.to };
                if edge.is_back {
                    self.send_back_with(handoff, to, work);
                } else {
                    self.end();
                    self.offer("sequential", worker, to, work.package);
                    self.finish_at(edge.to, false);
                }
            }
            Way::Review(edge, agent) => {
                if !edge.takes(work.parcel, work.profile == Profile::Strict) {
                    return Err("contract");
                }
                self.end();
                let to = Party { agent, place: edge.to };
                self.ask(handoff, Cause::Review, to, work.package, handoff.package);
            }
            Way::ToOrchestrator => {
                self.end();
                self.offer("sequential", worker, orchestrator(), work.package);
            }
            Way::Past(edge, agent) => {
                let is_blank = work.parcel == Parcel::Nothing;
                let package = if is_blank { handoff.package } else { work.package };
                self.end();
                self.offer("sequential", worker, Party { agent, place: edge.to }, package);
                self.finish_at(edge.to, false);
            }
            Way::Again if handoff.attempt <= self.flow.retries => {
                self.end();
                let again = self.offer(handoff.kind, handoff.from, worker, handoff.package);
                again.forward = handoff.forward;
                again.reject_to = handoff.reject_to;
                again.attempt = handoff.attempt + 1;
            }
            Way::Again | Way::Ask => {
                self.end();
                self.ask(handoff, Cause::Stuck, worker, work.package, handoff.package);
            }
        }
        Ok(())
    }

    fn way(&self, step: &'static Step, work: &Work) -> Result<Way, &'static str> {
        // A review is asked for on the way of good work; so is what was skipped passed on.
        let is_as_good = matches!(work.outcome, Some(Outcome::NeedsReview | Outcome::Skipped));
        let on = if is_as_good { Some(Outcome::Success) } else { work.outcome };
        let is_error = match work.outcome {
            Some(outcome) => matches!(outcome, Outcome::Failure | Outcome::Blocked),
            None => work.parcel == Parcel::Error,
        };
        let (edge, agent) = match work.to {
            Some(ORCHESTRATOR) if is_error => return Ok(Way::ToOrchestrator),
            Some(HUMAN) => {
                let is_good = matches!(work.outcome, Some(Outcome::Success | Outcome::NeedsReview));
                if !is_good {
                    return Ok(Way::Ask);
                }
                return match self.only_way(step, Outcome::Success) {
                    Some((edge, agent)) => Ok(Way::Review(edge, agent)),
                    None => Err("choose_receiver"),
                };
            }
            Some(to) => (self.edge(step.id, to, on).ok_or("not_an_edge")?, to),
            None => {
                let on = on.unwrap_or(Outcome::Success);
                let edges: Vec<&Edge> = step.edges.iter().filter(|it| it.on == on).collect();
                let agents: Vec<&'static str> =
                    edges.iter().flat_map(|it| self.flow.agents_at(it.to)).collect();
                match (on, edges.as_slice(), agents.as_slice()) {
                    (Outcome::Failure, [], _) => return Ok(Way::Again),
                    (Outcome::Blocked | Outcome::NeedsClarification, [], _) => return Ok(Way::Ask),
                    (_, [edge], [agent]) => (**edge, *agent),
                    _ => return Err("choose_receiver"),
                }
            }
        };
        match work.outcome {
            Some(Outcome::Skipped) if step.is_optional => Ok(Way::Past(edge, agent)),
            Some(Outcome::Skipped) => Err("not_optional"),
            Some(Outcome::NeedsReview) => Ok(Way::Review(edge, agent)),
            _ => Ok(Way::Along(edge, agent)),
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

    fn edge(&self, place: &str, to: &str, on: Option<Outcome>) -> Option<Edge> {
        let leads_there = |it: &&Edge| {
            self.flow.agents_at(it.to).contains(&to) && on.is_none_or(|outcome| outcome == it.on)
        };
        self.flow.edges_from(place).iter().find(leads_there).copied()
    }

    pub(super) fn reject(&mut self, no: u32, by: Option<&'static str>) -> Said {
        let handoff = self.find_work(no)?;
        only(handoff.to.agent, by)?;
        let to = match self.flow.step(handoff.to.place).map(|it| it.rejects) {
            Some(Rejects::Never) => return Err("reject_never"),
            Some(Rejects::To(step)) => Party { agent: self.flow.agents_at(step)[0], place: step },
            Some(Rejects::ToSender) | None => handoff.reject_to.unwrap_or(handoff.from),
        };
        self.end();
        let package = handoff.package;
        if let Some(cause) = self.count(handoff.forward, to, &[]) {
            self.ask(&handoff, cause, to, package, package);
        } else if to.place == HUMAN {
            self.ask(&handoff, Cause::Stuck, handoff.to, package, package);
        } else {
            self.offer("return", handoff.to, to, package).forward = handoff.forward;
        }
        Ok(())
    }

    /// A create along a back edge is a reject that brings its own package.
    fn send_back_with(&mut self, handoff: &Handoff, to: Party, work: &Work) {
        self.end();
        if let Some(cause) = self.count(handoff.forward, to, work.parcel.findings()) {
            self.ask(handoff, cause, to, handoff.package, work.package);
        } else {
            self.offer("return", handoff.to, to, work.package).forward = handoff.forward;
        }
    }

    /// Counts the round; tells why a person has to say how it goes on, if that is so.
    fn count(
        &mut self,
        edge: (&'static str, &'static str),
        to: Party,
        found: &'static [u8],
    ) -> Option<Cause> {
        let most = self.rounds_of(edge);
        let rounds = match self.rounds.iter_mut().find(|it| it.edge == edge) {
            Some(rounds) => rounds,
            None => {
                self.rounds.push(Rounds { edge, n_rejects: 0, n_extra: 0, findings: &[] });
                self.rounds.last_mut().expect("it was just put there")
            }
        };
        let is_same = !found.is_empty() && rounds.findings == found;
        rounds.n_rejects += 1;
        rounds.findings = found;
        let is_too_often = rounds.n_rejects > most + rounds.n_extra;
        // What goes to the orchestrator or a person is seen by a person anyway.
        self.flow.step(to.place)?;
        if is_too_often {
            return Some(Cause::Rounds);
        }
        is_same.then_some(Cause::SameFindings)
    }

    pub(super) fn rounds_of(&self, (from, to): (&str, &str)) -> u32 {
        let forward = self.flow.edges_from(from).iter().find(|it| it.to == to);
        let back = self.flow.edges_from(to).iter().find(|it| it.is_back && it.to == from);
        let said = |edge: Option<&Edge>| edge.and_then(|it| it.rounds);
        said(forward).or(said(back)).unwrap_or(self.flow.rounds)
    }

    fn ask(&mut self, about: &Handoff, cause: Cause, worker: Party, package: u32, given: u32) {
        self.ask_for(about.to, about.forward, cause, worker, package, given);
    }

    fn ask_for(
        &mut self,
        asker: Party,
        forward: (&'static str, &'static str),
        cause: Cause,
        worker: Party,
        package: u32,
        given: u32,
    ) {
        let human = Party { agent: HUMAN, place: HUMAN };
        let gate = self.offer("escalation", asker, human, package);
        gate.forward = forward;
        gate.gate = Some(Gate { cause, asker, worker, package, given });
    }

    /// Good work at the end ends the run; an error there does not.
    pub(super) fn finish_at(&mut self, place: &str, is_error: bool) {
        if place == ORCHESTRATOR && !is_error {
            self.status = super::Status::Completed;
        }
    }
}

fn work_of(create: &Create) -> Work {
    Work {
        parcel: create.parcel,
        package: create.parcel.serial(create.serial),
        outcome: create.outcome,
        to: Some(create.to),
        profile: create.profile,
    }
}

pub(super) fn orchestrator() -> Party {
    Party { agent: ORCHESTRATOR, place: ORCHESTRATOR }
}

fn only(allowed: &str, by: Option<&str>) -> Said {
    if by.is_none_or(|it| it == allowed) { Ok(()) } else { Err("not_yours") }
}
