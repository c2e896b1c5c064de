//! `baton open`: the page of the server, of a run or of a handoff, in a browser.

use baton_api::{HandoffDetail, RunDocument};
use baton_core::document::Node;
use baton_core::names::StoryKey;
use http::StatusCode;

use crate::api::{Api, Ask};
use crate::args::{Cli, OpenArgs};
use crate::browser;
use crate::failure::Failure;
use crate::show::{self, OutputFormat};

pub(crate) async fn run(cli: &Cli, args: &OpenArgs) -> Result<(), Failure> {
    let api = Api::served(cli).await?;
    let Some(server) = api.server() else { return Err(Failure::NoServer) };
    let page = match &args.what {
        Some(name) => page_of(&api, name).await?,
        // Check that the server answers before a browser is started for it.
        None => api.send(&Ask::get(["status"])).await.map(|_| "/".to_owned())?,
    };
    let url = format!("{}{page}", server.url);
    match cli.format() {
        OutputFormat::Table => show::answer(&url),
        OutputFormat::Json => show::answer_json(&Node::map([("url", Node::text(&url))])),
    }
    if !args.print
        && let Err(error) = browser::open(&url)
    {
        show::note(&format!("no browser could be started: {error}"));
    }
    Ok(())
}

/// A run or a handoff. A number means a run: nearly always a handoff has the same number, so that
/// is no ambiguity.
async fn page_of(api: &Api, name: &str) -> Result<String, Failure> {
    let run = match name.starts_with(StoryKey::HANDOFF_PREFIX) {
        true => None,
        false => there(api.get::<RunDocument>(&Ask::get(["runs", name])).await)?,
    };
    let is_number = name.parse::<u64>().is_ok();
    let handoff = match run.is_some() && is_number {
        true => None,
        false => handoff(api, name, run.is_some()).await?,
    };
    match (run, handoff) {
        (Some(run), None) => Ok(format!("/runs/{}", run.number)),
        // The name of a run is also that of the handoff that is open in it.
        (Some(run), Some(detail)) if detail.handoff.row.run == run.id => {
            Ok(format!("/runs/{}", run.number))
        }
        (None, Some(_)) if is_number => Err(Failure::NotFound(format!(
            "there is no run `{name}`; the handoff of that number is `{}{name}`",
            StoryKey::HANDOFF_PREFIX
        ))),
        (None, Some(detail)) => Ok(format!("/handoffs/{}", detail.handoff.row.number)),
        (Some(run), Some(detail)) => Err(Failure::Conflict(format!(
            "`{name}` means both run {} and handoff {}; say `{}{}` or `{}{}`",
            run.number,
            detail.handoff.row.number,
            StoryKey::RUN_PREFIX,
            run.number,
            StoryKey::HANDOFF_PREFIX,
            detail.handoff.row.number
        ))),
        (None, None) => Err(Failure::NotFound(format!("there is no run and no handoff `{name}`"))),
    }
}

/// Where the name is a run, a refused lookup of a handoff counts as no handoff.
async fn handoff(api: &Api, name: &str, is_run: bool) -> Result<Option<HandoffDetail>, Failure> {
    match api.get::<HandoffDetail>(&Ask::get(["handoffs", name])).await {
        Err(Failure::Refused { .. }) if is_run => Ok(None),
        found => there(found),
    }
}

fn there<T>(found: Result<T, Failure>) -> Result<Option<T>, Failure> {
    match found {
        Ok(found) => Ok(Some(found)),
        Err(Failure::Refused { problem, .. }) if problem.status == StatusCode::NOT_FOUND => {
            Ok(None)
        }
        Err(failure) => Err(failure),
    }
}
