//! `baton verify`: verifies every hash chain and replays every run.

use baton_core::document::Node;

use crate::args::Cli;
use crate::data::verify_project;
use crate::failure::Failure;
use crate::project::Project;
use crate::show::{self, OutputFormat};

pub(crate) async fn run(cli: &Cli) -> Result<(), Failure> {
    let verified = verify_project(&Project::of(cli)?).await?;
    if !verified.is_sound() {
        return Err(Failure::Unsound(Box::new(verified)));
    }
    match cli.format() {
        OutputFormat::Json => show::answer_json(&Node::map([
            ("runs", Node::count(verified.n_runs)),
            ("events", Node::count(verified.n_events)),
            ("lostTexts", Node::count(verified.n_lost_texts)),
            ("lostNumbers", Node::count(verified.n_lost_numbers)),
            ("problems", Node::List(Vec::new())),
        ])),
        OutputFormat::Table => {
            show::answer(&format!(
                "{} and {} verified: every chain is whole",
                show::counted(verified.n_runs, "run"),
                show::counted(verified.n_events, "event")
            ));
            if verified.n_lost_texts > 0 {
                let texts = show::counted(verified.n_lost_texts, "text");
                show::answer(&format!("{texts} recorded as lost in a recovery"));
            }
            if verified.n_lost_numbers > 0 {
                let numbers = show::counted(verified.n_lost_numbers, "number");
                show::answer(&format!(
                    "{numbers} of runs, handoffs or events recorded as lost in a recovery or a move"
                ));
            }
        }
    }
    Ok(())
}
