//! Stories, with the newest run of each.

use baton_core::names::StoryKey;
use baton_core::run::RunStatus;
use baton_core::story::Story;
use baton_store::{
    AppendError, IdempotencyRecord, StoryColumns, StoryCounts, StoryFilter, StoryRow,
};
use rusqlite::{Connection, OptionalExtension as _, Row, params};

use crate::columns::{count_executed, execute, limit, maybe_parsed, number, parsed, run_id, time};
use crate::error::{in_row, to_append};
use crate::idempotency;
use crate::statements::Statements;
use crate::story_log;

const SELECT: &str = "select
    stories.key, stories.title, stories.description, stories.acceptance, stories.depends_on,
    stories.priority, stories.branch, stories.pr_url, stories.created_at,
    stories.rowid as row_number, runs.id as run_id, runs.status
    from stories left join runs
        on runs.number = (select max(number) from runs where story_key = stories.key)";

/// A story with everything precomputed that the writer thread need not do.
pub(crate) struct PreparedStory {
    columns: StoryColumns,
    outline: String,
    digest: [u8; 32],
}

impl PreparedStory {
    pub(crate) fn new(story: &Story, created_at: i64) -> Self {
        let columns = StoryColumns::new(story, created_at);
        let (outline, digest) = (columns.outline(), columns.digest());
        Self { columns, outline, digest }
    }
}

/// Inserts a story; false where its key exists already.
pub(crate) fn add(
    statements: &impl Statements,
    story: &PreparedStory,
    now: i64,
) -> rusqlite::Result<bool> {
    let is_new = write(statements, INSERT, story)? > 0;
    if is_new {
        story_log::add(statements, &story.columns.key, &story.digest, now)?;
    }
    Ok(is_new)
}

/// As [`add`], with an idempotency record.
pub(crate) fn add_once(
    connection: &Connection,
    story: &PreparedStory,
    answered: &IdempotencyRecord,
    now: i64,
) -> Result<bool, AppendError> {
    idempotency::refuse_repeated(connection, answered)?;
    let is_new = add(connection, story, now).map_err(to_append)?;
    if is_new {
        idempotency::add(connection, answered, now).map_err(to_append)?;
    }
    Ok(is_new)
}

/// Inserts a story, or overwrites the existing one, which keeps its creation time.
pub(crate) fn save(connection: &Connection, story: &Story, now: i64) -> rusqlite::Result<()> {
    let sql = "select created_at from stories where key = ?1";
    let created_at: Option<i64> = connection
        .prepare_cached(sql)?
        .query_row([story.key.as_str()], |row| row.get(0))
        .optional()?;
    let story = PreparedStory::new(story, created_at.unwrap_or(now));
    match created_at {
        Some(_) => write(connection, UPDATE, &story)?,
        None => write(connection, INSERT, &story)?,
    };
    story_log::add(connection, &story.columns.key, &story.digest, now)
}

/// As [`save`], with an idempotency record.
pub(crate) fn save_once(
    connection: &Connection,
    story: &Story,
    answered: &IdempotencyRecord,
    now: i64,
) -> Result<(), AppendError> {
    idempotency::refuse_repeated(connection, answered)?;
    save(connection, story, now).map_err(to_append)?;
    idempotency::add(connection, answered, now).map_err(to_append)
}

/// Inserts nothing where the key exists.
const INSERT: &str = "insert into stories (
        key, title, description, acceptance, depends_on, priority, branch, pr_url,
        created_at, outline, run_status
    ) values (
        ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10,
        (select status from runs where story_key = ?1 order by number desc limit 1)
    )
    on conflict (key) do nothing";

const UPDATE: &str = "update stories
    set title = ?2, description = ?3, acceptance = ?4, depends_on = ?5, priority = ?6,
        branch = ?7, pr_url = ?8, created_at = ?9, outline = ?10
    where key = ?1";

/// How many rows were written.
fn write(
    statements: &impl Statements,
    sql: &'static str,
    story: &PreparedStory,
) -> rusqlite::Result<usize> {
    let PreparedStory { columns: it, outline, .. } = story;
    let params = params![
        it.key,
        it.title,
        it.description,
        it.acceptance,
        it.depends_on,
        it.priority,
        it.branch,
        it.pr_url,
        it.created_at,
        outline,
    ];
    count_executed(statements, sql, params)
}

/// Updates the status of a story's newest run.
pub(crate) fn run_is(
    statements: &impl Statements,
    story: &StoryKey,
    status: RunStatus,
) -> rusqlite::Result<()> {
    let sql = "update stories set run_status = ?2 where key = ?1";
    execute(statements, sql, [story.as_str(), status.name()])
}

/// For all stories, once the runs are written.
pub(crate) fn name_newest_runs(connection: &Connection) -> rusqlite::Result<()> {
    let sql = "update stories set run_status = (
                   select status from runs where story_key = stories.key
                   order by number desc limit 1
               )";
    execute(connection, sql, [])
}

pub(crate) fn find(connection: &Connection, key: &StoryKey) -> rusqlite::Result<Option<StoryRow>> {
    let sql = format!("{SELECT} where stories.key = ?1");
    connection.prepare_cached(&sql)?.query_row([key.as_str()], read).optional()
}

pub(crate) fn list(
    connection: &Connection,
    filter: &StoryFilter,
) -> rusqlite::Result<Vec<StoryRow>> {
    // No key is empty, so all of them sort after the empty text.
    let after = filter.after.as_ref().map_or("", |it| it.as_str());
    let params = params![after, limit(filter.limit)];
    connection.prepare_cached(&list_sql())?.query_map(params, read)?.collect()
}

pub(crate) fn list_sql() -> String {
    format!("{SELECT} where stories.key > ?1 order by stories.key limit ?2")
}

/// Stories that never had a run, in start order.
pub(crate) fn to_begin(
    connection: &Connection,
    after: Option<&(i64, StoryKey)>,
    most: u32,
) -> rusqlite::Result<Vec<StoryRow>> {
    let (priority, key) = match after {
        Some((priority, key)) => (*priority, key.as_str()),
        None => (i64::MAX, ""),
    };
    let sql = to_begin_sql();
    let params = params![priority, key, limit(most)];
    connection.prepare_cached(&sql)?.query_map(params, read)?.collect()
}

pub(crate) fn to_begin_sql() -> String {
    format!(
        "{SELECT} where stories.run_status is null
             and stories.priority <= ?1 and (stories.priority < ?1 or stories.key > ?2)
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

/// Reads a row that has its own number as `row_number`.
pub(crate) fn read(row: &Row<'_>) -> rusqlite::Result<StoryRow> {
    in_row(row, "stories", "row_number", |row| {
        let latest = match maybe_parsed(row, "status", RunStatus::from_name)? {
            Some(status) => Some((run_id(row, "run_id")?, status)),
            None => None,
        };
        Ok(StoryRow { story: story(row)?, created_at: time(row, "created_at")?, latest })
    })
}

pub(crate) fn story(row: &Row<'_>) -> rusqlite::Result<Story> {
    Ok(Story {
        key: parsed(row, "key", |it| StoryKey::parse(it).ok())?,
        title: row.get("title")?,
        description: row.get("description")?,
        acceptance: parsed(row, "acceptance", crate::columns::list)?,
        depends_on: parsed(row, "depends_on", keys)?,
        priority: row.get("priority")?,
        branch: row.get("branch")?,
        pr_url: row.get("pr_url")?,
    })
}

fn keys(text: &str) -> Option<Vec<StoryKey>> {
    crate::columns::list(text)?.iter().map(|it| StoryKey::parse(it).ok()).collect()
}
