//! Sending back the files of an attempt, and finding what its package names.

use std::time::Duration;

use baton_api::{FileNotice, HandoffSummary, Page};
use baton_core::document::Node;
use baton_core::hash::Hash;
use baton_core::package::Format;
use baton_wire::formats;
use bytes::Bytes;
use http::Method;

use super::{ApiFailure, ApiRequest, Client, encoded, read};
use crate::files::OutgoingFile;
use crate::record::AttemptKey;

/// What comes of the work is more urgent than its files.
const FILE_PATIENCE: Duration = Duration::from_secs(20);

impl Client {
    /// Sends a file, unless the server has the bytes already. Sent again, it changes nothing.
    pub(crate) async fn send_file(
        &self,
        key: &AttemptKey,
        file: &OutgoingFile,
    ) -> Result<(), ApiFailure> {
        let sha256 = file.bytes.as_deref().map(Hash::of);
        let notice = FileNotice {
            fence: key.fence,
            kind: file.kind.into(),
            name: file.name.clone(),
            sha256: sha256.map(|it| it.to_string()),
            note: file.note.clone(),
        };
        let request = self.post(format!("/handoffs/{}/files", key.handoff), &notice);
        let noticed = self.insist_for(&request, FILE_PATIENCE).await;
        let (Err(failure), Some(bytes), Some(sha256)) = (&noticed, &file.bytes, sha256) else {
            return noticed.map(|_| ());
        };
        if failure.code() != Some("no_such_file") {
            return noticed.map(|_| ());
        }
        let mut path = format!(
            "/handoffs/{}/files/{sha256}?fence={}&kind={}&name={}",
            key.handoff,
            key.fence,
            file.kind.name(),
            encoded(&file.name)
        );
        if let Some(note) = &file.note {
            path += &format!("&note={}", encoded(note));
        }
        let request = ApiRequest {
            method: Method::PUT,
            media_type: "application/octet-stream",
            body: Bytes::from(bytes.clone()),
            ..self.get(path)
        };
        self.insist_for(&request, FILE_PATIENCE).await.map(|_| ())
    }

    /// The package that an attempt handed on; `None` if there is none yet.
    pub(crate) async fn package_after(
        &self,
        run: uuid::Uuid,
        number: u64,
        label: &str,
    ) -> Result<Option<Node>, ApiFailure> {
        let path = format!("/handoffs?run={run}&after={number}&limit=50");
        let (_, body) = self.insist_for(&self.get(path), FILE_PATIENCE).await?;
        let page: Page<HandoffSummary> = read(&body)?;
        let next = page.items.iter().find(|it| it.follows.as_deref() == Some(label));
        let Some(next) = next else { return Ok(None) };
        let path = format!("/handoffs/{}/package", next.id);
        match self.insist_for(&self.get(path), FILE_PATIENCE).await {
            Ok((_, body)) => {
                let text = String::from_utf8_lossy(&body);
                Ok(formats::decode(Format::Json, &text).ok())
            }
            Err(failure) if failure.code() == Some("no_package") => Ok(None),
            Err(failure) => Err(failure),
        }
    }
}
