//! Create: by whoever has the baton, by whoever takes it up, by whoever thinks better of it.

use baton_core::command::Way;
use baton_core::contract::Profile;
use baton_core::outcome::Outcome;

use super::along::Leg;
use super::counts::{Comes, comes_along};
use super::{Baton, Cause, Handoff, Kind, Party, Run, Said, State};
use crate::act::Create;
use crate::flows::{Contract, ORCHESTRATOR, Parcel};

impl Run {
    pub(super) fn create(&mut self, create: &Create) -> Said {
        if let Some(no) = create.supersedes {
            if no == 0 || no as usize > self.handoffs.len() {
                return Err("finished");
            }
            return self.supersede(no, create);
        }
        let no = match self.baton {
            Baton::Asked(_) => return Err("gate_open"),
            Baton::Done => return Err("not_holder"),
            Baton::Loose { at, other } => return self.pick_up(create, at, other),
            Baton::Offered(no) | Baton::HeldBack(no) | Baton::Held(no) => no,
        };
        let current = self.row(no).clone();
        let is_held = matches!(self.baton, Baton::Held(_));
        if !is_held && (current.from.agent, current.to.agent) == (create.from, create.to) {
            return Err("duplicate");
        }
        // Whoever has asked has to wait.
        if current.to.agent == create.from && current.state != State::Clarification {
            return self.hand_on(&current, create);
        }
        let waits = |it: &u32| self.row(*it).to.agent == create.from;
        if self.frames.iter().any(waits) { Err("frame_open") } else { Err("not_holder") }
    }

