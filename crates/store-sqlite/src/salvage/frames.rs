//! Every frame of a write-ahead log, and which of them are proven by their checksums.
//!
//! SQLite stops at the first frame that does not fit the chain of checksums. Behind a damaged frame
//! the chain can be taken up again: the damaged one says which checksum it was written with, and if
//! the next frame was computed from that, the next frame is whole. So one bad bit costs one page.
//! And where the bit is in the number of the page, that number follows from the checksum.

use super::bytes::Bytes;
use crate::wal::{Checksum, FRAME_HEADER, FrameReader, Salts, WAL_HEADER, WalFrame, WalHeader};

/// A log as it was found.
#[derive(Debug)]
pub(crate) struct FoundLog {
    pub(crate) page_size: usize,
    pub(crate) salts: Salts,
    pub(crate) frames: Vec<FoundFrame>,
    /// Some of its bytes are neither a frame of this log nor one from before it began anew: nothing
    /// tells what stood there.
    pub(crate) has_unknown: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct FoundFrame {
    pub(crate) page: u32,
    /// How many pages the database has after it, where it ends a transaction.
    pub(crate) commit: Option<u32>,
    pub(crate) standing: FrameStanding,
    /// Where its page begins in the file.
    pub(crate) offset: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FrameStanding {
    /// Of this log, and every byte of it is as it was written.
    Proven,
    /// Of this log, and something in it is not as it was written.
    Damaged,
    /// Left over from before the log began anew: older than the database.
    Old,
}

impl FoundLog {
    /// Reads a log. `page_size` is the database's, for a log whose own header is damaged.
    pub(crate) fn read(bytes: &mut Bytes, page_size: usize) -> Option<Self> {
        let (header, first) = header(bytes, page_size)?;
        let mut walk =
            LogWalk { header, first, frames: Vec::new(), before: None, has_unknown: false };
        let page_size = usize::try_from(header.page_size).ok()?;
        let length = (FRAME_HEADER + page_size) as u64;
        let mut reader = FrameReader::go_on(bytes.from(WAL_HEADER as u64)?, header);
        let mut at = WAL_HEADER as u64;
        // A log that cannot be read to its end is one that ends there.
        while let Ok(Some(frame)) = reader.next() {
            walk.step(at + FRAME_HEADER as u64, &frame);
            at += length;
        }
        let LogWalk { frames, has_unknown, .. } = walk;
        let is_any_proven = frames.iter().any(|it| it.standing == FrameStanding::Proven);
        let has_unknown = has_unknown || (first.is_none() && !is_any_proven);
        Some(Self { page_size, salts: header.salts, frames, has_unknown })
    }

    /// The last transaction that is known to have ended: how many frames there are up to its end,
    /// and how many pages the database has then.
    pub(crate) fn last_commit(&self) -> Option<(usize, u32)> {
        let frames = self.frames.iter().enumerate().rev();
        frames
            .filter(|(_, it)| it.standing == FrameStanding::Proven)
            .find_map(|(index, it)| Some((index + 1, it.commit?)))
    }

    /// How many frames there are up to the end of the last transaction, as far as the frames say
    /// so, whether they are as they were written or not.
    pub(crate) fn n_claimed(&self) -> usize {
        let is_end = |it: &FoundFrame| it.standing != FrameStanding::Old && it.commit.is_some();
        self.frames.iter().rposition(is_end).map_or(0, |index| index + 1)
    }
}

/// The header, and what the first frame goes on from, where that is known.
fn header(bytes: &mut Bytes, page_size: usize) -> Option<(WalHeader, Option<Checksum>)> {
    let mut head = [0; WAL_HEADER];
    bytes.read_at(0, &mut head)?;
    if let Some(header) = WalHeader::parse(&head) {
        return Some((header, Some(header.checksum())));
    }
    // Which log the frames belong to, the first of them says as well.
    let mut first = [0; FRAME_HEADER];
    bytes.read_at(WAL_HEADER as u64, &mut first)?;
    let word = |at: usize| Some(u32::from_be_bytes(first.get(at..at + 4)?.try_into().ok()?));
    let salts = Salts(word(8)?, word(12)?);
    Some((WalHeader::guessed(u32::try_from(page_size).ok()?, salts), None))
}

struct LogWalk {
    header: WalHeader,
    first: Option<Checksum>,
    frames: Vec<FoundFrame>,
    before: Option<Before>,
    has_unknown: bool,
}

/// What the next frame may have been computed from.
#[derive(Clone, Copy)]
struct Before {
    stored: Checksum,
    computed: Option<Checksum>,
    is_of_this_log: bool,
}

impl LogWalk {
    fn step(&mut self, offset: u64, frame: &WalFrame) {
        let (computed, stored) = match self.before {
            Some(before) => (before.computed, Some(before.stored)),
            None => (self.first, None),
        };
        let from_computed = computed.map(|it| self.header.sum(frame, it));
        let fits_computed = from_computed == Some(frame.checksum);
        // Zeros are the checksum of zeros; no frame has the page 0.
        let fits = frame.page_number > 0
            && (fits_computed
                || stored.map(|it| self.header.sum(frame, it)) == Some(frame.checksum));
        // Only the words that name the log are spoiled where the frame fits its log otherwise.
        let goes_on = fits && self.before.is_none_or(|it| it.is_of_this_log);
        let is_of_this_log = frame.salts == self.header.salts || goes_on;
        let mended = computed.filter(|_| is_of_this_log && !fits);
        let mended = mended.and_then(|it| self.header.mended(frame, it));
        let (page, commit_size) = mended.unwrap_or((frame.page_number, frame.commit_size));
        let fits = fits || mended.is_some();
        let standing = match (is_of_this_log, fits) {
            (true, true) => FrameStanding::Proven,
            (true, false) => FrameStanding::Damaged,
            (false, _) => FrameStanding::Old,
        };
        if fits_computed && is_of_this_log {
            self.mark_last_proven();
        }
        self.has_unknown |=
            standing == FrameStanding::Old && !frame.salts.are_before(self.header.salts);
        self.frames.push(FoundFrame {
            page,
            commit: (commit_size > 0).then_some(commit_size),
            standing,
            offset,
        });
        let computed = if fits { Some(frame.checksum) } else { from_computed };
        self.before = Some(Before { stored: frame.checksum, computed, is_of_this_log });
    }

    /// The frame before was whole but for the checksum that stands in it: this one was computed
    /// from what that should have been.
    fn mark_last_proven(&mut self) {
        if let Some(last) = self.frames.last_mut()
            && last.standing == FrameStanding::Damaged
        {
            last.standing = FrameStanding::Proven;
        }
    }
}
