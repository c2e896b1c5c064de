//! A file that is only ever read, piece by piece.

use std::fs::File;
use std::io::{self, Read as _, Seek as _, SeekFrom};
use std::path::Path;

#[derive(Debug)]
pub(crate) struct Bytes {
    file: File,
    length: u64,
}

impl Bytes {
    /// None where there is no such file, or nothing in it.
    pub(crate) fn open(path: &Path) -> io::Result<Option<Self>> {
        match std::fs::symlink_metadata(path) {
            Ok(it) if !it.is_file() => {
                let what = "it is not a plain file, so it is not read";
                return Err(io::Error::new(io::ErrorKind::InvalidInput, what));
            }
            Ok(_) => {}
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(error),
        }
        let file = File::open(path)?;
        let length = file.metadata()?.len();
        Ok((length > 0).then_some(Self { file, length }))
    }

    pub(crate) fn len(&self) -> u64 {
        self.length
    }

    /// Fills `buffer` from `at` on; none where the file is too short for that or cannot be read
    /// there. A disk that fails in one place is no reason to give up the others.
    pub(crate) fn read_at(&mut self, at: u64, buffer: &mut [u8]) -> Option<()> {
        self.file.seek(SeekFrom::Start(at)).ok()?;
        self.file.read_exact(buffer).ok()
    }
}
