//! Stories: what is waiting, what is ready, and the package for the first agent.

use baton_core::document::{Node, Number};
use baton_core::names::StoryKey;
use baton_core::package::{Format, Package};
use baton_core::run::{RunId, RunStatus};
use baton_core::story::{Story, branch_for_key};
use baton_store::{AppendError, IdempotencyRecord, StoreError, StoreLock, StoryRow};
use baton_wire::suggest::nearest;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::{Caller, CommandMode, Engine, EngineError, Key};

/// How many candidates are read together; usually the first one is ready.
const PAGE: u32 = 50;
/// How many stories under way, and how many waiting ones, a mistyped key is compared with.
const MOST_COMPARED: u32 = 50;
/// How many dependencies of one story are looked up.
const MOST_LOOKED_AT: usize = 100;

/// A story that was written over, or added.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SavedStory {
    /// The story, and what had become of it by then.
    pub row: StoryRow,
    pub is_new: bool,
}

/// [`SavedStory`] as its idempotency record has it: all that the repeated request does not say.
#[derive(Serialize, Deserialize)]
struct StoredStory {
    is_new: bool,
    created_at: Timestamp,
    run: Option<(Uuid, String)>,
}

impl SavedStory {
    fn encoded(&self) -> String {
        let run = self.row.latest.map(|(run, status)| (run.0, status.name().to_owned()));
        let stored = StoredStory { is_new: self.is_new, created_at: self.row.created_at, run };
        serde_json::to_string(&stored).unwrap_or_default()
    }

    fn repeated(key: &Key, first: &IdempotencyRecord, story: &Story) -> Result<Self, EngineError> {
        if first.request != key.request {
            return Err(EngineError::KeyReused);
        }
        let damaged = || StoreError::Damaged { what: "an answer that was given before".to_owned() };
        let stored: StoredStory = serde_json::from_str(&first.answer).map_err(|_| damaged())?;
        let latest = match stored.run {
            Some((run, status)) => {
                Some((RunId(run), RunStatus::from_name(&status).ok_or_else(damaged)?))
            }
            None => None,
        };
        let row = StoryRow { story: story.clone(), created_at: stored.created_at, latest };
        Ok(Self { row, is_new: stored.is_new })
    }
}

/// Why a story with an idempotency key was not written.
fn not_written(error: AppendError) -> EngineError {
    match error {
        AppendError::Store(error) => error.into(),
        AppendError::Repeated(_) => EngineError::KeyReused,
        AppendError::Conflict | AppendError::OpenRunExists(_) => EngineError::Contended,
    }
}

impl Engine {
    /// Adds a story: true where it is added, was added by the same request, or would be; false where
    /// the key exists already.
    pub async fn add_story(&self, caller: &Caller, story: &Story) -> Result<bool, EngineError> {
        self.not_for_attempts(caller, "add")?;
        check_size(story)?;
        let Some(key) = &caller.key else {
            return match caller.mode {
                CommandMode::Commit => Ok(self.store.add_story(story, self.clock.now()).await?),
                CommandMode::DryRun => Ok(self.store.story(&story.key).await?.is_none()),
            };
        };
        // The request is the answer, but for the time.
        let answered = key.record(String::new(), self.clock.now());
        let added = match caller.mode {
            CommandMode::Commit => self.store.add_story_once(story, &answered).await,
            CommandMode::DryRun => match self.store.answered(&key.scope, &key.key).await? {
                Some(first) => Err(AppendError::Repeated(Box::new(first))),
                None => Ok(self.store.story(&story.key).await?.is_none()),
            },
        };
        match added {
            Ok(is_new) => Ok(is_new),
            Err(AppendError::Repeated(first)) if first.request == key.request => Ok(true),
            Err(error) => Err(not_written(error)),
        }
    }

    /// Overwrites the story of that key, or adds it. A repeated request changes nothing, and gets the
    /// result that it got first.
    pub async fn save_story(
        &self,
        caller: &Caller,
        story: &Story,
    ) -> Result<SavedStory, EngineError> {
        self.not_for_attempts(caller, "save")?;
        check_size(story)?;
        if let Some(saved) = self.saved_before(caller, story).await? {
            return Ok(saved);
        }
        let now = self.clock.now();
        let there = self.store.story(&story.key).await?;
        let is_new = there.is_none();
        let (created_at, latest) = there.map_or((now, None), |it| (it.created_at, it.latest));
        let saved =
            SavedStory { row: StoryRow { story: story.clone(), created_at, latest }, is_new };
        let Some(key) = &caller.key else {
            self.store.save_story(story, now).await?;
            return Ok(saved);
        };
        match self.store.save_story_once(story, &key.record(saved.encoded(), now)).await {
            Ok(()) => Ok(saved),
            Err(AppendError::Repeated(first)) => SavedStory::repeated(key, &first, story),
            Err(error) => Err(not_written(error)),
        }
    }

    /// Held while a story is compared with what a caller expects, and written.
    pub async fn lock_story(&self, key: &StoryKey) -> Result<StoreLock, EngineError> {
        Ok(self.store.lock(&format!("story {key}")).await?)
    }

    /// The result of the same [`Engine::save_story`] before, if there was one.
    pub async fn saved_before(
        &self,
        caller: &Caller,
        story: &Story,
    ) -> Result<Option<SavedStory>, EngineError> {
        let Some(key) = &caller.key else { return Ok(None) };
        let first = self.store.answered(&key.scope, &key.key).await?;
        first.map(|it| SavedStory::repeated(key, &it, story)).transpose()
    }

