//! What agents used, as people read it.

use baton_api::{AgentUsageDocument, BudgetDocument, RunUsage, UsageDocument};
use baton_core::budget::{Budget, Usage, dollars, span};

use super::table;

/// The sum of these. Programs that did not say what they cost make it a least one.
pub(crate) fn usage_total(it: &RunUsage) -> String {
    let has_no_cost = |it: &AgentUsageDocument| {
        it.usage.micro_usd.is_none() && it.usage.input_tokens + it.usage.output_tokens > 0
    };
    let text = amounts(&it.total).to_string();
    match it.total.micro_usd {
        Some(cost) if it.agents.iter().any(has_no_cost) => {
            let cost = dollars(cost);
            text.replacen(&cost, &format!("at least {cost}"), 1)
        }
        Some(_) | None => text,
    }
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

#[cfg(test)]
mod tests {
    use super::*;

    fn used(input_tokens: u64, micro_usd: Option<u64>) -> UsageDocument {
        UsageDocument { input_tokens, cached_tokens: 0, output_tokens: 0, micro_usd, work_ms: 0 }
    }

    #[test]
    fn a_total_without_the_cost_of_an_agent_is_a_least_one() {
        let agent = |usage| AgentUsageDocument {
            agent: "coder".to_owned(),
            step: None,
            n_reports: 1,
            usage,
        };
        let total = |agents: Vec<AgentUsageDocument>| {
            usage_total(&RunUsage { total: used(9, Some(300)), budget: None, agents })
        };
        let priced = agent(used(5, Some(300)));
        let untold = agent(used(4, None));
        assert!(total(vec![priced.clone(), untold]).contains("at least $0.0003"));
        assert!(!total(vec![priced, agent(used(0, None))]).contains("at least"));
    }
}
