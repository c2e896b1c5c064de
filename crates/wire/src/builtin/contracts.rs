//! The built-in contracts: one file per document format, keyed by sender and receiver.
//!
//! A workflow names one as `001/prep-agent→implementer-agent`; a caller that has only a document
//! finds it by the document's own fields.

use std::sync::LazyLock;

use baton_core::contract::Contract;
use baton_core::document::Node;
use baton_core::document::kind::{DocumentKind, Shape};

use crate::fields::FieldAt;
use crate::file_problem::{FileProblem, Problems};
use crate::located::yaml;
use crate::workflow_file::contracts as reader;

/// The files: the number of the format and the text.
const FILES: [(&str, &str); 3] = [
    ("001", include_str!("../../builtin/contracts/001.yaml")),
    ("002", include_str!("../../builtin/contracts/002.yaml")),
    ("004", include_str!("../../builtin/contracts/004.yaml")),
];

const MOST_BYTES: usize = 256 * 1024;

/// The separator between the two agents of a name. `->` is accepted too.
const ARROW: char = '→';
const ANY: &str = "*";
/// The receiver of `<workflow-complete>`, which is no agent.
const COMPLETE: &str = "complete";

static CONTRACTS: LazyLock<Vec<Contract>> = LazyLock::new(|| {
    // The files are part of the program, and a test reads every one of them.
    FILES.iter().flat_map(|(seed, text)| parse(seed, text).unwrap_or_default()).collect()
});

/// Every built-in contract.
pub fn contracts() -> &'static [Contract] {
    &CONTRACTS
}

/// The contract `001/prep-agent→implementer-agent`.
pub fn contract(name: &str) -> Option<&'static Contract> {
    let name = name.replace("->", "→");
    CONTRACTS.iter().find(|it| it.name == name)
}

/// The contract of a format between two agents; falls back to the contract for any agent.
pub fn contract_between(seed: &str, from: &str, to: &str) -> Option<&'static Contract> {
    [(from, to), (ANY, to), (from, ANY), (ANY, ANY)]
        .iter()
        .find_map(|(from, to)| contract(&format!("{seed}/{from}{ARROW}{to}")))
}

/// The contract of a document that names its own receiver; `None` where no format has one.
pub fn contract_of(document: &Node) -> Option<&'static Contract> {
    let Shape { kind, body } = Shape::of(document);
    let text = |path: &str| body.at(path).and_then(Node::scalar_text).map(str::trim);
    match kind {
        DocumentKind::WorkflowComplete => {
            contract_between("001", text("from").unwrap_or("closer-agent"), COMPLETE)
        }
        DocumentKind::Handoff001 => {
            let contract = contract_between("001", text("from")?, text("to")?);
            // The contract for any agent to the orchestrator covers failures only.
            let is_error = body.member("error").is_some() || text("status").is_some();
            contract.filter(|it| is_error || !it.name.contains(ANY))
        }
        DocumentKind::Metadata002(_) => contract_between("002", ANY, ANY),
        DocumentKind::Handoff004 | DocumentKind::Gate004 => contract_between("004", ANY, ANY),
        DocumentKind::Acknowledgement(_) | DocumentKind::Payload => None,
    }
}

fn parse(seed: &str, text: &str) -> Result<Vec<Contract>, Vec<FileProblem>> {
    let mut problems = Problems::default();
    let contracts = yaml::read(text, MOST_BYTES, &mut problems).map(|root| {
        let mut contracts = reader::named(&FieldAt::root(&root), |_| true, &mut problems);
        for it in &mut contracts {
            it.name = format!("{seed}/{}", it.name);
        }
        contracts
    });
    problems.into_result(contracts)
}

#[cfg(test)]
mod tests;
