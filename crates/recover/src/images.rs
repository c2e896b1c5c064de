//! Whole images: the pages of the database and its log, put together in one way after the other.

use baton_engine::{Verified, verify_all};
use baton_files::{Dir, Mode};
use baton_store::{HandoffFilter, RunRef, Store as _, StoryFilter};
use baton_store_sqlite::{ImageKind, SqliteStore, Wreck};

use crate::report::{RecoveryMethod, RecoveryReport, SavedCounts};
use crate::survey::Surveyed;
use crate::{RESULT, RecoverError, RecoverJob};

const IMAGE: &str = "image";

/// The first image that is whole and has every event that was found, as [`RESULT`].
pub(crate) async fn first_whole(
    job: &RecoverJob<'_>,
    wreck: &mut Wreck,
    found: &Surveyed,
) -> Result<Option<RecoveryReport>, RecoverError> {
    for kind in wreck.images() {
        job.workshop.remove(IMAGE)?;
        let dir = job.workshop.make_dirs(IMAGE, Mode::Private)?;
        if !wreck.write_image(kind, &dir)? {
            continue;
        }
        let Some(saved) = judge(&dir, found).await else { continue };
        job.workshop.rename(IMAGE, job.workshop, RESULT)?;
        return Ok(Some(RecoveryReport::whole(RecoveryMethod::Image(kind), saved)));
    }
    job.workshop.remove(IMAGE)?;
    Ok(None)
}

/// What there is in it; none where it cannot be opened, is not whole, or has not all that was found.
async fn judge(dir: &Dir, found: &Surveyed) -> Option<SavedCounts> {
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

/// Whether every run has come as far as the archive has seen it.
async fn has_sessions(store: &SqliteStore, found: &Surveyed) -> bool {
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
            None => {
                return Some(SavedCounts {
                    n_runs,
                    n_handoffs,
                    n_events,
                    n_stories,
                    last_position,
                });
            }
        }
    }
}

/// How people call it.
pub(crate) fn name(kind: ImageKind) -> &'static str {
    match kind {
        ImageKind::ProvenLog => "the database with every frame of its log that is whole",
        ImageKind::DatabaseAlone => "the database alone, without its log",
        ImageKind::WholeLog => "the database with all of its log",
        ImageKind::LogUpToTheBreak => "the database with its log up to where that is broken",
    }
}
