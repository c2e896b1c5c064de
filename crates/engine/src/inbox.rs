//! Everything that waits for a person: what happened so far, and what each answer would lead to.
//!
//! What an answer leads to is not written down anywhere: the rules are asked, as if it were given.

use baton_core::command::{Command, Create, GateAnswer};
use baton_core::contract::Profile;
use baton_core::decide::{Decision, decide};
use baton_core::document::Node;
use baton_core::gate::{Answer, Gate, GateCause};
use baton_core::names::{AgentId, Principal};
use baton_core::package::{Format, Package};
use baton_core::refusal::Refusal;
use baton_core::run::{Baton, HandoffNo, Run, RunStatus};
use baton_core::workflow::Place;
use baton_store::{HandoffFilter, HandoffRow, RunFilter, RunRow};

use crate::cache::Loaded;
use crate::{Engine, EngineError};

const PAGE: u32 = 200;

/// Something that a person has to move.
#[derive(Debug, Clone)]
pub struct InboxItem {
    pub run: RunRow,
    pub why: Waits,
    /// Every handoff of the run, oldest first.
    pub trail: Vec<HandoffRow>,
    pub choices: Vec<Choice>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Waits {
    /// An agent, or a limit, asks.
    Gate { handoff: HandoffNo, cause: GateCause },
    /// Nobody has the baton.
    Loose { at: Place },
}

/// Something that a person may say, and what then happens.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Choice {
    pub name: &'static str,
    pub then: Then,
}

/// Where a run is after a choice.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Then {
    /// The next handoff, and who gets it, at which place.
    Offered {
        handoff: HandoffNo,
        to: AgentId,
        place: Place,
    },
    Ended(RunStatus),
    /// As things are, the rules would refuse it.
    Refused {
        why: String,
    },
}

impl Engine {
    /// What waits for a person, by run.
    pub async fn inbox(&self, asker: &Principal) -> Result<Vec<InboxItem>, EngineError> {
        let mut items = Vec::new();
        let mut after = 0;
        loop {
            let statuses = vec![RunStatus::Open, RunStatus::Paused];
            let filter = RunFilter { statuses, after, limit: PAGE, ..RunFilter::default() };
            let page = self.store.runs(&filter).await?;
            let Some(last) = page.last() else { return Ok(items) };
            after = last.number;
            for row in page {
                if let Some(item) = self.inbox_item(row, asker).await? {
                    items.push(item);
                }
            }
        }
    }

    async fn inbox_item(
        &self,
        row: RunRow,
        asker: &Principal,
    ) -> Result<Option<InboxItem>, EngineError> {
        let Some(why) = waits(&row.run) else { return Ok(None) };
        let workflow = self.pinned(&row.run.pin).await?;
        let loaded = Loaded {
            run: row.run.clone(),
            version: row.version,
            head: row.head,
            number: row.number,
            workflow,
        };
        let choices = match row.run.gate() {
            Some((handoff, gate)) => self.answers(&loaded, handoff.no, gate, asker),
            None => self.restarts(&loaded),
        };
        let filter = HandoffFilter { run: Some(row.run.id), ..HandoffFilter::default() };
        let trail = self.store.handoffs(&filter).await?;
        Ok(Some(InboxItem { run: row, why, trail, choices }))
    }

    fn answers(
        &self,
        loaded: &Loaded,
        handoff: HandoffNo,
        gate: &Gate,
        asker: &Principal,
    ) -> Vec<Choice> {
        let answers = [
            Answer::Approve,
            Answer::Reject,
            Answer::Continue,
            Answer::Accept,
            // To whom is the person's to say; what follows is the same for all.
            Answer::HandTo(gate.worker.agent.clone()),
            Answer::Abort,
        ];
        let is_taken = |it: &Answer| gate.choices().contains(&it.name());
        answers
            .into_iter()
            .filter(is_taken)
            .map(|answer| {
                let name = answer.name();
                let by = asker.clone();
                let (comment, package) = (None, None);
                let command = Command::Answer(GateAnswer { handoff, answer, by, comment, package });
                Choice { name, then: self.then(loaded, &command) }
            })
            .collect()
    }

    /// How the orchestrator could hand a loose baton in again, and how the run could be ended.
    fn restarts(&self, loaded: &Loaded) -> Vec<Choice> {
        let Baton::Loose { at, other } = loaded.run.baton() else { return Vec::new() };
        let step = [at, other].into_iter().find(|it| it.is_step());
        let agent = step.and_then(|it| loaded.workflow.agents_at(it).into_iter().next());
        let again = agent.map(|to| {
            let command = Command::Create(Create {
                from: AgentId::orchestrator(),
                to,
                package: Package::new(Format::Json, "{}", Node::map([])),
                outcome: None,
                reason: None,
                supersedes: None,
                way: None,
                token: None,
                profile: Profile::Lenient,
            });
            Choice { name: "start", then: self.then(loaded, &command) }
        });
        let cancel = Command::CancelRun { reason: None };
        let cancel = Choice { name: "cancel", then: self.then(loaded, &cancel) };
        again.into_iter().chain([cancel]).collect()
    }

    /// Asks the rules what a command would lead to. Nothing is written.
    fn then(&self, loaded: &Loaded, command: &Command) -> Then {
        let decided: Result<Decision, Refusal> =
            decide(&loaded.run, command, self.ground(&loaded.workflow));
        match decided {
            Err(refusal) => Then::Refused { why: refusal.to_string() },
            Ok(Decision { run, .. }) => match run.current() {
                Some(it) => Then::Offered {
                    handoff: it.no,
                    to: it.to.agent.clone(),
                    place: it.to.place.clone(),
                },
                None => Then::Ended(run.status),
            },
        }
    }
}

fn waits(run: &Run) -> Option<Waits> {
    if let Some((handoff, gate)) = run.gate() {
        return Some(Waits::Gate { handoff: handoff.no, cause: gate.cause });
    }
    match run.baton() {
        Baton::Loose { at, .. } => Some(Waits::Loose { at: at.clone() }),
        Baton::Offered { .. } | Baton::Held { .. } | Baton::Parked { .. } | Baton::Done => None,
    }
}
