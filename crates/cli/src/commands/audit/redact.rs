//! `baton audit redact`: drops texts for good, and records that.

use baton_api::{RedactionRequest, RedactionResult};

use crate::api::{Api, Ask};
use crate::args::AuditRedact;
use crate::failure::Failure;
use crate::show::{self, OutputFormat, TimeFormat};

pub(super) async fn run(api: &Api, args: &AuditRedact) -> Result<(), Failure> {
    let request = RedactionRequest {
        handoff: args.handoff.clone(),
        parts: args.part.clone(),
        texts: args.text.clone(),
        files: args.file.clone(),
        reason: args.reason.clone(),
    };
    let ask = Ask::post(["runs", &args.run, "redactions"], &request).writing(&args.write);
    let reply = api.send(&ask).await?;
    if api.format == OutputFormat::Json {
        show::answer_document(&reply.body);
        return Ok(());
    }
    let result: RedactionResult = reply.document()?;
    let times = TimeFormat::local();
    for it in &result.already_redacted {
        let what = show::visible(&it.text.what);
        let (at, by) = (times.show(it.at), show::visible(&it.by));
        show::answer(&format!("{what} was already redacted on {at} by {by}"));
    }
    if result.redacted.is_empty() && !result.already_redacted.is_empty() {
        return Ok(());
    }
    if result.redacted.is_empty() {
        let shared = "texts from the files of workflows and agents, which all runs share, stay";
        show::answer(&format!("nothing is there any more of what you named; {shared}"));
        return Ok(());
    }
    let texts = show::counted(result.redacted.len() as u64, "text");
    let run = result.run;
    show::answer(&if result.is_recorded {
        format!("{texts} of run {run} redacted:")
    } else {
        format!("would redact {texts} of run {run}:")
    });
    for it in &result.redacted {
        show::answer(&format!("  {} ({})", show::visible(&it.what), it.text));
    }
    if result.is_recorded {
        show::note(
            "backups, exports and copies of the archive that were made before still have them; so may what a \
             runner keeps of its attempts: `prompt.md` and `output.txt` in `.baton/data/runner/attempts`",
        );
    }
    Ok(())
}
