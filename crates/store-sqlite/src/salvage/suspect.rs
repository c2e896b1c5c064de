//! Finds the pages of an image that may not be in their last version.
//!
//! `verify` proves the runs and all projections of them. It cannot notice that an idempotency
//! record, an outbox row or the end of a lease is missing because only an older version of its page
//! is left: an image with such a page is not called complete, however well it verifies.

use std::collections::{BTreeSet, HashMap, HashSet};

use super::frames::{FoundFrame, FoundLog, FrameStanding};
use super::pages::{ImageKind, Pages};
use crate::mark::{LogPart, MarkedLog, StoredMark};
use crate::wal::Salts;

/// Pages that are damaged, or of which the image has an older version.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SuspectPages {
    pub(crate) pages: BTreeSet<u32>,
    /// All pages are suspect: their number is unknown.
    pub(crate) may_be_any: bool,
}

impl SuspectPages {
    pub fn is_empty(&self) -> bool {
        self.pages.is_empty() && !self.may_be_any
    }

    fn any() -> Self {
        Self { pages: BTreeSet::new(), may_be_any: true }
    }
}

impl Pages {
    pub(crate) fn suspects(&mut self, kind: ImageKind, mark: &StoredMark) -> SuspectPages {
        let marked = match mark {
            StoredMark::Mark(it) => it.log,
            StoredMark::None | StoredMark::Unreadable => MarkedLog::Empty,
        };
        let Some((_, log)) = &self.log else {
            let is_needed = matches!(marked, MarkedLog::Needed(_));
            return if is_needed { SuspectPages::any() } else { SuspectPages::default() };
        };
        let Some((n_frames, n_moved)) = marked_frames(marked, log.salts) else {
            return SuspectPages::any();
        };
        let n_needed = log.n_claimed().max(n_frames);
        let mut lost = lost_frames(log, kind, n_needed);
        lost.retain(|(index, _)| *index >= n_moved);
        if lost.is_empty() {
            return SuspectPages::default();
        }
        let moved = self.moved_frames();
        let n_pages = self.n_database_pages();
        let mut suspects = SuspectPages::default();
        for (index, page) in lost {
            match page {
                Some(page) if moved.cover(index, page) => {}
                Some(page) => {
                    suspects.pages.insert(page);
                }
                None if moved.cover(index, n_pages) => {}
                None => suspects.may_be_any = true,
            }
        }
        suspects
    }

    /// Frames that are in the database as well. Only frames that prove something: those of a page
    /// that has an earlier version in the log.
    fn moved_frames(&mut self) -> MovedFrames {
        let Some((_, log)) = &self.log else { return MovedFrames::default() };
        let frames: Vec<FoundFrame> = log.frames.clone();
        let mut moved = Vec::new();
        let mut databases: HashMap<u32, Option<Vec<u8>>> = HashMap::new();
        let (mut changed, mut settled) = (HashSet::new(), HashSet::new());
        let proven =
            frames.iter().enumerate().filter(|(_, it)| it.standing == FrameStanding::Proven);
        for (index, frame) in proven {
            let page = frame.page;
            if settled.contains(&page) {
                continue;
            }
            let in_log = self.log_page(frame.offset);
            let in_database = databases.entry(page).or_insert_with(|| self.database_page(page));
            let is_equal = in_database.is_some() && *in_database == in_log;
            if !is_equal {
                changed.insert(page);
            } else if changed.contains(&page) {
                moved.push((index, page));
                // The first frame that is equal: a later one may be equal by chance.
                settled.insert(page);
                databases.remove(&page);
            }
        }
        MovedFrames::new(moved)
    }
}

/// Frames by index, each with the highest page number of this and all later frames.
#[derive(Default)]
struct MovedFrames(Vec<(usize, u32)>);

impl MovedFrames {
    fn new(mut frames: Vec<(usize, u32)>) -> Self {
        let mut highest = 0;
        for (_, page) in frames.iter_mut().rev() {
            highest = highest.max(*page);
            *page = highest;
        }
        Self(frames)
    }

    /// A checkpoint writes pages in ascending order, each in its last version. So where a later
    /// frame of a higher page was checkpointed, this frame was too, or a newer one of its page.
    fn cover(&self, index: usize, page: u32) -> bool {
        let next = self.0.partition_point(|(it, _)| *it <= index);
        self.0.get(next).is_some_and(|(_, highest)| *highest > page)
    }
}

/// How many frames the log that was found must have, and how many of them are in the database, by
/// the mark. `None` where the log that the mark refers to is needed, and is missing.
fn marked_frames(marked: MarkedLog, salts: Salts) -> Option<(usize, usize)> {
    let n_frames = |it: LogPart| usize::try_from(it.n_frames).unwrap_or(usize::MAX);
    match marked {
        MarkedLog::Needed(part) if part.salts == salts => Some((n_frames(part), 0)),
        MarkedLog::Moved(part) if part.salts == salts => Some((n_frames(part), n_frames(part))),
        // A log restarts only once a mark says that all of it was checkpointed. The salts do not
        // show which of two logs is newer: those of a new file are random.
        MarkedLog::Needed(_) => None,
        MarkedLog::Empty | MarkedLog::Moved(_) => Some((0, 0)),
    }
}

/// The frames up to `n_needed` that are not in the image and that no later frame in it replaces,
/// each with its page where known.
fn lost_frames(log: &FoundLog, kind: ImageKind, n_needed: usize) -> Vec<(usize, Option<u32>)> {
    let n_laid = match kind {
        ImageKind::DatabaseAlone => 0,
        ImageKind::ProvenLog => log.last_commit().map_or(0, |(n_frames, _)| n_frames),
    };
    let mut replaced = HashSet::new();
    let mut lost = Vec::new();
    if n_needed > log.frames.len() {
        lost.push((n_needed, None));
    }
    for (index, frame) in log.frames.iter().enumerate().take(n_needed).rev() {
        match frame.standing {
            FrameStanding::Proven if index < n_laid => {
                replaced.insert(frame.page);
            }
            FrameStanding::Proven | FrameStanding::Damaged if replaced.contains(&frame.page) => {}
            FrameStanding::Proven | FrameStanding::Damaged => {
                lost.push((index, (frame.page > 0).then_some(frame.page)));
            }
            // Inside this log: the start of the frame is overwritten, and with it the page number.
            FrameStanding::Old => lost.push((index, None)),
        }
    }
    lost
}
