//! `baton story`: add, list, show, import.

use std::path::Path;

use baton_core::document::Node;
use baton_core::names::StoryKey;
use baton_core::story::Story;
use baton_store::RunFilter;
use baton_wire::story_file;

use crate::args::{self, StoryAdd};
use crate::failure::Failure;
use crate::payload;
use crate::project::parsed;
use crate::session::Session;
use crate::show::{self, Format};

pub(crate) async fn run(session: &Session, verb: &args::Story) -> Result<(), Failure> {
    match verb {
        args::Story::Add(args) => add(session, args).await,
        args::Story::List => list(session).await,
        args::Story::Show { key } => show_one(session, key).await,
        args::Story::Import { file } => import(session, file).await,
    }
}

async fn add(session: &Session, args: &StoryAdd) -> Result<(), Failure> {
    let key = StoryKey::parse(&args.key)?;
    let depends_on = args.depends_on.iter().map(|it| StoryKey::parse(it));
    let story = Story {
        title: args.title.clone().unwrap_or_else(|| args.key.clone()),
        description: args.description.clone(),
        acceptance: args.acceptance.clone(),
        depends_on: depends_on.collect::<Result<_, _>>()?,
        priority: args.priority,
        branch: args.branch.clone(),
        pr_url: args.pr_url.clone(),
        key,
    };
    if !session.engine.add_story(&story).await? {
        return Err(Failure::Conflict(format!("there is a story `{}` already", story.key)));
    }
    show_one(session, &args.key).await
}

async fn list(session: &Session) -> Result<(), Failure> {
    let rows = session.engine.stories().await?;
    match session.format {
        Format::Json => {
            show::answer_json(&Node::List(rows.iter().map(show::story_json).collect()));
        }
        Format::Table if rows.is_empty() => {
            show::note("no stories; `baton story add KEY --title \"...\"` makes one");
        }
        Format::Table => show::answer(&show::stories_table(&rows)),
    }
    Ok(())
}

async fn show_one(session: &Session, key: &str) -> Result<(), Failure> {
    let engine = &session.engine;
    let row = engine.story(&StoryKey::parse(key)?).await?;
    if session.format == Format::Json {
        show::answer_json(&show::story_json(&row));
        return Ok(());
    }
    let story = &row.story;
    let none = || show::dim("–");
    let depends_on: Vec<&str> = story.depends_on.iter().map(|it| it.as_str()).collect();
    let mut fields = vec![
        ("story", show::visible(story.key.as_str())),
        ("title", show::visible(&story.title)),
        ("status", show::story_status(&row).to_owned()),
        ("priority", story.priority.to_string()),
        ("depends on", show::visible(&depends_on.join(", "))),
        ("branch", story.branch.as_deref().map_or_else(none, show::visible)),
        ("pull request", story.pr_url.as_deref().map_or_else(none, show::visible)),
    ];
    if !story.description.is_empty() {
        fields.push(("description", show::visible(&story.description)));
    }
    for criterion in &story.acceptance {
        fields.push(("accepted when", show::visible(criterion)));
    }
    show::answer(&show::fields(fields));
    let filter = RunFilter { story: Some(story.key.clone()), ..RunFilter::default() };
    let runs = engine.store().runs(&filter).await?;
    if !runs.is_empty() {
        show::answer(&format!("\n{}", show::runs_table(&runs, engine.clock().now())));
    }
    Ok(())
}

async fn import(session: &Session, file: &str) -> Result<(), Failure> {
    let argument = if file == "-" { file.to_owned() } else { format!("@{file}") };
    let text = payload::text(&argument)?;
    let stories = parsed(Path::new(file), story_file::parse(&text))?;
    let mut n_new = 0;
    for story in &stories {
        if session.engine.add_story(story).await? {
            n_new += 1;
        } else {
            session.engine.save_story(story).await?;
        }
    }
    let n_updated = stories.len() - n_new;
    match session.format {
        Format::Json => show::answer_json(&Node::map([
            ("added", Node::Number(i64::try_from(n_new).unwrap_or(i64::MAX).into())),
            ("updated", Node::Number(i64::try_from(n_updated).unwrap_or(i64::MAX).into())),
        ])),
        Format::Table => show::answer(&format!("{n_new} added, {n_updated} updated")),
    }
    Ok(())
}
