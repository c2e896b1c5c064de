//! `baton audit checkpoint`: signs what the log is, to be kept elsewhere.

use baton_api::{CheckpointDocument, Nothing};

use crate::api::{Api, Ask};
use crate::failure::Failure;
use crate::named_file;
use crate::show::{self, OutputFormat};

pub(super) async fn run(api: &Api, out: Option<&str>) -> Result<(), Failure> {
    let reply = api.send(&Ask::post(["audit", "checkpoints"], &Nothing {})).await?;
    let checkpoint: CheckpointDocument = reply.document()?;
    if let Some(path) = out {
        named_file::write_new(path, &checkpoint.text)?;
    }
    match (api.format, out) {
        (OutputFormat::Json, _) => show::answer_document(&reply.body),
        (OutputFormat::Table, Some(path)) => {
            let events = show::counted(checkpoint.events.unwrap_or_default(), "event");
            let key = checkpoint.key.unwrap_or_default();
            let number = checkpoint.number;
            show::answer(&format!(
                "checkpoint {number} over {events}, signed by {key}, is in `{}`",
                show::visible(path)
            ));
            show::note(
                "keep it where nobody who can write the data can write too; \
                 `baton audit verify --checkpoint FILE` compares",
            );
        }
        (OutputFormat::Table, None) => show::answer_text(&checkpoint.text),
    }
    Ok(())
}
