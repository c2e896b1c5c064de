//! Reads SQLite's write-ahead log without SQLite, which takes everything up to the first frame that
//! does not fit for the whole log, and never says that there was more.
//!
//! The format is described at <https://sqlite.org/fileformat2.html#the_write_ahead_log>: a header
//! of 32 bytes, then frames of a 24-byte header and a page. Each checksum goes on from the one
//! before it, so a frame is whole only if all before it are; and every frame repeats two salts of
//! the header, which change whenever the log begins anew over what was there.

use std::io::{self, Read};

pub(crate) const WAL_HEADER: usize = 32;
pub(crate) const FRAME_HEADER: usize = 24;
/// The checksum is taken over numbers in the byte order of the machine that made the log.
const MAGIC_LITTLE_ENDIAN: u32 = 0x377f_0682;
const MAGIC_BIG_ENDIAN: u32 = 0x377f_0683;
const FORMAT_VERSION: u32 = 3_007_000;

/// Told apart from the log before it by these: the first counts up, the second is random.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Salts(pub(crate) u32, pub(crate) u32);

/// More often than any log begins anew.
const MOST_BEGINNINGS: u32 = 1 << 24;

impl Salts {
    /// Whether a log with these may have stood in the same file before one with the others.
    pub(crate) fn are_before(self, others: Self) -> bool {
        (1..=MOST_BEGINNINGS).contains(&others.0.wrapping_sub(self.0))
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Checksum(u32, u32);

/// The beginning of a log whose checksum fits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct WalHeader {
    pub(crate) page_size: u32,
    pub(crate) salts: Salts,
    byte_order: ByteOrder,
    checksum: Checksum,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ByteOrder {
    Little,
    Big,
}

/// One frame, as it stands in the file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct WalFrame {
    pub(crate) page_number: u32,
    /// How many pages the database has after the transaction that this frame ends; 0 where it
    /// ends none.
    pub(crate) commit_size: u32,
    pub(crate) salts: Salts,
    /// As the frame itself says; whether it fits is for [`WalHeader::is_whole`].
    pub(crate) checksum: Checksum,
    pub(crate) page: Vec<u8>,
}

/// What a log holds, read from end to end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Wal {
    /// There is none, or it has no byte.
    Empty,
    /// The header is cut or does not fit its checksum.
    HeaderBroken {
        n_bytes: u64,
    },
    Frames(WalFrames),
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct WalFrames {
    pub(crate) header: WalHeader,
    /// How many frames from the beginning are whole.
    pub(crate) n_whole: u64,
    /// How many of them belong to a transaction that is whole too: all that SQLite would read.
    pub(crate) n_committed: u64,
    /// How many pages the database has after the last whole transaction, if there is one.
    pub(crate) n_pages: Option<u32>,
    /// The first frame, counted from 0, that ends a transaction of this log and stands behind a frame
    /// that is not whole. A transaction that failed or was cut short never wrote its last frame, so
    /// what it left behind has none: this is damage.
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

    /// What the first frame's checksum goes on from.
    pub(crate) fn checksum(&self) -> Checksum {
        self.checksum
    }

    /// Whether a frame is of this log, and what it holds is what was written, `before` being the
    /// checksum of the frame before it.
    pub(crate) fn is_whole(&self, frame: &WalFrame, before: Checksum) -> bool {
        frame.salts == self.salts
            && frame.page_number > 0
            && self.sum(frame, before) == frame.checksum
    }

    /// What the beginning of a log must have been whose own is not whole, as Baton's machines
    /// write it. What its first frame goes on from is not known.
    pub(crate) fn guessed(page_size: u32, salts: Salts) -> Self {
        let (byte_order, checksum) = (ByteOrder::Little, Checksum(0, 0));
        Self { page_size, salts, byte_order, checksum }
    }

    /// The checksum that a frame has to have behind one that has `before`.
    pub(crate) fn sum(&self, frame: &WalFrame, before: Checksum) -> Checksum {
        let mut head = [0; 8];
        head[..4].copy_from_slice(&frame.page_number.to_be_bytes());
        head[4..].copy_from_slice(&frame.commit_size.to_be_bytes());
        self.byte_order.sum(self.byte_order.sum(before, &head), &frame.page)
    }
}

/// The highest page number that is believed: a database of 16 GiB in pages of 4 KiB.
pub(crate) const MOST_PAGES: u32 = 1 << 22;

impl WalHeader {
    /// The number of the page and the size after the transaction that a frame must have been
    /// written with, where one of the two is all that is damaged in it. They follow from the
    /// checksum, the page and the checksum before. Another kind of damage gives two random numbers
    /// here, and that one of them is as it stands and the other is possible is next to impossible.
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
    /// The checksum from which [`ByteOrder::sum`] over `bytes` comes to `end`.
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

    /// A number that was added up, as it stands in the file.
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

/// Reads frame after frame. What is left of a frame that was cut short is none.
pub(crate) struct FrameReader<R> {
    from: R,
    header: WalHeader,
    bytes: Vec<u8>,
}

impl<R: Read> FrameReader<R> {
    /// None where the header is not whole.
    pub(crate) fn begin(mut from: R) -> io::Result<Option<Self>> {
        let mut bytes = [0; WAL_HEADER];
        let n_read = fill(&mut from, &mut bytes)?;
        let header = WalHeader::parse(bytes.get(..n_read).unwrap_or_default());
        Ok(header.map(|header| Self::go_on(from, header)))
    }

    /// Where the header has been read already.
    pub(crate) fn go_on(from: R, header: WalHeader) -> Self {
        Self { from, header, bytes: vec![0; FRAME_HEADER + header.page_size as usize] }
    }

    pub(crate) fn header(&self) -> WalHeader {
        self.header
    }

    pub(crate) fn next(&mut self) -> io::Result<Option<WalFrame>> {
        if fill(&mut self.from, &mut self.bytes)? < self.bytes.len() {
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
    /// Reads a log of `n_bytes`, calling `committed` with the page numbers of each transaction
    /// that is whole.
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
        let header = reader.header();
        let (n_whole, n_committed) = (0, 0);
        let mut frames = WalFrames { header, n_whole, n_committed, n_pages: None, stranded: None };
        let mut before = header.checksum();
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

/// Reads until `bytes` is full or there is no more; gives how many were read.
fn fill(from: &mut impl Read, bytes: &mut [u8]) -> io::Result<usize> {
    let mut n_read = 0;
    while n_read < bytes.len() {
        match from.read(&mut bytes[n_read..]) {
            Ok(0) => break,
            Ok(n) => n_read += n,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(n_read)
}

fn be(bytes: &[u8], at: usize) -> Option<u32> {
    let word = bytes.get(at..at + 4)?;
    Some(u32::from_be_bytes(word.try_into().ok()?))
}

#[cfg(test)]
mod tests;
