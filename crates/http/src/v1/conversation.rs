//! The conversation of a run, in pages in both directions.

use baton_api::{
    AgentProfile, ConversationDecision, ConversationDocument, ConversationItemDocument,
};
use baton_store::Position;
use baton_views::{ConversationItem, ConversationPage, ConversationWindow, StatedDecision};
use serde::Deserialize;
use utoipa::IntoParams;

use super::answer::{ApiResponse, limit};
use super::write::RunPath;
use crate::lookup::find_run;
use crate::openapi::ReadProblems;
use crate::params::{Named, Params};
use crate::problem::ApiProblem;
use crate::scope::RequestScope;

/// The query of a conversation.
#[derive(Deserialize, IntoParams)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(super) struct ConversationQuery {
    /// Only what comes after this cursor: `next` of another page; 0 for the beginning.
    #[param(minimum = 0)]
    after: Option<i64>,
    /// Only what comes before this cursor: `previous` of another page.
    #[param(minimum = 0)]
    before: Option<i64>,
    /// The page size at most.
    #[param(minimum = 1, maximum = 500, default = 50)]
    limit: Option<u32>,
}

/// Reads the conversation of a run.
///
/// What agents and people said, handed over, decided and asked, oldest first, each with its author as
/// it was shown then. Without a cursor, the newest page; `before` leads back, `after` on.
#[utoipa::path(get, path = "/api/v1/runs/{run}/conversation", operation_id = "readConversation",
    tag = "conversation",
    params(RunPath, ConversationQuery),
    responses(
        (status = 200, description = "A part of the conversation", body = ConversationDocument),
        ReadProblems))]
pub(super) async fn read(
    app: RequestScope,
    Named(name): Named,
    Params(query): Params<ConversationQuery>,
) -> Result<ApiResponse<ConversationDocument>, ApiProblem> {
    let limit = limit(query.limit)?;
    let cursor = |it: i64, name: &str| {
        let wrong = || format!("`{name}` is a number from 0");
        let number = u64::try_from(it).map_err(|_| ApiProblem::malformed("wrong_type", wrong()));
        number.map(Position)
    };
    let window = match (query.after, query.before) {
        (Some(_), Some(_)) => {
            let message = "send `after` or `before`, not both";
            return Err(ApiProblem::malformed("wrong_type", message));
        }
        (Some(after), None) => ConversationWindow::After(cursor(after, "after")?),
        (None, Some(before)) => ConversationWindow::Before(cursor(before, "before")?),
        (None, None) => ConversationWindow::NEWEST,
    };
    let run = find_run(&app, &name).await?;
    let page = app.read().conversation(&run, window, limit).await?;
    Ok(ApiResponse::new(conversation(page, window)).at(run.version))
}

fn conversation(page: ConversationPage, window: ConversationWindow) -> ConversationDocument {
    let first = page.items.first().map(|it| it.position.0);
    let last = page.items.last().map(|it| it.position.0);
    let (has_before, next) = match window {
        ConversationWindow::After(after) => (after.0 > 0, last.unwrap_or(after.0)),
        ConversationWindow::Before(_) => (page.has_more, last.unwrap_or(0)),
    };
    ConversationDocument {
        previous: first.filter(|_| has_before).map(|it| it.to_string()),
        next: next.to_string(),
        items: page.items.into_iter().map(item).collect(),
    }
}

fn item(it: ConversationItem) -> ConversationItemDocument {
    ConversationItemDocument {
        position: it.position.0,
        at: it.at,
        kind: it.kind.name().to_owned(),
        agent: it.agent.as_ref().map(|agent| AgentProfile::from(agent).at(it.agent_step)),
        by: it.principal.to_string(),
        to: it.to.as_ref().map(|to| AgentProfile::from(to).at(it.to_step)),
        line: it.line,
        text: it.text,
        tools: it.tools,
        handoff: it.handoff.map(|it| it.label()),
        decisions: it.decisions.into_iter().map(stated).collect(),
        question: it.ask,
        damaged: if it.is_damaged { vec!["text".to_owned()] } else { Vec::new() },
    }
}

fn stated(it: StatedDecision) -> ConversationDecision {
    let record = it.record.as_ref();
    ConversationDecision {
        number: it.no,
        decision: it.decision,
        rationale: it.rationale,
        attribution: it.attribution,
        status: record.map(|it| it.status.name().to_owned()),
        locked_by: record.and_then(|it| it.locked_by.as_ref()).map(ToString::to_string),
        superseded_by: record.and_then(|it| it.superseded_by),
        conflicts_with: record.map(|it| it.conflicts_with.clone()).unwrap_or_default(),
    }
}
