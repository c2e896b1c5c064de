//! Tables that fit the terminal and stay plain when piped.

use comfy_table::{ColumnConstraint, ContentArrangement, Row, Table, Width, presets};

use super::style::{bold, dim};
use super::text::{one_line, shortened};

/// Below this width, columns are unreadable.
const LEAST_WIDTH: u16 = 20;

/// The columns between two cells.
const GAP: u16 = 2;
/// No column of a list is cut to less.
const LEAST_CELL: u16 = 8;
/// In place of what is empty.
const NOTHING: &str = "–";

/// A list: one line per row. Where the terminal is too narrow the widest cells are cut.
pub(crate) fn list(headings: &[&str], rows: Vec<Vec<String>>) -> String {
    list_within(terminal_width(), headings, rows)
}

/// As [`list`]. Where the terminal is too narrow, these columns are cut first, in this order.
pub(crate) fn list_cutting(headings: &[&str], rows: Vec<Vec<String>>, first: &[usize]) -> String {
    list_cutting_within(terminal_width(), headings, rows, first)
}

/// A text for a cell: of one line, and on a terminal cut to a length.
pub(crate) fn cell(text: &str, most: usize) -> String {
    match terminal_width() {
        Some(_) => shortened(text, most),
        None => one_line(text),
    }
}

/// As [`list`]. Where the terminal is too narrow for all columns, those from `second` on stand in a
/// second list below, behind the first column again.
pub(crate) fn list_or_two(headings: &[&str], rows: Vec<Vec<String>>, second: usize) -> String {
    list_or_two_within(terminal_width(), headings, rows, second)
}

fn list_or_two_within(
    width: Option<u16>,
    headings: &[&str],
    rows: Vec<Vec<String>>,
    second: usize,
) -> String {
    let whole = list_within(None, headings, rows.clone());
    let widest = whole.lines().map(text_width).max().unwrap_or(0);
    if width.is_none_or(|it| widest <= usize::from(it)) {
        return whole;
    }
    let (first_headings, second_headings) = headings.split_at(second.min(headings.len()));
    let split = |mut row: Vec<String>| {
        let others = row.split_off(second.min(row.len()));
        let name = row.first().cloned();
        (row, name.into_iter().chain(others).collect::<Vec<_>>())
    };
    let (first, others): (Vec<_>, Vec<_>) = rows.into_iter().map(split).unzip();
    let second_headings: Vec<&str> =
        headings.first().into_iter().chain(second_headings).copied().collect();
    let above = list_within(width, first_headings, first);
    format!("{above}\n\n{}", list_within(width, &second_headings, others))
}

/// The columns that a line takes on a terminal.
fn text_width(line: &str) -> usize {
    let text = anstream::adapter::strip_str(line).to_string();
    let mut table = Table::new();
    table.load_style(presets::NOTHING).force_no_tty();
    table.add_row([text]);
    table.column_max_content_widths().first().copied().unwrap_or(0).into()
}

pub(super) fn list_within(width: Option<u16>, headings: &[&str], rows: Vec<Vec<String>>) -> String {
    list_cutting_within(width, headings, rows, &[])
}

fn list_cutting_within(
    width: Option<u16>,
    headings: &[&str],
    rows: Vec<Vec<String>>,
    first: &[usize],
) -> String {
    let mut table = plain();
    table.set_truncation_indicator("…").set_content_arrangement(ContentArrangement::Disabled);
    let mut header = Row::from(headings.iter().map(|it| bold(it)).collect::<Vec<_>>());
    header.max_height(1);
    table.set_header(header);
    for cells in rows {
        let mut row = Row::from(cells.into_iter().map(dashed).collect::<Vec<_>>());
        row.max_height(1);
        table.add_row(row);
    }
    if let Some(width) = width {
        table.set_width(width).set_content_arrangement(ContentArrangement::Dynamic);
        let widths = cut_to(width, table.column_max_content_widths(), first);
        for (column, width) in table.column_iter_mut().zip(widths) {
            column.set_constraint(ColumnConstraint::Absolute(Width::Fixed(width + GAP)));
            // No cell has this character, so a cell is cut where its column ends, not at a word.
            column.set_delimiter('\0');
        }
    }
    aligned(table)
}

