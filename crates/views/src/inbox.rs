//! Everything that waits for a person: what happened so far, and the consequence of each answer.
//!
//! The consequences are stored nowhere: each answer is tried against the rules, as a dry run.

mod asked;
mod loose;
mod sender_words;
mod text;

use baton_core::budget::Budget;
use baton_core::command::{Command, GateAnswer};
use baton_core::decide::Decision;
use baton_core::gate::{Answer, Gate, GateCause, GateKind};
use baton_core::names::{AgentId, FreeText, StepId};
use baton_core::run::{Baton, Handoff, HandoffNo, Kind, Run, RunStatus, State};
use baton_core::workflow::{Place, Workflow};
use baton_store::{HandoffFilter, HandoffRow, RunFilter, RunRow};

pub use self::asked::{GateQuestion, ObservedEvidence};
pub(crate) use self::sender_words::said_in;
pub use self::sender_words::{SaidPart, SenderWords};
use crate::Views;
use baton_engine::EngineError;

const PAGE: u32 = 200;

/// Something that waits for a person.
#[derive(Debug, Clone)]
pub struct InboxItem {
    pub run: RunRow,
    /// What to type for the run: see [`name_of_run`](baton_engine::Reader::name_of_run).
    pub run_name: String,
    pub why: Waits,
    pub asked: GateQuestion,
    /// Every handoff of the run, oldest first.
    pub trail: Vec<HandoffRow>,
    /// Those of the branch whose baton is loose; all of them where it is not that of a branch.
    pub of_branch: Vec<HandoffNo>,
    pub choices: Vec<InboxChoice>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Waits {
    /// An agent, the workflow or a limit asks.
    Gate { handoff: HandoffNo, cause: GateCause, kind: GateKind },
    /// An open question about a handoff that `of` has not answered.
    Question { handoff: HandoffNo, about: HandoffNo, of: AgentId },
    /// The baton is loose: no agent has it. In a fan-out, that of the branch which begins with this step.
    Loose { at: Place, branch: Option<StepId> },
}

impl Waits {
    /// The handoff that the person answers; none where the baton is loose.
    pub fn handoff(&self) -> Option<HandoffNo> {
        match self {
            Waits::Gate { handoff, .. } | Waits::Question { handoff, .. } => Some(*handoff),
            Waits::Loose { .. } => None,
        }
    }
}

/// A possible answer of the person, and its consequence.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InboxChoice {
    pub name: &'static str,
    /// Whether the answer needs a comment.
    pub needs_words: bool,
    pub then: Then,
    /// What the budget that the person is asked about becomes, where the answer raises it.
    pub budget: Option<Budget>,
}

/// The state of a run after a choice.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Then {
    /// The handoff that is then offered, to whom, and at which place.
    Offered {
        handoff: HandoffNo,
        to: AgentId,
        place: Place,
    },
    /// The handoffs that are offered at once, at a fan-out.
    FannedOut {
        offers: Vec<FanOffer>,
    },
    /// The branch is at its join, and the others are not yet.
    Arrived {
        at: StepId,
        n_arrived: usize,
        n_needed: u16,
    },
    /// The waiting holder continues.
    Held {
        handoff: HandoffNo,
        by: AgentId,
    },
    /// A question has to be answered first.
    Asked {
        question: HandoffNo,
        of: AgentId,
    },
    /// A person is asked again.
    Parked {
        handoff: HandoffNo,
    },
    /// An approval is recorded, and the gate needs more.
    Approved {
        n_given: u32,
        need: u32,
    },
    /// No other party has to act than before.
    Unchanged,
    Loose {
        at: Place,
    },
    Ended(RunStatus),
    /// The rules would refuse it now.
    Refused {
        why: String,
    },
}

/// What one branch of a fan-out is given.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FanOffer {
    pub handoff: HandoffNo,
    pub to: AgentId,
    pub place: Place,
}

/// A run in which something waits for a person.
#[derive(Clone, Copy)]
struct WaitingRun<'a> {
    run: &'a Run,
    workflow: &'a Workflow,
}

