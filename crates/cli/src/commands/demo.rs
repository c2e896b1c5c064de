//! `baton demo`: scripted agents really plan, edit, test, review and commit, in a git repository of its own.
//!
//! The demo is a client of a `baton serve` and a `baton runner` that it starts, and shows what Baton
//! promises on the way. What the agents do is in `crates/cli/demo`.

pub(super) mod audience;
mod consent;
mod crew;
mod follow;
pub(super) mod narrator;
pub(super) mod programs;
mod project;
mod story;
pub(super) mod viewer;

use std::collections::HashMap;
use std::path::Path;

use baton_core::plural::counted;
use baton_runner::Workspaces;
use tokio::time::Instant;

use self::audience::Audience;
use self::crew::Crew;
use self::follow::Follower;
use self::narrator::Narrator;
use self::programs::{git, sh};
use self::story::{DemoStory, Promises, STORIES};
use self::viewer::Viewer;
use super::stop::stop_signal;
use crate::args::{Cli, Demo};
use crate::data::verify_project;
use crate::failure::Failure;
use crate::project::{Project, ProjectDatabase};
use crate::runners::environment;
use crate::show;

/// As a shell has it for a program that Ctrl-C ended.
const INTERRUPTED: i32 = 130;
/// A handoff with a package that is worth a look.
const SHOWN_HANDOFF: usize = 5;

/// Only a database that was typed is used: the demo is nothing for the one of the user's work.
pub(crate) async fn run(cli: &Cli, demo: &Demo) -> Result<(), Failure> {
    let database = cli.database_url.as_ref();
    let database = database.map(|it| ProjectDatabase::typed(it, Path::new(""))).transpose()?;
    let stop = stop_signal();
    tokio::pin!(stop);
    let mut crew = Crew::new(project::make().await?, database.clone(), demo.listen);
    let played = tokio::select! {
        played = play(demo, &mut crew) => Some(played),
        () = &mut stop => None,
    };
    if let Some(Ok(())) = &played
        && !demo.once
    {
        show::answer(&format!("\nthe page stays until Ctrl-C: {}", show::mark(&crew.url())));
        stop.await;
    }
    if played.is_none() {
        show::note("\nstopping: the agents at work come to their end first");
    }
    let place = crew.folders.project.clone();
    let n_handoffs = n_handoffs(&crew).await;
    crew.stop().await;
    let Some(played) = played else {
        say_where(&place, n_handoffs).await;
        std::process::exit(INTERRUPTED);
    };
    played?;
    say_where(&place, n_handoffs).await;
    if let Some(database) = database {
        show::answer(&format!("its data is in {}: name that in each command", database.url));
    }
    Ok(())
}

/// Plays the stories that were asked for.
async fn play(demo: &Demo, crew: &mut Crew) -> Result<(), Failure> {
    crew.start_server().await?;
    let stories: Vec<&DemoStory> = match &demo.workflow {
        Some(workflow) => STORIES.iter().filter(|it| it.workflow == workflow).collect(),
        None if demo.once => STORIES.iter().take(1).collect(),
        None => STORIES.iter().collect(),
    };
    open_curtain(crew);
    let mut audience = Audience::of_demo(demo.yes, crew.url());
    let n_all = stories.len();
    for (index, story) in stories.into_iter().enumerate() {
        let number = (index + 1, n_all);
        play_story(demo, story, number, crew, &mut audience).await?;
    }
    Ok(())
}

fn open_curtain(crew: &Crew) {
    show::answer(&format!(
        "{}  scripted agents, real work: processes, files, tests, commits\n\n  \
         the repository  {}\n  the page        {}  (the same, live in a browser)",
        show::bold("baton demo"),
        crew.folders.project.display(),
        show::mark(&crew.url()),
    ));
}

