//! The records of checks on disk, so that the next runner goes on where this one was.

use std::path::Path;

use baton_files::{Dir, FileError, FileMode};

use super::{CheckRecord, CheckStage};
use crate::status::CheckStatus;

const FOLDER: &str = "checks";
const RECORD: &str = "check.json";
const MOST_RECORD_BYTES: u64 = 4 << 20;

pub(super) fn checks_dir(state: &Dir) -> Result<Dir, FileError> {
    state.make_dirs(FOLDER, FileMode::Private)
}

pub(super) fn save(state: &Dir, record: &CheckRecord) -> Result<(), FileError> {
    let text = match serde_json::to_vec_pretty(record) {
        Ok(text) => text,
        Err(error) => unreachable!("our own types always encode: {error}"),
    };
    let folder = Path::new(FOLDER).join(record.key.folder());
    state.make_dirs(folder, FileMode::Private)?.write_atomic(RECORD, &text, FileMode::Private)
}

/// The checks that are run now, or whose results are on their way.
pub(crate) fn under_way(state: &Dir) -> Result<Vec<CheckStatus>, FileError> {
    let shown = |it: CheckRecord| CheckStatus {
        number: it.number,
        run: it.run_number,
        label: it.label,
        story: it.story,
        checks: it.checks,
        stage: it.stage,
    };
    Ok(all(state)?.into_iter().filter(|it| it.stage != CheckStage::Reported).map(shown).collect())
}

/// Every record on disk. One that cannot be read is left alone.
pub(super) fn all(state: &Dir) -> Result<Vec<CheckRecord>, FileError> {
    let folder = match state.subdir(FOLDER) {
        Err(error) if error.is_not_found() => return Ok(Vec::new()),
        folder => folder?,
    };
    let mut records = Vec::new();
    for (name, entry) in folder.list()? {
        if !entry.is_folder() {
            continue;
        }
        let text = folder.read(Path::new(&name).join(RECORD), MOST_RECORD_BYTES);
        match text.map(|it| serde_json::from_slice::<CheckRecord>(&it)) {
            Ok(Ok(record)) => records.push(record),
            Ok(Err(_)) | Err(_) => {
                let name = name.to_string_lossy();
                tracing::warn!(%name, "the record of checks cannot be read; it is left as it is");
            }
        }
    }
    Ok(records)
}
