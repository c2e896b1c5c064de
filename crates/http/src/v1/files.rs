//! Files of attempts and checks: sent back by a runner under the hash of their bytes, and seen from anywhere.

use axum::body::Body;
use axum::http::StatusCode;
use axum::http::header::{CONTENT_DISPOSITION, CONTENT_SECURITY_POLICY, CONTENT_TYPE};
use axum::response::{IntoResponse as _, Response};
use baton_api::{FileDocument, FileKindWord, FileNotice, Page};
use baton_core::hash::Hash;
use baton_core::sent_file::LARGEST_FILE;
use baton_engine::{CommandMode, KeptFile, KeptState, NewBytes, NewFile, SentFileResult};
use baton_store::HandoffRow;
use baton_wire::file_record::BytesEncoding;
use serde::Deserialize;
use utoipa::IntoParams;

use super::answer::{ApiResponse, cut};
use super::handoffs::OneQuery;
use super::handoffs::document::refused;
use super::write::{AsHeader, HandoffPath, HandoffQuery, WriteRequest};
use crate::body::read_bytes;
use crate::lookup::{find_handoff, handoff_ref};
use crate::openapi::{ReadProblems, WriteProblems};
use crate::params::{KeyedIn, Named, Params};
use crate::problem::ApiProblem;
use crate::scope::RequestScope;

/// What is known of a file beside its bytes and their hash.
#[derive(Deserialize, IntoParams)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(super) struct FileQuery {
    /// The fencing token of the claim.
    fence: u32,
    #[param(inline)]
    kind: FileKindWord,
    /// `output.txt`, or the path of a file below the workspace.
    #[param(min_length = 1, max_length = 300)]
    name: String,
    /// What was cut.
    #[param(min_length = 1, max_length = 1000)]
    note: Option<String>,
    /// The run of a label such as `HO-001`: its id, its number or its story's key.
    run: Option<String>,
    /// Decide and report what would happen, but change nothing.
    #[serde(default)]
    #[param(default = false)]
    dry_run: bool,
}

/// Lists the files of a handoff.
///
/// What its attempts printed and changed, what their packages name, and what checks printed, oldest first. A
/// file that was left out is listed with the reason.
#[utoipa::path(get, path = "/api/v1/handoffs/{handoff}/files", operation_id = "listFiles",
    tag = "handoffs",
    params(HandoffPath, OneQuery),
    responses(
        (status = 200, description = "All files", body = Page<FileDocument>),
        ReadProblems))]
pub(super) async fn list(
    app: RequestScope,
    Named(name): Named,
    Params(query): Params<OneQuery>,
) -> Result<ApiResponse<Page<FileDocument>>, ApiProblem> {
    let row = find_handoff(&app, &name, query.run.as_deref()).await?;
    let files = files_of(&app, &row).await?;
    let limit = u32::MAX;
    Ok(ApiResponse::new(cut(files, limit, |_| String::new(), |it| file_document(&it))))
}

/// Gets the bytes of a file.
///
/// Always as an attachment: text as plain text, everything else as bytes. The name of a file says nothing of
/// what is in it.
#[utoipa::path(get, path = "/api/v1/handoffs/{handoff}/files/{sha256}", operation_id = "getFile",
    tag = "handoffs",
    params(HandoffPath, ("sha256" = String, Path, description = "The SHA-256 of its bytes"), OneQuery),
    responses(
        (status = 200, description = "The bytes", content(
            (String = "text/plain"),
            (String = "application/octet-stream"))),
        ReadProblems))]
