//! What the full workflow of the tests says about who is asked and who resolves.

use baton_core::document::Number;
use baton_core::workflow::{ApprovalThreshold, BlockerRouting, Resolver, ResolverRow};

use super::agent;

pub(super) fn threshold(field: &str, below: &str) -> ApprovalThreshold {
    ApprovalThreshold { field: field.to_owned(), below: Number::parse(below).unwrap() }
}

pub(super) fn full_routing() -> BlockerRouting {
    let resolver = |domain: Option<&str>, id: &str| Resolver {
        domain: domain.map(str::to_owned),
        agent: agent(id),
    };
    BlockerRouting {
        domain: Some("web".to_owned()),
        prefixes: vec![("python".to_owned(), "data".to_owned())],
        rows: vec![
            ResolverRow {
                reason: "security_concern".to_owned(),
                resolvers: vec![
                    resolver(Some("web"), "web-security"),
                    resolver(Some("data"), "human"),
                ],
            },
            ResolverRow { reason: "unknown".to_owned(), resolvers: vec![resolver(None, "helper")] },
        ],
    }
}
