//! Data that is deleted, replaced or damaged around a server: nothing is acknowledged that will be
//! gone, and `/readyz` says why.

use std::fs;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use rusqlite::Connection;
use rusqlite::config::DbConfig;
use serde_json::Value;

use crate::Project;
use crate::serve::{Got, Served};

/// Far longer than anything takes that is waited for.
const LONG: Duration = Duration::from_secs(60);

#[test]
fn a_database_deleted_under_a_server_is_noticed_and_saved() {
    let project = Project::started();
    let server = project.serves();
    assert_eq!(ready(&server), (200, "ready\n".to_owned()));
    assert_eq!(accept(&server, 1).status, 200);
    fs::remove_file(project.data("baton.db")).unwrap();

    let copy = project.data("rescued-1/baton.db");
    let restore = format!("baton restore {} --replace", copy.display());
    let text = not_ready(&server, &restore);
    assert!(text.contains("baton.db` was deleted or moved while Baton had it open"), "{text}");
    let refused = server.curl(&["-X", "POST", "-d", r#"{"key":"s2"}"#], "/api/v1/stories");
    assert_eq!((refused.status, &refused.body["code"]), (503, &Value::from("data_replaced")));
    assert!(refused.body["detail"].as_str().unwrap().contains(&restore), "{refused:?}");
    project.fails(&["story", "add", "s2"], 5, "[data_replaced]");
    let said = project.run(&["doctor"]);
    assert!(said.stdout.contains(&restore), "{said:?}");
    assert!(project.ok(&["run", "show", "1"]).contains("analyst"), "reads go on");

    assert_eq!(server.stop(), Some(0));
    let copy = copy.display().to_string();
    project.ok(&["restore", &copy, "--replace"]);
    let handoff = project.json(&["handoff", "show", "1"]);
    assert_eq!(handoff["state"], "accepted", "{handoff}");
}

#[test]
fn a_lock_that_was_deleted_ends_the_writing() {
    let project = Project::started();
    let server = project.serves();
    fs::remove_file(project.data("baton.lock")).unwrap();
    let text = not_ready(&server, "stop this server and start it again");
    assert!(text.contains("baton.lock` was deleted or moved"), "{text}");
    let refused = accept(&server, 1);
    assert_eq!((refused.status, &refused.body["code"]), (503, &Value::from("data_replaced")));
}

#[test]
fn damage_is_found_after_an_unclean_stop_and_stays_in_its_run() {
    let project = Project::started();
    project.ok(&["story", "add", "s2"]);
    project.ok(&["run", "start", "s2"]);
    forge(
        project.data("baton.db"),
        "update events set body = replace(body, 'analyst', 'mallory')
        where run_number = 1",
    );
    let server = project.serves();
    let text = not_ready(&server, "not ready: the data is damaged: run 1");
    assert!(text.contains("`baton verify`"), "{text}");
    let refused = accept(&server, 1);
    assert_eq!((refused.status, &refused.body["code"]), (503, &Value::from("damaged")));
    assert_eq!(accept(&server, 2).status, 200, "the other run goes on");
    let metrics = server.curl(&[], "/metrics").body;
    let metrics = metrics.as_str().unwrap();
    let n_problems = metrics.lines().find_map(|it| it.strip_prefix("baton_data_problems "));
    assert!(n_problems.is_some_and(|it| it.parse::<u64>().unwrap() > 0), "{metrics}");
    assert!(metrics.contains("baton_store_writable 1\n"), "{metrics}");
    let said = project.run(&["doctor"]);
    assert!(said.stdout.contains("not ready: the data is damaged: run 1"), "{said:?}");
}

#[test]
fn a_run_that_cannot_be_read_hides_no_other() {
    let project = Project::started();
    project.ok(&["story", "add", "s2"]);
    project.ok(&["run", "start", "s2"]);
    forge(project.data("baton.db"), "update runs set state = 'x' where number = 1");
    let server = project.serves();
    let metrics = checked(&server);
    assert!(metrics.contains("baton_data_checked_runs 2\n"), "{metrics}");
    not_ready(&server, "not ready: the data is damaged: run 1");
    assert_eq!(accept(&server, 2).status, 200);
}

#[test]
fn sound_data_is_checked_after_an_unclean_stop_and_not_after_another() {
    let project = Project::started();
    let server = project.serves();
    assert_eq!(accept(&server, 1).status, 200);
    server.kill();
    let server = project.serves();
    let metrics = checked(&server);
    assert!(metrics.contains("baton_data_checked_runs 1\n"), "{metrics}");
    assert!(metrics.contains("baton_data_problems 0\n"), "{metrics}");
    assert_eq!(ready(&server), (200, "ready\n".to_owned()));
    assert_eq!(server.stop(), Some(0));
    let server = project.serves();
    let metrics = server.curl(&[], "/metrics").body;
    assert!(metrics.as_str().unwrap().contains("baton_data_checked_runs 0\n"), "{metrics}");
}

impl Project {
    fn data(&self, name: &str) -> PathBuf {
        // As Baton itself names it.
        self.path().canonicalize().unwrap().join(".baton/data").join(name)
    }
}

pub(crate) fn accept(server: &Served, handoff: u32) -> Got {
    let path = format!("/api/v1/handoffs/{handoff}/accept");
    server.curl(&["-X", "POST", "-d", "{}"], &path)
}

pub(crate) fn ready(server: &Served) -> (u16, String) {
    let got = server.curl(&[], "/readyz");
    (got.status, got.body.as_str().unwrap().to_owned())
}

/// Waits until the server says that it is not ready, in these words.
#[track_caller]
pub(crate) fn not_ready(server: &Served, words: &str) -> String {
    wait_for(|| match ready(server) {
        (503, text) if text.contains(words) => Ok(text),
        (status, text) => Err(format!("{status} {text}, where `{words}` was expected")),
    })
}

/// Waits for the end of the check, and returns the metrics.
fn checked(server: &Served) -> String {
    wait_for(|| {
        let metrics = server.curl(&[], "/metrics").body.as_str().unwrap().to_owned();
        if metrics.contains("baton_data_check_running 0\n") { Ok(metrics) } else { Err(metrics) }
    })
}

/// Waits for a state; fails with the last one that is not it.
#[track_caller]
pub(crate) fn wait_for<T>(mut state: impl FnMut() -> Result<T, String>) -> T {
    let began_at = Instant::now();
    loop {
        match state() {
            Ok(found) => return found,
            Err(last) => assert!(began_at.elapsed() < LONG, "after {LONG:?}: {last}"),
        }
        std::thread::yield_now();
    }
}

/// Changes rows as a bad disk would, and leaves the log as a killed server would.
fn forge(database: PathBuf, sql: &str) {
    let connection = Connection::open(database).unwrap();
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true).unwrap();
    assert!(connection.execute(sql, []).unwrap() > 0);
}
