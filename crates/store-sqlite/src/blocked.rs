//! Which runs something keeps from going on.

use rusqlite::Connection;

pub(crate) fn change(
    connection: &Connection,
    run_number: i64,
    is_blocked: bool,
) -> rusqlite::Result<()> {
    let sql = if is_blocked {
        "insert or ignore into blocked (run_number) values (?1)"
    } else {
        "delete from blocked where run_number = ?1"
    };
    connection.prepare_cached(sql)?.execute([run_number])?;
    Ok(())
}
