//! `baton workflow`: list, show, check, graph, eject.

use std::path::Path;

use baton_api::WorkflowDocument;
use baton_core::document::Node;
use baton_core::names::AgentId;
use baton_core::outcome::Outcome;
use baton_core::problem::Problem;
use baton_core::workflow::{Place, Step, Workflow};
use baton_engine::Entry;
use baton_files::FileMode;
use baton_wire::agent_file::AgentFile;
use baton_wire::builtin;

use super::init::write_new;
use crate::args::{self, Cli};
use crate::failure::Failure;
use crate::named_file;
use crate::project::{FOLDER, Project, SourceFile, workflow_in};
use crate::show::{self, OutputFormat};

pub(crate) fn run(cli: &Cli, verb: &args::WorkflowCommand) -> Result<(), Failure> {
    let project = match verb {
        args::WorkflowCommand::Eject { .. } => Project::find(cli.project.as_deref())?,
        args::WorkflowCommand::List
        | args::WorkflowCommand::Show { .. }
        | args::WorkflowCommand::Check { .. }
        | args::WorkflowCommand::Graph { .. } => Project::find_or_bare(cli.project.as_deref())?,
    };
    match verb {
        args::WorkflowCommand::List => list(cli, &project),
        args::WorkflowCommand::Show { name } => {
            let workflow = named(&project, name)?;
            match cli.format() {
                OutputFormat::Json => {
                    let (catalog, _) = project.catalog();
                    let default = catalog.default_workflow();
                    show::answer_as(&WorkflowDocument::new(&workflow, default));
                }
                OutputFormat::Table => show::answer(&show::workflow_page(&workflow)),
            }
            Ok(())
        }
        args::WorkflowCommand::Check { name } => check(cli, &project, name),
        args::WorkflowCommand::Graph { name } => {
            show::answer(&show::mermaid(&named(&project, name)?));
            Ok(())
        }
        args::WorkflowCommand::Eject { name } => eject(&project, name),
    }
}

fn list(cli: &Cli, project: &Project) -> Result<(), Failure> {
    let (catalog, unreadable) = project.catalog();
    for failure in &unreadable {
        show::note(&format!("{} {failure}", show::warn("left out:")));
    }
    let sources = project.workflows();
    match cli.format() {
        OutputFormat::Json => {
            let default = catalog.default_workflow();
            let document = |it: &Entry| WorkflowDocument::new(&it.workflow, default);
            show::answer_as(&catalog.workflows().map(document).collect::<Vec<_>>());
        }
        OutputFormat::Table => {
            let rows = catalog.workflows().map(|it| {
                let workflow = &it.workflow;
                let is_default = catalog.default_workflow() == Some(&workflow.name);
                let default = if is_default { show::good("default") } else { String::new() };
                let source = sources.iter().find(|(name, _)| name == workflow.name.as_str());
                let steps: Vec<&str> = workflow.steps.iter().map(|it| it.id.as_str()).collect();
                vec![
                    workflow.name.to_string(),
                    steps.join(" → "),
                    default,
                    source.map_or_else(String::new, |(_, it)| it.origin.clone()),
                ]
            });
            let headings = ["WORKFLOW", "STEPS", "", "FROM"];
            show::answer(&show::table(&headings, rows.collect()));
        }
    }
    Ok(())
}

/// A workflow that is sound and whose agents fit it; else every problem.
pub(super) fn check_named(project: &Project, name: &str) -> Result<Workflow, Failure> {
    let source = source_of(project, name)?;
    let (workflow, _) = workflow_in(&source)?;
    let agents = project.agent_files()?;
    let mut problems: Vec<Problem> =
        workflow.steps.iter().flat_map(|it| agent_problems(&workflow, it, &agents)).collect();
    problems.extend(workflow.steps.iter().flat_map(|it| delegate_problems(it, &agents)));
    problems.extend(show::endless_cycles(&workflow));
    if problems.is_empty() {
        return Ok(workflow);
    }
    Err(Failure::Check { file: source.origin, problems })
}

fn check(cli: &Cli, project: &Project, name: &str) -> Result<(), Failure> {
    let workflow = check_named(project, name)?;
    match cli.format() {
        OutputFormat::Json => {
            let sound = [
                ("name", Node::text(workflow.name.as_str())),
                ("problems", Node::List(Vec::new())),
            ];
            show::answer_json(&Node::map(sound.into_iter().chain(show::graph_json(&workflow))));
        }
        OutputFormat::Table => {
            let n_edges = workflow.edges().count();
            let n_steps = workflow.steps.len();
            show::answer(&format!(
                "{} is sound: {n_steps} steps, {n_edges} edges, {} contracts{}",
                workflow.name,
                workflow.contracts.len(),
                show::graph_page(&workflow)
            ));
        }
    }
    for note in show::refused_rejects(&workflow) {
        show::note(&note);
    }
    Ok(())
}

