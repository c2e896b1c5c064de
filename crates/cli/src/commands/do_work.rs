//! `baton do`: from an idea to a finished branch, in any git repository.
//!
//! It makes the project that it needs, out of git's sight, starts a server for as long as it runs where none
//! has the data, gives the work to the agents and follows it to its end.

mod checkout;
mod follow;
mod settings;
mod summary;

use std::path::Path;
use std::time::Duration;

use baton_api::RunDocument;
use baton_core::budget::Budget;
use baton_core::names::StoryKey;
use baton_core::shell::shell_word;
use baton_core::story::Story;
use baton_files::Dir;

use self::checkout::Checkout;
use self::follow::WorkFollower;
use super::demo::audience::Audience;
use super::demo::programs::{BatonProcess, ChildPlace};
use super::demo::viewer::Viewer;
use super::stop::stop_signal;
use crate::api::{Api, RemoteServer, server_of};
use crate::args::{Cli, DoArgs};
use crate::failure::Failure;
use crate::project::Project;
use crate::session::principal;
use crate::show::{self, OutputFormat};

/// How the keys of the stories begin that this command makes.
const KEY_PREFIX: &str = "do-";
const MOST_KEY_CHARS: usize = 48;

pub(crate) async fn run(cli: &Cli, args: &DoArgs) -> Result<(), Failure> {
    if cli.format() == OutputFormat::Json {
        let message = "`baton do` says what happens in lines for people, and prints no JSON: leave `--json` out, and \
                       read `baton run show RUN --json` and `baton watch --json` beside it";
        return Err(Failure::Usage(message.to_owned()));
    }
    let stop = stop_signal();
    tokio::pin!(stop);
    if let Some(budget) = &args.budget {
        Budget::parse(budget).map_err(|error| Failure::Usage(error.to_string()))?;
    }
    let checkout = Checkout::find(cli.project.as_deref()).await?;
    let project = settings::prepare(&checkout, args).await?;
    let mut place = WorkPlace::open(&project, cli).await?;
    let done = loop {
        let done = tokio::select! {
            done = work(args, &checkout, &mut place) => Some(done),
            () = &mut stop => None,
        };
        let is_gone = matches!(&done, Some(Err(Failure::Server { .. }))) && place.server.is_none();
        if !is_gone {
            break done;
        }
        // It was another command's, which has come to its end; the work goes on with one of our own.
        show::note(&format!("the server at {} has ended", place.url));
        let was_begun = place.has_begun;
        place = WorkPlace::open(&project, cli).await?;
        place.has_begun = was_begun;
    };
    let Some(done) = done else {
        if place.server.is_none() {
            return Err(Failure::Interrupted(format!(
                "the agents go on at the server at {}; `baton do --continue` follows the run again",
                place.url
            )));
        }
        show::note("\nstopping: what the agents have begun is kept");
        place.close().await;
        return Err(Failure::Interrupted(
            "the run is kept; `baton do --continue` goes on with it".to_owned(),
        ));
    };
    place.close().await;
    done
}

async fn work(args: &DoArgs, checkout: &Checkout, place: &mut WorkPlace) -> Result<(), Failure> {
    let is_begun = args.idea.is_none() || place.has_begun;
    let run = match &args.idea {
        Some(idea) if !is_begun => begin(args, idea, checkout, &place.viewer).await?,
        Some(_) | None => left_run(&place.viewer).await?,
    };
    place.has_begun = true;
    let mut audience = Audience::of_work(args.yes, place.url.clone());
    let mut follower = WorkFollower::new(&place.viewer, run).await?;
    if is_begun {
        follower.skip_told().await?;
    }
    follower.follow(&mut place.server, &mut audience).await?;
    summary::show(&follower, checkout, &place.viewer).await
}

/// Makes the story and starts its run, unless another one is on its way.
async fn begin(
    args: &DoArgs,
    idea: &str,
    checkout: &Checkout,
    viewer: &Viewer,
) -> Result<RunDocument, Failure> {
    // What a terminal would take for a colour is no part of it.
    let idea = anstream::adapter::strip_str(idea).to_string();
    let idea = idea.trim();
    if idea.is_empty() {
        return Err(Failure::Usage("say what is to be done: `baton do \"...\"`".to_owned()));
    }
    if let Some(open) = own_run(viewer).await? {
        return Err(Failure::Conflict(format!(
            "run {} (`{}`) is not over; `baton do --continue` goes on with it, `baton run cancel {}` ends it",
            open.number, open.story, open.number,
        )));
    }
    checkout.tell_changes().await?;
    let stories = viewer.stories().await?;
    let key = key_of(idea, |key| stories.iter().any(|it| it.key == key))?;
    let title: String = idea.chars().take(200).collect();
    let story = Story { title, description: idea.to_owned(), ..Story::named(key) };
    let run = viewer.start(&story, args.workflow.as_deref(), args.budget.as_deref()).await?;
    show::answer(&format!(
        "{} {}  {}",
        show::mark("▶"),
        show::bold(&show::one_line(idea)),
        show::dim(&format!("(run {}, workflow {})", run.number, run.workflow)),
    ));
    Ok(run)
}

async fn own_run(viewer: &Viewer) -> Result<Option<RunDocument>, Failure> {
    let open = viewer.open_runs().await?;
    Ok(open.into_iter().rev().find(|it| it.story.starts_with(KEY_PREFIX)))
}

