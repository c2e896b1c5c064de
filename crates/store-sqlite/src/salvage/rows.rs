//! Recognises the table of a salvaged row by the shape of its columns.
//!
//! A row may have more columns than are read here: later migrations add some at the end.

use std::sync::Arc;

use baton_core::content::{Content, ContentId, ContentKind};
use baton_core::hash::Hash;
use baton_core::names::{Principal, StoryKey, WorkflowName};
use baton_core::run::{HandoffId, HandoffNo, RunId};
use baton_core::story::Story;
use baton_store::{Definition, IdempotencyRecord, Position, Version};
use jiff::Timestamp;
use uuid::Uuid;

use super::cells::Cell;
use super::record::{RecordField, first_fields, record};
use crate::columns::list;
use crate::identity;

/// A row as it was found. Nothing in it is proven unless stated.
#[derive(Debug, Clone, PartialEq)]
pub enum SalvagedRow {
    Event {
        run_number: u64,
        event: SalvagedEvent,
    },
    Content(SalvagedText),
    /// The run's version when this row was written.
    Run {
        number: u64,
        id: RunId,
        version: Version,
        head: Hash,
    },
    Handoff {
        number: u64,
        id: HandoffId,
        run_number: u64,
        no: HandoffNo,
    },
    /// From an index: the id of a run or a handoff, and its number.
    Numbered {
        id: Uuid,
        number: u64,
    },
    Definition(Definition),
    /// Stories are never deleted, so the row ids of their table have no gap.
    Story {
        rowid: Option<u64>,
        story: Story,
        created_at: Timestamp,
    },
    /// That a version of a story was written, without its text.
    StoryVersion {
        number: u64,
        key: StoryKey,
        written_at: i64,
        digest: [u8; 32],
        hash: [u8; 32],
    },
    Answered(IdempotencyRecord),
    /// Of the project, with the last mark number.
    Identity {
        project: Uuid,
        mark: i64,
    },
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SalvagedEvent {
    pub position: Position,
    pub version: Version,
    pub at: Timestamp,
    pub by: Principal,
    pub body: String,
    pub hash: Hash,
}

/// A text with its verified hash. The event that names it tells what kind of text it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SalvagedText {
    pub id: ContentId,
    pub nonce: [u8; 16],
    pub text: Arc<str>,
    /// The other columns of the row, which the hash does not prove.
    pub claim: Option<PackageClaim>,
}

/// What a row says about a package.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PackageClaim {
    /// The name of its format, damaged or not.
    pub format: Vec<u8>,
    pub hash: Option<Hash>,
}

impl SalvagedText {
    fn new(nonce: [u8; 16], text: &str, claim: Option<PackageClaim>) -> Self {
        let Content { id, text, .. } = Content::new(nonce, ContentKind::Words, text);
        Self { id, nonce, text, claim }
    }
}

impl From<Content> for SalvagedText {
    fn from(content: Content) -> Self {
        let claim = match content.kind {
            ContentKind::Package { format, hash } => {
                Some(PackageClaim { format: format.name().into(), hash: Some(hash) })
            }
            ContentKind::Words => None,
        };
        Self::new(content.nonce, &content.text, claim)
    }
}

/// Decodes a complete table cell.
pub(super) fn in_table(rowid: i64, payload: &[u8]) -> Option<SalvagedRow> {
    let fields = record(payload)?;
    event(rowid, &fields)
        .or_else(|| content(&fields))
        .or_else(|| shared_text(&fields))
        .or_else(|| definition(&fields))
        .or_else(|| handoff(rowid, &fields))
        .or_else(|| story(rowid, &fields))
        .or_else(|| story_version(rowid, &fields))
        .or_else(|| answered(&fields))
        .or_else(|| identity_row(rowid, &fields))
}

/// Decodes the first columns of a run's row, which are enough.
pub(super) fn run(rowid: i64, cell: &Cell<'_>) -> Option<SalvagedRow> {
    let fields = first_fields(cell.local, 6)?;
    let [alias, id, version, head, story, workflow, ..] = fields.as_slice() else { return None };
    (alias.is_null() && story.text_bytes().is_some() && workflow.text_bytes().is_some())
        .then_some(())?;
    Some(SalvagedRow::Run {
        number: positive(rowid)?,
        id: RunId(Uuid::from_bytes(id.bytes()?)),
        version: Version(positive(version.integer()?)?),
        head: Hash(head.bytes()?),
    })
}

/// Decodes an index cell, where the index is one of ids.
pub(super) fn in_index(cell: &Cell<'_>) -> Option<SalvagedRow> {
    let fields = record(cell.local)?;
    let [id, number] = fields.as_slice() else { return None };
    let (id, number) = (Uuid::from_bytes(id.bytes()?), positive(number.integer()?)?);
    Some(SalvagedRow::Numbered { id, number })
}

