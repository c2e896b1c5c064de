//! Stories: list, add, show, overwrite.

use axum::http::StatusCode;
use baton_api::{NewStory, Page, StoryDocument, StoryStatus, StoryText};
use baton_core::hash::Hash;
use baton_core::names::StoryKey;
use baton_core::package::Format;
use baton_core::run::RunStatus;
use baton_core::story::Story;
use baton_engine::{CommandMode, EngineError, SavedStory, shell_word};
use baton_store::{StoryFilter, StoryRow, Version};
use serde::Deserialize;
use utoipa::IntoParams;

use super::answer::{ApiResponse, cut, limit};
use super::write::{KeyHeader, StoryHeaders, WriteQuery, WriteRequest};
use crate::openapi::{ReadProblems, WriteProblems};
use crate::params::{Named, Params};
use crate::preconditions::version_tag;
use crate::problem::ApiProblem;
use crate::scope::RequestScope;

#[derive(Deserialize, IntoParams)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(super) struct StoryListQuery {
    /// Only keys that sort after this cursor: `next` of the previous page.
    #[param(min_length = 1, max_length = 200)]
    after: Option<String>,
    /// The page size at most.
    #[param(minimum = 1, maximum = 500, default = 50)]
    limit: Option<u32>,
}

/// Lists stories.
///
/// By their key.
#[utoipa::path(get, path = "/api/v1/stories", operation_id = "listStories", tag = "stories",
    params(StoryListQuery),
    responses(
        (status = 200, description = "One page of stories",
            body = Page<StoryDocument>),
        ReadProblems))]
pub(super) async fn list(
    app: RequestScope,
    Params(query): Params<StoryListQuery>,
) -> Result<ApiResponse<Page<StoryDocument>>, ApiProblem> {
    let limit = limit(query.limit)?;
    let after = query.after.as_deref().map(StoryKey::parse).transpose()?;
    let (rows, limit) = page(&app, after, limit).await?;
    let key = |it: &StoryRow| it.story.key.to_string();
    Ok(ApiResponse::new(cut(rows, limit, key, |it| story_document(&it))))
}

/// Bytes of stories on a page; a larger story, from before sizes were bounded, has its own page.
const MOST_PAGE_BYTES: usize = 8 * 1024 * 1024;
/// Rows per read.
const AT_ONCE: u32 = 50;

/// Up to `limit` rows and one more; fewer if they would be too many bytes.
async fn page(
    app: &RequestScope,
    mut after: Option<StoryKey>,
    limit: u32,
) -> Result<(Vec<StoryRow>, u32), EngineError> {
    let mut rows: Vec<StoryRow> = Vec::new();
    let mut n_bytes = 0;
    loop {
        let wanted = (limit + 1 - rows.len() as u32).min(AT_ONCE);
        let found = app.read().stories(&StoryFilter { after, limit: wanted }).await?;
        let is_last = found.len() < wanted as usize;
        for row in found {
            n_bytes += row.story.n_bytes();
            rows.push(row);
            if n_bytes > MOST_PAGE_BYTES && rows.len() > 1 {
                // The last row only shows that there is a next page.
                let n_shown = rows.len() as u32 - 1;
                return Ok((rows, n_shown));
            }
        }
        if is_last || rows.len() as u32 > limit {
            return Ok((rows, limit));
        }
        after = rows.last().map(|it| it.story.key.clone());
    }
}

/// Shows a story.
///
/// Its text, its status and its newest run.
#[utoipa::path(get, path = "/api/v1/stories/{key}", operation_id = "getStory", tag = "stories",
    params(("key" = String, Path, description = "Its key")),
    responses(
        (status = 200, description = "The story", body = StoryDocument,
            headers(("ETag" = String, description = "Changes with the story and its runs"))),
        ReadProblems))]
pub(super) async fn get(
    app: RequestScope,
    Named(key): Named,
) -> Result<ApiResponse<StoryDocument>, ApiProblem> {
    let row = app.read().story(&app.read().story_key(&key).await?).await?;
    Ok(shown(&row))
}

