//! What checks printed, sent back as files: the result of a check has only the end of it.

use baton_core::sent_file::SentFileKind;
use serde::{Deserialize, Serialize};

use crate::RunnerContext;
use crate::files::{KeptPart, OutgoingFile, send_all};
use crate::masking::Masking;
use crate::record::AttemptKey;

#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(super) struct PrintedText {
    /// Empty for a check that prints nothing of its own.
    text: String,
    /// How many bytes came before.
    n_before: usize,
}

impl PrintedText {
    pub(super) fn of(command: &str, printed: &str, n_before: usize) -> Self {
        Self { text: format!("$ {command}\n{printed}"), n_before }
    }

    fn file(&self, check: &str) -> OutgoingFile {
        let name = format!("{check}.txt");
        let file = OutgoingFile::text(
            SentFileKind::Check,
            &name,
            &self.text,
            &Masking::default(),
            KeptPart::End,
        );
        if self.n_before == 0 {
            return file;
        }
        let cut = format!("cut: the first {} bytes are left out", self.n_before);
        let note = file.note.map_or(cut.clone(), |it| format!("{cut}; {it}"));
        OutgoingFile { note: Some(note), ..file }
    }
}

/// Before the result: a reader of that finds them. They are not worth the result.
pub(super) async fn send_printed(
    context: &RunnerContext,
    key: &AttemptKey,
    printed: &[(&str, &PrintedText)],
) {
    let has_some = |it: &&(&str, &PrintedText)| !it.1.text.is_empty();
    let files = printed.iter().filter(has_some).map(|(check, it)| it.file(check)).collect();
    if let Err(error) = send_all(&context.client, key, files).await {
        tracing::warn!(%error, "what checks printed could not be sent");
    }
}
