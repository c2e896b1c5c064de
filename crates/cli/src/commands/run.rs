//! `baton run`: start, list, show, pause, resume, cancel, goto, skip, clean up.

use baton_core::command::Command;
use baton_core::document::Node;
use baton_core::names::{AgentId, Reason, StepId, StoryKey, WorkflowName};
use baton_core::run::RunStatus;
use baton_engine::StartRun;
use baton_store::{HandoffFilter, RunFilter};

use super::handoff::reason_of;
use super::outcome::tell;
use crate::args::{Run, Write};
use crate::failure::Failure;
use crate::names::find_run;
use crate::session::Session;
use crate::show::{self, Format, Times};

pub(crate) async fn run(session: &Session, verb: &Run) -> Result<(), Failure> {
    match verb {
        Run::Start { story, workflow, to, write } => {
            let story = match story {
                // A typing mistake is not a new story.
                Some(key) => session.engine.story(&StoryKey::parse(key)?).await?.story.key,
                None => session.engine.next_ready().await?.key,
            };
            let start = StartRun {
                story,
                workflow: workflow.as_deref().map(WorkflowName::parse).transpose()?,
                to: to.as_deref().map(AgentId::parse).transpose()?,
                package: None,
                reason: None,
            };
            let outcome = session.engine.start(&session.caller(write), start).await?;
            tell(session, write, &outcome).await
        }
        Run::List { all } => list(session, *all).await,
        Run::Show { run } => show_one(session, run).await,
        Run::Pause { run, reason, write } => {
            let reason = reason_of(reason.as_ref())?;
            on(session, run, write, Command::Pause { reason }).await
        }
        Run::Resume { run, write } => on(session, run, write, Command::Resume).await,
        Run::Cancel { run, reason, write } => {
            let reason = reason_of(reason.as_ref())?;
            on(session, run, write, Command::CancelRun { reason }).await
        }
        Run::Goto { run, step, reason, write } => {
            let (step, reason) = (StepId::parse(step)?, Reason::parse(reason)?);
            on(session, run, write, Command::Goto { step, reason }).await
        }
        Run::Skip { run, reason, write } => {
            on(session, run, write, Command::Skip { reason: Reason::parse(reason)? }).await
        }
        Run::Cleanup { run, reason, write } => {
            let reason = reason_of(reason.as_ref())?;
            on(session, run, write, Command::CleanUp { reason }).await
        }
    }
}

async fn on(session: &Session, run: &str, write: &Write, command: Command) -> Result<(), Failure> {
    let run = find_run(&session.engine, run).await?.run.id;
    let outcome = session.engine.on_run(&session.caller(write), run, command).await?;
    tell(session, write, &outcome).await
}

async fn list(session: &Session, all: bool) -> Result<(), Failure> {
    let engine = &session.engine;
    let statuses = if all { Vec::new() } else { vec![RunStatus::Open, RunStatus::Paused] };
    let rows = engine.store().runs(&RunFilter { statuses, ..RunFilter::default() }).await?;
    match session.format {
        Format::Json => {
            let mut runs = Vec::new();
            for row in &rows {
                runs.push(show::run_json(row, engine.workflow_of(row).await?.as_ref()));
            }
            show::answer_json(&Node::List(runs));
        }
        Format::Table if rows.is_empty() => {
            show::note("no run is open; `baton run start` hands the next story in");
        }
        Format::Table => show::answer(&show::runs_table(&rows, engine.clock().now())),
    }
    Ok(())
}

async fn show_one(session: &Session, name: &str) -> Result<(), Failure> {
    let engine = &session.engine;
    let row = find_run(engine, name).await?;
    let filter = HandoffFilter { run: Some(row.run.id), ..HandoffFilter::default() };
    let handoffs = engine.store().handoffs(&filter).await?;
    let texts = engine.texts_of(&handoffs).await?;
    let workflow = engine.workflow_of(&row).await?;
    match session.format {
        Format::Json => {
            let handoffs = handoffs.iter().map(|it| show::handoff_json(it, &texts)).collect();
            show::answer_json(&Node::map([
                ("run", show::run_json(&row, &workflow)),
                ("handoffs", Node::List(handoffs)),
            ]));
        }
        Format::Table => {
            let times = Times::local();
            let visited: Vec<&str> = row.run.visited.iter().map(|it| it.as_str()).collect();
            let fields = show::fields(vec![
                ("run", format!("{} ({})", row.number, row.run.id)),
                ("story", show::visible(row.run.story.as_str())),
                ("workflow", row.run.workflow.to_string()),
                ("owner", show::visible(row.run.owner.as_str())),
                ("status", row.run.status.name().to_owned()),
                ("baton", show::whereabouts(&row.run)),
                ("visited", visited.join(", ")),
                ("started", times.show(row.run.started_at)),
                ("moved", times.show(row.run.moved_at)),
            ]);
            let table = show::handoffs_table(&handoffs, &texts, engine.clock().now());
            show::answer(&format!("{fields}\n\n{table}"));
        }
    }
    Ok(())
}
