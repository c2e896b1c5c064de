//! Lists of waiting and of blocked runs, kept beside the runs, so that they are found without a
//! scan.

use crate::columns::execute;
use crate::statements::Statements;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RunList {
    Waiting,
    Blocked,
}

pub(crate) fn change(
    statements: &impl Statements,
    list: RunList,
    run_number: i64,
    is_listed: bool,
) -> rusqlite::Result<()> {
    let sql = match (list, is_listed) {
        (RunList::Waiting, true) => "insert or ignore into waiting (run_number) values (?1)",
        (RunList::Waiting, false) => "delete from waiting where run_number = ?1",
        (RunList::Blocked, true) => "insert or ignore into blocked (run_number) values (?1)",
        (RunList::Blocked, false) => "delete from blocked where run_number = ?1",
    };
    execute(statements, sql, [run_number])
}
