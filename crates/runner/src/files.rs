//! The files that are sent back of an attempt and of its checks: chosen, masked, cut to the limits. What is cut or
//! left out is said in the note of the file.

use std::path::{Component, Path, PathBuf};

use baton_core::document::Node;
use baton_core::lint::paths;
use baton_core::plural::counted;
use baton_core::sent_file::{LARGEST_FILE, MOST_FILE_BYTES, MOST_FILES, SentFileKind};
use baton_files::{Dir, FileError, FileKind};

use crate::client::{ApiFailure, Client};
use crate::masking::Masking;
use crate::record::AttemptKey;

/// A file on its way.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct OutgoingFile {
    pub(crate) kind: SentFileKind,
    pub(crate) name: String,
    /// What was cut, or why it was left out.
    pub(crate) note: Option<String>,
    /// `None` where it was left out.
    pub(crate) bytes: Option<Vec<u8>>,
}

/// Which part of a text that is too long is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum KeptPart {
    Beginning,
    End,
}

/// Whether there is more of a text than was read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum GoesOn {
    Not,
    Unread,
}

/// More of a text is not worth reading: what is cut away beside it may be the rest of a secret.
pub(crate) fn most_read(masking: &Masking) -> usize {
    usize::try_from(LARGEST_FILE).unwrap_or(usize::MAX).saturating_add(masking.margin())
}

const MASKED: &str = "credentials and paths of the user are masked";
const MOST_NAME_CHARS: usize = 300;
const MOST_NOTE_CHARS: usize = 1000;
/// Named in one package; more are not looked at one by one.
const MOST_NAMED: usize = 1000;

impl OutgoingFile {
    /// A text without secrets, cut to the size of a file.
    pub(crate) fn text(
        kind: SentFileKind,
        name: &str,
        text: &str,
        masking: &Masking,
        kept: KeptPart,
    ) -> Self {
        Self::of(kind, name, cut_text(text, masking, kept, GoesOn::Not))
    }

    /// The beginning of a text whose rest was not read.
    pub(crate) fn begun_text(
        kind: SentFileKind,
        name: &str,
        text: &str,
        masking: &Masking,
    ) -> Self {
        Self::of(kind, name, cut_text(text, masking, KeptPart::Beginning, GoesOn::Unread))
    }

    fn of(kind: SentFileKind, name: &str, text: CutText) -> Self {
        let masked = text.is_masked.then(|| MASKED.to_owned());
        let notes: Vec<String> = masked.into_iter().chain(text.cut).collect();
        let note = (!notes.is_empty()).then(|| notes.join("; "));
        Self { kind, name: shortened(name, MOST_NAME_CHARS), note, bytes: Some(text.bytes) }
    }

    pub(crate) fn left_out(kind: SentFileKind, name: &str, why: &str) -> Self {
        let note = Some(shortened(&format!("left out: {why}"), MOST_NOTE_CHARS));
        Self { kind, name: shortened(name, MOST_NAME_CHARS), note, bytes: None }
    }
}

/// The files of a workspace that a package names. Nothing outside of it is read, and no link is followed.
pub(crate) fn artifacts(dir: &Dir, package: &Node, masking: &Masking) -> Vec<OutgoingFile> {
    let named = paths(package);
    let (mut files, mut n_bytes, mut n_read) = (Vec::new(), 0, 0);
    for name in named.iter().take(MOST_NAMED) {
        // What is not sent anyway is not held.
        let is_full = n_bytes >= MOST_FILE_BYTES || n_read >= MOST_FILES;
        let file = match is_full {
            true => left_out_artifact(dir, name),
            false => artifact(dir, name, masking),
        };
        let read = file.as_ref().and_then(|it| it.bytes.as_ref());
        n_bytes += read.map_or(0, |it| it.len() as u64);
        n_read += u32::from(read.is_some());
        files.extend(file);
    }
    let n_more = named.len().saturating_sub(MOST_NAMED);
    if n_more > 0 {
        let why = format!("the package names {} more", counted(n_more as u64, "file"));
        files.push(OutgoingFile::left_out(SentFileKind::Artifact, "further files", &why));
    }
    files
}

fn left_out_artifact(dir: &Dir, name: &str) -> Option<OutgoingFile> {
    let is_file = dir.entry(Path::new(name)).ok().flatten().is_some_and(|it| it.is_file());
    let why = format!("the files of an attempt have at most {MOST_FILE_BYTES} bytes");
    is_file.then(|| OutgoingFile::left_out(SentFileKind::Artifact, name, &why))
}

