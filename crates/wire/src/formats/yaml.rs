//! YAML, as in the YAML handoff: the subset that all parsers read alike.
//!
//! One document, no tags, anchors, aliases or directives, each key once; `<<` is an ordinary key.
//! Printed text is quoted wherever some reader, of YAML 1.1 or 1.2, might take it for something
//! else.

use baton_core::document::Node;
use baton_core::package::Format;

use super::{FormatError, FormatFault, refuse_nul};
use crate::file_problem::FileProblem;
use crate::located::{self, Located};
use crate::position::TextPosition;

mod print;
mod scalar;

/// Reads one YAML document.
pub fn decode(text: &str) -> Result<Node, FormatError> {
    refuse_nul(Format::Yaml, text)?;
    let document = located::yaml::parse(text, text.len());
    document.map(Located::into_node).map_err(|it| first(&it))
}

/// The document in block style, with a newline at the end.
pub fn encode(document: &Node) -> String {
    print::print(document)
}

fn first(problems: &[FileProblem]) -> FormatError {
    let Some(FileProblem { line, column, problem }) = problems.first() else {
        unreachable!("a reader that gives no document says why")
    };
    let sentence = problem.message.clone();
    let fault = match problem.rule.as_str() {
        "too_deep" => FormatFault::TooDeep,
        "nul" => FormatFault::Nul,
        "duplicate_key" => FormatFault::Duplicate { what: format!("the key `{}`", problem.path) },
        "yaml_syntax" => FormatFault::YamlSyntax(sentence),
        _ => FormatFault::YamlRefused(sentence),
    };
    FormatError { format: Format::Yaml, at: TextPosition { line: *line, column: *column }, fault }
}

#[cfg(test)]
mod tests;
