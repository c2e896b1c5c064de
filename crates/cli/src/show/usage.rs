//! What agents used, as people read it.

use baton_api::{AgentUsageDocument, BudgetDocument, UsageDocument};
use baton_core::budget::{Budget, Usage, dollars, span};

use super::table;

pub(crate) fn usage(it: &UsageDocument) -> String {
    amounts(it).to_string()
}

pub(crate) fn budget(it: &BudgetDocument) -> String {
    Budget { tokens: it.tokens, micro_usd: it.micro_usd, work_ms: it.work_ms }.to_string()
}

fn amounts(it: &UsageDocument) -> Usage {
    Usage {
        input_tokens: it.input_tokens,
        cached_tokens: it.cached_tokens,
        output_tokens: it.output_tokens,
        micro_usd: it.micro_usd,
        work_ms: it.work_ms,
    }
}

/// By agent and step.
pub(crate) fn usage_table(agents: &[AgentUsageDocument]) -> String {
    let cells = |it: &AgentUsageDocument| {
        vec![
            it.agent.clone(),
            it.step.clone().unwrap_or_default(),
            it.n_reports.to_string(),
            it.usage.input_tokens.to_string(),
            it.usage.output_tokens.to_string(),
            it.usage.micro_usd.map(dollars).unwrap_or_default(),
            span(it.usage.work_ms),
        ]
    };
    let headings = ["AGENT", "STEP", "REPORTS", "TOKENS IN", "OUT", "COST", "WORK"];
    table(&headings, agents.iter().map(cells).collect())
}