/// Whether the agents of a step exist, and declare the contracts that the step needs.
fn agent_problems(workflow: &Workflow, step: &Step, agents: &[AgentFile]) -> Vec<Problem> {
    let mut problems = Vec::new();
    for id in &step.agents {
        let path = format!("steps.{}.agent", step.id);
        let Some(file) = agents.iter().find(|it| it.agent.id == *id) else {
            problems.push(no_such_agent(path, id));
            continue;
        };
        let place = Place::Step(step.id.clone());
        for (_, edge) in workflow.edges().filter(|(_, it)| Workflow::target_place(&it.to) == place)
        {
            let Some(contract) = &edge.contract else { continue };
            if !file.accepts.is_empty() && !names(&file.accepts, contract) {
                let message = format!("`{id}` does not say that it accepts `{contract}`");
                problems.push(Problem::new(&path, "not_accepted", message));
            }
        }
        for edge in &step.edges {
            let Some(contract) = &edge.contract else { continue };
            let produced = file.produces.iter().find(|(outcome, _)| *outcome == edge.on);
            if let Some((_, produced)) = produced
                && !names(produced, contract)
            {
                let path = format!("steps.{}.on.{}", step.id, edge.on.name());
                let message = format!("`{id}` does not say that it produces `{contract}`");
                problems.push(Problem::new(path, "not_produced", message));
            }
        }
    }
    problems
}

/// The same for a step's delegates: they receive one contract and return another.
fn delegate_problems(step: &Step, agents: &[AgentFile]) -> Vec<Problem> {
    let mut problems = Vec::new();
    for (index, delegate) in step.delegates.iter().enumerate() {
        let id = &delegate.agent;
        let path = format!("steps.{}.delegates[{index}]", step.id);
        let Some(file) = agents.iter().find(|it| it.agent.id == *id) else {
            problems.push(no_such_agent(path, id));
            continue;
        };
        let given = delegate.contract.as_ref().filter(|_| !file.accepts.is_empty());
        if let Some(contract) = given.filter(|it| !names(&file.accepts, it)) {
            let message = format!("`{id}` does not say that it accepts `{contract}`");
            problems.push(Problem::new(&path, "not_accepted", message));
        }
        let produced = file.produces.iter().find(|(outcome, _)| *outcome == Outcome::Success);
        if let (Some(contract), Some((_, produced))) = (&delegate.returns, produced)
            && !names(produced, contract)
        {
            let message = format!("`{id}` does not say that it produces `{contract}`");
            problems.push(Problem::new(&path, "not_produced", message));
        }
    }
    problems
}

/// Whether a contract is in a list, which may call it by its old name.
fn names(list: &[String], contract: &str) -> bool {
    let name = builtin::contract_name(contract);
    list.iter().any(|it| builtin::contract_name(it) == name)
}

fn no_such_agent(path: String, id: &AgentId) -> Problem {
    let message = format!("there is no agent `{id}`; `baton agent new {id}` makes one");
    Problem::new(path, "no_such_agent", message)
}

fn eject(project: &Project, name: &str) -> Result<(), Failure> {
    let ours = builtin::workflows().iter().find(|(it, _)| *it == name);
    let (name, text) = ours.ok_or_else(|| {
        let known: Vec<&str> = builtin::workflows().iter().map(|(it, _)| *it).collect();
        let message = format!("no workflow `{name}` comes with Baton; known: {}", known.join(", "));
        Failure::NotFound(message)
    })?;
    let folder = project.dir.make_dirs(format!("{FOLDER}/workflows"), FileMode::Shared)?;
    let file = format!("{name}.yaml");
    let path = folder.path().join(&file);
    write_new(&folder, Path::new(&file), text)?;
    show::answer(&format!(
        "wrote {}\n\nnew runs use it from now on; runs under way keep the one they began with",
        path.display()
    ));
    Ok(())
}

fn named(project: &Project, name: &str) -> Result<Workflow, Failure> {
    Ok(workflow_in(&source_of(project, name)?)?.0)
}

/// A workflow by its name, or a file by its path.
fn source_of(project: &Project, name: &str) -> Result<SourceFile, Failure> {
    let workflows = project.workflows();
    let known: Vec<String> = workflows.iter().map(|(it, _)| it.clone()).collect();
    if let Some((_, source)) = workflows.into_iter().find(|(it, _)| it == name) {
        return Ok(source);
    }
    match named_file::text(name) {
        Ok(text) => Ok(SourceFile::new(name, text)),
        Err(Failure::NotFound(_)) => {
            let known = known.join(", ");
            let message = format!("there is no workflow or file `{name}`; known: {known}");
            Err(Failure::NotFound(message))
        }
        Err(failure) => Err(failure),
    }
}