/// Adds a story.
///
/// A key that exists is refused. The story waits until a run of it is started.
#[utoipa::path(post, path = "/api/v1/stories", operation_id = "addStory", tag = "stories",
    params(WriteQuery, KeyHeader),
    request_body = NewStory,
    responses(
        (status = 200, description = "What would be added (`dryRun`)", body = StoryDocument),
        (status = 201, description = "Added", body = StoryDocument,
            headers(("Location" = String, description = "The story"))),
        WriteProblems))]
pub(super) async fn add(
    app: RequestScope,
    write: WriteRequest<NewStory>,
) -> Result<ApiResponse<StoryDocument>, ApiProblem> {
    let NewStory { key, title, description, acceptance, depends_on, priority, branch, pr_url } =
        write.asked;
    let key = app.read().story_key(&key).await?;
    let title = title.unwrap_or_else(|| key.to_string());
    let text = StoryText { title, description, acceptance, depends_on, priority, branch, pr_url };
    let story = story_of(text, &app, key).await?;
    if !write.caller.add_story(&story).await? {
        let edit = shell_word(story.key.as_str());
        let message = format!(
            "there is a story `{}` already; `baton story edit {edit}` changes it",
            story.key
        );
        return Err(ApiProblem::new(StatusCode::CONFLICT, "story_exists", message));
    }
    if write.caller.mode() == CommandMode::DryRun {
        return rehearsed(&app, story, None).await;
    }
    let created_at = app.read().story(&story.key).await?.created_at;
    // As it was then, also where the request is repeated.
    Ok(made(&app, &StoryRow { story, created_at, latest: None }).await?)
}

/// Overwrites or adds a story.
///
/// The story with that key is written over as a whole; if there is none, it is added.
/// `If-None-Match: *` only adds.
#[utoipa::path(put, path = "/api/v1/stories/{key}", operation_id = "putStory", tag = "stories",
    params(("key" = String, Path, description = "Its key"), WriteQuery, StoryHeaders),
    request_body = StoryText,
    responses(
        (status = 200, description = "WriteAnswer over, or what would be (`dryRun`)",
            body = StoryDocument),
        (status = 201, description = "Added", body = StoryDocument,
            headers(("Location" = String, description = "The story"))),
        WriteProblems))]
pub(super) async fn put(
    app: RequestScope,
    Named(key): Named,
    write: WriteRequest<StoryText>,
) -> Result<ApiResponse<StoryDocument>, ApiProblem> {
    let key = app.read().story_key(&key).await?;
    let story = story_of(write.asked, &app, key).await?;
    // One write at a time, so that no other comes between the comparison and the write.
    let _turn = app.story_writes.lock().await;
    let _lock = write.caller.lock_story(&story.key).await?;
    // A repeated request changes nothing, so what the story is by now does not matter.
    if let Some(saved) = write.caller.saved_before(&story).await? {
        return Ok(put_answer(&app, &saved).await?);
    }
    let there = match app.read().story(&story.key).await {
        Ok(row) => Some(row),
        Err(EngineError::NoSuchStory { .. }) => None,
        Err(error) => return Err(error.into()),
    };
    let tag = there.as_ref().map(|it| version_tag(version_of(it), Format::Json));
    if !write.preconditions.hold(tag.as_deref()) {
        let message = match tag {
            Some(_) => format!("the story `{}` is not what it was; read it again", story.key),
            None => format!("there is no story `{}`", story.key),
        };
        return Err(ApiProblem::new(StatusCode::PRECONDITION_FAILED, "outdated", message));
    }
    if write.caller.mode() == CommandMode::DryRun {
        return rehearsed(&app, story, there).await;
    }
    let saved = write.caller.save_story(&story).await?;
    Ok(put_answer(&app, &saved).await?)
}

/// The response for a story that was put.
async fn put_answer(
    app: &RequestScope,
    SavedStory { row, is_new }: &SavedStory,
) -> Result<ApiResponse<StoryDocument>, EngineError> {
    if *is_new { made(app, row).await } else { overwritten(app, row).await }
}

