//! Documents as files: convert them, look at them, find them in what an agent printed.

use baton_core::package::Format;
use clap::Args;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};

use super::numbers::whole_number;

#[derive(Debug, Args)]
pub(crate) struct Convert {
    /// The file with the document; `-` for stdin
    pub(crate) file: String,
    /// What it is written in [default: by its name, else by its first characters]
    #[arg(long, value_name = "FORMAT", value_parser = format())]
    pub(crate) from: Option<Format>,
    /// What to write it in
    #[arg(long, value_name = "FORMAT", value_parser = format())]
    pub(crate) to: Format,
}

#[derive(Debug, Args)]
pub(crate) struct Lint {
    /// Handoffs in any format; `-` for stdin
    #[arg(required = true, value_name = "FILE")]
    pub(crate) files: Vec<String>,
    /// What they are written in [default: by their names, else by their first characters]
    #[arg(long, value_name = "FORMAT", value_parser = format())]
    pub(crate) from: Option<Format>,
    /// Whose contract they have to keep, where they do not say it themselves: `analyst:implementer`
    #[arg(long, value_name = "FROM:TO")]
    pub(crate) edge: Option<String>,
    /// The workflow that the edge is of [default: the first that has it]
    #[arg(long, value_name = "WORKFLOW")]
    pub(crate) workflow: Option<String>,
    /// Be silent about a rule; say why
    #[arg(long, value_name = "RULE=REASON")]
    pub(crate) silence: Vec<String>,
    /// Fail below this score [default: as the project says]
    #[arg(long, value_name = "0-100", value_parser = whole_number::<u8>(0..=100))]
    pub(crate) min_score: Option<u8>,
    /// Do not look at the files that they name: those claims stay unverified
    #[arg(long)]
    pub(crate) no_workspace: bool,
    /// Print SARIF, for editors and code hosts
    #[arg(long, conflicts_with = "json")]
    pub(crate) sarif: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Extract {
    /// The file with what an agent printed; `-` for stdin
    pub(crate) file: String,
    /// Every handoff in it, not only the last
    #[arg(long)]
    pub(crate) all: bool,
    /// Write it in this format [default: as it stands there]
    #[arg(long, value_name = "FORMAT", value_parser = format(), conflicts_with = "all")]
    pub(crate) to: Option<Format>,
}

/// A format by its name or by an ending of its files.
pub(super) fn format() -> impl TypedValueParser<Value = Format> {
    let value = |it: Format| PossibleValue::new(it.name()).aliases(it.extensions());
    PossibleValuesParser::new(Format::ALL.map(value))
        .try_map(|name| Format::parse(&name).ok_or("it is none of the possible values"))
}
