//! `baton audit export`: page by page, so that the longest log needs no more memory than a page.

use baton_api::{AuditEntry, CheckpointDocument, ExportFormat, ExportWriter, LoggedEvent, Page};
use baton_wire::checkpoint::LogPrefix;
use serde::Serialize;
use serde_json::json;

use super::offline::{ExportHeader, link};
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

/// A header, then one line for each checkpoint, then one for each event: what `audit verify --export`
/// reads. What a cut takes first is what the header and the checkpoints tell of.
pub(super) async fn events(api: &Api, format: ExportFormat) -> Result<(), Failure> {
    match format {
        ExportFormat::Jsonl => {}
        ExportFormat::Csv | ExportFormat::Json => {
            let message = "events are exported as `--format jsonl` only";
            return Err(Failure::Usage(message.to_owned()));
        }
    }
    // The checkpoints first: what they cover is in the log by then.
    let mut checkpoints = String::new();
    each(api, ["audit", "checkpoints"], |it: CheckpointDocument| {
        checkpoints += &line(&json!({ "checkpoint": it.text }));
        Ok(())
    })
    .await?;
    // Read twice: how long the log is stands before it, and no more than a page is kept.
    let mut log = LogPrefix::EMPTY;
    each(api, ["audit", "events"], |it: LoggedEvent| {
        log = log.with(&link(&it).ok_or_else(|| unreadable(&it))?);
        Ok(())
    })
    .await?;
    show::answer_text(&line(&json!({ "export": ExportHeader::of(&log) })));
    show::answer_text(&checkpoints);
    each(api, ["audit", "events"], |it: LoggedEvent| {
        if it.position <= log.position {
            show::answer_text(&line(&it));
        }
        Ok(())
    })
    .await
}

fn unreadable(event: &LoggedEvent) -> Failure {
    let what =
        format!("the event at position {} has no hash; `baton verify` says more", event.position);
    Failure::Broken { what }
}

async fn each<T: serde::de::DeserializeOwned>(
    api: &Api,
    path: [&str; 2],
    mut take: impl FnMut(T) -> Result<(), Failure>,
) -> Result<(), Failure> {
    let ask = Ask::get(path).with("limit", ROWS);
    let mut after: Option<String> = None;
    loop {
        let page: Page<T> = api.get(&ask.clone().with_some("after", after)).await?;
        page.items.into_iter().try_for_each(&mut take)?;
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
