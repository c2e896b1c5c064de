//! Files that runners send back: found in the log of their run, kept as texts of it. So backups, moves between
//! backends, checks of the data, redaction and retention treat them as they treat every text.

use std::sync::Arc;

use baton_core::command::{Command, SendFile};
use baton_core::content::ContentId;
use baton_core::event::{Event, FileEvent, HandoffEvent, LeaseEvent};
use baton_core::hash::Hash;
use baton_core::names::Principal;
use baton_core::run::{HandoffNo, RunId};
use baton_core::sent_file::{FileBytes, HoldingEnd, SentFile, SentFileKind};
use baton_store::{EventFilter, HandoffRef, Position, StoredEvent};
use baton_wire::event;
use baton_wire::file_record::{BytesEncoding, FileRecord, as_bytes, as_text};
use jiff::Timestamp;

use crate::{Caller, CommandMode, Engine, EngineError, Reader, Text};

/// A file to keep with a handoff.
#[derive(Debug, Clone)]
pub struct NewFile {
    pub fence: u32,
    pub kind: SentFileKind,
    pub name: String,
    /// What was cut, or why it was left out.
    pub note: Option<String>,
    pub bytes: NewBytes,
}

#[derive(Debug, Clone)]
pub enum NewBytes {
    Here(Vec<u8>),
    /// The run may have them already.
    Known(Hash),
    LeftOut,
}

/// What became of a file.
#[derive(Debug, Clone)]
pub enum SentFileResult {
    /// It is kept, now or since before.
    Kept(Box<KeptFile>),
    /// The run does not have these bytes: send them.
    Lacking,
}

/// A file of a handoff.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeptFile {
    /// `None` for one that a dry run would keep.
    pub at: Option<Timestamp>,
    pub by: Principal,
    pub handoff: HandoffNo,
    pub fence: u32,
    pub kind: SentFileKind,
    pub n_bytes: u64,
    pub state: KeptState,
    texts: (ContentId, Option<ContentId>),
}

/// What can be said of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum KeptState {
    Known(FileRecord),
    /// It was redacted, or its record is lost or damaged.
    Gone(&'static str),
}

impl KeptFile {
    pub fn record(&self) -> Option<&FileRecord> {
        match &self.state {
            KeptState::Known(record) => Some(record),
            KeptState::Gone(_) => None,
        }
    }

    /// The texts that a redaction of the file drops.
    pub fn texts(&self) -> impl Iterator<Item = ContentId> {
        [Some(self.texts.0), self.texts.1].into_iter().flatten()
    }

    pub fn is_left_out(&self) -> bool {
        self.texts.1.is_none()
    }
}

impl Reader<'_> {
    /// The files of a run, oldest first.
    pub async fn files(self, run: RunId) -> Result<Vec<KeptFile>, EngineError> {
        let filter = EventFilter { after: Position::START, run: Some(run), limit: 0 };
        let events = self.engine.store.events(&filter).await?;
        self.engine.kept_files(run, &events).await
    }

    /// The bytes of a file as they were sent; `None` where they were left out, dropped or lost. An error where
    /// they are damaged.
    pub async fn file_bytes(
        self,
        run: RunId,
        file: &KeptFile,
    ) -> Result<Option<Vec<u8>>, EngineError> {
        let (Some(id), Some(record)) = (file.texts.1, file.record()) else { return Ok(None) };
        let texts = self.whole_texts(run, [id]).await?;
        Ok(texts.get(id).and_then(|it| whole_bytes(record, it)))
    }
}

/// Compared with the hash in the record: what stands for a dropped text is no file.
fn whole_bytes(record: &FileRecord, text: &str) -> Option<Vec<u8>> {
    let bytes = as_bytes(record.encoding, text)?;
    (record.sha256 == Some(Hash::of(&bytes))).then_some(bytes)
}

impl Engine {
    /// Keeps a file with a handoff. Sent again, it changes nothing.
    pub async fn send_file(
        &self,
        caller: &Caller,
        which: &HandoffRef,
        new: NewFile,
    ) -> Result<SentFileResult, EngineError> {
        let (run, no) = self.resolve_handoff(which).await?;
        let fence = match &caller.attempt {
            Some(attempt) => {
                self.check_own_handoff(attempt, (run, no), "send_file").await?;
                attempt.fence
            }
            None => new.fence,
        };
        let filter = EventFilter { after: Position::START, run: Some(run), limit: 0 };
        let events = self.store.events(&filter).await?;
        let kept = self.kept_files(run, &events).await?;
        let sha256 = match &new.bytes {
            NewBytes::Here(bytes) => Some(Hash::of(bytes)),
            NewBytes::Known(hash) => Some(*hash),
            NewBytes::LeftOut => None,
        };
        let is_same = |it: &&KeptFile| {
            let known = it.record().map(|it| (it.name.as_str(), it.sha256));
            (it.handoff, it.fence, it.kind) == (no, fence, new.kind)
                && known == Some((&new.name, sha256))
        };
        if let Some(same) = kept.iter().find(is_same) {
            return Ok(SentFileResult::Kept(Box::new(same.clone())));
        }
        let stored = self.stored_bytes(run, &kept, sha256).await?;
        let (encoding, bytes) = match (stored, new.bytes) {
            (Some((text, encoding, n_bytes)), _) => (encoding, FileBytes::Stored { text, n_bytes }),
            (None, NewBytes::Known(_)) => return Ok(SentFileResult::Lacking),
            (None, NewBytes::LeftOut) => (BytesEncoding::Text, FileBytes::LeftOut),
            (None, NewBytes::Here(bytes)) => {
                let (encoding, text) = as_text(&bytes);
                (encoding, FileBytes::New { text: text.into(), n_bytes: bytes.len() as u64 })
            }
        };
        let record = FileRecord { name: new.name, sha256, encoding, note: new.note };
        let file = SentFile { kind: new.kind, record: Arc::from(record.encode()), bytes };
        let kept = kept_now(caller, (no, fence), &file, record);
        // Where the work is lost between this look and the append, the file came just before that.
        let end = holding_end(&events, no, fence);
        let send = SendFile { handoff: no, fence, end, file };
        let done = self.on_handoff(caller, which, |_| Command::SendFile(send)).await?;
        let at = (caller.mode == CommandMode::Commit).then_some(done.at);
        Ok(SentFileResult::Kept(Box::new(KeptFile { at, ..kept })))
    }

