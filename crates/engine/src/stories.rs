//! Stories: what is waiting, what is ready, and what the first agent is given.

use baton_core::document::{Node, Number};
use baton_core::names::StoryKey;
use baton_core::package::{Format, Package};
use baton_core::run::RunStatus;
use baton_core::story::Story;
use baton_store::{AppendError, IdempotencyRecord, StoryRow};

use crate::{Caller, CommandMode, Engine, EngineError};

/// How many of those that may begin are looked at together; mostly the first can.
const PAGE: u32 = 50;

impl Engine {
    /// Adds a story; false where one of that key is there already.
    pub async fn add_story(&self, story: &Story) -> Result<bool, EngineError> {
        check_size(story)?;
        Ok(self.store.add_story(story, self.clock.now()).await?)
    }

    /// As [`Engine::add_story`], for a caller that may send it twice, or only rehearse it: true
    /// where it is added, was by the same request, or would be.
    pub async fn add_story_as(&self, caller: &Caller, story: &Story) -> Result<bool, EngineError> {
        check_size(story)?;
        let Some(key) = &caller.key else {
            return match caller.mode {
                CommandMode::Commit => self.add_story(story).await,
                CommandMode::DryRun => Ok(self.store.story(&story.key).await?.is_none()),
            };
        };
        let answered = IdempotencyRecord {
            scope: key.scope.clone(),
            key: key.key.clone(),
            request: key.request,
            // There is nothing to tell but the story.
            answer: String::new(),
            at: self.clock.now(),
        };
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
            Err(AppendError::Repeated(_)) => Err(EngineError::KeyReused),
            Err(AppendError::Store(error)) => Err(error.into()),
            Err(AppendError::Conflict | AppendError::OpenRunExists(_)) => {
                Err(EngineError::Contended)
            }
        }
    }

    pub async fn save_story(&self, story: &Story) -> Result<(), EngineError> {
        check_size(story)?;
        Ok(self.store.save_story(story, self.clock.now()).await?)
    }

    pub async fn story(&self, key: &StoryKey) -> Result<StoryRow, EngineError> {
        let row = self.store.story(key).await?;
        row.ok_or_else(|| EngineError::NoSuchStory { key: key.clone() })
    }

    /// The story to begin next: it has had no run, what it depends on is finished; the highest
    /// priority first, ties by key.
    pub async fn next_ready(&self) -> Result<Story, EngineError> {
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
            (_, 0) => "every story is under way or finished".to_owned(),
            (_, n) => format!("{n} wait for others to be finished"),
        };
        Err(EngineError::NothingReady { why })
    }

    /// Whether everything that a story depends on is finished.
    async fn is_ready(&self, story: &Story) -> Result<bool, EngineError> {
        for key in &story.depends_on {
            let row = self.store.story(key).await?;
            if row.and_then(|it| status(&it)) != Some(RunStatus::Completed) {
                return Ok(false);
            }
        }
        Ok(true)
    }
}

/// What is written has its bounds; what was written before there were any is still read.
fn check_size(story: &Story) -> Result<(), EngineError> {
    match story.problems() {
        problems if problems.is_empty() => Ok(()),
        problems => Err(EngineError::StoryTooLarge { key: story.key.clone(), problems }),
    }
}

fn status(row: &StoryRow) -> Option<RunStatus> {
    row.latest.map(|(_, status)| status)
}

/// A story as the first agent is given it.
pub fn story_package(story: &Story) -> Package {
    let list = |items: Vec<String>| Node::List(items.into_iter().map(Node::Text).collect());
    let depends_on = story.depends_on.iter().map(ToString::to_string).collect();
    // A blank field could have been forgotten; null says that there is none.
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

/// The branch that the work goes to: the story's own, else one after its key, as in
/// `feat/story-1.1.1` for `v0.1:1.1.1`.
pub(crate) fn branch_of(story: &Story) -> String {
    if let Some(branch) = &story.branch {
        return branch.clone();
    }
    let key = story.key.as_str();
    let name = key.rsplit(':').next().unwrap_or(key);
    let is_plain = |it: char| it.is_ascii_alphanumeric() || it == '.' || it == '-';
    let slug: String =
        name.chars().map(|it| if is_plain(it) { it.to_ascii_lowercase() } else { '-' }).collect();
    format!("feat/story-{}", slug.trim_matches(['-', '.']))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_story_without_a_branch_gets_one_after_its_key() {
        for (key, branch) in [
            ("v0.1:1.1.1", "feat/story-1.1.1"),
            ("owner/repo#12", "feat/story-owner-repo-12"),
            ("Log in", "feat/story-log-in"),
        ] {
            let story = Story::named(StoryKey::parse(key).unwrap());
            assert_eq!(branch_of(&story), branch);
        }
    }
}
