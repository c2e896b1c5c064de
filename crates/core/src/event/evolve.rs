//! What each event does to a run.

use jiff::Timestamp;

use super::{
    ChecksEvent, ContentEvent, Created, Event, EvidenceEvent, FileEvent, FrameEvent, GateEvent,
    HandoffEvent, LeaseEvent, QuestionEvent, RunEvent, StepEntry, StepEvent, UsageEvent,
};
use crate::checked_work::CheckedWork;
use crate::evidence::{self, Evidence};
use crate::gate::{Gate, GateCause, GateEdge, GateKind};
use crate::names::Principal;
use crate::run::{
    Baton, Branch, Frame, Given, Handoff, HandoffNo, Kind, Run, RunStatus, State, Wait,
};
use crate::workflow::Place;

/// Applies `event` to `run`.
pub fn evolve(run: &mut Run, event: &Event, at: Timestamp) {
    let is_no_move = matches!(
        event,
        Event::Handoff(HandoffEvent::Stale { is_no_move: true, .. })
            | Event::Gate(GateEvent::Reminded { .. })
            | Event::Content(_)
            | Event::File(_)
    );
    if !is_no_move {
        run.moved_at = at;
    }
    match event {
        Event::Run(event) => run.on_run(event),
        Event::Step(event) => run.on_step(event),
        Event::Handoff(event) => run.on_handoff(event, at),
        Event::Question(QuestionEvent::Asked { handoff, question, .. }) => {
            run.ask(*handoff, *question);
        }
        Event::Question(QuestionEvent::Answered { handoff, .. }) => run.go_on_waiting(*handoff, at),
        Event::Frame(FrameEvent::Opened { caller, is_delegation }) => {
            if *is_delegation {
                run.count_delegation(*caller);
            }
            run.park(*caller);
        }
        Event::Frame(FrameEvent::Closed { caller, .. }) => run.unpark(*caller, at),
        Event::Lease(LeaseEvent::Granted { handoff, seconds, .. }) => {
            run.set_lease(*handoff, Some(*seconds));
        }
        Event::Lease(LeaseEvent::Lost { handoff, .. } | LeaseEvent::Released { handoff, .. }) => {
            run.set_lease(*handoff, None);
        }
        Event::Gate(event) => run.on_gate(event, at),
        Event::Evidence(EvidenceEvent::Recorded {
            handoff, check, verdict, fence, ran, ..
        }) => {
            let is_observed = ran.is_some();
            let newest =
                Evidence { check: check.clone(), verdict: *verdict, fence: *fence, is_observed };
            run.see(*handoff, newest);
        }
        Event::Checks(ChecksEvent::Requested { handoff, work }) => run.await_checks(*handoff, work),
        Event::Blocker(event) => run.on_blocker(event),
        Event::Message(event) => run.on_message(event),
        Event::Decision(event) => run.on_decision(event),
        Event::Context(event) => run.on_context(event, at),
        Event::Branch(event) => run.on_branch(event),
        Event::Content(ContentEvent::Redacted { text, .. }) => {
            run.decision_salt = run.decision_salt.filter(|it| it != text);
        }
        Event::Content(ContentEvent::Expired { .. }) => {}
        Event::Usage(UsageEvent::Recorded { agent, step, from, usage, .. }) => {
            run.spend(agent, step.as_ref(), from.as_ref(), *usage);
        }
        Event::File(FileEvent::Sent { handoff, fence, n_bytes, .. }) => {
            run.count_file(*handoff, *fence, *n_bytes);
        }
    }
}

impl Run {
    fn on_run(&mut self, event: &RunEvent) {
        match event {
            // `replay` and `decide` create the run from it.
            RunEvent::Started { has_gates, has_checks, .. } => {
                self.record_gates(*has_gates, *has_checks);
            }
            RunEvent::Adopted { by } => self.visit(&by.place),
            RunEvent::Paused { .. } => self.status = RunStatus::Paused,
            RunEvent::Resumed => self.status = RunStatus::Open,
            RunEvent::Cancelled { .. } => self.end(RunStatus::Cancelled),
            RunEvent::Completed => self.end(RunStatus::Completed),
            RunEvent::BatonLoose { at, other, meant_for, branch } => {
                let (at, other, meant_for) = (at.clone(), other.clone(), meant_for.clone());
                self.set_baton(*branch, Baton::Loose { at, other, meant_for });
            }
            RunEvent::SignalPassed => self.is_passed = true,
            RunEvent::SignalMerged { commit } => {
                self.is_merged = true;
                self.merge_commit = commit.clone().or_else(|| self.merge_commit.take());
            }
        }
    }

