//! The agents and the workflows of the project, as its files have them.

use baton_engine::Catalog;

use super::html::Html;
use super::who;

pub(super) fn render(html: &mut Html, catalog: &Catalog) {
    let n_agents = catalog.agents().iter().count() as u64;
    let n_workflows = catalog.workflows().count() as u64;
    html.raw("<section class=\"team\" data-key=\"team\"><details id=\"team\"><summary>");
    html.number(n_workflows).raw(if n_workflows == 1 { " workflow" } else { " workflows" });
    html.raw(", ").number(n_agents).raw(if n_agents == 1 { " agent" } else { " agents" });
    html.raw("</summary><h3>Workflows</h3><ul>");
    for entry in catalog.workflows() {
        let workflow = &entry.workflow;
        html.raw("<li><strong>").name(&workflow.title).raw("</strong> <code>");
        html.text(workflow.name.as_str()).raw("</code>");
        if catalog.default_workflow() == Some(&workflow.name) {
            html.raw(" <span class=\"word\">default</span>");
        }
        html.raw("<ol class=\"steps\">");
        for step in &workflow.steps {
            let agents: Vec<&str> = step.agents.iter().map(|it| it.as_str()).collect();
            html.raw("<li>").name(&step.title).raw(" <span class=\"meta\">");
            html.words(&agents.join(", ")).raw("</span></li>");
        }
        html.raw("</ol></li>");
    }
    html.raw("</ul><h3>Agents</h3><ul>");
    for agent in catalog.agents().iter() {
        html.raw("<li>");
        who::agent(html, agent);
        html.raw(" <code>").text(agent.id.as_str()).raw("</code>");
        if !agent.description.is_empty() {
            html.raw(" <span class=\"meta\">").words(&agent.description).raw("</span>");
        }
        html.raw("</li>");
    }
    html.raw("</ul></details></section>");
}
