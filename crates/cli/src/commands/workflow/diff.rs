//! `baton workflow diff`: the workflow that a run began with, against the file as it is now.

use baton_api::RunDefinition;

use crate::api::{Api, Ask};
use crate::failure::Failure;
use crate::show::{self, OutputFormat};

/// A workflow has at most 256 KiB; longer lists of lines are compared by their ends only.
const MOST_LINES: usize = 2_000;

pub(super) async fn run(api: &Api, run: &str) -> Result<(), Failure> {
    let definition: RunDefinition = api.get(&Ask::get(["runs", run, "definition"])).await?;
    let changes = match &definition.current {
        Some(now) if *now != definition.text => changes(&definition.text, now),
        Some(_) | None => Vec::new(),
    };
    match api.format {
        OutputFormat::Json => show::answer_as(&definition),
        OutputFormat::Table => match (&definition.current, changes.is_empty()) {
            (None, _) => show::note(&format!(
                "the project has no workflow `{}` any more; the run goes on with the one that it \
                 began with",
                definition.name
            )),
            (Some(_), true) => show::note(&format!(
                "`{}` is what the run began with, letter for letter",
                definition.name
            )),
            (Some(_), false) => {
                show::answer(&changes.join("\n"));
                show::note(
                    "the run goes on with what it began with (-); new runs take the file (+)",
                );
            }
        },
    }
    Ok(())
}

/// Lines that were taken out (`-`) and put in (`+`), each block with the lines around it.
fn changes(before: &str, after: &str) -> Vec<String> {
    let before: Vec<&str> = before.lines().take(MOST_LINES).collect();
    let after: Vec<&str> = after.lines().take(MOST_LINES).collect();
    let common = common_lines(&before, &after);
    let mut lines: Vec<(char, &str)> = Vec::new();
    let (mut old, mut new) = (0, 0);
    for (at_old, at_new) in common.into_iter().chain([(before.len(), after.len())]) {
        lines.extend(before[old..at_old].iter().map(|it| ('-', *it)));
        lines.extend(after[new..at_new].iter().map(|it| ('+', *it)));
        if let Some(same) = before.get(at_old) {
            lines.push((' ', same));
        }
        (old, new) = (at_old + 1, at_new + 1);
    }
    with_context(&lines)
}

/// The places of a longest common subsequence in both.
fn common_lines(before: &[&str], after: &[&str]) -> Vec<(usize, usize)> {
    let width = after.len() + 1;
    let mut longest = vec![0_u32; (before.len() + 1) * width];
    for old in (0..before.len()).rev() {
        for new in (0..after.len()).rev() {
            longest[old * width + new] = if before[old] == after[new] {
                longest[(old + 1) * width + new + 1] + 1
            } else {
                longest[(old + 1) * width + new].max(longest[old * width + new + 1])
            };
        }
    }
    let (mut old, mut new, mut common) = (0, 0, Vec::new());
    while old < before.len() && new < after.len() {
        if before[old] == after[new] {
            common.push((old, new));
            (old, new) = (old + 1, new + 1);
        } else if longest[(old + 1) * width + new] >= longest[old * width + new + 1] {
            old += 1;
        } else {
            new += 1;
        }
    }
    common
}

fn with_context(lines: &[(char, &str)]) -> Vec<String> {
    const AROUND: usize = 2;
    let is_near = |index: usize| {
        let from = index.saturating_sub(AROUND);
        let to = (index + AROUND + 1).min(lines.len());
        lines[from..to].iter().any(|(mark, _)| *mark != ' ')
    };
    let mut shown = Vec::new();
    let mut is_open = true;
    for (index, (mark, line)) in lines.iter().enumerate() {
        if is_near(index) {
            shown.push(format!("{mark} {line}").trim_end().to_owned());
            is_open = true;
        } else if is_open {
            shown.push("…".to_owned());
            is_open = false;
        }
    }
    shown
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::*;

    #[test]
    fn a_change_is_shown_with_the_lines_around_it() {
        let before = "a\nb\nc\nd\ne\nf\ng\nh\n";
        let after = "a\nb\nc\nd\nE\nf\ng\nh\ni\n";
        expect![[r#"
            …
              c
              d
            - e
            + E
              f
              g
              h
            + i"#]]
        .assert_eq(&changes(before, after).join("\n"));
    }
}
