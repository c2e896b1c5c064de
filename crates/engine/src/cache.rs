//! The engine's cache between commands. Any entry may be dropped at any time: an append is checked
//! against the version it was decided on, so a stale entry is refused, not believed.

use std::num::NonZeroUsize;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use baton_core::content::{Content, ContentId};
use baton_core::hash::Hash;
use baton_core::names::StoryKey;
use baton_core::run::{HandoffId, HandoffNo, Run, RunId};
use baton_core::workflow::{Mode, Workflow};
use baton_store::{HandoffRow, Version};
use lru::LruCache;

/// A run as last seen, with what an append needs.
pub(crate) struct Loaded {
    pub(crate) run: Run,
    pub(crate) version: Version,
    /// Hash of the last event.
    pub(crate) head: Hash,
    pub(crate) number: u64,
    pub(crate) workflow: Arc<Workflow>,
    /// Its open handoffs as this engine wrote them; handoffs that it only read are not here.
    pub(crate) rows: Vec<HandoffRow>,
}

pub(crate) struct Cache {
    runs: Mutex<LruCache<RunId, Arc<Loaded>>>,
    /// The open run of each story.
    stories: Mutex<LruCache<StoryKey, RunId>>,
    /// The handoff of each number. A number never changes once given.
    numbers: Mutex<LruCache<u64, (RunId, HandoffNo)>>,
    /// The same by id, for handoffs that were requested by id.
    ids: Mutex<LruCache<HandoffId, (RunId, HandoffNo)>>,
    workflows: Mutex<LruCache<(Hash, Mode), Arc<Workflow>>>,
    /// Texts that were just written or read. They never change, but may be dropped; long ones are
    /// not cached.
    texts: Mutex<LruCache<ContentId, Content>>,
}

/// A few kilobytes a run: some tens of megabytes when full.
const MOST_RUNS: NonZeroUsize = NonZeroUsize::new(4096).unwrap();
const MOST_NUMBERS: NonZeroUsize = NonZeroUsize::new(65_536).unwrap();
const MOST_WORKFLOWS: NonZeroUsize = NonZeroUsize::new(64).unwrap();
/// Some tens of megabytes when full of long ones.
const MOST_TEXTS: NonZeroUsize = NonZeroUsize::new(8192).unwrap();
const LONGEST_TEXT: usize = 4 * 1024;

impl Default for Cache {
    fn default() -> Self {
        Self {
            runs: Mutex::new(LruCache::new(MOST_RUNS)),
            stories: Mutex::new(LruCache::new(MOST_RUNS)),
            numbers: Mutex::new(LruCache::new(MOST_NUMBERS)),
            ids: Mutex::new(LruCache::new(MOST_NUMBERS)),
            workflows: Mutex::new(LruCache::new(MOST_WORKFLOWS)),
            texts: Mutex::new(LruCache::new(MOST_TEXTS)),
        }
    }
}

impl Cache {
    pub(crate) fn run(&self, id: RunId) -> Option<Arc<Loaded>> {
        lock(&self.runs).get(&id).cloned()
    }

    /// Keeps the newer of two versions: replies may arrive here out of order. A run that has ended is
    /// not kept: no command changes it any more, and it would only take the place of one that goes on.
    pub(crate) fn remember(&self, loaded: Loaded, numbers: &[(HandoffNo, u64)]) -> Arc<Loaded> {
        let id = loaded.run.id;
        if !numbers.is_empty() {
            let mut known = lock(&self.numbers);
            for (no, number) in numbers {
                known.put(*number, (id, *no));
            }
        }
        if loaded.run.is_finished() {
            self.forget(id);
            self.forget_open_run(&loaded.run.story, id);
            return Arc::new(loaded);
        }
        lock(&self.stories).put(loaded.run.story.clone(), id);
        let mut runs = lock(&self.runs);
        if let Some(known) = runs.get(&id)
            && known.version >= loaded.version
        {
            return known.clone();
        }
        let loaded = Arc::new(loaded);
        runs.put(id, loaded.clone());
        loaded
    }

    pub(crate) fn forget(&self, id: RunId) {
        lock(&self.runs).pop(&id);
    }

    pub(crate) fn open_run(&self, story: &StoryKey) -> Option<RunId> {
        lock(&self.stories).get(story).copied()
    }

    /// The story may have its next run already.
    fn forget_open_run(&self, story: &StoryKey, ended: RunId) {
        let mut stories = lock(&self.stories);
        if stories.peek(story) == Some(&ended) {
            stories.pop(story);
        }
    }

    pub(crate) fn forget_story(&self, story: &StoryKey) {
        lock(&self.stories).pop(story);
    }

    pub(crate) fn handoff(&self, number: u64) -> Option<(RunId, HandoffNo)> {
        lock(&self.numbers).get(&number).copied()
    }

    pub(crate) fn handoff_of_id(&self, id: HandoffId) -> Option<(RunId, HandoffNo)> {
        lock(&self.ids).get(&id).copied()
    }

    /// The number and the id of a handoff never change.
    pub(crate) fn remember_names(&self, row: &HandoffRow) {
        lock(&self.numbers).put(row.number, (row.run, row.no));
        lock(&self.ids).put(row.id, (row.run, row.no));
    }

    pub(crate) fn remember_texts(&self, contents: impl IntoIterator<Item = Content>) {
        let mut texts = lock(&self.texts);
        for content in contents.into_iter().filter(|it| it.text.len() <= LONGEST_TEXT) {
            texts.put(content.id, content);
        }
    }

    pub(crate) fn forget_texts(&self, ids: &[ContentId]) {
        let mut texts = lock(&self.texts);
        for id in ids {
            texts.pop(id);
        }
    }

    pub(crate) fn text(&self, id: ContentId) -> Option<Content> {
        lock(&self.texts).get(&id).cloned()
    }

    pub(crate) fn workflow(&self, pin: &Hash, mode: Mode) -> Option<Arc<Workflow>> {
        lock(&self.workflows).get(&(*pin, mode)).cloned()
    }

    pub(crate) fn remember_workflow(&self, workflow: Arc<Workflow>, mode: Mode) {
        lock(&self.workflows).put((workflow.hash, mode), workflow);
    }
}

/// A panic elsewhere leaves the cache consistent, so a poisoned lock is still usable.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
