//! `cargo xtask bench WHAT --against DIR [--pairs N]`: measures this checkout and the one in DIR in
//! turn, and compares them pair by pair. What else the machine does changes rates by a third within
//! minutes; within a pair it is nearly the same for both, and the median evens out the rest.

use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, bail, ensure};

use super::{BUILD, RUN};
use crate::{cargo, project_root};

const USUAL_PAIRS: usize = 5;

/// Another checkout to compare with, and how often.
#[derive(Debug, PartialEq)]
pub(super) struct Comparison {
    other: PathBuf,
    n_pairs: usize,
}

/// One number of a report of `baton-load`, with its place there.
#[derive(Debug, Clone, PartialEq)]
struct Figure {
    name: String,
    value: f64,
}

/// What one pair says about one figure: the value here, and that of the other checkout.
struct FigurePair {
    name: String,
    here: f64,
    there: f64,
}

impl Comparison {
    /// Takes its own options out of a command line.
    pub(super) fn of_args<'a>(args: &[&'a str]) -> Result<(Option<Self>, Vec<&'a str>)> {
        let (mut other, mut n_pairs, mut rest) = (None, None, Vec::new());
        let mut args = args.iter();
        while let Some(arg) = args.next() {
            let mut value = || args.next().with_context(|| format!("`{arg}` needs a value"));
            match *arg {
                "--against" => other = Some(PathBuf::from(value()?)),
                "--pairs" => n_pairs = Some(value()?.parse().context("`--pairs` takes a number")?),
                _ => rest.push(*arg),
            }
        }
        let comparison = match (other, n_pairs) {
            (None, Some(_)) => bail!("`--pairs` goes with `--against DIR`, the other checkout"),
            (None, None) => None,
            (Some(other), n_pairs) => {
                let n_pairs = n_pairs.unwrap_or(USUAL_PAIRS);
                ensure!(n_pairs > 0, "`--pairs` takes a number from 1 on");
                Some(Self { other, n_pairs })
            }
        };
        Ok((comparison, rest))
    }

    pub(super) fn run(&self, args: &[&str]) -> Result<()> {
        let there = std::path::absolute(&self.other)?;
        let is_checkout = there.join("crates/load").is_dir();
        ensure!(is_checkout, "`{}` is not a checkout of Baton", there.display());
        let here = project_root();
        for dir in [&here, &there] {
            cargo::run_in(dir, &BUILD)?;
        }
        println!("`baton-load {}`: here, and in `{}`\n", args.join(" "), self.other.display());
        println!("| pair | load | figure | here | there | here ÷ there |");
        println!("|---|---|---|---|---|---|");
        let mut pairs: Vec<FigurePair> = Vec::new();
        for n in 1..=self.n_pairs {
            // In turn: whichever goes second may find the disk busy with what the first has left.
            let (of_here, of_there) = if n % 2 == 1 {
                let of_here = measure(&here, args)?;
                (of_here, measure(&there, args)?)
            } else {
                let of_there = measure(&there, args)?;
                (measure(&here, args)?, of_there)
            };
            let found = paired(&of_here, &of_there);
            ensure!(!found.is_empty(), "the two reports have no figure in common");
            let load = load_average();
            for FigurePair { name, here, there } in &found {
                println!("| {n} | {load} | {name} | {here} | {there} | {:.2} |", here / there);
            }
            pairs.extend(found);
        }
        print_medians(&pairs);
        Ok(())
    }
}

fn measure(dir: &Path, args: &[&str]) -> Result<Vec<Figure>> {
    Ok(figures(&cargo::output_in(dir, &[&RUN[..], args].concat())?))
}

fn paired(of_here: &[Figure], of_there: &[Figure]) -> Vec<FigurePair> {
    let pair = |here: &Figure| {
        let there = of_there.iter().find(|it| it.name == here.name)?.value;
        Some(FigurePair { name: here.name.clone(), here: here.value, there })
    };
    of_here.iter().filter_map(pair).collect()
}

fn print_medians(pairs: &[FigurePair]) {
    println!("\n| figure | median of here ÷ there | least, most |\n|---|---|---|");
    let mut names: Vec<&str> = Vec::new();
    for pair in pairs {
        if !names.contains(&pair.name.as_str()) {
            names.push(&pair.name);
        }
    }
    for name in names {
        let of_name = pairs.iter().filter(|it| it.name == name);
        let ratios = sorted(of_name.map(|it| it.here / it.there).collect());
        if let (Some(least), Some(most)) = (ratios.first(), ratios.last()) {
            println!("| {name} | {:.2} | {least:.2}, {most:.2} |", median(&ratios));
        }
    }
}

