//! The texts of a run: each that an event names is there, is what it was, and is of the kind that
//! the event takes it for; and there is no other.

use std::collections::HashSet;

use baton_core::content::{Content, ContentId, ContentKind};
use baton_core::event::Event;
use baton_store::{RunRow, Store, StoreError};

use super::{Verified, readable};
use crate::history::named::{NamedAs, named};
use crate::stored;

pub(super) struct Texts {
    run: baton_core::run::RunId,
    number: u64,
    /// Half of each id that was named: enough to tell them apart, and a long run has many.
    seen: HashSet<u128>,
    n_missing: u64,
}

impl Texts {
    pub(super) fn of(row: &RunRow) -> Self {
        Self { run: row.run.id, number: row.number, seen: HashSet::new(), n_missing: 0 }
    }

    /// Looks at the texts that an event names and none before it did.
    pub(super) async fn name(
        &mut self,
        store: &dyn Store,
        event: &Event,
        verified: &mut Verified,
    ) -> Result<(), StoreError> {
        for (id, named_as) in named(event) {
            if !self.seen.insert(half(id)) {
                continue;
            }
            let found = readable(store.contents(self.run, &[id]).await)?;
            let what = match found.as_ref().map(|it| it.first()) {
                Ok(Some(content)) => problem(content, named_as).map(str::to_owned),
                Ok(None) => {
                    self.n_missing += 1;
                    Some("is not there".to_owned())
                }
                Err(what) => Some(format!("cannot be read: {what}")),
            };
            if let Some(what) = what {
                let (name, id) = (event.name(), id.0);
                verified.in_run(self.number, &format!("the text {id} of `{name}` {what}"));
            }
        }
        Ok(())
    }

    pub(super) async fn end(
        self,
        store: &dyn Store,
        verified: &mut Verified,
    ) -> Result<(), StoreError> {
        let n_named = self.seen.len() as u64 - self.n_missing;
        let n_stored = store.count_contents(self.run).await?;
        if n_stored != n_named {
            let what = format!("it has {n_stored} texts, and its events name {n_named} of them");
            verified.in_run(self.number, &what);
        }
        Ok(())
    }
}

/// What is wrong with a text that is there.
fn problem(content: &Content, named_as: NamedAs) -> Option<&'static str> {
    if !content.is_intact() {
        return Some("is not the one that was written");
    }
    if !named_as.fits(content) {
        return Some("is of another kind than was written");
    }
    match content.kind {
        ContentKind::Words => None,
        ContentKind::Package { hash, .. } => match stored::package(content) {
            None => Some("does not read in the format that is stored with it"),
            Some(package) if package.hash() != hash => {
                Some("does not have the package hash that is stored with it")
            }
            Some(_) => None,
        },
    }
}

fn half(id: ContentId) -> u128 {
    let mut half = [0; 16];
    half.copy_from_slice(&id.0.0[..16]);
    u128::from_be_bytes(half)
}