impl Views<'_> {
    /// What waits for a person, by run.
    pub async fn inbox(&self) -> Result<Vec<InboxItem>, EngineError> {
        let (items, _) = self.inbox_after(0, usize::MAX).await?;
        Ok(items)
    }

    /// As [`Views::inbox`], for the runs after number `after`, until there are at least `most`
    /// items; the items of a run are never split. Also returns the number of the last run that was
    /// read; none at the end of the list.
    pub async fn inbox_after(
        &self,
        after: u64,
        most: usize,
    ) -> Result<(Vec<InboxItem>, Option<u64>), EngineError> {
        let mut items = Vec::new();
        let mut after = after;
        let size = u32::try_from(most.saturating_add(1)).unwrap_or(PAGE).min(PAGE);
        loop {
            let filter =
                RunFilter { only_waiting: true, after, limit: size, ..RunFilter::default() };
            let page = self.runs(&filter).await?;
            let is_last = page.len() < size as usize;
            for row in page {
                if items.len() >= most {
                    return Ok((items, Some(after)));
                }
                after = row.number;
                items.extend(self.inbox_items(row).await?);
            }
            if is_last {
                return Ok((items, None));
            }
        }
    }

    /// What waits for a person in one run.
    pub async fn inbox_items(&self, row: RunRow) -> Result<Vec<InboxItem>, EngineError> {
        let waits = waits(&row.run);
        if waits.is_empty() {
            return Ok(Vec::new());
        }
        let workflow = self.workflow_of(&row).await?;
        let waiting = WaitingRun { run: &row.run, workflow: &workflow };
        let filter = HandoffFilter { run: Some(row.run.id), ..HandoffFilter::default() };
        let trail = self.handoffs(&filter).await?;
        let run_name = self.name_of_run(&row).await?;
        let mut items = Vec::new();
        for why in waits {
            let choices = self.choices(waiting, &why);
            let own = loose::own_handoffs(&workflow, &trail, &why);
            let asked = self.asked(waiting, &why, &trail, &own).await?;
            let of_branch = own.iter().map(|it| it.no).collect();
            let (run, run_name, trail) = (row.clone(), run_name.clone(), trail.clone());
            items.push(InboxItem { run, run_name, why, asked, trail, of_branch, choices });
        }
        Ok(items)
    }

    fn choices(&self, waiting: WaitingRun<'_>, why: &Waits) -> Vec<InboxChoice> {
        match why {
            Waits::Gate { handoff, .. } => match gate_of(waiting.run, *handoff) {
                Some(gate) => self.answers(waiting, *handoff, gate),
                None => Vec::new(),
            },
            Waits::Question { handoff, .. } => {
                vec![self.choice(waiting, *handoff, Answer::Reply)]
            }
            Waits::Loose { branch, .. } => self.restarts(waiting, branch.as_ref()),
        }
    }

    fn answers(
        &self,
        waiting: WaitingRun<'_>,
        handoff: HandoffNo,
        gate: &Gate,
    ) -> Vec<InboxChoice> {
        let answers = [
            Answer::Reply,
            Answer::Approve,
            Answer::Reject,
            Answer::Question,
            Answer::Modify,
            Answer::Continue,
            Answer::Accept,
            // The person chooses the receiver; the consequence is the same for all of them.
            Answer::HandTo(gate.worker.agent.clone()),
            Answer::Abort,
        ];
        answers
            .into_iter()
            .filter(|it| gate.takes(it))
            .map(|answer| self.choice(waiting, handoff, answer))
            .collect()
    }

    fn choice(&self, waiting: WaitingRun<'_>, handoff: HandoffNo, answer: Answer) -> InboxChoice {
        let (name, needs_words) = (answer.name(), answer.needs_words());
        if answer == Answer::Modify {
            // The result depends on a package that does not exist yet; its receiver does not.
            // It goes where the sender's would.
            let approved = self.choice(waiting, handoff, Answer::Approve);
            return InboxChoice { name, needs_words, ..approved };
        }
        let command = Command::Answer(GateAnswer {
            handoff,
            answer,
            by: self.caller().principal.clone(),
            comment: FreeText::parse("…").ok().filter(|_| needs_words),
            package: None,
        });
        let then = self.then(waiting, &command);
        InboxChoice { name, needs_words, then, budget: self.budget_after(waiting, &command) }
    }

    /// The budget that the answer raises.
    fn budget_after(&self, waiting: WaitingRun<'_>, command: &Command) -> Option<Budget> {
        let Command::Answer(answer) = command else { return None };
        let gate = gate_of(waiting.run, answer.handoff)?;
        let of = &gate.budget.as_ref()?.of;
        let after = self.preview(waiting.run, waiting.workflow, command).ok()?.run;
        let granted = |run: &Run| self.granted_budget(run, waiting.workflow, of, gate);
        Some(granted(&after)).filter(|it| *it != granted(waiting.run))
    }

    /// Asks the rules for the consequence of a command. Writes nothing.
    fn then(&self, waiting: WaitingRun<'_>, command: &Command) -> Then {
        match self.preview(waiting.run, waiting.workflow, command) {
            Err(refusal) => Then::Refused { why: refusal.to_string() },
            Ok(Decision { run, done, .. }) => match done.question.and_then(|it| run.handoff(it)) {
                Some(question) => {
                    Then::Asked { question: question.no, of: question.to.agent.clone() }
                }
                None if is_same(&run, waiting.run) => unchanged(&run, command),
                None => place(waiting.run, &run, command),
            },
        }
    }
}

