//! `baton context`: what the agents of a run share.

use baton_api::{NewContext, SharedDocument};

use super::outcome::{Deed, show_rehearsed};
use crate::api::{Api, Ask};
use crate::args::ContextCommand;
use crate::failure::Failure;
use crate::payload;
use crate::show::{self, OutputFormat};

pub(crate) async fn run(api: &Api, verb: &ContextCommand) -> Result<(), Failure> {
    match verb {
        ContextCommand::List { run } => {
            versions(api, Ask::get(["runs", run, "context"]), "nothing is shared yet").await
        }
        ContextCommand::History { run, key } => {
            versions(api, Ask::get(["runs", run, "context", key, "history"]), "").await
        }
        ContextCommand::Get { run, key, agent } => {
            let ask = Ask::get(["runs", run, "context", key]);
            let reply = api.send(&ask.with_some("agent", agent.as_ref())).await?;
            if api.format == OutputFormat::Json {
                show::answer_document(&reply.body);
                return Ok(());
            }
            let document: SharedDocument = reply.document()?;
            show::answer(&show::block(document.text.as_deref().unwrap_or("(lost)")));
            show::note(&line(&document));
            Ok(())
        }
        ContextCommand::Set { run, key, text, version, agent, write } => {
            let text = payload::words(Some(text))?.unwrap_or_default();
            let body = NewContext { version: *version, text, agent: agent.clone() };
            let ask = Ask::put(["runs", run, "context", key], &body).writing(write);
            let reply = api.send(&ask).await?;
            if api.format == OutputFormat::Json {
                show::answer_document(&reply.body);
                return Ok(());
            }
            match reply.rehearsed()? {
                Some(rehearsed) => {
                    Deed::new("set", "set", key).show_rehearsed();
                    show_rehearsed(&rehearsed);
                }
                None => show::answer(&line(&reply.document()?)),
            }
            Ok(())
        }
    }
}

async fn versions(api: &Api, ask: Ask, nothing: &str) -> Result<(), Failure> {
    let listed = api.whole_list::<SharedDocument>(&ask).await?;
    match api.format {
        OutputFormat::Json => show::answer_json(&listed.into_json()),
        OutputFormat::Table if listed.items.is_empty() => show::note(nothing),
        OutputFormat::Table => {
            let lines: Vec<String> = listed.items.iter().map(line).collect();
            show::answer(&lines.join("\n"));
        }
    }
    Ok(())
}

fn line(it: &SharedDocument) -> String {
    format!(
        "{}, version {}: {} bytes, by {} at {:.0}",
        it.key,
        it.version,
        it.bytes,
        show::visible(&it.changed_by),
        it.changed_at
    )
}
