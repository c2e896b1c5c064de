//! A runner sends back a file of an attempt: kept while the attempt is at work, and after its own end. A holder
//! that lost the work is refused, as in everything else that it sends.

use super::draft::Draft;
use crate::command::SendFile;
use crate::content::ContentKind;
use crate::event::FileEvent;
use crate::refusal::Refusal;
use crate::sent_file::{FileBytes, HoldingEnd, MOST_FILE_BYTES, MOST_FILES};

pub(super) fn send(draft: &mut Draft<'_>, send: &SendFile) -> Result<(), Refusal> {
    let (handoff, fence) = (send.handoff, send.fence);
    let held = draft.run.handoff(handoff).filter(|it| it.lease.is_some() && it.fence == fence);
    let current = draft.run.handoff(handoff).map(|it| it.fence);
    match (held.is_some(), send.end) {
        (true, _) | (false, HoldingEnd::Own) => {}
        (false, HoldingEnd::Lost | HoldingEnd::Unknown) => {
            return Err(Refusal::StaleFence { handoff, fence, current });
        }
    }
    let n_bytes = match &send.file.bytes {
        FileBytes::New { n_bytes, .. } | FileBytes::Stored { n_bytes, .. } => *n_bytes,
        FileBytes::LeftOut => 0,
    };
    let before = draft.run.files_of(handoff, fence);
    if before.n_files >= MOST_FILES || before.n_bytes.saturating_add(n_bytes) > MOST_FILE_BYTES {
        let (n_files, n_bytes) = (before.n_files, before.n_bytes);
        return Err(Refusal::FilesFull { handoff, n_files, n_bytes });
    }
    let record = draft.put(ContentKind::Words, send.file.record.clone());
    let text = match &send.file.bytes {
        FileBytes::New { text, .. } => Some(draft.put(ContentKind::Words, text.clone())),
        FileBytes::Stored { text, .. } => Some(*text),
        FileBytes::LeftOut => None,
    };
    let kind = send.file.kind;
    draft.emit(FileEvent::Sent { handoff, fence, kind, record, text, n_bytes });
    draft.done.handoff = Some(handoff);
    Ok(())
}