/// `None` for a folder, and for what is not there: a package also names what it removed.
fn artifact(dir: &Dir, name: &str, masking: &Masking) -> Option<OutgoingFile> {
    let left_out = |why: &str| Some(OutgoingFile::left_out(SentFileKind::Artifact, name, why));
    let mut plain = PathBuf::new();
    for component in Path::new(name).components() {
        match component {
            Component::Normal(part) => plain.push(part),
            Component::CurDir => {}
            Component::ParentDir | Component::RootDir | Component::Prefix(_) => {
                return left_out("it is outside the workspace");
            }
        }
    }
    let is_of_git = plain.components().any(|it| it.as_os_str().eq_ignore_ascii_case(".git"));
    if plain.as_os_str().is_empty() || is_of_git {
        return None;
    }
    let entry = match dir.entry(&plain) {
        Ok(Some(entry)) => entry,
        Ok(None) => return None,
        Err(FileError::Link { .. }) => return left_out("it is behind a link"),
        Err(_) => return left_out("it cannot be looked at"),
    };
    match entry.kind {
        FileKind::Folder => return None,
        FileKind::Link => return left_out("it is a link"),
        FileKind::Pipe | FileKind::Socket | FileKind::Device => {
            return left_out("it is no regular file");
        }
        FileKind::File if entry.n_bytes > LARGEST_FILE => {
            let n_bytes = entry.n_bytes;
            return left_out(&format!(
                "it has {n_bytes} bytes, and a file has at most {LARGEST_FILE}"
            ));
        }
        FileKind::File => {}
    }
    let Ok(bytes) = dir.read(&plain, LARGEST_FILE) else { return left_out("it cannot be read") };
    let masked = masking.clean_bytes(&bytes);
    let note = (masked != bytes).then(|| MASKED.to_owned());
    let name = shortened(name, MOST_NAME_CHARS);
    Some(OutgoingFile { kind: SentFileKind::Artifact, name, note, bytes: Some(masked) })
}

/// Sends files one by one, within the limits of an attempt. What could not be sent, for the runner's log.
pub(crate) async fn send_all(
    client: &Client,
    key: &AttemptKey,
    files: Vec<OutgoingFile>,
) -> Result<(), ApiFailure> {
    for file in within_limits(files) {
        match client.send_file(key, &file).await {
            Ok(()) => {}
            // Of another attempt, which is still good: not what this runner masks.
            Err(ApiFailure::Refused(problem)) if is_about_the_file(&problem.code) => {
                let why = &problem.detail;
                let left_out = OutgoingFile::left_out(file.kind, &file.name, why);
                client.send_file(key, &left_out).await?;
            }
            Err(failure) => return Err(failure),
        }
    }
    Ok(())
}

fn is_about_the_file(code: &str) -> bool {
    matches!(code, "credential_in_text" | "too_large")
}

/// The last place is for saying how many are left out.
fn within_limits(files: Vec<OutgoingFile>) -> Vec<OutgoingFile> {
    let most = MOST_FILES as usize;
    let mut n_bytes = 0;
    let n_all = files.len();
    let mut sent: Vec<OutgoingFile> = Vec::new();
    for file in files {
        let more = file.bytes.as_ref().map_or(0, |it| it.len() as u64);
        if n_bytes + more > MOST_FILE_BYTES {
            let why = format!("the files of an attempt have at most {MOST_FILE_BYTES} bytes");
            sent.push(OutgoingFile::left_out(file.kind, &file.name, &why));
            continue;
        }
        n_bytes += more;
        sent.push(file);
    }
    if n_all > most {
        sent.truncate(most - 1);
        let n_more = (n_all - most + 1) as u64;
        let why =
            format!("an attempt has at most {MOST_FILES} files, and {n_more} more are not here");
        sent.push(OutgoingFile::left_out(SentFileKind::Artifact, "further files", &why));
    }
    sent
}

/// A text without secrets within the size of a file: cut before it is cleaned, so that a large one costs no more.
struct CutText {
    bytes: Vec<u8>,
    is_masked: bool,
    cut: Option<String>,
}

/// Where the text goes on beyond what is cleaned, its last bytes are left out too: they may be a part of a secret.
fn cut_text(text: &str, masking: &Masking, kept: KeptPart, goes_on: GoesOn) -> CutText {
    let most = usize::try_from(LARGEST_FILE).unwrap_or(usize::MAX);
    let margin = masking.margin();
    let window = match kept {
        KeptPart::Beginning => &text[..text.floor_char_boundary(most + margin)],
        KeptPart::End => &text[text.ceil_char_boundary(text.len().saturating_sub(most + margin))..],
    };
    let clean = masking.clean(window);
    let is_masked = clean != window;
    let is_cut = window.len() < text.len() || goes_on == GoesOn::Unread;
    let most = if is_cut { most.min(clean.len().saturating_sub(margin)) } else { most };
    if clean.len() <= most {
        return CutText { bytes: clean.into_bytes(), is_masked, cut: None };
    }
    let n_outside = text.len() - window.len();
    let (bytes, cut) = match (kept, goes_on) {
        (KeptPart::Beginning, GoesOn::Not) => {
            let end = clean.floor_char_boundary(most);
            let n = n_outside + clean.len() - end;
            (&clean[..end], format!("cut: the last {n} bytes are left out"))
        }
        (KeptPart::Beginning, GoesOn::Unread) => {
            let end = clean.floor_char_boundary(most);
            (&clean[..end], format!("cut: what comes after the first {end} bytes is left out"))
        }
        (KeptPart::End, _) => {
            let begin = clean.ceil_char_boundary(clean.len() - most);
            let n = n_outside + begin;
            (&clean[begin..], format!("cut: the first {n} bytes are left out"))
        }
    };
    CutText { bytes: bytes.as_bytes().to_vec(), is_masked, cut: Some(cut) }
}

/// On one line, as the server takes names and notes.
fn shortened(text: &str, most: usize) -> String {
    let plain = text.chars().map(|it| if it.is_control() { ' ' } else { it });
    let short: String = plain.take(most).collect();
    if short.is_empty() { "file".to_owned() } else { short }
}

#[cfg(test)]
mod tests;
