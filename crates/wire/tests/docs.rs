//! What the documentation shows as a whole file is one, and passes `baton workflow check`.

use baton_core::workflow::Workflow;
use baton_wire::agent_file::{self, AgentFile};
use baton_wire::{builtin, workflow_file};

const WORKFLOWS: &str = include_str!("../../../docs/workflows.md");
const AGENTS: &str = include_str!("../../../docs/agents.md");

/// The fenced blocks of a page in one language that begin as a whole file does.
fn files<'a>(page: &'a str, language: &str, beginning: &str) -> Vec<&'a str> {
    let opening = format!("```{language}\n");
    let blocks = page.split(opening.as_str()).skip(1).filter_map(|it| it.split("\n```").next());
    blocks.filter(|it| it.starts_with(beginning)).collect()
}

#[test]
fn the_workflow_of_the_docs_is_sound_with_the_agent_of_the_docs() {
    let workflows = files(WORKFLOWS, "yaml", "name:");
    let agents = files(AGENTS, "markdown", "---\nname:");
    assert_eq!((workflows.len(), agents.len()), (1, 1));
    let workflow = workflow_file::parse(workflows[0]).unwrap();
    let built_in = builtin::agents().iter().map(|(_, text)| *text);
    let agents: Vec<AgentFile> =
        built_in.chain(agents).map(|it| agent_file::parse(it).unwrap()).collect();
    for (from, edge) in workflow.edges() {
        let Some(contract) = &edge.contract else { continue };
        let file = |id| agents.iter().find(|it| it.agent.id == id).unwrap();
        let to = workflow.agents_at(&Workflow::target_place(&edge.to));
        for id in to.into_iter().filter(|it| !it.is_orchestrator()) {
            assert!(file(id.clone()).accepts.contains(contract), "{id} accepts {contract}");
        }
        for id in workflow.agents_at(&from).into_iter().filter(|it| !it.is_orchestrator()) {
            let is_meant = |(outcome, _): &&(_, _)| *outcome == edge.on;
            let (_, produced) = file(id.clone()).produces.iter().find(is_meant).unwrap();
            assert!(produced.contains(contract), "{id} produces {contract}");
        }
    }
    for step in &workflow.steps {
        for id in &step.agents {
            assert!(agents.iter().any(|it| it.agent.id == *id), "there is no agent {id}");
        }
    }
}
