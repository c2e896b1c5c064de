//! What is proven by its chain and does not verify is left out and named; all else is kept.

use std::path::Path;

use baton_core::hash::Hash;
use baton_core::names::Principal;
use baton_core::run::RunId;
use baton_recover::MissingReason;
use baton_wire::event;
use baton_wire::run_log::RunLogLine;
use jiff::Timestamp;

use crate::archive::{from_the_archive_alone, logs};
use crate::wreckage::{DATABASE, Newest, Wreckage, recovered};

fn change_rows(dir: &Path, sql: &str) {
    let connection = rusqlite::Connection::open(dir.join(DATABASE)).unwrap();
    assert!(connection.execute(sql, []).unwrap() > 0, "{sql}");
}

#[tokio::test]
async fn a_run_that_does_not_verify_is_left_out_and_the_others_are_kept() {
    let wreckage = Wreckage::make(Newest::InTheDatabase).await;
    let whole = recovered(wreckage.dir.path()).await.report.saved;
    let copied = wreckage.copied();
    // The text of a package is proven by its name, and says no longer that it is one.
    let sql = "update contents set kind = 'words', format = null, hash = null
               where kind = 'package' and run_number in (2, 9)";
    change_rows(copied.path(), sql);
    let it = recovered(copied.path()).await;
    let lines = it.report.lines();
    assert_eq!(it.report.saved.n_runs, whole.n_runs - 2, "{lines:#?}");
    let missing: Vec<_> = it.report.missing.iter().map(|it| (it.run_number, it.why)).collect();
    assert_eq!(missing, [(2, MissingReason::Unsound), (9, MissingReason::Unsound)], "{lines:#?}");
    assert!(it.report.missing.iter().all(|it| !it.handoffs.is_empty()), "{lines:#?}");
    assert!(it.report.n_leftovers > 0, "its events and texts are kept beside the database");
    assert!(!it.report.is_complete());
}

/// Where no run is at fault alone, the fault is found by halving.
#[tokio::test]
async fn of_two_runs_that_do_not_fit_into_one_database_one_is_left_out() {
    let wreckage = Wreckage::make(Newest::InTheDatabase).await;
    let whole = from_the_archive_alone(&wreckage).await.report.saved;
    let [one, two, ..] = &logs(&wreckage)[..] else { panic!("too few sessions") };
    let [first, second] = [one, two].map(|it| std::fs::read_to_string(it).unwrap());
    // A forger, or a copy: a handoff of one run has the id of a handoff of another.
    let forged = second.replace(&first_handoff(&second), &first_handoff(&first));
    std::fs::write(two, chained_anew(&forged)).unwrap();
    let it = from_the_archive_alone(&wreckage).await;
    let lines = it.report.lines();
    assert_eq!(it.report.saved.n_runs, whole.n_runs - 1, "{lines:#?}");
    let [missing] = &it.report.missing[..] else { panic!("{lines:#?}") };
    assert_eq!(missing.why, MissingReason::Unsound, "{lines:#?}");
}

fn first_handoff(log: &str) -> String {
    let id = |line: &str| match RunLogLine::decode(line) {
        Some(RunLogLine::Handoff { no: 1, id, .. }) => Some(id.to_string()),
        Some(_) | None => None,
    };
    log.lines().find_map(id).unwrap()
}

/// The log of a session with hashes that fit what its events say now.
fn chained_anew(log: &str) -> String {
    let mut lines: Vec<RunLogLine> =
        log.lines().map(|line| RunLogLine::decode(line).unwrap()).collect();
    let run = lines.iter().find_map(|line| match line {
        RunLogLine::Run { id, .. } => Some(RunId(*id)),
        RunLogLine::Story(_)
        | RunLogLine::Handoff { .. }
        | RunLogLine::Event { .. }
        | RunLogLine::Text(_) => None,
    });
    let mut last = Hash::ZERO;
    for line in &mut lines {
        if let RunLogLine::Event { version, at, by, hash, body, .. } = line {
            let at = Timestamp::from_nanosecond((*at).into()).unwrap();
            let by = Principal::parse(by).unwrap();
            *hash = event::link(&last, run.unwrap(), *version, at, &by, body);
            last = *hash;
        }
    }
    if let Some(RunLogLine::Run { head, .. }) = lines.first_mut() {
        *head = last;
    }
    lines.iter().map(RunLogLine::encode).collect()
}
