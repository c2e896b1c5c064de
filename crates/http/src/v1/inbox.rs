//! The inbox: what waits for a person, the consequence of each answer, and the answer itself.

use baton_core::command::{Command, GateAnswer};
use baton_core::gate::Answer as Said;
use baton_core::names::{AgentId, FreeText};
use baton_core::run::HandoffNo;
use baton_engine::EngineError;
use baton_views::{InboxItem, Waits};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use utoipa::ToSchema;
use uuid::Uuid;

use super::answer::{ApiResponse, Page, PageQuery, after, limit};
use super::command_result::CommandAnswer;
use super::enums::GateKindWord;
use super::handoffs::commands::on_handoff;
use super::handoffs::detail::EvidenceDocument;
use super::handoffs::document::{HandoffSummary, rows};
use super::names::known_agent;
use super::runs::document::RunDocument;
use super::write::{AsHeader, HandoffQuery, RunHeaders, WriteRequest};
use crate::body;
use crate::openapi::{ReadProblems, WriteProblems};
use crate::params::{Named, Params};
use crate::problem::ApiProblem;
use crate::scope::RequestScope;

/// Something that waits for a person.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = InboxItem)]
pub struct Item {
    pub run: RunDocument,
    /// The label of the handoff that asks; null if the baton is loose.
    pub handoff: Option<String>,
    /// The id of that handoff.
    pub handoff_id: Option<Uuid>,
    /// Why a person is asked.
    pub why: String,
    /// Why, in one word: a gate's cause, else `question` or `loose`.
    pub cause: String,
    /// How much of the run a gate stops.
    pub kind: Option<GateKindWord>,
    /// The gate's name.
    pub name: Option<String>,
    /// The question, or why the gate was opened.
    pub words: Option<String>,
    /// What the person should look at.
    pub items: Vec<String>,
    pub blockers: Vec<String>,
    /// What is missing because it is damaged: `words`, `blockers`, or the `package`, which contains
    /// the sender's name, items and meanings. Omitted if nothing is.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub damaged: Vec<String>,
    /// The checks that have to pass at an automatic gate.
    pub checks: Vec<String>,
    pub evidence: Vec<EvidenceDocument>,
    pub choices: Vec<ChoiceDocument>,
    /// Every handoff of the run, oldest first.
    pub trail: Vec<HandoffSummary>,
}

/// An answer that a person may give, and its consequence.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ChoiceDocument {
    pub choice: String,
    /// The command to type for this answer.
    pub command: String,
    /// Whether it needs a comment.
    pub needs_words: bool,
    /// What the rules do after this answer.
    pub then: String,
    /// The gate's own description of this choice.
    pub meaning: Option<String>,
}

/// Lists what waits for a person, by run. A page never splits a run, so it may exceed `limit`.
#[utoipa::path(get, path = "/api/v1/inbox", operation_id = "listInbox", tag = "inbox",
    params(PageQuery, AsHeader),
    responses((status = 200, body = Page<Item>), ReadProblems))]
pub(super) async fn list(
    app: RequestScope,
    Params(query): Params<PageQuery>,
) -> Result<ApiResponse<Page<Item>>, ApiProblem> {
    let limit = limit(query.limit)? as usize;
    let after = after(query.after)?;
    let (found, next) = app.read().inbox_after(after, limit).await?;
    let mut items = Vec::new();
    for item in found {
        items.push(Item::of(&app, item).await?);
    }
    Ok(ApiResponse::new(Page { items, next: next.map(|it| it.to_string()) }))
}

