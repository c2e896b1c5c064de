//! `baton demo`: scripted agents pass stories along a real pipeline, on a real store, live.

mod cast;
mod narrator;

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use baton_core::names::{Principal, StoryKey};
use baton_core::run::{RunId, RunStatus};
use baton_core::story::Story;
use baton_engine::{Caller, Engine, StartRun, Sweeper, verify_run};
use baton_files::{Dir, FileMode};
use baton_http::{Backend, ListenOptions, Server};
use baton_store::{Position, RunRef, Store};
use tokio::sync::oneshot;
use tokio::task::JoinSet;

use super::init::{lay_out, write_new};
use super::stop::told_to_stop;
use crate::api::{Api, lock};
use crate::args::{Cli, Demo};
use crate::failure::Failure;
use crate::project::Project;
use crate::session::{Purpose, Session};
use crate::show;

/// Loopback, and any free port.
const FREE: SocketAddr = SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), 0);

pub(crate) async fn run(cli: &Cli, demo: &Demo) -> Result<(), Failure> {
    let stop_playing = told_to_stop();
    let root = scene()?;
    let project = Project::find(Some(&root))?;
    let you = Principal::parse("you")?;
    let lock = lock(&project.data_dir()?).await?;
    let session = Session::of(project, lock, Purpose::Change).await?;
    let (engine, store) = (session.engine.clone(), session.store.clone());
    let options = ListenOptions { listen: FREE, allowed_hosts: Vec::new() };
    let backend = Backend { project: session.project.name(), ..engine.clone().into() };
    let server = Server::bind(backend, &options).await?;
    let url = format!("http://{}", server.address());
    session.say_where(&url, server.instance())?;
    let (stop, stopped) = oneshot::channel::<()>();
    let serving = tokio::spawn(server.run(async {
        // Ends with the demo: on a message, or when the sender is dropped.
        let _ = stopped.await;
    }));
    let api = Api::over(session, you.clone(), cli.format());
    show::note(&format!(
        "{} five scripted agents, one pipeline, everything on disk in {}",
        show::bold("baton demo:"),
        root.display()
    ));
    show::note(&format!("the page, live while it lasts: {}", show::mark(&url)));
    let pace = Duration::from_millis(demo.pace);
    let you = Caller::new(you);
    let result = tokio::select! {
        result = play(&api, &engine, store.as_ref(), &you, pace, demo.once) => result,
        () = stop_playing => {
            show::note("\nstopping: what is under way is finished first");
            Ok(())
        }
    };
    drop(stop);
    let served = serving.await.map_err(std::io::Error::other).and_then(|it| it);
    api.close().await;
    result?;
    served.map_err(|error| Failure::io("serve the page", error))?;
    show::answer(&format!(
        "\nlook around:\n  baton --project {0} run list --all\n  baton --project {0} run show 1\n  \
         baton --project {0} handoff show 2\n  baton --project {0} verify\n  \
         baton --project {0} serve",
        root.display()
    ));
    Ok(())
}

/// Plays one story, or all of them in turn until the user stops it.
async fn play(
    api: &Api,
    engine: &Arc<Engine>,
    store: &dyn Store,
    you: &Caller,
    pace: Duration,
    once: bool,
) -> Result<(), Failure> {
    let sweeper = Sweeper::start(engine.clone());
    let mut agents = JoinSet::new();
    for agent in cast::agents()? {
        let cursor = Position::START;
        agents.spawn(cast::play(engine.clone(), agent, cursor, pace));
    }
    for n in 1.. {
        let story = cast::story(n)?;
        engine.add_story(you, &story).await?;
        let run = hand_in(engine, you, &story).await?;
        narrator::follow(api, engine, run, you, pace).await?;
        let verified = verify_run(store, run).await?;
        narrator::curtain(api, run, &verified).await?;
        if once {
            break;
        }
        tokio::time::sleep(pace * 3).await;
    }
    agents.shutdown().await;
    sweeper.stop().await;
    Ok(())
}

async fn hand_in(engine: &Engine, you: &Caller, story: &Story) -> Result<RunId, Failure> {
    narrator::title(story);
    let start = StartRun::of(story.key.clone());
    let outcome = engine.start(you, start).await?;
    Ok(outcome.run)
}

/// A project of its own, kept for inspection afterwards.
fn scene() -> Result<PathBuf, Failure> {
    let folder = tempfile::Builder::new()
        .prefix("baton-demo-")
        .tempdir()
        .map_err(|error| Failure::io("make a folder for the demo", error))?
        .keep();
    let dir = Dir::open(&folder)?;
    lay_out(&dir)?;
    // Strict contracts look for the files that a package names.
    for file in cast::FILES {
        if let Some((parent, _)) = file.rsplit_once('/') {
            dir.make_dirs(parent, FileMode::Shared)?;
        }
        write_new(&dir, Path::new(file), "// What the scripted agents say that they wrote.\n")?;
    }
    Ok(folder)
}

/// True once a run is at its end.
async fn is_over(engine: &Engine, you: &Caller, run: RunId) -> Result<bool, Failure> {
    let status = engine.read_as(you).run(&RunRef::Id(run)).await?.run.status;
    Ok(match status {
        RunStatus::Completed | RunStatus::Cancelled => true,
        RunStatus::Open | RunStatus::Paused => false,
    })
}

fn key(n: usize) -> Result<StoryKey, Failure> {
    Ok(StoryKey::parse(&format!("demo:{n}"))?)
}
