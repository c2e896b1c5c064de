//! One byte of one stored text is changed by a bad disk: every reader that shows the text says so,
//! and every other goes on as before.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use baton_http::ServerLimits;
use baton_store_sqlite::DATABASE_FILE;
use rusqlite::Connection;
use serde_json::Value;

use crate::store_place::StorePlace;
use crate::world::*;

const PLAN: &str = r#"{"outcome":"success","profile":"lenient","package":{"summary":"sum",
    "plan":["one"],"decisions":[{"decision":"use sqlite","rationale":"it is there"}]}}"#;
const SPECIFIED: &str = r#"{"outcome":"success","package":{"summary":"x","deliverable":"y"},
    "profile":"lenient"}"#;
const BLOCKED: &str = r#"{"outcome":"blocked","reason":"stuck","package":{"summary":"x",
    "blockers":["no key for the store"]},"profile":"lenient"}"#;
const UNDERSTOOD: &str = r#"{"acknowledgement":{"task_understanding":"plan the log-in"}}"#;

/// The handoffs to people in these runs.
const GATES: [u32; 2] = [6, 8];

/// What a reader answered: the path, the status and the text.
type Shown = (String, u16, String);

/// Three runs with every kind of text: one with an acknowledgement, decisions, a question, an
/// answer and a rejection; one with a comment at a gate and a blocker; one that was cancelled.
async fn populated() -> StorePlace {
    let world = world().await;
    let post = async |path: &str, body: &str| {
        let reply = world.post(path, body).await;
        assert!(matches!(reply.status, 200 | 201), "{path}: {}", reply.text);
    };
    world.started("s-1", PIPELINE).await;
    post("/api/v1/handoffs/1/accept", UNDERSTOOD).await;
    post("/api/v1/handoffs/1/complete", PLAN).await;
    post("/api/v1/handoffs/s-1%2FHO-002/clarify", r#"{"question":"which port?"}"#).await;
    post("/api/v1/handoffs/s-1%2FHO-003/answer", r#"{"answer":"8080, as before"}"#).await;
    post("/api/v1/handoffs/s-1%2FHO-002/reject", r#"{"reason":"the plan has no tests"}"#).await;
    world.started("s-2", GATED).await;
    post("/api/v1/handoffs/s-2%2FHO-001/accept", "{}").await;
    post("/api/v1/handoffs/s-2%2FHO-001/complete", SPECIFIED).await;
    let approve = r#"{"answer":"approve","comment":"fine by me"}"#;
    post("/api/v1/inbox/s-2%2FHO-002/answer", approve).await;
    post("/api/v1/handoffs/s-2%2FHO-003/accept", "{}").await;
    post("/api/v1/handoffs/s-2%2FHO-003/complete", BLOCKED).await;
    world.started("s-3", PIPELINE).await;
    post("/api/v1/runs/s-3/cancel", r#"{"reason":"not wanted any more"}"#).await;
    world.stop().await
}

/// Everything that can be read, as one server shows it.
async fn shown(world: &World) -> Vec<Shown> {
    let mut paths: Vec<String> = [
        "/",
        "/runs/1",
        "/runs/2",
        "/runs/3",
        "/api/v1/handoffs?limit=500",
        "/api/v1/inbox",
        "/api/v1/blockers",
        "/api/v1/runs/2/decisions",
        "/api/v1/runs/3/completion",
        "/api/v1/workflows/3/handoffs",
        "/api/handoffs?storyId=s-1",
        "/api/handoffs?storyId=s-2",
        "/api/handoffs?agent=analyst",
    ]
    .map(str::to_owned)
    .to_vec();
    let runs = world.get("/api/v1/runs").await.is(200);
    let ids = texts(&runs, "id");
    paths.extend(ids.iter().map(|it| format!("/api/v1/workflows/{it}/handoffs")));
    for n in 1..=8 {
        paths.push(format!("/handoffs/{n}"));
        paths.push(format!("/api/v1/handoffs/{n}"));
        paths.push(format!("/api/v1/handoffs/{n}/package"));
        // A person is sent no prompt.
        if !GATES.contains(&n) {
            paths.push(format!("/api/v1/handoffs/{n}/prompt"));
        }
    }
    let mut shown = Vec::new();
    for path in paths {
        let reply = world.get(&path).await;
        // The port is another one each time.
        let text = reply.text.replace(&world.client.address.to_string(), "HERE");
        shown.push((path.clone(), reply.status, text));
        if path.starts_with("/api/v1/handoffs/") && !path.contains("/p") {
            let yaml = ("accept", "application/yaml");
            let reply = world.client.send("GET", &path, &[yaml], "").await;
            shown.push((format!("{path} as YAML"), reply.status, reply.text));
        }
    }
    shown
}

/// One column of one stored text.
struct TextColumn {
    table: &'static str,
    row: i64,
    column: &'static str,
}

/// The text of every row, and every other column of one package, of one reason and of one text that
/// all runs share.
fn changes(dir: &Path) -> Vec<TextColumn> {
    let connection = Connection::open(dir.join(DATABASE_FILE)).unwrap();
    let rows = |sql: &str| -> Vec<i64> {
        let mut statement = connection.prepare(sql).unwrap();
        statement.query_map([], |it| it.get(0)).unwrap().map(Result::unwrap).collect()
    };
    let mut changes = Vec::new();
    for table in ["contents", "shared_texts"] {
        // What is shown of the agents is read only where a file was edited since.
        let rows =
            rows(&format!("select rowid from {table} where text not like '{{\"analyst\":%'"));
        assert!(!rows.is_empty(), "{table}");
        changes.extend(rows.into_iter().map(|row| TextColumn { table, row, column: "text" }));
    }
    for kind in ["package", "words"] {
        let row = rows(&format!("select max(rowid) from contents where kind = '{kind}'"))[0];
        let columns = ["nonce", "id", "kind"].into_iter();
        let columns = columns.chain((kind == "package").then_some("format"));
        changes.extend(columns.map(|column| TextColumn { table: "contents", row, column }));
    }
    let reason = rows("select max(rowid) from shared_texts")[0];
    changes.push(TextColumn { table: "shared_texts", row: reason, column: "id" });
    changes
}

fn text_of(dir: &Path, TextColumn { table, row, .. }: &TextColumn) -> String {
    let connection = Connection::open(dir.join(DATABASE_FILE)).unwrap();
    let sql = format!("select text from {table} where rowid = ?1");
    connection.query_row(&sql, [row], |it| it.get(0)).unwrap()
}

/// Changes one byte in a column of one text.
fn flip(dir: &Path, TextColumn { table, row, column }: &TextColumn) {
    let connection = Connection::open(dir.join(DATABASE_FILE)).unwrap();
    connection.pragma_update(None, "ignore_check_constraints", true).unwrap();
    let sql =
        format!("select cast({column} as blob), typeof({column}) from {table} where rowid = ?1");
    let read = |it: &rusqlite::Row<'_>| Ok((it.get(0)?, it.get(1)?));
    let (mut bytes, kind): (Vec<u8>, String) = connection.query_row(&sql, [row], read).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    let value = if kind == "text" { "cast(?1 as text)" } else { "?1" };
    let sql = format!("update {table} set {column} = {value} where rowid = ?2");
    assert_eq!(connection.execute(&sql, (bytes, row)).unwrap(), 1);
}

fn copied(dir: &Path) -> StorePlace {
    let copy = tempfile::tempdir().unwrap();
    for entry in fs::read_dir(dir).unwrap() {
        let entry = entry.unwrap();
        if entry.file_type().unwrap().is_file() {
            fs::copy(entry.path(), copy.path().join(entry.file_name())).unwrap();
        }
    }
    StorePlace::Folder(copy)
}

/// Whether an answer says that something is damaged, by a name that programs can rely on.
fn says_so((path, status, text): &Shown) -> bool {
    let is_page = !path.starts_with("/api/");
    if *status == 503 {
        let problem: Value = if is_page {
            let code = text.contains("<code>damaged</code>").then_some("damaged");
            serde_json::json!({ "code": code, "detail": text })
        } else {
            serde_json::from_str(text).unwrap()
        };
        let detail = problem["detail"].as_str().unwrap();
        assert!(detail.contains("run ") && detail.contains("(text "), "{path}: {detail}");
        for command in ["baton verify", "baton recover"] {
            let typed = match is_page {
                true => format!("<code>{command}</code>"),
                false => format!("`{command}`"),
            };
            assert!(detail.contains(&typed), "{path}: {detail}");
        }
        return problem["code"] == "damaged";
    }
    let mark = if is_page { "(damaged: `baton verify`" } else { r#""damaged":["# };
    text.replace("&#96;", "`").contains(mark)
}

#[tokio::test]
async fn a_flipped_byte_of_a_text_is_told_by_every_reader_of_it() {
    let dir = populated().await;
    let world = world_at(copied(dir.path()), ServerLimits::default()).await;
    let sound = shown(&world).await;
    world.stop().await;
    let mut silent = Vec::new();
    let mut told = BTreeSet::new();
    for change in changes(dir.path()) {
        let copy = copied(dir.path());
        flip(copy.path(), &change);
        let world = world_at(copy, ServerLimits::default()).await;
        let TextColumn { table, row, column } = change;
        let mut is_told = false;
        for (before, after) in sound.iter().zip(shown(&world).await) {
            if says_so(&after) {
                told.insert(after.0.clone());
                is_told = true;
            } else if *before != after {
                silent.push(format!("row {row} of {table}, {column}: {after:?}"));
            }
        }
        assert!(
            is_told,
            "no reader tells that {column} of `{}` was changed",
            text_of(dir.path(), &change)
        );
        world.stop().await;
    }
    assert_eq!(silent, Vec::<String>::new());
    // A reader in the list that shows no text would prove nothing.
    let never: Vec<&str> =
        sound.iter().map(|it| it.0.as_str()).filter(|it| !told.contains(*it)).collect();
    assert_eq!(never, Vec::<&str>::new());
}
