//! The only way to read the texts of a run. Each is compared with the hash in the log first: a
//! changed text is never shown, sent or copied as if it were intact.
//!
//! There are two kinds of reader. Output that combines several texts (a prompt, an archive file,
//! one handoff) takes [`WholeTexts`], which fails on the first damaged one. A list takes [`Texts`],
//! which has a state for each text, so that one damaged text does not hide all the others.

use std::collections::HashMap;

use baton_core::content::{Content, ContentId, ContentKind};
use baton_core::run::RunId;
use baton_store::{
    DropCause, EventFilter, HandoffFilter, HandoffRow, Position, RunRef, StoreError,
};
use baton_wire::event;

use crate::redact::{EXPIRED_TEXT, REDACTED_TEXT};
use crate::{Engine, EngineError, Reader};

/// Shown in place of a damaged text on a page or in a table.
pub const DAMAGED_TEXT: &str =
    "(damaged: `baton verify` says what, `baton recover` saves what is whole)";

/// Shown in place of a text that `baton recover` recorded as lost.
pub const LOST_TEXT: &str = "(lost)";

/// Texts by id, each with its state.
#[derive(Default)]
pub struct Texts {
    whole: HashMap<ContentId, Content>,
    damaged: HashMap<ContentId, TextDamage>,
}

/// A text and its state.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Text<'a> {
    Whole(&'a str),
    /// Lost; recorded when the data was recovered from damage.
    Gone,
    Damaged,
}

/// Texts by id, none of them damaged.
#[derive(Default)]
pub struct WholeTexts(HashMap<ContentId, Content>);

/// What is wrong with a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum TextDamage {
    Changed,
    Unreadable,
    Absent,
}

impl Texts {
    pub fn get(&self, id: ContentId) -> Text<'_> {
        if self.damaged.contains_key(&id) {
            return Text::Damaged;
        }
        self.whole.get(&id).map_or(Text::Gone, |it| Text::Whole(&it.text))
    }

    /// True where the text is there and is a package.
    pub fn is_package(&self, id: ContentId) -> bool {
        self.content(id).is_some_and(|it| matches!(it.kind, ContentKind::Package { .. }))
    }

    /// None where it is gone or damaged, for a reader that reports elsewhere which of the two.
    pub fn content(&self, id: ContentId) -> Option<&Content> {
        self.whole.get(&id)
    }
}

impl<'a> Text<'a> {
    /// None where it is gone or damaged, for a document that reports which in a separate member.
    pub fn whole(self) -> Option<&'a str> {
        match self {
            Text::Whole(text) => Some(text),
            Text::Gone | Text::Damaged => None,
        }
    }

    pub fn is_damaged(self) -> bool {
        self == Text::Damaged
    }
}

impl WholeTexts {
    /// None where it was recorded as lost in a recovery.
    pub fn get(&self, id: ContentId) -> Option<&str> {
        self.content(id).map(|it| it.text.as_ref())
    }

    pub fn content(&self, id: ContentId) -> Option<&Content> {
        self.0.get(&id)
    }
}

impl From<WholeTexts> for Texts {
    fn from(texts: WholeTexts) -> Self {
        Self { whole: texts.0, damaged: HashMap::new() }
    }
}

impl TextDamage {
    fn name(self) -> &'static str {
        match self {
            TextDamage::Changed => "is not the one that was written",
            TextDamage::Unreadable => "cannot be read",
            TextDamage::Absent => "is not there",
        }
    }
}

