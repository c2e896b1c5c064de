//! The whole log, read over HTTP when everything works.

use anyhow::{Context as _, Result};
use serde_json::Value;

use super::NodeDoor;
use super::operation::LoggedFact;
use crate::http::connection::Connection;

/// Reads until there is no more; what happens meanwhile is read too.
pub(super) async fn read(door: NodeDoor) -> Result<Vec<LoggedFact>> {
    let mut connection = Connection::open_through(door.proxy, door.node).await?;
    let mut log: Vec<LoggedFact> = Vec::new();
    loop {
        let after = log.last().map_or(0, |it| it.position);
        let path = format!("/api/v1/audit/events?limit=500&after={after}");
        let page: Value = serde_json::from_str(&connection.get(&path).await?)?;
        let items = page["items"].as_array().context("a page without items")?;
        for item in items {
            log.push(fact(item).with_context(|| format!("an event without its fields: {item}"))?);
        }
        if items.is_empty() || page["next"].is_null() {
            return Ok(log);
        }
    }
}

fn fact(item: &Value) -> Option<LoggedFact> {
    let body: Value = serde_json::from_str(item["body"].as_str()?).ok()?;
    let text = |name: &str| item[name].as_str().map(str::to_owned);
    Some(LoggedFact {
        position: item["position"].as_u64()?,
        run: text("runId")?,
        version: item["version"].as_u64()?,
        at: item["at"].as_str()?.parse().ok()?,
        name: text("name")?,
        by: text("by")?,
        handoff: body["handoff"].as_u64(),
        fence: body["fence"].as_u64(),
    })
}
