//! Whether the data is still what was opened, and takes writes. A process remembers runs, texts and
//! positions: where another history of the data has taken its place, nothing that follows from them may be
//! written, so every further use is refused.

use std::sync::OnceLock;

use baton_store::WriteFault;
use tokio::sync::watch;
use tokio_postgres::Client;

use crate::data_place::ServerPlace;

#[derive(Debug)]
pub(crate) struct DataState {
    opened_on: OnceLock<ServerPlace>,
    /// What lasts until something else is seen: a full disk is seen by writes alone.
    fault: watch::Sender<Option<WriteFault>>,
}

impl DataState {
    pub(crate) fn new() -> Self {
        Self { opened_on: OnceLock::new(), fault: watch::Sender::new(None) }
    }

    /// From now on every connection has to lead there.
    pub(crate) fn opened_on(&self, place: ServerPlace) {
        let _ = self.opened_on.set(place);
    }

    /// False where the connection leads to another history than that which was opened.
    pub(crate) async fn is_same_on(&self, client: &Client) -> bool {
        let Some(opened_on) = self.opened_on.get() else { return true };
        let is_same = !ServerPlace::of(client).await.differs_from(opened_on);
        if !is_same {
            self.replace("another database server has taken over, or was restored from a backup");
        }
        is_same
    }

    /// The data is not that which was opened. That lasts.
    pub(crate) fn replace(&self, what: &str) {
        let advice = "start this Baton again: it reads the data anew".to_owned();
        let fault = WriteFault::Replaced { what: what.to_owned(), advice };
        let is_news = self.fault.send_if_modified(|it| {
            let is_news = !is_replaced(it.as_ref());
            if is_news {
                *it = Some(fault);
            }
            is_news
        });
        if is_news {
            tracing::error!("{what}: nothing more is read or written before a new start");
        }
    }

    pub(crate) fn is_read_only(&self, is_read_only: bool) {
        match is_read_only {
            true => self.begin(WriteFault::DatabaseReadOnly),
            false => self.end(&WriteFault::DatabaseReadOnly),
        }
    }

    /// A write failed because there is no room for it. Lasts until one succeeds.
    pub(crate) fn disk_is_full(&self) {
        self.begin(WriteFault::DiskFull);
    }

    pub(crate) fn disk_has_room(&self) {
        self.end(&WriteFault::DiskFull);
    }

    pub(crate) fn is_disk_full(&self) -> bool {
        *self.fault.borrow() == Some(WriteFault::DiskFull)
    }

    fn begin(&self, fault: WriteFault) {
        self.fault.send_if_modified(|it| {
            let is_news = it.as_ref() != Some(&fault) && !is_replaced(it.as_ref());
            if is_news {
                tracing::error!("not ready: {}", fault.state());
                *it = Some(fault);
            }
            is_news
        });
    }

    fn end(&self, fault: &WriteFault) {
        self.fault.send_if_modified(|it| {
            let is_news = it.as_ref() == Some(fault);
            if is_news {
                tracing::info!("the database takes writes again");
                *it = None;
            }
            is_news
        });
    }

    pub(crate) fn fault(&self) -> Option<WriteFault> {
        self.fault.borrow().clone()
    }

    /// The fault with which every use is refused.
    pub(crate) fn refusal(&self) -> Option<WriteFault> {
        self.fault().filter(|it| is_replaced(Some(it)))
    }

    /// Waits until the data is not that which was opened.
    pub(crate) async fn replaced(&self) {
        // The sender is here, so this ends with that alone.
        let _ = self.fault.subscribe().wait_for(|it| is_replaced(it.as_ref())).await;
    }
}

fn is_replaced(fault: Option<&WriteFault>) -> bool {
    matches!(fault, Some(WriteFault::Replaced { .. }))
}