async fn left_run(viewer: &Viewer) -> Result<RunDocument, Failure> {
    let run = own_run(viewer).await?.ok_or_else(|| {
        let message = "no run of `baton do` is open here; `baton do \"...\"` begins one";
        Failure::NotFound(message.to_owned())
    })?;
    show::answer(&format!(
        "{} {}  {}",
        show::mark("▶"),
        show::bold(&show::one_line(&run.story)),
        show::dim(&format!("(run {} goes on)", run.number)),
    ));
    Ok(run)
}

/// `do-add-user-authentication`, with a number where there is one of that name already.
fn key_of(idea: &str, is_taken: impl Fn(&str) -> bool) -> Result<StoryKey, Failure> {
    let mut slug = String::new();
    for it in idea.chars().map(|it| it.to_ascii_lowercase()) {
        if it.is_ascii_alphanumeric() {
            slug.push(it);
        } else if !slug.ends_with('-') && !slug.is_empty() {
            slug.push('-');
        }
        if slug.len() >= MOST_KEY_CHARS {
            break;
        }
    }
    let slug = slug.trim_matches('-');
    let base = format!("{KEY_PREFIX}{}", if slug.is_empty() { "work" } else { slug });
    let numbered = (2..10_000).map(|n| format!("{base}-{n}"));
    let free = std::iter::once(base.clone()).chain(numbered).find(|it| !is_taken(it));
    Ok(StoryKey::typed(&free.unwrap_or(base))?)
}

/// The server that the work is given to: one that was there, or one of our own.
struct WorkPlace {
    viewer: Viewer,
    url: String,
    server: Option<BatonProcess>,
    /// The run of this command is there.
    has_begun: bool,
}

/// How long a server that is being stopped may take: its agents come to their end first.
const MOST_ENDING: Duration = Duration::from_secs(30);

/// How long a new server may take to answer.
const MOST_STARTING: Duration = Duration::from_secs(10);

impl WorkPlace {
    /// A server that is there may be about to end: then one of our own takes its place.
    async fn open(project: &Path, cli: &Cli) -> Result<Self, Failure> {
        let begun = tokio::time::Instant::now();
        loop {
            match Self::try_open(project, cli).await {
                Err(Failure::Server { .. } | Failure::Busy { .. })
                    if begun.elapsed() < MOST_ENDING =>
                {
                    tokio::time::sleep(Duration::from_millis(200)).await;
                }
                opened => return opened,
            }
        }
    }

    async fn try_open(project: &Path, cli: &Cli) -> Result<Self, Failure> {
        let found = Project::find(Some(project))?;
        let found = found.with_database(cli.database_url.as_ref())?;
        let there = match server_of(&found).await? {
            Some(server) => server_with_agents(&found, server).await?,
            None => None,
        };
        let (server, url) = match there {
            Some(url) => (None, url),
            None => {
                let args = ["serve", "--listen", "127.0.0.1:0"];
                let database = found.database.as_ref().map(|it| &it.url);
                let place = ChildPlace { project, state: None, database };
                match BatonProcess::start(place, &args, "listening on ").await {
                    Ok((server, url)) => (Some(server), url),
                    // Another command was first: its server is found at the next look.
                    Err(failure) => match server_of(&found).await? {
                        Some(server) => return Err(Failure::Busy { by: server.url.to_string() }),
                        None => return Err(failure),
                    },
                }
            }
        };
        let api = Api::at(RemoteServer::started(&url)?, principal(cli)?);
        let viewer = Viewer::named(api);
        let begun = tokio::time::Instant::now();
        while let Err(failure) = viewer.open_runs().await {
            if server.is_none() || begun.elapsed() > MOST_STARTING {
                return Err(failure);
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        Ok(Self { viewer, url, server, has_begun: false })
    }

    async fn close(self) {
        if let Some(server) = self.server {
            server.stop().await;
        }
    }
}

/// The address of a server whose agents do the work. Beside the others of a database there may be one
/// of our own; the data in a folder has one server.
async fn server_with_agents(
    project: &Project,
    server: RemoteServer,
) -> Result<Option<String>, Failure> {
    let url = server.url.to_string();
    if has_runner(&project.data_dir()?).await? {
        show::note(&format!(
            "the server at {url} has this project's data, and its agents do the work"
        ));
        return Ok(Some(url));
    }
    if project.database.is_some() {
        return Ok(None);
    }
    Err(Failure::Conflict(format!(
        "the server at {url} has this project's data and starts no agents, so the work would wait for ever; \
         start `baton runner` beside it, or stop the server"
    )))
}

/// A server that has just started takes a moment until its runner is there.
const MOST_STARTING_RUNNER: Duration = Duration::from_secs(3);

/// Whether a runner of this machine works for the project.
async fn has_runner(data: &Dir) -> Result<bool, Failure> {
    let begun = tokio::time::Instant::now();
    while baton_runner::status(data)?.pid.is_none() {
        if begun.elapsed() > MOST_STARTING_RUNNER {
            return Ok(false);
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    Ok(true)
}

/// How a folder is named in a command.
fn shown(path: &Path) -> String {
    shell_word(&path.to_string_lossy())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_made_of_the_idea_and_never_twice() {
        let key = |idea: &str, taken: &[&str]| {
            key_of(idea, |it| taken.contains(&it)).unwrap().to_string()
        };
        assert_eq!(key("Add user authentication!", &[]), "do-add-user-authentication");
        let taken = ["do-add-it", "do-add-it-2"];
        assert_eq!(key(" Add it", &taken), "do-add-it-3");
        assert_eq!(key("日本語", &[]), "do-work");
        assert!(key(&"long ".repeat(100), &[]).len() < 60);
    }
}
