//! `baton story`: add, list, show, edit, import.

use std::collections::HashSet;
use std::path::Path;

use baton_api::{NewStory, StoryText};
use baton_core::document::Node;
use baton_core::names::StoryKey;
use baton_core::story::Story;
use baton_wire::story_file;
use http::StatusCode;

use super::outcome::show_warnings;
use crate::api::{Api, ApiReply, Ask};
use crate::args::{self, StoryAdd, StoryEdit};
use crate::failure::Failure;
use crate::payload;
use crate::project::parsed;
use crate::show::{self, OutputFormat};

pub(crate) async fn run(api: &Api, verb: &args::StoryCommand) -> Result<(), Failure> {
    match verb {
        args::StoryCommand::Add(args) => add(api, args).await,
        args::StoryCommand::List => list(api).await,
        args::StoryCommand::Show { key } => {
            let reply = api.send(&Ask::get(["stories", key])).await?;
            tell(api, &reply).await
        }
        args::StoryCommand::Edit(args) => edit(api, args).await,
        args::StoryCommand::Import { file } => import(api, file).await,
    }
}

async fn add(api: &Api, args: &StoryAdd) -> Result<(), Failure> {
    let story = NewStory {
        key: args.key.clone(),
        title: args.title.clone(),
        description: args.description.clone(),
        acceptance: args.acceptance.clone(),
        depends_on: args.depends_on.clone(),
        priority: args.priority,
        branch: args.branch.clone(),
        pr_url: args.pr_url.clone(),
    };
    let reply = api.send(&Ask::post(["stories"], &story)).await?;
    tell(api, &reply).await
}

/// Sends the whole story back with what was named changed.
async fn edit(api: &Api, args: &StoryEdit) -> Result<(), Failure> {
    if args.is_empty() {
        let message = "name what to change, such as `--title` or `--priority`; `baton story edit --help` \
                       lists all";
        return Err(Failure::Usage(message.to_owned()));
    }
    let story: baton_api::StoryDocument = api.get(&Ask::get(["stories", &args.key])).await?;
    let listed = |new: &Option<Vec<String>>, old: Vec<String>| match new {
        Some(new) => new.iter().filter(|it| !it.is_empty()).cloned().collect(),
        None => old,
    };
    let optional = |new: &Option<String>, old: Option<String>| match new {
        Some(new) => Some(new.clone()).filter(|it| !it.is_empty()),
        None => old,
    };
    let text = StoryText {
        title: args.title.clone().unwrap_or(story.title),
        description: args.description.clone().unwrap_or(story.description),
        acceptance: listed(&args.acceptance, story.acceptance),
        depends_on: listed(&args.depends_on, story.depends_on),
        priority: args.priority.unwrap_or(story.priority),
        branch: optional(&args.branch, story.branch),
        pr_url: optional(&args.pr_url, story.pr_url),
    };
    let reply = api.send(&Ask::put(["stories", &story.key], &text)).await?;
    tell(api, &reply).await
}

async fn list(api: &Api) -> Result<(), Failure> {
    let listed = api.list::<baton_api::StoryDocument>(Ask::get(["stories"])).await?;
    match api.format {
        OutputFormat::Json => show::answer_json(&listed.into_json()),
        OutputFormat::Table if listed.items.is_empty() => {
            show::note("no stories; `baton story add KEY --title \"...\"` makes one");
        }
        OutputFormat::Table => show::answer(&show::stories_table(&listed.items)),
    }
    Ok(())
}

/// A story, and for people its runs too.
async fn tell(api: &Api, reply: &ApiReply) -> Result<(), Failure> {
    if api.format == OutputFormat::Json {
        show::answer_document(&reply.body);
        return Ok(());
    }
    let story: baton_api::StoryDocument = reply.document()?;
    show::answer(&show::story_page(&story));
    show_warnings(&story.warnings);
    let runs =
        api.list::<baton_api::RunDocument>(Ask::get(["runs"]).with("story", &story.key)).await?;
    if !runs.items.is_empty() {
        show::answer(&format!("\n{}", show::runs_table(&runs.items, api.now())));
    }
    Ok(())
}

async fn import(api: &Api, file: &str) -> Result<(), Failure> {
    let text = payload::file(file)?;
    let path = Path::new(file);
    let is_json = path.extension().is_some_and(|it| it.eq_ignore_ascii_case("json"));
    let read = if is_json { story_file::parse_json(&text) } else { story_file::parse(&text) };
    let stories = dependencies_first(parsed(path, read)?);
    show_warnings(&story_file::split_numbers(&stories));
    let n_all = stories.len();
    let mut n_new = 0;
    for story in stories {
        let key = story.key.to_string();
        let reply = api.send(&Ask::put(["stories", &key], &text_of(story))).await?;
        n_new += usize::from(reply.status == StatusCode::CREATED);
        show_warnings(&reply.document::<baton_api::StoryDocument>()?.warnings);
    }
    let n_updated = n_all - n_new;
    match api.format {
        OutputFormat::Json => {
            let count = |n: usize| Node::count(n as u64);
            show::answer_json(&Node::map([("added", count(n_new)), ("updated", count(n_updated))]));
        }
        OutputFormat::Table => show::answer(&format!("{n_new} added, {n_updated} updated")),
    }
    Ok(())
}

/// In the order of the file, but each after the stories of the file that it depends on: so that a
/// dependency that is not there is warned about, and only then.
fn dependencies_first(mut waiting: Vec<Story>) -> Vec<Story> {
    let mut sorted: Vec<Story> = Vec::with_capacity(waiting.len());
    while !waiting.is_empty() {
        let keys: HashSet<StoryKey> = waiting.iter().map(|it| it.key.clone()).collect();
        let is_free = |it: &Story| !it.depends_on.iter().any(|key| keys.contains(key));
        let (free, rest): (Vec<_>, Vec<_>) = waiting.into_iter().partition(is_free);
        // In a circle there is no order.
        let is_stuck = free.is_empty();
        sorted.extend(free);
        waiting = rest;
        if is_stuck {
            sorted.append(&mut waiting);
        }
    }
    sorted
}

fn text_of(story: Story) -> StoryText {
    StoryText {
        title: story.title,
        description: story.description,
        acceptance: story.acceptance,
        depends_on: story.depends_on.iter().map(ToString::to_string).collect(),
        priority: story.priority,
        branch: story.branch,
        pr_url: story.pr_url,
    }
}
