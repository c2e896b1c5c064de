//! Whole images: the pages of the database and its log, combined in one way after the other.

use std::collections::BTreeSet;

use baton_engine::{Verified, verify_all};
use baton_files::{Dir, FileMode};
use baton_store::{HandoffFilter, RunRef, Store as _, StoryFilter};
use baton_store_sqlite::{
    DamagedFiles, ImageKind, LastMark, SqliteStore, UnprovenTable, is_as_new_as, is_readable,
    whole_tables,
};

use crate::report::{RecoveryMethod, RecoveryReport, SavedCounts};
use crate::survey::Survey;
use crate::{RESULT, RecoverError, RecoverJob};

const IMAGE: &str = "image";

/// The result of trying the images.
pub(crate) enum ImageSearch {
    /// One is complete, and is in [`RESULT`].
    Whole(Box<RecoveryReport>),
    /// None is complete. These tables are, in one of them, though no run proves them.
    NoneWhole(BTreeSet<UnprovenTable>),
}

/// The first image that is complete, has every event found and has no suspect page.
pub(crate) async fn first_whole(
    job: &RecoverJob<'_>,
    damaged: &mut DamagedFiles,
    found: &Survey,
    mark: Option<&LastMark>,
) -> Result<ImageSearch, RecoverError> {
    let least_mark = mark.map_or(0, |it| it.number);
    let mut tables = BTreeSet::new();
    for kind in damaged.images() {
        job.scratch.remove(IMAGE)?;
        let dir = job.scratch.make_dirs(IMAGE, FileMode::Private)?;
        if !damaged.write_image(kind, &dir)? {
            continue;
        }
        let suspects = damaged.suspects(kind);
        if !is_as_new_as(&dir, least_mark) {
            continue;
        }
        tables.extend(whole_tables(&dir, &suspects));
        if !suspects.is_empty() || !is_readable(&dir) {
            continue;
        }
        let Some(saved) = judge(&dir, found).await else { continue };
        job.scratch.rename(IMAGE, job.scratch, RESULT)?;
        let report = RecoveryReport::whole(RecoveryMethod::Image(kind), saved);
        return Ok(ImageSearch::Whole(Box::new(report)));
    }
    job.scratch.remove(IMAGE)?;
    Ok(ImageSearch::NoneWhole(tables))
}

/// Its contents; `None` where it cannot be opened, is damaged, or lacks some of what was found.
async fn judge(dir: &Dir, found: &Survey) -> Option<SavedCounts> {
    let store = SqliteStore::open_in(dir).ok()?;
    let saved = match count(&store).await {
        Some(saved) if saved.n_events >= found.positions.len() => {
            has_sessions(&store, found).await.then_some(saved)
        }
        Some(_) | None => None,
    };
    store.close().await;
    saved
}

/// Whether every run is at least as far as in the archive.
async fn has_sessions(store: &SqliteStore, found: &Survey) -> bool {
    for session in &found.sessions {
        let row = store.run(&RunRef::Id(session.id)).await.ok().flatten();
        if row.is_none_or(|it| it.version < session.version) {
            return false;
        }
    }
    true
}

async fn count(store: &SqliteStore) -> Option<SavedCounts> {
    let Verified { n_runs, n_events, problems, .. } = verify_all(store).await.ok()?;
    if !problems.is_empty() {
        return None;
    }
    let n_handoffs = store.count_handoffs(&HandoffFilter::default()).await.ok()?;
    let last_position = store.last_position().await.ok()?.0;
    let mut n_stories = 0;
    let mut after = None;
    loop {
        let page = store.stories(&StoryFilter { after, limit: 500 }).await.ok()?;
        n_stories += page.len() as u64;
        match page.into_iter().last() {
            Some(last) => after = Some(last.story.key),
            None => break,
        }
    }
    Some(SavedCounts { n_runs, n_handoffs, n_events, n_stories, last_position })
}

/// Its name for people.
pub(crate) fn name(kind: ImageKind) -> &'static str {
    match kind {
        ImageKind::ProvenLog => "the database with every frame of its log that is whole",
        ImageKind::DatabaseAlone => "the database alone, without its log",
    }
}