fn event(rowid: i64, fields: &[RecordField]) -> Option<SalvagedRow> {
    let [alias, run_number, version, at, name, by, hash, body, ..] = fields else { return None };
    (alias.is_null() && name.text_bytes().is_some()).then_some(())?;
    // The hash chain proves later which event of which run it is: any number will do until then.
    Some(SalvagedRow::Event {
        run_number: run_number.integer()?.unsigned_abs(),
        event: SalvagedEvent {
            position: Position(positive(rowid)?),
            version: Version(version.integer()?.unsigned_abs()),
            at: time(at)?,
            by: Principal::parse(by.text()?).ok()?,
            body: body.text()?.to_owned(),
            hash: Hash(hash.bytes()?),
        },
    })
}

fn content(fields: &[RecordField]) -> Option<SalvagedRow> {
    let [run_number, _id, nonce, _kind, format, hash, text, ..] = fields else { return None };
    run_number.integer()?;
    let claim = format
        .text_bytes()
        .map(|format| PackageClaim { format: format.to_vec(), hash: hash.bytes().map(Hash) });
    Some(SalvagedRow::Content(SalvagedText::new(nonce.bytes()?, text.text()?, claim)))
}

fn shared_text(fields: &[RecordField]) -> Option<SalvagedRow> {
    let [id, text] = fields else { return None };
    id.bytes::<32>()?;
    Some(SalvagedRow::Content(Content::shared(text.text()?).into()))
}

fn definition(fields: &[RecordField]) -> Option<SalvagedRow> {
    let [hash, name, text] = fields else { return None };
    Some(SalvagedRow::Definition(Definition {
        hash: Hash(hash.bytes()?),
        name: WorkflowName::parse(name.text()?).ok()?,
        text: text.text()?.to_owned(),
    }))
}

fn handoff(rowid: i64, fields: &[RecordField]) -> Option<SalvagedRow> {
    let [alias, id, run_number, no, kind, ..] = fields else { return None };
    (alias.is_null() && kind.text_bytes().is_some()).then_some(())?;
    Some(SalvagedRow::Handoff {
        number: positive(rowid)?,
        id: HandoffId(Uuid::from_bytes(id.bytes()?)),
        run_number: positive(run_number.integer()?)?,
        no: HandoffNo(u32::try_from(no.integer()?).ok()?),
    })
}

fn story(rowid: i64, fields: &[RecordField]) -> Option<SalvagedRow> {
    let [key, title, description, acceptance, depends_on, priority, branch, pr_url, created_at, ..] =
        fields
    else {
        return None;
    };
    let maybe_text = |field: &RecordField| {
        if field.is_null() { Some(None) } else { field.text().map(|it| Some(it.to_owned())) }
    };
    let depends_on = list(depends_on.text()?)?;
    let story = Story {
        key: StoryKey::parse(key.text()?).ok()?,
        title: title.text()?.to_owned(),
        description: description.text()?.to_owned(),
        acceptance: list(acceptance.text()?)?,
        depends_on: depends_on.iter().map(|it| StoryKey::parse(it).ok()).collect::<Option<_>>()?,
        priority: priority.integer()?,
        branch: maybe_text(branch)?,
        pr_url: maybe_text(pr_url)?,
    };
    Some(SalvagedRow::Story { rowid: positive(rowid), story, created_at: time(created_at)? })
}

fn story_version(rowid: i64, fields: &[RecordField]) -> Option<SalvagedRow> {
    let [alias, key, written_at, digest, hash] = fields else { return None };
    alias.is_null().then_some(())?;
    Some(SalvagedRow::StoryVersion {
        number: positive(rowid)?,
        key: StoryKey::parse(key.text()?).ok()?,
        written_at: written_at.integer()?,
        digest: digest.bytes()?,
        hash: hash.bytes()?,
    })
}

fn answered(fields: &[RecordField]) -> Option<SalvagedRow> {
    let [scope, key, request, at, answer, ..] = fields else { return None };
    Some(SalvagedRow::Answered(IdempotencyRecord {
        scope: scope.text()?.to_owned(),
        key: key.text()?.to_owned(),
        request: Hash(request.bytes()?),
        answer: answer.text()?.to_owned(),
        at: time(at)?,
    }))
}

fn identity_row(rowid: i64, fields: &[RecordField]) -> Option<SalvagedRow> {
    let [alias, project, epoch, mark, rest @ ..] = fields else { return None };
    let (project, epoch, mark) = (project.bytes()?, epoch.text()?, mark.integer()?);
    (rowid == 1 && alias.is_null() && epoch.len() == 8).then_some(())?;
    // An older Baton wrote no checksum. Where it is invalid, the damaged column is unknown; the
    // mark is the one that can be dropped.
    let checksum = rest.first().and_then(RecordField::integer);
    let is_sealed = checksum.is_none_or(|it| it == identity::checksum(&project, epoch, mark));
    let mark = if is_sealed { mark } else { 0 };
    Some(SalvagedRow::Identity { project: Uuid::from_bytes(project), mark })
}

fn time(field: &RecordField) -> Option<Timestamp> {
    Timestamp::from_nanosecond(field.integer()?.into()).ok()
}

fn positive(number: i64) -> Option<u64> {
    u64::try_from(number).ok().filter(|it| *it > 0)
}