    fn on_step(&mut self, event: &StepEvent) {
        match event {
            StepEvent::Started { step, .. } => self.visit(&Place::Step(step.clone())),
            StepEvent::Completed { .. } | StepEvent::Skipped { .. } => {}
            StepEvent::RoundCounted { forward, findings, branch } => {
                self.count_round(*branch, forward, *findings);
            }
        }
    }

    fn on_handoff(&mut self, event: &HandoffEvent, at: Timestamp) {
        match event {
            HandoffEvent::Created(created) => self.open(created, at),
            HandoffEvent::Accepted { handoff, holder, .. } => {
                self.take(*handoff, holder.clone(), at);
            }
            HandoffEvent::Rejected { handoff, forward, findings, .. } => {
                let branch = self.branch_of(*handoff);
                let tree = self.handoff(*handoff).and_then(|it| it.tree.clone());
                self.close(*handoff);
                self.count_round(branch, forward, *findings);
                self.note_tree(branch, forward, tree);
            }
            HandoffEvent::Released { handoff, is_counted, .. } => {
                self.count_releases(*handoff, u32::from(*is_counted));
                self.put_back(*handoff, at);
            }
            HandoffEvent::Woken { handoff } => self.wake(*handoff),
            HandoffEvent::Stale { handoff, .. } => {
                if let Some(handoff) = self.handoff_mut(*handoff) {
                    handoff.is_stale = true;
                }
            }
            HandoffEvent::Completed { handoff, .. }
            | HandoffEvent::TimedOut { handoff, .. }
            | HandoffEvent::Cancelled { handoff, .. }
            | HandoffEvent::Superseded { handoff, .. } => self.close(*handoff),
        }
    }

    fn on_gate(&mut self, event: &GateEvent, at: Timestamp) {
        match event {
            GateEvent::Opened { handoff, gate } => self.open_gate(*handoff, gate),
            GateEvent::Answered { handoff, answer, n_extra, resets, decisions, .. } => {
                self.grant(*handoff, *n_extra);
                self.count_anew(self.branch_of(*handoff), resets);
                self.open_declared(*handoff, answer);
                self.answer_decisions(*handoff, decisions.as_deref());
            }
            GateEvent::Approved { .. }
            | GateEvent::Delegated { .. }
            | GateEvent::Reminded { .. } => self.on_approval(event, at),
            GateEvent::Passed { edge, on, branch, .. } => {
                if let Some(on) = *on {
                    let (from, to) = (edge.from.clone(), edge.to.clone());
                    self.pass_gate(*branch, &GateEdge { from, to, on });
                }
            }
            GateEvent::Waived { gates, branch, .. } => {
                gates.iter().for_each(|it| self.pass_gate(*branch, it));
            }
            GateEvent::Lost { gates, branch } => {
                gates.iter().for_each(|it| self.lose_gate(*branch, it));
            }
            GateEvent::Carried { gates, branch } => self.carry_gates(*branch, gates),
        }
    }

    fn set_lease(&mut self, no: HandoffNo, seconds: Option<u32>) {
        if let Some(handoff) = self.handoff_mut(no) {
            handoff.lease = seconds;
        }
    }
}

impl Run {
    fn open(&mut self, created: &Created, at: Timestamp) {
        self.n_handoffs = created.handoff.0;
        self.record_shown(created);
        self.record_author(created);
        let about = match created.kind {
            Kind::Question => created.follows,
            Kind::Sequential | Kind::Delegation | Kind::Escalation | Kind::Return => None,
        };
        self.handoffs.push(Handoff {
            no: created.handoff,
            id: created.id,
            branch: created.branch,
            kind: created.kind,
            from: created.from.clone(),
            to: created.to.clone(),
            state: State::Pending,
            package: created.package,
            forward: created.forward.clone(),
            reject_to: created.reject_to.clone(),
            attempt: created.attempt,
            fence: 0,
            created_at: at,
            working_since: None,
            is_stale: false,
            gate: None,
            waiting_since: None,
            holder: None,
            held_back_until: created.held_back_until,
            lease: None,
            has_lost_lease: created.has_lost_lease,
            question: None,
            about,
            asks: about.map(|_| created.reason),
            n_questions: created.n_questions,
            brings: created.brings,
            evidence: Vec::new(),
            detour: None,
            checks: None,
            failure: created.failure,
            lost_output: created.lost_output,
            tree: created.tree.clone(),
        });
        self.count_releases(created.handoff, created.n_releases);
        match created.kind {
            // It is beside the handoff in question: the baton does not move.
            Kind::Question => self.turn_to(about, created.handoff),
            Kind::Sequential | Kind::Delegation | Kind::Escalation | Kind::Return => {
                self.pass(created);
            }
        }
    }

