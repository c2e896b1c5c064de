//! What may be typed after `baton audit`.

use baton_api::{ExportFormat, HandoffPart};
use clap::{Args, Subcommand};

use super::numbers::whole_number;
use super::{WriteArgs, one_of};

#[derive(Debug, Subcommand)]
pub(crate) enum AuditCommand {
    /// Show who handed what to whom, in all runs
    Log {
        #[command(flatten)]
        range: AuditRange,
        /// How many: the newest of them, oldest first
        #[arg(long, value_name = "N", default_value_t = 50, value_parser = whole_number::<u32>(1..=500))]
        limit: u32,
    },
    /// Print every handoff as a row, for a spreadsheet or a program
    Export {
        /// `csv` for spreadsheets, `json` for one document, `jsonl` for one document a line
        #[arg(long, value_name = "FORMAT", value_parser = one_of(&ExportFormat::ALL, ExportFormat::name))]
        format: ExportFormat,
        /// The whole log of events with its checkpoints instead, for `audit verify --export`
        #[arg(long, conflicts_with_all = ["run", "agent", "from", "to"])]
        events: bool,
        #[command(flatten)]
        range: AuditRange,
    },
    /// Sign what the log is now, to be kept elsewhere
    Checkpoint {
        /// Write it to this file, which must not exist yet [default: the standard output]
        #[arg(long, value_name = "FILE")]
        out: Option<String>,
    },
    /// Drop texts for good: the log still verifies, and says who did it and why
    Redact(AuditRedact),
    /// Drop messages of finished runs that are older than the project keeps them
    ///
    /// Drop messages of finished runs that are older than `[retention]` in `.baton/baton.toml` says. A server does it by itself every hour.
    Retain {
        #[command(flatten)]
        write: WriteArgs,
    },
    /// Do what `baton verify` does, and compare the log with signed checkpoints
    Verify(AuditVerify),
}

#[derive(Debug, Args)]
pub(crate) struct AuditRedact {
    /// The run, by its number, its id or its story
    pub(crate) run: String,
    /// The handoff whose texts are dropped: its label, its number or its id
    #[arg(required_unless_present_any = ["text", "file"])]
    pub(crate) handoff: Option<String>,
    /// Only this text of the handoff; may be given several times [default: all of them]
    #[arg(long, value_name = "PART", requires = "handoff", value_parser = one_of(&HandoffPart::ALL, HandoffPart::name))]
    pub(crate) part: Vec<HandoffPart>,
    /// A text by its hash, as the events of the run name it; may be given several times
    #[arg(long, value_name = "HASH")]
    pub(crate) text: Vec<String>,
    /// A file by its SHA-256, as `baton handoff files` shows it with `--json`; may be given several times
    #[arg(long, value_name = "SHA-256")]
    pub(crate) file: Vec<String>,
    /// Why; it is recorded, so do not repeat what is dropped
    #[arg(long, value_name = "TEXT")]
    pub(crate) reason: String,
    #[command(flatten)]
    pub(crate) write: WriteArgs,
}

#[derive(Debug, Args)]
pub(crate) struct AuditVerify {
    /// Also compare with this checkpoint, which was kept elsewhere
    #[arg(long, value_name = "FILE")]
    pub(crate) checkpoint: Vec<String>,
    /// The public key that every checkpoint must be signed by [default: that of the data]
    #[arg(long, value_name = "KEY")]
    pub(crate) key: Option<String>,
    /// Verify this file of `baton audit export --events --format jsonl`, without a database
    #[arg(long, value_name = "FILE")]
    pub(crate) export: Option<String>,
}

/// Which handoffs.
#[derive(Debug, Args)]
pub(crate) struct AuditRange {
    /// Only this run, by its number, its id or its story
    #[arg(long)]
    pub(crate) run: Option<String>,
    /// Only what this agent sent or received
    #[arg(long, value_name = "AGENT")]
    pub(crate) agent: Option<String>,
    /// From this day in UTC on, or from this instant on
    #[arg(long, value_name = "DATE", value_parser = day_or_instant)]
    pub(crate) from: Option<String>,
    /// Up to the end of this day in UTC, or up to this instant
    #[arg(long, value_name = "DATE", value_parser = day_or_instant)]
    pub(crate) to: Option<String>,
}

/// The server reads it; here it is only looked at, so that the message names the option.
fn day_or_instant(text: &str) -> Result<String, String> {
    let is_day = text.parse::<jiff::civil::Date>().is_ok() && text.len() == "2026-01-31".len();
    if is_day || text.parse::<jiff::Timestamp>().is_ok() {
        return Ok(text.to_owned());
    }
    Err("it is a day, such as 2026-01-31, or an instant, such as 2026-01-31T12:00:00Z".to_owned())
}
