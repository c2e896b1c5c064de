//! Size limits for the files of a run: a few times their input, and never beyond a maximum. What
//! does not fit is left out, and the file says so; the store has all of it.

use baton_core::content::ContentId;
use baton_store::HandoffRow;
use baton_wire::formats::{self, Format};

use super::handoff::{PackageForm, handoff};
use crate::history::History;

/// For the log of a run: `baton recover` reads no more of one.
pub const MOST_LOG_BYTES: u64 = 256 << 20;

/// How many bytes of a file one byte of a text may take: an escaped character takes up to 6, and
/// the indentation of short lines as many.
const MOST_TIMES: usize = 8;
/// Enough for Baton's own facts about a handoff.
const OWN_BYTES: usize = 64 * 1024;

pub(super) struct Bounds {
    /// For every file but the log.
    pub(super) file_bytes: usize,
    pub(super) log_bytes: usize,
    /// How many handoffs the state of a run lists: the newest.
    pub(super) handoffs_listed: usize,
}

impl Default for Bounds {
    fn default() -> Self {
        let log_bytes = usize::try_from(MOST_LOG_BYTES).unwrap_or(usize::MAX);
        Self { file_bytes: 16 << 20, log_bytes, handoffs_listed: 10_000 }
    }
}

impl Bounds {
    /// A handoff as YAML. A package that would become too large is included as its original text;
    /// one that is still too large is left out.
    pub(super) fn handoff_file(&self, history: &History, row: &HandoffRow) -> String {
        let most = self.file_bytes.min(MOST_TIMES * n_source_bytes(history, row) + OWN_BYTES);
        for form in [PackageForm::Document, PackageForm::Text] {
            let text = formats::encode(&handoff(history, row, form), Format::Yaml);
            if text.len() <= most {
                return text;
            }
        }
        formats::encode(&handoff(history, row, PackageForm::LeftOut), Format::Yaml)
    }

    /// A page, cut after a whole line if it is too large.
    pub(super) fn page(&self, mut page: String) -> String {
        if page.len() <= self.file_bytes {
            return page;
        }
        let n_bytes = page.len();
        let end = page.floor_char_boundary(self.file_bytes);
        page.truncate(page[..end].rfind('\n').map_or(0, |it| it + 1));
        page += &format!("\nThe page ends here: all of it would have {n_bytes} bytes.\n");
        page
    }
}

fn n_source_bytes(history: &History, row: &HandoffRow) -> usize {
    let texts = [row.package, Some(row.reason), row.ended_reason, row.acknowledgement];
    let n_bytes = |id: ContentId| history.text(id).map_or(0, str::len);
    let warnings: usize = row.warnings.iter().map(String::len).sum();
    texts.into_iter().flatten().map(n_bytes).sum::<usize>() + warnings
}
