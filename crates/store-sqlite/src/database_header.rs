//! The first hundred bytes of a database, read without SQLite.
//! <https://sqlite.org/fileformat2.html#the_database_header>

use std::collections::BTreeSet;
use std::io::{self, Read};

use baton_files::{Access, Dir};

use crate::FILE;
use crate::error::{Damage, OpenError};
use crate::wal::WalFrames;

const LENGTH: usize = 100;
const MAGIC: &[u8; 16] = b"SQLite format 3\0";

/// Whether a file begins with SQLite's magic string.
pub fn is_database(file: impl Read) -> io::Result<bool> {
    let mut start = Vec::with_capacity(MAGIC.len());
    file.take(MAGIC.len() as u64).read_to_end(&mut start)?;
    Ok(start == MAGIC)
}

/// The page size, and the bytes that SQLite reserves at the end of each page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct PageLayout {
    pub(crate) page_size: u32,
    pub(crate) reserved: u8,
}

impl PageLayout {
    /// How many bytes from the start of a database are needed.
    pub(crate) const LENGTH: usize = 24;

    /// `None` where the bytes are not a database header.
    pub(crate) fn parse(bytes: &[u8; Self::LENGTH]) -> Option<Self> {
        let page_size = match u16::from_be_bytes([bytes[16], bytes[17]]) {
            1 => 65536,
            size => u32::from(size),
        };
        let is_valid = bytes.starts_with(MAGIC) && page_size >= 512 && page_size.is_power_of_two();
        is_valid.then_some(Self { page_size, reserved: bytes[20] })
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct DatabaseHeader {
    pub(crate) page_size: u32,
    /// As of the last checkpointed transaction; `None` where an old SQLite wrote the file.
    n_pages: Option<u32>,
}

impl DatabaseHeader {
    /// `None` where the bytes are not a database header.
    pub(crate) fn read(dir: &Dir) -> Result<Option<Self>, OpenError> {
        let mut file = dir.open_file(FILE, Access::Read)?;
        let mut bytes = [0; LENGTH];
        match file.read_exact(&mut bytes) {
            Ok(()) => Ok(Self::parse(&bytes)),
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Ok(None),
            Err(source) => Err(OpenError::File { path: dir.path().join(FILE), source }),
        }
    }

    fn parse(bytes: &[u8; LENGTH]) -> Option<Self> {
        let word = |at: usize| {
            u32::from_be_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]])
        };
        let PageLayout { page_size, .. } = PageLayout::parse(bytes.first_chunk()?)?;
        // The page count is valid only if it was written together with the change counter.
        let is_counted = word(24) == word(92) && word(28) > 0;
        Some(Self { page_size, n_pages: is_counted.then(|| word(28)) })
    }

    /// Whether every page is in the file or in the log. An interrupted checkpoint may leave a file
    /// whose last pages are still only in the log.
    pub(crate) fn check_length(
        &self,
        n_bytes: u64,
        log: Option<&WalFrames>,
        in_log: &BTreeSet<u32>,
    ) -> Result<(), Damage> {
        let Some(n_pages) = log.and_then(|it| it.n_pages).or(self.n_pages) else { return Ok(()) };
        let n_in_file = n_bytes / u64::from(self.page_size);
        let first_absent = n_in_file.saturating_add(1);
        // Only a file that is too short is checked page by page.
        let is_absent = (first_absent..=u64::from(n_pages))
            .any(|it| u32::try_from(it).is_ok_and(|it| !in_log.contains(&it)));
        if is_absent {
            return Err(Damage::Short { n_bytes, n_pages, page_size: self.page_size });
        }
        Ok(())
    }
}