impl Reader<'_> {
    /// The texts of handoffs: the package, the reason, why it ended, the acknowledgement.
    pub async fn texts_of(self, rows: &[HandoffRow]) -> Result<Texts, EngineError> {
        self.texts_by_run(rows, |row| all_of(row).map(|(_, id)| id).collect()).await
    }

    /// As [`Reader::texts_of`], without the packages: they may be large, and a list needs none.
    pub async fn words_of(self, rows: &[HandoffRow]) -> Result<Texts, EngineError> {
        self.texts_by_run(rows, |row| words_of(row).map(|(_, id)| id).collect()).await
    }

    /// Only the packages of handoffs.
    pub async fn packages_of(self, rows: &[HandoffRow]) -> Result<Texts, EngineError> {
        self.texts_by_run(rows, |row| row.package.into_iter().collect()).await
    }

    /// All texts of one handoff; an error if one of them is damaged.
    pub async fn whole_texts_of(self, row: &HandoffRow) -> Result<WholeTexts, EngineError> {
        self.whole_texts(row.run, all_of(row).map(|(_, id)| id)).await
    }

    /// Texts of a run; an error if one of them is damaged.
    pub async fn whole_texts(
        self,
        run: RunId,
        ids: impl IntoIterator<Item = ContentId>,
    ) -> Result<WholeTexts, EngineError> {
        self.engine.whole_texts(run, ids).await
    }

    /// Texts of a run, each with its state.
    pub async fn texts(
        self,
        run: RunId,
        ids: impl IntoIterator<Item = ContentId>,
    ) -> Result<Texts, EngineError> {
        self.engine.texts(run, ids).await
    }

    async fn texts_by_run(
        self,
        rows: &[HandoffRow],
        ids: impl Fn(&HandoffRow) -> Vec<ContentId>,
    ) -> Result<Texts, EngineError> {
        let mut by_run: HashMap<RunId, Vec<ContentId>> = HashMap::new();
        for row in rows {
            by_run.entry(row.run).or_default().extend(ids(row));
        }
        let mut texts = Texts::default();
        for (run, ids) in by_run {
            let Texts { whole, damaged } = self.texts(run, ids).await?;
            texts.whole.extend(whole);
            texts.damaged.extend(damaged);
        }
        Ok(texts)
    }
}

impl Engine {
    /// Texts of a run; an error if one of them is damaged.
    pub(crate) async fn whole_texts(
        &self,
        run: RunId,
        ids: impl IntoIterator<Item = ContentId>,
    ) -> Result<WholeTexts, EngineError> {
        let Texts { whole, damaged } = self.texts(run, ids).await?;
        match damaged.into_iter().min_by_key(|(id, _)| *id) {
            None => Ok(WholeTexts(whole)),
            Some((id, damage)) => Err(self.damaged_text(run, id, damage).await),
        }
    }

    /// Texts of a run, each with its state.
    pub(crate) async fn texts(
        &self,
        run: RunId,
        ids: impl IntoIterator<Item = ContentId>,
    ) -> Result<Texts, EngineError> {
        let mut texts = Texts::default();
        let mut ids: Vec<ContentId> = ids.into_iter().collect();
        // A cached text was just written, or was checked when it was read. Another node may have
        // dropped it since.
        let cached = |id| self.cache.text(id).filter(|_| !self.is_shared());
        ids.retain(|id| match cached(*id) {
            Some(content) => {
                texts.whole.insert(*id, content);
                false
            }
            None => true,
        });
        ids.sort_unstable();
        ids.dedup();
        if !ids.is_empty() {
            self.read_texts(run, &ids, &mut texts).await?;
        }
        Ok(texts)
    }

    async fn read_texts(
        &self,
        run: RunId,
        ids: &[ContentId],
        texts: &mut Texts,
    ) -> Result<(), StoreError> {
        let mut found = Vec::with_capacity(ids.len());
        match self.store.contents(run, ids).await {
            Ok(stored) => found = stored,
            // One unreadable row must not hide the others.
            Err(StoreError::Damaged { .. }) => {
                for id in ids {
                    match self.store.contents(run, &[*id]).await {
                        Ok(stored) => found.extend(stored),
                        Err(StoreError::Damaged { .. }) => {
                            texts.damaged.insert(*id, TextDamage::Unreadable);
                        }
                        Err(error) => return Err(error),
                    }
                }
            }
            Err(error) => return Err(error),
        }
        let mut whole = Vec::with_capacity(found.len());
        for stored in found {
            match stored.check() {
                Ok(content) => whole.push(content),
                Err(changed) => {
                    texts.damaged.insert(changed.0, TextDamage::Changed);
                }
            }
        }
        self.cache.remember_texts(whole.iter().cloned());
        texts.whole.extend(whole.into_iter().map(|it| (it.id, it)));
        self.look_for_missing(run, ids, texts).await
    }