    fn pass(&mut self, created: &Created) {
        self.enter(created);
        if created.package.is_some() {
            match self.branch_mut(created.branch).filter(|it| it.no != 0) {
                Some(branch) => branch.package = created.package,
                None => self.package = created.package,
            }
        }
        self.give(created);
        let handoff = created.handoff;
        self.set_baton(
            created.branch,
            match created.held_back_until {
                Some(_) => Baton::Parked { handoff, on: Wait::Timer },
                None => Baton::Offered { handoff },
            },
        );
        // An advisory gate on a lost attempt moves to the next attempt.
        if created.attempt > 1 {
            for gate in self.handoffs.iter_mut().filter_map(|it| it.gate.as_mut()) {
                let moves = gate.cause != GateCause::Permission;
                if moves && gate.beside.is_some() && gate.beside == created.follows {
                    gate.beside = Some(handoff);
                }
            }
        }
    }

    /// The newest question about a handoff is the one whose answer it waits for.
    fn turn_to(&mut self, about: Option<HandoffNo>, question: HandoffNo) {
        if let Some(handoff) = about.and_then(|it| self.handoff_mut(it))
            && handoff.state == State::Clarification
        {
            handoff.question = Some(question);
        }
    }

    fn ask(&mut self, no: HandoffNo, question: HandoffNo) {
        let Some(handoff) = self.handoff_mut(no) else { return };
        let (is_gate, branch) = (handoff.gate.is_some(), handoff.branch);
        if handoff.state == State::Accepted {
            handoff.fence += 1;
        }
        handoff.state = State::Clarification;
        handoff.working_since = None;
        handoff.lease = None;
        handoff.held_back_until = None;
        handoff.is_stale = false;
        handoff.n_questions += 1;
        handoff.question = Some(question);
        if !is_gate {
            self.set_baton(branch, Baton::Offered { handoff: no });
        }
    }

    /// The question is answered: the handoff waits for its receiver again.
    fn go_on_waiting(&mut self, no: HandoffNo, at: Timestamp) {
        let Some(handoff) = self.handoff_mut(no) else { return };
        handoff.state = State::Pending;
        handoff.question = None;
        handoff.waiting_since = Some(at);
        if handoff.gate.is_none() {
            let branch = handoff.branch;
            self.set_baton(branch, Baton::Offered { handoff: no });
        }
    }

    fn put_back(&mut self, no: HandoffNo, at: Timestamp) {
        let Some(handoff) = self.handoff_mut(no) else { return };
        handoff.state = State::Pending;
        handoff.fence += 1;
        handoff.holder = None;
        handoff.lease = None;
        handoff.working_since = None;
        handoff.is_stale = false;
        handoff.waiting_since = Some(at);
        if handoff.kind != Kind::Question && handoff.checks.is_none() {
            let branch = handoff.branch;
            self.set_baton(branch, Baton::Offered { handoff: no });
        }
    }

    fn wake(&mut self, no: HandoffNo) {
        if let Some(handoff) = self.handoff_mut(no) {
            handoff.held_back_until = None;
        }
        self.set_baton(self.branch_of(no), Baton::Offered { handoff: no });
    }

    fn park(&mut self, no: HandoffNo) {
        if let Some(handoff) = self.handoff_mut(no) {
            handoff.state = State::Parked;
            handoff.lease = None;
            handoff.is_stale = false;
        }
        let branch = self.branch_of(no);
        self.frames.push(Frame { caller: no, branch });
    }

    fn unpark(&mut self, no: HandoffNo, at: Timestamp) {
        if let Some(handoff) = self.handoff_mut(no) {
            handoff.state = State::Accepted;
            handoff.fence += 1;
            handoff.working_since = Some(at);
        }
        self.drop_frames(no);
        self.set_baton(self.branch_of(no), Baton::Held { handoff: no });
    }

