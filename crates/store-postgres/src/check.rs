//! Problems of the database itself: rows that nothing refers to, numbers with gaps, and rows that
//! are not as they were written. Events are not replayed here: `baton_engine::verify_all` does that
//! for every backend, and compares runs, handoffs and texts with them.

mod schema;

use baton_core::plural::counted;
use baton_core::run::{HandoffNo, RunId};
use baton_store::checksum::{of_answered, of_cursor, of_due, of_timer};
use baton_store::{StoreCheck, StoreResult, StoryColumns, story_link};
use baton_wire::event::{decode, decode_run, encode_run};
use tokio_postgres::{Row, Transaction};

use crate::columns::{Columns, nearest_nanoseconds};
use crate::query::{Connections, SqlQuery, rows_in};

/// Enough to see what happened; a broken table would repeat the same sentence for pages.
const MOST_IN_WORDS: usize = 10;

/// Rows that are read at once.
const PAGE: i64 = 1000;

/// Rows that must not be, one statement for each kind: `line` is the sentence about a row.
const WRONG_ROWS: &[(&str, &str)] = &[
    (
        "runs",
        "select case when number = before + 2 then format('run %s is missing', before + 1)
             else format('run %s and those after it up to %s are missing', before + 1, number - 1)
         end as line
         from (select number, lag(number, 1, 0::bigint) over (order by number) as before from runs)
             as numbered
         where number <> before + 1",
    ),
    (
        "counters",
        "select case when last is null then 'the last number given to a run is not there'
             else format('the last number given to a run is %s, and run %s is there', last, newest)
         end as line
         from (select coalesce(max(number), 0) as newest from runs) as runs
             left join counters on counted = 'runs'
         where last is distinct from newest",
    ),
    (
        "identity",
        "select 'the table `identity` has no row' as line where not exists (select from identity)",
    ),
    (
        "events",
        "select format('run %s has %s, and its version is %s', runs.number, count(events.position),
             runs.version) as line
         from runs left join events on events.run_number = runs.number
         group by runs.number, runs.version
         having count(events.position) <> runs.version or count(distinct events.version) <> runs.version
             or max(events.version) <> runs.version",
    ),
    (
        "events",
        "select format('event %s belongs to run %s, which is missing', position, run_number) as line
         from events where not exists (select 1 from runs where number = run_number)",
    ),
    (
        "handoffs",
        "select format('handoff %s belongs to run %s, which is missing', number, run_number) as line
         from handoffs
         where not exists (select 1 from runs where runs.number = handoffs.run_number)",
    ),
    (
        "contents",
        "select format('a text belongs to run %s, which is missing', run_number) as line
         from contents where not exists (select 1 from runs where number = run_number)",
    ),
    // A row that was removed looks like one that was delivered.
    (
        "outbox",
        "select format('row %s of `outbox`: no event has put it there', id) as line
         from (
             select id, position, lag(position) over (partition by run_number order by id) as before
             from (
                 select *, row_number() over (
                     partition by run_number, about, added_at order by id
                 ) as nth from outbox
             ) as numbered left join lateral (
                 select position from events
                 where events.run_number = numbered.run_number and name = about
                     and happened_at = added_at
                 order by position offset nth - 1 limit 1
             ) as put on true
         ) as placed
         where position is null or position <= before order by id",
    ),
    (
        "timers",
        "select format('a timer belongs to run %s, which is missing', run_number) as line
         from timers where not exists (select 1 from runs where number = run_number)",
    ),
    (
        "due",
        "select format('a time belongs to run %s, which is missing', run_number) as line
         from due where not exists (select 1 from runs where number = run_number)",
    ),
    (
        "stories",
        "select format('story %s: its status is not that of its newest run', key) as line
         from stories
         where run_status is distinct from (
             select status from runs where story_key = key order by number desc limit 1
         )",
    ),
    (
        "stories",
        "select format('story %s is in the story log, and missing', key) as line from story_log
         where not exists (select 1 from stories where stories.key = story_log.key) group by key",
    ),
    (
        "checkpoints",
        "select format('checkpoint %s was signed, and is missing', last) as line
         from counters where counted = 'checkpoints'
             and last > (select coalesce(max(number), 0) from checkpoints)",
    ),
    (
        "checkpoints",
        "select format('checkpoint %s is missing', before + 1) as line
         from (select number, lag(number, 1, 0::bigint) over (order by number) as before
               from checkpoints) as numbered
         where number <> before + 1",
    ),
];

