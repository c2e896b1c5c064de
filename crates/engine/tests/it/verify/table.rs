//! `docs/verify-columns.md`: what each column is checked against, and whether an edit of it is
//! found, as tried.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use expect_test::expect_file;

use super::edits::{ColumnEdits, every_column};
use super::file::{NO_MEANING, PARTLY, Verdict};
use super::rows::{ROW_EDITS, every_row_edit};
use super::{file, populated};

const CHAIN: &str = "the chain of the run's events";
const EVENTS: &str = "what the events of the run tell";
const STATE: &str = "the state of the run, in the same row";
const CONTENT: &str = "the id, which is a hash over nonce and text, and the events that name it";
const SHARED: &str = "the id, which is a hash over the text, and the events that name it";
const LOG: &str = "the story log";
const CHECKSUM: &str = "the checksum of the row";
const ORDER: &str = "the numbers before and after it, and the order of the log";

/// What each column is checked against. A new one has to be entered here.
const CHECKED_AGAINST: &[(&str, &str, &str)] = &[
    ("answered", "scope", CHECKSUM),
    ("answered", "key", CHECKSUM),
    ("answered", "request", CHECKSUM),
    ("answered", "answered_at", CHECKSUM),
    ("answered", "answer", CHECKSUM),
    ("answered", "checksum", "the other columns of the row"),
    ("blocked", "run_number", "the states of the runs"),
    ("checkpoints", "number", "the text, which is signed"),
    ("checkpoints", "text", "the signature, and the log that it tells of"),
    ("checkpoints", "signature", "the text"),
    ("contents", "run_number", "the events of the run, which name its texts"),
    ("contents", "id", CONTENT),
    ("contents", "nonce", CONTENT),
    ("contents", "kind", "what the events take the text for"),
    ("contents", "format", "whether the text, read in this format, has the package hash"),
    ("contents", "hash", "the text, read in its format"),
    ("contents", "text", CONTENT),
    ("cursors", "projector", CHECKSUM),
    ("cursors", "position", CHECKSUM),
    ("cursors", "checksum", "the other columns of the row"),
    ("definitions", "hash", "the text, and the runs that are pinned to it"),
    ("definitions", "name", "the name in the text"),
    ("definitions", "text", "the hash that runs are pinned to"),
    ("derivations", "of_column", "the columns that Baton works out"),
    ("derivations", "rule", "nothing: by another rule, the column is made anew at the next start"),
    ("due", "run_number", "the checksum of the row, and the rules of the workflow"),
    ("due", "due_at", "the checksum of the row, and the rules of the workflow"),
    ("due", "checksum", "the other columns of the row"),
    ("events", "position", ORDER),
    ("events", "run_number", CHAIN),
    ("events", "version", CHAIN),
    ("events", "happened_at", CHAIN),
    ("events", "name", "the body"),
    ("events", "done_by", CHAIN),
    ("events", "hash", CHAIN),
    ("events", "body", CHAIN),
    ("handoffs", "number", ORDER),
    ("handoffs", "id", EVENTS),
    ("handoffs", "run_number", EVENTS),
    ("handoffs", "no", EVENTS),
    ("handoffs", "kind", EVENTS),
    ("handoffs", "from_agent", EVENTS),
    ("handoffs", "from_place", EVENTS),
    ("handoffs", "to_agent", EVENTS),
    ("handoffs", "to_place", EVENTS),
    ("handoffs", "state", EVENTS),
    ("handoffs", "outcome", EVENTS),
    ("handoffs", "package", EVENTS),
    ("handoffs", "reason", EVENTS),
    ("handoffs", "ended_reason", EVENTS),
    ("handoffs", "acknowledgement", EVENTS),
    ("handoffs", "attempt", EVENTS),
    ("handoffs", "follows", EVENTS),
    ("handoffs", "approved_by", EVENTS),
    ("handoffs", "warnings", EVENTS),
    ("handoffs", "is_stale", EVENTS),
    ("handoffs", "created_at", EVENTS),
    ("handoffs", "accepted_at", EVENTS),
    ("handoffs", "ended_at", EVENTS),
    ("handoffs", "score", EVENTS),
    ("identity", "id", "there is one row, and it is 1"),
    (
        "identity",
        "project",
        "the checksum of the row, and `baton.mark` whenever the file is opened",
    ),
    ("identity", "epoch", "the checksum of the row, and `baton.mark` whenever the file is opened"),
    ("identity", "mark", "the checksum of the row, and `baton.mark` whenever the file is opened"),
    ("identity", "checksum", "the other columns of the row"),
    ("lost_numbers", "counted", "the gaps in the numbers of each table"),
    ("lost_numbers", "first", "the gaps in the numbers of each table"),
    ("lost_numbers", "last", "the gaps in the numbers of each table"),
    ("lost_texts", "run_number", "the events of the run, and the texts that are there"),
    ("lost_texts", "id", "the events of the run, and the texts that are there"),
    ("outbox", "id", "the order of the events that have put rows there"),
    ("outbox", "run_number", "the event that has put it there"),
    ("outbox", "about", "the event that has put it there"),
    ("outbox", "added_at", "the event that has put it there"),
    ("runs", "number", ORDER),
    ("runs", "id", STATE),
    ("runs", "version", "the number of its events"),
    ("runs", "head", "the hash of its last event"),
    ("runs", "story_key", STATE),
    ("runs", "workflow", STATE),
    ("runs", "status", STATE),
    ("runs", "baton", STATE),
    ("runs", "current_agent", STATE),
    ("runs", "started_at", STATE),
    ("runs", "moved_at", STATE),
    ("runs", "state", "a replay of the events, and the way Baton writes it"),
    ("schema_migrations", "number", "the migrations of this Baton"),
    ("schema_migrations", "name", "the migrations of this Baton"),
    ("schema_migrations", "hash", "the migrations of this Baton, whenever the file is opened"),
    ("schema_migrations", "applied_at", "nothing: for people who look into the file"),
    ("shared_texts", "id", SHARED),
    ("shared_texts", "text", SHARED),
    ("sqlite_sequence", "name", "the tables that count"),
    ("sqlite_sequence", "seq", "the last number in the table; of the outbox, the number of events"),
    ("stories", "key", LOG),
    ("stories", "title", LOG),
    ("stories", "description", LOG),
    ("stories", "acceptance", LOG),
    ("stories", "depends_on", LOG),
    ("stories", "priority", LOG),
    ("stories", "branch", LOG),
    ("stories", "pr_url", LOG),
    ("stories", "created_at", LOG),
    ("stories", "outline", "the key"),
    ("stories", "run_status", "the newest run of the story"),
    ("story_log", "number", ORDER),
    ("story_log", "key", "the chain of the story log"),
    ("story_log", "written_at", "the chain of the story log"),
    ("story_log", "story", "the chain of the story log, and the story"),
    ("story_log", "hash", "the chain of the story log"),
    ("timers", "run_number", EVENTS),
    ("timers", "no", EVENTS),
    ("timers", "kind", EVENTS),
    ("timers", "fence", EVENTS),
    ("timers", "seconds", EVENTS),
    ("timers", "due_at", "the events; where it is the end of a lease, the checksum of the row"),
    ("timers", "checksum", "the other columns of the row"),
    ("waiting", "run_number", "the states of the runs"),
];

