//! `baton workspace`: the folders that runs are worked on in.

use baton_api::RunDocument;
use baton_files::Dir;
use baton_runner::{AttemptStage, AttemptStatus, WorkspaceRecord, Workspaces, status};
use serde_json::json;

use crate::api::{Api, Ask};
use crate::args::{Cli, WorkspaceCommand};
use crate::failure::Failure;
use crate::project::Project;
use crate::runners::environment;
use crate::show::{self, OutputFormat};

pub(crate) async fn run(cli: &Cli, verb: &WorkspaceCommand) -> Result<(), Failure> {
    let project = Project::of(cli)?;
    let data = project.data_dir()?;
    let workspaces =
        Workspaces::open(project.dir.again()?, &data, &project.file.runner, &environment()).await?;
    match verb {
        WorkspaceCommand::List => list(cli, &workspaces).await,
        WorkspaceCommand::Path { run } => {
            show::answer(&one(&workspaces, run)?.path.display().to_string());
            Ok(())
        }
        WorkspaceCommand::Clean { run: Some(run) } => {
            let record = one(&workspaces, run)?;
            check_unused(&data, &record)?;
            clean(&workspaces, &record).await
        }
        WorkspaceCommand::Clean { run: None } => clean_all(cli, &workspaces).await,
    }
}

/// The workspace of a run, by its number or its story.
fn one(workspaces: &Workspaces, name: &str) -> Result<WorkspaceRecord, Failure> {
    let number = name.strip_prefix("run:").unwrap_or(name).parse::<u64>().ok();
    let all = workspaces.all()?;
    let by_number = all.iter().find(|it| Some(it.run_number) == number);
    let found = by_number.or_else(|| all.iter().rev().find(|it| it.story == name));
    found.cloned().ok_or_else(|| {
        let name = show::visible(name);
        Failure::NotFound(format!("run `{name}` has no workspace; `baton workspace list` has all"))
    })
}

async fn list(cli: &Cli, workspaces: &Workspaces) -> Result<(), Failure> {
    let mut rows = Vec::new();
    let mut items = Vec::new();
    for it in workspaces.all()? {
        let is_dirty = workspaces.is_dirty(&it).await;
        let has_repository = !it.is_worktree || workspaces.has_repository(&it);
        items.push(json!({
            "run": it.run_number, "runId": it.run, "story": it.story, "branch": it.branch,
            "port": it.port, "path": it.path, "isDirty": is_dirty,
        }));
        rows.push(vec![
            it.run_number.to_string(),
            show::visible(&it.story),
            it.branch.unwrap_or_default(),
            it.port.to_string(),
            match (has_repository, is_dirty) {
                (false, _) => "no repository",
                (true, true) => "not committed",
                (true, false) => "clean",
            }
            .to_owned(),
            it.path.display().to_string(),
        ]);
    }
    match cli.format() {
        OutputFormat::Json => show::answer_as(&json!({ "items": items, "next": null })),
        OutputFormat::Table if rows.is_empty() => show::answer("there are no workspaces"),
        OutputFormat::Table => {
            let headings = ["RUN", "STORY", "BRANCH", "PORT", "CHANGES", "FOLDER"];
            show::answer(&show::table(&headings, rows));
        }
    }
    Ok(())
}

async fn clean_all(cli: &Cli, workspaces: &Workspaces) -> Result<(), Failure> {
    let api = Api::open(cli).await?;
    let mut over = Vec::new();
    for it in workspaces.all()? {
        let run: Result<RunDocument, Failure> =
            api.get(&Ask::get(["runs", &it.run.to_string()])).await;
        match run {
            Ok(run) if matches!(run.status.0.name(), "completed" | "cancelled") => over.push(it),
            // A run that is not there any more is over too.
            Err(Failure::Refused { problem, .. }) if problem.code == "no_such_run" => over.push(it),
            Ok(_) | Err(_) => {}
        }
    }
    api.close().await;
    if over.is_empty() {
        show::answer("no run that is over has a workspace");
    }
    let mut failed = None;
    for it in &over {
        // One that has to be looked at keeps no other.
        if let Err(failure) = clean(workspaces, it).await {
            show::note(&format!("{} run {}: {failure}", show::warn("kept:"), it.run_number));
            failed = Some(failure);
        }
    }
    failed.map_or(Ok(()), Err)
}

/// Refuses a workspace that an agent is at work in.
fn check_unused(data: &Dir, record: &WorkspaceRecord) -> Result<(), Failure> {
    let status = status(data)?;
    let is_at_work =
        |it: &AttemptStatus| it.run == record.run_number && it.stage != AttemptStage::HandedOff;
    match status.attempts.iter().find(|it| status.pid.is_some() && is_at_work(it)) {
        Some(attempt) => Err(Failure::Conflict(format!(
            "`{}` is at work in the workspace of run {}; cancel the run, or wait for it",
            attempt.agent, record.run_number
        ))),
        None => Ok(()),
    }
}

async fn clean(workspaces: &Workspaces, record: &WorkspaceRecord) -> Result<(), Failure> {
    let kept = workspaces.clean(record).await?;
    let number = record.run_number;
    let mut text = match record.is_worktree {
        true => format!("removed the workspace of run {number}"),
        false => format!("run {number} was worked on in the project itself: nothing was removed"),
    };
    for kept in kept {
        text += &format!("; what was not committed is commit {} under {}", kept.commit, kept.name);
    }
    if let Some(branch) = &record.branch {
        text += &match workspaces.has_branch(branch).await {
            true => format!("; the branch {branch} is as it was"),
            false => format!("; there is no branch {branch} any more"),
        };
    }
    show::answer(&text);
    Ok(())
}
