//! What agents used since the server started, for Prometheus. An agent that the project does not have
//! is counted as `other`, so that no caller can make series.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::{Arc, Mutex, PoisonError};

use baton_core::budget::Usage;
use baton_core::names::AgentId;
use baton_core::registry::Agents;

/// Shared by every face of one server: what a runner in the same process reports is among it.
#[derive(Clone, Default)]
pub struct UsageMetrics {
    by_agent: Arc<Mutex<BTreeMap<String, Usage>>>,
}

impl UsageMetrics {
    pub(crate) fn count(&self, agents: &Agents, agent: &AgentId, usage: &Usage) {
        let label = agents.find(agent).map_or("other", |_| agent.as_str());
        let mut by_agent = self.by_agent.lock().unwrap_or_else(PoisonError::into_inner);
        let known = by_agent.entry(label.to_owned()).or_default();
        *known = known.plus(*usage);
    }

    pub(crate) fn write(&self, text: &mut String) {
        let by_agent = self.by_agent.lock().unwrap_or_else(PoisonError::into_inner);
        *text +=
            "# HELP baton_agent_tokens_total Tokens that agents used; cached ones are input too.\n";
        *text += "# TYPE baton_agent_tokens_total counter\n";
        for (agent, usage) in by_agent.iter() {
            let kinds = [
                ("input", usage.input_tokens),
                ("cached", usage.cached_tokens),
                ("output", usage.output_tokens),
            ];
            for (kind, n) in kinds {
                let _ = writeln!(
                    text,
                    "baton_agent_tokens_total{{agent=\"{agent}\",kind=\"{kind}\"}} {n}"
                );
            }
        }
        *text += "# HELP baton_agent_cost_microdollars_total What agents cost, where their programs say it.\n";
        *text += "# TYPE baton_agent_cost_microdollars_total counter\n";
        for (agent, usage) in by_agent.iter() {
            let cost = usage.micro_usd.unwrap_or(0);
            let _ =
                writeln!(text, "baton_agent_cost_microdollars_total{{agent=\"{agent}\"}} {cost}");
        }
        *text += "# HELP baton_agent_work_milliseconds_total How long the programs of agents were at work.\n";
        *text += "# TYPE baton_agent_work_milliseconds_total counter\n";
        for (agent, usage) in by_agent.iter() {
            let ms = usage.work_ms;
            let _ = writeln!(text, "baton_agent_work_milliseconds_total{{agent=\"{agent}\"}} {ms}");
        }
    }
}
