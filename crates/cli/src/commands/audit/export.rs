//! `baton audit export`: page by page, so that the longest log needs no more memory than a page.

use baton_api::{AuditEntry, CheckpointDocument, ExportFormat, ExportWriter, LoggedEvent, Page};
use serde::Serialize;
use serde_json::json;

use crate::api::{Api, Ask};
use crate::args::AuditRange;
use crate::failure::Failure;
use crate::show;

const ROWS: u32 = 500;

/// One row for each handoff.
pub(super) async fn handoffs(
    api: &Api,
    range: &AuditRange,
    format: ExportFormat,
) -> Result<(), Failure> {
    let mut writer = ExportWriter::new(format);
    let ask = range.ask().with("limit", ROWS);
    show::answer_text(&writer.begin());
    let mut after: Option<String> = None;
    loop {
        let page: Page<AuditEntry> = api.get(&ask.clone().with_some("after", after)).await?;
        show::answer_text(&writer.rows(&page.items));
        after = page.next;
        if after.is_none() {
            show::answer_text(writer.end());
            return Ok(());
        }
    }
}

/// One line for each event, and then one for each checkpoint: what `audit verify --export` reads.
pub(super) async fn events(api: &Api, format: ExportFormat) -> Result<(), Failure> {
    match format {
        ExportFormat::Jsonl => {}
        ExportFormat::Csv | ExportFormat::Json => {
            let message = "events are exported as `--format jsonl` only";
            return Err(Failure::Usage(message.to_owned()));
        }
    }
    pages(api, ["audit", "events"], |it: &LoggedEvent| line(it)).await?;
    let checkpoint = |it: &CheckpointDocument| line(&json!({ "checkpoint": it.text }));
    pages(api, ["audit", "checkpoints"], checkpoint).await
}

async fn pages<T: serde::de::DeserializeOwned>(
    api: &Api,
    path: [&str; 2],
    show_item: impl Fn(&T) -> String,
) -> Result<(), Failure> {
    let ask = Ask::get(path).with("limit", ROWS);
    let mut after: Option<String> = None;
    loop {
        let page: Page<T> = api.get(&ask.clone().with_some("after", after)).await?;
        show::answer_text(&page.items.iter().map(&show_item).collect::<String>());
        after = page.next;
        if after.is_none() {
            return Ok(());
        }
    }
}

fn line(document: &impl Serialize) -> String {
    match serde_json::to_string(document) {
        Ok(text) => text + "\n",
        Err(error) => unreachable!("our own types always encode: {error}"),
    }
}
