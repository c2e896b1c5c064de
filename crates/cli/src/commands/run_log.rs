//! `baton run log`: the conversation of a run, and what is added to it.

use baton_api::{ConversationDocument, NewMessage, RunDocument};

use super::stop::stop_signal;
use super::watch::{position, reconnect};
use crate::api::{Api, Ask, Events};
use crate::args::{Cli, RunLog, WriteArgs};
use crate::failure::Failure;
use crate::payload;
use crate::show::{self, OutputFormat, TimeFormat};

/// The first page: the end of the conversation, or its beginning.
fn first(args: &RunLog) -> Ask {
    let ask = Ask::get(["runs", &args.run, "conversation"]).with("limit", args.limit);
    if args.all { ask.with("after", "0") } else { ask }
}

/// Prints the end of the conversation, or all of it.
pub(crate) async fn log(api: &Api, args: &RunLog) -> Result<(), Failure> {
    let mut shown = show_page(api, &first(args)).await?;
    if args.all {
        show_rest(api, args, &mut shown.cursor).await?;
    }
    Ok(())
}

/// As [`log`], and goes on until the run ends. The server's events only say that there is more: what
/// is printed comes from the conversation, after the last part that was printed. So a lost connection
/// loses nothing and repeats nothing.
pub(crate) async fn follow(cli: &Cli, args: &RunLog) -> Result<(), Failure> {
    tokio::select! {
        followed = follow_run(cli, args) => followed,
        () = stop_signal() => Ok(()),
    }
}

async fn follow_run(cli: &Cli, args: &RunLog) -> Result<(), Failure> {
    let mut api = match Api::served(cli).await {
        Ok(api) => api,
        // Nothing is added without a server, except by commands that this one would keep out.
        Err(failure @ Failure::NoServer) => return log_alone(cli, args, failure).await,
        Err(failure) => return Err(failure),
    };
    let run: RunDocument = api.get(&Ask::get(["runs", &args.run])).await?;
    let run = run.id.to_string();
    let listen = async |api: &Api| api.events(Some(&run), None).await;
    // Before the first page, so that what comes after that is heard.
    let mut events = listen(&api).await?;
    let mut cursor = show_page(&api, &first(args)).await?.cursor;
    loop {
        match show_and_wait(&api, args, &mut events, &mut cursor).await {
            Ok(Followed::RunIsOver) => return Ok(()),
            Ok(Followed::ConnectionLost) | Err(Failure::Server { .. }) => {
                show::note("the server is gone; the rest is shown when it is back");
                (api, events) = reconnect(cli, listen).await?;
            }
            Err(failure) => return Err(failure),
        }
    }
}

/// Prints the log without a server: a run that is over needs none.
async fn log_alone(cli: &Cli, args: &RunLog, no_server: Failure) -> Result<(), Failure> {
    let api = Api::open(cli).await?;
    let run = api.get::<RunDocument>(&Ask::get(["runs", &args.run])).await;
    let shown = log(&api, args).await;
    api.close().await;
    shown?;
    if run?.status.is_open() { Err(no_server) } else { Ok(()) }
}

/// How following over one connection ended.
enum Followed {
    RunIsOver,
    ConnectionLost,
}

async fn show_and_wait(
    api: &Api,
    args: &RunLog,
    events: &mut Events,
    cursor: &mut u64,
) -> Result<Followed, Failure> {
    // Everything up to here was asked for.
    let mut asked_to = 0;
    loop {
        // Before the pages: what ends the run is on them.
        let run: RunDocument = api.get(&Ask::get(["runs", &args.run])).await?;
        show_rest(api, args, cursor).await?;
        if !run.status.is_open() {
            return Ok(Followed::RunIsOver);
        }
        loop {
            let Some(heard) = events.next().await else { return Ok(Followed::ConnectionLost) };
            // A message without an id is no event of the log.
            let Some(position) = heard.id.as_deref().and_then(position) else { continue };
            if position > asked_to.max(*cursor) {
                asked_to = position;
                break;
            }
        }
    }
}

/// Prints what comes after a cursor, and moves it past each page that is printed.
async fn show_rest(api: &Api, args: &RunLog, cursor: &mut u64) -> Result<(), Failure> {
    loop {
        let ask = Ask::get(["runs", &args.run, "conversation"]).with("after", *cursor);
        let shown = show_page(api, &ask.with("limit", args.limit)).await?;
        *cursor = shown.cursor;
        if shown.n_items == 0 {
            return Ok(());
        }
    }
}

/// Posts a message to the run.
pub(crate) async fn say(
    api: &Api,
    run: &str,
    text: &String,
    agent: Option<&String>,
    write: &WriteArgs,
) -> Result<(), Failure> {
    let text = payload::words(Some(text))?.unwrap_or_default();
    let body = NewMessage { text, agent: agent.cloned() };
    let reply = api.send(&Ask::post(["runs", run, "messages"], &body).writing(write)).await?;
    match api.format {
        OutputFormat::Json => show::answer_document(&reply.body),
        OutputFormat::Table if write.dry_run => show::note("would be said"),
        OutputFormat::Table => show::note("said"),
    }
    Ok(())
}

struct ShownPage {
    /// The position of the last part that was shown.
    cursor: u64,
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
    let n_items = page.items.len();
    // A cursor of the conversation is a position.
    let cursor = page.next.parse().unwrap_or(page.items.last().map_or(0, |it| it.position));
    Ok(ShownPage { cursor, n_items })
}
