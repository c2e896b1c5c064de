//! Unused copies of the data: each holds all of it, so a person should know.

use baton_core::shell::shell_word;
use baton_files::{Dir, STAGING_LOCK, Staging};
use baton_store_sqlite::{ASIDE_PREFIX, RESCUED_PREFIX, STAGING_PREFIX};

use super::{Health, HealthCheck};
use crate::failure::Failure;
use crate::lost_data::copies_beside;
use crate::project::Project;

const RESCUED: &str = "what a server saved when its data was deleted or replaced";

/// Leftovers in the data folder: of killed commands, of restores, and of a server whose data was
/// deleted.
pub(super) fn look(
    project: &Project,
    data: &Dir,
    findings: &mut Vec<HealthCheck>,
) -> Result<(), Failure> {
    for copy in copies_beside(project) {
        findings.push(copy_to_keep(&copy.display().to_string(), RESCUED));
    }
    let abandoned = Staging::abandoned(data, STAGING_PREFIX)?;
    for (name, entry) in data.list()? {
        let Some(text) = name.to_str().filter(|_| entry.is_folder()) else { continue };
        let path = data.path().join(&name).display().to_string();
        let finding = if text.starts_with(ASIDE_PREFIX) {
            copy_to_keep(&path, "the data as it was before a restore")
        } else if text.starts_with(RESCUED_PREFIX) {
            copy_to_keep(&path, RESCUED)
        } else if text.starts_with(STAGING_PREFIX) {
            // A locked one belongs to a command that is running now.
            let has_lock = data.entry(format!("{text}/{STAGING_LOCK}"))?.is_some();
            if has_lock && !abandoned.contains(&name) {
                continue;
            }
            let what = format!("{path}: a copy that a killed command has left");
            HealthCheck {
                what,
                state: Health::Waits { advice: format!("type `rm -r {}`", shell_word(&path)) },
            }
        } else {
            continue;
        };
        findings.push(finding);
    }
    Ok(())
}

fn copy_to_keep(path: &str, what: &str) -> HealthCheck {
    let word = shell_word(path);
    let advice = format!(
        "type `baton restore --replace {word}` to go back to it, or `rm -r {word}` once it is of no use"
    );
    HealthCheck { what: format!("{path}: {what}"), state: Health::Waits { advice } }
}
