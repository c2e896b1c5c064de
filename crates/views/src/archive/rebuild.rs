//! Rebuilds the whole archive from the log. Baton's own files that belong to no run any more are
//! removed; files of others stay.

use std::collections::BTreeSet;
use std::ffi::OsString;

use baton_core::run::RunId;
use baton_store::{Position, RunFilter};
use uuid::Uuid;

use super::disk::{Disk, DiskError, Sort};
use super::rendered::{RenderedSession, is_own};
use super::{
    ARCHIVED_PROJECT, Archive, ArchiveError, ArchivePlaces, Archived, CURRENT, PAGE, RUNS, fresh,
    keep_newer, write_session, write_state,
};

impl Archive {
    /// Rebuilds everything, each session in a fresh folder. Session folders that are not of this
    /// store are left alone, and counted.
    pub async fn rebuild(&self) -> Result<Archived, ArchiveError> {
        let _at_work = self.at_work.lock().await;
        let _held = self.hold().await?;
        // If the rebuild is interrupted, the next pass has to start from the beginning.
        let from = self.written_to().await?;
        self.move_cursor(from, Position::START).await?;
        let news = self.news(Position::START, usize::MAX).await?;
        let mut archived = Archived::default();
        let mut known = StoredRuns::default();
        let mut after = 0;
        loop {
            let filter = RunFilter { after, limit: PAGE, ..RunFilter::default() };
            let page = self.views().runs(&filter).await?;
            let Some(last) = page.last() else { break };
            after = last.number;
            for row in &page {
                let run = row.run.id;
                known.runs.insert(run);
                let Some(rendered) = self.rendered(run, &mut archived).await? else { continue };
                if rendered.is_open {
                    known.open.insert(run);
                }
                let is_current = news.as_ref().is_some_and(|it| it.last == run);
                let write = move |disk: &Disk, places: &ArchivePlaces| {
                    let kept = write_afresh(disk, places, &rendered)?;
                    if is_current {
                        disk.write(&places.state, CURRENT, &rendered.state)?;
                    }
                    Ok(kept)
                };
                archived.n_kept += u64::from(self.on_disk(write).await?.is_some());
            }
        }
        let has_events = news.is_some();
        archived.n_unknown = self
            .on_disk(move |disk, places| {
                if !has_events {
                    disk.remove(&places.state, CURRENT)?;
                    disk.remove(&places.state, ARCHIVED_PROJECT)?;
                }
                known.tidy(disk, places)
            })
            .await?;
        if let Some(news) = news {
            self.write_project().await?;
            self.move_cursor(Position::START, news.upto).await?;
        }
        Ok(archived)
    }
}

/// The runs of the store.
#[derive(Default)]
struct StoredRuns {
    runs: BTreeSet<RunId>,
    /// Those that have a state file.
    open: BTreeSet<RunId>,
}

impl StoredRuns {
    /// Removes the states of runs that are not open, and counts the sessions of unknown runs.
    fn tidy(&self, disk: &Disk, places: &ArchivePlaces) -> Result<u64, DiskError> {
        let states = places.state.join(RUNS);
        for (name, sort) in disk.entries(&states)? {
            let Some(name) = name.to_str().filter(|_| sort != Sort::Folder) else { continue };
            let run = name.strip_suffix(".json").and_then(run_named);
            if run.is_some_and(|it| !self.open.contains(&it)) {
                disk.remove(&states, name)?;
            }
        }
        let sessions = disk.entries(&places.sessions)?;
        let is_unknown = |(name, sort): &&(OsString, Sort)| {
            let run = name.to_str().and_then(run_named);
            *sort == Sort::Folder && run.is_some_and(|it| !self.runs.contains(&it))
        };
        Ok(sessions.iter().filter(is_unknown).count() as u64)
    }
}

/// An id exactly as Baton writes it, and no other spelling.
fn run_named(name: &str) -> Option<RunId> {
    let run = RunId(Uuid::try_parse(name).ok()?);
    (run.to_string() == name).then_some(run)
}

/// As [`write`](super::write), but none of the files that Baton wrote before remain.
fn write_afresh(
    disk: &Disk,
    places: &ArchivePlaces,
    rendered: &RenderedSession,
) -> Result<Option<String>, DiskError> {
    let name = rendered.run.to_string();
    let kept = keep_newer(disk, places, rendered)?;
    disk.remove(&places.sessions, &fresh(&name))?;
    write_session(disk, places, &fresh(&name), rendered)?;
    disk.swap(&places.sessions, &fresh(&name), &name, is_own)?;
    write_state(disk, places, &name, rendered)?;
    Ok(kept)
}
