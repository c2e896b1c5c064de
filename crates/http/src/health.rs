//! Liveness and readiness. `docs/how-to/server.md` has a table of the responses of `/readyz`.

use std::fmt::Write as _;
use std::sync::Arc;

use axum::extract::State;
use axum::http::StatusCode;
use baton_engine::{CheckProgress, DataCheck, LeftOutFile};
use baton_store::{StoreError, WriteFault};
use baton_views::ArchiveHealth;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::App;
use crate::cluster::ClusterState;
use crate::openapi::ServerProblems;
use crate::scope::Door;

const ADVICE: &str = "stop the server and type `baton verify`, which names all of it";

pub(crate) fn routes() -> OpenApiRouter<Arc<App>> {
    OpenApiRouter::new().routes(routes!(alive)).routes(routes!(ready))
}

/// Tells that the server answers.
///
/// A probe: it looks at nothing else.
#[utoipa::path(get, path = "/healthz", operation_id = "getLiveness", tag = "server",
    responses(
        (status = 200, description = "It answers",
            body = String, content_type = "text/plain"),
        ServerProblems))]
async fn alive() -> &'static str {
    "ok\n"
}

/// Tells whether the server is ready.
///
/// Whether the store answers, takes writes and is sound, and if not, why and what to do. A failing
/// archive is reported, but does not make the server unready.
#[utoipa::path(get, path = "/readyz", operation_id = "getReadiness", tag = "server",
    responses(
        (status = 200, description = "It is ready", body = String, content_type = "text/plain"),
        (status = 503, description = "It does not", body = String, content_type = "text/plain"),
        ServerProblems))]
async fn ready(State(app): State<Arc<App>>) -> (StatusCode, String) {
    readiness_of(&app).await
}

/// Why the server cannot record, in the text of `/readyz`.
pub(crate) async fn not_ready(app: &App) -> Option<String> {
    let (status, text) = readiness_of(app).await;
    (!status.is_success()).then(|| text.trim_end().to_owned())
}

async fn readiness_of(app: &App) -> (StatusCode, String) {
    let read = app.door.check_readable().await;
    let archive =
        app.archive.as_ref().map_or(ArchiveHealth::Off, |it| it.health().borrow().clone());
    let catalog = app.door.fresh_catalog();
    let fault = app.door.write_fault();
    let ready = readiness(fault, read, &app.door.data_check(), &archive, catalog.left_out());
    match &app.cluster {
        Some(cluster) => among_others(ready, cluster.state().await.unwrap_or_default()),
        None => ready,
    }
}

/// With the other nodes, where there are any. That events come late is no reason to take this one out:
/// all nodes wait for the same transaction.
fn among_others(
    (status, text): (StatusCode, String),
    cluster: ClusterState,
) -> (StatusCode, String) {
    let text = match &cluster.delay {
        Some(delay) if status.is_success() => format!("{}, but {delay}\n", text.trim_end()),
        Some(_) | None => text,
    };
    (status, text + &cluster.lines())
}

/// Data that was deleted or overwritten may not be readable either; the cause is reported first.
fn readiness(
    fault: Option<WriteFault>,
    read: Result<(), StoreError>,
    check: &DataCheck,
    archive: &ArchiveHealth,
    left_out: &[LeftOutFile],
) -> (StatusCode, String) {
    if let Some(fault) = fault {
        return (StatusCode::SERVICE_UNAVAILABLE, format!("not ready: {}\n", fault.state()));
    }
    match read {
        Ok(()) => {}
        Err(StoreError::Damaged { what }) => {
            let text = format!("not ready: the data is damaged: {what}; {ADVICE}\n");
            return (StatusCode::SERVICE_UNAVAILABLE, text);
        }
        Err(
            StoreError::Unavailable(_)
            | StoreError::Unwritable(_)
            | StoreError::Closed
            | StoreError::Nul,
        ) => {
            return (StatusCode::SERVICE_UNAVAILABLE, "the store does not answer\n".to_owned());
        }
    }
    if let Some(first) = &check.first_problem {
        let more = match check.n_problems {
            0 | 1 => String::new(),
            n => format!(" (and {} more)", n - 1),
        };
        let text = format!("not ready: the data is damaged: {first}{more}; {ADVICE}\n");
        return (StatusCode::SERVICE_UNAVAILABLE, text);
    }
    let mut notes = Vec::new();
    match check.progress {
        CheckProgress::NotNeeded | CheckProgress::Finished => {}
        CheckProgress::Running => notes.push("checking the data after an unclean stop"),
        CheckProgress::Failed => notes.push("but the data could not be checked; see the log"),
    }
    match archive {
        ArchiveHealth::Off | ArchiveHealth::Well { .. } => {}
        ArchiveHealth::Failing { .. } => notes.push("but the archive is behind"),
    }
    let mut text = "ready".to_owned();
    for note in notes {
        text += ", ";
        text += note;
    }
    if let Some(first) = left_out.first() {
        let more = match left_out.len() {
            1 => String::new(),
            n => format!(" (and {} more)", n - 1),
        };
        text += &format!(", but a file is left out: {first}{more}");
    }
    (StatusCode::OK, text + "\n")
}