/// The widths of columns that together fit: those named lose first, in this order, then the widest.
fn cut_to(width: u16, mut widths: Vec<u16>, first: &[usize]) -> Vec<u16> {
    let n_columns = u16::try_from(widths.len()).unwrap_or(u16::MAX);
    // The last column needs no gap.
    let room = (width + GAP).saturating_sub(n_columns.saturating_mul(GAP));
    let too_wide =
        |widths: &[u16]| widths.iter().map(|it| u32::from(*it)).sum::<u32>() > u32::from(room);
    for index in first {
        while too_wide(&widths)
            && let Some(width) = widths.get_mut(*index).filter(|it| **it > LEAST_CELL)
        {
            *width -= 1;
        }
    }
    while too_wide(&widths) {
        let Some(widest) = widths.iter_mut().max().filter(|it| **it > LEAST_CELL) else { break };
        *widest -= 1;
    }
    widths
}

fn dashed(cell: String) -> String {
    if cell.is_empty() { dim(NOTHING) } else { cell }
}

/// Rows under headings. Wide cells wrap instead of pushing the others off the screen: it is the only
/// place where their text is shown.
pub(crate) fn table(headings: &[&str], rows: Vec<Vec<String>>) -> String {
    let mut table = plain();
    table.set_header(headings.iter().map(|it| bold(it)));
    table.add_rows(rows);
    aligned(table)
}

/// As [`table`], with a first column of commands: they stay whole, to be copied.
pub(crate) fn commands(headings: &[&str; 2], rows: Vec<[String; 2]>) -> String {
    let mut table = plain();
    table.set_header(headings.iter().map(|it| bold(it)));
    table.add_rows(rows);
    if let Some(column) = table.column_iter_mut().next() {
        column.set_constraint(ColumnConstraint::ContentWidth);
    }
    aligned(table)
}

/// One item: its fields, one per line.
pub(crate) fn fields(rows: Vec<(&str, String)>) -> String {
    let mut table = plain();
    table.add_rows(rows.into_iter().map(|(name, value)| vec![bold(name), dashed(value)]));
    aligned(table)
}

