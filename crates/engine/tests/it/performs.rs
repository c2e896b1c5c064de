//! Acts of the model, done to a real engine, and what can be seen of it afterwards.

use std::fmt::Write as _;

use baton_core::command::{Accept, Command, Complete, Create, GateAnswer, Reject};
use baton_core::names::{AgentId, Principal, StepId, WorkflowName};
use baton_core::run::{Baton, HandoffNo, Run};
use baton_engine::{Caller, EngineError, In, Outcome, StartRun};
use baton_store::{HandoffRef, RunRef, RunRow};
use jiff::SignedDuration;

use crate::act::{self, Act, Order, What};
use crate::model::flow_of;
use crate::world::{World, agent, caller, key, package, reason};

/// What came of an act.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Came {
    Of(Box<Outcome>),
    Swept(u32),
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
            What::Wait { minutes } => {
                self.clock.advance(SignedDuration::from_mins(*minutes));
                return Ok(Came::Nothing);
            }
            What::Sweep => return Ok(Came::Swept(self.engine.sweep().await?.n_stale)),
            What::Start { to } => {
                let to = to.map(agent);
                let start = StartRun { story, workflow, to, package: None, reason: None };
                self.engine.start(caller, start).await
            }
            What::Create(create) => {
                let within = In::Story { key: story, workflow };
                self.engine.create(caller, within, real_create(create)).await
            }
            What::On(order) => {
                let run = self.engine.run(&RunRef::LatestOf(story)).await?.run.id;
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
            let stored = self.engine.handoff(&which).await.unwrap();
            assert_eq!(stored.package, handoff.package);
            let texts = self.engine.texts_of(std::slice::from_ref(&stored)).await.unwrap();
            let text = stored.package.and_then(|it| texts.get(it)).expect("a package is kept");
            serials.push(serial(text));
        }
        Some(shows(&row.run, &serials))
    }

    pub(crate) async fn latest(&self, story: usize) -> Option<RunRow> {
        self.store.run(&RunRef::LatestOf(key(STORIES[story]))).await.unwrap()
    }
}

pub(crate) const STORIES: [&str; 2] = ["pipeline story", "side story"];

fn shows(run: &Run, serials: &[u32]) -> String {
    let place = match run.baton() {
        Baton::Loose { at, other } => format!("{at}/{other}"),
        Baton::Offered { .. } | Baton::Held { .. } | Baton::Parked { .. } | Baton::Done => {
            String::new()
        }
    };
    let mut open = String::new();
    for (it, serial) in run.handoffs.iter().zip(serials) {
        let stale = if it.is_stale { " stale" } else { "" };
        write!(
            open,
            "{} {}@{}→{}@{} {} {} try {} package {serial}{stale}",
            it.no,
            it.from.agent,
            it.from.place,
            it.to.agent,
            it.to.place,
            it.state.name(),
            it.kind.name(),
            it.attempt,
        )
        .unwrap();
    }
    let rounds: Vec<String> = run
        .rounds
        .iter()
        .map(|it| format!("{}→{} {}+{}", it.edge.from, it.edge.to, it.n_rejects, it.n_extra))
        .collect();
    let visited: Vec<&str> = run.visited.iter().map(StepId::as_str).collect();
    format!(
        "{}; {} {place}; {}; [{open}]; [{}]; [{}]; {} handoffs",
        run.status.name(),
        run.baton().name(),
        run.current_agent().map_or("nobody", AgentId::as_str),
        rounds.join(", "),
        visited.join(" "),
        run.n_handoffs
    )
}

fn serial(text: &str) -> u32 {
    let document = baton_wire::json::parse(text).unwrap();
    let serial = document.member("serial").and_then(|it| it.scalar_text());
    serial.map_or(0, |it| it.parse().unwrap())
}

fn real_create(create: &act::Create) -> Create {
    Create {
        from: agent(create.from),
        to: agent(create.to),
        package: package(&create.parcel.text(create.serial)),
        outcome: create.outcome,
        reason: None,
        supersedes: create.supersedes.map(HandoffNo),
        profile: create.profile,
    }
}

fn real_command(order: &Order) -> Command {
    let named = |by: &Option<&str>| by.map(agent);
    let reason = reason("as it says");
    match order {
        Order::Accept { no, by } => {
            let (handoff, by) = (HandoffNo(*no), named(by));
            let acknowledgement = Some("understood".to_owned());
            Command::Accept(Accept { handoff, by, acknowledgement })
        }
        Order::Reject { no, by } => {
            Command::Reject(Reject { handoff: HandoffNo(*no), by: named(by), reason })
        }
        Order::Complete(complete) => Command::Complete(Complete {
            handoff: HandoffNo(complete.no),
            by: named(&complete.by),
            outcome: complete.outcome,
            package: package(&complete.parcel.text(complete.serial)),
            to: complete.to.map(agent),
            reason: None,
            profile: complete.profile,
        }),
        Order::Cancel { no, by } => {
            Command::Cancel { handoff: HandoffNo(*no), by: named(by), reason: None }
        }
        Order::TimeOut { no } => Command::TimeOut { handoff: HandoffNo(*no), reason: None },
        Order::MarkStale { no } => Command::MarkStale { handoff: HandoffNo(*no) },
        Order::Answer { no, answer } => {
            let (handoff, by) = (HandoffNo(*no), Principal::parse("grace").unwrap());
            Command::Answer(GateAnswer { handoff, answer: answer.clone(), by, comment: None })
        }
        Order::CleanUp => Command::CleanUp { reason: None },
        Order::Pause => Command::Pause { reason: None },
        Order::Resume => Command::Resume,
        Order::CancelRun => Command::CancelRun { reason: Some(reason) },
        Order::Goto { step } => Command::Goto { step: StepId::parse(step).unwrap(), reason },
        Order::Skip => Command::Skip { reason },
    }
}
