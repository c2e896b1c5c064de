//! Every column of every table, changed in a few rows each: in all of them where each row holds
//! another kind of text.

use rusqlite::types::Value;
use rusqlite::{Connection, params};

use super::file::{DatabaseFile, Verdict, columns, tables};

/// How many rows of a table are edited, from its first to its last.
const N_ROWS: usize = 2;

/// What became of the edits of one column.
#[derive(Debug)]
pub(crate) struct ColumnEdits {
    pub(crate) table: String,
    pub(crate) column: String,
    pub(crate) n_edits: usize,
    /// Those that nothing was said about: the row, what was there, and what is there then.
    pub(crate) unnoticed: Vec<String>,
    /// What was said about the first.
    pub(crate) example: String,
}

pub(crate) async fn every_column(file: &[u8]) -> Vec<ColumnEdits> {
    let whole = DatabaseFile::of(file);
    let connection = whole.connection();
    let mut all = Vec::new();
    for table in tables(&connection).unwrap() {
        for column in columns(&connection, &table).unwrap() {
            let mut edits = ColumnEdits {
                table: table.clone(),
                column: column.clone(),
                n_edits: 0,
                unnoticed: Vec::new(),
                example: String::new(),
            };
            for edit in edits_of(&connection, &table, &column) {
                let edited = DatabaseFile::of(file);
                if edit.make(&edited.connection()) {
                    edits.n_edits += 1;
                    match edited.verdict().await {
                        Verdict::Sound => edits.unnoticed.push(format!("{edit:?}")),
                        Verdict::Refused(what) if edits.example.is_empty() => edits.example = what,
                        Verdict::Problems(it) if edits.example.is_empty() => {
                            edits.example = it[0].clone();
                        }
                        Verdict::Refused(_) | Verdict::Problems(_) => {}
                    }
                }
            }
            all.push(edits);
        }
    }
    all
}

#[derive(Debug)]
struct Edit {
    table: String,
    column: String,
    /// The condition for the row.
    row: String,
    value: Value,
}

impl Edit {
    /// False where SQLite itself does not take it.
    fn make(&self, connection: &Connection) -> bool {
        let Self { table, column, row, value } = self;
        let sql = format!("update {table} set {column} = ?1 where {row}");
        connection.execute(&sql, params![value]).is_ok_and(|n_rows| n_rows == 1)
    }
}

fn edits_of(connection: &Connection, table: &str, column: &str) -> Vec<Edit> {
    let rows = rows_of(connection, table);
    let step = match (table, column) {
        ("contents", "text") => 1,
        _ => (rows.len() / N_ROWS).max(1),
    };
    let mut picked: Vec<&String> = rows.iter().step_by(step).collect();
    picked.extend(rows.last());
    picked.dedup();
    let mut edits = Vec::new();
    for (n, row) in picked.into_iter().enumerate() {
        let sql = format!("select {column} from {table} where {row}");
        let value: Value = connection.query_row(&sql, [], |row| row.get(0)).unwrap();
        let mut values = vec![changed(&value)];
        if let Value::Integer(it) = value {
            // Far away from all that are there.
            values.push(Value::Integer(it + 100_000));
        }
        if n == 0 {
            values.extend(of_another_row(connection, table, column, row));
        }
        if n == 1 {
            values.push(Value::Null);
        }
        let edit = |value| Edit {
            table: table.to_owned(),
            column: column.to_owned(),
            row: row.clone(),
            value,
        };
        edits.extend(values.into_iter().filter(|it| *it != value).map(edit));
    }
    edits
}

/// Conditions, one for each row, in their order.
fn rows_of(connection: &Connection, table: &str) -> Vec<String> {
    let (row, order) = match table {
        "timers" => ("'run_number = ' || run_number || ' and no = ' || no", "run_number, no"),
        "lost_texts" => ("format('id = x''%s''', hex(id))", "id"),
        "lost_numbers" => ("format('counted = ''%s'' and first = %d', counted, first)", "first"),
        _ => ("'rowid = ' || rowid", "rowid"),
    };
    let sql = format!("select {row} from {table} order by {order}");
    let mut statement = connection.prepare(&sql).unwrap();
    statement.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect()
}

/// A value that is not the one that was there, and as like it as can be.
fn changed(value: &Value) -> Value {
    match value {
        Value::Null => Value::Integer(1),
        Value::Integer(it) => Value::Integer(it + 1),
        Value::Real(it) => Value::Real(it + 1.0),
        Value::Text(it) => Value::Text(format!("{it} ")),
        Value::Blob(it) => {
            let mut bytes = it.clone();
            if let Some(last) = bytes.last_mut() {
                *last ^= 1;
            }
            Value::Blob(bytes)
        }
    }
}

/// A value that Baton has written itself, only elsewhere: it passes every rule of the schema.
fn of_another_row(connection: &Connection, table: &str, column: &str, row: &str) -> Option<Value> {
    let sql = format!(
        "select {column} from {table}
         where {column} is not (select {column} from {table} where {row}) limit 1"
    );
    connection.query_row(&sql, [], |row| row.get(0)).ok()
}
