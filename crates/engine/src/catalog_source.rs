//! The catalog of a process that runs for long: read again when the project's files change.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::sync::watch;
use tokio::task::JoinHandle;

use crate::{Catalog, Engine};

/// The files that a catalog is made of. It may block.
pub trait CatalogSource: Send + Sync {
    /// The catalog, where the files have changed since it was last asked.
    fn changed(&self) -> Option<Catalog>;
}

pub(crate) struct CurrentCatalog {
    catalog: Mutex<Arc<Catalog>>,
    source: Option<Arc<dyn CatalogSource>>,
    /// Held while the files are looked at: no caller gets the catalog from before a change that another
    /// has seen.
    looking: Mutex<()>,
}

impl CurrentCatalog {
    pub(crate) fn new(catalog: Catalog) -> Self {
        Self { catalog: Mutex::new(Arc::new(catalog)), source: None, looking: Mutex::default() }
    }
}

impl Engine {
    /// Takes the catalog from its files whenever they change, instead of once.
    #[must_use]
    pub fn with_catalog_source(self, source: Arc<dyn CatalogSource>) -> Self {
        let catalog = CurrentCatalog { source: Some(source), ..self.catalog };
        Self { catalog, ..self }
    }

    /// The catalog as it was last read.
    pub fn catalog(&self) -> Arc<Catalog> {
        self.catalog.catalog.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// The catalog, after a look at its files: for what begins now, and for names that are not known.
    pub fn fresh_catalog(&self) -> Arc<Catalog> {
        let Some(source) = &self.catalog.source else { return self.catalog() };
        let _looking = self.catalog.looking.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(changed) = source.changed() {
            tracing::info!("the workflow and agent files have changed, and are read again");
            for it in changed.left_out() {
                tracing::warn!(file = %it.file, why = %it.why, "left out");
            }
            // A check that had a command when this server started keeps needing a runner: an agent that can
            // write to the project could take the command away, and then say that the check passed.
            let changed = Arc::new(changed.with_checks_of(&self.catalog()));
            *self.catalog.catalog.lock().unwrap_or_else(PoisonError::into_inner) = changed;
        }
        self.catalog()
    }
}

const EVERY: Duration = Duration::from_secs(1);

/// Looks at the files once a second, for what does not look by itself.
pub struct CatalogKeeper {
    stop: watch::Sender<bool>,
    task: JoinHandle<()>,
}

impl CatalogKeeper {
    pub fn start(engine: Arc<Engine>) -> Self {
        let (stop, mut stopped) = watch::channel(false);
        let task = tokio::spawn(async move {
            loop {
                tokio::select! {
                    () = tokio::time::sleep(EVERY) => {}
                    _ = stopped.changed() => return,
                }
                let engine = engine.clone();
                let looked = tokio::task::spawn_blocking(move || drop(engine.fresh_catalog()));
                if looked.await.is_err() {
                    tracing::error!("looking at the workflow and agent files failed");
                }
            }
        });
        Self { stop, task }
    }

    pub async fn stop(self) {
        // The task is gone if it failed.
        let _ = self.stop.send(true);
        let _ = self.task.await;
    }
}
