//! Stories, with the newest run of each.

use baton_core::look_alike;
use baton_core::names::StoryKey;
use baton_core::run::RunStatus;
use baton_core::story::Story;
use baton_store::{Answered, AppendError, StoryCounts, StoryFilter, StoryRow};
use rusqlite::{Connection, OptionalExtension as _, Row, params};

use crate::answers;
use crate::columns::{limit, list_text, maybe_parsed, number, parsed, run_id, time};
use crate::error::{in_row, to_append};
use crate::story_log::{self, StoryColumns};

const SELECT: &str = "select
    stories.key, stories.title, stories.description, stories.acceptance, stories.depends_on,
    stories.priority, stories.branch, stories.pr_url, stories.created_at,
    stories.rowid as row_number, runs.id as run_id, runs.status
    from stories left join runs
        on runs.number = (select max(number) from runs where story_key = stories.key)";

/// Adds a story; false where one of that key is there already.
pub(crate) fn add(connection: &Connection, story: &Story, now: i64) -> rusqlite::Result<bool> {
    let columns = to_columns(story, now);
    let is_new = write(connection, &columns, "do nothing")? > 0;
    if is_new {
        story_log::add(connection, &columns, now)?;
    }
    Ok(is_new)
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
    let columns = to_columns(story, now);
    write(connection, &columns, over)?;
    let sql = "select created_at from stories where key = ?1";
    let created_at =
        connection.prepare_cached(sql)?.query_row([story.key.as_str()], |row| row.get(0))?;
    story_log::add(connection, &StoryColumns { created_at, ..columns }, now)
}

fn to_columns(story: &Story, created_at: i64) -> StoryColumns {
    let depends_on: Vec<String> = story.depends_on.iter().map(|it| it.to_string()).collect();
    StoryColumns {
        key: story.key.as_str().to_owned(),
        title: story.title.clone(),
        description: story.description.clone(),
        acceptance: list_text(&story.acceptance),
        depends_on: list_text(&depends_on),
        priority: story.priority,
        branch: story.branch.clone(),
        pr_url: story.pr_url.clone(),
        created_at,
    }
}

fn write(
    connection: &Connection,
    story: &StoryColumns,
    on_conflict: &str,
) -> rusqlite::Result<usize> {
    let sql = format!(
        "insert into stories (
             key, title, description, acceptance, depends_on, priority, branch, pr_url, created_at,
             outline, run_status
         ) values (
             ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10,
             (select status from runs where story_key = ?1 order by number desc limit 1)
         )
         on conflict (key) {on_conflict}"
    );
    connection.prepare_cached(&sql)?.execute(params![
        story.key,
        story.title,
        story.description,
        story.acceptance,
        story.depends_on,
        story.priority,
        story.branch,
        story.pr_url,
        story.created_at,
        look_alike::outline(&story.key),
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

/// For all stories, once the runs are there.
pub(crate) fn name_newest_runs(connection: &Connection) -> rusqlite::Result<()> {
    let sql = "update stories set run_status = (
                   select status from runs where story_key = stories.key
                   order by number desc limit 1
               )";
    connection.execute(sql, [])?;
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

/// Of a row that has its own number as `row_number`.
pub(crate) fn read(row: &Row<'_>) -> rusqlite::Result<StoryRow> {
    columns(row).map_err(in_row(row, "stories", "row_number"))
}

fn columns(row: &Row<'_>) -> rusqlite::Result<StoryRow> {
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
