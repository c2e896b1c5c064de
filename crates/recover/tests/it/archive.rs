//! The archive as a source: it proves itself, and is not believed where it does not.

use std::path::{Path, PathBuf};

use crate::wreckage::{
    DATABASE, MARK, Newest, Recovered, Wreckage, is_all_there, numbered_freely, recovered_with,
};

pub(crate) async fn from_the_archive_alone(wreckage: &Wreckage) -> Recovered {
    let empty = tempfile::tempdir().unwrap();
    recovered_with(empty.path(), Some(wreckage.project.path())).await
}

pub(crate) fn logs(wreckage: &Wreckage) -> Vec<PathBuf> {
    let sessions = std::fs::read_dir(wreckage.project.path().join("sessions")).unwrap();
    let mut logs: Vec<_> = sessions.map(|it| it.unwrap().path().join("log.jsonl")).collect();
    logs.sort();
    logs
}

fn change(path: &Path, change: impl FnOnce(String) -> String) {
    std::fs::write(path, change(std::fs::read_to_string(path).unwrap())).unwrap();
}

#[tokio::test]
async fn everything_is_made_again_from_the_archive_alone() {
    let wreckage = Wreckage::make(Newest::InTheDatabase).await;
    let it = from_the_archive_alone(&wreckage).await;
    // The archive has no answers to idempotency keys.
    assert!(is_all_there(&it) && !it.report.is_complete(), "{:#?}", it.report.lines());
    assert_eq!(numbered_freely(&it.told), numbered_freely(&wreckage.told));
}

#[tokio::test]
async fn what_the_database_has_lost_comes_from_the_archive() {
    let wreckage = Wreckage::make(Newest::InTheDatabase).await;
    let copied = wreckage.copied();
    let path = copied.path().join(DATABASE);
    let mut bytes = std::fs::read(&path).unwrap();
    // The second half of every page but the first: hardly a row is left.
    for page in bytes.chunks_exact_mut(4096).skip(1) {
        page[2048..].fill(0);
    }
    std::fs::write(&path, bytes).unwrap();
    let it = recovered_with(copied.path(), Some(wreckage.project.path())).await;
    assert!(it.report.missing.is_empty(), "{:#?}", it.report.lines());
    assert_eq!(numbered_freely(&it.told), numbered_freely(&wreckage.told));
    let alone = recovered_with(copied.path(), None).await;
    assert!(!alone.report.is_complete(), "{:#?}", alone.report.lines());
}

#[tokio::test]
async fn an_older_database_is_brought_up_to_the_archive() {
    let [older, newer] =
        [Wreckage::make(Newest::InTheLog).await, Wreckage::make(Newest::InTheDatabase).await];
    let copied = newer.copied();
    // Half of the runs are only in the log, which is gone. Its mark would be of another project.
    std::fs::copy(older.dir.path().join(DATABASE), copied.path().join(DATABASE)).unwrap();
    let it = recovered_with(copied.path(), Some(newer.project.path())).await;
    // The archive has no answers to idempotency keys.
    assert!(is_all_there(&it) && !it.report.is_complete(), "{:#?}", it.report.lines());
    assert_eq!(numbered_freely(&it.told), numbered_freely(&newer.told));
}

#[tokio::test]
async fn what_was_changed_in_the_archive_is_not_believed() {
    let wreckage = Wreckage::make(Newest::InTheDatabase).await;
    let all = from_the_archive_alone(&wreckage).await.report.saved;
    let [one, two, ..] = &logs(&wreckage)[..] else { panic!("too few sessions") };
    change(one, |log| log.replacen("run.started", "run.starved", 1));
    change(two, |log| log.replace("this is what there is to say", "nothing is to be said"));
    let it = from_the_archive_alone(&wreckage).await;
    assert_eq!(it.report.saved.n_runs, all.n_runs - 1, "{:#?}", it.report.lines());
    assert_eq!(it.report.missing.len(), 1, "{:#?}", it.report.lines());
    assert!(!it.told.contains("nothing is to be said"));
}

#[tokio::test]
async fn sessions_of_another_project_are_taken_only_where_there_is_no_database() {
    let wreckage = Wreckage::make(Newest::InTheDatabase).await;
    let copied = wreckage.copied();
    std::fs::remove_file(copied.path().join(MARK)).unwrap();
    for log in logs(&wreckage) {
        change(&log, |log| {
            let at = log.find("\"project\":\"").unwrap() + 11;
            format!("{}00000000{}", &log[..at], &log[at + 8..])
        });
    }
    let it = recovered_with(copied.path(), Some(wreckage.project.path())).await;
    assert_eq!(it.told, wreckage.told);
    let foreign: Vec<u64> = it.report.foreign_sessions.into_values().collect();
    assert_eq!(foreign, [logs(&wreckage).len() as u64]);
    let report = from_the_archive_alone(&wreckage).await.report;
    assert_eq!(report.saved.n_runs, it.report.saved.n_runs, "{:#?}", report.lines());
    assert!(report.foreign_sessions.is_empty());
}