pub(super) async fn get(
    app: RequestScope,
    KeyedIn(name, sha256): KeyedIn,
    Params(query): Params<OneQuery>,
) -> Result<Response, ApiProblem> {
    let row = find_handoff(&app, &name, query.run.as_deref()).await?;
    let wanted = parse_hash(&sha256)?;
    for file in files_of(&app, &row).await? {
        let Some(record) = file.record().filter(|it| it.sha256 == Some(wanted)) else { continue };
        let Some(bytes) = app.read().file_bytes(row.run, &file).await? else { continue };
        let kind = match record.encoding {
            BytesEncoding::Text => "text/plain; charset=utf-8",
            BytesEncoding::Hex => "application/octet-stream",
        };
        let name = format!("attachment; filename=\"{}\"", plain_name(&record.name));
        let headers = [
            (CONTENT_TYPE, kind.to_owned()),
            (CONTENT_DISPOSITION, name),
            (CONTENT_SECURITY_POLICY, "default-src 'none'; sandbox".to_owned()),
        ];
        return Ok((headers, bytes).into_response());
    }
    Err(no_such_file(&row, wanted))
}

/// Keeps a file of an attempt or of checks, with its bytes.
///
/// `sha256` is the hash of the bytes that follow, and compared with them. A file has at most 2 MiB, those of an
/// attempt 8 MiB together, and there are at most 50 of them. Sent again, nothing changes. Needs the runner's
/// credential, or the token of the attempt, and that its holder has not lost the work.
#[utoipa::path(put, path = "/api/v1/handoffs/{handoff}/files/{sha256}", operation_id = "putFile",
    tag = "runner",
    params(HandoffPath, ("sha256" = String, Path, description = "The SHA-256 of its bytes"), FileQuery,
        AsHeader),
    request_body(content = String, content_type = "application/octet-stream",
        description = "The bytes of the file"),
    responses(
        (status = 200, description = "It is kept, now or since before", body = FileDocument),
        WriteProblems))]
pub(super) async fn put(
    app: RequestScope,
    KeyedIn(name, sha256): KeyedIn,
    Params(query): Params<FileQuery>,
    body: Body,
) -> Result<ApiResponse<FileDocument>, ApiProblem> {
    app.caller().check_runner_or_attempt()?;
    let claimed = parse_hash(&sha256)?;
    let bytes = read_bytes(&app.door, body, LARGEST_FILE).await?;
    let actual = Hash::of(&bytes);
    if actual != claimed {
        let message = format!(
            "the hash of these {} bytes is {actual}, and not the one in the address; send the bytes under \
             their own hash",
            bytes.len()
        );
        return Err(ApiProblem::malformed("hash_mismatch", message));
    }
    let new = NewFile {
        fence: query.fence,
        kind: query.kind.0,
        name: checked_text("name", query.name, MOST_NAME)?,
        note: query.note.map(|it| checked_text("note", it, MOST_NOTE)).transpose()?,
        bytes: NewBytes::Here(bytes),
    };
    let which = handoff_ref(&app, &name, query.run.as_deref()).await?;
    let mode = if query.dry_run { CommandMode::DryRun } else { CommandMode::Commit };
    let caller = app.caller().clone().with(mode, None);
    match caller.send_file(&which, new).await {
        Ok(SentFileResult::Kept(file)) => Ok(ApiResponse::new(file_document(&file))),
        Ok(SentFileResult::Lacking) => Err(ApiProblem::bug()),
        Err(error) => Err(refused(&app, error).await),
    }
}

/// Keeps a file whose bytes the run has already, or says why one was left out.
///
/// So nothing is sent twice, and nothing is left out silently. Bytes that are not there are
/// [`no_such_file`](/errors/no_such_file): send them. Needs what sending a file needs.
#[utoipa::path(post, path = "/api/v1/handoffs/{handoff}/files", operation_id = "noticeFile",
    tag = "runner",
    params(HandoffPath, HandoffQuery, AsHeader),
    request_body = FileNotice,
    responses(
        (status = 200, description = "It is kept, now or since before", body = FileDocument),
        WriteProblems))]