/// Wraps one line to this terminal, with `margin` columns kept free.
pub(crate) fn wrapped(line: &str, margin: usize) -> Vec<String> {
    let mut table = plain();
    let Some(room) = table.width().and_then(|it| it.checked_sub(u16::try_from(margin).ok()?))
    else {
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
    table.load_style(presets::NOTHING);
    match terminal_width() {
        Some(width) => {
            table.set_width(width).set_content_arrangement(ContentArrangement::Dynamic);
        }
        None => {
            table.force_no_tty().set_content_arrangement(ContentArrangement::Disabled);
        }
    }
    table
}

/// Of the terminal that answers go to. Some do not report their width.
pub(super) fn terminal_width() -> Option<u16> {
    let size = rustix::termios::tcgetwinsize(std::io::stdout()).ok()?;
    Some(size.ws_col).filter(|it| *it >= LEAST_WIDTH)
}

fn aligned(mut table: Table) -> String {
    for column in table.column_iter_mut() {
        column.set_padding((0, GAP));
    }
    table.lines().map(|it| it.trim_end().to_owned()).collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use super::*;

    #[track_caller]
    fn check(width: Option<u16>, expected: &Expect) {
        let rows = [
            ["1", "shop:12", "Customers can log in with a code by mail", "held by implementer"],
            ["22", "", "短い題名もここにある", &bold("offered to a-very-long-agent-name")],
        ];
        let rows = rows.map(|it| it.map(str::to_owned).to_vec()).to_vec();
        let drawn = list_within(width, &["#", "STORY", "TITLE", "BATON"], rows);
        let drawn = anstream::adapter::strip_str(&drawn).to_string();
        expected.assert_eq(&drawn);
    }

    #[test]
    fn a_list_has_one_line_a_row() {
        check(
            None,
            &expect![[r#"
            #   STORY    TITLE                                     BATON
            1   shop:12  Customers can log in with a code by mail  held by implementer
            22  –        短い題名もここにある                      offered to a-very-long-agent-name"#]],
        );
        check(
            Some(80),
            &expect![[r#"
                #   STORY    TITLE                              BATON
                1   shop:12  Customers can log in with a code…  held by implementer
                22  –        短い題名もここにある               offered to a-very-long-agent-na…"#]],
        );
        check(
            Some(50),
            &expect![[r#"
                #   STORY    TITLE               BATON
                1   shop:12  Customers can log…  held by implemen…
                22  –        短い題名もここに…   offered to a-ver…"#]],
        );
    }

    #[test]
    fn a_list_that_is_too_wide_becomes_two() {
        let rows = [["implementer", "12", "3 s / 9 s", "75 %", "$1.20"]];
        let rows = || rows.iter().map(|it| it.iter().map(ToString::to_string).collect()).collect();
        let headings = ["AGENT", "HANDOFFS", "DONE P50/P95", "FIRST PASS", "COST"];
        let drawn = |width| {
            let drawn = list_or_two_within(width, &headings, rows(), 3);
            anstream::adapter::strip_str(&drawn).to_string()
        };
        let one = expect![[r#"
            AGENT        HANDOFFS  DONE P50/P95  FIRST PASS  COST
            implementer  12        3 s / 9 s     75 %        $1.20"#]];
        one.assert_eq(&drawn(None));
        one.assert_eq(&drawn(Some(54)));
        expect![[r#"
            AGENT        HANDOFFS  DONE P50/P95
            implementer  12        3 s / 9 s

            AGENT        FIRST PASS  COST
            implementer  75 %        $1.20"#]]
        .assert_eq(&drawn(Some(53)));
    }

    #[test]
    fn the_widest_column_is_cut_first() {
        for (width, widths, expected) in [
            (80, vec![3, 10, 20], vec![3, 10, 20]),
            (30, vec![3, 10, 20], vec![3, 10, 13]),
            (23, vec![3, 10, 20], vec![3, 8, 8]),
            (20, vec![3, 10, 20], vec![3, 8, 8]),
            (20, Vec::new(), Vec::new()),
        ] {
            assert_eq!(cut_to(width, widths, &[]), expected, "{width}");
        }
    }

    #[test]
    fn a_column_that_may_be_cut_is_cut_before_the_others() {
        assert_eq!(cut_to(40, vec![12, 20, 14], &[0]), vec![8, 14, 14]);
        assert_eq!(cut_to(46, vec![12, 20, 14], &[0]), vec![8, 20, 14]);
        assert_eq!(cut_to(46, vec![12, 20, 14], &[2, 0]), vec![12, 20, 10]);
        assert_eq!(cut_to(44, vec![12, 20, 14], &[2, 0]), vec![12, 20, 8]);
    }

    #[test]
    fn a_reason_gives_way_to_who_hands_to_whom() {
        let row = [
            "4",
            "gated:story",
            "HO-004",
            "specification → architecture",
            "pending",
            "2 min ago",
            "Specification validated, and more than that",
        ];
        let headings = ["#", "STORY", "LABEL", "HANDOFF", "STATE", "SINCE", "REASON"];
        let rows = vec![row.map(str::to_owned).to_vec()];
        let drawn = list_cutting_within(Some(80), &headings, rows, &[6]);
        let drawn = anstream::adapter::strip_str(&drawn).to_string();
        assert!(drawn.contains("specification → archite"), "{drawn}");
        assert!(drawn.lines().all(|it| text_width(it) <= 80), "{drawn}");
    }
}
