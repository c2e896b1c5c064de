//! Several engines on one store, as several servers use one database: every command is decided
//! rightly on each, what time brings about happens once, and no subscriber misses an event.

mod beside;
mod feeds;
mod leases;
mod memories;

use std::sync::Arc;

use baton_engine::{Catalog, FixedClock};
use baton_store::{EventFilter, Position, StoredEvent};
use baton_store_tests::SharedMemory;

use crate::world::*;

/// Two nodes with one clock.
pub(crate) struct Cluster {
    pub(crate) shared: SharedMemory,
    pub(crate) clock: Arc<FixedClock>,
    pub(crate) a: World,
    pub(crate) b: World,
}

impl Cluster {
    pub(crate) async fn new() -> Self {
        Self::with(catalog).await
    }

    pub(crate) async fn with(catalog: impl Fn() -> Catalog) -> Self {
        let shared = SharedMemory::default();
        let clock = Arc::new(FixedClock::at(BEGINNING));
        let a = World::node(Arc::new(shared.node()), &clock, catalog()).await;
        let b = World::node(Arc::new(shared.node()), &clock, catalog()).await;
        Self { shared, clock, a, b }
    }

    /// The log as it is complete.
    pub(crate) async fn log(&self) -> Vec<StoredEvent> {
        let filter = EventFilter { after: Position::START, run: None, limit: 0 };
        self.a.store.events(&filter).await.unwrap()
    }

    pub(crate) async fn n_events(&self, name: &str) -> usize {
        self.log().await.iter().filter(|it| it.name == name).count()
    }
}
