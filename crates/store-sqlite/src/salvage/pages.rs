//! The pages of a database and of its log as found: read from the files as bytes, never through
//! SQLite, which would write.

use std::collections::HashMap;
use std::io::{BufWriter, Write as _};

use baton_files::{Dir, FileError, FileMode};

use super::bytes::Bytes;
use super::cells::{self, Cell};
use super::frames::{FoundFrame, FoundLog, FrameStanding};
use crate::FILE;
use crate::database_header::PageLayout;
use crate::judge::WAL_FILE;

/// The page size of Baton's databases, for a database whose header is unreadable.
const USUAL_PAGE: usize = 4096;
/// SQLite requires at least this many usable bytes per page.
const LEAST_USABLE: usize = 480;

/// The database in a folder, with its log, as far as they exist.
#[derive(Debug)]
pub(crate) struct Pages {
    pub(super) database: Option<Bytes>,
    pub(super) log: Option<(Bytes, FoundLog)>,
    /// The log has bytes of unknown meaning.
    pub(super) has_unknown_log: bool,
    page_size: usize,
    /// Reserved bytes at the end of each page.
    reserved: usize,
    newest: HashMap<u32, u64>,
    /// The last version of each page in the log, valid or not.
    last: HashMap<u32, u64>,
}

/// A way to combine pages into one database.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ImageKind {
    /// Every frame of the log that its checksum proves, over the database.
    ProvenLog,
    /// The database as if it had no log.
    DatabaseAlone,
}

/// Where a page was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Origin {
    /// Damaged or never committed: used only where there is no other source.
    Doubtful,
    Archive,
    /// From before the log was restarted.
    OldLog(usize),
    Database,
    Log(usize),
}

impl Pages {
    /// Reads the files in `dir`; `None` where both are missing or empty.
    pub(crate) fn open(dir: &Dir) -> Result<Option<Self>, FileError> {
        let mut database = Bytes::open(dir, FILE)?;
        let log = Bytes::open(dir, WAL_FILE)?;
        if database.is_none() && log.is_none() {
            return Ok(None);
        }
        let in_header = database.as_mut().and_then(page_size_in_header);
        let has_log = log.is_some();
        let log = log.and_then(|mut bytes| {
            let log = FoundLog::read(&mut bytes, in_header.map_or(USUAL_PAGE, |it| it.0))?;
            Some((bytes, log))
        });
        let has_unknown_log = has_log && log.as_ref().is_none_or(|(_, log)| log.has_unknown);
        let of_log = log.as_ref().map(|(_, log)| log.page_size);
        let (page_size, reserved) = in_header.unwrap_or((of_log.unwrap_or(USUAL_PAGE), 0));
        let frames = log.iter().flat_map(|(_, log)| &log.frames);
        let last = frames.map(|it| (it.page, it.offset)).collect();
        let newest = HashMap::new();
        let mut pages = Self { database, log, has_unknown_log, page_size, reserved, newest, last };
        pages.newest = pages.overlay(ImageKind::ProvenLog).pages;
        Ok(Some(pages))
    }

    /// The images that differ from each other, the most complete first.
    pub(crate) fn images(&self) -> Vec<ImageKind> {
        let with_log = self.log.as_ref().map(|_| ImageKind::ProvenLog);
        let alone = self.database.as_ref().map(|_| ImageKind::DatabaseAlone);
        with_log.into_iter().chain(alone).collect()
    }

    /// Writes one of the images to a new file, which must not exist yet. False where the pages
    /// cannot form a database.
    pub(crate) fn write_image(&mut self, kind: ImageKind, to: &Dir) -> Result<bool, FileError> {
        let overlay = self.overlay(kind);
        if self.database.is_none() && !overlay.pages.contains_key(&1) {
            return Ok(false);
        }
        let file = to.create_new(FILE, FileMode::Private)?;
        let failed = |source| FileError::Io { action: "write", path: to.path().join(FILE), source };
        let mut writer = BufWriter::with_capacity(1 << 20, file);
        let mut page = vec![0; self.page_size];
        for number in 1..=overlay.n_pages.unwrap_or_else(|| self.n_database_pages()) {
            let is_read = match overlay.pages.get(&number) {
                Some(offset) => self.read_log(*offset, &mut page),
                None => self.read_database(number, &mut page),
            };
            if is_read.is_none() {
                page.fill(0);
            }
            writer.write_all(&page).map_err(failed)?;
        }
        writer.flush().map_err(failed)?;
        Ok(true)
    }

