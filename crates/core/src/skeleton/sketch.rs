//! A document under correction, twice: as it is shown, with marks, and with samples in their place,
//! which the rules are checked on.

use super::mark::{FieldMark, Wanted};
use crate::document::{Node, NodeKind};

/// One step of a path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum PathStep {
    Key(String),
    Item(usize),
}

/// The steps of `context.artifacts[2].path`.
pub(super) fn steps(path: &str) -> Vec<PathStep> {
    let mut steps = Vec::new();
    for part in path.split('.') {
        let (key, indexes) = part.split_once('[').map_or((part, ""), |(key, rest)| (key, rest));
        steps.push(PathStep::Key(key.to_owned()));
        let numbers = indexes.split(['[', ']']).filter(|it| !it.is_empty());
        steps.extend(numbers.filter_map(|it| it.parse().ok()).map(PathStep::Item));
    }
    steps
}

/// `path` and a key below it.
pub(super) fn below(path: &[PathStep], key: &str) -> Vec<PathStep> {
    path.iter().cloned().chain([PathStep::Key(key.to_owned())]).collect()
}

/// A response has room for this many, and a sender can fill in no more.
const MOST_MARKS: usize = 500;

pub(super) struct Sketch {
    pub(super) shown: Node,
    pub(super) sample: Node,
    n_marks: usize,
    /// The choices that were put in: which words are possible is known at the end.
    pub(super) choices: Vec<(Vec<PathStep>, FieldMark)>,
    /// The numbers that count: their samples follow the lists.
    numbers: Vec<(Vec<PathStep>, FieldMark)>,
}

impl Sketch {
    pub(super) fn of(document: Node) -> Self {
        let sample = document.clone();
        Self { shown: document, sample, n_marks: 0, choices: Vec::new(), numbers: Vec::new() }
    }

    pub(super) fn has_room(&self) -> bool {
        self.n_marks < MOST_MARKS
    }

    /// Puts a mark at a path, making the maps on the way.
    pub(super) fn put(&mut self, path: &[PathStep], mark: &FieldMark) {
        if !self.has_room() {
            return;
        }
        self.n_marks += 1;
        self.note(path, mark);
        let sample = mark.sample(&self.sample);
        place(&mut self.shown, path, mark.shown());
        place(&mut self.sample, path, sample);
    }

    /// Adds marks to the end of a list.
    pub(super) fn append(&mut self, path: &[PathStep], n: usize, mark: &FieldMark) {
        self.n_marks += n;
        let n_before =
            at(&self.sample, path).and_then(crate::contract::items).map_or(0, <[Node]>::len);
        for index in n_before..n_before + n {
            let item: Vec<PathStep> = path.iter().cloned().chain([PathStep::Item(index)]).collect();
            self.note(&item, mark);
        }
        let sample = mark.sample(&self.sample);
        for (tree, node) in [(&mut self.shown, mark.shown()), (&mut self.sample, sample)] {
            if let Some(list) = at_mut(tree, path).and_then(list_mut) {
                list.extend(std::iter::repeat_n(node, n));
            }
        }
    }

    /// Replaces a kept value by another kept value.
    pub(super) fn keep(&mut self, path: &[PathStep], value: Node) {
        place(&mut self.shown, path, value.clone());
        place(&mut self.sample, path, value);
    }

    /// Makes the value at a path, kept or a mark, the only member of a map.
    pub(super) fn wrap(&mut self, path: &[PathStep], key: &str) {
        for tree in [&mut self.shown, &mut self.sample] {
            if let Some(node) = at_mut(tree, path) {
                let inner = std::mem::replace(node, Node::Null);
                *node = Node::Map(vec![(key.to_owned(), inner)]);
            }
        }
    }

    /// The kept value at a path; none where a mark stands.
    pub(super) fn kept(&self, path: &[PathStep]) -> Option<&Node> {
        let (shown, sample) = (at(&self.shown, path)?, at(&self.sample, path)?);
        (shown == sample).then_some(shown)
    }

    pub(super) fn set_sample(&mut self, path: &[PathStep], value: Node) {
        place(&mut self.sample, path, value);
    }

    /// Counts again, after the sample has changed.
    pub(super) fn count_again(&mut self) {
        let is_shown =
            |it: &&(Vec<PathStep>, FieldMark)| at(&self.shown, &it.0) == Some(&it.1.shown());
        let counted =
            |(path, mark): &(Vec<PathStep>, FieldMark)| (path.clone(), mark.sample(&self.sample));
        let counts: Vec<_> = self.numbers.iter().filter(is_shown).map(counted).collect();
        for (path, number) in counts {
            place(&mut self.sample, &path, number);
        }
    }

