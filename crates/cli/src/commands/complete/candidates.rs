//! The names of things in a project, as completion offers them.

use std::path::PathBuf;

use baton_api::{ERROR_PAGES, HandoffSummary, Page, RunDocument, StoryDocument, StoryStatus};

use crate::api::{Api, Ask};
use crate::args::{Cli, CliCommand};
use crate::failure::Failure;
use crate::project::Project;

/// No shell shows more.
const MOST: &str = "200";

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct OfferedWord {
    pub(super) word: String,
    pub(super) about: String,
}

/// What a value names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ValueRole {
    Agent,
    Workflow,
    Step,
    Story,
    Run,
    Handoff,
    Outcome,
    State,
    Schema,
    Code,
}

impl ValueRole {
    /// By the name of the value in the help.
    pub(super) fn of(value_name: &str) -> Option<Self> {
        Some(match value_name {
            "AGENT" | "AGENT|FILE" => Self::Agent,
            "WORKFLOW" | "WORKFLOW|FILE" => Self::Workflow,
            "STEP" => Self::Step,
            "STORY" => Self::Story,
            "RUN" | "RUN|HANDOFF" => Self::Run,
            "HANDOFF" => Self::Handoff,
            "OUTCOME" => Self::Outcome,
            "STATE" => Self::State,
            "SCHEMA" => Self::Schema,
            "CODE" => Self::Code,
            _ => return None,
        })
    }
}

/// The project that the command line is about.
pub(super) struct TypedProject(Cli);

impl TypedProject {
    /// As the words before say, else as usual.
    pub(super) fn of(cli: &Cli, before: &[String]) -> Self {
        let said = |name: &str| {
            let with_value = format!("{name}=");
            before.iter().enumerate().rev().find_map(|(at, word)| {
                let joined = word.strip_prefix(&with_value).map(str::to_owned);
                joined.or_else(|| (word == name).then(|| before.get(at + 1).cloned())?)
            })
        };
        let folder = |name: &str, own: &Option<PathBuf>| {
            said(name).map(PathBuf::from).or_else(|| own.clone())
        };
        let command = CliCommand::Complete { shell: String::new(), words: Vec::new() };
        let project = folder("--project", &cli.project);
        let data = folder("--data", &cli.data);
        let server = said("--server").or_else(|| cli.server.clone());
        Self(cli.at(project, data, server, command))
    }

    fn project(&self) -> Result<Project, Failure> {
        Project::find_or_bare(self.0.project.as_deref())
    }
}

/// None where the project cannot be read: a shell has no place for the reason.
pub(super) async fn of(place: &TypedProject, role: ValueRole) -> Vec<OfferedWord> {
    match role {
        ValueRole::Agent => agents(place).unwrap_or_default(),
        ValueRole::Workflow => workflows(place).unwrap_or_default(),
        ValueRole::Step => steps(place).unwrap_or_default(),
        ValueRole::Story => asked(place, async |api| stories(api).await).await,
        ValueRole::Run => asked(place, async |api| runs(api).await).await,
        ValueRole::Handoff => asked(place, async |api| handoffs(api).await).await,
        ValueRole::Outcome => named(["success", "failure", "blocked", "needs_review"]),
        ValueRole::State => named(["pending", "clarification", "accepted", "parked", "completed"]),
        ValueRole::Schema => named(baton_wire::schema::all().map(|(name, _)| name)),
        ValueRole::Code => named(ERROR_PAGES.iter().map(|(code, _)| *code)),
    }
}

/// What the API answers: a server, or the same routes in this process.
async fn asked(
    place: &TypedProject,
    ask: impl AsyncFnOnce(&Api) -> Result<Vec<OfferedWord>, Failure>,
) -> Vec<OfferedWord> {
    let Ok(api) = Api::open(&place.0).await else { return Vec::new() };
    let found = ask(&api).await;
    api.close().await;
    found.unwrap_or_default()
}

fn named<'a>(words: impl IntoIterator<Item = &'a str>) -> Vec<OfferedWord> {
    words.into_iter().map(|it| candidate(it, "")).collect()
}

fn candidate(word: impl ToString, about: impl ToString) -> OfferedWord {
    OfferedWord { word: word.to_string(), about: about.to_string() }
}

fn agents(place: &TypedProject) -> Result<Vec<OfferedWord>, Failure> {
    let files = place.project()?.load();
    Ok(files.agents.iter().map(|(_, it)| candidate(&it.agent.id, &it.agent.description)).collect())
}

fn workflows(place: &TypedProject) -> Result<Vec<OfferedWord>, Failure> {
    let files = place.project()?.load();
    Ok(files.workflows.iter().map(|it| candidate(&it.name, &it.workflow().title)).collect())
}

fn steps(place: &TypedProject) -> Result<Vec<OfferedWord>, Failure> {
    let files = place.project()?.load();
    let mut found: Vec<OfferedWord> = Vec::new();
    for it in &files.workflows {
        for step in &it.workflow().steps {
            if !found.iter().any(|known| known.word == step.id.as_str()) {
                found.push(candidate(&step.id, ""));
            }
        }
    }
    Ok(found)
}

async fn stories(api: &Api) -> Result<Vec<OfferedWord>, Failure> {
    let page: Page<StoryDocument> = api.get(&Ask::get(["stories"]).with("limit", MOST)).await?;
    let mut stories = page.items;
    // What is still to be done first.
    stories.sort_by_key(|it| matches!(it.status, StoryStatus::Finished | StoryStatus::Cancelled));
    Ok(stories.iter().map(|it| candidate(&it.key, &it.title)).collect())
}

async fn runs(api: &Api) -> Result<Vec<OfferedWord>, Failure> {
    let ask = Ask::get(["runs"]).with("order", "newest").with("limit", MOST);
    let page: Page<RunDocument> = api.get(&ask).await?;
    let about = |it: &RunDocument| format!("{}, {}", it.story, it.status.name());
    Ok(page.items.iter().map(|it| candidate(it.number, about(it))).collect())
}

async fn handoffs(api: &Api) -> Result<Vec<OfferedWord>, Failure> {
    let open = "pending,clarification,accepted,parked";
    let ask = Ask::get(["handoffs"]).with("state", open).with("limit", MOST);
    let page: Page<HandoffSummary> = api.get(&ask).await?;
    let about = |it: &HandoffSummary| {
        format!("{} of {}: {} → {}", it.label, it.story, it.from_agent, it.to_agent)
    };
    Ok(page.items.iter().map(|it| candidate(it.number, about(it))).collect())
}
