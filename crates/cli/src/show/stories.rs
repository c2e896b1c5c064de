//! Stories as tables and as JSON.

use baton_core::document::{Node, Number};
use baton_core::run::RunStatus;
use baton_store::StoryRow;

use super::{dim, good, mark, shortened, table, visible};

pub(crate) fn stories_table(rows: &[StoryRow]) -> String {
    let cells = |row: &StoryRow| {
        let story = &row.story;
        let depends_on: Vec<&str> = story.depends_on.iter().map(|it| it.as_str()).collect();
        vec![
            visible(story.key.as_str()),
            shortened(&story.title, 60),
            status_styled(row),
            story.priority.to_string(),
            visible(&depends_on.join(", ")),
        ]
    };
    let headings = ["STORY", "TITLE", "STATUS", "PRIORITY", "DEPENDS ON"];
    table(&headings, rows.iter().map(cells).collect())
}

pub(crate) fn story_json(row: &StoryRow) -> Node {
    let story = &row.story;
    let some = |it: &Option<String>| it.as_ref().map_or(Node::Null, Node::text);
    let texts = |items: Vec<&str>| Node::List(items.into_iter().map(Node::text).collect());
    Node::map([
        ("key", Node::text(story.key.as_str())),
        ("title", Node::text(&story.title)),
        ("description", Node::text(&story.description)),
        ("acceptance", texts(story.acceptance.iter().map(String::as_str).collect())),
        ("dependsOn", texts(story.depends_on.iter().map(|it| it.as_str()).collect())),
        ("priority", Node::Number(Number::from(story.priority))),
        ("branch", some(&story.branch)),
        ("prUrl", some(&story.pr_url)),
        ("status", Node::text(story_status(row))),
        ("run", row.latest.map_or(Node::Null, |(id, _)| Node::text(id.to_string()))),
        ("createdAt", Node::text(row.created_at.to_string())),
    ])
}

/// A story's own word for how far it is.
pub(crate) fn story_status(row: &StoryRow) -> &'static str {
    match row.latest.map(|(_, status)| status) {
        None => "waiting",
        Some(RunStatus::Open) => "under way",
        Some(RunStatus::Paused) => "paused",
        Some(RunStatus::Completed) => "finished",
        Some(RunStatus::Cancelled) => "cancelled",
    }
}

fn status_styled(row: &StoryRow) -> String {
    let word = story_status(row);
    match row.latest.map(|(_, status)| status) {
        None | Some(RunStatus::Paused) => word.to_owned(),
        Some(RunStatus::Open) => mark(word),
        Some(RunStatus::Completed) => good(word),
        Some(RunStatus::Cancelled) => dim(word),
    }
}
