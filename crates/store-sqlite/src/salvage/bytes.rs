//! A file that is only read, piece by piece.

use std::io::{BufReader, Read as _, Seek as _, SeekFrom};

use baton_files::{Access, Dir, FileError, FileHandle};

#[derive(Debug)]
pub(crate) struct Bytes {
    file: FileHandle,
    length: u64,
}

impl Bytes {
    /// `None` where the file is missing or empty.
    pub(crate) fn open(dir: &Dir, name: &str) -> Result<Option<Self>, FileError> {
        let length = dir.entry(name)?.map_or(0, |it| it.n_bytes);
        if length == 0 {
            return Ok(None);
        }
        Ok(Some(Self { file: dir.open_file(name, Access::Read)?, length }))
    }

    pub(crate) fn len(&self) -> u64 {
        self.length
    }

    /// Fills `buffer` from offset `at`; `None` where the file is too short or cannot be read there.
    /// A disk that fails in one place is no reason to give up the others.
    pub(crate) fn read_at(&mut self, at: u64, buffer: &mut [u8]) -> Option<()> {
        self.file.seek(SeekFrom::Start(at)).ok()?;
        self.file.read_exact(buffer).ok()
    }

    /// All bytes from offset `at` on, in order.
    pub(crate) fn from(&mut self, at: u64) -> Option<BufReader<&mut FileHandle>> {
        self.file.seek(SeekFrom::Start(at)).ok()?;
        Some(BufReader::with_capacity(1 << 20, &mut self.file))
    }
}
