//! Tables that fit the terminal and stay plain when piped.

use comfy_table::{ContentArrangement, Table, presets};

use super::style::bold;

/// Below this width, columns are unreadable.
const LEAST_WIDTH: u16 = 20;

/// Rows under headings. Wide cells wrap instead of pushing the others off the screen.
pub(crate) fn table(headings: &[&str], rows: Vec<Vec<String>>) -> String {
    let mut table = plain();
    table.set_header(headings.iter().map(|it| bold(it)));
    table.add_rows(rows);
    aligned(table)
}

/// One item: its fields, one per line.
pub(crate) fn fields(rows: Vec<(&str, String)>) -> String {
    let mut table = plain();
    table.add_rows(rows.into_iter().map(|(name, value)| vec![bold(name), value]));
    aligned(table)
}

/// Wraps one line to this terminal, with `margin` columns kept free.
pub(crate) fn wrapped(line: &str, margin: usize) -> Vec<String> {
    let mut table = plain();
    let room = table.width().filter(|it| *it >= LEAST_WIDTH);
    let Some(room) = room.and_then(|it| it.checked_sub(u16::try_from(margin).ok()?)) else {
        return vec![line.to_owned()];
    };
    table.set_width(room);
    table.add_row([line]);
    for column in table.column_iter_mut() {
        column.set_padding((0, 0));
    }
    table.lines().map(|it| it.trim_end().to_owned()).collect()
}

fn plain() -> Table {
    let mut table = Table::new();
    table.load_style(presets::NOTHING).set_content_arrangement(ContentArrangement::Dynamic);
    // Some terminals do not report their width.
    if table.width().is_some_and(|it| it < LEAST_WIDTH) {
        table.set_content_arrangement(ContentArrangement::Disabled);
    }
    table
}

fn aligned(mut table: Table) -> String {
    for column in table.column_iter_mut() {
        column.set_padding((0, 2));
    }
    table.lines().map(|it| it.trim_end().to_owned()).collect::<Vec<_>>().join("\n")
}
