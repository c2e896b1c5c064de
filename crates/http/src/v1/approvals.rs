//! The approvals of a gate, and a person who lets another one approve.

use baton_api::{ApprovalDocument, ApprovalsDocument, CommandAnswer, VoteDelegation};
use baton_core::approval::{GateApproval, PersonIdentity, Vote};
use baton_core::command::{Command, DelegateVote};
use baton_core::content::{ContentId, ContentKind};
use baton_core::gate::Gate;
use baton_core::hash::Hash;
use baton_core::names::{FreeText, Principal};
use baton_core::refusal::Refusal;
use baton_core::run::RunId;
use baton_engine::{EngineError, Texts};

use super::answer::ApiResponse;
use super::handoffs::commands::on_handoff;
use super::handoffs::document::refused;
use super::write::{CommandDone, HandoffCommandParams, HandoffQuery, WriteRequest};
use crate::lookup::handoff_ref;
use crate::openapi::WriteProblems;
use crate::params::Named;
use crate::problem::ApiProblem;
use crate::scope::RequestScope;

/// Passes the caller's vote at a gate on to another person.
///
/// The gate is one that names its approvers. The vote counts once, also after it was passed on; it does not go back,
/// and not to the author of the package.
#[utoipa::path(post, path = "/api/v1/inbox/{handoff}/delegate", operation_id = "delegateVote",
    tag = "inbox",
    params(HandoffCommandParams),
    request_body = VoteDelegation,
    responses(CommandDone, WriteProblems))]
pub(super) async fn delegate(
    app: RequestScope,
    name: Named,
    write: WriteRequest<VoteDelegation, HandoffQuery>,
) -> Result<ApiResponse<CommandAnswer>, ApiProblem> {
    let to = Principal::typed(&write.asked.to)?;
    let comment = write.asked.comment.as_deref().map(FreeText::parse).transpose()?;
    let by = write.caller.principal().clone();
    let command = |gate| Command::DelegateVote(DelegateVote { gate, by, to, comment });
    on_handoff(&app, &name, &write, command).await
}

/// What is shown of an open gate besides its question.
pub(super) struct ShownGate {
    pub(super) approvals: Option<ApprovalsDocument>,
    pub(super) content_hash: Option<String>,
}

pub(super) async fn shown_gate(
    app: &RequestScope,
    run: RunId,
    gate: &Gate,
) -> Result<ShownGate, EngineError> {
    let votes = gate.approval.iter().flat_map(|it| &it.votes);
    let comments = votes.filter_map(|it| it.approval.as_ref()?.comment);
    let texts = app.read().texts(run, comments.chain(gate.package)).await?;
    let approvals = gate.approval.as_ref().map(|it| approvals(it, &texts));
    let content_hash = gate.package.and_then(|it| package_hash(&texts, it));
    Ok(ShownGate { approvals, content_hash: content_hash.map(|it| it.to_string()) })
}

fn approvals(asked: &GateApproval, texts: &Texts) -> ApprovalsDocument {
    let name = |it: &Principal| it.to_string();
    let chain = |it: &Vote| it.holders.iter().map(name).collect();
    ApprovalsDocument {
        need: asked.need,
        given: asked.votes.iter().filter_map(|it| approval(it, texts)).collect(),
        open: asked.open().map(name).collect(),
        any_person: asked.is_for_all,
        author: asked.author.as_ref().map(name),
        delegated: asked.votes.iter().filter(|it| it.holders.len() > 1).map(chain).collect(),
        out_of_reach: asked.is_out_of_reach(),
        progress: asked.progress(),
    }
}

fn approval(vote: &Vote, texts: &Texts) -> Option<ApprovalDocument> {
    let (by, given) = (vote.holder()?, vote.approval.as_ref()?);
    let named = vote.holders.first().filter(|it| *it != by);
    let comment = given.comment.and_then(|it| texts.get(it).whole().map(str::to_owned));
    Some(ApprovalDocument {
        by: by.to_string(),
        on_behalf_of: named.map(ToString::to_string),
        at: given.at,
        comment,
        authenticated: is_authenticated(given.identity),
    })
}

/// The names of several people in one text; `None` for nobody.
pub(super) fn names_of(people: &[Principal]) -> Option<String> {
    let names: Vec<&str> = people.iter().map(Principal::as_str).collect();
    (!names.is_empty()).then(|| names.join(", "))
}

pub(super) fn is_authenticated(identity: PersonIdentity) -> bool {
    match identity {
        PersonIdentity::Unauthenticated => false,
    }
}

fn package_hash(texts: &Texts, id: ContentId) -> Option<Hash> {
    match texts.content(id)?.kind {
        ContentKind::Package { hash, .. } => Some(hash),
        ContentKind::Words => None,
    }
}

/// Refuses an answer about a package that the handoff does not have. The package of a handoff never
/// changes, so that this can be seen before the answer is decided on.
pub(super) async fn check_content(
    app: &RequestScope,
    Named(name): &Named,
    run: Option<&str>,
    expected: &str,
) -> Result<(), ApiProblem> {
    let Some(expected) = Hash::parse(expected) else {
        let message = "`contentHash` has 64 hexadecimal digits, as the inbox shows it";
        return Err(ApiProblem::malformed("bad_text", message));
    };
    let which = handoff_ref(app, name, run).await?;
    let row = app.read().handoff(&which).await?;
    let texts = app.read().texts(row.run, row.package).await?;
    let actual = row.package.and_then(|it| package_hash(&texts, it));
    if actual == Some(expected) {
        return Ok(());
    }
    let actual = actual.map_or_else(|| "none".to_owned(), |it| it.to_string());
    let refusal = Refusal::PackageChanged { handoff: row.no, expected, actual };
    Err(refused(app, EngineError::refused_about(refusal, row)).await)
}
