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

/// What is shown of an output.
pub(super) struct ShownOutput {
    pub(super) text: String,
    /// How many bytes came before.
    pub(super) n_before: usize,
}

impl ShownOutput {
    /// `n_before`: how many bytes of the output are not in `printed`. It may begin within a secret then.
    pub(super) fn of(printed: &str, n_before: usize, masking: &Masking) -> Self {
        let text = masking.clean(printed);
        if n_before == 0 {
            return Self { text, n_before };
        }
        let begin = text.ceil_char_boundary(masking.margin().min(text.len()));
        Self { text: text[begin..].to_owned(), n_before: n_before + begin }
    }
}

impl PrintedText {
    pub(super) fn of(command: &str, printed: &str, n_before: usize) -> Self {
        Self { text: format!("$ {command}\n{printed}"), n_before }
    }

    fn file(&self, check: &str, masking: &Masking) -> OutgoingFile {
        let name = format!("{check}.txt");
        let (kind, kept) = (SentFileKind::Check, KeptPart::End);
        let file = OutgoingFile::text(kind, &name, &self.text, masking, kept);
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
    let masking = context.masking();
    let some = printed.iter().filter(has_some);
    let files = some.map(|(check, it)| it.file(check, &masking)).collect();
    if let Err(error) = send_all(&context.client, key, files).await {
        tracing::warn!(%error, "what checks printed could not be sent");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_beginning_of_a_cut_output_is_left_out_because_it_may_be_the_end_of_a_secret() {
        let masking = Masking::default().with_secret("hunter2-correct-horse");
        let shown = ShownOutput::of("a hunter2-correct-horse", 0, &masking);
        assert_eq!((shown.text.as_str(), shown.n_before), ("a secret.masked", 0));
        let cut = format!("rect-horse {} the end", "x".repeat(60_000));
        let shown = ShownOutput::of(&cut, 500, &masking);
        assert!(!shown.text.contains("horse") && shown.text.ends_with("the end"));
        assert_eq!(shown.n_before + shown.text.len(), 500 + cut.len());
    }
}
