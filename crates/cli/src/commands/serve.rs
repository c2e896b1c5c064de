//! `baton serve`: the engine behind HTTP, until it is stopped.

use std::io::IsTerminal as _;
use std::sync::Arc;
use std::time::Duration;

use baton_engine::{
    CatalogKeeper, CheckpointEvery, CheckpointKeeper, DataChecker, RetentionKeeper, Sweeper,
    Timekeeper,
};
use baton_http::{Backend, ListenOptions, Local, RunnerKey, Server};
use baton_runner::{Runner, RunnerMode};
use baton_store::StoreError;
use baton_views::Archivist;
use tokio::sync::oneshot;

use super::stop::{input_ends, stop_signal};
use crate::api::lock;
use crate::args::{Cli, Serve};
use crate::failure::Failure;
use crate::log;
use crate::project::Project;
use crate::runners::{
    InProcess, NO_EXECUTOR, ProjectTrust, options, runner_key, tell_untrusted, untrusted_notice,
};
use crate::session::{Purpose, Session};
use crate::show;

/// While a project is not trusted.
const TRUST_LOOKED_FOR_EVERY: Duration = Duration::from_secs(1);

pub(crate) async fn run(cli: &Cli, serve: &Serve) -> Result<(), Failure> {
    log::start()?;
    let project = Project::of(cli)?;
    let lock = lock(&project.data_dir()?).await?;
    let session = Session::of(project, lock, Purpose::Change).await?;
    let served = match session.engine.write_fault() {
        Some(fault) => Err(Failure::Engine(StoreError::Unwritable(fault).into())),
        None => serve_until_told(&session, serve).await,
    };
    session.close().await;
    served
}

async fn serve_until_told(session: &Session, serve: &Serve) -> Result<(), Failure> {
    let (stop, is_child) = (stop_signal(), serve.until_input_ends);
    let stop = async move {
        tokio::select! {
            () = stop => {}
            () = input_ends(), if is_child => {}
        }
    };
    let options = ListenOptions { listen: serve.listen, allowed_hosts: serve.allow_host.clone() };
    let server_key = runner_key(session.data())?;
    let key = server_key.key.clone();
    let notice = (!serve.no_runner).then(|| untrusted_notice(session.project.root.clone()));
    let backend = Backend { runner_key: Some(key.clone()), notice, ..session.backend() };
    let server = Server::bind(backend.clone(), &options).await?;
    let url = format!("http://{}", server.address());
    session.say_where(&url, server.instance())?;
    // Before any warning, so that it is the first line where all is well.
    show::note(&format!("listening on {url}"));
    server_key.tell_replaced();
    tell_unsound(session);
    session.store.rescue_when_lost(session.project.command_context()?);
    let keeper = CatalogKeeper::start(session.engine.clone());
    let checker = session.store.was_left_open().then(|| DataChecker::start(session.engine.clone()));
    let timekeeper = Timekeeper::start(session.engine.clone());
    let sweeper = Sweeper::start(session.engine.clone());
    let checkpoints = CheckpointKeeper::start(session.engine.clone(), checkpoint_every(session));
    let retention = RetentionKeeper::start(session.engine.clone());
    let archivist = session.archive.clone().map(Archivist::start);
    let (stop_server, server_stops) = oneshot::channel::<()>();
    let runner = async {
        run_agents(session, serve, backend, url, &key, stop).await;
        // The server is there until the agents have come to their end.
        let _ = stop_server.send(());
    };
    let server_stops = async {
        let _ = server_stops.await;
    };
    let (served, ()) = tokio::join!(server.run(server_stops), runner);
    if let Some(checker) = checker {
        checker.stop().await;
    }
    if let Some(archivist) = archivist {
        archivist.stop().await;
    }
    checkpoints.stop().await;
    retention.stop().await;
    sweeper.stop().await;
    keeper.stop().await;
    timekeeper.stop().await;
    served.map_err(|error| Failure::io("serve", error))
}

fn checkpoint_every(session: &Session) -> CheckpointEvery {
    let settings = session.project.file.audit;
    let n_events = Some(settings.checkpoint_events).filter(|it| *it > 0);
    CheckpointEvery { n_events, time: Some(settings.checkpoint_every) }
}

/// Runs agents until the server stops, where the project names any, as soon as the user trusts
/// them.
async fn run_agents(
    session: &Session,
    serve: &Serve,
    backend: Backend,
    url: String,
    key: &RunnerKey,
    stop: impl Future<Output = ()>,
) {
    tokio::pin!(stop);
    let file = &session.project.file;
    let is_idle = file.runner.is_idle() && file.checks.is_empty();
    if is_idle && !serve.no_runner && std::io::stderr().is_terminal() {
        show::note(NO_EXECUTOR);
    }
    if serve.no_runner || is_idle {
        return stop.await;
    }
    let opened = tokio::select! {
        opened = open_runner(session, backend, url, key) => opened,
        () = &mut stop => return,
    };
    match opened {
        Ok(runner) => match runner.run(RunnerMode::Forever, &mut stop).await {
            Ok(()) => {}
            Err(failure) => {
                show::note(&format!(
                    "{} no more agents are run: {failure}",
                    show::warn("careful:")
                ));
                stop.await;
            }
        },
        Err(failure) => {
            show::note(&format!("{} no agents are run: {failure}", show::warn("careful:")));
            stop.await;
        }
    }
}

async fn open_runner(
    session: &Session,
    backend: Backend,
    url: String,
    key: &RunnerKey,
) -> Result<Runner, Failure> {
    let trust = ProjectTrust::of(&session.project)?;
    if !trust.is_given() {
        tell_untrusted(&trust);
        while !ProjectTrust::of(&session.project)?.is_given() {
            tokio::time::sleep(TRUST_LOOKED_FOR_EVERY).await;
        }
        show::note("what this project starts is trusted now: its agents begin");
    }
    let data = session.data().again()?;
    let options = options(&session.project, data, url, key.credential(), None)?;
    let transport = InProcess(Arc::new(Local::new(backend)));
    Ok(Runner::open(options, Arc::new(transport)).await?)
}

/// Workflows whose runs would come to an agent that is not there or does not fit. Files that cannot
/// be read are named already.
fn tell_unsound(session: &Session) {
    let files = session.project.load();
    for (_, _, result) in files.checked_workflows(&session.engine.catalog()) {
        let Err(failure) = result else { continue };
        show::note(&format!("{} {failure}", show::warn("warning:")));
        for problem in failure.file_problems() {
            show::note(&format!("  - {}", show::visible(&problem.to_string())));
        }
    }
}
