//! Who has the data of a project: nobody, so that it is ours now, or a server that can be asked.

use std::time::{Duration, Instant};

use baton_files::Dir;
use baton_store_sqlite::{DataLock, LockError};
use http::header::HeaderValue;
use uuid::Uuid;

use super::network::RemoteServer;
use super::url::{Url, UrlSource};
use crate::failure::Failure;

/// How long one command waits for another to finish with the data.
const PATIENCE: Duration = Duration::from_secs(5);
const PAUSE: Duration = Duration::from_millis(20);

pub(crate) enum DataHolder {
    Us(DataLock),
    Server(RemoteServer),
}

/// Takes the lock, or finds the server that has it. What the lock file says counts only while
/// somebody holds it, and only if that very server answers there: one that was killed still stands
/// in it, another may have its address, and one that starts or stops does not answer.
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

/// What a server says of itself in the lock file: where it is, and which one it is.
pub(crate) fn note(url: &str, instance: Uuid) -> String {
    format!("{url} {instance}")
}

fn server_in(note: &str, data: &Dir) -> Option<RemoteServer> {
    let (url, instance) = note.split_once(' ')?;
    let url = Url::parse(url).ok()?;
    let instance = HeaderValue::try_from(instance).ok()?;
    Some(RemoteServer::new(url, UrlSource::Lock { data: data.path().to_owned(), instance }))
}

/// The lock, for what cannot be done while somebody else has the data.
pub(crate) async fn lock(data: &Dir) -> Result<DataLock, Failure> {
    match holder(data).await? {
        DataHolder::Us(lock) => Ok(lock),
        DataHolder::Server(server) => Err(Failure::Served { url: server.url.to_string() }),
    }
}
