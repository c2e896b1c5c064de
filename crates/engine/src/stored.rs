//! A stored package, in whichever format its sender wrote it.

use baton_core::content::{Content, ContentKind};
use baton_core::document::{Node, data_element};
use baton_core::package::Package;
use baton_wire::formats;

/// The document of a package as it is read; none where the text is not a package, or can no longer be
/// parsed.
pub fn document(content: &Content) -> Option<Node> {
    let written = written(content)?;
    Some(data_element::unfolded(&written).unwrap_or(written))
}

/// The document of a package as it was written.
pub fn written(content: &Content) -> Option<Node> {
    match content.kind {
        ContentKind::Package { format, .. } => formats::decode(format, &content.text).ok(),
        ContentKind::Words => None,
    }
}

pub fn package(content: &Content) -> Option<Package> {
    match content.kind {
        ContentKind::Package { format, .. } => {
            Some(Package::new(format, content.text.clone(), written(content)?))
        }
        ContentKind::Words => None,
    }
}
