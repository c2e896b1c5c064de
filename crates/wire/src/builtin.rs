//! The built-in workflows, agents and contracts. A project's file of the same name overrides them.

mod contracts;

pub use contracts::{contract, contract_between, contract_name, contract_of, contracts};

/// Stands where the path of a project's file would.
pub const ORIGIN: &str = "built in";

/// Every built-in workflow: its name and the text of its file. The first is the default.
pub fn workflows() -> &'static [(&'static str, &'static str)] {
    &[
        ("story-pipeline", include_str!("../builtin/workflows/story-pipeline.yaml")),
        ("issue-to-merge", include_str!("../builtin/workflows/issue-to-merge.yaml")),
        ("feature-phases", include_str!("../builtin/workflows/feature-phases.yaml")),
        ("bmad-delivery", include_str!("../builtin/workflows/bmad-delivery.yaml")),
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
        ("issue-manager", include_str!("../builtin/agents/issue-manager.md")),
        ("prep-agent", include_str!("../builtin/agents/prep-agent.md")),
        ("implementer-agent", include_str!("../builtin/agents/implementer-agent.md")),
        ("reviewer-agent", include_str!("../builtin/agents/reviewer-agent.md")),
        ("fixer-agent", include_str!("../builtin/agents/fixer-agent.md")),
        ("validator-agent", include_str!("../builtin/agents/validator-agent.md")),
        ("closer-agent", include_str!("../builtin/agents/closer-agent.md")),
        ("frontend-lead", include_str!("../builtin/agents/frontend-lead.md")),
        ("backend-lead", include_str!("../builtin/agents/backend-lead.md")),
        ("frontend-developer", include_str!("../builtin/agents/frontend-developer.md")),
        ("backend-developer", include_str!("../builtin/agents/backend-developer.md")),
        ("frontend-tester", include_str!("../builtin/agents/frontend-tester.md")),
        ("backend-tester", include_str!("../builtin/agents/backend-tester.md")),
        ("frontend-security", include_str!("../builtin/agents/frontend-security.md")),
        ("backend-security", include_str!("../builtin/agents/backend-security.md")),
        ("product-manager", include_str!("../builtin/agents/product-manager.md")),
        ("architect", include_str!("../builtin/agents/architect.md")),
        ("developer", include_str!("../builtin/agents/developer.md")),
        ("specification", include_str!("../builtin/agents/specification.md")),
        ("architecture", include_str!("../builtin/agents/architecture.md")),
        ("security-check", include_str!("../builtin/agents/security-check.md")),
        ("estimation", include_str!("../builtin/agents/estimation.md")),
        ("implementation", include_str!("../builtin/agents/implementation.md")),
    ]
}

#[cfg(test)]
mod document_workflows;
#[cfg(test)]
mod simulated;
#[cfg(test)]
mod tests;
