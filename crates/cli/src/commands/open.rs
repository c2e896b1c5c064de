//! `baton open`: the page of the server, of a run or of a handoff, in a browser.

use baton_core::document::Node;
use baton_http::api::{Detail, Run};
use http::StatusCode;

use crate::api::{Api, Ask};
use crate::args::{Cli, Open};
use crate::browser;
use crate::failure::Failure;
use crate::show::{self, Format};

pub(crate) async fn run(cli: &Cli, args: &Open) -> Result<(), Failure> {
    let api = Api::served(cli).await?;
    let Some(server) = api.server() else { return Err(Failure::NoServer) };
    let page = match &args.what {
        Some(name) => page_of(&api, name).await?,
        // That there is a Baton is seen before a browser is started for it.
        None => api.send(&Ask::get(["status"])).await.map(|_| "/".to_owned())?,
    };
    let url = format!("{}{page}", server.url);
    match cli.format() {
        Format::Table => show::answer(&url),
        Format::Json => show::answer_json(&Node::map([("url", Node::text(&url))])),
    }
    if !args.print
        && let Err(error) = browser::open(&url)
    {
        show::note(&format!("no browser could be started: {error}"));
    }
    Ok(())
}

/// A run where there is one of that name, else a handoff.
async fn page_of(api: &Api, name: &str) -> Result<String, Failure> {
    match api.get::<Run>(&Ask::get(["runs", name])).await {
        Ok(run) => return Ok(format!("/runs/{}", run.number)),
        Err(Failure::Refused { problem, .. }) if problem.status == StatusCode::NOT_FOUND => {}
        Err(failure) => return Err(failure),
    }
    match api.get::<Detail>(&Ask::get(["handoffs", name])).await {
        Ok(detail) => Ok(format!("/handoffs/{}", detail.handoff.row.number)),
        Err(Failure::Refused { problem, .. }) if problem.status == StatusCode::NOT_FOUND => {
            Err(Failure::NotFound(format!("there is no run and no handoff `{name}`")))
        }
        Err(failure) => Err(failure),
    }
}
