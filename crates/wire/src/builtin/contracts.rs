//! The built-in contracts: one file per document format, keyed by sender and receiver.
//!
//! A workflow names one as `xml/prep-agent→implementer-agent`; a caller that has only a document
//! finds it by the document's own fields.

use std::sync::LazyLock;

use baton_core::contract::Contract;
use baton_core::document::Node;
use baton_core::document::kind::{DocumentKind, Shape};
use baton_core::outcome::Outcome;

use crate::fields::FieldAt;
use crate::file_problem::{FileProblem, Problems};
use crate::located::yaml;
use crate::workflow_file::contracts as reader;

/// The files: the kind of the documents and the text.
const FILES: [(&str, &str); 4] = [
    ("xml", include_str!("../../builtin/contracts/xml.yaml")),
    ("metadata", include_str!("../../builtin/contracts/metadata.yaml")),
    ("yaml", include_str!("../../builtin/contracts/yaml.yaml")),
    ("implied", include_str!("../../builtin/contracts/implied.yaml")),
];

/// What the kinds were called before. Workflows and databases hold such names, so they are read for ever.
const OLD_KINDS: [(&str, &str); 3] = [("001/", "xml/"), ("002/", "metadata/"), ("004/", "yaml/")];

const MOST_BYTES: usize = 256 * 1024;

/// The separator between the two agents of a name. `->` is accepted too.
const ARROW: char = '→';
const ANY: &str = "*";
/// The receiver of `<workflow-complete>`, which is no agent.
const COMPLETE: &str = "complete";
const ORCHESTRATOR: &str = "orchestrator";

static CONTRACTS: LazyLock<Vec<Contract>> = LazyLock::new(|| {
    // The files are part of the program, and a test reads every one of them.
    FILES.iter().flat_map(|(kind, text)| parse(kind, text).unwrap_or_default()).collect()
});

/// Every built-in contract.
pub fn contracts() -> &'static [Contract] {
    &CONTRACTS
}

/// The contract `xml/prep-agent→implementer-agent`, also by its old name `001/prep-agent→implementer-agent`.
pub fn contract(name: &str) -> Option<&'static Contract> {
    let name = contract_name(name);
    CONTRACTS.iter().find(|it| it.name == name)
}

/// The present name of a contract: two files may call the same one by different names.
pub fn contract_name(name: &str) -> String {
    let name = name.replace("->", "→");
    let renamed = |(old, new): (&str, &str)| Some(format!("{new}{}", name.strip_prefix(old)?));
    OLD_KINDS.into_iter().find_map(renamed).unwrap_or(name)
}

/// The contract of a format between two agents; falls back to the contract for any agent.
pub fn contract_between(kind: &str, from: &str, to: &str) -> Option<&'static Contract> {
    [(from, to), (ANY, to), (from, ANY), (ANY, ANY)]
        .iter()
        .find_map(|(from, to)| contract(&format!("{kind}/{from}{ARROW}{to}")))
}

/// The contract of a document that names its own receiver; `None` where no format has one.
pub fn contract_of(document: &Node) -> Option<&'static Contract> {
    let Shape { kind, body } = Shape::of(document);
    let text = |path: &str| body.at(path).and_then(Node::scalar_text).map(str::trim);
    match kind {
        DocumentKind::WorkflowComplete => {
            contract_between("xml", text("from").unwrap_or("closer-agent"), COMPLETE)
        }
        DocumentKind::XmlHandoff => {
            // A sender that failed or is blocked need not know who comes next.
            let outcome = text("status").and_then(Outcome::parse);
            let is_stuck = matches!(outcome, Some(Outcome::Failure | Outcome::Blocked));
            let to = text("to").or_else(|| is_stuck.then_some(ORCHESTRATOR))?;
            let contract = contract_between("xml", text("from").unwrap_or(ANY), to);
            // The contract for any agent to the orchestrator covers failures only.
            let is_error = body.member("error").is_some() || text("status").is_some();
            contract.filter(|it| is_error || !it.name.contains(ANY))
        }
        DocumentKind::MetadataBlock(_) => contract_between("metadata", ANY, ANY),
        DocumentKind::YamlHandoff | DocumentKind::YamlGate => contract_between("yaml", ANY, ANY),
        DocumentKind::Acknowledgement(_) | DocumentKind::Other(_) | DocumentKind::Payload => None,
    }
}

fn parse(kind: &str, text: &str) -> Result<Vec<Contract>, Vec<FileProblem>> {
    Problems::collect(|problems| {
        let root = yaml::read(text, MOST_BYTES, problems)?;
        let mut contracts = reader::named(&FieldAt::root(&root), |_| true, problems);
        for it in &mut contracts {
            it.name = format!("{kind}/{}", it.name);
        }
        Some(contracts)
    })
}

#[cfg(test)]
mod tests;
