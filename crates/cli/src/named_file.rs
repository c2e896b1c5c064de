//! Files that the user names on the command line. They may be anywhere and of any kind, a pipe too:
//! that is the user's own choice. Paths named in project files or documents are not opened here.
#![expect(clippy::disallowed_methods, reason = "the user names the path")]

use std::fs::File;
use std::io::{ErrorKind, Read, Write as _};

use baton_wire::json;
use baton_wire::position::TextPosition;

use crate::failure::Failure;

pub(crate) fn text(path: &str) -> Result<String, Failure> {
    read_text(&mut open(path)?, path)
}

pub(crate) fn open(path: &str) -> Result<File, Failure> {
    let failed = |error: std::io::Error| {
        if error.kind() == ErrorKind::NotFound {
            return Failure::NotFound(format!("there is no file `{path}`"));
        }
        Failure::io(format!("read `{path}`"), error)
    };
    if std::fs::metadata(path).map_err(failed)?.is_dir() {
        return Err(Failure::Usage(format!("`{path}` is a folder; name a file in it")));
    }
    File::open(path).map_err(failed)
}

/// Writes a file that does not exist yet.
pub(crate) fn write_new(path: &str, text: &str) -> Result<(), Failure> {
    write_new_bytes(path, text.as_bytes())
}

/// As [`write_new`], for what may be no text.
pub(crate) fn write_new_bytes(path: &str, bytes: &[u8]) -> Result<(), Failure> {
    let failed = |error: std::io::Error| {
        if error.kind() == ErrorKind::AlreadyExists {
            return Failure::Conflict(format!("`{path}` exists already; name another file"));
        }
        Failure::io(format!("write `{path}`"), error)
    };
    let mut file = File::create_new(path).map_err(failed)?;
    file.write_all(bytes).and_then(|()| file.sync_all()).map_err(failed)
}

/// Whether the user may have meant a file of that name.
pub(crate) fn exists(path: &str) -> bool {
    !path.trim().is_empty() && std::fs::metadata(path).is_ok_and(|it| it.is_file())
}

pub(crate) fn read_text(from: &mut dyn Read, name: &str) -> Result<String, Failure> {
    let bytes = read_at_most(from, name, json::MOST_BYTES as u64)?;
    String::from_utf8(bytes).map_err(|error| {
        let good = String::from_utf8_lossy(&error.as_bytes()[..error.utf8_error().valid_up_to()]);
        let at = TextPosition::of(&good, good.len());
        Failure::NotUtf8 { file: name.to_owned(), line: at.line, column: at.column }
    })
}

/// Larger input is not read at all.
pub(crate) fn read_at_most(from: &mut dyn Read, name: &str, most: u64) -> Result<Vec<u8>, Failure> {
    let mut bytes = Vec::new();
    from.take(most + 1)
        .read_to_end(&mut bytes)
        .map_err(|error| Failure::io(format!("read `{name}`"), error))?;
    if bytes.len() as u64 > most {
        return Err(Failure::Usage(format!("`{name}` has more than {most} bytes")));
    }
    Ok(bytes)
}