/// The response for a story that was created.
async fn made(
    app: &RequestScope,
    row: &StoryRow,
) -> Result<ApiResponse<StoryDocument>, EngineError> {
    let answer = ApiResponse::new(new(app, row).await?).at(version_of(row));
    Ok(answer.made(location(&row.story.key)))
}

/// The response for a story that was written over.
async fn overwritten(
    app: &RequestScope,
    row: &StoryRow,
) -> Result<ApiResponse<StoryDocument>, EngineError> {
    let warnings = app.read().missing_dependencies(&row.story).await?;
    let document = StoryDocument { warnings, ..story_document(row) };
    Ok(ApiResponse::new(document).at(version_of(row)))
}

fn shown(row: &StoryRow) -> ApiResponse<StoryDocument> {
    ApiResponse::new(story_document(row)).at(version_of(row))
}

/// A version for the story's `ETag`: it changes whenever the story is overwritten, and with its runs.
fn version_of(StoryRow { story, latest, .. }: &StoryRow) -> Version {
    // Debug output quotes every field, so no two different stories have the same text.
    let text = format!("{story:?} {latest:?}");
    let digest = Hash::of(text.as_bytes()).0;
    let mut number = [0; 8];
    number.copy_from_slice(&digest[..8]);
    // Few enough digits for every JSON reader to keep exactly.
    Version(u64::from_be_bytes(number) % 1_000_000_000_000_000)
}

/// The story as a dry run would leave it.
async fn rehearsed(
    app: &RequestScope,
    story: Story,
    there: Option<StoryRow>,
) -> Result<ApiResponse<StoryDocument>, ApiProblem> {
    let now = app.read().now();
    Ok(ApiResponse::new(match there {
        Some(row) => story_document(&StoryRow { story, ..row }),
        None => new(app, &StoryRow { story, created_at: now, latest: None }).await?,
    }))
}

/// A story that was just created.
async fn new(app: &RequestScope, row: &StoryRow) -> Result<StoryDocument, EngineError> {
    let alike = app.read().look_alikes(&row.story.key).await?;
    let missing = app.read().missing_dependencies(&row.story).await?;
    let warnings = alike.warning().into_iter().chain(missing).collect();
    Ok(StoryDocument { warnings, ..story_document(row) })
}

async fn story_of(text: StoryText, app: &RequestScope, key: StoryKey) -> Result<Story, ApiProblem> {
    let mut depends_on = Vec::new();
    for name in &text.depends_on {
        depends_on.push(app.read().story_key(name).await?);
    }
    Ok(Story {
        key,
        title: text.title,
        description: text.description,
        acceptance: text.acceptance,
        depends_on,
        priority: text.priority,
        branch: text.branch,
        pr_url: text.pr_url,
    })
}

fn story_document(row: &StoryRow) -> StoryDocument {
    let story = &row.story;
    StoryDocument {
        key: story.key.to_string(),
        title: story.title.clone(),
        description: story.description.clone(),
        acceptance: story.acceptance.clone(),
        depends_on: story.depends_on.iter().map(ToString::to_string).collect(),
        priority: story.priority,
        branch: story.branch.clone(),
        pr_url: story.pr_url.clone(),
        status: match row.latest.map(|(_, status)| status) {
            None => StoryStatus::Waiting,
            Some(RunStatus::Open) => StoryStatus::UnderWay,
            Some(RunStatus::Paused) => StoryStatus::Paused,
            Some(RunStatus::Completed) => StoryStatus::Finished,
            Some(RunStatus::Cancelled) => StoryStatus::Cancelled,
        },
        run_id: row.latest.map(|(id, _)| id.0),
        run: row.latest.map(|(id, _)| id.0),
        created_at: row.created_at,
        warnings: Vec::new(),
    }
}

/// A key may contain any character, so those with a meaning in a URL are encoded.
fn location(key: &StoryKey) -> String {
    let mut path = "/api/v1/stories/".to_owned();
    for byte in key.as_str().bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
            path.push(char::from(byte));
        } else {
            path += &format!("%{byte:02X}");
        }
    }
    path
}
