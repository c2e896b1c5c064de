//! The published JSON Schemas (draft 2020-12), for editors and other tools: of the files a person
//! writes, and of the documents that agents hand over.
//!
//! The readers do not use them: their own checks go further, and report positions. Tests keep the
//! two in agreement.

use baton_core::document::Node;
use baton_core::document::kind::DocumentKind;

/// The schemas of files: the name it is asked for by, and its text.
pub const SCHEMAS: [(&str, &str); 3] = [
    ("workflow", include_str!("../schemas/workflow.schema.json")),
    ("agent", include_str!("../schemas/agent.schema.json")),
    ("project", include_str!("../schemas/project.schema.json")),
];

/// The schemas of the documents that agents hand over, in JSON form. They are generated from the
/// contracts; Baton checks what they cannot express.
pub const DOCUMENTS: [(&str, &str); 7] = [
    ("pipeline-payload", include_str!("../schemas/documents/pipeline-payload.schema.json")),
    ("xml-handoff", include_str!("../schemas/documents/xml-handoff.schema.json")),
    ("workflow-complete", include_str!("../schemas/documents/workflow-complete.schema.json")),
    ("metadata-block", include_str!("../schemas/documents/metadata-block.schema.json")),
    ("yaml-handoff", include_str!("../schemas/documents/yaml-handoff.schema.json")),
    ("yaml-delegation", include_str!("../schemas/documents/yaml-delegation.schema.json")),
    ("acknowledgement", include_str!("../schemas/documents/acknowledgement.schema.json")),
];

/// Every published schema by its name: of files, then of documents.
pub fn all() -> impl Iterator<Item = (&'static str, &'static str)> {
    SCHEMAS.into_iter().chain(DOCUMENTS)
}

/// What schemas of documents were called before: editors and tools refer to them, so they stay valid.
const OLD_NAMES: [(&str, &str); 5] = [
    ("payload-000", "pipeline-payload"),
    ("handoff-001", "xml-handoff"),
    ("metadata-002", "metadata-block"),
    ("handoff-004", "yaml-handoff"),
    ("delegation-004", "yaml-delegation"),
];

/// The text of the schema `name`, such as `workflow` or `xml-handoff`.
pub fn schema(name: &str) -> Option<&'static str> {
    let name = OLD_NAMES.iter().find(|(old, _)| *old == name).map_or(name, |(_, new)| new);
    all().find(|(it, _)| *it == name).map(|(_, text)| text)
}

/// The schema of a document, by its kind; a payload has one for each edge.
pub fn of_document(document: &Node) -> &'static str {
    match DocumentKind::of(document) {
        DocumentKind::XmlHandoff => "xml-handoff",
        DocumentKind::WorkflowComplete => "workflow-complete",
        DocumentKind::MetadataBlock(_) => "metadata-block",
        DocumentKind::YamlHandoff | DocumentKind::YamlGate => "yaml-handoff",
        DocumentKind::Acknowledgement(_) => "acknowledgement",
        DocumentKind::Other(_) | DocumentKind::Payload => "pipeline-payload",
    }
}

#[cfg(test)]
mod documents;
#[cfg(test)]
mod of_contract;
#[cfg(test)]
mod tests;
