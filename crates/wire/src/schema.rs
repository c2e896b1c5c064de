//! The published JSON Schemas (draft 2020-12) of the files a person writes, for editors and other
//! tools. The readers do not use them: they say more, and with places. Tests keep the two alike.

/// Every schema: the name it is asked for by, and its text.
pub const SCHEMAS: [(&str, &str); 3] = [
    ("workflow", include_str!("../schemas/workflow.schema.json")),
    ("agent", include_str!("../schemas/agent.schema.json")),
    ("project", include_str!("../schemas/project.schema.json")),
];

/// The text of the schema `name`: `workflow`, `agent` or `project`.
pub fn schema(name: &str) -> Option<&'static str> {
    SCHEMAS.iter().find(|(it, _)| *it == name).map(|(_, text)| *text)
}

#[cfg(test)]
mod tests;
