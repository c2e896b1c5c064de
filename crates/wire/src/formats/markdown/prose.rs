//! The reserved member `#markdown`, which carries prose in a tree.
//!
//! It is the first member of the metadata's own map. Where there is no such map, or it has a member
//! of that name itself, the metadata is in `document` beside the prose. Anything that only looks
//! like that is data: it counts as prose exactly if reading would have produced it.

use baton_core::document::Node;

use super::depth;
use super::layout::MarkdownLayout;
use crate::formats::MOST_DEPTH;

const MEMBER: &str = "#markdown";
const DOCUMENT: &str = "document";

/// The tree of a text; `None` where it would be too deep.
pub(super) fn join(layout: MarkdownLayout, mut metadata: Node) -> Option<Node> {
    if layout.is_empty() && split(&metadata).is_none() {
        return Some(metadata);
    }
    let mut prose = members_of(&layout);
    let is_beside = needs_document(&layout, &metadata);
    if let (false, Node::Map(members)) = (is_beside, &mut metadata) {
        members.insert(0, (MEMBER.to_owned(), Node::Map(prose)));
        return Some(metadata);
    }
    prose.push((DOCUMENT.to_owned(), metadata));
    let whole = Node::Map(vec![(MEMBER.to_owned(), Node::Map(prose))]);
    (depth(&whole) <= MOST_DEPTH).then_some(whole)
}

/// The way back from [`join`]; `None` where the tree has no prose.
pub(super) fn split(tree: &Node) -> Option<(MarkdownLayout, Node)> {
    let Node::Map(members) = tree else { return None };
    let ((key, prose), rest) = members.split_first()?;
    if key != MEMBER {
        return None;
    }
    let (layout, document) = layout_of(prose)?;
    let metadata = match document {
        Some(document) if rest.is_empty() && needs_document(&layout, document) => document.clone(),
        None if !layout.is_empty() => Node::Map(rest.to_vec()),
        Some(_) | None => return None,
    };
    layout.is_faithful(&metadata).then_some((layout, metadata))
}

/// True where the prose cannot be in the metadata's own map.
fn needs_document(layout: &MarkdownLayout, metadata: &Node) -> bool {
    match metadata {
        _ if layout.is_empty() => split(metadata).is_some(),
        Node::Map(_) => metadata.member(MEMBER).is_some(),
        Node::Null | Node::Bool(_) | Node::Number(_) | Node::Text(_) | Node::List(_) => true,
    }
}

fn members_of(layout: &MarkdownLayout) -> Vec<(String, Node)> {
    let whole = |it: &String| (!it.is_empty()).then(|| it.clone());
    [
        ("before", whole(&layout.before)),
        ("open", layout.open.clone()),
        ("close", layout.close.clone()),
        ("after", whole(&layout.after)),
    ]
    .into_iter()
    .filter_map(|(key, text)| Some((key.to_owned(), Node::Text(text?))))
    .collect()
}

/// The layout and the document in the reserved member, if it is one of ours.
fn layout_of(prose: &Node) -> Option<(MarkdownLayout, Option<&Node>)> {
    let Node::Map(members) = prose else { return None };
    let text = |key: &str| prose.member(key).map(|it| it.as_text().map(str::to_owned));
    let layout = MarkdownLayout {
        before: text("before").unwrap_or(Some(String::new()))?,
        open: text("open").map_or(Some(None), |it| it.map(Some))?,
        close: text("close").map_or(Some(None), |it| it.map(Some))?,
        after: text("after").unwrap_or(Some(String::new()))?,
    };
    let document = prose.member(DOCUMENT);
    // Nothing else may be there, and every member must be where we would put it.
    let ours = members_of(&layout);
    let n_ours = ours.len() + usize::from(document.is_some());
    let is_ours = members.len() == n_ours
        && members.starts_with(&ours)
        && members.get(ours.len()).is_none_or(|(key, _)| key == DOCUMENT);
    is_ours.then_some((layout, document))
}
