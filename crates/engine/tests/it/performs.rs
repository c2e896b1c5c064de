//! Acts of the model, done to a real engine, and what can be seen of it afterwards.

mod commands;
mod shows;

use baton_core::names::{StepId, WorkflowName};
use baton_core::run::HandoffNo;
use baton_engine::{Caller, CommandResult, EngineError, RunTarget, StartRun, StartingPoint};
use baton_store::{HandoffRef, RunRef, RunRow};
use jiff::SignedDuration;

use self::commands::{real_command, real_create};
use self::shows::shows;
use crate::act::{Act, What};
use crate::model::{N_STORIES, Swept, flow_of};
use crate::world::{World, agent, caller, key, reason};

/// What came of an act.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Came {
    Of(Box<CommandResult>),
    Swept(Swept),
    Nothing,
    Refused(&'static str),
}

impl World {
    pub(crate) async fn performs(&self, act: &Act) -> Came {
        match self.tries(&caller("ada"), act).await {
            Ok(came) => came,
            Err(error) => Came::Refused(error.code()),
        }
    }

    pub(crate) async fn tries(&self, caller: &Caller, act: &Act) -> Result<Came, EngineError> {
        let story = key(STORIES[act.story]);
        let workflow = Some(WorkflowName::parse(flow_of(act.story).name).unwrap());
        let outcome = match &act.what {
            What::Wait { seconds } => {
                self.clock.advance(SignedDuration::from_secs(*seconds));
                return Ok(Came::Nothing);
            }
            What::Sweep => {
                let swept = self.engine.sweep().await?;
                return Ok(Came::Swept(Swept {
                    n_lost: swept.ticked.n_lost,
                    n_woken: swept.ticked.n_woken,
                    n_stale: swept.n_stale,
                    n_expired: swept.n_expired,
                    n_reminded: swept.n_reminded,
                }));
            }
            What::Start { to } => {
                let to = to.map(agent);
                let start = StartRun { workflow, to, ..StartRun::of(story) };
                self.engine.start(caller, start).await
            }
            What::StartAt { step } => {
                let start = StartRun { workflow, ..StartRun::of(story) };
                let at = StartingPoint {
                    step: StepId::parse(step).unwrap(),
                    reason: reason("from there"),
                };
                self.engine.start_at(caller, start, at).await
            }
            What::Create(create) => {
                let within = RunTarget::Story { key: story, workflow, mode: None };
                self.engine.create(caller, within, real_create(create)).await
            }
            What::On(order) => {
                let run = self.reads().run(&RunRef::LatestOf(story)).await?.run.id;
                let command = real_command(order);
                match order.no() {
                    Some(no) => {
                        let which = HandoffRef::InRun(run, HandoffNo(no));
                        self.engine.on_handoff(caller, &which, |_| command).await
                    }
                    None => self.engine.on_run(caller, run, command).await,
                }
            }
        };
        Ok(Came::Of(Box::new(outcome?)))
    }

    /// The newest run of a story, as the model would show it.
    pub(crate) async fn shows_all(&self, story: usize) -> Option<String> {
        let row = self.latest(story).await?;
        let mut serials = Vec::new();
        for handoff in &row.run.handoffs {
            let which = HandoffRef::InRun(row.run.id, handoff.no);
            let stored = self.reads().handoff(&which).await.unwrap();
            assert_eq!(stored.package, handoff.package);
            let texts = self.reads().texts_of(std::slice::from_ref(&stored)).await.unwrap();
            let text = stored.package.map(|it| texts.get(it).whole().expect("a package is kept"));
            serials.push(text.map(serial));
        }
        Some(shows(&row.run, &serials))
    }

    pub(crate) async fn latest(&self, story: usize) -> Option<RunRow> {
        self.store.run(&RunRef::LatestOf(key(STORIES[story]))).await.unwrap()
    }
}

pub(crate) const STORIES: [&str; N_STORIES] = ["pipeline story", "side story", "gated story"];

fn serial(text: &str) -> u32 {
    let document = baton_wire::json::parse(text).unwrap();
    let serial = document.member("serial").and_then(|it| it.scalar_text());
    serial.map_or(0, |it| it.parse().unwrap())
}
