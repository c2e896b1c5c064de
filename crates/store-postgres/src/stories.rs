//! Stories, with the newest run of each.

use baton_core::names::StoryKey;
use baton_core::run::RunStatus;
use baton_core::story::Story;
use baton_store::{
    AppendError, IdempotencyRecord, StoreResult, StoryColumns, StoryCounts, StoryFilter, StoryRow,
};
use jiff::Timestamp;
use tokio_postgres::Row;
use tokio_postgres::types::Type;

use crate::columns::{Columns, limit, nanoseconds, parse_list};
use crate::error::violated_index;
use crate::query::{Connections, SqlQuery};
use crate::{idempotency, story_log};

/// Adds the story of an append whose key does not exist yet, with the status of its run.
pub(crate) fn add_with_run<'a>(
    query: &mut SqlQuery<'a>,
    story: &Story,
    status: RunStatus,
    now: i64,
) {
    let columns = StoryColumns::new(story, now);
    let link = story_log::Link::of(&columns, now);
    let status = query.bind(status.name(), Type::TEXT);
    let values = bind(query, columns);
    query.sql.push_str(&format!(
        ", written_story as (
             insert into stories ({COLUMNS}, run_status)
             select {values}, {status} from moved
             on conflict (key) do nothing returning key
         )"
    ));
    story_log::add(query, link);
}

/// Updates the status of a story's newest run. A story that is added by the same statement has it
/// already.
pub(crate) fn run_is<'a>(query: &mut SqlQuery<'a>, story: &'a StoryKey, status: RunStatus) {
    let key = query.bind(story.as_str(), Type::TEXT);
    let status = query.bind(status.name(), Type::TEXT);
    query.sql.push_str(&format!(
        ", restated_story as (
             update stories set run_status = {status} from moved where key = {key}
         )"
    ));
}

/// What is done to a story.
#[derive(Clone, Copy, PartialEq, Eq)]
enum StoryWrite {
    /// Where its key does not exist.
    Add,
    /// Where it exists and was created at that time.
    Change,
}

/// Adds a story; false where its key exists already.
pub(crate) async fn add(
    connections: &Connections,
    story: &Story,
    answered: Option<&IdempotencyRecord>,
    now: Timestamp,
) -> Result<bool, AppendError> {
    if let Some(answered) = answered {
        idempotency::refuse_repeated(connections, answered).await?;
    }
    let now = nanoseconds(now)?;
    write(connections, StoryWrite::Add, StoryColumns::new(story, now), answered, now).await
}

/// Adds a story, or overwrites the existing one, which keeps its creation time.
pub(crate) async fn save(
    connections: &Connections,
    story: &Story,
    answered: Option<&IdempotencyRecord>,
    now: Timestamp,
) -> Result<(), AppendError> {
    if let Some(answered) = answered {
        idempotency::refuse_repeated(connections, answered).await?;
    }
    let now = nanoseconds(now)?;
    loop {
        let sql = "select created_at from stories where key = $1";
        let query = SqlQuery::new(sql).with(story.key.as_str(), Type::TEXT);
        let created_at: Option<i64> = match connections.read_one(&query).await? {
            Some(row) => Some(Columns::of(&row, "stories", "created_at").get("created_at")?),
            None => None,
        };
        let how = if created_at.is_some() { StoryWrite::Change } else { StoryWrite::Add };
        let columns = StoryColumns::new(story, created_at.unwrap_or(now));
        // Nothing is written where another node was faster: it is looked at again.
        if write(connections, how, columns, answered, now).await? {
            return Ok(());
        }
    }
}

/// False where the story was not as expected; nothing is written then.
async fn write(
    connections: &Connections,
    how: StoryWrite,
    columns: StoryColumns,
    answered: Option<&IdempotencyRecord>,
    now: i64,
) -> Result<bool, AppendError> {
    let mut query = SqlQuery::new("with ");
    let link = story_log::Link::of(&columns, now);
    let values = bind(&mut query, columns);
    query.sql.push_str(&match how {
        StoryWrite::Add => format!(
            "written_story as (
                 insert into stories ({COLUMNS}, run_status)
                 select new.*, (
                     select status from runs where story_key = new.key order by number desc limit 1
                 ) from (select {values}) as new ({COLUMNS})
                 on conflict (key) do nothing returning key
             )"
        ),
        StoryWrite::Change => format!(
            "written_story as (
                 update stories
                 set title = new.title, description = new.description,
                     acceptance = new.acceptance, depends_on = new.depends_on,
                     priority = new.priority, branch = new.branch, pr_url = new.pr_url,
                     outline = new.outline
                 from (select {values}) as new ({COLUMNS})
                 where stories.key = new.key and stories.created_at = new.created_at
                 returning stories.key
             )"
        ),
    });
    story_log::add(&mut query, link);
    if let Some(answered) = answered {
        idempotency::add_with_story(&mut query, answered)?;
    }
    query.sql.push_str(" select key from written_story");
    match connections.try_rows(&query).await? {
        Ok(rows) => Ok(!rows.is_empty()),
        Err(error) => {
            if violated_index(&error) == Some("answered_pkey")
                && let Some(answered) = answered
            {
                idempotency::refuse_repeated(connections, answered).await?;
            }
            Err(connections.failed(error).into())
        }
    }
}

