//! `baton demo`: scripted agents really plan, edit, test, review and commit, in a git repository of its own.
//!
//! The demo is a client of a `baton serve` and a `baton runner` that it starts, and shows what Baton
//! promises on the way. What the agents do is in `crates/cli/demo`.

mod audience;
mod crew;
mod follow;
mod narrator;
mod programs;
mod project;
mod story;
mod viewer;

use std::collections::HashMap;
use std::path::Path;

use baton_core::plural::counted;
use tokio::time::Instant;

use self::audience::Audience;
use self::crew::Crew;
use self::follow::Follower;
use self::narrator::Narrator;
use self::programs::{git, sh};
use self::story::{DemoStory, Promises, STORIES};
use self::viewer::Viewer;
use super::stop::told_to_stop;
use crate::args::Demo;
use crate::data::verify_project;
use crate::failure::Failure;
use crate::project::Project;
use crate::show;

pub(crate) async fn run(demo: &Demo) -> Result<(), Failure> {
    let stop = told_to_stop();
    tokio::pin!(stop);
    let mut crew = Crew::new(project::make().await?, demo.listen);
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
    crew.stop().await;
    played.unwrap_or(Ok(()))?;
    say_where(&place);
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
    open_curtain(crew).await?;
    let mut audience = Audience::new(demo.yes, crew.url());
    let n_all = stories.len();
    for (index, story) in stories.into_iter().enumerate() {
        let number = (index + 1, n_all);
        play_story(demo, story, number, crew, &mut audience).await?;
    }
    Ok(())
}

async fn open_curtain(crew: &Crew) -> Result<(), Failure> {
    show::answer(&format!(
        "{}  scripted agents, real work: a git repository, processes, tests and commits\n\n  \
         the repository  {}\n  the page        {}   the same, live in a browser",
        show::bold("baton demo"),
        crew.folders.project.display(),
        show::mark(&crew.url()),
    ));
    Ok(())
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
    let viewer = Viewer::new(&crew.url(), "you")?;
    let run = viewer.start(&work, story.workflow).await?;
    let names: HashMap<String, String> = viewer.names().await?;
    let narrator = Narrator::new(names, run.started_at);
    let mut follower =
        Follower { viewer: &viewer, narrator: &narrator, story, run, told: 0 };
    if matches!(story.promises, Promises::All { .. }) {
        follower.race(crew).await?;
    }
    crew.start_runner().await?;
    follower.to_the_end(crew, audience).await?;
    crew.stop_runner().await;
    let run = follower.run;
    if run.status.name() != "completed" {
        let what = format!("the run is {}, not completed", run.status.name());
        return Err(Failure::Conflict(what));
    }
    let branch = viewer.story(work.key.as_str()).await?.branch;
    let n_handoffs = viewer.handoffs(run.id).await?.len();
    let seconds = begun.elapsed().as_secs_f64();
    close_curtain(crew, branch.as_deref(), n_handoffs, seconds).await
}

/// The tests as they are, in one line.
async fn tell_tests(project: &Path) -> Result<bool, Failure> {
    let tests = sh(project, "tests/run.sh").await?;
    let last = show::one_line(tests.output.lines().last().unwrap_or_default());
    let last = if tests.is_success { show::good(&last) } else { show::warn(&last) };
    show::answer(&format!("  $ sh tests/run.sh   {last}\n"));
    Ok(tests.is_success)
}

/// What there is at the end: commits, tests that pass, and a log that can be proven.
async fn close_curtain(
    crew: &Crew,
    branch: Option<&str>,
    n_handoffs: usize,
    seconds: f64,
) -> Result<(), Failure> {
    let project = &crew.folders.project;
    let branch = branch.unwrap_or("main");
    show::answer(&format!("\n  {}", show::bold("what there is now")));
    let commits = git(project, &["log", "--format=%h %s", &format!("main~1..{branch}")]).await;
    // An agent of this story may have merged it already: then its own commits are on main.
    git(project, &["merge", "--ff-only", "--quiet", branch]).await?;
    let since = git(project, &["log", "--format=%h %s", "-n", "12", "main"]).await;
    let lines = commits.ok().filter(|it| it.lines().count() > 1).or(since.ok()).unwrap_or_default();
    show::answer(&format!("  $ git merge --ff-only {branch}"));
    for line in lines.lines().take_while(|it| !it.contains(" Ask for it: ")) {
        show::answer(&format!("    {}", show::shortened_line(line, 74)));
    }
    if !tell_tests(project).await? {
        return Err(Failure::Broken { what: "the tests of the project fail".to_owned() });
    }
    let verified = verify_project(&Project::find(Some(project))?).await?;
    if !verified.is_sound() {
        return Err(Failure::Unsound(Box::new(verified)));
    }
    show::answer(&format!(
        "{} in {seconds:.0} s: {}, {} on disk, every chain verified",
        show::good("✔ delivered"),
        counted(n_handoffs as u64, "handoff"),
        counted(verified.n_events, "event"),
    ));
    Ok(())
}

fn say_where(project: &Path) {
    let project = project.display();
    show::answer(&format!(
        "\neverything is still there; look around:\n  cd {project}\n  git log --stat\n  \
         baton run show 1             who had the baton, and when\n  \
         baton handoff show 5         one handoff, with its package\n  \
         baton workspace list         where the agents worked\n  \
         baton serve --no-runner      the page again"
    ));
}