/// The rates in the tables of a report (columns that end in `/s`, by the first column of their
/// row), and its lines of the form `p99 23.10 ms`.
fn figures(report: &str) -> Vec<Figure> {
    let mut columns: Vec<&str> = Vec::new();
    let mut found = Vec::new();
    for line in report.lines() {
        let Some(row) = line.trim().strip_prefix('|') else {
            columns.clear();
            if let [name, value, "ms"] = line.split_whitespace().collect::<Vec<_>>()[..]
                && let Ok(value) = value.parse()
            {
                found.push(Figure { name: format!("{name}, ms"), value });
            }
            continue;
        };
        let cells: Vec<&str> = row.trim_end_matches('|').split('|').map(str::trim).collect();
        if columns.is_empty() {
            columns = cells;
            continue;
        }
        let Some((label, values)) = cells.split_first() else { continue };
        let Some((of_what, names)) = columns.split_first() else { continue };
        for (name, value) in names.iter().zip(values).filter(|(name, _)| name.ends_with("/s")) {
            if let Ok(value) = value.parse() {
                found.push(Figure { name: format!("{of_what} {label}: {name}"), value });
            }
        }
    }
    found
}

/// Of an even number, the mean of the two in the middle.
fn median(sorted: &[f64]) -> f64 {
    let middle = sorted.len() / 2;
    match (sorted.get(middle.wrapping_sub(1)), sorted.get(middle)) {
        (Some(below), Some(above)) if sorted.len().is_multiple_of(2) => (below + above) / 2.0,
        (_, Some(middle)) => *middle,
        (_, None) => f64::NAN,
    }
}

fn sorted(mut values: Vec<f64>) -> Vec<f64> {
    values.sort_by(f64::total_cmp);
    values
}

/// How many programs wanted a processor during the last minute, where the system says it.
fn load_average() -> String {
    let text = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
    text.split_whitespace().next().unwrap_or("–").to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn its_own_options_are_taken_out_of_the_command_line() {
        let of = |args: &[&'static str]| Comparison::of_args(args).unwrap();
        assert_eq!(of(&["engine", "--rounds", "1"]), (None, vec!["engine", "--rounds", "1"]));
        let comparison = Comparison { other: "../old".into(), n_pairs: 7 };
        let args = ["engine", "--against", "../old", "--rounds", "1", "--pairs", "7"];
        assert_eq!(of(&args), (Some(comparison), vec!["engine", "--rounds", "1"]));
        let comparison = Comparison { other: "../old".into(), n_pairs: USUAL_PAIRS };
        assert_eq!(of(&["--against", "../old"]), (Some(comparison), vec![]));
        for wrong in [&["--against"][..], &["--pairs", "3"], &["--against", "a", "--pairs", "0"]] {
            assert!(Comparison::of_args(wrong).is_err(), "{wrong:?}");
        }
    }

    #[test]
    fn figures_are_read_from_tables_and_from_lines() {
        let report = "durable transitions per second\nmedians of 1 rounds of 2s\n\n\
            | callers | engine/s | p50 ms | raw writer/s | engine ÷ raw |\n\
            |---|---|---|---|---|\n\
            | 64 | 18174 | 3.14 | 25406 | 0.72 |\n\n\
            1000 listeners, 500 events in 10 s, heard 500000\n  p99    23.10 ms\n";
        let found: Vec<_> = figures(report).into_iter().map(|it| (it.name, it.value)).collect();
        let expected = [
            ("callers 64: engine/s".to_owned(), 18174.0),
            ("callers 64: raw writer/s".to_owned(), 25406.0),
            ("p99, ms".to_owned(), 23.1),
        ];
        assert_eq!(found, expected);
    }

    #[test]
    fn only_figures_of_both_reports_are_compared() {
        let figure = |name: &str, value| Figure { name: name.to_owned(), value };
        let here = [figure("a", 9.0), figure("new", 1.0)];
        let there = [figure("old", 1.0), figure("a", 10.0)];
        let pairs = paired(&here, &there);
        assert_eq!(pairs.len(), 1);
        assert_eq!((pairs[0].name.as_str(), pairs[0].here, pairs[0].there), ("a", 9.0, 10.0));
    }

    #[test]
    fn a_median_is_in_the_middle() {
        assert_eq!(median(&[0.9, 0.95, 1.0]), 0.95);
        assert_eq!(median(&[0.5, 1.0]), 0.75);
        assert!(median(&[]).is_nan());
    }
}
