//! How work goes forward: through the gate that the edge has, if it has one; and how a person
//! comes to be asked.

use super::counts::Comes;
use super::{
    Baton, Cause, Evidence, Forward, Gate, Handoff, Kind, Party, Run, State, Stops, human,
    orchestrator,
};
use crate::flows::{EdgeGate, HUMAN, ORCHESTRATOR};

/// What is to go from one to the other.
pub(super) struct Leg {
    pub(super) from: Party,
    pub(super) to: Party,
    pub(super) package: Option<u32>,
    pub(super) forward: Forward,
    /// On which a gate in its way stands.
    pub(super) edge: Forward,
    /// On which it is counted if a person stops it and its sender will not have it back.
    pub(super) counted: Forward,
    pub(super) reject_to: Option<Party>,
    pub(super) attempt: u32,
    pub(super) has_lost_lease: bool,
    pub(super) kind: Kind,
    /// It goes to the end, and the run does not end by it.
    pub(super) is_error: bool,
    /// Where somebody's work comes to a step by it.
    pub(super) comes: Option<Comes>,
}

impl Leg {
    pub(super) fn new(from: Party, to: Party, package: Option<u32>) -> Self {
        let forward = (from.place, to.place);
        let kind = Kind::Sequential;
        Self {
            from,
            to,
            package,
            forward,
            edge: forward,
            counted: forward,
            reject_to: None,
            attempt: 1,
            has_lost_lease: false,
            kind,
            is_error: false,
            comes: None,
        }
    }
}

