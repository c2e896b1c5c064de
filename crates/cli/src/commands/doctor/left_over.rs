//! Copies of the data that nothing uses any more: each holds all of it, so a person should know.

use baton_files::{Dir, STAGING_LOCK, Staging};
use baton_store_sqlite::{ASIDE_PREFIX, STAGING_PREFIX};

use super::{Finding, Health};
use crate::failure::Failure;

/// What killed commands and restores have left in the data folder.
pub(super) fn look(data: &Dir, findings: &mut Vec<Finding>) -> Result<(), Failure> {
    let abandoned = Staging::abandoned(data, STAGING_PREFIX)?;
    for (name, entry) in data.list()? {
        let Some(text) = name.to_str().filter(|_| entry.is_folder()) else { continue };
        let path = data.path().join(&name);
        let (what, advice) = if text.starts_with(ASIDE_PREFIX) {
            let what = "the data as it was before a restore";
            let advice = format!(
                "type `baton restore --replace {0}` to go back to it, or `rm -r {0}` once it is of no use",
                path.display()
            );
            (what, advice)
        } else if text.starts_with(STAGING_PREFIX) {
            // One that is locked belongs to a command that runs at this moment.
            let has_lock = data.entry(path_in(text))?.is_some();
            if has_lock && !abandoned.contains(&name) {
                continue;
            }
            let what = "a copy that a killed command has left";
            (what, format!("type `rm -r {}`", path.display()))
        } else {
            continue;
        };
        let what = format!("{}: {what}", path.display());
        findings.push(Finding { what, state: Health::Waits { advice } });
    }
    Ok(())
}

fn path_in(folder: &str) -> String {
    format!("{folder}/{STAGING_LOCK}")
}
