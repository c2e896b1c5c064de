//! Rows taken out, put in and exchanged, and the schema changed.

use super::file::{DatabaseFile, Verdict};

/// What another program does, and whether `baton verify` sees it.
pub(crate) struct RowEdit {
    pub(crate) what: &'static str,
    pub(crate) sql: &'static str,
    pub(crate) is_found: bool,
}

const fn found(what: &'static str, sql: &'static str) -> RowEdit {
    RowEdit { what, sql, is_found: true }
}

const fn unseen(what: &'static str, sql: &'static str) -> RowEdit {
    RowEdit { what, sql, is_found: false }
}

pub(crate) const ROW_EDITS: &[RowEdit] = &[
    found(
        "a whole run is removed from every table",
        "delete from contents where run_number = 3; delete from timers where run_number = 3;
         delete from outbox where run_number = 3; delete from waiting where run_number = 3;
         delete from due where run_number = 3; delete from blocked where run_number = 3;
         delete from lost_texts where run_number = 3;
         delete from events where run_number = 3; delete from handoffs where run_number = 3;
         delete from runs where number = 3;
         update stories set run_status = (select status from runs where story_key = stories.key
             order by number desc limit 1)",
    ),
    found(
        "the newest run is removed from every table",
        "delete from contents where run_number = (select max(number) from runs);
         delete from timers where run_number = (select max(number) from runs);
         delete from outbox where run_number = (select max(number) from runs);
         delete from waiting where run_number = (select max(number) from runs);
         delete from due where run_number = (select max(number) from runs);
         delete from blocked where run_number = (select max(number) from runs);
         delete from lost_texts where run_number = (select max(number) from runs);
         delete from events where run_number = (select max(number) from runs);
         delete from handoffs where run_number = (select max(number) from runs);
         delete from runs where number = (select max(number) from runs);
         update stories set run_status = (select status from runs where story_key = stories.key
             order by number desc limit 1)",
    ),
    found(
        "the newest run is removed from every table, and the last numbers are set back",
        "delete from contents where run_number = (select max(number) from runs);
         delete from timers where run_number = (select max(number) from runs);
         delete from outbox where run_number = (select max(number) from runs);
         delete from waiting where run_number = (select max(number) from runs);
         delete from due where run_number = (select max(number) from runs);
         delete from blocked where run_number = (select max(number) from runs);
         delete from lost_texts where run_number = (select max(number) from runs);
         delete from events where run_number = (select max(number) from runs);
         delete from handoffs where run_number = (select max(number) from runs);
         delete from runs where number = (select max(number) from runs);
         update stories set run_status = (select status from runs where story_key = stories.key
             order by number desc limit 1);
         update sqlite_sequence set seq = (select max(number) from runs) where name = 'runs';
         update sqlite_sequence set seq = (select max(number) from handoffs)
             where name = 'handoffs';
         update sqlite_sequence set seq = (select max(position) from events)
             where name = 'events'",
    ),
    found("an event is removed", "delete from events where position = 9"),
    found(
        "the last event is removed",
        "delete from events where position = (select max(position) from events)",
    ),
    found(
        "the last event gets another position",
        "update events set position = position + 5
         where position = (select max(position) from events)",
    ),
    found(
        "two events of one run are exchanged",
        "update events set position = -1 where position = 1;
         update events set position = 1 where position = 2;
         update events set position = 2 where position = -1",
    ),
    found(
        "an event is put in twice",
        "insert into events (run_number, version, happened_at, name, done_by, hash, body)
         select run_number, version, happened_at, name, done_by, hash, body from events
         where position = 2",
    ),
    found("a handoff is removed", "delete from handoffs where number = 2"),
    found(
        "two handoffs exchange their numbers",
        "update handoffs set number = -1 where number = 1;
         update handoffs set number = 1 where number = 2;
         update handoffs set number = 2 where number = -1",
    ),
    found(
        "a handoff is put in",
        "insert into handoffs (
             id, run_number, no, kind, from_agent, from_place, to_agent, to_place, state, reason,
             attempt, created_at
         ) select zeroblob(16), run_number, no + 50, kind, from_agent, from_place, to_agent,
             to_place, state, reason, attempt, created_at
         from handoffs where number = 1",
    ),
    found("a text is removed", "delete from contents where rowid = 4"),
    found(
        "a text is put in that no event names",
        "insert into contents (run_number, id, nonce, kind, text)
         values (1, zeroblob(32), zeroblob(16), 'words', 'never written')",
    ),
    found("a text that all runs share is removed", "delete from shared_texts where rowid = 1"),
    found(
        "the events of a run are removed",
        "delete from events where run_number = 2",
    ),
    found("a story is removed", "delete from stories where key = 'settings'"),
    found(
        "a story is put in",
        "insert into stories (key, title, description, acceptance, depends_on, priority, created_at)
         values ('sneaked', 'x', '', '[]', '[]', 0, 1)",
    ),
    found(
        "the last link of the story log is removed",
        "delete from story_log where number = (select max(number) from story_log)",
    ),
    found(
        "a story is set back to what it was before its last change, in the story log too",
        "update stories set title = 'Settings' where key = 'settings';
         update story_log set story = (
             select story from story_log where key = 'settings' order by number limit 1
         ) where number = (select max(number) from story_log where key = 'settings')",
    ),
    found(
        "a workflow is removed",
        "delete from definitions",
    ),
    found(
        "a workflow is put in",
        "insert into definitions (hash, name, text) values (zeroblob(32), 'mine', 'name: mine')",
    ),
    unseen(
        "an answer to an idempotency key is removed",
        "delete from answered where rowid = 1",
    ),
    found(
        "an answer to an idempotency key is put in",
        "insert into answered (scope, key, request, answered_at, answer)
         values ('somebody', 'key', zeroblob(32), 1, '')",
    ),
    unseen("a row of the outbox is removed", "delete from outbox where id = 1"),
    found(
        "a row of the outbox is put in twice",
        "insert into outbox (run_number, about, added_at)
         select run_number, about, added_at from outbox where id = 1",
    ),
    unseen("a cursor is removed", "delete from cursors"),
    found("a cursor is put in", "insert into cursors (projector, position) values ('other', 1)"),
    found("a timer is removed", "delete from timers"),
    found(
        "a timer is put in",
        "insert into timers (run_number, no, kind, due_at) values (2, 1, 'wake', 1)",
    ),
    found("a waiting run is not listed", "delete from waiting"),
    found(
        "a run is listed as waiting that does not",
        "insert into waiting select number from runs
         where number not in (select run_number from waiting) limit 1",
    ),
    found("a blocked run is not listed", "delete from blocked"),
    found(
        "a run is listed as blocked that is not",
        "insert into blocked select number from runs
         where number not in (select run_number from blocked) limit 1",
    ),
    found("no run is to be looked at", "delete from due"),
    found(
        "a run that is over is to be looked at",
        "insert into due (run_number, due_at)
         select number, 1 from runs where status = 'cancelled' limit 1",
    ),
    found("a migration is not listed", "delete from schema_migrations where number = 3"),
    found(
        "a migration is listed that there is not",
        "insert into schema_migrations values (-1, 'x', zeroblob(32), 1)",
    ),
    found("the last numbers are removed", "delete from sqlite_sequence"),
    found("a last number is listed twice", "insert into sqlite_sequence values ('runs', 99)"),
    found(
        "the last number of the outbox is raised",
        "update sqlite_sequence set seq = seq + 1000 where name = 'outbox'",
    ),
    found(
        "a trigger is added",
        "create trigger t before update on handoffs when new.state = 'rejected'
         begin select raise(ignore); end",
    ),
    found("a table is added", "create table mine (x)"),
    found("an index is added", "create index mine on events (hash)"),
    found("a view is added", "create view mine as select 1"),
    found("the rule of one open run is dropped", "drop index runs_open_by_story"),
    found("an index that reads need is dropped", "drop index handoffs_by_run"),
    found(
        "an index is exchanged for another of its name",
        "drop index runs_open; create index runs_open on runs (status)",
    ),
    found("the view of the pipeline API is dropped", "drop view agent_handoffs"),
    found(
        "the view of the pipeline API is exchanged",
        "drop view agent_handoffs; create view agent_handoffs as select 1 as id",
    ),
    found("a table is dropped", "drop table timers"),
    found("a column is added", "alter table stories add column mine text"),
    found("`user_version` is set", "pragma user_version = 7"),
    found("`application_id` is set", "pragma application_id = 7"),
    found(
        "two neighbouring events of different runs are exchanged, neither of which makes a run or \
         a handoff",
        "create temp table pair as
             select a.position as one, b.position as other from events a join events b
             on b.position > a.position and a.run_number <> b.run_number
             where a.name not in ('run.started', 'handoff.created')
                 and b.name not in ('run.started', 'handoff.created')
                 and not exists (
                     select 1 from events c where c.position > a.position
                         and c.position < b.position and c.run_number in (a.run_number, b.run_number)
                 )
             limit 1;
         update events set position = -1 where position = (select one from pair);
         update events set position = (select one from pair)
             where position = (select other from pair);
         update events set position = (select other from pair) where position = -1",
    ),
    found(
        "all that was told since some event is removed, and the last numbers are set back",
        "delete from timers; delete from waiting; delete from blocked; delete from due;
         delete from outbox; delete from answered;
         delete from contents where run_number > 3; delete from lost_texts where run_number > 3;
         delete from events where run_number > 3; delete from handoffs where run_number > 3;
         delete from runs where number > 3;
         update sqlite_sequence set seq = 3 where name = 'runs'",
    ),
    found("the first checkpoint is removed", "delete from checkpoints where number = 1"),
    found(
        "the last checkpoint is removed",
        "delete from checkpoints where number = (select max(number) from checkpoints)",
    ),
    unseen(
        "the last checkpoint is removed, and the last number is set back",
        "delete from checkpoints where number = (select max(number) from checkpoints);
         update sqlite_sequence set seq = seq - 1 where name = 'checkpoints'",
    ),
    found(
        "two checkpoints are exchanged",
        "update checkpoints set number = -1 where number = 1;
         update checkpoints set number = 1 where number = 2;
         update checkpoints set number = 2 where number = -1",
    ),
    found(
        "a checkpoint is put in twice",
        "insert into checkpoints (text, signature) select text, signature from checkpoints
         where number = 1",
    ),
    found("a text is exchanged for another of its run",
        "create temp table pair as select a.rowid as one, b.rowid as other from contents a
             join contents b on a.run_number = b.run_number and a.rowid < b.rowid limit 1;
         update contents set text = (select text from contents where rowid = (select other from pair))
             where rowid = (select one from pair)",
    ),
    found("two runs exchange their states",
        "create temp table states as select number, state from runs where number in (1, 2);
         update runs set state = (select state from states where number = 2) where number = 1;
         update runs set state = (select state from states where number = 1) where number = 2",
    ),
    found("a run is removed, and nothing else", "delete from runs where number = 2"),
    found("all events are removed", "delete from events"),
    found("all handoffs are removed", "delete from handoffs"),
    found("all texts are removed", "delete from contents"),
    found(
        "all texts are removed, and said to be lost",
        "insert or ignore into lost_texts (run_number, id) select run_number, id from contents;
         delete from contents",
    ),
    found("all stories are removed", "delete from stories"),
    found("the story log is removed", "delete from story_log"),
    found(
        "a story that never had a run is removed, and its only link of the story log, and the last \
         number is set back",
        "delete from stories where key = 'late';
         delete from story_log where number = (select max(number) from story_log);
         update sqlite_sequence set seq = seq - 1 where name = 'story_log'",
    ),
    found("the identity is removed", "delete from identity"),
    found("what was lost is not said any more", "delete from lost_numbers"),
    found("a text that was lost is not said to be any more", "delete from lost_texts"),
    found(
        "a text is said to be lost that is there",
        "insert into lost_texts (run_number, id)
         select run_number, id from contents order by rowid limit 1",
    ),
];

/// What Baton says of each, in their order.
pub(crate) async fn every_row_edit(file: &[u8]) -> Vec<Verdict> {
    let mut verdicts = Vec::new();
    for edit in ROW_EDITS {
        let edited = DatabaseFile::of(file);
        let connection = edited.connection();
        let before = connection.total_changes();
        connection.execute_batch(edit.sql).unwrap_or_else(|error| panic!("{}: {error}", edit.what));
        let is_ddl =
            ["create", "drop", "alter", "pragma"].iter().any(|it| edit.sql.starts_with(it));
        assert!(is_ddl || connection.total_changes() > before, "{} changes nothing", edit.what);
        drop(connection);
        verdicts.push(edited.verdict().await);
    }
    verdicts
}
