//! `baton agent`: list, show, check, new, detect.

pub(super) mod detect;

use std::path::Path;

use baton_api::AgentDocument;
use baton_core::agent::Agent;
use baton_core::document::Node;
use baton_core::names::AgentId;
use baton_files::{FileError, FileMode};
use baton_wire::agent_file::{self, AgentFile};
use baton_wire::builtin;
use baton_wire::suggest::did_you_mean;
use serde::Serialize;

use super::init::write_new;
use crate::args::{self, AgentCommand, Cli};
use crate::failure::Failure;
use crate::named_file;
use crate::project::{BUILT_IN, FOLDER, LoadedFiles, Project, parsed, tell_left_out};
use crate::session::as_nodes_use_it;
use crate::show::{self, OutputFormat};

pub(crate) async fn run(cli: &Cli, verb: &AgentCommand) -> Result<(), Failure> {
    let project = match verb {
        AgentCommand::New { .. } => Project::find(cli.project.as_deref())?,
        AgentCommand::List
        | AgentCommand::Show { .. }
        | AgentCommand::Check { .. }
        | AgentCommand::Detect => Project::find_or_bare(cli.project.as_deref())?,
    };
    match verb {
        AgentCommand::List => list(cli, &as_nodes_use_it(cli, project).await?),
        AgentCommand::Show { id } => show_one(cli, &as_nodes_use_it(cli, project).await?, id),
        AgentCommand::Check { id } => check(cli, &project, id.as_deref()),
        AgentCommand::New { id, description } => new(&project, id, description),
        AgentCommand::Detect => detect::run(cli).await,
    }
}

fn list(cli: &Cli, project: &Project) -> Result<(), Failure> {
    let files = project.load();
    tell_left_out(&files.catalog(&project.file));
    match cli.format() {
        OutputFormat::Json => {
            let agents = files.agents.iter().map(|(_, it)| document(&it.agent));
            show::answer_as(&agents.collect::<Vec<_>>());
        }
        OutputFormat::Table => {
            let rows = files.agents.iter().map(|(origin, it)| {
                let agent = &it.agent;
                vec![
                    agent.id.to_string(),
                    show::visible(&agent.name),
                    show::cell(&agent.description, 70),
                    show::visible(&agent.capabilities.join(", ")),
                    origin.clone(),
                ]
            });
            let headings = ["AGENT", "NAME", "DESCRIPTION", "CAPABILITIES", "FROM"];
            show::answer(&show::list(&headings, rows.collect()));
        }
    }
    Ok(())
}

/// An agent with what only its file says.
#[derive(Serialize)]
struct ListedAgent<'a> {
    #[serde(flatten)]
    agent: AgentDocument,
    #[serde(skip_serializing_if = "Option::is_none")]
    tool: Option<&'a str>,
}

fn show_one(cli: &Cli, project: &Project, id: &str) -> Result<(), Failure> {
    let mut files = project.load();
    files.refuse_bad_agent(id)?;
    tell_left_out(&files.catalog(&project.file));
    let id = AgentId::parse(id)?;
    let known: Vec<&str> = files.agents.iter().map(|(_, it)| it.agent.id.as_str()).collect();
    let (origin, file) =
        files.agents.iter().find(|(_, it)| it.agent.id == id).ok_or_else(|| {
            let hint = did_you_mean(id.as_str(), &known);
            let new = format!("`baton agent new {id}` makes it");
            Failure::NotFound(format!("there is no agent `{id}` yet ({new}); {hint}"))
        })?;
    let agent = &file.agent;
    match cli.format() {
        OutputFormat::Json => {
            show::answer_as(&ListedAgent { agent: document(agent), tool: file.tool.as_deref() })
        }
        OutputFormat::Table => {
            let mut rows = vec![
                ("agent", agent.id.to_string()),
                ("name", show::visible(&agent.name)),
                ("about", show::visible(&agent.description)),
                ("can", show::visible(&agent.capabilities.join(", "))),
                ("works from", file.accepts.join(", ")),
            ];
            rows.extend(file.tool.as_ref().map(|it| ("tool", show::visible(it))));
            rows.push(("file", origin.clone()));
            let fields = show::fields(rows);
            show::answer(&format!("{fields}\n\n{}", show::block(&agent.prompt)));
        }
    }
    Ok(())
}