    /// The text with these bytes, where a file of the run has it.
    async fn stored_bytes(
        &self,
        run: RunId,
        kept: &[KeptFile],
        sha256: Option<Hash>,
    ) -> Result<Option<(ContentId, BytesEncoding, u64)>, EngineError> {
        if sha256.is_none() {
            return Ok(None);
        }
        for it in kept {
            let (Some(id), Some(record)) = (it.texts.1, it.record()) else { continue };
            if record.sha256 != sha256 {
                continue;
            }
            let texts = self.texts(run, [id]).await?;
            let is_whole =
                texts.get(id).whole().is_some_and(|it| whole_bytes(record, it).is_some());
            if is_whole {
                return Ok(Some((id, record.encoding, it.n_bytes)));
            }
        }
        Ok(None)
    }

    async fn kept_files(
        &self,
        run: RunId,
        events: &[StoredEvent],
    ) -> Result<Vec<KeptFile>, EngineError> {
        let mut kept = Vec::new();
        for stored in events.iter().filter(|it| it.name == "file.sent") {
            let Ok(Event::File(FileEvent::Sent { handoff, fence, kind, record, text, n_bytes })) =
                event::decode(&stored.body)
            else {
                continue;
            };
            let (at, by, state) = (Some(stored.at), stored.by.clone(), KeptState::Gone("lost"));
            let texts = (record, text);
            kept.push(KeptFile { at, by, handoff, fence, kind, n_bytes, state, texts });
        }
        let texts = self.texts(run, kept.iter().map(|it| it.texts.0)).await?;
        for it in &mut kept {
            it.state = match texts.get(it.texts.0) {
                Text::Whole(text) => {
                    FileRecord::decode(text).map_or(KeptState::Gone("redacted"), KeptState::Known)
                }
                Text::Gone => KeptState::Gone("lost"),
                Text::Damaged => KeptState::Gone("damaged"),
            };
        }
        Ok(kept)
    }
}

/// The file as it is listed once it is kept.
fn kept_now(
    caller: &Caller,
    (handoff, fence): (HandoffNo, u32),
    file: &SentFile,
    record: FileRecord,
) -> KeptFile {
    let n_bytes = match &file.bytes {
        FileBytes::New { n_bytes, .. } | FileBytes::Stored { n_bytes, .. } => *n_bytes,
        FileBytes::LeftOut => 0,
    };
    // What is not stored yet has no id, and nothing reads it through this value.
    let none = ContentId(Hash::ZERO);
    let bytes = (!matches!(file.bytes, FileBytes::LeftOut)).then_some(none);
    let (by, kind) = (caller.principal.clone(), file.kind);
    let (state, texts) = (KeptState::Known(record), (none, bytes));
    KeptFile { at: None, by, handoff, fence, kind, n_bytes, state, texts }
}

/// How the log says that a holding under a lease ended.
fn holding_end(events: &[StoredEvent], no: HandoffNo, of_fence: u32) -> HoldingEnd {
    let mut end = HoldingEnd::Unknown;
    for stored in events {
        let is_family = |it: &str| stored.name.starts_with(it);
        if !is_family("lease.") && !is_family("handoff.") {
            continue;
        }
        let Ok(event) = event::decode(&stored.body) else { continue };
        let holding = (no, of_fence);
        let is_granted = matches!(event, Event::Lease(LeaseEvent::Granted { handoff, fence, .. })
            if (handoff, fence) == holding);
        let has_lost_lease = matches!(event, Event::Lease(
            LeaseEvent::Lost { handoff, fence } | LeaseEvent::Released { handoff, fence },
        ) if (handoff, fence) == holding);
        let is_ended_by_others = matches!(event, Event::Handoff(
            HandoffEvent::TimedOut { handoff, .. }
            | HandoffEvent::Cancelled { handoff, .. }
            | HandoffEvent::Superseded { handoff, .. },
        ) if handoff == no);
        if has_lost_lease || is_ended_by_others {
            return HoldingEnd::Lost;
        }
        if is_granted {
            end = HoldingEnd::Own;
        }
    }
    end
}
