//! Gates that need the approvals of several people: who may answer, votes that are passed on, and the
//! reminder.

use baton_core::gate::Answer;

use super::{Gate, Run, Said, State};
use crate::flows::{Approvers, EdgeGate};

/// Everybody in the plays is called this by the engine, and so made every package.
const AUTHOR: &str = "ada";
const A_DAY: i64 = 24 * 60 * 60;

/// What a gate needs, and what it has.
#[derive(Debug, Clone)]
pub(crate) struct Approval {
    need: usize,
    ballots: Vec<Ballot>,
    author: Option<&'static str>,
}

#[derive(Debug, Clone)]
struct Ballot {
    /// The last one has it.
    holders: Vec<&'static str>,
    is_cast: bool,
}

impl Ballot {
    fn holder(&self) -> &'static str {
        self.holders.last().expect("somebody has it")
    }
}

impl Gate {
    /// With what the workflow wants of people on this edge.
    pub(super) fn asks_people(&mut self, gate: Option<EdgeGate>) {
        let Some(EdgeGate::Approved(Approvers { need, of, remind_after })) = gate else { return };
        let ballot = |it: &&'static str| Ballot { holders: vec![*it], is_cast: false };
        self.approval = Some(Approval {
            need: *need,
            ballots: of.iter().map(ballot).collect(),
            author: self.package.map(|_| AUTHOR),
        });
        self.remind_after = *remind_after;
    }

    pub(super) fn usual_reminder() -> i64 {
        A_DAY
    }
}

impl Approval {
    /// The author, and who has approved already, does not approve.
    fn check_new(&self, by: &str) -> Said {
        if self.author.is_some_and(|it| is_same(it, by)) {
            return Err("own_work");
        }
        let has_approved = |it: &Ballot| it.is_cast && is_same(it.holder(), by);
        if self.ballots.iter().any(has_approved) { Err("already_approved") } else { Ok(()) }
    }

    fn ballot(&mut self, by: &str) -> Result<&mut Ballot, &'static str> {
        let ballot = self.ballots.iter_mut().find(|it| it.holder() == by);
        ballot.ok_or("not_an_approver")
    }

    pub(super) fn check(&mut self, answer: &Answer, by: &str) -> Said {
        if *answer == Answer::Approve {
            self.check_new(by)?;
        }
        self.ballot(by).map(|_| ())
    }

    /// Whether this approval was the last one that was missing.
    pub(super) fn approve(&mut self, by: &str) -> Result<bool, &'static str> {
        self.ballot(by)?.is_cast = true;
        Ok(self.ballots.iter().filter(|it| it.is_cast).count() >= self.need)
    }

    fn pass_on(&mut self, by: &str, to: &'static str) -> Said {
        self.check_new(by)?;
        let had = self.ballot(by)?.holders.clone();
        let has_one = self.ballots.iter().any(|it| is_same(it.holder(), to));
        let is_author = self.author.is_some_and(|it| is_same(it, to));
        let is_back = had.iter().any(|it| is_same(it, to));
        if has_one || is_author || is_back || had.len() == 8 {
            return Err("bad_delegate");
        }
        self.ballot(by)?.holders.push(to);
        Ok(())
    }

    pub(super) fn shows(&self) -> String {
        let ballot = |it: &Ballot| {
            let mark = if it.is_cast { "+" } else { "" };
            format!("{}{mark}", it.holders.join(">"))
        };
        self.ballots.iter().map(ballot).collect::<Vec<_>>().join(" ")
    }
}

impl Run {
    pub(super) fn delegate_vote(&mut self, no: u32, by: &'static str, to: &'static str) -> Said {
        self.find(no)?;
        let gate = self.row_mut(no).gate.as_mut().ok_or("not_a_gate")?;
        gate.approval.as_mut().ok_or("no_vote")?.pass_on(by, to)
    }

    pub(super) fn remind(&mut self, no: u32) -> Said {
        self.find(no)?;
        let now = self.now;
        let handoff = self.row_mut(no);
        let is_waiting = handoff.state == State::Pending;
        let since = handoff.created_at;
        let gate = handoff.gate.as_mut().ok_or("not_a_gate")?;
        let is_due = since + gate.remind_after <= now && gate.beside.is_none();
        if !is_due || !is_waiting || gate.is_reminded {
            return Err("not_due");
        }
        gate.is_reminded = true;
        Ok(())
    }
}

/// Names are as good as their look.
fn is_same(one: &str, other: &str) -> bool {
    one.eq_ignore_ascii_case(other)
}