async fn play_story(
    demo: &Demo,
    story: &DemoStory,
    (number, n_all): (usize, usize),
    crew: &mut Crew,
    audience: &mut Audience,
) -> Result<(), Failure> {
    let begun = Instant::now();
    let work = story.story()?;
    project::prepare(&crew.folders, story, &work.title, demo.pace).await?;
    narrator::title(&format!("{}: {}", story.workflow, work.title), story.about, number, n_all);
    tell_tests(&crew.folders.project).await?;
    show::answer("");
    let viewer = Viewer::new(&crew.url(), "you")?;
    let run = viewer.start(&work, Some(story.workflow), None).await?;
    let names: HashMap<String, String> = viewer.names().await?;
    let narrator = Narrator::new(names, run.started_at);
    let mut follower = Follower::new(&viewer, &narrator, story, run);
    if matches!(story.promises, Promises::All { .. }) {
        follower.race(crew).await?;
    }
    crew.start_runner().await?;
    follower.follow(crew, audience).await?;
    crew.stop_runner().await;
    let run = follower.run;
    if run.status.name() != "completed" {
        let what = format!("the run is {}, not completed", run.status.name());
        return Err(Failure::Conflict(what));
    }
    let branch = viewer.story(work.key.as_str()).await?.branch;
    let n_handoffs = viewer.handoffs(run.id).await?.len();
    let seconds = begun.elapsed().as_secs_f64();
    let project = &crew.folders.project;
    merge(project, branch.as_deref().unwrap_or("main")).await?;
    show_result(project, story).await?;
    let verified = verify_project(&crew.project()?).await?;
    if !verified.is_sound() {
        return Err(Failure::Unsound(Box::new(verified)));
    }
    show::answer(&format!(
        "\n{} in {seconds:.0} s: {}, {} on disk, every chain verified",
        show::good("✔ delivered"),
        counted(n_handoffs as u64, "handoff"),
        counted(verified.n_events, "event"),
    ));
    Ok(())
}

/// The tests as they are, in one line.
async fn tell_tests(project: &Path) -> Result<bool, Failure> {
    let tests = sh(project, &["tests/run.sh"]).await?;
    let last = show::one_line(tests.output.lines().last().unwrap_or_default());
    let last = if tests.is_success { show::good(&last) } else { show::warn(&last) };
    show::answer(&format!("  $ sh tests/run.sh   {last}"));
    Ok(tests.is_success)
}

/// Merges the work of a story, where none of its agents has, and shows its commits.
async fn merge(project: &Path, branch: &str) -> Result<(), Failure> {
    git(project, &["merge", "--ff-only", "--quiet", branch]).await?;
    show::answer(&format!(
        "\n  {}\n  $ git merge --ff-only {branch}",
        show::bold("What there is now")
    ));
    let log = git(project, &["log", "--format=%h %s", "-n", "50", "main"]).await?;
    for line in log.lines().take_while(|it| !it.contains(project::ASKED)) {
        show::answer(&format!("    {}", show::shortened_line(line, 74)));
    }
    Ok(())
}

/// Runs the tests, and what was built.
async fn show_result(project: &Path, story: &DemoStory) -> Result<(), Failure> {
    if !tell_tests(project).await? {
        return Err(Failure::Broken { what: "the tests of the project fail".to_owned() });
    }
    let built = sh(project, story.built).await?;
    let printed = show::shortened(&built.output, 40);
    show::answer(&format!("  $ sh {}   {}", story.built.join(" "), show::bold(&printed)));
    Ok(())
}

/// How many handoffs there are to look at; none where the server cannot say. Where it did not start, another program
/// listens at its address.
async fn n_handoffs(crew: &Crew) -> usize {
    if !crew.has_server() {
        return 0;
    }
    let Ok(viewer) = Viewer::new(&crew.url(), "you") else { return 0 };
    viewer.all_handoffs().await.map_or(0, |it| it.len())
}

/// Names only what is there: the demo may have been stopped early.
async fn say_where(project: &Path, n_handoffs: usize) {
    let mut lines = vec![
        "\neverything is still there; look around:".to_owned(),
        format!("  cd {}", project.display()),
        "  git log --stat".to_owned(),
    ];
    if n_handoffs > 0 {
        let shown = n_handoffs.min(SHOWN_HANDOFF);
        lines.push("  baton run show 1             who had the baton, and when".to_owned());
        lines.push(format!("  baton handoff show {shown}         one handoff, with its package"));
    }
    if has_workspaces(project).await {
        lines.push("  baton workspace list         where the agents worked".to_owned());
    }
    lines.push("  baton serve --no-runner      the page again".to_owned());
    show::answer(&lines.join("\n"));
}

async fn has_workspaces(project: &Path) -> bool {
    let opened = async {
        let project = Project::find(Some(project))?;
        let (dir, data) = (project.dir.again()?, project.data_dir()?);
        let workspaces = Workspaces::open(dir, &data, &project.file.runner, &environment()).await?;
        Ok::<_, Failure>(!workspaces.all()?.is_empty())
    };
    opened.await.unwrap_or(false)
}
