//! What the full workflow of the tests says about who is asked and who resolves.

use baton_core::approval::Approvers;
use baton_core::contract::Profile;
use baton_core::document::Number;
use baton_core::names::Principal;
use baton_core::outcome::Outcome;
use baton_core::workflow::{
    ApprovalThreshold, BlockerRouting, Edge, RaiseCondition, RaiseKind, RaiseRule, Resolver,
    ResolverRow, Target,
};

use super::agent;

pub(super) fn threshold(field: &str, below: &str) -> ApprovalThreshold {
    ApprovalThreshold { field: field.to_owned(), below: Number::parse(below).unwrap() }
}

pub(super) fn approvers(need: u32, of: &[&str], author_may_approve: bool) -> Approvers {
    let of = of.iter().map(|it| Principal::parse(it).unwrap()).collect();
    Approvers { need, of, author_may_approve }
}

pub(super) fn full_raise() -> Vec<RaiseRule> {
    let over = |it: &str| RaiseCondition::Over(Number::parse(it).unwrap());
    let levels = RaiseCondition::AnyOf(["high", "critical"].map(str::to_owned).to_vec());
    let rule = |kind, field: Option<&str>, when| {
        let field = field.map(str::to_owned);
        RaiseRule { kind, field, when }
    };
    vec![
        rule(RaiseKind::Cost, None, over("500")),
        rule(RaiseKind::Days, Some("plan.days"), over("2.5")),
        rule(RaiseKind::Risk, None, levels),
        rule(RaiseKind::BreakingChange, None, RaiseCondition::Stated),
        rule(RaiseKind::Migration, Some("schema"), RaiseCondition::Stated),
    ]
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

pub(super) fn words(words: &[&str]) -> Vec<String> {
    words.iter().map(|it| (*it).to_owned()).collect()
}

/// An edge with a contract.
pub(super) fn full_edge(
    on: Outcome,
    to: Target,
    profile: Option<Profile>,
    rounds: Option<u32>,
) -> Edge {
    Edge { contract: Some("in".to_owned()), profile, rounds, ..Edge::plain(on, to) }
}
