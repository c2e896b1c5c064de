//! Reads SQLite's write-ahead log without SQLite. SQLite takes everything up to the first invalid
//! frame for the whole log, and never reports that there was more.
//!
//! The format is described at <https://sqlite.org/fileformat2.html#the_write_ahead_log>: a header
//! of 32 bytes, then frames of a 24-byte header and a page. Checksums are chained, so a frame is
//! valid only if all frames before it are. Every frame repeats the two salts of the header, which
//! change whenever SQLite restarts the log over its old contents.

use std::io::{self, Read};

pub(crate) const WAL_HEADER: usize = 32;
pub(crate) const FRAME_HEADER: usize = 24;
/// The checksum is computed over words in the byte order of the machine that created the log.
const MAGIC_LITTLE_ENDIAN: u32 = 0x377f_0682;
const MAGIC_BIG_ENDIAN: u32 = 0x377f_0683;
const FORMAT_VERSION: u32 = 3_007_000;

/// Distinguish a log from the one before it in the same file: the first counts up, the second is
/// random.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Salts(pub(crate) u32, pub(crate) u32);

/// More often than any log is restarted.
const MOST_BEGINNINGS: u32 = 1 << 24;
/// The highest plausible page number: a database of 16 GiB in pages of 4 KiB.
pub(crate) const MOST_PAGES: u32 = 1 << 22;

impl Salts {
    /// Whether a log with these salts may have preceded one with the others in the same file.
    pub(crate) fn are_before(self, others: Self) -> bool {
        (1..=MOST_BEGINNINGS).contains(&others.0.wrapping_sub(self.0))
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Checksum(u32, u32);

/// A log header whose checksum is valid.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct WalHeader {
    pub(crate) page_size: u32,
    pub(crate) salts: Salts,
    byte_order: ByteOrder,
    /// The checksum that the first frame's checksum continues from.
    pub(crate) checksum: Checksum,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ByteOrder {
    Little,
    Big,
}

/// One frame, as it is in the file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct WalFrame {
    pub(crate) page_number: u32,
    /// Database size in pages after the transaction that this frame commits; 0 where it is not a
    /// commit frame.
    pub(crate) commit_size: u32,
    pub(crate) salts: Salts,
    /// As stored in the frame; [`WalHeader::is_whole`] validates it.
    pub(crate) checksum: Checksum,
    pub(crate) page: Vec<u8>,
}

/// What a full read of a log found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Wal {
    /// There is no log, or it is empty.
    Empty,
    /// The header is truncated or its checksum is invalid.
    HeaderBroken {
        n_bytes: u64,
    },
    Frames(WalFrames),
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct WalFrames {
    pub(crate) header: WalHeader,
    /// How many frames from the start are valid.
    pub(crate) n_whole: u64,
    /// How many of them belong to a complete transaction: all that SQLite would read.
    pub(crate) n_committed: u64,
    /// Database size in pages after the last complete transaction, if there is one.
    pub(crate) n_pages: Option<u32>,
    /// The first commit frame of this log, counted from 0, behind an invalid frame. A transaction
    /// that failed or was interrupted never wrote its commit frame, so its remains have none: this
    /// is damage.
    pub(crate) stranded: Option<u64>,
}

impl WalHeader {
    pub(crate) fn parse(bytes: &[u8]) -> Option<Self> {
        let word = |n: usize| be(bytes, n * 4);
        let byte_order = match word(0)? {
            MAGIC_LITTLE_ENDIAN => ByteOrder::Little,
            MAGIC_BIG_ENDIAN => ByteOrder::Big,
            _ => return None,
        };
        let checksum = byte_order.sum(Checksum(0, 0), bytes.get(..24)?);
        let page_size = word(2)?;
        let is_page_size = page_size.is_power_of_two() && (512..=65536).contains(&page_size);
        let is_whole =
            checksum == Checksum(word(6)?, word(7)?) && word(1)? == FORMAT_VERSION && is_page_size;
        let salts = Salts(word(4)?, word(5)?);
        is_whole.then_some(Self { page_size, salts, byte_order, checksum })
    }

    /// Whether a frame belongs to this log and is unchanged since it was written; `before` is the
    /// checksum of the previous frame.
    pub(crate) fn is_whole(&self, frame: &WalFrame, before: Checksum) -> bool {
        frame.salts == self.salts
            && frame.page_number > 0
            && self.sum(frame, before) == frame.checksum
    }

    /// Reconstructs a damaged log header, as Baton's machines write it. The checksum that the first
    /// frame continues from is not known.
    pub(crate) fn guessed(page_size: u32, salts: Salts) -> Self {
        let (byte_order, checksum) = (ByteOrder::Little, Checksum(0, 0));
        Self { page_size, salts, byte_order, checksum }
    }

    /// The checksum that a frame must have after one with the checksum `before`.
    pub(crate) fn sum(&self, frame: &WalFrame, before: Checksum) -> Checksum {
        let mut head = [0; 8];
        head[..4].copy_from_slice(&frame.page_number.to_be_bytes());
        head[4..].copy_from_slice(&frame.commit_size.to_be_bytes());
        self.byte_order.sum(self.byte_order.sum(before, &head), &frame.page)
    }

