//! Who has the data of a project: no process, so that we lock it, or a server to send requests to.

use std::time::{Duration, Instant};

use baton_files::Dir;
use baton_store_sqlite::{DataLock, LockError};
use http::header::HeaderValue;
use uuid::Uuid;

use super::network::RemoteServer;
use super::url::{Url, UrlSource};
use crate::failure::Failure;

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

/// The lock, for operations that need exclusive access to the data.
pub(crate) async fn lock(data: &Dir) -> Result<DataLock, Failure> {
    match holder(data).await? {
        DataHolder::Us(lock) => Ok(lock),
        DataHolder::Server(server) => Err(Failure::Served { url: server.url.to_string() }),
    }
}
