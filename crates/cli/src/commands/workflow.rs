//! `baton workflow`: list, show, check, graph, docs, new, simulate, diff, eject.

mod diff;
mod docs;
mod new;
mod simulate;

use std::path::Path;

use baton_api::WorkflowDocument;
use baton_core::document::Node;
use baton_core::names::CheckName;
use baton_core::workflow::Workflow;
use baton_engine::Entry;
use baton_files::FileMode;
use baton_wire::suggest::did_you_mean;
use baton_wire::{builtin, schema, workflow_file};

use super::init::write_new;
use super::over_api;
use crate::args::{self, Cli};
use crate::failure::Failure;
use crate::named_file;
use crate::project::{FOLDER, Project, SourceFile, parsed, tell_left_out};
use crate::session::as_nodes_use_it;
use crate::show::{self, OutputFormat};

pub(crate) async fn run(cli: &Cli, verb: &args::WorkflowCommand) -> Result<(), Failure> {
    let project = match verb {
        args::WorkflowCommand::Eject { .. }
        | args::WorkflowCommand::New(_)
        | args::WorkflowCommand::Diff { .. } => Project::find(cli.project.as_deref())?,
        args::WorkflowCommand::List
        | args::WorkflowCommand::Show { .. }
        | args::WorkflowCommand::Check { .. }
        | args::WorkflowCommand::Docs { .. }
        | args::WorkflowCommand::Simulate(_)
        | args::WorkflowCommand::Graph { .. } => Project::find_or_bare(cli.project.as_deref())?,
    };
    let project = match verb {
        args::WorkflowCommand::List
        | args::WorkflowCommand::Show { .. }
        | args::WorkflowCommand::Docs { .. }
        | args::WorkflowCommand::Simulate(_)
        | args::WorkflowCommand::Graph { .. } => as_nodes_use_it(cli, project).await?,
        // These are about the files of this folder.
        args::WorkflowCommand::Eject { .. }
        | args::WorkflowCommand::New(_)
        | args::WorkflowCommand::Diff { .. }
        | args::WorkflowCommand::Check { .. } => project,
    };
    match verb {
        args::WorkflowCommand::List => list(cli, &project),
        args::WorkflowCommand::Show { name } => {
            let workflow = named(&project, name)?;
            match cli.format() {
                OutputFormat::Json => {
                    let catalog = project.load().catalog(&project.file);
                    let default = catalog.default_workflow();
                    show::answer_as(&WorkflowDocument::new(&workflow, default));
                }
                OutputFormat::Table => show::answer(&show::workflow_page(&workflow)),
            }
            Ok(())
        }
        args::WorkflowCommand::Check { name } => check(cli, &project, name),
        args::WorkflowCommand::Graph { name, text: false } => {
            let workflow = named(&project, name)?;
            show_drawing(cli.format(), &workflow, show::mermaid(&workflow));
            Ok(())
        }
        args::WorkflowCommand::Graph { name, text: true } => {
            let workflow = named(&project, name)?;
            show_drawing(cli.format(), &workflow, show::picture(&workflow));
            Ok(())
        }
        args::WorkflowCommand::Docs { name } => {
            let workflow = named(&project, name)?;
            let page = docs::page(&workflow);
            match cli.format() {
                OutputFormat::Json => {
                    let name = ("workflow", Node::text(workflow.name.as_str()));
                    show::answer_json(&Node::map([name, ("page", Node::text(page))]));
                }
                OutputFormat::Table => show::answer(&page),
            }
            Ok(())
        }
        args::WorkflowCommand::New(asked) => make(&project, asked),
        args::WorkflowCommand::Simulate(asked) => {
            simulate::run(&named(&project, &asked.name)?, asked, cli.format())
        }
        args::WorkflowCommand::Diff { run } => {
            over_api(cli, async |api| diff::run(api, run).await).await
        }
        args::WorkflowCommand::Eject { name } => eject(&project, name),
    }
}

/// A graph as it is drawn; for programs with the members that `baton workflow check` has of it too.
fn show_drawing(format: OutputFormat, workflow: &Workflow, drawn: String) {
    match format {
        OutputFormat::Json => {
            let name = ("workflow", Node::text(workflow.name.as_str()));
            let members = [name, ("drawing", Node::text(drawn))].into_iter();
            show::answer_json(&Node::map(members.chain(show::graph_json(workflow))));
        }
        OutputFormat::Table => show::answer(&drawn),
    }
}