    /// The page number and the database size that a frame must have been written with, where only
    /// one of the two is damaged. They follow from the checksum, the page and the previous
    /// checksum. Any other damage gives two random numbers here, and it is next to impossible that
    /// one of them equals the stored value and the other is plausible.
    pub(crate) fn mended(&self, frame: &WalFrame, before: Checksum) -> Option<(u32, u32)> {
        let Checksum(one, two) = self.byte_order.sum_backwards(frame.checksum, &frame.page);
        let page_number = one.wrapping_sub(before.0).wrapping_sub(before.1);
        let commit_size = two.wrapping_sub(before.1).wrapping_sub(one);
        let [page_number, commit_size] =
            [page_number, commit_size].map(|it| self.byte_order.as_stored(it));
        let is_one_alone = (page_number == frame.page_number) != (commit_size == frame.commit_size);
        let is_possible = (1..=MOST_PAGES).contains(&page_number) && commit_size <= MOST_PAGES;
        (is_one_alone && is_possible).then_some((page_number, commit_size))
    }
}

impl ByteOrder {
    /// The start checksum from which [`ByteOrder::sum`] over `bytes` gives `end`.
    fn sum_backwards(self, end: Checksum, bytes: &[u8]) -> Checksum {
        let Checksum(mut one, mut two) = end;
        for pair in bytes.rchunks_exact(8) {
            two = two.wrapping_sub(self.word(pair, 4)).wrapping_sub(one);
            one = one.wrapping_sub(self.word(pair, 0)).wrapping_sub(two);
        }
        Checksum(one, two)
    }

    fn word(self, pair: &[u8], at: usize) -> u32 {
        let bytes = [pair[at], pair[at + 1], pair[at + 2], pair[at + 3]];
        match self {
            Self::Little => u32::from_le_bytes(bytes),
            Self::Big => u32::from_be_bytes(bytes),
        }
    }

    /// A summed word, as it is stored in the file.
    fn as_stored(self, word: u32) -> u32 {
        match self {
            Self::Little => word.swap_bytes(),
            Self::Big => word,
        }
    }

    fn sum(self, from: Checksum, bytes: &[u8]) -> Checksum {
        let Checksum(mut one, mut two) = from;
        for pair in bytes.chunks_exact(8) {
            one = one.wrapping_add(self.word(pair, 0)).wrapping_add(two);
            two = two.wrapping_add(self.word(pair, 4)).wrapping_add(one);
        }
        Checksum(one, two)
    }
}

/// Reads frame after frame. A truncated last frame is left out.
pub(crate) struct FrameReader<R> {
    from: R,
    pub(crate) header: WalHeader,
    bytes: Vec<u8>,
}

impl<R: Read> FrameReader<R> {
    /// `None` where the header is invalid.
    pub(crate) fn begin(mut from: R) -> io::Result<Option<Self>> {
        let mut bytes = [0; WAL_HEADER];
        let header = if fill(&mut from, &mut bytes)? { WalHeader::parse(&bytes) } else { None };
        Ok(header.map(|header| Self::go_on(from, header)))
    }

    /// For a caller that has read the header already.
    pub(crate) fn go_on(from: R, header: WalHeader) -> Self {
        Self { from, header, bytes: vec![0; FRAME_HEADER + header.page_size as usize] }
    }

    pub(crate) fn next(&mut self) -> io::Result<Option<WalFrame>> {
        if !fill(&mut self.from, &mut self.bytes)? {
            return Ok(None);
        }
        let word = |n: usize| be(&self.bytes, n * 4).unwrap_or_default();
        Ok(Some(WalFrame {
            page_number: word(0),
            commit_size: word(1),
            salts: Salts(word(2), word(3)),
            checksum: Checksum(word(4), word(5)),
            page: self.bytes[FRAME_HEADER..].to_vec(),
        }))
    }
}

impl Wal {
    /// Reads a log of `n_bytes` and calls `committed` with the page numbers of each complete
    /// transaction.
    pub(crate) fn read(
        from: impl Read,
        n_bytes: u64,
        mut committed: impl FnMut(&[u32]),
    ) -> io::Result<Self> {
        if n_bytes == 0 {
            return Ok(Self::Empty);
        }
        let Some(mut reader) = FrameReader::begin(from)? else {
            return Ok(Self::HeaderBroken { n_bytes });
        };
        let header = reader.header;
        let (n_whole, n_committed) = (0, 0);
        let mut frames = WalFrames { header, n_whole, n_committed, n_pages: None, stranded: None };
        let mut before = header.checksum;
        let mut open_pages = Vec::new();
        let mut is_broken = false;
        for n in 0.. {
            let Some(frame) = reader.next()? else { break };
            if is_broken {
                if frame.salts == header.salts && frame.commit_size > 0 {
                    frames.stranded = Some(n);
                    break;
                }
                continue;
            }
            if !header.is_whole(&frame, before) {
                is_broken = true;
                continue;
            }
            before = frame.checksum;
            frames.n_whole += 1;
            open_pages.push(frame.page_number);
            if frame.commit_size > 0 {
                frames.n_committed = frames.n_whole;
                frames.n_pages = Some(frame.commit_size);
                committed(&open_pages);
                open_pages.clear();
            }
        }
        Ok(Self::Frames(frames))
    }
}

/// False where the input ends before `bytes` is full.
fn fill(from: &mut impl Read, bytes: &mut [u8]) -> io::Result<bool> {
    match from.read_exact(bytes) {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Ok(false),
        Err(error) => Err(error),
    }
}

pub(crate) fn be(bytes: &[u8], at: usize) -> Option<u32> {
    let word = bytes.get(at..at + 4)?;
    Some(u32::from_be_bytes(word.try_into().ok()?))
}

#[cfg(test)]
mod tests;
