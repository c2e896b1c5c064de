//! The inbox: what waits for a person, the consequence of each answer, and the answer itself.

use baton_api::{
    ChoiceDocument, CommandAnswer, InboxItemDocument, Page, PersonsWord, SaidPartDocument,
    SenderDocument,
};
use baton_core::command::{Command, GateAnswer};
use baton_core::gate::{Answer, AnswerKind, GateCause};
use baton_core::names::FreeText;
use baton_core::run::HandoffNo;
use baton_core::shell::shell_word;
use baton_engine::EngineError;
use baton_views::{InboxItem, SaidPart, SenderWords, Waits};

use super::answer::{ApiResponse, PageQuery, after, limit};
use super::approvals::{check_content, shown_gate};
use super::handoffs::commands::on_handoff;
use super::handoffs::detail::observed;
use super::handoffs::document::rows;
use super::runs::document::run_document;
use super::write::{AsHeader, CommandDone, HandoffCommandParams, HandoffQuery, WriteRequest};
use crate::body;
use crate::lookup::by;
use crate::openapi::{ReadProblems, WriteProblems};
use crate::params::{Named, Params};
use crate::problem::ApiProblem;
use crate::scope::RequestScope;

/// Lists what waits for a person.
///
/// By run, with everything needed to decide. A page never splits a run, and so may be longer than
/// `limit`.
#[utoipa::path(get, path = "/api/v1/inbox", operation_id = "listInbox", tag = "inbox",
    params(PageQuery, AsHeader),
    responses(
        (status = 200, description = "One page of items",
            body = Page<InboxItemDocument>),
        ReadProblems))]
pub(super) async fn list(
    app: RequestScope,
    Params(query): Params<PageQuery>,
) -> Result<ApiResponse<Page<InboxItemDocument>>, ApiProblem> {
    let limit = limit(query.limit)? as usize;
    let after = after(query.after)?;
    let (found, next) = app.read().inbox_after(after, limit).await?;
    let mut items = Vec::new();
    for item in found {
        items.push(inbox_item(&app, item).await?);
    }
    Ok(ApiResponse::new(Page { items, next: next.map(|it| it.to_string()) }))
}

async fn inbox_item(app: &RequestScope, item: InboxItem) -> Result<InboxItemDocument, EngineError> {
    let no = item.why.handoff();
    let asked = &item.asked;
    let choices = item.choices.iter().map(|it| ChoiceDocument {
        choice: it.name.to_owned(),
        command: item.command(it),
        needs_words: it.needs_words,
        then: InboxItem::then(it),
        meaning: asked.meaning(it.name).map(str::to_owned),
    });
    let (cause, kind) = match &item.why {
        Waits::Gate { cause, kind, .. } => (cause.name(), Some((*kind).into())),
        Waits::Question { .. } => ("question", None),
        Waits::Loose { .. } => ("loose", None),
    };
    let row = item.trail.iter().find(|it| Some(it.no) == no);
    let gate = item.gate();
    let (approvals, content_hash) = match gate {
        Some(gate) => {
            let shown = shown_gate(app, item.run.run.id, gate).await?;
            (shown.approvals, shown.content_hash)
        }
        None => (None, None),
    };
    Ok(InboxItemDocument {
        run: run_document(app, &item.run).await?,
        handoff: no.map(HandoffNo::label),
        handoff_id: row.map(|it| it.id.0),
        why: item.sentence(),
        cause: cause.to_owned(),
        kind,
        name: asked.name.clone(),
        words: asked.words.clone(),
        words_by: asked.words_by.as_ref().map(ToString::to_string),
        items: asked.items.clone(),
        blockers: asked.blockers.clone(),
        damaged: asked.damaged.iter().map(|it| (*it).to_owned()).collect(),
        checks: asked.checks.iter().map(ToString::to_string).collect(),
        evidence: asked.evidence.iter().map(observed).collect(),
        unverified: asked.unverified.clone(),
        approvals,
        content_hash,
        reminded_at: gate.and_then(|it| it.reminded_at),
        sender: asked.sender.iter().map(sender).collect(),
        choices: choices.collect(),
        history: history(&item),
        trail: rows(app, &item.trail).await?,
    })
}

/// Before a person grants more, they may want to see what has been tried.
fn history(item: &InboxItem) -> Option<String> {
    let Waits::Gate { cause, .. } = &item.why else { return None };
    let is_limit = matches!(
        cause,
        GateCause::Rounds
            | GateCause::SameFindings
            | GateCause::Entries
            | GateCause::RunLimit
            | GateCause::Budget
            | GateCause::Delegations
            | GateCause::Releases
    );
    is_limit.then(|| format!("baton run show {}", shell_word(item.run.run.story.as_str())))
}

fn sender(it: &SenderWords) -> SenderDocument {
    let part =
        |it: &SaidPart| SaidPartDocument { name: it.name.to_owned(), texts: it.texts.clone() };
    SenderDocument {
        agent: it.by.to_string(),
        handoff: it.handoff.map(HandoffNo::label),
        parts: it.parts.iter().map(part).collect(),
        is_cut: it.is_cut,
    }
}

/// Records a person's answer.
///
/// To a gate, an escalation or a question that has come to people. The item's `choices` list the
/// answers that it takes.
#[utoipa::path(post, path = "/api/v1/inbox/{handoff}/answer", operation_id = "answerInbox",
    tag = "inbox",
    params(HandoffCommandParams),
    request_body = PersonsWord,
    responses(CommandDone, WriteProblems))]
pub(super) async fn answer(
    app: RequestScope,
    name: Named,
    write: WriteRequest<PersonsWord, HandoffQuery>,
) -> Result<ApiResponse<CommandAnswer>, ApiProblem> {
    let asked = &write.asked;
    let answer = said(&app, asked)?;
    let comment = asked.comment.as_deref().map(FreeText::parse).transpose()?;
    let package =
        asked.package.as_deref().map(|it| body::package_or_document(Some(it))).transpose()?;
    if let Some(expected) = &asked.content_hash {
        check_content(&app, &name, write.query.run.as_deref(), expected).await?;
    }
    let by = write.caller.principal().clone();
    let command = |handoff| Command::Answer(GateAnswer { handoff, answer, by, comment, package });
    on_handoff(&app, &name, &write, command).await
}

fn said(app: &RequestScope, asked: &PersonsWord) -> Result<Answer, ApiProblem> {
    let to = by(app, asked.to_agent.as_deref())?;
    let is_handed = *asked.answer == AnswerKind::HandTo;
    match (asked.answer.answer(to), &asked.to_agent) {
        (Some(_), Some(_)) if !is_handed => {
            Err(ApiProblem::malformed("unknown_field", "only `hand_to` takes `toAgent`"))
        }
        (Some(answer), _) => Ok(answer),
        (None, _) => Err(ApiProblem::malformed("missing_field", "`hand_to` needs `toAgent`")),
    }
}