    /// Drops the frame of this caller, and all that were opened inside it.
    fn drop_frames(&mut self, caller: HandoffNo) {
        let Some(depth) = self.frames.iter().position(|it| it.caller == caller) else { return };
        let branch = self.frames[depth].branch;
        let around = self.frames[..depth].to_vec();
        self.frames.retain(|it| it.branch != branch || around.contains(it));
    }

    fn see(&mut self, no: HandoffNo, newest: Evidence) {
        let Some(handoff) = self.handoff_mut(no) else { return };
        match &mut handoff.gate {
            Some(gate) => evidence::record(&mut gate.evidence, newest),
            None => evidence::record(&mut handoff.evidence, newest),
        }
    }

    /// The baton rests with the checks, whichever runner runs them.
    fn await_checks(&mut self, no: HandoffNo, work: &CheckedWork) {
        if let Some(handoff) = self.handoff_mut(no) {
            handoff.checks = Some(Box::new(work.clone()));
        }
        let branch = self.branch_of(no);
        self.set_baton(branch, Baton::Parked { handoff: no, on: Wait::Checks });
        // As before a gate: what an earlier package has passed, this one has not.
        self.lose_gate(branch, &work.edge);
    }

    fn open_gate(&mut self, no: HandoffNo, gate: &Gate) {
        if gate.kind != GateKind::Advisory {
            let branch = self.branch_of(no);
            self.set_baton(branch, Baton::Parked { handoff: no, on: Wait::Person });
            // Work before a gate has not passed it, whatever happened earlier.
            if let Some(edge) = &gate.edge {
                self.lose_gate(branch, edge);
            }
        }
        // The program of the holder waits, and the work stays with it.
        if let (GateCause::Permission, Some(handoff)) = (gate.cause, gate.beside) {
            self.set_baton(self.branch_of(no), Baton::Held { handoff });
        }
        if let Some(handoff) = self.handoff_mut(no) {
            handoff.gate = Some(gate.clone());
        }
    }

    fn give(&mut self, created: &Created) {
        let Place::Step(step) = &created.to.place else { return };
        // A delegate's result is not the step's input.
        if created.brings.is_some() {
            return;
        }
        let mut given = Given::new(
            step.clone(),
            created.package,
            created.reject_to.as_ref().unwrap_or(&created.from).clone(),
            &created.forward,
            created.has_lost_lease,
        );
        given.is_rework = matches!(created.entry, Some(StepEntry::Rework { .. }));
        given.rework_reason = created.rework_reason;
        given.branch = created.branch;
        let is_same = |it: &&mut Given| it.step == *step && it.branch == created.branch;
        match self.given.iter_mut().find(is_same) {
            Some(before) => *before = given,
            None => self.given.push(given),
        }
    }

    fn take(&mut self, no: HandoffNo, holder: Option<Principal>, at: Timestamp) {
        let Some(handoff) = self.handoff_mut(no) else { return };
        handoff.holder = holder;
        handoff.state = State::Accepted;
        handoff.fence += 1;
        handoff.working_since = Some(at);
        handoff.is_stale = false;
        handoff.held_back_until = None;
        if handoff.kind != Kind::Question && handoff.checks.is_none() {
            let branch = handoff.branch;
            self.set_baton(branch, Baton::Held { handoff: no });
        }
    }

    fn close(&mut self, no: HandoffNo) {
        self.handoffs.retain(|it| it.no != no);
        self.forget_handoff(no);
        self.drop_frames(no);
    }

    fn end(&mut self, status: RunStatus) {
        self.status = status;
        self.handoffs.clear();
        self.frames.clear();
        self.blockers.clear();
        self.asks.clear();
        self.forget_handoffs();
        let passed = self.branches.first_mut().and_then(|it| it.passed.take());
        self.branches = vec![Branch::trunk(Baton::Done, passed)];
        self.leave_fork();
    }

    fn visit(&mut self, place: &Place) {
        if let Place::Step(step) = place
            && !self.visited.contains(step)
        {
            self.visited.push(step.clone());
        }
    }

    pub(super) fn handoff_mut(&mut self, no: HandoffNo) -> Option<&mut Handoff> {
        self.handoffs.iter_mut().find(|it| it.no == no)
    }
}