/// The same parties have to act: an approval may have been one of several.
fn unchanged(run: &Run, command: &Command) -> Then {
    let Command::Answer(GateAnswer { handoff, answer: Answer::Approve, .. }) = command else {
        return Then::Unchanged;
    };
    match gate_of(run, *handoff).and_then(|it| it.approval.as_ref()) {
        Some(it) => Then::Approved { n_given: it.n_given(), need: it.need },
        None => Then::Unchanged,
    }
}

/// The state of a run, in terms of who has to act next.
fn place(before: &Run, run: &Run, command: &Command) -> Then {
    if before.fork.is_none() && run.fork.is_some() {
        let offer = |it: &Handoff| {
            let (to, place) = (it.to.agent.clone(), it.to.place.clone());
            FanOffer { handoff: it.no, to, place }
        };
        let is_new = |it: &&Handoff| it.no.0 > before.n_handoffs && it.kind != Kind::Question;
        return Then::FannedOut { offers: run.handoffs.iter().filter(is_new).map(offer).collect() };
    }
    let branch = if let Command::Answer(answer) = command {
        before.handoff(answer.handoff).map(|it| it.branch)
    } else {
        loose::moved_branch(before, run)
    };
    let branch = branch.unwrap_or_else(|| run.first_branch());
    if let Some(fork) = run.fork.as_ref().filter(|_| run.branch(branch).is_none()) {
        let (at, n_arrived, n_needed) = (fork.join.clone(), fork.arrived.len(), fork.need);
        return Then::Arrived { at, n_arrived, n_needed };
    }
    // After a join there is one branch again.
    let branch = run.branch(branch).map_or_else(|| run.first_branch(), |it| it.no);
    match (run.baton_in(branch), run.current_in(branch)) {
        (Baton::Offered { .. }, Some(it)) => offered(it),
        (Baton::Held { .. }, Some(it)) => Then::Held { handoff: it.no, by: it.to.agent.clone() },
        (Baton::Parked { .. }, Some(it)) if it.gate.is_some() => Then::Parked { handoff: it.no },
        (Baton::Parked { .. }, Some(it)) => offered(it),
        (Baton::Loose { at, .. }, _) => Then::Loose { at: at.clone() },
        (Baton::Done | Baton::Offered { .. } | Baton::Held { .. } | Baton::Parked { .. }, _) => {
            Then::Ended(run.status)
        }
    }
}

/// True where the same parties have to act as before.
fn is_same(after: &Run, before: &Run) -> bool {
    let batons = |it: &Run| -> Vec<(u16, Baton, Option<State>)> {
        let state = |no: u16| it.current_in(no).map(|it| it.state);
        it.branches.iter().map(|it| (it.no, it.baton.clone(), state(it.no))).collect()
    };
    batons(after) == batons(before) && !after.is_finished()
}

fn offered(it: &Handoff) -> Then {
    Then::Offered { handoff: it.no, to: it.to.agent.clone(), place: it.to.place.clone() }
}

fn gate_of(run: &Run, no: HandoffNo) -> Option<&Gate> {
    run.handoff(no).and_then(|it| it.gate.as_ref())
}

/// What waits for a person, the one that blocks the run first.
fn waits(run: &Run) -> Vec<Waits> {
    let gate = |(handoff, gate): (&Handoff, &Gate)| Waits::Gate {
        handoff: handoff.no,
        cause: gate.cause,
        kind: gate.kind,
    };
    let stopping = run.gates().filter(|(_, gate)| gate.kind != GateKind::Advisory).map(gate);
    let advisory = run.gates().filter(|(_, gate)| gate.kind == GateKind::Advisory).map(gate);
    let questions =
        run.questions().filter(|it| it.state != State::Clarification).filter_map(|it| {
            Some(Waits::Question { handoff: it.no, about: it.about?, of: it.to.agent.clone() })
        });
    let first = |branch: u16| run.fork.as_ref().and_then(|it| it.first(branch)).cloned();
    let loose = run.branches.iter().filter_map(|it| match &it.baton {
        Baton::Loose { at, .. } => Some(Waits::Loose { at: at.clone(), branch: first(it.no) }),
        Baton::Offered { .. } | Baton::Held { .. } | Baton::Parked { .. } | Baton::Done => None,
    });
    stopping.chain(questions).chain(loose).chain(advisory).collect()
}
