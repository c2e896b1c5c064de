//! What agents with few habits do: each walk draws some, and does nothing else.

use baton_core::command::{Accept, Clarify, Command, Create, Reject, Release, Reply, Way};
use baton_core::names::FreeText;
use baton_core::outcome::Outcome;
use baton_core::run::{Baton, Handoff, Run, State};
use baton_core::workflow::Workflow;

use super::moves::{along, create, parcel, take_up};
use super::workflows::AGENTS;
use crate::gate_walks::dice::Dice;
use crate::world::{agent, reason};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Habit {
    Accept,
    Release,
    Ask,
    Answer,
    /// The sender corrects what its receiver had begun.
    Correct,
    /// The sender takes it back.
    Withdraw,
    Reject,
    Delegate,
    Fail,
    GoOn,
}

const ALL: [Habit; 10] = [
    Habit::Accept,
    Habit::Release,
    Habit::Ask,
    Habit::Answer,
    Habit::Correct,
    Habit::Withdraw,
    Habit::Reject,
    Habit::Delegate,
    Habit::Fail,
    Habit::GoOn,
];

pub(super) fn drawn(dice: &mut Dice) -> Vec<Habit> {
    let percent = 20 + dice.below(50);
    ALL.into_iter().filter(|_| dice.chance(percent)).collect()
}

/// True where no agent has to act: the run is over, or a person is asked.
pub(super) fn waits_for_person(run: &Run) -> bool {
    run.is_finished() || run.gate().is_some() || asks_person(run)
}

pub(super) fn asks_person(run: &Run) -> bool {
    run.questions().any(|it| it.to.agent.is_human())
}

impl Habit {
    /// None where the habit has nothing to do now.
    pub(super) fn command(
        self,
        dice: &mut Dice,
        workflow: &Workflow,
        run: &Run,
    ) -> Option<Command> {
        let branches: Vec<u16> = run.branches.iter().map(|it| it.no).collect();
        let branch = match branches[..] {
            [only] => only,
            _ => *dice.one_of(&branches)?,
        };
        if let Baton::Loose { .. } = run.baton_in(branch) {
            return (self == Self::GoOn).then(|| take_up(dice, workflow));
        }
        let current = run.current_in(branch)?;
        let question = run.questions().find(|it| it.branch == branch);
        match self {
            Self::Accept => Some(accept(question.unwrap_or(current))),
            Self::Release => Some(release(question.unwrap_or(current))),
            Self::Answer => Some(answer(question?)),
            Self::Ask => Some(Command::Clarify(Clarify {
                handoff: current.no,
                by: None,
                question: words("Which one?"),
                fence: None,
            })),
            Self::Correct => correct(dice, current),
            Self::Withdraw => {
                let by = Some(current.from.agent.clone());
                Some(Command::Cancel { handoff: current.no, by, reason: None })
            }
            Self::Reject => Some(Command::Reject(Reject {
                handoff: current.no,
                by: None,
                reason: reason("not so"),
                fence: None,
            })),
            Self::Delegate => {
                let to = agent(AGENTS[dice.below(AGENTS.len())]);
                let part = create(current.to.agent.clone(), to, parcel(dice));
                Some(Command::Create(Create { way: Some(Way::Delegation), ..part }))
            }
            Self::Fail => Some(along(dice, workflow, current, Outcome::Failure)),
            Self::GoOn => Some(along(dice, workflow, current, Outcome::Success)),
        }
    }
}

/// What nobody has begun may be corrected as often as its sender likes: the work does not move.
fn correct(dice: &mut Dice, current: &Handoff) -> Option<Command> {
    let is_begun = current.fence > 0 || current.n_questions > 0;
    let is_open = current.state == State::Pending || current.state == State::Clarification;
    if !is_begun || !is_open || current.from.agent.is_orchestrator() {
        return None;
    }
    let (from, to) = (current.from.agent.clone(), current.to.agent.clone());
    let supersedes = Some(current.no);
    Some(Command::Create(Create { supersedes, ..create(from, to, parcel(dice)) }))
}

fn accept(it: &Handoff) -> Command {
    Command::Accept(Accept { handoff: it.no, by: None, acknowledgement: None, lease: None })
}

fn release(it: &Handoff) -> Command {
    Command::Release(Release { handoff: it.no, by: None, fence: None, reason: None })
}

fn answer(question: &Handoff) -> Command {
    let handoff = question.no;
    Command::Reply(Reply { handoff, by: None, answer: words("This one"), fence: None })
}

fn words(text: &str) -> FreeText {
    FreeText::parse(text).unwrap()
}