    /// The next story to start: it has had no run and its dependencies are finished; highest
    /// priority first, ties by key.
    pub(crate) async fn next_ready(&self) -> Result<Story, EngineError> {
        let mut after = None;
        loop {
            let page = self.store.stories_to_begin(after.as_ref(), PAGE).await?;
            for row in &page {
                if self.is_ready(&row.story).await? {
                    return Ok(row.story.clone());
                }
            }
            match page.last() {
                Some(last) if page.len() == PAGE as usize => after = Some(last.story.clone()),
                Some(_) | None => break,
            }
        }
        let counts = self.store.count_stories().await?;
        let why = match (counts.n_stories, counts.n_to_begin) {
            (0, _) => "there is none; `baton story add` makes one".to_owned(),
            (_, 0) => "every story is under way, finished or cancelled".to_owned(),
            (_, n) => format!("{n} wait for others to be finished"),
        };
        Err(EngineError::NothingReady { why })
    }

    /// The refusal for a key that no story has, with the story that was probably meant.
    pub(crate) async fn no_such_story(&self, key: &StoryKey) -> Result<EngineError, EngineError> {
        let near = self.near_story(key).await?;
        Ok(EngineError::NoSuchStory { key: key.clone(), near })
    }

    /// The dependencies of a story that do not exist.
    pub(crate) async fn missing_dependencies(
        &self,
        story: &Story,
    ) -> Result<Vec<String>, EngineError> {
        let mut missing = Vec::new();
        for key in story.depends_on.iter().take(MOST_LOOKED_AT) {
            if self.store.story(key).await?.is_some() {
                continue;
            }
            let near = self.near_story(key).await?.map(|it| format!(" (did you mean `{it}`?)"));
            let near = near.unwrap_or_default();
            missing.push(format!(
                "it depends on `{key}`, which is no story yet{near}: it is not started before that \
                 one is finished"
            ));
        }
        Ok(missing)
    }

    /// The story whose key is nearest to a mistyped one: of those that are open, and of some others.
    pub(crate) async fn near_story(&self, key: &StoryKey) -> Result<Option<StoryKey>, EngineError> {
        let (open, _) = self.store.open_runs_ending("", MOST_COMPARED).await?;
        let waiting = self.store.stories_to_begin(None, MOST_COMPARED).await?;
        let open = open.into_iter().map(|it| it.run.story);
        let known: Vec<StoryKey> = open.chain(waiting.into_iter().map(|it| it.story.key)).collect();
        let names: Vec<&str> = known.iter().map(StoryKey::as_str).collect();
        // Another caller may have made it since it was looked for: it is not near itself.
        let names: Vec<&str> = names.into_iter().filter(|it| *it != key.as_str()).collect();
        let near = nearest(key.as_str(), &names);
        Ok(near.and_then(|near| known.iter().find(|it| it.as_str() == near).cloned()))
    }

    async fn is_ready(&self, story: &Story) -> Result<bool, EngineError> {
        for key in &story.depends_on {
            if !self.is_finished(key).await? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// The stories that have to be finished before this one begins.
    pub(crate) async fn unfinished_dependencies(
        &self,
        story: &Story,
    ) -> Result<Vec<StoryKey>, EngineError> {
        let mut open = Vec::new();
        for key in &story.depends_on {
            if !self.is_finished(key).await? {
                open.push(key.clone());
            }
        }
        Ok(open)
    }

    async fn is_finished(&self, key: &StoryKey) -> Result<bool, EngineError> {
        let row = self.store.story(key).await?;
        Ok(row.and_then(|it| status(&it)) == Some(RunStatus::Completed))
    }
}

/// Limits apply to writes only; larger stories from before the limits can still be read.
fn check_size(story: &Story) -> Result<(), EngineError> {
    match story.problems() {
        problems if problems.is_empty() => Ok(()),
        problems => Err(EngineError::StoryTooLarge { key: story.key.clone(), problems }),
    }
}

fn status(row: &StoryRow) -> Option<RunStatus> {
    row.latest.map(|(_, status)| status)
}

/// The story as a package for the first agent.
pub fn story_package(story: &Story) -> Package {
    let list = |items: Vec<String>| Node::List(items.into_iter().map(Node::Text).collect());
    let depends_on = story.depends_on.iter().map(ToString::to_string).collect();
    // A blank field could be an oversight; null says that there is none.
    let has_description = !story.description.trim().is_empty();
    let description = if has_description { Node::text(&story.description) } else { Node::Null };
    let mut members = vec![
        ("id", Node::text(story.key.as_str())),
        ("title", Node::text(&story.title)),
        ("description", description),
        ("acceptance", list(story.acceptance.clone())),
        ("depends_on", list(depends_on)),
        ("priority", Node::Number(Number::from(story.priority))),
    ];
    if let Some(pr_url) = &story.pr_url {
        members.push(("pr_url", Node::text(pr_url)));
    }
    let document = Node::map([
        ("story_id", Node::text(story.key.as_str())),
        ("story", Node::map(members)),
        ("branch", Node::text(branch_of(story))),
    ]);
    Package::new(Format::Json, baton_wire::json::print(&document), document)
}

/// The branch for the work: the story's own, else one derived from its key.
pub fn branch_of(story: &Story) -> String {
    if let Some(branch) = &story.branch {
        return branch.clone();
    }
    branch_for_key(story.key.as_str())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_story_without_a_branch_gets_one_after_its_key() {
        for (key, branch) in [
            ("v0.1:1.1.1", "feat/story-1.1.1"),
            ("shop:12", "feat/story-shop-12"),
            ("cart:12", "feat/story-cart-12"),
            ("shop:v2:12", "feat/story-shop-v2-12"),
            ("v:12", "feat/story-v-12"),
            ("owner/repo#12", "feat/story-owner-repo-12"),
            ("Log in", "feat/story-log-in"),
        ] {
            let story = Story::named(StoryKey::parse(key).unwrap());
            assert_eq!(branch_of(&story), branch);
        }
    }
}
