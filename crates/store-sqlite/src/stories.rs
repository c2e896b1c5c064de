//! Stories, with the newest run of each.

use baton_core::names::StoryKey;
use baton_core::run::RunStatus;
use baton_core::story::Story;
use baton_store::{Answered, AppendError, StoryCounts, StoryFilter, StoryRow};
use rusqlite::{Connection, OptionalExtension as _, Row, params};

use crate::answers;
use crate::columns::{limit, list_text, maybe_parsed, number, parsed, run_id, time};
use crate::error::to_append;

const SELECT: &str = "select
    stories.key, stories.title, stories.description, stories.acceptance, stories.depends_on,
    stories.priority, stories.branch, stories.pr_url, stories.created_at,
    runs.id as run_id, runs.status
    from stories left join runs
        on runs.number = (select max(number) from runs where story_key = stories.key)";

/// Adds a story; false where one of that key is there already.
pub(crate) fn add(connection: &Connection, story: &Story, now: i64) -> rusqlite::Result<bool> {
    write(connection, story, now, "do nothing").map(|n_rows| n_rows > 0)
}

/// As [`add`], with the answer to a request that may be sent twice.
pub(crate) fn add_once(
    connection: &Connection,
    story: &Story,
    answered: &Answered,
    now: i64,
) -> Result<bool, AppendError> {
    answers::refuse_repeated(connection, answered)?;
    let is_new = add(connection, story, now).map_err(to_append)?;
    if is_new {
        answers::add(connection, answered, now).map_err(to_append)?;
    }
    Ok(is_new)
}

/// Adds a story, or writes it over the one that is there, which keeps its age.
pub(crate) fn save(connection: &Connection, story: &Story, now: i64) -> rusqlite::Result<()> {
    let over = "do update set
                    title = excluded.title,
                    description = excluded.description,
                    acceptance = excluded.acceptance,
                    depends_on = excluded.depends_on,
                    priority = excluded.priority,
                    branch = excluded.branch,
                    pr_url = excluded.pr_url";
    write(connection, story, now, over).map(|_| ())
}

fn write(
    connection: &Connection,
    story: &Story,
    now: i64,
    on_conflict: &str,
) -> rusqlite::Result<usize> {
    let sql = format!(
        "insert into stories (
             key, title, description, acceptance, depends_on, priority, branch, pr_url, created_at,
             run_status
         ) values (
             ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9,
             (select status from runs where story_key = ?1 order by number desc limit 1)
         )
         on conflict (key) {on_conflict}"
    );
    let depends_on: Vec<String> = story.depends_on.iter().map(|it| it.to_string()).collect();
    connection.prepare_cached(&sql)?.execute(params![
        story.key.as_str(),
        story.title,
        story.description,
        list_text(&story.acceptance),
        list_text(&depends_on),
        story.priority,
        story.branch,
        story.pr_url,
        now,
    ])
}

/// The newest run of a story has come to this.
pub(crate) fn run_is(
    connection: &Connection,
    story: &StoryKey,
    status: RunStatus,
) -> rusqlite::Result<()> {
    let sql = "update stories set run_status = ?2 where key = ?1";
    connection.prepare_cached(sql)?.execute([story.as_str(), status.name()])?;
    Ok(())
}

pub(crate) fn find(connection: &Connection, key: &StoryKey) -> rusqlite::Result<Option<StoryRow>> {
    let sql = format!("{SELECT} where stories.key = ?1");
    connection.prepare_cached(&sql)?.query_row([key.as_str()], read).optional()
}

pub(crate) fn list(
    connection: &Connection,
    filter: &StoryFilter,
) -> rusqlite::Result<Vec<StoryRow>> {
    // No key is empty, so all of them come after the empty text.
    let after = filter.after.as_ref().map_or("", |it| it.as_str());
    let params = params![after, limit(filter.limit)];
    connection.prepare_cached(&list_sql())?.query_map(params, read)?.collect()
}

pub(crate) fn list_sql() -> String {
    format!("{SELECT} where stories.key > ?1 order by stories.key limit ?2")
}

/// Those that never had a run, in the order in which they are to begin.
pub(crate) fn to_begin(
    connection: &Connection,
    after: Option<&(i64, StoryKey)>,
    most: u32,
) -> rusqlite::Result<Vec<StoryRow>> {
    let (priority, key) = match after {
        Some((priority, key)) => (Some(*priority), key.as_str()),
        None => (None, ""),
    };
    let sql = to_begin_sql();
    let params = params![priority, key, limit(most)];
    connection.prepare_cached(&sql)?.query_map(params, read)?.collect()
}

pub(crate) fn to_begin_sql() -> String {
    format!(
        "{SELECT} where stories.run_status is null
             and (?1 is null or stories.priority < ?1 or (stories.priority = ?1 and stories.key > ?2))
         order by stories.priority desc, stories.key limit ?3"
    )
}

pub(crate) const COUNT: &str = "select
    (select count(*) from stories) as n_stories,
    (select count(*) from stories where run_status is null) as n_to_begin,
    (select count(*) from stories where run_status = 'completed') as n_completed";

pub(crate) fn count(connection: &Connection) -> rusqlite::Result<StoryCounts> {
    connection.prepare_cached(COUNT)?.query_row([], |row| {
        Ok(StoryCounts {
            n_stories: number(row, "n_stories")?,
            n_to_begin: number(row, "n_to_begin")?,
            n_completed: number(row, "n_completed")?,
        })
    })
}

fn read(row: &Row<'_>) -> rusqlite::Result<StoryRow> {
    let story = Story {
        key: parsed(row, "key", |it| StoryKey::parse(it).ok())?,
        title: row.get("title")?,
        description: row.get("description")?,
        acceptance: parsed(row, "acceptance", crate::columns::list)?,
        depends_on: parsed(row, "depends_on", keys)?,
        priority: row.get("priority")?,
        branch: row.get("branch")?,
        pr_url: row.get("pr_url")?,
    };
    let latest = match maybe_parsed(row, "status", RunStatus::parse)? {
        Some(status) => Some((run_id(row, "run_id")?, status)),
        None => None,
    };
    Ok(StoryRow { story, created_at: time(row, "created_at")?, latest })
}

fn keys(text: &str) -> Option<Vec<StoryKey>> {
    crate::columns::list(text)?.iter().map(|it| StoryKey::parse(it).ok()).collect()
}
