//! Prints what happens, one line per event, and answers for the audience when a person is asked.

use std::time::Duration;

use baton_api::{HandoffDetail, HandoffSummary};
use baton_core::command::{Command, GateAnswer};
use baton_core::event::{Event, GateEvent, HandoffEvent, RunEvent};
use baton_core::gate::Answer;
use baton_core::names::{AgentId, FreeText};
use baton_core::run::{HandoffNo, RunId};
use baton_core::story::Story;
use baton_engine::{Caller, Engine, Verified};
use baton_store::{HandoffRef, Position, RunRef};
use baton_wire::event;

use crate::api::{Api, Ask};
use crate::failure::Failure;
use crate::show::{self, Telling};

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
    api: &Api,
    engine: &Engine,
    run: RunId,
    you: &Caller,
    pace: Duration,
) -> Result<(), Failure> {
    let started = engine.read_as(you).run(&RunRef::Id(run)).await?.run.started_at;
    let mut feed = engine.read_as(you).feed(Position::START, Some(run));
    while !super::is_over(engine, you, run).await? {
        while let Some(stored) = next(engine, you, run, &mut feed).await? {
            let Ok(event) = event::decode(&stored.body) else { continue };
            let after = stored.at.duration_since(started).as_secs_f64();
            if is_told(&event) {
                let line = line(api, engine, run, &event).await?;
                show::answer(&format!("{} {line}", show::dim(&format!("{after:>6.1}s"))));
            }
            if let Event::Gate(GateEvent::Opened { handoff, gate }) = &event {
                show::answer(&format!(
                    "        {} {}\n        {} in your project you would type: baton answer {}",
                    show::warn("a person is asked:"),
                    gate.sentence(),
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

/// The next event, or `None` once the run is over and every event has been printed.
async fn next(
    engine: &Engine,
    you: &Caller,
    run: RunId,
    feed: &mut baton_engine::Feed,
) -> Result<Option<baton_store::StoredEvent>, Failure> {
    if super::is_over(engine, you, run).await? {
        return Ok(feed.read_next().await?);
    }
    Ok(feed.next().await?)
}

/// A successful run ends with its handoffs and the statement that nothing was lost.
pub(super) async fn curtain(api: &Api, run: RunId, verified: &Verified) -> Result<(), Failure> {
    let rows = api.list::<HandoffSummary>(Ask::get(["handoffs"]).with("run", run)).await?.items;
    show::answer(&format!("\n{}", show::handoffs_table(&rows, api.now())));
    if !verified.problems.is_empty() {
        return Err(Failure::Broken { what: verified.problems.join("; ") });
    }
    show::answer(&format!(
        "\n{} {}, {} on disk, chain whole, replay equal",
        show::good("✔ delivered:"),
        show::counted(rows.len() as u64, "handoff"),
        show::counted(verified.n_events, "event")
    ));
    Ok(())
}

async fn answer(engine: &Engine, run: RunId, gate: HandoffNo, you: &Caller) -> Result<(), Failure> {
    let by = you.principal.clone();
    let comment = Some(FreeText::parse("Write the test first; then it is good enough")?);
    let answer = Answer::Continue;
    let command =
        |handoff| Command::Answer(GateAnswer { handoff, answer, by, comment, package: None });
    let which = HandoffRef::InRun(run, gate);
    engine.on_handoff(you, &which, command).await?;
    Ok(())
}

async fn line(api: &Api, engine: &Engine, run: RunId, event: &Event) -> Result<String, Failure> {
    let row = match event.handoff() {
        Some(no) => {
            let ask = Ask::get(["handoffs", &format!("{run}/{}", no.label())]);
            Some(api.get::<HandoffDetail>(&ask).await?.handoff.row)
        }
        None => None,
    };
    let name = |id: &AgentId| engine.catalog().agents().name_of(id);
    Ok(Telling { event, row: row.as_ref(), message: None, name: &name }.words())
}

/// Prints who hands what to whom, and how it ends; the rest is in the log.
fn is_told(event: &Event) -> bool {
    matches!(
        event,
        Event::Handoff(
            HandoffEvent::Created(_)
                | HandoffEvent::Accepted { is_implicit: false, .. }
                | HandoffEvent::Rejected { .. }
        ) | Event::Gate(GateEvent::Answered { .. })
            | Event::Run(RunEvent::Completed)
    )
}