    fn pick_up(&mut self, create: &Create, at: &'static str, other: &'static str) -> Said {
        // Nobody holds anything: whoever says so has lost it.
        if create.token.is_some() {
            return Err("stale_fence");
        }
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

    /// Takes up a baton that nobody has, which lies at `at` or was on its way to `other`.
    pub(super) fn take_up(
        &mut self,
        create: &Create,
        at: &'static str,
        other: &'static str,
    ) -> Said {
        match create.way {
            // These are for who holds something.
            Some(Way::Delegation | Way::Escalation | Way::Return) => return Err("not_holder"),
            Some(Way::Sequential) | None => {}
        }
        let sent = create.parcel.serial(create.serial);
        if create.from == ORCHESTRATOR && !self.handoffs.is_empty() {
            let is_there = |it: &&'static str| {
                self.flow.step(it).is_some_and(|step| step.agents.contains(&create.to))
            };
            if let Some(place) = [at, other].into_iter().find(|it| is_there(it)) {
                self.check_gates(place)?;
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
        // Whoever was lost there may be who says this: only the orchestrator offers it again.
        let is_lost = self.last_given(place).is_some_and(|it| it.has_lost_lease);
        if is_lost && create.from != ORCHESTRATOR {
            return Err("not_holder");
        }
        self.check_gates(place)?;
        if !edge.takes(create.parcel, create.profile == Profile::Strict) {
            return Err("contract");
        }
        let from = Party { agent: create.from, place };
        self.visit(place);
        self.is_back_at(place);
        // Taken up from further back, the work went back, as if it had been rejected.
        let last =
            self.last_given(at).filter(|_| !edge.is_back && self.is_always_before(place, at));
        if let Some(forward) = last.map(|it| it.forward)
            && let Some(cause) = self.count_again(forward)
        {
            let asker = Party { agent: self.flow.agents_at(at)[0], place: at };
            let before = self.newest_package();
            self.ask_from(asker, forward, cause, from, before, Some(sent));
            return Ok(());
        }
        let to = Party { agent: create.to, place: edge.to };
        if edge.is_back {
            self.go_back(create, from, to);
        } else {
            let is_error = create.outcome.is_none() && create.parcel == Parcel::Error;
            let comes = comes_along(&edge, create.parcel.findings());
            let comes = comes.filter(|_| create.from != ORCHESTRATOR);
            self.pass(edge.gate, Leg { is_error, comes, ..Leg::new(from, to, Some(sent)) }, &[]);
        }
        Ok(())
    }

    /// What the sender of a pending handoff says instead of it.
    fn supersede(&mut self, no: u32, create: &Create) -> Said {
        let old = self.find_endable(no)?;
        if matches!(old.state, State::Accepted | State::Parked) {
            return Err("already_accepted");
        }
        if create.from != old.from.agent {
            return Err("not_yours");
        }
        if self.caller_of(no).is_some() {
            return self.supersede_inside(&old, create);
        }
        let is_same_way = create.to == old.to.agent;
        let edge = match self.edge(old.from.place, create.to, create.outcome) {
            // It goes where it went, whatever it is called.
            None if is_same_way => self.edge(old.from.place, create.to, None),
            edge => edge,
        };
        if edge.is_none() && !is_same_way {
            return Err("not_an_edge");
        }
        if !is_same_way {
            self.check_gates(old.from.place)?;
        }
        if edge.is_some_and(|it| !it.takes(create.parcel, create.profile == Profile::Strict)) {
            return Err("contract");
        }
        self.end(no);
        if !is_same_way {
            self.is_back_at(old.from.place);
        }
        let sent = Some(create.parcel.serial(create.serial));
        match edge {
            Some(edge) if edge.is_back && !is_same_way => {
                self.go_back(create, old.from, Party { agent: create.to, place: edge.to });
            }
            Some(edge) if !is_same_way => {
                let to = Party { agent: create.to, place: edge.to };
                let is_error = create.outcome.is_none() && create.parcel == Parcel::Error;
                let comes = comes_along(&edge, create.parcel.findings());
                let leg = Leg { comes, ..Leg::new(old.from, to, sent) };
                self.pass(edge.gate, Leg { attempt: old.attempt, is_error, ..leg }, &[]);
            }
            edge => {
                // A correction counts once the receiver has held the work or asked about it.
                let is_begun = old.fence > 0 || old.n_questions > 0;
                let comes = match edge {
                    Some(edge) => comes_along(&edge, create.parcel.findings()),
                    None => Some(Comes::Again(&[])),
                };
                let is_step = self.flow.step(old.to.place).is_some();
                let is_counted = is_begun && is_step && old.from.agent != ORCHESTRATOR;
                let comes = comes.filter(|_| is_counted);
                let leg = Leg {
                    comes,
                    forward: old.forward,
                    edge: old.forward,
                    counted: old.forward,
                    reject_to: old.reject_to,
                    attempt: old.attempt,
                    has_lost_lease: old.has_lost_lease,
                    kind: old.kind,
                    ..Leg::new(old.from, old.to, sent)
                };
                // What was given back did not come along the edge.
                let came_along = old.kind == Kind::Sequential;
                let gate = self.gate_on(old.forward, old.to).filter(|_| came_along);
                self.pass(gate, leg, &[]);
            }
        }
        Ok(())
    }

    /// A caller says better what it wants, or a delegate what it found: to the same, no other.
    fn supersede_inside(&mut self, old: &Handoff, create: &Create) -> Said {
        if create.to != old.to.agent {
            let is_edge = self.edge(old.from.place, create.to, create.outcome).is_some();
            return Err(if is_edge { "frame_open" } else { "not_an_edge" });
        }
        let contract = match old.kind {
            Kind::Return if old.brings != Some(Outcome::Success) => Contract::None,
            Kind::Return => self.listed(old.to, old.from.agent).returns,
            Kind::Sequential | Kind::Delegation | Kind::Escalation | Kind::Question => {
                self.listed(old.from, old.to.agent).contract
            }
        };
        if !contract.takes(create.parcel, create.profile == Profile::Strict) {
            return Err("contract");
        }
        self.end(old.no);
        let sent = Some(create.parcel.serial(create.serial));
        let new = self.offer(old.kind, old.from, old.to, sent);
        new.forward = old.forward;
        new.attempt = old.attempt;
        new.brings = old.brings;
        new.has_lost_lease = old.has_lost_lease;
        // No step counts what is corrected in here.
        new.n_questions = old.n_questions;
        new.n_releases = old.n_releases;
        Ok(())
    }

    /// A create along a back edge counts, even where nothing is rejected for it.
    fn go_back(&mut self, create: &Create, from: Party, to: Party) {
        let sent = Some(create.parcel.serial(create.serial));
        let before = self.newest_package();
        let forward = (to.place, from.place);
        match self.count(forward, to, create.parcel.findings()) {
            Some(cause) => self.ask_from(from, forward, cause, to, before, sent),
            None => {
                let comes = Some(Comes::Again(create.parcel.findings()));
                let kind = Kind::Return;
                self.send(Leg { kind, forward, comes, ..Leg::new(from, to, sent) });
            }
        }
    }

    /// As [`Self::ask`], where there is no handoff that could be asked about.
    fn ask_from(
        &mut self,
        asker: Party,
        forward: (&'static str, &'static str),
        cause: Cause,
        worker: Party,
        package: Option<u32>,
        given: Option<u32>,
    ) {
        let leg = Leg { counted: forward, ..Leg::new(asker, worker, package) };
        let gate = self.stop(&leg, cause, super::Stops::All);
        gate.given = given;
    }
}
