//! The shared context of a run: documents by key, with their versions and who read them.

use baton_core::content::ContentId;
use baton_core::event::{ContextEvent, Event};
use baton_core::names::ContextKey;
use baton_core::run::Run;
use baton_engine::EngineError;
use baton_store::SharedEvents;
use baton_wire::event;
use jiff::Timestamp;

use crate::Views;

/// One version of a context document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ContextDocumentView {
    pub key: ContextKey,
    pub version: u32,
    /// The agent that wrote it, or the principal.
    pub by: String,
    pub at: Timestamp,
    pub n_bytes: u32,
    /// None where the text was lost or is damaged.
    pub text: Option<String>,
}

impl Views<'_> {
    /// The newest version of each document.
    pub async fn context(&self, run: &Run) -> Result<Vec<ContextDocumentView>, EngineError> {
        let texts = self.texts(run.id, run.context.iter().map(|it| it.text)).await?;
        let mut documents: Vec<ContextDocumentView> = (run.context.iter())
            .map(|it| ContextDocumentView {
                key: it.key.clone(),
                version: it.version,
                by: it.by.clone(),
                at: it.at,
                n_bytes: it.n_bytes,
                text: texts.get(it.text).whole().map(str::to_owned),
            })
            .collect();
        documents.sort_by(|a, b| a.key.cmp(&b.key));
        Ok(documents)
    }

    /// All versions of a document, oldest first.
    pub async fn context_history(
        &self,
        run: &Run,
        key: &ContextKey,
    ) -> Result<Vec<ContextDocumentView>, EngineError> {
        let mut found: Vec<(ContextDocumentView, ContentId)> = Vec::new();
        for stored in self.shared_events(run.id, SharedEvents::ContextVersions).await? {
            let Ok(Event::Context(event)) = event::decode(&stored.body) else { continue };
            let ContextEvent::Changed { key: changed, version, by, text, n_bytes } = event else {
                continue;
            };
            if changed == *key {
                let (at, key) = (stored.at, changed);
                let text_of = None;
                let view = ContextDocumentView { key, version, by, at, n_bytes, text: text_of };
                found.push((view, text));
            }
        }
        let texts = self.texts(run.id, found.iter().map(|it| it.1)).await?;
        let read = |(view, id): (ContextDocumentView, ContentId)| ContextDocumentView {
            text: texts.get(id).whole().map(str::to_owned),
            ..view
        };
        Ok(found.into_iter().map(read).collect())
    }
}