    /// A text is gone only where a loss or a redaction is recorded; otherwise its row was damaged or removed.
    async fn look_for_missing(
        &self,
        run: RunId,
        ids: &[ContentId],
        texts: &mut Texts,
    ) -> Result<(), StoreError> {
        let is_missing = |id: &&ContentId| texts.get(**id) == Text::Gone;
        let missing: Vec<ContentId> = ids.iter().filter(is_missing).copied().collect();
        if missing.is_empty() {
            return Ok(());
        }
        let lost = self.store.lost_texts(run).await?;
        let dropped = self.store.dropped_texts(run).await?;
        let dropped: HashMap<ContentId, DropCause> =
            dropped.into_iter().map(|it| (it.id, it.cause)).collect();
        for id in missing {
            if let Some(cause) = dropped.get(&id) {
                texts.whole.insert(id, dropped_content(id, *cause));
            } else if !lost.contains(&id) {
                texts.damaged.insert(id, TextDamage::Absent);
            }
        }
        Ok(())
    }

    /// The error that names the text: its run, its handoff, and its role there.
    async fn damaged_text(&self, run: RunId, id: ContentId, damage: TextDamage) -> EngineError {
        let (run, text) = match self.name_of_text(run, id).await {
            Ok(name) => name,
            Err(error) => return error.into(),
        };
        let what = format!("run {run}: {text} {} (text {})", damage.name(), id.0);
        StoreError::Damaged { what }.into()
    }

    async fn name_of_text(
        &self,
        run: RunId,
        id: ContentId,
    ) -> Result<(String, String), StoreError> {
        let number = self.store.run(&RunRef::Id(run)).await?.map(|it| it.number.to_string());
        let number = number.unwrap_or_else(|| run.to_string());
        let filter = HandoffFilter { run: Some(run), ..HandoffFilter::default() };
        for row in self.store.handoffs(&filter).await? {
            if let Some((what, _)) = all_of(&row).find(|(_, it)| *it == id) {
                return Ok((number, format!("the {what} of {}", row.no)));
            }
        }
        let filter = EventFilter { after: Position::START, run: Some(run), limit: 0 };
        for stored in self.store.events(&filter).await? {
            let texts = event::decode(&stored.body).map(|it| it.texts()).unwrap_or_default();
            if texts.iter().any(|(it, _)| it == id) {
                return Ok((number, format!("the text of `{}`", stored.name)));
            }
        }
        Ok((number, "a text".to_owned()))
    }
}

/// The texts of a handoff, and the name of each.
fn all_of(row: &HandoffRow) -> impl Iterator<Item = (&'static str, ContentId)> {
    row.package.map(|it| ("package", it)).into_iter().chain(words_of(row))
}

/// Stands for a dropped text wherever one is read. It is no package, whatever it was.
fn dropped_content(id: ContentId, cause: DropCause) -> Content {
    let text = match cause {
        DropCause::Redacted => REDACTED_TEXT,
        DropCause::Expired => EXPIRED_TEXT,
    };
    Content { id, nonce: [0; 16], kind: ContentKind::Words, text: text.into() }
}

fn words_of(row: &HandoffRow) -> impl Iterator<Item = (&'static str, ContentId)> {
    let words = [
        ("reason", Some(row.reason)),
        ("reason for the end", row.ended_reason),
        ("acknowledgement", row.acknowledgement),
    ];
    words.into_iter().filter_map(|(what, id)| Some((what, id?)))
}
