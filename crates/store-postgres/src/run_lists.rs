//! Lists of waiting and of blocked runs, kept beside the runs, so that they are found without a
//! scan.

use crate::query::SqlQuery;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ListedRuns {
    Waiting,
    Blocked,
}

pub(crate) fn change(query: &mut SqlQuery<'_>, list: ListedRuns, is_listed: bool) {
    let table = match list {
        ListedRuns::Waiting => "waiting",
        ListedRuns::Blocked => "blocked",
    };
    query.sql.push_str(&if is_listed {
        format!(
            ", {table}_added as (
                 insert into {table} (run_number) select number from moved on conflict do nothing
             )"
        )
    } else {
        format!(
            ", {table}_removed as (
                 delete from {table} using moved where run_number = moved.number
             )"
        )
    });
}
