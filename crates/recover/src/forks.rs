//! Archive sessions that diverge from the recovered database.

use baton_store::{EventFilter, Position, Store as _, StoreResult};
use baton_store_sqlite::SqliteStore;

use crate::archived::ArchivedHead;
use crate::survey::Survey;
use crate::{RESULT, RecoverError, RecoverJob};

/// A session whose events differ from the database: work continued after the restore of an older
/// backup, for example. The two cannot be merged into one run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ForkedSession {
    /// In the folder of the sessions.
    pub folder: String,
    pub run_number: u64,
    pub n_events: u64,
}

/// Only examines sessions that were kept aside: any other is overwritten as its run continues.
pub(crate) async fn find(
    job: &RecoverJob<'_>,
    found: &Survey,
) -> Result<Vec<ForkedSession>, RecoverError> {
    let is_aside = |it: &&ArchivedHead| it.folder != it.id.to_string();
    let aside: Vec<&ArchivedHead> = found.sessions.iter().filter(is_aside).collect();
    if aside.is_empty() {
        return Ok(Vec::new());
    }
    let store = SqliteStore::open_in(&job.scratch.subdir(RESULT)?).map_err(RecoverError::Open)?;
    let forked = find_in(&store, &aside).await;
    store.close().await;
    forked.map_err(RecoverError::Store)
}

async fn find_in(store: &SqliteStore, aside: &[&ArchivedHead]) -> StoreResult<Vec<ForkedSession>> {
    let mut forked = Vec::new();
    for session in aside {
        let filter = EventFilter { after: Position::START, run: Some(session.id), limit: 0 };
        let events = store.events(&filter).await?;
        let is_there =
            events.iter().any(|it| it.version == session.version && it.hash == session.head);
        if !is_there {
            forked.push(ForkedSession {
                folder: session.folder.clone(),
                run_number: session.number,
                n_events: session.version.0,
            });
        }
    }
    Ok(forked)
}