impl Item {
    async fn of(app: &RequestScope, item: InboxItem) -> Result<Self, EngineError> {
        let no = asks(&item.why);
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
        Ok(Self {
            run: RunDocument::of(app, &item.run).await?,
            handoff: no.map(HandoffNo::label),
            handoff_id: row.map(|it| it.id.0),
            why: item.sentence(),
            cause: cause.to_owned(),
            kind,
            name: asked.name.clone(),
            words: asked.words.clone(),
            items: asked.items.clone(),
            blockers: asked.blockers.clone(),
            damaged: asked.damaged.iter().map(|it| (*it).to_owned()).collect(),
            checks: asked.checks.iter().map(ToString::to_string).collect(),
            evidence: asked.evidence.iter().map(EvidenceDocument::from).collect(),
            choices: choices.collect(),
            trail: rows(app, &item.trail).await?,
        })
    }
}

fn asks(why: &Waits) -> Option<HandoffNo> {
    match why {
        Waits::Gate { handoff, .. } | Waits::Question { handoff, .. } => Some(*handoff),
        Waits::Loose { .. } => None,
    }
}

/// A person's answer.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct PersonsWord {
    pub answer: AnswerWord,
    /// The agent to do the work instead, for `hand_to`.
    #[schema(pattern = "^[a-z0-9]+(-[a-z0-9]+)*$", max_length = 64)]
    pub to_agent: Option<String>,
    #[schema(min_length = 1, max_length = 10_000)]
    pub comment: Option<String>,
    /// The package to hand on instead, for `modify`: any JSON, kept as it is written.
    #[schema(value_type = Option<serde_json::Value>)]
    pub package: Option<Box<RawValue>>,
}

/// The answers that a person may give. An item's choices list those that it takes.
#[derive(Debug, Clone, Copy, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
#[schema(as = PersonsAnswer)]
pub enum AnswerWord {
    Approve,
    Reject,
    Answer,
    Question,
    Modify,
    Continue,
    Accept,
    HandTo,
    Abort,
}

/// Records a person's answer.
#[utoipa::path(post, path = "/api/v1/inbox/{handoff}/answer", operation_id = "answerInbox",
    tag = "inbox",
    params(("handoff" = String, Path, description = "Its id, its number, or `RUN/HO-001`"),
        HandoffQuery, RunHeaders),
    request_body = PersonsWord,
    responses((status = 200, body = CommandAnswer), WriteProblems))]
pub(super) async fn answer(
    app: RequestScope,
    name: Named,
    write: WriteRequest<PersonsWord, HandoffQuery>,
) -> Result<ApiResponse<CommandAnswer>, ApiProblem> {
    let asked = &write.asked;
    let answer = said(&app, asked)?;
    let comment = asked.comment.as_deref().map(FreeText::parse).transpose()?;
    let package = asked.package.as_deref().map(|it| body::package(Some(it))).transpose()?;
    let by = write.caller.principal.clone();
    let command = |handoff| Command::Answer(GateAnswer { handoff, answer, by, comment, package });
    on_handoff(&app, &name, &write, command).await
}

fn said(app: &RequestScope, asked: &PersonsWord) -> Result<Said, ApiProblem> {
    let to: Option<AgentId> =
        asked.to_agent.as_deref().map(|it| known_agent(app, it)).transpose()?;
    match (asked.answer, to) {
        (AnswerWord::HandTo, Some(to)) => Ok(Said::HandTo(to)),
        (AnswerWord::HandTo, None) => {
            Err(ApiProblem::malformed("missing_field", "`hand_to` needs `toAgent`"))
        }
        (_, Some(_)) => {
            Err(ApiProblem::malformed("unknown_field", "only `hand_to` takes `toAgent`"))
        }
        (AnswerWord::Approve, None) => Ok(Said::Approve),
        (AnswerWord::Reject, None) => Ok(Said::Reject),
        (AnswerWord::Answer, None) => Ok(Said::Reply),
        (AnswerWord::Question, None) => Ok(Said::Question),
        (AnswerWord::Modify, None) => Ok(Said::Modify),
        (AnswerWord::Continue, None) => Ok(Said::Continue),
        (AnswerWord::Accept, None) => Ok(Said::Accept),
        (AnswerWord::Abort, None) => Ok(Said::Abort),
    }
}
