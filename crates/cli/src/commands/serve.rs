//! `baton serve`: the engine behind HTTP, until it is stopped.

mod backend_tasks;

use std::io::IsTerminal as _;
use std::sync::Arc;
use std::time::Duration;

use baton_engine::{
    CatalogKeeper, CheckpointEvery, CheckpointKeeper, RetentionKeeper, Sweeper, Timekeeper,
};
use baton_http::{Backend, ListenOptions, Local, RunnerKey, Server};
use baton_runner::{Runner, RunnerMode};
use baton_store::{StoreError, WriteFault};
use baton_views::Archivist;
use tokio::sync::oneshot;

use self::backend_tasks::BackendTasks;
use super::stop::{input_ends, stop_signal};
use crate::api::lock;
use crate::args::{Cli, Serve};
use crate::failure::Failure;
use crate::log;
use crate::project::Project;
use crate::runners::{
    InProcess, NO_EXECUTOR, ProjectTrust, ServerKey, fresh_secret, is_idle, options, runner_key,
    shared_runner_key, tell_untrusted, untrusted_notice,
};
use crate::session::{Purpose, Session, StoreBackend};
use crate::show;

/// While a project is not trusted.
const TRUST_LOOKED_FOR_EVERY: Duration = Duration::from_secs(1);

pub(crate) async fn run(cli: &Cli, serve: &Serve) -> Result<(), Failure> {
    log::start()?;
    let project = Project::of(cli)?;
    let session = match project.database.clone() {
        Some(database) => Session::of_database(project, &database, Purpose::Change).await?,
        None => {
            let lock = lock(&project.data_dir()?).await?;
            Session::of(project, lock, Purpose::Change).await?
        }
    };
    let served = match session.engine.write_fault() {
        Some(fault) => Err(Failure::Engine(StoreError::Unwritable(fault).into())),
        None => serve_until_told(&session, serve).await,
    };
    let served = match (&session.backend, session.engine.write_fault()) {
        (StoreBackend::Database(_), Some(fault @ WriteFault::Replaced { .. })) => {
            Err(Failure::Engine(StoreError::Unwritable(fault).into()))
        }
        (StoreBackend::Database(_) | StoreBackend::Folder(_), _) => served,
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
            () = replaced(session) => {}
        }
    };
    let options = ListenOptions { listen: serve.listen, allowed_hosts: serve.allow_host.clone() };
    let server_key = server_key(session).await?;
    let key = server_key.key.clone();
    let notice = (!serve.no_runner).then(|| untrusted_notice(session.project.root.clone()));
    let backend = Backend { runner_key: Some(key.clone()), notice, ..session.faces() };
    let server = Server::bind(backend.clone(), &options).await?;
    let url = format!("http://{}", server.address());
    let tasks = BackendTasks::start(session, &url, server.instance()).await?;
    // Before any warning, so that it is the first line where all is well.
    show::note(&format!("listening on {url}"));
    server_key.tell_replaced();
    tell_unsound(session);
    let keeper = CatalogKeeper::start(session.engine.clone());
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
    tasks.stop().await;
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

/// Waits until the database is not the one that was opened. What this process remembers is of the other
/// one, so it ends, and whatever keeps it running starts it anew. (Of files it still has the old ones open,
/// and stays: they would be gone with it.)
async fn replaced(session: &Session) {
    match &session.backend {
        StoreBackend::Folder(_) => std::future::pending().await,
        StoreBackend::Database(it) => it.store.replaced().await,
    }
}

/// The secret that this server shares with its runners: all nodes of a database have the same, so that
/// each knows the tokens that another gave. Nodes with one folder write it one after the other.
async fn server_key(session: &Session) -> Result<ServerKey, Failure> {
    let _lock = session.store.lock("runner_key").await?;
    match &session.backend {
        StoreBackend::Folder(_) => runner_key(session.data()),
        StoreBackend::Database(it) => {
            let secret = it.store.shared_secret("runner", fresh_secret()).await?;
            shared_runner_key(session.data(), secret)
        }
    }
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
    let is_idle = is_idle(file, &session.engine.catalog());
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
    let options = options(&session.project, data, url, key.credential(), (None, Vec::new()))?;
    let transport = InProcess(Arc::new(Local::new(backend)));
    Ok(Runner::open(options, Arc::new(transport)).await?)
}

/// Workflows whose runs would come to an agent that is not there or does not fit. Files that cannot
/// be read are named already.
fn tell_unsound(session: &Session) {
    if let StoreBackend::Database(it) = &session.backend
        && let Some(n @ 1..) = it.files.as_ref().map(|it| it.n_pushed())
    {
        let files = show::counted_as(n as u64, "file that was", "files that were");
        return show::note(&format!(
            "using {files} pushed to the database, not those of this folder"
        ));
    }
    let files = session.project.load();
    for (_, _, result) in files.checked_workflows(&session.engine.catalog()) {
        let Err(failure) = result else { continue };
        show::note(&format!("{} {failure}", show::warn("warning:")));
        for problem in failure.file_problems() {
            show::note(&format!("  - {}", show::visible(&problem.to_string())));
        }
    }
}
