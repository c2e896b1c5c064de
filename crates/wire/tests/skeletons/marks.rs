//! Fills in a skeleton as its marks say, word by word, without knowing where it comes from. A mark
//! that it cannot read is a failure.

use baton_core::contract::{Body, items};
use baton_core::document::{Node, Number};

use crate::dice::Dice;

/// Texts that keep every rule about texts.
const TEXTS: &[&str] = &[
    "Moved 3 sessions to PostgreSQL in `src/store.rs`; every test passes",
    "The importer rejects rows without an `id`, and 12 unit tests show it",
    "JWT refresh returns 401 after 15 minutes, measured with `cargo test refresh`",
    "Dashboard widgets load in under 300 ms with TanStack Query; 4 E2E tests pass",
];
const PATHS: &[&str] = &["src/store.rs", "docs/adr/0007.md", "tests/it/refresh.rs"];

/// The document with every mark filled in. Numbers that count come last, when there is what they
/// count.
pub(crate) fn fill(document: &Node, dice: &mut Dice) -> Node {
    let first = filled(document, dice, &|mark, dice| plain(mark, dice));
    let whole = first.clone();
    filled(&first, dice, &|mark, dice| Some(dependent(mark, &whole, dice)))
}

/// The marks that are left in a document.
pub(crate) fn marks(document: &Node) -> Vec<String> {
    match document {
        Node::Null | Node::Bool(_) | Node::Number(_) => Vec::new(),
        Node::Text(text) => head(text).map(|_| text.clone()).into_iter().collect(),
        Node::List(items) => items.iter().flat_map(marks).collect(),
        Node::Map(members) => members.iter().flat_map(|(_, it)| marks(it)).collect(),
    }
}

fn filled(node: &Node, dice: &mut Dice, fill: &dyn Fn(&str, &mut Dice) -> Option<Node>) -> Node {
    match node {
        Node::Null | Node::Bool(_) | Node::Number(_) => node.clone(),
        Node::Text(text) => match head(text) {
            Some(mark) => fill(mark, dice).unwrap_or_else(|| node.clone()),
            None => node.clone(),
        },
        Node::List(items) => Node::List(items.iter().map(|it| filled(it, dice, fill)).collect()),
        Node::Map(members) => {
            let member = |(key, it): &(String, Node)| (key.clone(), filled(it, dice, fill));
            Node::Map(members.iter().map(member).collect())
        }
    }
}

/// What a mark wants: everything before its first colon that is not between backticks.
fn head(text: &str) -> Option<&str> {
    let inside = text.strip_prefix('<')?.strip_suffix('>')?;
    let mut is_quoted = false;
    for (at, it) in inside.char_indices() {
        is_quoted ^= it == '`';
        if !is_quoted && inside[at..].starts_with(": ") {
            return Some(&inside[..at]);
        }
    }
    None
}

fn quoted(head: &str) -> Vec<&str> {
    head.split('`').skip(1).step_by(2).collect()
}

/// A mark that can be filled in by itself; none for one that depends on other parts.
fn plain(mark: &str, dice: &mut Dice) -> Option<Node> {
    let text = |dice: &mut Dice| Node::text(*dice.pick(TEXTS));
    if mark.starts_with("a number") || mark.starts_with("the same as ") {
        return None;
    }
    Some(match mark.strip_suffix(", without quotes") {
        Some("true or false") => Node::Bool(dice.roll(2) == 0),
        Some("true") => Node::Bool(true),
        Some("false") => Node::Bool(false),
        Some("null") => Node::Null,
        Some("a map") => Node::map([("result", text(dice))]),
        Some(list) if list.starts_with("a list of at most ") => {
            let most: usize = list.split(' ').nth(5).unwrap().parse().unwrap();
            Node::List((0..dice.roll(most + 1)).map(|_| text(dice)).collect())
        }
        Some(other) => panic!("no value for `{other}`"),
        None if mark.starts_with("one of ") || mark.starts_with("the word ") => {
            Node::text(*dice.pick(&quoted(mark)))
        }
        None if mark.starts_with("a path relative to the project's root") => {
            Node::text(*dice.pick(PATHS))
        }
        None if mark.starts_with("a range of lines ") => Node::text("src/store.rs:3-9"),
        None if mark.starts_with("the id of an agent such as ")
            || mark.starts_with("a time such as ") =>
        {
            Node::text(quoted(mark)[0])
        }
        None if mark == "text" || mark.starts_with("text ") || mark.starts_with("text,") => {
            let not = mark.split_once(", not ").map_or(Vec::new(), |(_, not)| quoted(not));
            let text = *dice.pick(TEXTS);
            assert!(!not.contains(&text));
            Node::text(text)
        }
        None => panic!("no rule says how to fill in `{mark}`"),
    })
}

/// A number that counts, or a repetition.
fn dependent(mark: &str, document: &Node, dice: &mut Dice) -> Node {
    let body = Body::of(document);
    if let Some(path) = mark.strip_prefix("the same as ") {
        return body.at(quoted(path)[0]).cloned().unwrap();
    }
    let limits = mark.strip_prefix("a number").unwrap_or_else(|| panic!("{mark}"));
    let limits = limits.strip_suffix(", without quotes").unwrap();
    let mut parts = limits.split(", not less than ");
    let most = parts.next().unwrap().strip_prefix(" up to ");
    let most: Option<usize> = most.map(|it| it.parse().unwrap());
    let least = parts.map(|it| count(&body, it)).max().unwrap_or(0);
    let number = most.unwrap_or(least + dice.roll(3)).max(least);
    Node::Number(Number::parse(&number.to_string()).unwrap())
}

/// "1", or "the items of `list` whose `key` is `word`"
fn count(body: &Body<'_>, said: &str) -> usize {
    let names = quoted(said);
    if names.is_empty() {
        return said.parse().unwrap();
    }
    let items = body.at(names[0]).and_then(items).unwrap_or_default();
    let is_counted = |it: &&Node| match names[1..] {
        [key, word] => {
            let attribute = || it.member(&format!("@{key}"));
            it.member(key).or_else(attribute).and_then(Node::scalar_text) == Some(word)
        }
        [] => true,
        _ => panic!("{said}"),
    };
    items.iter().filter(is_counted).count()
}
