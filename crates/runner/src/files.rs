//! The files that are sent back of an attempt and of its checks: chosen, masked, cut to the limits. What is cut or
//! left out is said in the note of the file.

use std::path::{Component, Path, PathBuf};

use baton_core::document::Node;
use baton_core::lint::{paths, redacted};
use baton_core::plural::counted;
use baton_core::sent_file::{LARGEST_FILE, MOST_FILE_BYTES, MOST_FILES, SentFileKind};
use baton_files::{Dir, FileError, FileKind};

use crate::client::{ApiFailure, Client};
use crate::masking::{Masking, SECRET};
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
        let masked = without_secrets(&redacted(text), masking);
        let mut notes = Vec::new();
        if masked != text {
            notes.push(MASKED.to_owned());
        }
        let (bytes, cut) = cut(masked, kept);
        notes.extend(cut);
        let note = (!notes.is_empty()).then(|| notes.join("; "));
        Self { kind, name: shortened(name, MOST_NAME_CHARS), note, bytes: Some(bytes) }
    }

    pub(crate) fn left_out(kind: SentFileKind, name: &str, why: &str) -> Self {
        let note = Some(shortened(&format!("left out: {why}"), MOST_NOTE_CHARS));
        Self { kind, name: shortened(name, MOST_NAME_CHARS), note, bytes: None }
    }
}

/// The files of a workspace that a package names. Nothing outside of it is read, and no link is followed.
pub(crate) fn artifacts(dir: &Dir, package: &Node, masking: &Masking) -> Vec<OutgoingFile> {
    let named = paths(package);
    let mut files: Vec<OutgoingFile> =
        named.iter().take(MOST_NAMED).filter_map(|it| artifact(dir, it, masking)).collect();
    let n_more = named.len().saturating_sub(MOST_NAMED);
    if n_more > 0 {
        let why = format!("the package names {} more", counted(n_more as u64, "file"));
        files.push(OutgoingFile::left_out(SentFileKind::Artifact, "further files", &why));
    }
    files
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
    let (bytes, note) = match std::str::from_utf8(&bytes) {
        Err(_) => (bytes, None),
        Ok(text) => {
            let masked = without_secrets(text, masking);
            let note = (masked != text).then(|| MASKED.to_owned());
            (masked.into_bytes(), note)
        }
    };
    let name = shortened(name, MOST_NAME_CHARS);
    Some(OutgoingFile { kind: SentFileKind::Artifact, name, note, bytes: Some(bytes) })
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

/// Without what the attempt masks, and without credentials of Baton, which are known by their form.
fn without_secrets(text: &str, masking: &Masking) -> String {
    let mut clean = masking.mask(text);
    for prefix in ["baton-attempt.", "baton-runner."] {
        clean = without_tokens(&clean, prefix);
    }
    clean
}

fn without_tokens(text: &str, prefix: &str) -> String {
    const DIGITS: usize = 64;
    let mut clean = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(prefix) {
        let (before, token) = rest.split_at(at);
        clean.push_str(before);
        let is_part = |it: char| it.is_ascii_alphanumeric() || matches!(it, '.' | '-' | '_');
        let length = token.find(|it| !is_part(it)).unwrap_or(token.len());
        let (token, after) = token.split_at(length);
        let digits = token.rsplit('.').next().unwrap_or_default();
        let is_hash =
            digits.len() >= DIGITS && digits.bytes().take(DIGITS).all(|it| it.is_ascii_hexdigit());
        clean.push_str(if is_hash { SECRET } else { token });
        rest = after;
    }
    clean.push_str(rest);
    clean
}

/// The text as bytes of a file, and what was cut.
fn cut(text: String, kept: KeptPart) -> (Vec<u8>, Option<String>) {
    let most = usize::try_from(LARGEST_FILE).unwrap_or(usize::MAX);
    if text.len() <= most {
        return (text.into_bytes(), None);
    }
    let n_cut = text.len() - most;
    match kept {
        KeptPart::Beginning => {
            let end = text.floor_char_boundary(most);
            let note = format!("cut: the last {} bytes are left out", text.len() - end);
            (text.as_bytes()[..end].to_vec(), Some(note))
        }
        KeptPart::End => {
            let begin = text.ceil_char_boundary(n_cut);
            let note = format!("cut: the first {begin} bytes are left out");
            (text.as_bytes()[begin..].to_vec(), Some(note))
        }
    }
}

/// On one line, as the server takes names and notes.
fn shortened(text: &str, most: usize) -> String {
    let plain = text.chars().map(|it| if it.is_control() { ' ' } else { it });
    let short: String = plain.take(most).collect();
    if short.is_empty() { "file".to_owned() } else { short }
}

#[cfg(test)]
mod tests;