/// The same as Prometheus metrics.
pub(crate) fn metrics(door: &Door, text: &mut String) {
    let check = door.data_check();
    let is_writable = u8::from(door.write_fault().is_none());
    let is_running = u8::from(check.progress == CheckProgress::Running);
    for (name, help, value) in [
        ("baton_store_writable", "1 while the data can be written.", u64::from(is_writable)),
        ("baton_data_check_running", "1 while the data is checked.", u64::from(is_running)),
        ("baton_data_checked_runs", "Runs that were checked since the start.", check.n_runs),
        ("baton_data_problems", "Problems that this check found.", check.n_problems),
    ] {
        let _ = writeln!(text, "# HELP {name} {help}\n# TYPE {name} gauge\n{name} {value}");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_state_has_its_words() {
        let well = ArchiveHealth::Off;
        let failing = ArchiveHealth::Failing { problem: "disk full".to_owned() };
        let check = |progress, problems: &[&str]| DataCheck {
            progress,
            n_runs: 3,
            n_problems: problems.len() as u64,
            first_problem: problems.first().map(|it| (*it).to_owned()),
        };
        let sound = check(CheckProgress::Finished, &[]);
        let running = check(CheckProgress::Running, &[]);
        let damaged =
            check(CheckProgress::Running, &["run 2: its row does not name the last event"]);
        let twice = check(CheckProgress::Finished, &["run 2: x", "run 3: y"]);
        let replaced = WriteFault::Replaced {
            what: "`baton.db` was deleted or moved while Baton had it open".to_owned(),
            advice: "stop Baton".to_owned(),
        };
        let cases = [
            (None, &sound, &well, 200, "ready\n"),
            (None, &DataCheck::default(), &well, 200, "ready\n"),
            (None, &sound, &failing, 200, "ready, but the archive is behind\n"),
            (None, &running, &well, 200, "ready, checking the data after an unclean stop\n"),
            (
                None,
                &running,
                &failing,
                200,
                "ready, checking the data after an unclean stop, but the archive is behind\n",
            ),
            (
                None,
                &check(CheckProgress::Failed, &[]),
                &well,
                200,
                "ready, but the data could not be checked; see the log\n",
            ),
            (
                None,
                &damaged,
                &well,
                503,
                "not ready: the data is damaged: run 2: its row does not name the last event; stop the server and type `baton verify`, which names all of it\n",
            ),
            (
                None,
                &twice,
                &well,
                503,
                "not ready: the data is damaged: run 2: x (and 1 more); stop the server and type `baton verify`, which names all of it\n",
            ),
            (
                Some(WriteFault::DiskFull),
                &damaged,
                &failing,
                503,
                "not ready: the disk that holds Baton's data is full; make room, so that changes can be recorded\n",
            ),
            (
                Some(replaced),
                &sound,
                &well,
                503,
                "not ready: `baton.db` was deleted or moved while Baton had it open, so nothing more is recorded; stop Baton\n",
            ),
        ];
        for (fault, check, archive, status, text) in cases {
            let expected = (StatusCode::from_u16(status).unwrap(), text.to_owned());
            assert_eq!(readiness(fault, Ok(()), check, archive, &[]), expected);
        }
    }

    #[test]
    fn a_file_that_is_left_out_is_named_and_does_no_harm() {
        let file = |name: &str| LeftOutFile {
            name: name.to_owned(),
            file: format!(".baton/workflows/{name}.yaml"),
            why: "line 1, column 1: name: is missing [missing]".to_owned(),
        };
        let text = |files: &[LeftOutFile]| {
            let (status, text) =
                readiness(None, Ok(()), &DataCheck::default(), &ArchiveHealth::Off, files);
            assert_eq!(status, StatusCode::OK);
            text
        };
        let first = "ready, but a file is left out: .baton/workflows/team.yaml: line 1, column 1: name: is missing [missing]";
        assert_eq!(text(&[file("team")]), format!("{first}\n"));
        assert_eq!(text(&[file("team"), file("b")]), format!("{first} (and 1 more)\n"));
    }

    #[test]
    fn a_store_that_cannot_be_read_says_why() {
        let unreadable = |read, fault| {
            let (status, text) =
                readiness(fault, Err(read), &DataCheck::default(), &ArchiveHealth::Off, &[]);
            assert_eq!(status, StatusCode::SERVICE_UNAVAILABLE);
            text
        };
        let damaged = || StoreError::Damaged { what: "the database file is damaged".to_owned() };
        assert_eq!(
            unreadable(damaged(), None),
            "not ready: the data is damaged: the database file is damaged; stop the server and type `baton verify`, which names all of it\n"
        );
        assert_eq!(unreadable(StoreError::Closed, None), "the store does not answer\n");
        let fault = WriteFault::Failing;
        assert_eq!(unreadable(damaged(), Some(fault.clone())), format!("not ready: {fault}\n"));
    }
}
