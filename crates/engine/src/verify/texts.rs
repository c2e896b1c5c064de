//! Verifies the texts of a run: each that an event refers to exists, is unchanged, and is of the
//! kind that the event uses it as; and there is no other.

use std::collections::HashSet;

use baton_core::content::{ContentId, ContentKind};
use baton_core::event::{Event, TextRole};
use baton_core::plural::counted;
use baton_core::run::RunId;
use baton_store::{RunRow, Store, StoreError, StoredContent, TextOwner};

use super::{Verified, readable};
use crate::stored;

/// How many texts are read at once: a package may have a mebibyte.
const AT_ONCE: usize = 16;

pub(super) struct TextCheck {
    run: RunId,
    number: u64,
    /// Half of each id: enough to distinguish them, and a long run has many.
    seen: HashSet<u128>,
    /// Texts that are not checked yet.
    next: Vec<NamedText>,
    n_missing: u64,
    /// Texts that are stored once for all runs.
    n_shared: u64,
    /// Recorded as lost since the run was recovered from damage.
    lost: Vec<ContentId>,
    /// Events of the run say that these were dropped.
    dropped: HashSet<ContentId>,
}

struct NamedText {
    id: ContentId,
    named_as: TextRole,
    /// The name of the event.
    event: &'static str,
}

impl TextCheck {
    pub(super) async fn of(store: &dyn Store, row: &RunRow) -> Result<Self, StoreError> {
        let (run, number) = (row.run.id, row.number);
        let lost = store.lost_texts(run).await?;
        let dropped = store.dropped_texts(run).await?.into_iter().map(|it| it.id).collect();
        let (seen, next) = (HashSet::new(), Vec::new());
        Ok(Self { run, number, seen, next, n_missing: 0, n_shared: 0, lost, dropped })
    }

    /// Collects the texts that an event is the first to refer to, and checks them once there are
    /// enough.
    pub(super) async fn name(
        &mut self,
        store: &dyn Store,
        event: &Event,
        verified: &mut Verified,
    ) -> Result<(), StoreError> {
        for (id, named_as) in event.texts().iter() {
            if self.seen.insert(half(id)) {
                self.next.push(NamedText { id, named_as, event: event.name() });
            }
        }
        if self.next.len() >= AT_ONCE {
            self.look(store, verified).await?;
        }
        Ok(())
    }

    pub(super) async fn end(
        mut self,
        store: &dyn Store,
        verified: &mut Verified,
    ) -> Result<(), StoreError> {
        self.look(store, verified).await?;
        verified.n_lost_texts += self.lost.len() as u64;
        verified.n_redacted_texts += self.dropped.len() as u64;
        for id in self.lost.iter().filter(|it| !self.seen.contains(&half(**it))) {
            let what = format!("the text {} is said to be lost, and no event names it", id.0);
            verified.in_run(self.number, &what);
        }
        let n_named = self.seen.len() as u64 - self.n_missing - self.n_shared;
        let n_stored = store.count_contents(self.run).await?;
        if n_stored != n_named {
            let texts = counted(n_stored, "text");
            let what = format!("it has {texts}, and its events name {n_named} of them");
            verified.in_run(self.number, &what);
        }
        Ok(())
    }

    async fn look(&mut self, store: &dyn Store, verified: &mut Verified) -> Result<(), StoreError> {
        let next = std::mem::take(&mut self.next);
        let ids: Vec<ContentId> = next.iter().map(|it| it.id).collect();
        match readable(store.contents(self.run, &ids).await)? {
            Ok(found) => {
                for text in &next {
                    let found = found.iter().find(|it| it.id() == text.id).cloned();
                    self.look_at(text, found, verified);
                }
            }
            // One unreadable text must not hide the others.
            Err(_) => {
                for text in &next {
                    match readable(store.contents(self.run, &[text.id]).await)? {
                        Ok(found) => self.look_at(text, found.into_iter().next(), verified),
                        Err(what) => {
                            self.report(text, &format!("cannot be read: {what}"), verified)
                        }
                    }
                }
            }
        }
        Ok(())
    }

    fn look_at(&mut self, text: &NamedText, found: Option<StoredContent>, verified: &mut Verified) {
        match found {
            None => {
                self.n_missing += 1;
                if !self.lost.contains(&text.id) && !self.dropped.contains(&text.id) {
                    self.report(text, "is not there", verified);
                }
            }
            Some(stored) => {
                if self.dropped.contains(&text.id) {
                    self.report(text, "is there, and was dropped", verified);
                }
                let is_lost = self.lost.contains(&text.id);
                match stored.owner() {
                    TextOwner::Run if is_lost => {
                        self.report(text, "is there, and is said to be lost", verified);
                    }
                    TextOwner::Run => {}
                    // Lost or not: another run may have brought it since.
                    TextOwner::AllRuns => self.n_shared += 1,
                }
                if let Some(what) = problem(stored, text.named_as) {
                    self.report(text, what, verified);
                }
            }
        }
    }

    fn report(&self, text: &NamedText, what: &str, verified: &mut Verified) {
        let NamedText { id, event, .. } = text;
        verified.in_run(self.number, &format!("the text {} of `{event}` {what}", id.0));
    }
}

/// What is wrong with a text that exists.
fn problem(stored: StoredContent, named_as: TextRole) -> Option<&'static str> {
    let Ok(content) = stored.check() else { return Some("is not the one that was written") };
    if !named_as.fits(&content) {
        return Some("is of another kind than was written");
    }
    match content.kind {
        ContentKind::Words => None,
        ContentKind::Package { hash, .. } => match stored::package(&content) {
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
