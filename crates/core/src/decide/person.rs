//! What only a person may do: open gates and go past them, vote and pass a vote on, lock decisions and
//! replace locked ones, redact.

use super::DecisionContext;
use super::draft::Draft;
use crate::names::Principal;
use crate::person::{Speaker, speaker};
use crate::refusal::Refusal;
use crate::run::Run;

/// Refuses a caller whose name is that of an agent or of a part of Baton, or looks like one. The
/// server has to prevent agents from using a person's name.
pub(super) fn only_a_person(draft: &Draft<'_>, by: &Principal) -> Result<(), Refusal> {
    check(&draft.run, draft.ground, by)
}

/// As [`only_a_person`], where nothing is drafted yet.
pub(super) fn check(run: &Run, ground: DecisionContext<'_>, by: &Principal) -> Result<(), Refusal> {
    match speaker_in(run, ground, by) {
        Speaker::Person => Ok(()),
        Speaker::Agent(_) | Speaker::Reserved => Err(Refusal::NotAPerson { by: by.clone() }),
    }
}

/// Whom a caller speaks for in this run: the agents of its workflow and those with a part in it count
/// too, whether a file describes them or not.
pub(super) fn speaker_in(run: &Run, ground: DecisionContext<'_>, by: &Principal) -> Speaker {
    let steps = ground.workflow.steps.iter();
    let declared = steps
        .flat_map(|it| it.agents.iter().chain(it.delegates.iter().map(|delegate| &delegate.agent)));
    let parties = run.handoffs.iter().flat_map(|it| [&it.from.agent, &it.to.agent]);
    speaker(by, ground.agents, declared.chain(parties))
}
