//! The contracts that come with Baton: one file a seed, keyed by who hands to whom.
//!
//! A workflow names one as `001/prep-agent→implementer-agent`; whoever has only a document finds
//! it by what the document says of itself.

use std::sync::LazyLock;

use baton_core::contract::Contract;
use baton_core::document::Node;
use baton_core::document::kind::{DocumentKind, Shape};

use crate::fields::FieldAt;
use crate::file_problem::{FileProblem, Problems};
use crate::located::yaml;
use crate::workflow_file::contracts as reader;

/// The files: the seed's number and the text.
const FILES: [(&str, &str); 3] = [
    ("001", include_str!("../../builtin/contracts/001.yaml")),
    ("002", include_str!("../../builtin/contracts/002.yaml")),
    ("004", include_str!("../../builtin/contracts/004.yaml")),
];

const MOST_BYTES: usize = 256 * 1024;

/// Between the two agents of a name. `->` will do as well.
const ARROW: char = '→';
const ANY: &str = "*";
/// Who `<workflow-complete>` goes to, as no agent does.
const COMPLETE: &str = "complete";

static CONTRACTS: LazyLock<Vec<Contract>> = LazyLock::new(|| {
    // The files are part of the program, and a test reads every one of them.
    FILES.iter().flat_map(|(seed, text)| parse(seed, text).unwrap_or_default()).collect()
});

/// Every contract that comes with Baton.
pub fn contracts() -> &'static [Contract] {
    &CONTRACTS
}

/// The contract `001/prep-agent→implementer-agent`.
pub fn contract(name: &str) -> Option<&'static Contract> {
    let name = name.replace("->", "→");
    CONTRACTS.iter().find(|it| it.name == name)
}

/// What a seed asks for between two agents; a contract for any agent stands in where there is no
/// own one.
pub fn contract_between(seed: &str, from: &str, to: &str) -> Option<&'static Contract> {
    [(from, to), (ANY, to), (from, ANY), (ANY, ANY)]
        .iter()
        .find_map(|(from, to)| contract(&format!("{seed}/{from}{ARROW}{to}")))
}

/// The contract of a document that says itself where it goes; none where no seed knows it.
pub fn contract_of(document: &Node) -> Option<&'static Contract> {
    let Shape { kind, body } = Shape::of(document);
    let text = |path: &str| body.at(path).and_then(Node::scalar_text).map(str::trim);
    match kind {
        DocumentKind::WorkflowComplete => {
            contract_between("001", text("from").unwrap_or("closer-agent"), COMPLETE)
        }
        DocumentKind::Handoff001 => {
            let contract = contract_between("001", text("from")?, text("to")?);
            // Whatever else goes to the orchestrator, its contract there is for what went wrong.
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