    /// Calls `visit` with every cell on every leaf page of the database and of the log, whatever
    /// its quality.
    pub(crate) fn each_cell(&mut self, visit: &mut dyn FnMut(&mut Self, Origin, &Cell<'_>)) {
        let mut page = vec![0; self.page_size];
        for number in 1..=self.n_database_pages() {
            if self.read_database(number, &mut page).is_some() {
                self.cells_of(Origin::Database, number, &page, visit);
            }
        }
        let Some((_, log)) = &self.log else { return };
        let n_committed = log.last_commit().map_or(0, |(n_frames, _)| n_frames);
        // An uncommitted transaction was never acknowledged, unless its commit frame is the damaged
        // one.
        let mut tail = log.frames.iter().skip(n_committed);
        let is_tail_cut = !tail.any(|it| it.standing == FrameStanding::Damaged);
        let frames: Vec<FoundFrame> = log.frames.clone();
        for (index, frame) in frames.into_iter().enumerate() {
            let is_unfinished = index >= n_committed && frame.standing == FrameStanding::Proven;
            if is_unfinished && is_tail_cut || self.read_log(frame.offset, &mut page).is_none() {
                continue;
            }
            let origin = match frame.standing {
                FrameStanding::Proven if index < n_committed => Origin::Log(index),
                FrameStanding::Proven | FrameStanding::Damaged => Origin::Doubtful,
                FrameStanding::Old => Origin::OldLog(index),
            };
            self.cells_of(origin, frame.page, &page, visit);
        }
    }

    fn cells_of(
        &mut self,
        origin: Origin,
        number: u32,
        page: &[u8],
        visit: &mut dyn FnMut(&mut Self, Origin, &Cell<'_>),
    ) {
        let usable = page.get(..page.len() - self.reserved).unwrap_or(page);
        for cell in cells::cells(usable, number) {
            visit(self, origin, &cell);
        }
    }

    /// The payloads that a cell may have had: its overflow pages may exist in several versions. A
    /// cell without overflow has one payload.
    pub(crate) fn payloads(&mut self, cell: &Cell<'_>) -> Vec<Vec<u8>> {
        if cell.is_local() {
            return vec![cell.local.to_vec()];
        }
        if self.last.is_empty() {
            return cell.payload(|number| self.database_page(number)).into_iter().collect();
        }
        let newest = cell.payload(|number| self.newest_page(number));
        let database = cell.payload(|number| self.database_page(number));
        let any = cell.payload(|number| self.any_page(number));
        let mut payloads: Vec<Vec<u8>> = [newest, database, any].into_iter().flatten().collect();
        payloads.dedup();
        payloads
    }

    fn newest_page(&mut self, number: u32) -> Option<Vec<u8>> {
        match self.newest.get(&number).copied() {
            Some(offset) => self.log_page(offset),
            None => self.database_page(number),
        }
    }

    /// The last version in the log, valid or not.
    fn any_page(&mut self, number: u32) -> Option<Vec<u8>> {
        match self.last.get(&number).copied() {
            Some(offset) => self.log_page(offset),
            None => self.database_page(number),
        }
    }

    pub(super) fn database_page(&mut self, number: u32) -> Option<Vec<u8>> {
        let mut page = vec![0; self.page_size];
        self.read_database(number, &mut page)?;
        page.truncate(self.page_size - self.reserved);
        Some(page)
    }

    pub(super) fn log_page(&mut self, offset: u64) -> Option<Vec<u8>> {
        let mut page = vec![0; self.page_size];
        self.read_log(offset, &mut page)?;
        page.truncate(self.page_size - self.reserved);
        Some(page)
    }

    pub(super) fn n_database_pages(&self) -> u32 {
        let length = self.database.as_ref().map_or(0, Bytes::len);
        u32::try_from(length / self.page_size as u64).unwrap_or(u32::MAX)
    }

    fn read_database(&mut self, number: u32, page: &mut [u8]) -> Option<()> {
        let at = u64::from(number.checked_sub(1)?) * self.page_size as u64;
        self.database.as_mut()?.read_at(at, page)
    }

    fn read_log(&mut self, offset: u64, page: &mut [u8]) -> Option<()> {
        self.log.as_mut()?.0.read_at(offset, page)
    }

    fn overlay(&self, kind: ImageKind) -> Overlay {
        let Some((_, log)) = &self.log else { return Overlay::default() };
        let (n_frames, n_pages) = match kind {
            ImageKind::DatabaseAlone => return Overlay::default(),
            ImageKind::ProvenLog => log.last_commit(),
        }
        .map_or((0, None), |(n_frames, n_pages)| (n_frames, Some(n_pages)));
        let mut overlay = Overlay { pages: HashMap::new(), n_pages };
        for frame in log.frames.iter().take(n_frames) {
            match frame.standing {
                FrameStanding::Proven => {
                    overlay.pages.insert(frame.page, frame.offset);
                }
                // The database may have it: a log is often checkpointed already.
                FrameStanding::Damaged => {
                    overlay.pages.remove(&frame.page);
                }
                FrameStanding::Old => {}
            }
        }
        overlay
    }
}

/// Which pages come from the log, and the final number of pages.
#[derive(Debug, Default)]
struct Overlay {
    pages: HashMap<u32, u64>,
    n_pages: Option<u32>,
}

/// The page size and the reserved bytes, by the database header.
fn page_size_in_header(bytes: &mut Bytes) -> Option<(usize, usize)> {
    let mut head = [0; PageLayout::LENGTH];
    bytes.read_at(0, &mut head)?;
    let PageLayout { page_size, reserved } = PageLayout::parse(&head)?;
    let (size, reserved) = (usize::try_from(page_size).ok()?, usize::from(reserved));
    (size - reserved >= LEAST_USABLE).then_some((size, reserved))
}
