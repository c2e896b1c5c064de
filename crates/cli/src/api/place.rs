//! Who has the data of a project: nobody, so that it is ours now, or a server that can be asked.

use std::path::Path;
use std::time::{Duration, Instant};

use baton_store_sqlite::{DataLock, LockError};

use super::network::Server;
use super::url::{From, Url};
use crate::failure::Failure;

/// How long one command waits for another to finish with the data.
const PATIENCE: Duration = Duration::from_secs(5);
const PAUSE: Duration = Duration::from_millis(20);

pub(crate) enum Holder {
    Us(DataLock),
    Server(Server),
}

/// Takes the lock, or finds the server that has it. What the lock file says counts only while
/// somebody holds it, and only if somebody listens there: a server that was killed still stands
/// in it, and one that starts or stops does not answer.
pub(crate) async fn holder(data: &Path) -> Result<Holder, Failure> {
    let asked_at = Instant::now();
    loop {
        let by = match DataLock::take(data, Duration::ZERO) {
            Ok(lock) => return Ok(Holder::Us(lock)),
            Err(LockError::Held { by }) => by,
            Err(error @ LockError::File { .. }) => return Err(error.into()),
        };
        if let Ok(url) = Url::parse(&by) {
            let server = Server::new(url, From::Lock(data.to_owned()));
            if server.is_there().await {
                return Ok(Holder::Server(server));
            }
        }
        if asked_at.elapsed() >= PATIENCE {
            return Err(Failure::Busy { by });
        }
        tokio::time::sleep(PAUSE).await;
    }
}

/// The lock, for what cannot be done while somebody else has the data.
pub(crate) async fn lock(data: &Path) -> Result<DataLock, Failure> {
    match holder(data).await? {
        Holder::Us(lock) => Ok(lock),
        Holder::Server(server) => Err(Failure::Served { url: server.url.to_string() }),
    }
}