/// By the loader that every command uses. Without a name, the project's own files.
fn check(cli: &Cli, project: &Project, name: Option<&str>) -> Result<(), Failure> {
    let mut files = project.load();
    let sound: Vec<String> = match name {
        None => {
            files.refuse_bad_agents()?;
            files.agents.iter().map(|(_, it)| it.agent.id.to_string()).collect()
        }
        Some(name) => {
            files.refuse_bad_agent(name)?;
            tell_left_out(&files.catalog(&project.file));
            match files.agents.iter().find(|(_, it)| it.agent.id.as_str() == name) {
                Some(_) => vec![name.to_owned()],
                None => vec![check_file(&files, name)?],
            }
        }
    };
    match cli.format() {
        OutputFormat::Json => {
            let names = sound.into_iter().map(Node::Text).collect();
            show::answer_json(&Node::map([
                ("agents", Node::List(names)),
                ("problems", Node::List(Vec::new())),
            ]));
        }
        OutputFormat::Table => match sound.as_slice() {
            [one] => show::answer(&format!("{one} is sound")),
            all => show::answer(&format!("{} are sound", show::counted(all.len() as u64, "agent"))),
        },
    }
    Ok(())
}

/// A file anywhere, which has to be named after its agent.
fn check_file(files: &LoadedFiles, name: &str) -> Result<String, Failure> {
    let text = match named_file::text(name) {
        Ok(text) => text,
        Err(Failure::NotFound(_)) => {
            let known: Vec<&str> =
                files.agents.iter().map(|(_, it)| it.agent.id.as_str()).collect();
            let hint = did_you_mean(name, &known);
            let message = format!("there is no agent or file `{name}`; {hint}");
            return Err(Failure::NotFound(message));
        }
        Err(failure) => return Err(failure),
    };
    let path = Path::new(name);
    let stem = path.file_stem().unwrap_or_default().to_string_lossy();
    Ok(parsed(path, agent_file::parse_file(&stem, &text))?.agent.id.to_string())
}

fn document(agent: &Agent) -> AgentDocument {
    AgentDocument { agent: agent.into(), prompt: agent.prompt.clone() }
}

fn new(project: &Project, id: &str, description: &str) -> Result<(), Failure> {
    let id = AgentId::parse(id)?;
    if id.is_human() || id.is_orchestrator() {
        return Err(Failure::Usage(format!("`{id}` is reserved: Baton itself plays it")));
    }
    let ours = builtin::agents().iter().find(|(name, _)| *name == id.as_str());
    if ours.is_some() {
        show::note(&format!("`{id}` comes with Baton; your copy of it will be used instead"));
    }
    let mut files = project.load();
    // A file that is left out would still be there.
    files.refuse_bad_agent(id.as_str())?;
    let is_own = |(origin, it): &&(String, AgentFile)| it.agent.id == id && origin != BUILT_IN;
    if let Some((origin, _)) = files.agents.iter().find(is_own) {
        let message = format!("`{origin}` describes `{id}` already; edit it");
        return Err(Failure::Conflict(message));
    }
    let folder = project.dir.make_dirs(format!("{FOLDER}/agents"), FileMode::Shared)?;
    let name = format!("{id}.md");
    let path = folder.path().join(&name);
    if folder.entry(&name)?.is_some() {
        return Err(FileError::Exists { path }.into());
    }
    // A copy keeps the prompt, and what it accepts and produces: a workflow depends on both.
    let text = match ours {
        Some((_, text)) => described(text, description),
        None => template(&id, description),
    };
    // The file we write must parse: a description may contain anything.
    agent_file::parse(&text)
        .map_err(|problems| Failure::File { file: path.display().to_string(), problems })?;
    write_new(&folder, Path::new(&name), &text)?;
    let next = match ours {
        Some(_) => {
            "next: change it there; `baton workflow check NAME` says whether a workflow fits it"
        }
        None => {
            "next: write its prompt there, then give it a step in a workflow\n  \
             baton workflow eject story-pipeline   to change the one that comes with Baton"
        }
    };
    show::answer(&format!("wrote {}\n\n{next}", path.display()));
    Ok(())
}

/// A built-in agent's file, with another description where one was typed.
fn described(text: &str, description: &str) -> String {
    if description == args::NO_DESCRIPTION {
        return text.to_owned();
    }
    let quoted = baton_wire::json::print(&Node::text(description));
    let line = |it: &str| match it.starts_with("description:") {
        true => format!("description: {quoted}\n"),
        false => format!("{it}\n"),
    };
    text.lines().map(line).collect()
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
        "---\nname: {id}\ntitle: {}\ndescription: {}\n\
         # What it can do, and which contracts it takes and gives; left out, nothing is compared.\n\
         # capabilities: [review]\n# accepts: [plan]\n# produces: {{ success: [implementation] }}\n\
         ---\n\n# {title}\n\n\
         > **Context:** Use `DASHBOARD_URL`, `STORY_ID` and `BRANCH` from your execution prompt.\n\n\
         {description}\n\n\
         ## Responsibilities\n\n- Say what this agent does, and what it never does.\n\n\
         ## Task\n\n\
         1. Read the package, and what it names.\n\
         2. Do the work, and verify it.\n\
         3. Hand off: say what you did, what you decided and why, and what is open.\n",
        quote(&title),
        quote(description),
    )
}