const COLUMNS: &str = "key, title, description, acceptance, depends_on, priority, branch, pr_url,
    created_at, outline";

/// Binds the values of [`COLUMNS`]; returns their places.
fn bind(query: &mut SqlQuery<'_>, columns: StoryColumns) -> String {
    let outline = columns.outline();
    let it = columns;
    let values = [
        query.bind(it.key, Type::TEXT),
        query.bind(it.title, Type::TEXT),
        query.bind(it.description, Type::TEXT),
        query.bind(it.acceptance, Type::TEXT),
        query.bind(it.depends_on, Type::TEXT),
        query.bind(it.priority, Type::INT8),
        query.bind(it.branch, Type::TEXT),
        query.bind(it.pr_url, Type::TEXT),
        query.bind(it.created_at, Type::INT8),
        query.bind(outline, Type::TEXT),
    ];
    values.join(", ")
}

const SELECT: &str = "select
    stories.key, stories.title, stories.description, stories.acceptance, stories.depends_on,
    stories.priority, stories.branch, stories.pr_url, stories.created_at, newest.id as run_id,
    newest.status
    from stories left join lateral (
        select id, status from runs where story_key = stories.key order by number desc limit 1
    ) as newest on true";

pub(crate) async fn find(
    connections: &Connections,
    key: &StoryKey,
) -> StoreResult<Option<StoryRow>> {
    let query =
        SqlQuery::new(format!("{SELECT} where stories.key = $1")).with(key.as_str(), Type::TEXT);
    connections.read_one(&query).await?.map(|row| read(&row)).transpose()
}

pub(crate) async fn list(
    connections: &Connections,
    filter: &StoryFilter,
) -> StoreResult<Vec<StoryRow>> {
    // No key is empty, so all of them sort after the empty text.
    let after = filter.after.as_ref().map_or("", |it| it.as_str());
    let query =
        SqlQuery::new(format!("{SELECT} where stories.key > $1 order by stories.key limit $2"))
            .with(after, Type::TEXT)
            .with(limit(filter.limit), Type::INT8);
    connections.read(&query).await?.iter().map(read).collect()
}

/// Stories that never had a run, in start order.
pub(crate) async fn to_begin(
    connections: &Connections,
    after: Option<&Story>,
    most: u32,
) -> StoreResult<Vec<StoryRow>> {
    let (priority, key) = after.map_or((i64::MAX, ""), |it| (it.priority, it.key.as_str()));
    let sql = format!(
        "{SELECT} where stories.run_status is null
             and stories.priority <= $1 and (stories.priority < $1 or stories.key > $2)
         order by stories.priority desc, stories.key limit $3"
    );
    let query = SqlQuery::new(sql)
        .with(priority, Type::INT8)
        .with(key, Type::TEXT)
        .with(limit(most), Type::INT8);
    connections.read(&query).await?.iter().map(read).collect()
}

pub(crate) async fn count(connections: &Connections) -> StoreResult<StoryCounts> {
    let sql = "select
        (select count(*) from stories) as n_stories,
        (select count(*) from stories where run_status is null) as n_to_begin,
        (select count(*) from stories where run_status = 'completed') as n_completed";
    let Some(row) = connections.read_one(&SqlQuery::new(sql)).await? else {
        return Ok(StoryCounts::default());
    };
    let row = Columns::of(&row, "stories", "n_stories");
    Ok(StoryCounts {
        n_stories: row.number("n_stories")?,
        n_to_begin: row.number("n_to_begin")?,
        n_completed: row.number("n_completed")?,
    })
}

pub(crate) fn read(row: &Row) -> StoreResult<StoryRow> {
    let row = Columns::of(row, "stories", "key");
    let latest = match row.maybe_parsed("status", RunStatus::from_name)? {
        Some(status) => Some((row.run_id("run_id")?, status)),
        None => None,
    };
    let keys = |text: &str| -> Option<Vec<StoryKey>> {
        parse_list(text)?.iter().map(|it| StoryKey::parse(it).ok()).collect()
    };
    let story = Story {
        key: row.parsed("key", |it| StoryKey::parse(it).ok())?,
        title: row.get("title")?,
        description: row.get("description")?,
        acceptance: row.parsed("acceptance", parse_list)?,
        depends_on: row.parsed("depends_on", keys)?,
        priority: row.get("priority")?,
        branch: row.get("branch")?,
        pr_url: row.get("pr_url")?,
    };
    Ok(StoryRow { story, created_at: row.time("created_at")?, latest })
}
