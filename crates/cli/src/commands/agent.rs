//! `baton agent`: list, show, new.

use std::path::Path;

use baton_api::AgentDocument;
use baton_core::agent::Agent;
use baton_core::document::Node;
use baton_core::names::AgentId;
use baton_files::{FileError, FileMode};
use baton_wire::{agent_file, builtin};

use super::init::write_new;
use crate::args::{AgentCommand, Cli};
use crate::failure::Failure;
use crate::project::{FOLDER, Project};
use crate::show::{self, OutputFormat};

pub(crate) fn run(cli: &Cli, verb: &AgentCommand) -> Result<(), Failure> {
    let project = match verb {
        AgentCommand::New { .. } => Project::find(cli.project.as_deref())?,
        AgentCommand::List | AgentCommand::Show { .. } => {
            Project::find_or_bare(cli.project.as_deref())?
        }
    };
    match verb {
        AgentCommand::List => list(cli, &project),
        AgentCommand::Show { id } => show_one(cli, &project, id),
        AgentCommand::New { id, description } => new(&project, id, description),
    }
}

fn list(cli: &Cli, project: &Project) -> Result<(), Failure> {
    let agents = project.agent_files()?;
    let sources = project.agents();
    match cli.format() {
        OutputFormat::Json => {
            show::answer_as(&agents.iter().map(|it| document(&it.agent)).collect::<Vec<_>>());
        }
        OutputFormat::Table => {
            let rows = agents.iter().zip(&sources).map(|(it, (_, source))| {
                let agent = &it.agent;
                vec![
                    agent.id.to_string(),
                    show::visible(&agent.name),
                    show::shortened(&agent.description, 70),
                    show::visible(&agent.capabilities.join(", ")),
                    source.origin.clone(),
                ]
            });
            let headings = ["AGENT", "NAME", "DESCRIPTION", "CAPABILITIES", "FROM"];
            show::answer(&show::table(&headings, rows.collect()));
        }
    }
    Ok(())
}

fn show_one(cli: &Cli, project: &Project, id: &str) -> Result<(), Failure> {
    let id = AgentId::parse(id)?;
    let agents = project.agent_files()?;
    let file = agents.iter().find(|it| it.agent.id == id).ok_or_else(|| {
        let known: Vec<&str> = agents.iter().map(|it| it.agent.id.as_str()).collect();
        Failure::NotFound(format!("there is no agent `{id}`; known: {}", known.join(", ")))
    })?;
    let agent = &file.agent;
    match cli.format() {
        OutputFormat::Json => show::answer_as(&document(agent)),
        OutputFormat::Table => {
            let fields = show::fields(vec![
                ("agent", agent.id.to_string()),
                ("name", show::visible(&agent.name)),
                ("about", show::visible(&agent.description)),
                ("can", show::visible(&agent.capabilities.join(", "))),
                ("works from", file.accepts.join(", ")),
            ]);
            show::answer(&format!("{fields}\n\n{}", show::block(&agent.prompt)));
        }
    }
    Ok(())
}

fn document(agent: &Agent) -> AgentDocument {
    AgentDocument { agent: agent.into(), prompt: agent.prompt.clone() }
}

fn new(project: &Project, id: &str, description: &str) -> Result<(), Failure> {
    let id = AgentId::parse(id)?;
    if id.is_human() || id.is_orchestrator() {
        return Err(Failure::Usage(format!("`{id}` is reserved: Baton itself plays it")));
    }
    if builtin::agents().iter().any(|(name, _)| *name == id.as_str()) {
        show::note(&format!("`{id}` comes with Baton; your file will be used instead"));
    }
    let folder = project.dir.make_dirs(format!("{FOLDER}/agents"), FileMode::Shared)?;
    let name = format!("{id}.md");
    let path = folder.path().join(&name);
    if folder.entry(&name)?.is_some() {
        return Err(FileError::Exists { path }.into());
    }
    let text = template(&id, description);
    // The file we write must parse: a description may contain anything.
    agent_file::parse(&text)
        .map_err(|problems| Failure::File { file: path.display().to_string(), problems })?;
    write_new(&folder, Path::new(&name), &text)?;
    show::answer(&format!(
        "wrote {}\n\nnext: write its prompt there, then give it a step in a workflow\n  \
         baton workflow eject story-pipeline   to change the one that comes with Baton",
        path.display()
    ));
    Ok(())
}

fn template(id: &AgentId, description: &str) -> String {
    // JSON is valid YAML, whatever it contains.
    let quote = |text: &str| baton_wire::json::print(&Node::text(text));
    let mut title: Vec<String> = Vec::new();
    for word in id.as_str().split('-') {
        let (first, rest) = word.split_at(1);
        title.push(format!("{}{rest}", first.to_uppercase()));
    }
    let title = title.join(" ");
    format!(
        "---\nname: {id}\ntitle: {}\ndescription: {}\ncapabilities: []\naccepts: []\nproduces:\n  \
         success: []\n---\n\n# {title}\n\n\
         > **Context:** Use `DASHBOARD_URL`, `STORY_ID` and `BRANCH` from your execution prompt.\n\n\
         {description}\n\n\
         ## Responsibilities\n\n- Say what this agent does, and what it never does.\n\n\
         ## Task\n\n\
         1. Get your assignment and accept it before you work.\n\
         2. Do the work, and verify it.\n\
         3. Hand off: say what you did, what you decided and why, and what is open.\n",
        quote(&title),
        quote(description),
    )
}
