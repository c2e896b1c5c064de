//! The built-in workflows, agents and contracts. A project's file of the same name overrides them.

mod contracts;

pub use contracts::{contract, contract_between, contract_name, contract_of, contracts};

/// Stands where the path of a project's file would.
pub const ORIGIN: &str = "built in";

/// Every built-in workflow: its name and the text of its file. The first is the default.
pub fn workflows() -> &'static [(&'static str, &'static str)] {
    &[
        ("story-pipeline", include_str!("../builtin/workflows/story-pipeline.yaml")),
        ("gated-project", include_str!("../builtin/workflows/gated-project.yaml")),
    ]
}

/// Every built-in agent: its id and the text of its file.
pub fn agents() -> &'static [(&'static str, &'static str)] {
    &[
        ("analyst", include_str!("../builtin/agents/analyst.md")),
        ("implementer", include_str!("../builtin/agents/implementer.md")),
        ("reviewer", include_str!("../builtin/agents/reviewer.md")),
        ("refactorer", include_str!("../builtin/agents/refactorer.md")),
        ("documenter", include_str!("../builtin/agents/documenter.md")),
        ("specification", include_str!("../builtin/agents/specification.md")),
        ("architecture", include_str!("../builtin/agents/architecture.md")),
        ("security-check", include_str!("../builtin/agents/security-check.md")),
        ("estimation", include_str!("../builtin/agents/estimation.md")),
        ("implementation", include_str!("../builtin/agents/implementation.md")),
    ]
}

#[cfg(test)]
mod tests;
