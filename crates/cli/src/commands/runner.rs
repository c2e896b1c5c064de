//! `baton runner`: runs agents for a server; `baton runner status` shows what it does.

use std::sync::Arc;

use baton_core::names::AgentId;
use baton_runner::{Runner, RunnerMode, RunnerStatus, status};
use serde_json::json;

use super::stop::{input_ends, stop_signal};
use crate::api::{RemoteServer, server_of};
use crate::args::{Cli, RunnerArgs, RunnerCommand};
use crate::failure::Failure;
use crate::log;
use crate::project::Project;
use crate::runners::{
    NO_EXECUTOR, OverNetwork, ProjectTrust, credential, is_idle, options, tell_untrusted,
};
use crate::server_list::ServerList;
use crate::show::{self, OutputFormat};

pub(crate) async fn run(cli: &Cli, args: &RunnerArgs) -> Result<(), Failure> {
    match args.command {
        Some(RunnerCommand::Status) => tell_status(cli),
        None => work(cli, args).await,
    }
}

async fn work(cli: &Cli, args: &RunnerArgs) -> Result<(), Failure> {
    log::start()?;
    let project = Project::of(cli)?;
    if is_idle(&project.file, &project.load().catalog(&project.file)) {
        return Err(Failure::NotFound(NO_EXECUTOR.to_owned()));
    }
    let trust = ProjectTrust::of(&project)?;
    if !trust.is_given() {
        tell_untrusted(&trust);
        return Err(Failure::Untrusted("nothing is started before it is trusted".to_owned()));
    }
    let data = project.data_dir()?;
    let named = ServerList::new(RemoteServer::all_named(cli)?);
    // A server that is named is not asked before there is a credential for it.
    let typed = args.token.as_ref();
    let given = named.as_ref().map(|_| credential(&data, typed)).transpose()?;
    let (transport, url) = match named {
        Some(servers) => {
            servers.find().await?;
            let url = servers.url();
            (OverNetwork::List(servers), url)
        }
        None => {
            let server = server_of(&project).await?.ok_or(Failure::NoServer)?;
            let url = server.url.to_string();
            (OverNetwork::of(&project, server)?, url)
        }
    };
    let agents = args.agents.iter().map(|it| AgentId::parse(it)).collect::<Result<Vec<_>, _>>()?;
    let agents = (!agents.is_empty()).then_some(agents);
    let credential = match given {
        Some(credential) => credential,
        None => credential(&data, typed)?,
    };
    let which = (agents, args.capabilities.clone());
    let options = options(&project, data, url.clone(), credential, which)?;
    let runner = Runner::open(options, Arc::new(transport)).await?;
    show::note(&format!("running agents for {url}"));
    let mode = if args.once { RunnerMode::Once } else { RunnerMode::Forever };
    tokio::select! {
        ended = runner.run(mode, stop_signal()) => ended?,
        // The server is gone as well: agents are ended at once, and their leases with them.
        () = input_ends(), if args.until_input_ends => {}
    }
    Ok(())
}

fn tell_status(cli: &Cli) -> Result<(), Failure> {
    let project = Project::of(cli)?;
    let trust = ProjectTrust::of(&project)?;
    let status = status(&project.data_dir()?)?;
    match cli.format() {
        OutputFormat::Json => show::answer_as(&status_json(&project, &status, trust.is_given())),
        OutputFormat::Table => show_status(&project, &status, &trust),
    }
    Ok(())
}

fn status_json(project: &Project, status: &RunnerStatus, is_trusted: bool) -> serde_json::Value {
    let attempts = status.attempts.iter().map(|it| {
        json!({
            "number": it.number, "label": it.label, "story": it.story, "agent": it.agent,
            "attempt": it.attempt, "executor": it.executor, "stage": it.stage, "result": it.result,
        })
    });
    let checks = status.checks.iter().map(|it| {
        json!({
            "number": it.number, "label": it.label, "story": it.story, "run": it.run,
            "checks": it.checks, "stage": it.stage.name(),
        })
    });
    let commands = project.file.checks.iter();
    let commands = commands.map(|it| json!({ "name": it.name.as_str(), "run": it.run }));
    json!({
        "pid": status.pid, "isTrusted": is_trusted, "attempts": attempts.collect::<Vec<_>>(),
        "checks": checks.collect::<Vec<_>>(), "commands": commands.collect::<Vec<_>>(),
    })
}

fn show_status(project: &Project, status: &RunnerStatus, trust: &ProjectTrust) {
    let settings = &project.file.runner;
    match status.pid {
        Some(pid) if !trust.is_given() => show::answer(&format!(
            "a runner is there (process {pid}), and starts nothing: what it would start is not trusted; `baton trust`"
        )),
        Some(pid) => show::answer(&format!("a runner is at work (process {pid})")),
        None if is_idle(&project.file, &project.load().catalog(&project.file)) => {
            show::answer(NO_EXECUTOR);
        }
        None if !trust.is_given() => {
            show::answer("no runner: what it would start is not trusted; `baton trust`");
        }
        None => show::answer("no runner is at work; `baton serve` or `baton runner` starts one"),
    }
    for agent in &settings.agents {
        let name = agent.agent.as_ref().map_or("every other agent", |it| it.as_str());
        show::answer(&format!("  {name}: {}", agent.executors.join(", then ")));
    }
    for check in &project.file.checks {
        let command = show::visible(&check.run.join(" "));
        show::answer(&format!("  check {}: {command}", check.name));
    }
    if !status.checks.is_empty() {
        let rows = status.checks.iter().map(|it| {
            let checks = it.checks.join(", ");
            let handoff = format!("{} of run {}", it.label, it.run);
            vec![handoff, show::visible(&it.story), checks, it.stage.name().to_owned()]
        });
        let headings = ["HANDOFF", "STORY", "CHECKS", "STATE"];
        show::answer(&format!("\n{}", show::table(&headings, rows.collect())));
    }
    if status.attempts.is_empty() {
        return;
    }
    let rows = status.attempts.iter().map(|it| {
        vec![
            it.number.to_string(),
            show::visible(&it.story),
            it.agent.clone(),
            it.executor.clone().unwrap_or_default(),
            it.attempt.to_string(),
            match &it.result {
                Some(result) => show::shortened(&show::visible(result), 80),
                None => it.stage.name().to_owned(),
            },
        ]
    });
    let headings = ["HANDOFF", "STORY", "AGENT", "EXECUTOR", "ATTEMPT", "STATE"];
    show::answer(&format!("\n{}", show::table(&headings, rows.collect())));
}
