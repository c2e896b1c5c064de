//! Reading values from any of the formats: XML has no single-item lists and no types.

use crate::contract;
use crate::document::Node;

/// A scalar's text, or the text beside its attributes.
pub fn text(node: &Node) -> Option<&str> {
    node.scalar_text().or_else(|| node.member("#text")?.scalar_text())
}

/// The trimmed text of a member, where there is any.
pub fn text_at<'a>(node: &'a Node, path: &str) -> Option<&'a str> {
    node.at(path).and_then(text).map(str::trim).filter(|it| !it.is_empty())
}

pub fn owned_at(node: &Node, path: &str) -> Option<String> {
    text_at(node, path).map(str::to_owned)
}

/// The text at the first of several paths that has any.
pub fn first_text<'a>(node: &'a Node, paths: &[&str]) -> Option<&'a str> {
    paths.iter().find_map(|it| text_at(node, it))
}

/// A member by its key, or by the attribute of that name.
pub fn field<'a>(node: &'a Node, key: &str) -> Option<&'a str> {
    text_at(node, key).or_else(|| text_at(node, &format!("@{key}")))
}

/// The items of a list. In XML they are in an element of their own, and a single one is no list:
/// `<requirements><requirement>…`.
pub fn items(node: &Node) -> &[Node] {
    match contract::items(node) {
        Some(items) => items,
        None if node.is_blank() => &[],
        None => std::slice::from_ref(node),
    }
}

pub fn items_at<'a>(node: &'a Node, path: &str) -> &'a [Node] {
    node.at(path).map(items).unwrap_or_default()
}

pub fn texts_at(node: &Node, path: &str) -> Vec<String> {
    items_at(node, path).iter().filter_map(text).map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_is_a_list_however_it_was_written() {
        let a = || Node::text("a");
        let two = || Node::List(vec![a(), Node::text("b")]);
        for (node, expected) in [
            (two(), vec!["a", "b"]),
            (Node::map([("requirement", two())]), vec!["a", "b"]),
            (Node::map([("requirement", a())]), vec!["a"]),
            (a(), vec!["a"]),
            (Node::Null, vec![]),
            (Node::text(" "), vec![]),
            (Node::Map(vec![]), vec![]),
        ] {
            let found: Vec<&str> = items(&node).iter().filter_map(text).collect();
            assert_eq!(found, expected, "{node:?}");
        }
    }
}
