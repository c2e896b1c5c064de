//! Tells the audience what happens, one line an event, and answers for them when a person is
//! asked.

use std::time::Duration;

use baton_core::command::{Command, GateAnswer};
use baton_core::content::ContentId;
use baton_core::event::Event;
use baton_core::gate::Answer;
use baton_core::names::{Principal, Words};
use baton_core::run::{HandoffNo, Kind, RunId};
use baton_core::story::Story;
use baton_engine::{Caller, Engine, Verified};
use baton_http::api::Row;
use baton_store::{HandoffRef, Position, RunRef};
use baton_wire::event;

use crate::api::{Api, Ask};
use crate::failure::Failure;
use crate::show;

pub(super) fn title(story: &Story) {
    show::answer(&format!(
        "\n{} {} {}",
        show::mark("▶"),
        show::bold(&story.title),
        show::dim(story.key.as_str())
    ));
}

/// Follows a run to its end.
pub(super) async fn follow(
    engine: &Engine,
    run: RunId,
    you: &Principal,
    pace: Duration,
) -> Result<(), Failure> {
    let started = engine.run(&RunRef::Id(run)).await?.run.started_at;
    let mut feed = engine.feed(Position::START, Some(run));
    while !super::is_over(engine, run).await? {
        while let Some(stored) = next(engine, run, &mut feed).await? {
            let Ok(event) = event::decode(&stored.body) else { continue };
            let after = stored.at.duration_since(started).as_secs_f64();
            if let Some(line) = line(engine, run, &event).await? {
                show::answer(&format!("{} {line}", show::dim(&format!("{after:>6.1}s"))));
            }
            if let Event::GateOpened { handoff, gate } = &event {
                show::answer(&format!(
                    "        {} {}\n        {} in your project you would type: baton answer {}",
                    show::warn("a person is asked:"),
                    gate.cause.sentence(),
                    show::dim("→"),
                    gate.choices().join(" | ").replace('_', "-"),
                ));
                tokio::time::sleep(pace * 2).await;
                answer(engine, run, *handoff, you).await?;
            }
        }
    }
    Ok(())
}

/// The next event, or `None` once the run is over and everything has been told.
async fn next(
    engine: &Engine,
    run: RunId,
    feed: &mut baton_engine::Feed,
) -> Result<Option<baton_store::StoredEvent>, Failure> {
    if super::is_over(engine, run).await? {
        return Ok(feed.read_next().await?);
    }
    Ok(feed.next().await?)
}

/// A run that went well ends with its handoffs and the word that nothing was lost.
pub(super) async fn curtain(api: &Api, run: RunId, verified: &Verified) -> Result<(), Failure> {
    let rows = api.list::<Row>(Ask::get(["handoffs"]).with("run", run)).await?.items;
    show::answer(&format!("\n{}", show::handoffs_table(&rows, api.now())));
    if !verified.problems.is_empty() {
        return Err(Failure::Broken { what: verified.problems.join("; ") });
    }
    show::answer(&format!(
        "\n{} {} handoffs, {} events on disk, chain whole, replay equal",
        show::good("✔ delivered:"),
        rows.len(),
        verified.n_events
    ));
    Ok(())
}

async fn answer(
    engine: &Engine,
    run: RunId,
    gate: HandoffNo,
    you: &Principal,
) -> Result<(), Failure> {
    let by = you.clone();
    let comment = Some(Words::parse("Write the test first; then it is good enough")?);
    let answer = Answer::Continue;
    let command =
        |handoff| Command::Answer(GateAnswer { handoff, answer, by, comment, package: None });
    let which = HandoffRef::InRun(run, gate);
    engine.on_handoff(&Caller::new(you.clone()), &which, command).await?;
    Ok(())
}

async fn line(engine: &Engine, run: RunId, event: &Event) -> Result<Option<String>, Failure> {
    let name = |id| engine.catalog().agents().name_of(id).to_owned();
    Ok(Some(match event {
        Event::HandoffCreated(it) if it.to.agent.is_orchestrator() => {
            format!("{} hands the finished story back", show::bold(&name(&it.from.agent)))
        }
        Event::HandoffCreated(it) => {
            let arrow = if it.kind == Kind::Return { "back to" } else { "to" };
            let reason = words(engine, run, it.reason).await?;
            format!(
                "{} Handing off {arrow} {}... {}",
                show::mark(&it.handoff.label()),
                show::bold(&name(&it.to.agent)),
                show::dim(&show::shortened(&reason, 70))
            )
        }
        Event::HandoffAccepted { by, is_implicit: false, .. } => {
            format!("       {} accepts and starts to work", name(by))
        }
        Event::HandoffRejected { by, reason, .. } => {
            let reason = words(engine, run, *reason).await?;
            format!("       {} {}: {reason}", name(by), show::warn("rejects"))
        }
        Event::GateAnswered { answer, by, .. } => {
            format!("       {} {}", show::bold(by.as_str()), show::good(answer.name()))
        }
        Event::RunCompleted => show::good("the story is complete"),
        Event::HandoffAccepted { .. }
        | Event::HandoffCompleted { .. }
        | Event::RoundCounted { .. }
        | Event::HandoffTimedOut { .. }
        | Event::HandoffCancelled { .. }
        | Event::HandoffSuperseded { .. }
        | Event::HandoffStale { .. }
        | Event::RunStarted { .. }
        | Event::RunAdopted { .. }
        | Event::RunPaused { .. }
        | Event::RunResumed
        | Event::RunCancelled { .. }
        | Event::StepStarted { .. }
        | Event::StepCompleted { .. }
        | Event::StepSkipped { .. }
        | Event::GateOpened { .. }
        | Event::HandoffClarified { .. }
        | Event::HandoffAnswered { .. }
        | Event::HandoffReleased { .. }
        | Event::HandoffWoken { .. }
        | Event::FrameOpened { .. }
        | Event::FrameClosed { .. }
        | Event::LeaseGranted { .. }
        | Event::LeaseLost { .. }
        | Event::LeaseReleased { .. }
        | Event::GatePassed { .. }
        | Event::EvidenceRecorded { .. }
        | Event::SignalPassed
        | Event::SignalMerged { .. }
        | Event::MessagePosted { .. }
        | Event::BlockerRaised { .. }
        | Event::BlockerResolved { .. }
        | Event::BlockerWaived { .. }
        | Event::BatonLoose { .. } => return Ok(None),
    }))
}

async fn words(engine: &Engine, run: RunId, id: ContentId) -> Result<String, Failure> {
    let contents = engine.store().contents(run, &[id]).await?;
    Ok(contents.first().map_or_else(String::new, |it| show::visible(&it.text)))
}
