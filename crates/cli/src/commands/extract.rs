//! `baton extract`: finds the handoff in an agent's output.

use baton_core::document::Node;
use baton_wire::extract::{ExtractError, Found, extract, extract_one, nothing_in};
use baton_wire::formats;

use crate::args::Extract;
use crate::failure::Failure;
use crate::payload;
use crate::show::{self, OutputFormat};

pub(crate) fn run(args: &Extract, format: OutputFormat) -> Result<(), Failure> {
    let output = payload::output(&args.file)?;
    if args.all {
        return all(&output, format);
    }
    let found = extract_one(&output).map_err(|error| match error {
        ExtractError::Nothing { .. } => Failure::NotFound(error.to_string()),
        ExtractError::Broken { error, .. } => Failure::Document { file: args.file.clone(), error },
    })?;
    match (format, args.to, &found.document) {
        (OutputFormat::Json, ..) => show::answer_json(&found_json(&output, &found)),
        (OutputFormat::Table, Some(to), Ok(document)) => {
            show::answer_text(&formats::encode(document, to));
        }
        (OutputFormat::Table, ..) => show::answer_lines(found.text(&output)),
    }
    Ok(())
}

fn all(output: &str, format: OutputFormat) -> Result<(), Failure> {
    let found = extract(output);
    if found.is_empty() {
        return Err(Failure::NotFound(nothing_in(output).to_string()));
    }
    match format {
        OutputFormat::Json => {
            let found = found.iter().map(|it| found_json(output, it)).collect();
            show::answer_json(&Node::List(found));
        }
        OutputFormat::Table => {
            for (index, it) in found.iter().enumerate() {
                let n = index + 1;
                match &it.document {
                    Ok(_) => show::note(&format!("{n}: {}", it.format.title())),
                    Err(error) => {
                        let title = it.format.title();
                        show::note(&format!("{n}: {title}, {} {error}", show::warn("broken:")));
                    }
                }
                show::answer_lines(it.text(output));
            }
        }
    }
    Ok(())
}

fn found_json(output: &str, found: &Found) -> Node {
    let number = |it: usize| Node::count(it as u64);
    let (document, problem) = match &found.document {
        Ok(document) => (document.clone(), Node::Null),
        Err(error) => (Node::Null, Node::text(error.to_string())),
    };
    Node::map([
        ("format", Node::text(found.format.name())),
        ("start", number(found.span.start)),
        ("end", number(found.span.end)),
        ("text", Node::text(found.text(output))),
        ("document", document),
        ("problem", problem),
    ])
}
