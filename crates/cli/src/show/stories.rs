//! Stories as tables and as a page.

use baton_api::{StoryDocument, StoryStatus};

use super::{cell, dim, fields, good, list, mark, visible};

pub(crate) fn stories_table(stories: &[StoryDocument]) -> String {
    let cells = |story: &StoryDocument| {
        vec![
            visible(&story.key),
            cell(&story.title, 60),
            status_styled(story.status),
            story.priority.to_string(),
            cell(&story.depends_on.join(", "), 60),
        ]
    };
    let headings = ["STORY", "TITLE", "STATUS", "PRIORITY", "DEPENDS ON"];
    list(&headings, stories.iter().map(cells).collect())
}

pub(crate) fn story_page(story: &StoryDocument) -> String {
    let mut rows = vec![
        ("story", visible(&story.key)),
        ("title", visible(&story.title)),
        ("status", story.status.name().to_owned()),
        ("priority", story.priority.to_string()),
        ("depends on", visible(&story.depends_on.join(", "))),
        ("branch", story.branch.as_deref().map(visible).unwrap_or_default()),
        ("pull request", story.pr_url.as_deref().map(visible).unwrap_or_default()),
    ];
    if !story.description.is_empty() {
        rows.push(("description", visible(&story.description)));
    }
    rows.extend(story.acceptance.iter().map(|it| ("accepted when", visible(it))));
    fields(rows)
}

fn status_styled(status: StoryStatus) -> String {
    let name = status.name();
    match status {
        StoryStatus::Waiting | StoryStatus::Paused => name.to_owned(),
        StoryStatus::UnderWay => mark(name),
        StoryStatus::Finished => good(name),
        StoryStatus::Cancelled => dim(name),
    }
}
