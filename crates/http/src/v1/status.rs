//! One screen: who has the baton, what waits for a person, and how many stories have not begun.

use baton_api::{ProjectStatus, ToDo};
use baton_core::content::ContentId;
use baton_core::gate::{Gate, GateCause, GateKind};
use baton_core::run::{Baton, Handoff, RunStatus};
use baton_engine::{EngineError, shell_word};
use baton_store::{Order, RunFilter, RunRow};

use super::answer::ApiResponse;
use super::runs::document::run_document;
use crate::cluster::ClusterState;
use crate::openapi::ReadProblems;
use crate::problem::ApiProblem;
use crate::scope::RequestScope;

/// More runs would not fit on one screen: the newest are shown.
const MOST_RUNS: u32 = 100;
/// How much of a question is shown; the inbox has all of it.
const MOST_CHARS: usize = 300;

/// Shows who has the baton, and what waits for a person.
///
/// The first screen: the open runs, what only a person can move, with the command to type, and how
/// many stories wait.
#[utoipa::path(get, path = "/api/v1/status", operation_id = "getStatus", tag = "runs",
    responses(
        (status = 200, description = "The status of the project",
            body = ProjectStatus),
        ReadProblems))]
pub(super) async fn get(app: RequestScope) -> Result<ApiResponse<ProjectStatus>, ApiProblem> {
    let statuses = vec![RunStatus::Open, RunStatus::Paused];
    let order = Order::NewestFirst;
    let filter = RunFilter { statuses, order, limit: MOST_RUNS + 1, ..RunFilter::default() };
    let mut rows = app.read().runs(&filter).await?;
    let has_more_runs = rows.len() > MOST_RUNS as usize;
    rows.truncate(MOST_RUNS as usize);
    let mut runs = Vec::new();
    for row in &rows {
        runs.push(run_document(&app, row).await?);
    }
    let counts = app.read().count_stories().await?;
    let mut waits_for_you = Vec::new();
    // What has waited for the longest comes first, and is not among the newest runs.
    let waiting = RunFilter { only_waiting: true, order: Order::OldestFirst, ..filter };
    for row in &app.read().runs(&waiting).await? {
        waits_for_you.extend(to_dos(&app, row).await?);
    }
    let cluster = match &app.cluster {
        Some(cluster) => cluster.state().await.map_err(EngineError::from)?,
        None => ClusterState::default(),
    };
    Ok(ApiResponse::new(ProjectStatus {
        project: app.project.clone(),
        runs,
        has_more_runs,
        waits_for_you,
        stories_waiting: counts.n_to_begin,
        nodes: cluster.documents(),
        log_delay: cluster.delay_document(),
    }))
}

/// The actions that a run needs from a person, the one that stops the run first. Advisory gates
/// stop nothing, but a person may still object.
async fn to_dos(app: &RequestScope, row: &RunRow) -> Result<Vec<ToDo>, EngineError> {
    let name = app.read().name_of_run(row).await?;
    let mut found: Vec<(ToDo, Option<ContentId>)> = Vec::new();
    let to_do = |handoff: Option<&Handoff>, why: String, command: String| ToDo {
        run: row.number,
        run_number: row.number,
        run_id: row.run.id.0,
        story: row.run.story.to_string(),
        handoff: handoff.map(|it| it.no.label()),
        why,
        words: None,
        command,
    };
    let stopping = row.run.gates().filter(|(_, gate)| gate.kind != GateKind::Advisory);
    let advisory = row.run.gates().filter(|(_, gate)| gate.kind == GateKind::Advisory);
    for (handoff, gate) in stopping.chain(advisory) {
        let command = answer_command(&format!("{name}/{}", handoff.no), gate.choices());
        found.push((to_do(Some(handoff), sentence(gate), command), gate.reason));
    }
    for question in row.run.questions() {
        let (from, to) = (&question.from.agent, &question.to.agent);
        let why = match to.is_human() {
            true => format!("{from} has a question"),
            false => format!("{from} has a question for {to}; you may answer it too"),
        };
        let command = format!("baton answer {name}/{} --comment TEXT", question.no);
        found.push((to_do(Some(question), why, command), question.asks));
    }
    let batons = row.run.branches.iter().map(|it| &it.baton);
    for baton in batons {
        match baton {
            Baton::Loose { at, .. } => {
                let command = format!("baton run start {}", shell_word(row.run.story.as_str()));
                found.push((
                    to_do(
                        None,
                        format!("the baton lies loose at {at}: no agent has the work"),
                        command,
                    ),
                    None,
                ));
            }
            Baton::Offered { .. } | Baton::Held { .. } | Baton::Parked { .. } | Baton::Done => {}
        }
    }
    let texts = app.read().texts(row.run.id, found.iter().filter_map(|(_, id)| *id)).await?;
    let with_words = |(to_do, id): (ToDo, Option<ContentId>)| {
        let words = id.and_then(|it| texts.get(it).whole());
        let words = words.filter(|it| *it != to_do.why).map(shortened);
        ToDo { words, ..to_do }
    };
    Ok(found.into_iter().map(with_words).collect())
}

fn shortened(text: &str) -> String {
    match text.char_indices().nth(MOST_CHARS) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

fn sentence(gate: &Gate) -> String {
    match gate.kind {
        // Its agent waits for the answer.
        GateKind::Advisory if gate.cause == GateCause::Permission => gate.sentence(),
        GateKind::Advisory => "The work goes on; you may object while it does".to_owned(),
        GateKind::Blocking | GateKind::Automatic => gate.sentence(),
    }
}

/// The command that answers a gate, with all its choices in parentheses: a shell refuses the line as it stands, so that
/// nobody answers by pasting it.
pub(super) fn answer_command(which: &str, choices: &[&str]) -> String {
    let is_typed = |it: &&&str| !matches!(**it, "answer" | "modify");
    let typed: Vec<String> =
        choices.iter().filter(is_typed).map(|it| it.replace('_', "-")).collect();
    let typed = typed.join(", ");
    if choices.contains(&"answer") {
        return format!("baton answer {which} --comment TEXT (or CHOICE: {typed})");
    }
    let modify = match choices.contains(&"modify") {
        true => format!(", or baton modify {which} --payload JSON"),
        false => String::new(),
    };
    format!("baton answer {which} CHOICE ({typed}){modify}")
}
