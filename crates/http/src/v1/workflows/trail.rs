//! Handoffs with attribution, in exactly the members that the workflow API has. What else is known
//! of them is in the audit log.

use baton_api::{AgentHandoff, Attribution};
use baton_core::run::Run;
use baton_core::workflow::Workflow;
use baton_engine::EngineError;
use baton_store::HandoffRow;

use super::super::agents::step_title;
use crate::pipeline::rows::ReasonLength;
use crate::scope::RequestScope;

pub(super) struct AttributedHandoffs {
    pub(super) items: Vec<AgentHandoff>,
    /// Members that are not what was written: `items[1].reason`.
    pub(super) damaged: Vec<String>,
}

/// Shows handoffs of a run; `list` is the name of the member that they are shown in.
pub(super) async fn trail(
    app: &RequestScope,
    run: &Run,
    workflow: &Workflow,
    rows: &[HandoffRow],
    list: &str,
) -> Result<AttributedHandoffs, EngineError> {
    let texts = app.read().words_of(rows).await?;
    let cast = app.read().cast(run).await?;
    let mut trail = AttributedHandoffs { items: Vec::new(), damaged: Vec::new() };
    for (index, row) in rows.iter().enumerate() {
        let [from, to] = [&row.from, &row.to].map(|it| {
            Attribution::from(&cast.at(&it.agent, row.no)).at(step_title(workflow, &it.place))
        });
        let (reason, _) = ReasonLength::Excerpt.of(texts.get(row.reason).whole());
        trail.items.push(AgentHandoff {
            from_agent: from,
            to_agent: to,
            timestamp: row.created_at,
            step_name: step_title(workflow, &row.to.place),
            workflow_step: row.to.place.as_step().map(ToString::to_string),
            reason,
        });
        let damaged = [
            ("fromAgent.agentName", cast.is_damaged(&row.from.agent, row.no)),
            ("toAgent.agentName", cast.is_damaged(&row.to.agent, row.no)),
            ("reason", texts.get(row.reason).is_damaged()),
        ];
        let damaged = damaged.into_iter().filter(|it| it.1);
        trail.damaged.extend(damaged.map(|(member, _)| format!("{list}[{index}].{member}")));
    }
    Ok(trail)
}
