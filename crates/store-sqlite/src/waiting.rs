//! Which runs wait for somebody's word.

use rusqlite::Connection;

pub(crate) fn change(
    connection: &Connection,
    run_number: i64,
    is_waiting: bool,
) -> rusqlite::Result<()> {
    let sql = if is_waiting {
        "insert or ignore into waiting (run_number) values (?1)"
    } else {
        "delete from waiting where run_number = ?1"
    };
    connection.prepare_cached(sql)?.execute([run_number])?;
    Ok(())
}
