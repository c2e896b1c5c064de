//! Documents per second on one core: reading a package of 4 kB, holding it against its contract and
//! looking at it by every rule of the linter, in each of the four formats.

use std::hint::black_box;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, ensure};
use baton_core::contract::Contract;
use baton_core::document::Node;
use baton_core::lint::{self, Facts, LintSubject, Settings};
use baton_wire::builtin;
use baton_wire::formats::{self, Format};
use clap::Args;

/// What a package of an agent that says a lot looks like.
const PACKAGE: &str = include_str!("formats/package.yaml");

#[derive(Debug, Args)]
pub(crate) struct FormatsOptions {
    /// How long each measurement lasts
    #[arg(long, default_value_t = 3)]
    seconds: u64,
}

pub(crate) fn run(options: &FormatsOptions) -> Result<()> {
    let lasting = Duration::from_secs(options.seconds);
    let document = formats::decode(Format::Yaml, PACKAGE)?;
    let contract = builtin::contract_of(&document).context("the package has no contract")?;
    println!("documents per second on one core, {lasting:?} each\n");
    println!("| format | bytes | read/s | read, contract and linter/s | µs each |");
    println!("|---|---|---|---|---|");
    for format in Format::ALL {
        let text = formats::encode(&document, format);
        let read = rate(lasting, || {
            black_box(formats::decode(format, &text)?);
            Ok(())
        })?;
        let all = rate(lasting, || {
            let document = formats::decode(format, &text)?;
            judge(&document, contract)
        })?;
        println!(
            "| {} | {} | {read:.0} | {all:.0} | {:.1} |",
            format.name(),
            text.len(),
            1_000_000.0 / all
        );
    }
    let linted = rate(lasting, || judge(&document, contract))?;
    println!("\ncontract and linter alone: {linted:.0}/s, {:.1} µs each", 1_000_000.0 / linted);
    Ok(())
}

fn judge(document: &Node, contract: &Contract) -> Result<()> {
    let (facts, settings) = (Facts::default(), Settings::default());
    let contract = Some(contract);
    let subject =
        LintSubject { document, contract, facts: &facts, settings: &settings, file: None };
    let report = black_box(lint::lint(&subject));
    ensure!(report.is_clean(), "the package is not clean: {:?}", report.findings);
    Ok(())
}

fn rate(lasting: Duration, mut work: impl FnMut() -> Result<()>) -> Result<f64> {
    let began = Instant::now();
    let mut n_done = 0_u32;
    while began.elapsed() < lasting {
        for _ in 0..100 {
            work()?;
        }
        n_done += 100;
    }
    Ok(f64::from(n_done) / began.elapsed().as_secs_f64())
}