fn list(cli: &Cli, project: &Project) -> Result<(), Failure> {
    let catalog = project.load().catalog(&project.file);
    tell_left_out(&catalog);
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
            show::answer(&show::list(&headings, rows.collect()));
        }
    }
    Ok(())
}

fn check(cli: &Cli, project: &Project, name: &str) -> Result<(), Failure> {
    let (name, source) = source_of(project, name)?;
    let files = project.load();
    let workflow = files.check(&name, &source)?;
    tell_left_out(&files.catalog(&project.file));
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
                "{} is sound: {}, {}, {}{}",
                workflow.name,
                show::counted(n_steps as u64, "step"),
                show::counted(n_edges as u64, "edge"),
                show::counted(workflow.contracts.len() as u64, "contract"),
                show::graph_page(&workflow)
            ));
        }
    }
    for note in show::refused_rejects(&workflow) {
        show::note(&note);
    }
    let checks: Vec<CheckName> = project.file.checks.iter().map(|it| it.name.clone()).collect();
    for note in workflow_file::checks::posted_checks(&workflow, &checks) {
        show::note(&note);
    }
    if let Some(Failure::File { file, problems }) = project.unknown_agents(&files) {
        for problem in problems {
            show::note(&format!("{}: {problem}", show::visible(&file)));
        }
    }
    for note in files.outcomes_without_edge(&workflow) {
        show::note(&note);
    }
    for step in workflow.steps_without_a_no() {
        show::note(&format!(
            "`steps.{}`: its agent cannot send work back: it has `reject: never` and no edge on \
             failure; add `failure: {{ to: STEP, back: true }}` if it should",
            step.id
        ));
    }
    Ok(())
}

/// Writes a workflow that the check takes, and says what is missing before it can be used.
fn make(project: &Project, asked: &args::NewWorkflow) -> Result<(), Failure> {
    let plan = new::plan(asked)?;
    let text = plan.text();
    let name = plan.name.as_str();
    // A refusal comes before the file is written.
    parsed(Path::new("the new workflow"), workflow_file::parse_file(name, &text))?;
    let folder = project.dir.make_dirs(format!("{FOLDER}/workflows"), FileMode::Shared)?;
    let file = format!("{name}.yaml");
    let path = folder.path().join(&file);
    write_new(&folder, Path::new(&file), &text)?;
    show::answer(&format!(
        "wrote {}\n\n`baton workflow check {name}` says what is missing, `baton agent new AGENT` makes an \
         agent",
        path.display()
    ));
    Ok(())
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
    let head = format!("# yaml-language-server: $schema=../schemas/{SCHEMA_FILE}\n");
    write_new(&folder, Path::new(&file), &format!("{head}{text}"))?;
    write_schema(project)?;
    show::answer(&format!(
        "wrote {}\n\nnew runs use it from now on; runs under way keep the one they began with",
        path.display()
    ));
    Ok(())
}

/// The schema that the first line of an ejected file names, for editors: they need no server for it.
fn write_schema(project: &Project) -> Result<(), Failure> {
    let Some(text) = schema::schema("workflow") else { return Ok(()) };
    let folder = project.dir.make_dirs(format!("{FOLDER}/schemas"), FileMode::Shared)?;
    Ok(folder.replace(SCHEMA_FILE, text.as_bytes(), FileMode::Shared)?)
}

const SCHEMA_FILE: &str = "workflow.schema.json";

fn named(project: &Project, name: &str) -> Result<Workflow, Failure> {
    let (name, source) = source_of(project, name)?;
    let workflow =
        parsed(Path::new(&source.origin), workflow_file::parse_file(&name, source.text()?))?;
    tell_left_out(&project.load().catalog(&project.file));
    Ok(workflow)
}

/// A workflow by its name, or a file by its path; with the name that it has to have.
fn source_of(project: &Project, name: &str) -> Result<(String, SourceFile), Failure> {
    let workflows = project.workflows();
    let known: Vec<String> = workflows.iter().map(|(it, _)| it.clone()).collect();
    if let Some(found) = workflows.into_iter().find(|(it, _)| it == name) {
        return Ok(found);
    }
    match named_file::text(name) {
        Ok(text) => {
            let stem = Path::new(name).file_stem().unwrap_or_default();
            Ok((stem.to_string_lossy().into_owned(), SourceFile::new(name, text)))
        }
        Err(Failure::NotFound(_)) => {
            let known: Vec<&str> = known.iter().map(String::as_str).collect();
            let hint = did_you_mean(name, &known);
            Err(Failure::NotFound(format!("there is no workflow or file `{name}`; {hint}")))
        }
        Err(failure) => Err(failure),
    }
}