/// All problems, as of one moment.
pub(crate) async fn in_full(connections: &Connections) -> StoreResult<StoreCheck> {
    let check = async |transaction: &Transaction<'_>| {
        let snapshot = SqlQuery::new("set transaction isolation level repeatable read, read only");
        rows_in(transaction, &snapshot).await?;
        let mut found = StoreCheck::default();
        found.extend(in_words("the schema", schema::problems(transaction).await?));
        found.extend(in_words("schema_migrations", schema::migrations(transaction).await?));
        for (table, sql) in WRONG_ROWS {
            let rows = rows_in(transaction, &SqlQuery::new(*sql)).await?;
            let lines = rows.iter().map(|row| Columns::of(row, "check", "line").get("line"));
            found.extend(in_words(table, lines.collect::<StoreResult<_>>()?));
        }
        for (table, sql, judge) in READ_ROWS {
            found.extend(in_words(table, judged(transaction, sql, *judge).await?));
        }
        found.extend(in_words("story_log", stories(transaction).await?));
        Ok::<_, baton_store::StoreError>(found)
    };
    connections.transaction(check).await
}

fn in_words(table: &str, mut lines: Vec<String>) -> StoreCheck {
    let n_problems = lines.len() as u64;
    if lines.len() > MOST_IN_WORDS {
        let n_more = (lines.len() - MOST_IN_WORDS) as u64;
        lines.truncate(MOST_IN_WORDS);
        lines.push(format!("`{table}`: {}", counted(n_more, "more problem")));
    }
    StoreCheck { problems: lines, n_problems }
}

