//! A loose baton: which handoffs led to it, and how it could be handed in again. In a fan-out each
//! branch has a baton of its own.

use baton_core::command::{Command, Create};
use baton_core::contract::Profile;
use baton_core::document::Node;
use baton_core::names::{AgentId, StepId};
use baton_core::package::{Format, Package};
use baton_core::run::{HandoffNo, Run};
use baton_core::workflow::{Place, Workflow};
use baton_store::HandoffRow;

use super::{InboxChoice, Then, WaitingRun, Waits};
use crate::Views;

impl Views<'_> {
    /// How the orchestrator could hand in a loose baton again, and how the run could be ended.
    pub(super) fn restarts(
        &self,
        waiting: WaitingRun<'_>,
        branch: Option<&StepId>,
    ) -> Vec<InboxChoice> {
        let no = branch.and_then(|it| branch_no(waiting.run, it));
        let agent = match no {
            Some(no) => waiting.run.restarts_in(no, waiting.workflow),
            None => waiting.run.restarts_with(waiting.workflow),
        };
        let choice = |name, then| InboxChoice { name, needs_words: false, then, budget: None };
        let again = agent.map(|to| {
            let command = handed_in(to);
            let then = match no.and_then(|no| self.comes_first(waiting, no, &command)) {
                Some(other) => {
                    Then::Refused { why: format!("the branch `{other}` is handed in first") }
                }
                None => self.then(waiting, &command),
            };
            choice("start", then)
        });
        let cancel = choice("cancel", self.then(waiting, &Command::CancelRun { reason: None }));
        again.into_iter().chain([cancel]).collect()
    }

    /// The other branch that the command moves, where two branches have the same agent.
    fn comes_first(
        &self,
        waiting: WaitingRun<'_>,
        branch: u16,
        command: &Command,
    ) -> Option<StepId> {
        let after = self.preview(waiting.run, waiting.workflow, command).ok()?;
        let moved = moved_branch(waiting.run, &after.run).filter(|it| *it != branch)?;
        waiting.run.fork.as_ref()?.first(moved).cloned()
    }
}

fn handed_in(to: AgentId) -> Command {
    Command::Create(Create {
        from: AgentId::orchestrator(),
        to,
        package: Package::new(Format::Json, "{}", Node::map([])),
        outcome: None,
        reason: None,
        supersedes: None,
        hands_on: None,
        way: None,
        token: None,
        profile: Profile::Lenient,
    })
}

/// The first branch whose baton a command has moved.
pub(super) fn moved_branch(before: &Run, after: &Run) -> Option<u16> {
    let is_moved = |no: &u16| after.branch(*no).map(|it| &it.baton) != Some(before.baton_in(*no));
    before.branches.iter().map(|it| it.no).find(is_moved)
}

fn branch_no(run: &Run, first: &StepId) -> Option<u16> {
    let fork = run.fork.as_ref()?;
    run.branches.iter().map(|it| it.no).find(|it| fork.first(*it) == Some(first))
}

/// The handoffs of the branch whose baton is loose; else all.
pub(super) fn own_handoffs<'t>(
    workflow: &Workflow,
    trail: &'t [HandoffRow],
    why: &Waits,
) -> Vec<&'t HandoffRow> {
    let Waits::Loose { branch: Some(first), .. } = why else { return trail.iter().collect() };
    let own = workflow.branch_of(first);
    let branch_at = |place: &Place| place.as_step().and_then(|it| workflow.branch_of(it));
    let mut of_branch: Vec<HandoffNo> = Vec::new();
    for row in trail {
        let is_own = match branch_at(&row.to.place).or_else(|| branch_at(&row.from.place)) {
            Some(branch) => Some(branch) == own,
            // To and from a delegate, a person, or the party that fanned the work out.
            None => row.follows.is_some_and(|it| of_branch.contains(&it)),
        };
        if is_own {
            of_branch.push(row.no);
        }
    }
    trail.iter().filter(|it| of_branch.contains(&it.no)).collect()
}
