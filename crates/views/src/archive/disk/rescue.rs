//! Moves the files of others out of a folder that is being rebuilt; none of them is ever
//! overwritten.

use std::ffi::{OsStr, OsString};
use std::path::Path;

use baton_files::{Dir, FileError, FileMode};

use super::{Sort, entries};

/// The one subfolder of a session that has files of Baton's.
const SHARED: &str = "handoffs";

/// Moves everything in `old` that is not Baton's own, judged by its relative path, to the folder
/// `name` in `within`.
pub(super) fn rescue(
    old: &Dir,
    within: &Dir,
    name: &str,
    is_own: fn(&str) -> bool,
) -> Result<(), FileError> {
    let to = Path::new(name);
    for entry in entries(old)? {
        match entry {
            (name, Sort::Folder) if name == SHARED => {
                let is_own = |it: &str| is_own(&format!("{SHARED}/{it}"));
                let old = old.subdir(&name)?;
                for (name, sort) in entries(&old)? {
                    if sort == Sort::Folder || !is_written(&name, is_own) {
                        carry(&old, within, &to.join(SHARED), &name)?;
                    }
                }
            }
            // The target of the link stays where it is.
            (name, Sort::Link) if name == SHARED => {}
            (name, Sort::Folder) => carry(old, within, to, &name)?,
            (name, Sort::Link | Sort::File) if is_written(&name, is_own) => {}
            (name, Sort::Link | Sort::File) => carry(old, within, to, &name)?,
        }
    }
    Ok(())
}

/// Renames, so that a folder moves with all its content.
fn carry(old: &Dir, within: &Dir, folder: &Path, name: &OsStr) -> Result<(), FileError> {
    let folder = within.make_dirs(folder, FileMode::Shared)?;
    old.rename_new(name, &folder, free(&folder, name)?)
}

/// Whether Baton writes a file of that name, or was about to.
fn is_written(name: &OsStr, is_own: impl Fn(&str) -> bool) -> bool {
    let Some(name) = name.to_str() else { return false };
    let becomes = name.strip_prefix('.').and_then(|it| it.strip_suffix(".new"));
    is_own(becomes.unwrap_or(name))
}

/// Its own name, or if that is taken, the first free one with a number.
fn free(folder: &Dir, name: &OsStr) -> Result<OsString, FileError> {
    let mut other = name.to_owned();
    let mut n_taken = 0_u32;
    while folder.entry(&other)?.is_some() {
        n_taken += 1;
        other = name.to_owned();
        other.push(format!(".kept-{n_taken}"));
    }
    Ok(other)
}