#[tokio::test]
async fn every_edit_is_found_or_is_in_the_table_as_one_that_is_not() {
    let file = populated::file().await;
    let columns = every_column(&file).await;
    let rows = every_row_edit(&file).await;
    expect_file!["../../../../../docs/verify-columns.md"].assert_eq(&page(&columns, &rows));
    for edits in &columns {
        let ColumnEdits { table, column, n_edits, unnoticed, .. } = edits;
        assert!(*n_edits > 0, "no edit of {table}.{column} could be made");
        if partly(table, column).is_some() {
            assert!(unnoticed.len() < *n_edits, "{table}.{column}: {unnoticed:#?}");
            continue;
        }
        let carries_meaning = !NO_MEANING.contains(&(table.as_str(), column.as_str()));
        assert_eq!(unnoticed.is_empty(), carries_meaning, "{table}.{column}: {unnoticed:#?}");
    }
    for (edit, verdict) in ROW_EDITS.iter().zip(&rows) {
        assert_eq!(verdict.is_found(), edit.is_found, "{}: {verdict:?}", edit.what);
    }
}

#[tokio::test]
async fn every_column_says_what_it_is_checked_against() {
    let file = file::DatabaseFile::of(&populated::file().await);
    let connection = file.connection();
    let mut actual = Vec::new();
    for table in file::tables(&connection).unwrap() {
        for column in file::columns(&connection, &table).unwrap() {
            actual.push(format!("{table}.{column}"));
        }
    }
    let entered: Vec<String> =
        CHECKED_AGAINST.iter().map(|(table, column, _)| format!("{table}.{column}")).collect();
    assert_eq!(actual, entered, "enter new columns in CHECKED_AGAINST");
}

/// The ids of texts are random.
fn without_ids(problem: &str) -> String {
    let is_id = |it: &str| it.len() == 64 && it.bytes().all(|it| it.is_ascii_hexdigit());
    let words: Vec<&str> = problem.split(' ').map(|it| if is_id(it) { "…" } else { it }).collect();
    words.join(" ")
}

fn partly(table: &str, column: &str) -> Option<&'static str> {
    PARTLY.iter().find(|it| (it.0, it.1) == (table, column)).map(|it| it.2)
}

fn page(columns: &[ColumnEdits], rows: &[Verdict]) -> String {
    let mut page = "<!-- Made by the test `every_edit_is_found_or_is_in_the_table_as_one_that_is_not`. \
                    -->\n\n# What `baton verify` finds, as tried\n\n\
                    Each column was changed by another program in a few rows of a database with a \
                    little of everything: to a value like it, to the value of another row, to null. \
                    [verify.md](verify.md) says what this is worth, and against whom.\n\n\
                    | table | column | checked against | an edit is |\n|---|---|---|---|\n"
        .to_owned();
    let against: BTreeMap<(&str, &str), &str> =
        CHECKED_AGAINST.iter().map(|(table, column, what)| ((*table, *column), *what)).collect();
    for edits in columns {
        let ColumnEdits { table, column, unnoticed, .. } = edits;
        let what = against.get(&(table.as_str(), column.as_str())).unwrap_or(&"**nothing**");
        let is_found = match (unnoticed.is_empty(), partly(table, column)) {
            (true, _) => "found",
            (false, Some(what)) => what,
            (false, None) => "**not found**",
        };
        let _ = writeln!(page, "| `{table}` | `{column}` | {what} | {is_found} |");
    }
    page.push_str(
        "\n## Rows and the schema\n\n| what was done | it is | first problem |\n|---|---|---|\n",
    );
    for (edit, verdict) in ROW_EDITS.iter().zip(rows) {
        let (is_found, first) = match verdict {
            Verdict::Sound => ("**not found**", String::new()),
            Verdict::Refused(_) => ("refused when it is opened", String::new()),
            Verdict::Problems(problems) => ("found", without_ids(&problems[0])),
        };
        let _ = writeln!(page, "| {} | {is_found} | {first} |", edit.what);
    }
    page
}
