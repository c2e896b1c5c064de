//! `baton prompt`: what the receiver of a handoff is told.

use baton_core::document::{Node, Number};
use baton_engine::{DashboardUrl, Face, PromptOptions};

use crate::args::{FaceName, Prompt};
use crate::failure::Failure;
use crate::names::find_handoff;
use crate::session::Session;
use crate::show::{self, Format};

/// Where `baton serve` listens unless told otherwise.
const USUAL_URL: &str = "http://127.0.0.1:4180";

pub(crate) async fn run(session: &Session, args: &Prompt) -> Result<(), Failure> {
    let url = DashboardUrl::parse(args.url.as_deref().unwrap_or(USUAL_URL));
    let options = PromptOptions {
        dashboard_url: url.map_err(|error| Failure::Usage(error.to_string()))?,
        token: None,
        budget_tokens: args.budget,
        face: match (args.face, &args.url) {
            (Some(FaceName::Curl), _) | (None, Some(_)) => Face::Curl,
            (Some(FaceName::Cli), _) | (None, None) => Face::Cli,
            (Some(FaceName::Block), _) => Face::Block,
        },
    };
    let handoff = find_handoff(&session.engine, &args.which).await?;
    let prompt = session.engine.prompt(&handoff, &options).await?;
    match session.format {
        Format::Table => show::answer(&prompt.text),
        Format::Json => {
            let tokens = i64::try_from(prompt.tokens).unwrap_or(i64::MAX);
            let package = prompt.package.map_or(Node::Null, |it| Node::text(it.to_string()));
            show::answer_json(&Node::map([
                ("text", Node::text(prompt.text)),
                ("hash", Node::text(prompt.hash.to_string())),
                ("packageHash", package),
                ("tokens", Node::Number(Number::from(tokens))),
                ("leftOut", Node::List(prompt.left_out.into_iter().map(Node::Text).collect())),
            ]));
        }
    }
    Ok(())
}
