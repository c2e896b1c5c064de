//! Names that events omit because they never change: the story of a run, the number of a handoff, what
//! was shown of its agents.
//! Looked up once and then cached for all subscribers.

use std::num::NonZeroUsize;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use baton_core::names::StoryKey;
use baton_core::run::{HandoffId, HandoffNo, HandoffState, RunId};
use baton_core::workflow::{Place, Workflow};
use baton_engine::{EngineError, Reader};
use baton_store::{HandoffRef, RunRef, Version};
use baton_views::{Cast, Views};
use lru::LruCache;
use tokio::sync::OnceCell;

pub(super) struct Names {
    runs: Mutex<LruCache<RunId, Arc<RunNames>>>,
    handoffs: Mutex<LruCache<(RunId, HandoffNo), HandoffNames>>,
    /// What was shown of the agents of a run, and up to which version of the run that is known.
    casts: Mutex<LruCache<RunId, (Version, Arc<Cast>)>>,
    epoch: OnceCell<Arc<str>>,
}

pub(super) struct RunNames {
    pub(super) story: StoryKey,
    pub(super) workflow: Arc<Workflow>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct HandoffNames {
    /// The pipeline API's `id`.
    pub(super) number: u64,
    pub(super) id: HandoffId,
}

const MOST_RUNS: NonZeroUsize = NonZeroUsize::new(1024).unwrap();
const MOST_CASTS: NonZeroUsize = NonZeroUsize::new(256).unwrap();
const MOST_HANDOFFS: NonZeroUsize = NonZeroUsize::new(8192).unwrap();

impl Default for Names {
    fn default() -> Self {
        let runs = Mutex::new(LruCache::new(MOST_RUNS));
        let handoffs = Mutex::new(LruCache::new(MOST_HANDOFFS));
        let casts = Mutex::new(LruCache::new(MOST_CASTS));
        Self { runs, handoffs, casts, epoch: OnceCell::new() }
    }
}

impl Names {
    /// The epoch of positions. It changes only while no server has the data open.
    pub(super) async fn epoch(&self, reader: Reader<'_>) -> Result<Arc<str>, EngineError> {
        let read = async || Ok(reader.identity().await?.epoch.into());
        self.epoch.get_or_try_init(read).await.cloned()
    }

    pub(super) async fn run(
        &self,
        reader: Reader<'_>,
        id: RunId,
    ) -> Result<Arc<RunNames>, EngineError> {
        if let Some(known) = lock(&self.runs).get(&id) {
            return Ok(known.clone());
        }
        let row = reader.run(&RunRef::Id(id)).await?;
        let workflow = reader.workflow_of(&row).await?;
        let names = Arc::new(RunNames { story: row.run.story, workflow });
        lock(&self.runs).put(id, names.clone());
        Ok(names)
    }

    /// The agents of a run as they were shown, for an event that made the run's version.
    pub(super) async fn cast(
        &self,
        reader: Reader<'_>,
        run: RunId,
        version: Version,
    ) -> Result<Arc<Cast>, EngineError> {
        if let Some((upto, known)) = lock(&self.casts).get(&run)
            && upto.0 >= version.0
        {
            return Ok(known.clone());
        }
        let row = reader.run(&RunRef::Id(run)).await?;
        let cast = Arc::new(Views::from(reader).cast(&row.run).await?);
        lock(&self.casts).put(run, (row.version, cast.clone()));
        Ok(cast)
    }

    pub(super) async fn handoff(
        &self,
        reader: Reader<'_>,
        run: RunId,
        no: HandoffNo,
    ) -> Result<HandoffNames, EngineError> {
        if let Some(known) = lock(&self.handoffs).get(&(run, no)) {
            return Ok(*known);
        }
        let row = reader.handoff(&HandoffRef::InRun(run, no)).await?;
        let names = HandoffNames { number: row.number, id: row.id };
        lock(&self.handoffs).put((run, no), names);
        Ok(names)
    }
}

/// The current state of a handoff, for the one event that does not contain it.
pub(super) async fn state_of(
    reader: Reader<'_>,
    run: RunId,
    no: HandoffNo,
) -> Result<HandoffState, EngineError> {
    Ok(reader.handoff(&HandoffRef::InRun(run, no)).await?.state)
}

impl RunNames {
    /// The title of a place in the workflow.
    pub(super) fn title<'a>(&'a self, place: &'a Place) -> &'a str {
        match place {
            Place::Step(id) => self.workflow.step(id).map_or(id.as_str(), |it| &it.title),
            Place::Delegate(agent) => agent.as_str(),
            Place::Orchestrator => "orchestrator",
            Place::Human => "human",
        }
    }
}

/// A panic elsewhere leaves the cache consistent.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
