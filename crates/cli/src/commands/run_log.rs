//! `baton run log`: the conversation of a run, and what is added to it.

use std::time::Duration;

use baton_api::{ConversationDocument, NewMessage, RunDocument};

use super::stop::stop_signal;
use crate::api::{Api, Ask};
use crate::failure::Failure;
use crate::payload;
use crate::show::{self, OutputFormat, TimeFormat};

/// How often a follower asks for more.
const EVERY: Duration = Duration::from_millis(500);

/// What to print of a conversation.
pub(crate) struct LogRequest<'a> {
    pub(crate) run: &'a str,
    /// From the beginning, not only the end.
    pub(crate) is_whole: bool,
    /// Go on printing until the run ends.
    pub(crate) follow: bool,
    pub(crate) limit: u32,
}

pub(crate) async fn log(api: &Api, asked: &LogRequest<'_>) -> Result<(), Failure> {
    let limit = asked.limit.to_string();
    let ask = Ask::get(["runs", asked.run, "conversation"]).with("limit", &limit);
    let first = if asked.is_whole { ask.with("after", "0") } else { ask };
    let mut next = show_page(api, &first).await?;
    loop {
        let is_more = asked.is_whole || asked.follow;
        let ask = Ask::get(["runs", asked.run, "conversation"]).with("after", next.cursor);
        let ask = ask.with("limit", &limit);
        if !is_more {
            return Ok(());
        }
        // Before the page: what ends the run is on it.
        let run: RunDocument = api.get(&Ask::get(["runs", asked.run])).await?;
        next = show_page(api, &ask).await?;
        let is_over = !asked.follow || !run.status.is_open();
        if next.n_items == 0 && is_over {
            return Ok(());
        }
        if next.n_items == 0 {
            tokio::select! {
                () = tokio::time::sleep(EVERY) => {}
                () = stop_signal() => return Ok(()),
            }
        }
    }
}

/// Posts a message to the run.
pub(crate) async fn say(
    api: &Api,
    run: &str,
    text: &String,
    agent: Option<&String>,
) -> Result<(), Failure> {
    let text = payload::words(Some(text))?.unwrap_or_default();
    let body = NewMessage { text, agent: agent.cloned() };
    let reply = api.send(&Ask::post(["runs", run, "messages"], &body)).await?;
    match api.format {
        OutputFormat::Json => show::answer_document(&reply.body),
        OutputFormat::Table => show::note("said"),
    }
    Ok(())
}

struct ShownPage {
    cursor: String,
    n_items: usize,
}

async fn show_page(api: &Api, ask: &Ask) -> Result<ShownPage, Failure> {
    let reply = api.send(ask).await?;
    let page: ConversationDocument = reply.document()?;
    let times = TimeFormat::local();
    match api.format {
        OutputFormat::Json => {
            for item in &page.items {
                match serde_json::to_string(item) {
                    Ok(line) => show::answer(&line),
                    Err(error) => unreachable!("our own types always encode: {error}"),
                }
            }
        }
        OutputFormat::Table => {
            for item in &page.items {
                show::answer(&show::conversation_item(item, &times));
            }
        }
    }
    Ok(ShownPage { cursor: page.next, n_items: page.items.len() })
}
