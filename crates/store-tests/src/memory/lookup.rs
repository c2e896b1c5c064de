//! Rows by their names.

use baton_core::look_alike;
use baton_core::names::StoryKey;
use baton_core::story::Story;
use baton_store::{HandoffRef, HandoffRow, Position, RunRef, RunRow, StoryRow};
use jiff::Timestamp;

use super::MemoryTables;

impl MemoryTables {
    pub(super) fn run(&self, which: &RunRef) -> Option<&RunRow> {
        match which {
            RunRef::Id(id) => at(&self.runs, *self.run_numbers.get(id)?),
            RunRef::Number(number) => at(&self.runs, *number),
            RunRef::OpenOf(story) => self.open_run(story),
            RunRef::LatestOf(story) => at(&self.runs, *self.story_runs.get(story)?.last()?),
        }
    }

    pub(super) fn open_run(&self, story: &StoryKey) -> Option<&RunRow> {
        let mut runs = self.story_runs.get(story)?.iter().rev();
        runs.find_map(|number| at(&self.runs, *number).filter(|it| !it.run.is_finished()))
    }

    pub(super) fn handoff(&self, which: &HandoffRef) -> Option<&HandoffRow> {
        let number = match which {
            HandoffRef::Number(number) => *number,
            HandoffRef::Id(id) => *self.handoff_ids.get(id)?,
            HandoffRef::InRun(run, no) => *self.handoff_numbers.get(&(*run, *no))?,
        };
        at(&self.handoffs, number)
    }

    /// Adds a story, or overwrites the existing one.
    pub(super) fn keep_story(&mut self, story: Story, created_at: Timestamp) {
        let outline = look_alike::outline(story.key.as_str());
        self.outlines.entry(outline).or_default().insert(story.key.clone());
        self.stories.insert(story.key.clone(), (story, created_at));
    }

    pub(super) fn story_row(&self, (story, created_at): &(Story, Timestamp)) -> StoryRow {
        let newest = self.run(&RunRef::LatestOf(story.key.clone()));
        StoryRow {
            story: story.clone(),
            created_at: *created_at,
            latest: newest.map(|it| (it.run.id, it.run.status)),
        }
    }

    pub(super) fn cursor(&self, projector: &str) -> Position {
        self.cursors.get(projector).copied().unwrap_or(Position::START)
    }
}

/// The row with that number. Numbers start at 1.
pub(super) fn at<T>(rows: &[T], number: u64) -> Option<&T> {
    rows.get(usize::try_from(number.checked_sub(1)?).ok()?)
}