    fn note(&mut self, path: &[PathStep], mark: &FieldMark) {
        match &mark.wanted {
            Wanted::Word(words) if words.len() > 1 => {
                self.choices.push((path.to_vec(), mark.clone()));
            }
            Wanted::Number { counts, .. } if !counts.is_empty() => {
                self.numbers.push((path.to_vec(), mark.clone()));
            }
            Wanted::Items(n, each) => {
                for index in 0..*n {
                    let item: Vec<PathStep> =
                        path.iter().cloned().chain([PathStep::Item(index)]).collect();
                    self.note(&item, each);
                }
            }
            Wanted::Members(members) => {
                for (key, member) in members {
                    self.note(&below(path, key), member);
                }
            }
            Wanted::Text(..)
            | Wanted::Path
            | Wanted::Lines
            | Wanted::Agent
            | Wanted::Time
            | Wanted::Word(_)
            | Wanted::TrueOrFalse
            | Wanted::Literal(_)
            | Wanted::Number { .. }
            | Wanted::SameAs(_)
            | Wanted::AnyMap
            | Wanted::ShortList(_) => {}
        }
    }
}

pub(super) fn at<'a>(node: &'a Node, path: &[PathStep]) -> Option<&'a Node> {
    path.iter().try_fold(node, |node, step| match step {
        PathStep::Key(key) => node.member(key),
        PathStep::Item(index) => crate::contract::items(node)?.get(*index),
    })
}

fn at_mut<'a>(node: &'a mut Node, path: &[PathStep]) -> Option<&'a mut Node> {
    path.iter().try_fold(node, |node, step| match step {
        PathStep::Key(key) => member_mut(node, key),
        PathStep::Item(index) => item_mut(node, *index),
    })
}

fn member_mut<'a>(node: &'a mut Node, key: &str) -> Option<&'a mut Node> {
    let Node::Map(members) = node else { return None };
    members.iter_mut().find(|(it, _)| it == key).map(|(_, node)| node)
}

/// An item of a list, also of one that XML wrote as a map with a single, repeated key.
fn item_mut(node: &mut Node, index: usize) -> Option<&mut Node> {
    let Node::Map(members) = node else {
        let Node::List(items) = node else { return None };
        return items.get_mut(index);
    };
    let [(_, inner)] = members.as_mut_slice() else { return None };
    match inner {
        Node::List(items) => items.get_mut(index),
        Node::Null | Node::Bool(_) | Node::Number(_) | Node::Text(_) | Node::Map(_) => {
            (index == 0).then_some(inner)
        }
    }
}

/// The items of a list; a single item that XML wrote becomes a list of one.
fn list_mut(node: &mut Node) -> Option<&mut Vec<Node>> {
    let inner = match node {
        Node::Map(members) => &mut members.first_mut()?.1,
        Node::Null | Node::Bool(_) | Node::Number(_) | Node::Text(_) | Node::List(_) => node,
    };
    if inner.kind() != NodeKind::List {
        let items = if inner.is_blank() { Vec::new() } else { vec![inner.clone()] };
        *inner = Node::List(items);
    }
    let Node::List(items) = inner else { return None };
    Some(items)
}

/// Writes a value at a path, making the maps on the way.
fn place(node: &mut Node, path: &[PathStep], value: Node) {
    let Some((step, rest)) = path.split_first() else {
        *node = value;
        return;
    };
    match step {
        PathStep::Item(index) => {
            if let Some(item) = item_mut(node, *index) {
                place(item, rest, value);
            }
        }
        PathStep::Key(key) => {
            if node.kind() != NodeKind::Map {
                *node = Node::Map(Vec::new());
            }
            let Node::Map(members) = node else { return };
            let index = members.iter().position(|(it, _)| it == key).unwrap_or_else(|| {
                members.push((key.clone(), Node::Null));
                members.len() - 1
            });
            place(&mut members[index].1, rest, value);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_read_as_a_problem_writes_it() {
        let key = |it: &str| PathStep::Key(it.to_owned());
        assert_eq!(steps("a"), [key("a")]);
        assert_eq!(
            steps("handoff.context.artifacts[2].path"),
            [key("handoff"), key("context"), key("artifacts"), PathStep::Item(2), key("path")]
        );
        assert_eq!(steps("a[0][1]"), [key("a"), PathStep::Item(0), PathStep::Item(1)]);
    }
}
