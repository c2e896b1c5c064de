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
use crate::wreckage::{DATABASE, Newest, Wreckage, is_all_there, numbered_freely, recovered};

fn change_rows(dir: &Path, sql: &str) {
    let connection = rusqlite::Connection::open(dir.join(DATABASE)).unwrap();
    assert!(connection.execute(sql, []).unwrap() > 0, "{sql}");
}

/// Whether a text is a package is told by the event that names it, and its words tell the format.
#[tokio::test]
async fn what_stands_beside_the_text_of_a_package_is_not_needed() {
    let wreckage = Wreckage::make(Newest::InTheDatabase).await;
    for sql in [
        "update contents set kind = 'words', format = null, hash = null
         where kind = 'package' and run_number in (2, 9)",
        "update contents set format = 'xml', hash = zeroblob(32)
         where kind = 'package' and run_number in (2, 9)",
        "update contents set id = randomblob(32) where run_number in (2, 9)",
    ] {
        let copied = wreckage.copied();
        change_rows(copied.path(), sql);
        let it = recovered(copied.path()).await;
        assert!(is_all_there(&it), "{sql}: {:#?}", it.report.lines());
        assert_eq!(numbered_freely(&it.told), numbered_freely(&wreckage.told), "{sql}");
    }
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
