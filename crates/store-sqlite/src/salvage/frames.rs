//! Every frame of a write-ahead log, and which of them their checksums prove.
//!
//! SQLite stops at the first frame that breaks the checksum chain. Behind a damaged frame the chain
//! can be resumed: the damaged frame still stores its original checksum, and if the next frame
//! continues from that, the next frame is valid. So one bad bit costs one page; and where the bit
//! is in the page number, that number follows from the checksum.

use super::bytes::Bytes;
use crate::wal::{Checksum, FRAME_HEADER, FrameReader, Salts, WAL_HEADER, WalFrame, WalHeader, be};

/// A log as found on disk.
#[derive(Debug)]
pub(crate) struct FoundLog {
    pub(crate) page_size: usize,
    pub(crate) salts: Salts,
    pub(crate) frames: Vec<FoundFrame>,
    /// Some bytes are neither a frame of this log nor one from before its last restart: their
    /// meaning is unknown.
    pub(crate) has_unknown: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct FoundFrame {
    pub(crate) page: u32,
    /// Database size in pages, for a commit frame.
    pub(crate) commit: Option<u32>,
    pub(crate) standing: FrameStanding,
    /// Offset of its page in the file.
    pub(crate) offset: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FrameStanding {
    /// A frame of this log, every byte as written.
    Proven,
    /// A frame of this log with some damage.
    Damaged,
    /// A leftover from before the log was restarted: older than the database.
    Old,
}

impl FoundLog {
    /// Reads a log. `page_size` is the database's, used where the log's own header is damaged.
    pub(crate) fn read(bytes: &mut Bytes, page_size: usize) -> Option<Self> {
        let (header, first) = header(bytes, page_size)?;
        let mut walk =
            LogWalk { header, first, frames: Vec::new(), before: None, has_unknown: false };
        let page_size = usize::try_from(header.page_size).ok()?;
        let length = (FRAME_HEADER + page_size) as u64;
        let mut reader = FrameReader::go_on(bytes.from(WAL_HEADER as u64)?, header);
        let mut at = WAL_HEADER as u64;
        // A log that cannot be read further is treated as ending there.
        while let Ok(Some(frame)) = reader.next() {
            walk.step(at + FRAME_HEADER as u64, &frame);
            at += length;
        }
        let LogWalk { frames, has_unknown, .. } = walk;
        let is_any_proven = frames.iter().any(|it| it.standing == FrameStanding::Proven);
        let has_unknown = has_unknown || (first.is_none() && !is_any_proven);
        Some(Self { page_size, salts: header.salts, frames, has_unknown })
    }

    /// The last transaction that is known to be committed: the number of frames up to its end, and
    /// the database size in pages at that point.
    pub(crate) fn last_commit(&self) -> Option<(usize, u32)> {
        let frames = self.frames.iter().enumerate().rev();
        frames
            .filter(|(_, it)| it.standing == FrameStanding::Proven)
            .find_map(|(index, it)| Some((index + 1, it.commit?)))
    }

    /// The number of frames up to the last commit frame, by the frames' own word, damaged or not.
    pub(crate) fn n_claimed(&self) -> usize {
        let is_end = |it: &FoundFrame| it.standing != FrameStanding::Old && it.commit.is_some();
        self.frames.iter().rposition(is_end).map_or(0, |index| index + 1)
    }
}

/// The header, and the checksum that the first frame continues from, where known.
fn header(bytes: &mut Bytes, page_size: usize) -> Option<(WalHeader, Option<Checksum>)> {
    let mut head = [0; WAL_HEADER];
    bytes.read_at(0, &mut head)?;
    if let Some(header) = WalHeader::parse(&head) {
        return Some((header, Some(header.checksum)));
    }
    // The first frame also shows which log the frames belong to.
    let mut first = [0; FRAME_HEADER];
    bytes.read_at(WAL_HEADER as u64, &mut first)?;
    let salts = Salts(be(&first, 8)?, be(&first, 12)?);
    Some((WalHeader::guessed(u32::try_from(page_size).ok()?, salts), None))
}

struct LogWalk {
    header: WalHeader,
    first: Option<Checksum>,
    frames: Vec<FoundFrame>,
    before: Option<Before>,
    has_unknown: bool,
}

/// Checksums that the next frame may continue from.
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
        // Zeros are the checksum of zeros; no frame has page number 0.
        let fits = frame.page_number > 0
            && (fits_computed
                || stored.map(|it| self.header.sum(frame, it)) == Some(frame.checksum));
        // Where the frame fits its log otherwise, only the salts are damaged.
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

    /// In the previous frame only the stored checksum was damaged: this frame continues from the
    /// correct one.
    fn mark_last_proven(&mut self) {
        if let Some(last) = self.frames.last_mut()
            && last.standing == FrameStanding::Damaged
        {
            last.standing = FrameStanding::Proven;
        }
    }
}
