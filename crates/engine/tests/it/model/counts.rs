//! Every cycle ends: how often work comes to a step, what it was sent back for, and how many parts
//! are given away. Counted on the rows and the places, without a table.

use baton_core::gate::Answer;
use baton_core::outcome::Outcome;

use super::along::Leg;
use super::{Baton, Cause, Forward, Gate, Kind, Party, Run, human};
use crate::flows::{Edge, ORCHESTRATOR};

/// How work comes to a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Comes {
    Onward,
    /// To be done again, because of these lines.
    Again(&'static [u8]),
    /// Because its sender is blocked.
    ToHelp,
}

/// What is known of a step, since a person last decided about it.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Count {
    pub(super) n: u32,
    /// What it found when it last sent work back.
    findings: &'static [u8],
    /// How often in a row somebody was to help it.
    pub(super) n_helped: u32,
}

/// How work comes to where an edge leads.
pub(super) fn comes_along(edge: &Edge, found: &'static [u8]) -> Option<Comes> {
    match edge.on {
        _ if edge.to == ORCHESTRATOR => None,
        Outcome::Blocked => Some(Comes::ToHelp),
        Outcome::Failure => Some(Comes::Again(found)),
        Outcome::Success
        | Outcome::NeedsReview
        | Outcome::NeedsClarification
        | Outcome::Skipped
        | Outcome::Unknown => Some(if edge.is_back { Comes::Again(found) } else { Comes::Onward }),
    }
}

impl Run {
    pub(super) fn count_of(&self, place: &'static str) -> Count {
        self.counts.get(place).copied().unwrap_or_default()
    }

    /// Why a person has to say whether this may go on, if that is so.
    pub(super) fn enough(&self, leg: &Leg) -> Option<Cause> {
        let comes = leg.comes?;
        let step = self.flow.step(leg.to.place)?;
        if self.count_of(step.id).n >= step.entries {
            return Some(Cause::Entries);
        }
        match comes {
            Comes::Again(found) if !found.is_empty() => {
                let is_same = self.count_of(leg.from.place).findings == found;
                is_same.then_some(Cause::SameFindings)
            }
            Comes::Onward | Comes::Again(_) | Comes::ToHelp => None,
        }
    }

    pub(super) fn count_entry(&mut self, from: &'static str, to: &'static str, comes: Comes) {
        if self.flow.step(to).is_some() {
            self.counts.entry(to).or_default().n += 1;
        }
        if self.flow.step(from).is_none() {
            return;
        }
        let sender = self.counts.entry(from).or_default();
        match comes {
            Comes::Onward => (sender.findings, sender.n_helped) = (&[], 0),
            Comes::Again(found) => (sender.findings, sender.n_helped) = (found, 0),
            Comes::ToHelp => sender.n_helped += 1,
        }
    }

    /// A person is asked instead of what was about to be sent.
    pub(super) fn ask_at_limit(&mut self, leg: &Leg, cause: Cause) {
        let is_again = matches!(leg.comes, Some(Comes::Again(_)));
        let (asker, package) = if is_again {
            let had = self.last_given(leg.from.place).and_then(|it| it.package);
            (leg.from, had.or_else(|| self.newest_package()))
        } else {
            (self.who_sent_back(leg.from.place).unwrap_or(leg.from), leg.package)
        };
        let no = self.put(Kind::Escalation, leg.from, human(), package).no;
        self.baton = Baton::Asked(no);
        self.row_mut(no).gate = Some(Gate {
            cause,
            stops: super::Stops::All,
            asker,
            worker: leg.to,
            package,
            given: leg.package,
            edge: leg.edge,
            forward: leg.forward,
            sender: Some(leg.from),
            has_lost_lease: leg.has_lost_lease,
            beside: None,
            about: None,
            evidence: Vec::new(),
            approval: None,
            remind_after: Gate::usual_reminder(),
            is_reminded: false,
        });
    }

    /// Whoever wanted the work done again that led here.
    fn who_sent_back(&self, from: &'static str) -> Option<Party> {
        let mut place = from;
        for _ in self.flow.steps {
            let last = self.last_given(place)?;
            let sender = last.reject_to.unwrap_or(last.from);
            if last.is_again {
                return self.flow.step(sender.place).map(|_| sender);
            }
            place = sender.place;
        }
        None
    }

    /// A person's word lets what it is about begin anew; where something went round, all of that.
    pub(super) fn counts_anew(&mut self, gate: &Gate, answer: &Answer) {
        if *answer == Answer::Abort {
            return;
        }
        let is_circle = matches!(gate.cause, Cause::Rounds | Cause::SameFindings | Cause::Entries);
        let (from, to): Forward = gate.forward;
        let sides = [gate.worker.place, gate.asker.place, from, to];
        let about = if is_circle { &sides[..] } else { &sides[..1] };
        let flow = self.flow;
        let is_round = |step: &'static str| {
            let turns = |it: &&'static str| {
                flow.step(it).is_some() && flow.comes_to(it, step) && flow.comes_to(step, it)
            };
            is_circle && about.iter().any(turns)
        };
        self.counts.retain(|step, _| !about.contains(step) && !is_round(step));
        if gate.cause == Cause::Delegations
            && let Some(outermost) = self.frames.first().copied()
        {
            self.row_mut(outermost).n_parts = 0;
        }
    }
}