/// What is wrong with a row; `None` where nothing is.
type JudgeRow = fn(Columns<'_>) -> StoreResult<Option<String>>;

const NOT_AS_WRITTEN: &str = "is not as it was written";

/// Rows that have to be decoded to be judged. Each statement is read in pages.
const READ_ROWS: &[(&str, &str, JudgeRow)] = &[
    (
        "runs",
        "select number, id, story_key, workflow, status, baton, current_agent, started_at, moved_at,
             state, exists (select 1 from waiting where run_number = number) as is_waiting,
             exists (select 1 from blocked where run_number = number) as is_blocked
         from runs order by number",
        run,
    ),
    ("events", "select position, name, body from events order by position", event),
    (
        "answered",
        "select scope, key, request, answered_at, answer, checksum from answered
         order by scope, key",
        answered,
    ),
    ("cursors", "select projector, position, checksum from cursors order by projector", cursor),
    (
        "timers",
        "select runs.id as run_id, timers.run_number, timers.no, timers.fence, timers.due_at,
             timers.checksum
         from timers join runs on runs.number = timers.run_number
         order by timers.run_number, timers.no",
        timer,
    ),
    (
        "due",
        "select runs.id as run_id, due.run_number, due.due_at, due.checksum
         from due join runs on runs.number = due.run_number order by due.run_number",
        due,
    ),
];

async fn judged(
    transaction: &Transaction<'_>,
    sql: &str,
    judge: JudgeRow,
) -> StoreResult<Vec<String>> {
    let mut lines = Vec::new();
    let cursor = format!("declare checked no scroll cursor for {sql}");
    rows_in(transaction, &SqlQuery::new(cursor)).await?;
    loop {
        let rows =
            rows_in(transaction, &SqlQuery::new(format!("fetch {PAGE} from checked"))).await?;
        for row in &rows {
            match judge(Columns::of(row, "check", "number")) {
                Ok(line) => lines.extend(line),
                Err(error) => lines.push(error.to_string()),
            }
        }
        if rows.len() < usize::try_from(PAGE).unwrap_or(usize::MAX) {
            break;
        }
    }
    rows_in(transaction, &SqlQuery::new("close checked")).await?;
    Ok(lines)
}

/// The columns of a run repeat parts of its state, for searching: they must agree.
fn run(row: Columns<'_>) -> StoreResult<Option<String>> {
    let number = row.number("number")?;
    let state: &str = row.get("state")?;
    let Ok(run) = decode_run(state) else {
        return Ok(Some(format!("run {number} has a state that cannot be read")));
    };
    if encode_run(&run) != state {
        return Ok(Some(format!("run {number} has a state that Baton does not write so")));
    }
    let columns = [
        ("id", row.run_id("id")? == run.id),
        ("story_key", row.get::<&str>("story_key")? == run.story.as_str()),
        ("workflow", row.get::<&str>("workflow")? == run.workflow.as_str()),
        ("status", row.get::<&str>("status")? == run.status.name()),
        ("baton", row.get::<&str>("baton")? == run.baton().name()),
        (
            "current_agent",
            row.get::<Option<&str>>("current_agent")? == run.current_agent().map(|it| it.as_str()),
        ),
        ("started_at", row.get::<i64>("started_at")? == nearest_nanoseconds(run.started_at)),
        ("moved_at", row.get::<i64>("moved_at")? == nearest_nanoseconds(run.moved_at)),
        ("waiting", row.get::<bool>("is_waiting")? == run.is_waiting()),
        ("blocked", row.get::<bool>("is_blocked")? == run.is_blocked()),
    ];
    let wrong = columns.into_iter().find(|(_, is_equal)| !is_equal);
    Ok(wrong.map(|(column, _)| format!("run {number}: `{column}` differs from its state")))
}

fn event(row: Columns<'_>) -> StoreResult<Option<String>> {
    let position = row.number("position")?;
    let name: &str = row.get("name")?;
    Ok(match decode(row.get("body")?) {
        Ok(event) if event.name() == name => None,
        Ok(event) => Some(format!("event {position} is called {name}, and is {}", event.name())),
        Err(_) => Some(format!("event {position} cannot be read")),
    })
}

fn answered(row: Columns<'_>) -> StoreResult<Option<String>> {
    let (scope, key, answer): (&str, &str, &str) =
        (row.get("scope")?, row.get("key")?, row.get("answer")?);
    let sum = of_answered(scope, key, row.get("request")?, row.get("answered_at")?, answer);
    Ok(differs(row, sum)?.then(|| format!("the answer to the key {key} {NOT_AS_WRITTEN}")))
}

fn cursor(row: Columns<'_>) -> StoreResult<Option<String>> {
    let projector: &str = row.get("projector")?;
    let sum = of_cursor(projector, row.get("position")?);
    Ok(differs(row, sum)?.then(|| format!("the cursor of {projector} {NOT_AS_WRITTEN}")))
}

fn timer(row: Columns<'_>) -> StoreResult<Option<String>> {
    let (run, no): (RunId, _) = (row.run_id("run_id")?, HandoffNo(row.small("no")?));
    let sum = of_timer(run, no, row.maybe_small("fence")?, row.get("due_at")?);
    let number = row.number("run_number")?;
    Ok(differs(row, sum)?.then(|| format!("the timer of {no} in run {number} {NOT_AS_WRITTEN}")))
}

fn due(row: Columns<'_>) -> StoreResult<Option<String>> {
    let sum = of_due(row.run_id("run_id")?, row.get("due_at")?);
    let number = row.number("run_number")?;
    Ok(differs(row, sum)?.then(|| format!("when run {number} is due {NOT_AS_WRITTEN}")))
}

fn differs(row: Columns<'_>, expected: i64) -> StoreResult<bool> {
    Ok(row.get::<i64>("checksum")? != expected)
}

/// The chain of the stories' versions is whole, and the last version of each story is the story.
async fn stories(transaction: &Transaction<'_>) -> StoreResult<Vec<String>> {
    let mut lines = Vec::new();
    let sql = "select number, key, written_at, story, hash from story_log order by number";
    let mut head = [0; 32];
    let mut last = 0;
    for row in &rows_in(transaction, &SqlQuery::new(sql)).await? {
        let row = Columns::of(row, "story_log", "number");
        let (number, key): (u64, &str) = (row.number("number")?, row.get("key")?);
        if number != last + 1 {
            lines.push(format!("link {} of the story log is missing", last + 1));
        }
        let hash = row.bytes("hash")?;
        if story_link(&head, key, row.get("written_at")?, &row.bytes("story")?) != hash {
            lines.push(format!("link {number} of the story log does not follow the one before it"));
        }
        (head, last) = (hash, number);
    }
    let rows =
        rows_in(transaction, &SqlQuery::new("select id, n_links, head from story_chain")).await?;
    let is_end = |row: &Row| {
        let row = Columns::of(row, "story_chain", "id");
        Ok::<_, baton_store::StoreError>(
            (row.number("n_links")?, row.bytes("head")?) == (last, head),
        )
    };
    if !rows.first().map_or(Ok(false), is_end)? {
        lines.push("the story log does not end where it was written to last".to_owned());
    }
    let sql = "select stories.*, log.story as logged from stories left join lateral (
                   select story from story_log where story_log.key = stories.key
                   order by number desc limit 1
               ) as log on true";
    for row in &rows_in(transaction, &SqlQuery::new(sql)).await? {
        let row = Columns::of(row, "stories", "key");
        let columns = story_columns(row)?;
        if row.get::<Option<&[u8]>>("logged")? != Some(&columns.digest()[..]) {
            lines.push(format!("story {} {NOT_AS_WRITTEN}", columns.key));
        } else if row.get::<&str>("outline")? != columns.outline() {
            lines.push(format!("story {}: its outline does not follow from its key", columns.key));
        }
    }
    Ok(lines)
}

fn story_columns(row: Columns<'_>) -> StoreResult<StoryColumns> {
    Ok(StoryColumns {
        key: row.get("key")?,
        title: row.get("title")?,
        description: row.get("description")?,
        acceptance: row.get("acceptance")?,
        depends_on: row.get("depends_on")?,
        priority: row.get("priority")?,
        branch: row.get("branch")?,
        pr_url: row.get("pr_url")?,
        created_at: row.get("created_at")?,
    })
}
