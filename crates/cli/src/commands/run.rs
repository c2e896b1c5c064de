//! `baton run`: start, list, show, log, say, pause, resume, cancel, goto, skip, clean up.

use baton_api::{
    Because, Goto, HandoffSummary, Nothing, RerouteRequest, StartRequest, StoryDocument,
    StoryStatus, Why,
};
use baton_core::names::StoryKey;
use baton_core::shell::shell_word;
use serde::Serialize;

use super::outcome::tell;
use super::run_log;
use crate::api::{Api, Ask};
use crate::args::{RunCommand, WriteArgs};
use crate::failure::Failure;
use crate::show::{self, OutputFormat, TimeFormat};

pub(crate) async fn run(api: &Api, verb: &RunCommand) -> Result<(), Failure> {
    match verb {
        RunCommand::Start {
            story,
            new_story,
            again,
            anyway,
            workflow,
            to,
            at,
            reason,
            mode,
            budget,
            write,
        } => {
            if let (Some(story), false) = (story, again) {
                ask_if_finished(api, story, write).await?;
            }
            let body = StartRequest {
                story: story.clone(),
                new_story: *new_story,
                anyway: *anyway,
                workflow: workflow.clone(),
                to_agent: to.clone(),
                package: None,
                reason: reason.clone(),
                at: at.clone(),
                mode: mode.map(Into::into),
                budget: budget.clone(),
            };
            tell(api, &Ask::post(["runs"], &body).writing(write)).await
        }
        RunCommand::List { all } => list(api, *all).await,
        RunCommand::Show { run } => show_one(api, run).await,
        RunCommand::Log(args) => run_log::log(api, args).await,
        RunCommand::Say { run, text, agent, write } => {
            run_log::say(api, run, text, agent.as_ref(), write).await
        }
        RunCommand::Pause { run, reason, write } => {
            on(api, run, write, "pause", &Why { reason: reason.clone() }).await
        }
        RunCommand::Resume { run, write } => on(api, run, write, "resume", &Nothing {}).await,
        RunCommand::Cancel { run, reason, write } => {
            on(api, run, write, "cancel", &Why { reason: reason.clone() }).await
        }
        RunCommand::Goto { run, step, reason, write } => {
            let body = Goto { step: step.clone(), reason: reason.clone() };
            on(api, run, write, "goto", &body).await
        }
        RunCommand::Skip { run, reason, write } => {
            on(api, run, write, "skip", &Because { reason: reason.clone() }).await
        }
        RunCommand::Reroute { run, to, cause, reason, handoff, write } => {
            let (cause, handoff) = ((*cause).into(), handoff.clone());
            let body = RerouteRequest { to: to.clone(), cause, reason: reason.clone(), handoff };
            on(api, run, write, "reroute", &body).await
        }
        RunCommand::Cleanup { run, reason, write } => {
            on(api, run, write, "cleanup", &Why { reason: reason.clone() }).await
        }
    }
}

/// A finished story is started once more only if that is meant: a person at a terminal is asked, unless
/// nothing would be started anyway.
async fn ask_if_finished(api: &Api, name: &str, write: &WriteArgs) -> Result<(), Failure> {
    let key = name.strip_prefix(StoryKey::STORY_PREFIX).unwrap_or(name);
    let story = match api.get::<StoryDocument>(&Ask::get(["stories", key])).await {
        Ok(story) => story,
        // The start itself says why.
        Err(Failure::Refused { .. }) => return Ok(()),
        Err(failure) => return Err(failure),
    };
    if story.status != StoryStatus::Finished {
        return Ok(());
    }
    let what = format!("the story `{}` is finished", show::one_line(&story.key));
    let confirmed = match write.dry_run {
        true => None,
        false => show::confirmed(&format!("{what}; start it once more?")),
    };
    match confirmed {
        Some(true) => Ok(()),
        Some(false) => Err(Failure::Conflict(format!("{what}; nothing was started"))),
        None => {
            let command = format!("baton run start {} --again", shell_word(name));
            Err(Failure::Conflict(format!("{what}; `{command}` starts it once more")))
        }
    }
}

async fn on(
    api: &Api,
    run: &str,
    write: &WriteArgs,
    verb: &str,
    body: &impl Serialize,
) -> Result<(), Failure> {
    tell(api, &Ask::post(["runs", run, verb], body).writing(write)).await
}

async fn list(api: &Api, all: bool) -> Result<(), Failure> {
    let status = (!all).then_some("open,paused");
    let listed =
        api.list::<baton_api::RunDocument>(Ask::get(["runs"]).with_some("status", status)).await?;
    match api.format {
        OutputFormat::Json => show::answer_json(&listed.into_json()),
        OutputFormat::Table if listed.items.is_empty() => {
            show::note("no run is open; `baton run start` starts the next story");
        }
        OutputFormat::Table => show::answer(&show::runs_table(&listed.items, api.now())),
    }
    Ok(())
}

async fn show_one(api: &Api, name: &str) -> Result<(), Failure> {
    let reply = api.send(&Ask::get(["runs", name])).await?;
    if api.format == OutputFormat::Json {
        show::answer_document(&reply.body);
        return Ok(());
    }
    let baton_api::RunDetail { run, passed_gates, restart, usage } = reply.document()?;
    let handoffs = api.list::<HandoffSummary>(Ask::get(["handoffs"]).with("run", run.id)).await?;
    let times = TimeFormat::local();
    let mut fields = vec![
        ("run", format!("{} ({})", run.number, run.id)),
        ("story", show::visible(&run.story)),
        ("workflow", run.workflow.clone()),
        ("owner", show::visible(&run.owner)),
        ("status", run.status.name().to_owned()),
        ("baton", show::whereabouts(&run)),
        ("visited", run.visited.join(", ")),
        ("started", times.show(run.started_at)),
        ("moved", times.show(run.moved_at)),
    ];
    match show::n_offered_again(&handoffs.items) {
        0 => {}
        1 => fields.push(("offered again", "once, by the orchestrator".to_owned())),
        n => fields.push(("offered again", format!("{n} times, by the orchestrator"))),
    }
    if let Some(usage) = &usage {
        fields.push(("used", show::usage_total(usage)));
        fields.extend(usage.budget.map(|it| ("budget", show::budget(&it))));
    }
    let mut page = show::fields(fields);
    if let Some(usage) = usage.filter(|it| !it.agents.is_empty()) {
        page += &format!("\n\n{}", show::usage_table(&usage.agents));
    }
    if !passed_gates.is_empty() {
        page += &format!("\n\n{}", show::passed_gates_table(&passed_gates, &times));
    }
    if let Some(restart) = restart {
        let steps = restart.steps.join(", ");
        page += &format!("\n\nit may be started again at {steps}:\n  {}", restart.command);
    }
    page += &format!("\n\n{}", show::handoffs_table(&handoffs.items, api.now()));
    page +=
        &format!("\n\n{}", show::dim("`baton handoff show #` shows one of them with its package"));
    let ask = Ask::get(["runs", &run.id.to_string(), "messages"]);
    page += &show::messages(run.number, &api.list(ask).await?.items, &times);
    show::answer(&page);
    Ok(())
}
