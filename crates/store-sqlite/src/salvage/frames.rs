//! Every frame of a write-ahead log, and which of them are proven by their checksums.
//!
//! SQLite stops at the first frame that does not fit the chain of checksums. Behind a damaged frame
//! the chain can be taken up again: the damaged one says which checksum it was written with, and if
//! the next frame was computed from that, the next frame is whole. So one bad bit costs one page.

use super::bytes::Bytes;

const HEADER: u64 = 32;
const FRAME_HEADER: usize = 24;
/// Its lowest bit says in which order the bytes of the checksums are read.
const MAGIC: u32 = 0x377f_0682;

/// A log as it was found.
#[derive(Debug)]
pub(crate) struct Log {
    pub(crate) page_size: usize,
    pub(crate) frames: Vec<Frame>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Frame {
    pub(crate) page: u32,
    /// How many pages the database has after it, where it ends a transaction.
    pub(crate) commit: Option<u32>,
    pub(crate) standing: Standing,
    /// Where its page begins in the file.
    pub(crate) offset: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Standing {
    /// Of this log, and every byte of it is as it was written.
    Proven,
    /// Of this log, and something in it is not as it was written.
    Damaged,
    /// Left over from before the log began anew: older than the database.
    Old,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Sums(u32, u32);

#[derive(Debug, Clone, Copy)]
struct Header {
    is_big_endian: bool,
    page_size: usize,
    salts: [u8; 8],
    /// None where the header is not as it was written.
    sums: Option<Sums>,
}

impl Log {
    /// Reads a log. `page_size` is the database's, for a log whose own header is damaged.
    pub(crate) fn read(bytes: &mut Bytes, page_size: Option<usize>) -> Option<Self> {
        let header = header(bytes, page_size)?;
        let mut walk = Walk { header, frames: Vec::new(), before: None };
        let length = FRAME_HEADER as u64 + header.page_size as u64;
        let mut buffer = vec![0; FRAME_HEADER + header.page_size];
        let mut at = HEADER;
        while at + length <= bytes.len() && bytes.read_at(at, &mut buffer).is_some() {
            walk.step(at, &buffer);
            at += length;
        }
        Some(Self { page_size: header.page_size, frames: walk.frames })
    }

    /// The last transaction that is known to have ended: how many frames there are up to its end,
    /// and how many pages the database has then.
    pub(crate) fn last_commit(&self) -> Option<(usize, u32)> {
        self.commit_in(self.frames.len())
    }

    /// The same, of what SQLite itself would read: all before the first frame that does not fit.
    pub(crate) fn last_commit_before_a_break(&self) -> Option<(usize, u32)> {
        let is_broken = |it: &Frame| it.standing != Standing::Proven;
        self.commit_in(self.frames.iter().position(is_broken).unwrap_or(self.frames.len()))
    }

    fn commit_in(&self, n_frames: usize) -> Option<(usize, u32)> {
        let frames = self.frames.iter().enumerate().take(n_frames).rev();
        frames
            .filter(|(_, it)| it.standing == Standing::Proven)
            .find_map(|(index, it)| Some((index + 1, it.commit?)))
    }
}

fn header(bytes: &mut Bytes, page_size: Option<usize>) -> Option<Header> {
    let mut head = [0; HEADER as usize];
    bytes.read_at(0, &mut head)?;
    let is_big_endian = word(&head, 0)? == MAGIC | 1;
    let computed = sums(Sums(0, 0), head.get(..24)?, is_big_endian);
    let said = Sums(word(&head, 24)?, word(&head, 28)?);
    if word(&head, 0)? & !1 == MAGIC && computed == said {
        let page_size = usize::try_from(word(&head, 8)?).ok()?;
        let salts = head.get(16..24)?.try_into().ok()?;
        let is_size = (512..=65536).contains(&page_size) && page_size.is_power_of_two();
        return is_size.then_some(Header { is_big_endian, page_size, salts, sums: Some(said) });
    }
    // Which log the frames belong to, the first of them says as well.
    let mut first = [0; FRAME_HEADER];
    bytes.read_at(HEADER, &mut first)?;
    let salts = first.get(8..16)?.try_into().ok()?;
    Some(Header { is_big_endian: false, page_size: page_size?, salts, sums: None })
}

struct Walk {
    header: Header,
    frames: Vec<Frame>,
    before: Option<Before>,
}

/// What the next frame may have been computed from.
#[derive(Clone, Copy)]
struct Before {
    said: Sums,
    computed: Option<Sums>,
    salts: [u8; 8],
}

impl Walk {
    fn step(&mut self, at: u64, bytes: &[u8]) -> Option<()> {
        let (head, page) = bytes.split_at_checked(FRAME_HEADER)?;
        let salts: [u8; 8] = head.get(8..16)?.try_into().ok()?;
        let said = Sums(word(head, 16)?, word(head, 20)?);
        let after = |seed: Sums| {
            let of_head = sums(seed, head.get(..8).unwrap_or_default(), self.header.is_big_endian);
            sums(of_head, page, self.header.is_big_endian)
        };
        let seeds = match self.before {
            Some(before) => [before.computed, Some(before.said)],
            None => [self.header.sums, None],
        };
        let from_computed = seeds[0].map(after);
        let fits_computed = from_computed == Some(said);
        let fits = fits_computed || seeds[1].map(after) == Some(said);
        // Only the words that name the log are spoiled where the frame fits its own log otherwise.
        let is_of_this_log = salts == self.header.salts
            || fits && self.before.is_none_or(|it| it.salts == self.header.salts);
        let standing = match (is_of_this_log, fits) {
            (true, true) => Standing::Proven,
            (true, false) => Standing::Damaged,
            (false, _) => Standing::Old,
        };
        if fits_computed && is_of_this_log {
            self.vindicate_last();
        }
        let n_pages = word(head, 4)?;
        self.frames.push(Frame {
            page: word(head, 0)?,
            commit: (n_pages > 0).then_some(n_pages),
            standing,
            offset: at + FRAME_HEADER as u64,
        });
        let computed = if fits { Some(said) } else { from_computed };
        let salts = if is_of_this_log { self.header.salts } else { salts };
        self.before = Some(Before { said, computed, salts });
        Some(())
    }

    /// The frame before was whole but for the checksum that stands in it: this one was computed
    /// from what that should have been.
    fn vindicate_last(&mut self) {
        if let Some(last) = self.frames.last_mut()
            && last.standing == Standing::Damaged
        {
            last.standing = Standing::Proven;
        }
    }
}

/// SQLite's checksum, over a multiple of eight bytes.
fn sums(seed: Sums, bytes: &[u8], is_big_endian: bool) -> Sums {
    let number = |bytes: &[u8]| {
        let bytes: [u8; 4] = bytes.try_into().unwrap_or_default();
        if is_big_endian { u32::from_be_bytes(bytes) } else { u32::from_le_bytes(bytes) }
    };
    let Sums(mut one, mut two) = seed;
    for pair in bytes.chunks_exact(8) {
        let (first, second) = pair.split_at(4);
        one = one.wrapping_add(number(first)).wrapping_add(two);
        two = two.wrapping_add(number(second)).wrapping_add(one);
    }
    Sums(one, two)
}

fn word(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_be_bytes(bytes.get(at..at + 4)?.try_into().ok()?))
}
