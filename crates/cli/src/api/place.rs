//! Who has the data of a project: no process, so that we lock it, or a server to send requests to. A
//! database is not locked: its servers are in a list there.

use std::time::{Duration, Instant};

use baton_files::Dir;
use baton_store::Store as _;
use baton_store_sqlite::{DataLock, LockError};
use http::header::HeaderValue;
use uuid::Uuid;

use super::network::RemoteServer;
use super::url::{Url, UrlSource};
use crate::failure::Failure;
use crate::nodes::live_nodes;
use crate::project::{Project, ProjectDatabase};
use crate::session::{open_database, refuse_folder};

/// How long one command waits for another to release the data.
const PATIENCE: Duration = Duration::from_secs(5);
const PAUSE: Duration = Duration::from_millis(20);

pub(crate) enum DataHolder {
    Us(DataLock),
    Server(RemoteServer),
}

/// Takes the lock, or finds the server that holds it. The lock file counts only while the lock is
/// held, and only if the same server instance answers there: a killed server is still named in it,
/// another may have its address, and one that is starting or stopping does not answer.
pub(crate) async fn holder(data: &Dir) -> Result<DataHolder, Failure> {
    let asked_at = Instant::now();
    loop {
        let by = match DataLock::take(data, Duration::ZERO) {
            Ok(lock) => return Ok(DataHolder::Us(lock)),
            Err(LockError::Held { by }) => by,
            Err(error @ (LockError::File(_) | LockError::Refused { .. })) => {
                return Err(error.into());
            }
        };
        let named = server_in(&by, data);
        if let Some(server) = &named
            && server.is_there().await
        {
            return Ok(DataHolder::Server(server.clone()));
        }
        if asked_at.elapsed() >= PATIENCE {
            let by = named.map_or(by, |it| it.url.to_string());
            return Err(Failure::Busy { by });
        }
        tokio::time::sleep(PAUSE).await;
    }
}

/// Whether the project has data of its own, and this is not the server that has it. A copy of a project
/// without data may be worked on with any server.
pub(super) async fn is_of_other(server: &RemoteServer, project: &Project) -> bool {
    let Some(data) = project.own_data() else { return false };
    let by = match DataLock::take(&data, Duration::ZERO) {
        Ok(_) => return server.actual_instance().await.is_some(),
        Err(LockError::Held { by }) => by,
        Err(LockError::File(_) | LockError::Refused { .. }) => return false,
    };
    let Some(own) = server_in(&by, &data) else { return false };
    let actual = server.actual_instance().await;
    actual.is_some_and(|it| own.expected_instance() != Some(&it))
}

/// A server's note in the lock file: its address and its instance id.
pub(crate) fn note(url: &str, instance: Uuid) -> String {
    format!("{url} {instance}")
}

fn server_in(note: &str, data: &Dir) -> Option<RemoteServer> {
    let (url, instance) = note.split_once(' ')?;
    let url = Url::parse(url).ok()?;
    let instance = HeaderValue::try_from(instance).ok()?;
    Some(RemoteServer::new(url, UrlSource::Lock { data: data.path().to_owned(), instance }))
}

/// A server of this project, where one is at work.
pub(crate) async fn server_of(project: &Project) -> Result<Option<RemoteServer>, Failure> {
    match &project.database {
        Some(database) => node_of(database).await,
        None => {
            let data = project.data_dir()?;
            refuse_folder(project, &data)?;
            match holder(&data).await? {
                DataHolder::Us(_) => Ok(None),
                DataHolder::Server(server) => Ok(Some(server)),
            }
        }
    }
}

/// A node of the database that answers here: one on another machine may listen there only.
pub(crate) async fn node_of(database: &ProjectDatabase) -> Result<Option<RemoteServer>, Failure> {
    let store = open_database(database).await?;
    let nodes = live_nodes(&store).await;
    store.close().await;
    for node in nodes? {
        let instance = HeaderValue::try_from(node.id.to_string());
        let (Ok(url), Ok(instance)) = (Url::parse(&node.url), instance) else { continue };
        let server = RemoteServer::new(url, UrlSource::Node { instance });
        if server.is_there().await {
            return Ok(Some(server));
        }
    }
    Ok(None)
}

/// The lock, for operations that need exclusive access to the data.
pub(crate) async fn lock(data: &Dir) -> Result<DataLock, Failure> {
    match holder(data).await? {
        DataHolder::Us(lock) => Ok(lock),
        DataHolder::Server(server) => Err(Failure::Served { url: server.url.to_string() }),
    }
}
