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
    ("payload-000", include_str!("../schemas/documents/payload-000.schema.json")),
    ("handoff-001", include_str!("../schemas/documents/handoff-001.schema.json")),
    ("workflow-complete", include_str!("../schemas/documents/workflow-complete.schema.json")),
    ("metadata-002", include_str!("../schemas/documents/metadata-002.schema.json")),
    ("handoff-004", include_str!("../schemas/documents/handoff-004.schema.json")),
    ("delegation-004", include_str!("../schemas/documents/delegation-004.schema.json")),
    ("acknowledgement", include_str!("../schemas/documents/acknowledgement.schema.json")),
];

/// Every published schema by its name: of files, then of documents.
pub fn all() -> impl Iterator<Item = (&'static str, &'static str)> {
    SCHEMAS.into_iter().chain(DOCUMENTS)
}

/// The text of the schema `name`, such as `workflow` or `handoff-001`.
pub fn schema(name: &str) -> Option<&'static str> {
    all().find(|(it, _)| *it == name).map(|(_, text)| text)
}

/// The schema of a document, by its kind; a payload has one for each edge.
pub fn of_document(document: &Node) -> &'static str {
    match DocumentKind::of(document) {
        DocumentKind::XmlHandoff => "handoff-001",
        DocumentKind::WorkflowComplete => "workflow-complete",
        DocumentKind::MetadataBlock(_) => "metadata-002",
        DocumentKind::YamlHandoff | DocumentKind::YamlGate => "handoff-004",
        DocumentKind::Acknowledgement(_) => "acknowledgement",
        DocumentKind::Payload => "payload-000",
    }
}

#[cfg(test)]
mod documents;
#[cfg(test)]
mod of_contract;
#[cfg(test)]
mod tests;
