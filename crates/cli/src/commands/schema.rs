//! `baton schema`: the JSON Schemas of a project's files, for editors and other tools.

use baton_wire::schema::{all, schema};

use crate::failure::Failure;
use crate::show::{self, OutputFormat};

pub(crate) fn run(name: Option<&str>, format: OutputFormat) -> Result<(), Failure> {
    let known: Vec<&str> = all().map(|(name, _)| name).collect();
    let Some(name) = name else {
        match format {
            OutputFormat::Table => show::answer(&known.join("\n")),
            // As `GET /schemas` answers.
            OutputFormat::Json => show::answer_as(&serde_json::json!({ "schemas": known })),
        }
        return Ok(());
    };
    let text = schema(name).ok_or_else(|| {
        Failure::NotFound(format!("there is no schema `{name}`; known: {}", known.join(", ")))
    })?;
    show::answer_lines(text);
    Ok(())
}
