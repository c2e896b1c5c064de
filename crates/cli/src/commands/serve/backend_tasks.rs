//! What a server does beside its work, as the backend of its data asks for.

use baton_engine::{BackgroundTask, DataChecker};
use uuid::Uuid;

use crate::failure::Failure;
use crate::nodes::NodeAnnouncer;
use crate::project::PushWatcher;
use crate::session::{Session, StoreBackend};

pub(super) enum BackendTasks {
    Folder { checker: Option<BackgroundTask> },
    Database { node: NodeAnnouncer, pushes: Option<PushWatcher> },
}

impl BackendTasks {
    /// Says where the server is, for commands that look for it: in the lock file, or in the database.
    pub(super) async fn start(
        session: &Session,
        url: &str,
        instance: Uuid,
    ) -> Result<Self, Failure> {
        match &session.backend {
            StoreBackend::Folder(it) => {
                it.say_where(url, instance)?;
                it.store.rescue_when_lost(session.project.command_context()?);
                let was_left_open = it.store.was_left_open();
                let checker = was_left_open.then(|| DataChecker::start(session.engine.clone()));
                Ok(Self::Folder { checker })
            }
            StoreBackend::Database(it) => {
                let node = NodeAnnouncer::start(it.store.clone(), instance, url).await?;
                let files = it.files.clone();
                let pushes = files.map(|files| PushWatcher::start(it.store.clone(), files));
                Ok(Self::Database { node, pushes })
            }
        }
    }

    pub(super) async fn stop(self) {
        match self {
            Self::Folder { checker } => {
                if let Some(checker) = checker {
                    checker.stop().await;
                }
            }
            Self::Database { node, pushes } => {
                node.stop().await;
                if let Some(pushes) = pushes {
                    pushes.stop().await;
                }
            }
        }
    }
}
