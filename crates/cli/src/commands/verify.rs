//! `baton verify`: walks every chain and replays every run.

use baton_core::document::Node;

use crate::data::Data;
use crate::failure::Failure;
use crate::show::{self, Format};

pub(crate) async fn run(data: &Data, format: Format) -> Result<(), Failure> {
    let verified = data.verify().await?;
    if !verified.problems.is_empty() {
        for problem in &verified.problems {
            show::note(&format!("  - {}", show::visible(problem)));
        }
        let problems = show::counted(verified.problems.len() as u64, "problem");
        return Err(Failure::Broken { what: format!("the data has {problems}") });
    }
    let count = |n: u64| Node::Number(i64::try_from(n).unwrap_or(i64::MAX).into());
    match format {
        Format::Json => show::answer_json(&Node::map([
            ("runs", count(verified.n_runs)),
            ("events", count(verified.n_events)),
            ("problems", Node::List(Vec::new())),
        ])),
        Format::Table => show::answer(&format!(
            "{} and {} verified: every chain is whole",
            show::counted(verified.n_runs, "run"),
            show::counted(verified.n_events, "event")
        )),
    }
    Ok(())
}
