//! One flipped bit in every column of every row of a run of seven events, without an archive:
//! nothing is lost but what only that column said.

use std::collections::BTreeSet;
use std::path::Path;

use rusqlite::Connection;

use crate::wreckage::{DATABASE, Newest, Wreckage, is_all_there, numbered_freely, recovered};

const PAGE: usize = 4096;
/// The bits that are flipped in the first byte of a column: a low one, a high one and the sign.
const BITS: [u8; 3] = [0x01, 0x40, 0x80];

/// What only the column itself says: a bit of it costs the events from there on, or the text.
/// All three are in the hash, and nothing else has them.
const UNPROVABLE: [(&str, &str); 5] = [
    ("events", "happened_at"),
    ("events", "done_by"),
    ("events", "body"),
    ("contents", "nonce"),
    ("contents", "text"),
];

/// A column as it lies in the file.
struct Place {
    table: &'static str,
    column: String,
    row: i64,
    at: usize,
}

fn varint(bytes: &[u8]) -> (usize, usize) {
    let mut value = 0;
    for (index, byte) in bytes.iter().enumerate().take(9) {
        value = value << 7 | usize::from(byte & 0x7f);
        if byte & 0x80 == 0 {
            return (value, index + 1);
        }
    }
    panic!("no varint");
}

fn length(serial: usize) -> usize {
    match serial {
        0 | 8 | 9 => 0,
        1..=4 => serial,
        5 => 6,
        6 | 7 => 8,
        _ => (serial - 12) / 2,
    }
}

/// Where the columns of a row begin that are at least a byte long and on the page of the row.
fn places(
    file: &[u8],
    table: &'static str,
    columns: &[String],
    leaf: usize,
    row: i64,
) -> Vec<Place> {
    let start = leaf * PAGE;
    let page = &file[start..start + PAGE];
    let n_cells = usize::from(u16::from_be_bytes([page[3], page[4]]));
    for pointer in page[8..].chunks_exact(2).take(n_cells) {
        let cell = usize::from(u16::from_be_bytes([pointer[0], pointer[1]]));
        let (_, n) = varint(&page[cell..]);
        let (rowid, m) = varint(&page[cell + n..]);
        if i64::try_from(rowid).unwrap() != row {
            continue;
        }
        let record = cell + n + m;
        let (header, mut at) = varint(&page[record..]);
        let mut value = record + header;
        let mut found = Vec::new();
        for column in columns {
            if at >= header {
                break;
            }
            let (serial, n) = varint(&page[record + at..]);
            at += n;
            if length(serial) > 0 && value < PAGE {
                found.push(Place { table, column: column.clone(), row, at: start + value });
            }
            value += length(serial);
        }
        return found;
    }
    Vec::new()
}

/// Every column of every row of the run with seven events.
fn all_places(path: &Path) -> Vec<Place> {
    let file = std::fs::read(path).unwrap();
    let connection = Connection::open(path).unwrap();
    let sql = "select run_number from events group by 1 having count(*) = 7 order by 1 limit 1";
    let run: i64 = connection.query_row(sql, [], |row| row.get(0)).unwrap();
    let mut all = Vec::new();
    for (table, of_run) in [
        ("events", "run_number"),
        ("contents", "run_number"),
        ("handoffs", "run_number"),
        ("runs", "number"),
    ] {
        let numbers = |sql: &str| -> Vec<i64> {
            let mut statement = connection.prepare(sql).unwrap();
            statement.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect()
        };
        let mut statement =
            connection.prepare(&format!("select name from pragma_table_info('{table}')")).unwrap();
        let columns: Vec<String> =
            statement.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect();
        let rows = numbers(&format!("select rowid from {table} where {of_run} = {run}"));
        let root =
            numbers(&format!("select rootpage from sqlite_schema where name = '{table}'"))[0];
        for row in rows {
            let leaf = leaf_of(&file, usize::try_from(root).unwrap() - 1, row);
            let found = places(&file, table, &columns, leaf, row);
            assert!(!found.is_empty(), "{table} {row}");
            all.extend(found);
        }
    }
    all
}

/// The leaf page that a row is on.
fn leaf_of(file: &[u8], page: usize, row: i64) -> usize {
    let bytes = &file[page * PAGE..(page + 1) * PAGE];
    if bytes[0] == 0x0d {
        return page;
    }
    let n_cells = usize::from(u16::from_be_bytes([bytes[3], bytes[4]]));
    for pointer in bytes[12..].chunks_exact(2).take(n_cells) {
        let cell = usize::from(u16::from_be_bytes([pointer[0], pointer[1]]));
        let (key, _) = varint(&bytes[cell + 4..]);
        if row <= i64::try_from(key).unwrap() {
            return child(&bytes[cell..], file, row);
        }
    }
    child(&bytes[8..], file, row)
}

fn child(number: &[u8], file: &[u8], row: i64) -> usize {
    let page = u32::from_be_bytes(number[..4].try_into().unwrap());
    leaf_of(file, page as usize - 1, row)
}

#[tokio::test]
async fn a_bit_of_a_column_costs_nothing_that_another_one_proves() {
    let wreckage = Wreckage::make(Newest::InTheDatabase).await;
    let told = numbered_freely(&wreckage.told);
    let whole = std::fs::read(wreckage.dir.path().join(DATABASE)).unwrap();
    let looked_at = wreckage.copied();
    let all = all_places(&looked_at.path().join(DATABASE));
    let mut lost = BTreeSet::new();
    let mut wrong = Vec::new();
    for (index, place) in all.iter().enumerate() {
        // One bit of each, another one from column to column.
        let bit = BITS[index % BITS.len()];
        let copied = wreckage.copied();
        let mut bytes = whole.clone();
        bytes[place.at] ^= bit;
        std::fs::write(copied.path().join(DATABASE), bytes).unwrap();
        let it = recovered(copied.path()).await;
        let name = (place.table, place.column.as_str());
        let is_lossless = is_all_there(&it) && numbered_freely(&it.told) == told;
        if UNPROVABLE.contains(&name) {
            assert!(is_lossless || !it.report.is_complete(), "{name:?}");
            lost.extend((!is_lossless).then_some(name));
        } else if !is_lossless {
            wrong.push(format!(
                "{name:?} of row {}, bit {bit:#x}: {:?}",
                place.row,
                it.report.lines()
            ));
        }
    }
    assert!(wrong.is_empty(), "{} of {}:\n{}", wrong.len(), all.len(), wrong.join("\n"));
    assert_eq!(lost, UNPROVABLE.into_iter().collect(), "what is not proven is named in the table");
}