pub(super) async fn notice(
    app: RequestScope,
    Named(name): Named,
    write: WriteRequest<FileNotice, HandoffQuery>,
) -> Result<ApiResponse<FileDocument>, ApiProblem> {
    write.caller.check_runner_or_attempt()?;
    let asked = write.asked;
    let sha256 = asked.sha256.as_deref().map(parse_hash).transpose()?;
    if sha256.is_none() && asked.note.is_none() {
        let message = "a file without `sha256` is one that was left out: `note` says why";
        return Err(ApiProblem::malformed("missing_field", message));
    }
    let new = NewFile {
        fence: asked.fence,
        kind: asked.kind.0,
        name: checked_text("name", asked.name, MOST_NAME)?,
        note: asked.note.map(|it| checked_text("note", it, MOST_NOTE)).transpose()?,
        bytes: sha256.map_or(NewBytes::LeftOut, NewBytes::Known),
    };
    let row = find_handoff(&app, &name, write.query.run.as_deref()).await?;
    let which = handoff_ref(&app, &name, write.query.run.as_deref()).await?;
    match (write.caller.without_key().send_file(&which, new).await, sha256) {
        (Ok(SentFileResult::Kept(file)), _) => Ok(ApiResponse::new(file_document(&file))),
        (Ok(SentFileResult::Lacking), Some(hash)) => Err(no_such_file(&row, hash)),
        (Ok(SentFileResult::Lacking), None) => Err(ApiProblem::bug()),
        (Err(error), _) => Err(refused(&app, error).await),
    }
}

async fn files_of(app: &RequestScope, row: &HandoffRow) -> Result<Vec<KeptFile>, ApiProblem> {
    let mut files = app.read().files(row.run).await?;
    files.retain(|it| it.handoff == row.no);
    Ok(files)
}

pub(crate) fn file_document(file: &KeptFile) -> FileDocument {
    let (name, sha256, note) = match &file.state {
        KeptState::Known(record) => {
            (record.name.clone(), record.sha256.map(|it| it.to_string()), record.note.clone())
        }
        KeptState::Gone(how) => (format!("[{how}]"), None, None),
    };
    FileDocument {
        handoff: file.handoff.label(),
        fence: file.fence,
        kind: file.kind.into(),
        name,
        sha256,
        bytes: file.n_bytes,
        note,
        is_left_out: file.is_left_out(),
        at: file.at,
        by: file.by.to_string(),
    }
}

pub(super) fn parse_hash(text: &str) -> Result<Hash, ApiProblem> {
    Hash::parse(text).ok_or_else(|| {
        let message = "`sha256` is the SHA-256 of the bytes, as 64 hexadecimal digits";
        ApiProblem::malformed("wrong_type", message)
    })
}

fn no_such_file(row: &HandoffRow, hash: Hash) -> ApiProblem {
    let (number, no) = (row.number, row.no);
    let message = format!(
        "handoff {number} ({no}) has no bytes with the hash {hash}; `baton handoff files {number}` lists its files"
    );
    ApiProblem::new(StatusCode::NOT_FOUND, "no_such_file", message)
}

const MOST_NAME: usize = 300;
const MOST_NOTE: usize = 1000;

fn checked_text(member: &str, text: String, most: usize) -> Result<String, ApiProblem> {
    let n_chars = text.chars().count();
    let is_plain = !text.chars().any(char::is_control);
    if (1..=most).contains(&n_chars) && is_plain {
        return Ok(text);
    }
    let message = format!("`{member}` has 1 to {most} characters, without line breaks");
    Err(ApiProblem::malformed("wrong_type", message))
}

/// What a browser may call the file: the last part of its path, in plain letters.
fn plain_name(name: &str) -> String {
    let last = name.rsplit(['/', '\\']).next().unwrap_or(name);
    let is_plain = |it: char| it.is_ascii_alphanumeric() || matches!(it, '.' | '-' | '_');
    let plain: String = last.chars().map(|it| if is_plain(it) { it } else { '_' }).collect();
    let plain = plain.trim_start_matches('.');
    if plain.is_empty() { "file".to_owned() } else { plain.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_name_of_a_file_leaves_its_header_or_its_folder() {
        for (name, expected) in [
            ("target/report.html", "report.html"),
            ("a\"b\r\nset-cookie: x", "a_b__set-cookie__x"),
            ("../../etc/passwd", "passwd"),
            ("C:\\x\\.bashrc", "bashrc"),
            ("..", "file"),
            ("gr\u{fc}n.txt", "gr_n.txt"),
        ] {
            assert_eq!(plain_name(name), expected);
        }
    }
}
