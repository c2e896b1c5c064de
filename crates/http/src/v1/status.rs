//! One screen: who has the baton, what waits for a person, and how many stories have not begun.

use baton_api::{ProjectStatus, ToDo};
use baton_core::gate::Gate;
use baton_core::run::{Baton, Handoff, RunStatus};
use baton_engine::shell_word;
use baton_store::{RunFilter, RunRow};

use super::answer::ApiResponse;
use super::runs::document::run_document;
use crate::openapi::ReadProblems;
use crate::problem::ApiProblem;
use crate::scope::RequestScope;

/// More runs would not fit on one screen.
const MOST_RUNS: u32 = 100;

/// Shows who has the baton, and what waits for a person.
#[utoipa::path(get, path = "/api/v1/status", operation_id = "getStatus", tag = "runs",
    responses((status = 200, body = ProjectStatus), ReadProblems))]
pub(super) async fn get(app: RequestScope) -> Result<ApiResponse<ProjectStatus>, ApiProblem> {
    let statuses = vec![RunStatus::Open, RunStatus::Paused];
    let filter = RunFilter { statuses, limit: MOST_RUNS + 1, ..RunFilter::default() };
    let mut rows = app.read().runs(&filter).await?;
    let has_more_runs = rows.len() > MOST_RUNS as usize;
    rows.truncate(MOST_RUNS as usize);
    let mut runs = Vec::new();
    for row in &rows {
        runs.push(run_document(&app, row).await?);
    }
    let counts = app.read().count_stories().await?;
    let mut waits_for_you = Vec::new();
    for row in rows.iter().filter(|it| it.run.is_waiting()) {
        waits_for_you.extend(to_do(row, &app.read().name_of_run(row).await?));
    }
    Ok(ApiResponse::new(ProjectStatus {
        runs,
        has_more_runs,
        waits_for_you,
        stories_waiting: counts.n_to_begin,
    }))
}

/// The action that a run needs from a person, if only a person can move it.
fn to_do(row: &RunRow, name: &str) -> Option<ToDo> {
    let to_do = |handoff: Option<&Handoff>, why: String, command: String| ToDo {
        run: row.number,
        run_number: row.number,
        run_id: row.run.id.0,
        story: row.run.story.to_string(),
        handoff: handoff.map(|it| it.no.label()),
        why,
        command,
    };
    if let Some((handoff, gate)) = row.run.gate() {
        let command = answer_command(&format!("{name}/{}", handoff.no), gate.choices());
        return Some(to_do(Some(handoff), sentence(gate), command));
    }
    if let Some(question) = row.run.questions().find(|it| it.to.agent.is_human()) {
        let why = format!("{} has a question", question.from.agent);
        let command = format!("baton answer {name}/{} --comment TEXT", question.no);
        return Some(to_do(Some(question), why, command));
    }
    match row.run.baton() {
        Baton::Loose { at, .. } => {
            let command = format!("baton run start {}", shell_word(row.run.story.as_str()));
            Some(to_do(None, format!("the baton lies loose at {at}"), command))
        }
        Baton::Offered { .. } | Baton::Held { .. } | Baton::Parked { .. } | Baton::Done => None,
    }
}

fn sentence(gate: &Gate) -> String {
    gate.sentence()
}

/// The command that answers a gate, with all its choices.
pub(super) fn answer_command(which: &str, choices: &[&str]) -> String {
    let is_typed = |it: &&&str| !matches!(**it, "answer" | "modify");
    let typed: Vec<String> =
        choices.iter().filter(is_typed).map(|it| it.replace('_', "-")).collect();
    let typed = typed.join("|");
    if choices.contains(&"answer") {
        return format!("baton answer {which} [{typed}] --comment TEXT");
    }
    format!("baton answer {which} {typed}")
}