impl Run {
    /// Sends work on, or asks first. `evidence` is what was found while its sender held it.
    pub(super) fn pass(
        &mut self,
        gate: Option<EdgeGate>,
        leg: Leg,
        evidence: &[(&'static str, bool, u32)],
    ) {
        // Whatever goes through a gate goes from where the gate stands.
        if gate.is_some() {
            self.is_back_at(leg.edge.0);
        }
        match gate {
            None => self.send(leg),
            // An error is no work that anybody could approve.
            Some(_) if leg.is_error && leg.to.agent == ORCHESTRATOR => self.send(leg),
            Some(EdgeGate::Automatic(checks)) if have_passed(checks, evidence) => {
                self.passes(leg.edge);
                self.send(leg);
            }
            Some(EdgeGate::Automatic(checks)) => {
                let gate = self.stop(&leg, Cause::Checks, Stops::Until(checks));
                gate.evidence = evidence.to_vec();
            }
            Some(EdgeGate::Blocking | EdgeGate::Approved(_)) => {
                let asked = self.stop(&leg, Cause::Declared, Stops::All);
                asked.evidence = evidence.to_vec();
                asked.asks_people(gate);
            }
            Some(EdgeGate::Advisory) if self.enough(&leg).is_some() => self.send(leg),
            Some(EdgeGate::Advisory) => {
                let advisory = self.put(Kind::Escalation, leg.from, human(), leg.package).no;
                let gate = gate_before(&leg, Cause::Declared, Stops::Nothing);
                let beside = Some(advisory + 1);
                self.row_mut(advisory).gate = Some(Gate { beside, ..gate });
                self.send(leg);
                // The orchestrator has it already: there is nothing left to object to.
                if self.row(advisory + 1).state == State::Ended {
                    self.row_mut(advisory).state = State::Ended;
                }
            }
        }
    }

    pub(super) fn send(&mut self, leg: Leg) {
        if let Some(cause) = self.enough(&leg) {
            self.ask_at_limit(&leg, cause);
            return;
        }
        let is_first = self.handoffs.is_empty();
        if let Some(comes) = leg.comes.or(is_first.then_some(Comes::Onward)) {
            self.count_entry(leg.from.place, leg.to.place, comes);
        }
        let handoff = self.offer(leg.kind, leg.from, leg.to, leg.package);
        handoff.forward = leg.forward;
        handoff.reject_to = leg.reject_to;
        handoff.attempt = leg.attempt;
        handoff.has_lost_lease = leg.has_lost_lease;
        handoff.is_again = matches!(leg.comes, Some(Comes::Again(_)));
        self.finish_at(leg.to.place, leg.is_error);
    }

    pub(super) fn stop(&mut self, leg: &Leg, cause: Cause, stops: Stops) -> &mut Gate {
        let no = self.put(Kind::Escalation, leg.from, human(), leg.package).no;
        self.baton = Baton::Asked(no);
        let gate = gate_before(leg, cause, stops);
        self.shuts(&gate);
        self.row_mut(no).gate.insert(gate)
    }

    /// The checks of an automatic gate have all passed: the work goes on.
    pub(super) fn open_if_passed(&mut self, no: u32) {
        let Some(gate) = self.row(no).gate.clone() else { return };
        let Stops::Until(checks) = gate.stops else { return };
        if have_passed(checks, &gate.evidence) {
            self.end(no);
            self.goes_past(&gate, gate.package, Some(Comes::Onward));
        }
    }

    /// What a gate stopped goes on after all.
    pub(super) fn approved(&mut self, gate: &Gate, package: Option<u32>) {
        self.goes_past(gate, package, None);
    }

    fn goes_past(&mut self, gate: &Gate, package: Option<u32>, comes: Option<Comes>) {
        self.opens(gate);
        // Nothing at the end is a step.
        let comes = comes.filter(|_| gate.worker.agent != ORCHESTRATOR);
        let leg = Leg { comes, ..Leg::new(gate.asker, gate.worker, package) };
        self.send(Leg { forward: gate.edge, has_lost_lease: gate.has_lost_lease, ..leg });
    }

    /// The gate of the edge along which a handoff came to its receiver.
    pub(super) fn gate_on(&self, forward: Forward, to: Party) -> Option<EdgeGate> {
        let (from, end) = forward;
        // What came back did not come along the edge on which it is counted.
        if end != to.place {
            return None;
        }
        let edge = self.flow.edges_from(from).iter().find(|it| it.to == end && !it.is_back);
        edge.and_then(|it| it.gate)
    }

    /// The orchestrator gives a place again what it was last given, or something better.
    pub(super) fn offer_again(&mut self, to: Party, better: Option<u32>) {
        let Some(last) = self.last_given(to.place).cloned() else {
            let package = better.or_else(|| self.newest_package());
            self.offer(Kind::Sequential, orchestrator(), to, package);
            return;
        };
        let sender = last.reject_to.unwrap_or(last.from);
        let leg = Leg {
            forward: last.forward,
            edge: last.forward,
            counted: last.forward,
            reject_to: (sender.place != ORCHESTRATOR).then_some(sender),
            has_lost_lease: last.has_lost_lease,
            ..Leg::new(orchestrator(), to, better.or(last.package))
        };
        // What the place has had already has been looked at already.
        let gate = better.and_then(|_| self.gate_on(last.forward, to));
        self.pass(gate, leg, &[]);
        let is_back = last.came_back || last.kind == Kind::Return;
        if let Some(again) = self.handoffs.last_mut().filter(|it| it.to == to) {
            again.came_back = is_back;
        }
    }

    /// The last handoff that brought `place` work to do, and not only the answer of a delegate,
    /// a person's answer, or a question.
    pub(super) fn last_given(&self, place: &str) -> Option<&Handoff> {
        let is_work = |it: &Handoff| match it.kind {
            Kind::Sequential | Kind::Delegation | Kind::Escalation => true,
            Kind::Return => it.brings.is_none(),
            Kind::Question => false,
        };
        self.handoffs.iter().rev().find(|it| it.to.place == place && is_work(it))
    }

    /// Asks a person about a handoff, which its receiver is stuck with.
    pub(super) fn ask(
        &mut self,
        about: &Handoff,
        cause: Cause,
        worker: Party,
        package: Option<u32>,
        given: Option<u32>,
    ) -> &mut Gate {
        let no = self.put(Kind::Escalation, about.to, human(), package).no;
        self.baton = Baton::Asked(no);
        self.row_mut(no).gate.insert(Gate {
            cause,
            stops: Stops::All,
            asker: about.to,
            worker,
            package,
            given,
            edge: (about.to.place, worker.place),
            forward: about.forward,
            sender: Some(about.reject_to.unwrap_or(about.from)),
            has_lost_lease: about.has_lost_lease || cause == Cause::LostLease,
            beside: None,
            about: None,
            evidence: Vec::new(),
            approval: None,
            remind_after: Gate::usual_reminder(),
            is_reminded: false,
        })
    }
}

/// The gate that a workflow declares on the way of a leg.
fn gate_before(leg: &Leg, cause: Cause, stops: Stops) -> Gate {
    Gate {
        cause,
        stops,
        // What the orchestrator only gives again is somebody else's.
        asker: leg.reject_to.filter(|it| it.agent != HUMAN).unwrap_or(leg.from),
        worker: leg.to,
        package: leg.package,
        given: leg.package,
        edge: leg.edge,
        forward: leg.counted,
        sender: None,
        has_lost_lease: leg.has_lost_lease,
        beside: None,
        about: None,
        evidence: Evidence::new(),
        approval: None,
        remind_after: Gate::usual_reminder(),
        is_reminded: false,
    }
}

fn have_passed(checks: &[&str], evidence: &[(&'static str, bool, u32)]) -> bool {
    checks.iter().all(|check| evidence.iter().any(|(it, passed, _)| it == check && *passed))
}
