//! A mark: what belongs in one place of a skeleton, in words that a person or an agent fills in as
//! they say. `docs/contracts.md` has the grammar.

use super::counting::ItemCount;
use crate::contract::Body;
use crate::document::Node;

/// What belongs in one place, and what it is for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct FieldMark {
    pub(super) wanted: Wanted,
    pub(super) about: String,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Wanted {
    /// Text of a kind, and none of these words.
    Text(TextKind, Vec<String>),
    /// The path of a file.
    Path,
    /// Lines of a file: `path:start-end`.
    Lines,
    /// The id of an agent.
    Agent,
    /// A time with its offset.
    Time,
    /// One of these words.
    Word(Vec<String>),
    TrueOrFalse,
    /// `true`, `false` or `null`: nothing else is possible.
    Literal(Node),
    Number {
        least: Option<u32>,
        most: Option<u32>,
        counts: Vec<ItemCount>,
    },
    /// The value at another path.
    SameAs(String),
    /// A map whose members the contract does not name.
    AnyMap,
    /// A list with at most this many items.
    ShortList(usize),
    /// A list of this many items, each of the same form.
    Items(usize, Box<FieldMark>),
    /// A map with these members.
    Members(Vec<(String, FieldMark)>),
}

/// What a text has to be so that the linter takes it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TextKind {
    Any,
    Summary,
    Specific,
    Measurable,
    /// Without a key, a token or a password.
    NoSecret,
    /// Without a person's address or number.
    NoPerson,
    /// Without orders to its reader.
    NoOrders,
}

const GENERIC: &str = "what belongs in ";

/// A text that every rule of the linter takes, to check a skeleton as if it were filled in.
const SAMPLE: &str = "Moved 3 sessions to PostgreSQL in `src/store.rs`; every test passes";
const SAMPLE_PATH: &str = "src/store.rs";
const SAMPLE_LINES: &str = "src/store.rs:1-3";
const SAMPLE_AGENT: &str = "implementer";
const SAMPLE_TIME: &str = "2026-01-31T12:00:00Z";

/// How a mark begins. Everything else between `<` and `>` is the sender's own.
const BEGINNINGS: &[&str] = &[
    "text: ",
    "text, ",
    "text that ",
    "text without ",
    "text of ",
    "a path ",
    "a range of lines ",
    "the id of an agent ",
    "a time ",
    "one of `",
    "the word `",
    "true or false, ",
    "true, ",
    "false, ",
    "null, ",
    "a number",
    "the same as `",
    "a map, ",
    "a list ",
];

/// True for a text that is a mark which was not filled in.
pub(crate) fn is_mark(text: &str) -> bool {
    let inside = text.strip_prefix('<').and_then(|it| it.strip_suffix('>'));
    inside.is_some_and(|it| it.contains(": ") && BEGINNINGS.iter().any(|head| it.starts_with(head)))
}

impl Wanted {
    pub(super) fn words(words: &[&str]) -> Self {
        Self::Word(words.iter().map(|it| (*it).to_owned()).collect())
    }
}

impl FieldMark {
    pub(super) fn new(wanted: Wanted, about: impl Into<String>) -> Self {
        Self { wanted, about: about.into() }
    }

    /// For a field of which no rule says what it is for.
    pub(super) fn generic(kind: TextKind, key: &str) -> Self {
        Self::text(kind, format!("{GENERIC}`{key}`"))
    }

    /// True where nothing is known of the field.
    pub(super) fn is_generic(&self) -> bool {
        self.wanted == Wanted::Text(TextKind::Any, Vec::new()) && self.about.starts_with(GENERIC)
    }

    /// The words to choose from; none where something else is wanted.
    pub(super) fn words(&self) -> Vec<String> {
        if let Wanted::Word(words) = &self.wanted { words.clone() } else { Vec::new() }
    }

    pub(super) fn text(kind: TextKind, about: impl Into<String>) -> Self {
        Self::new(Wanted::Text(kind, Vec::new()), about)
    }

    /// The same, with the text that it replaces. In a map or a list the first mark has it.
    pub(super) fn instead_of(self, refused: &str) -> Self {
        let Self { wanted, about } = self;
        match wanted {
            Wanted::Items(n, each) => {
                Self { wanted: Wanted::Items(n, Box::new(each.instead_of(refused))), about }
            }
            Wanted::Members(mut members) if !members.is_empty() => {
                let (key, first) = members.remove(0);
                members.insert(0, (key, first.instead_of(refused)));
                Self { wanted: Wanted::Members(members), about }
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
            | Wanted::ShortList(_)
            | Wanted::Members(_) => {
                Self { wanted, about: format!("{about}; refused was '{}'", excerpt(refused)) }
            }
        }
    }

    /// As the skeleton shows it.
    pub(super) fn shown(&self) -> Node {
        match &self.wanted {
            Wanted::Items(n, each) => Node::List(vec![each.shown(); *n]),
            Wanted::Members(members) => {
                Node::Map(members.iter().map(|(key, it)| (key.clone(), it.shown())).collect())
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
            | Wanted::ShortList(_) => Node::Text(format!("<{}: {}>", self.head(), self.about)),
        }
    }

    /// What is wanted, in front of the colon.
    fn head(&self) -> String {
        match &self.wanted {
            Wanted::Text(kind, not) if not.is_empty() => kind.words().to_owned(),
            Wanted::Text(kind, not) => format!("{}, not {}", kind.words(), quoted(not, " or ")),
            Wanted::Path => "a path relative to the project's root".to_owned(),
            Wanted::Lines => "a range of lines as `path:start-end`".to_owned(),
            Wanted::Agent => format!("the id of an agent such as `{SAMPLE_AGENT}`"),
            Wanted::Time => format!("a time such as `{SAMPLE_TIME}`"),
            Wanted::Word(words) if words.len() == 1 => format!("the word {}", quoted(words, "")),
            Wanted::Word(words) => format!("one of {}", quoted(words, ", ")),
            Wanted::TrueOrFalse => "true or false, without quotes".to_owned(),
            Wanted::Literal(node) => {
                format!("{}, without quotes", node.scalar_text().unwrap_or("null"))
            }
            Wanted::Number { least, most, counts } => {
                let most = most.map_or(String::new(), |it| format!(" up to {it}"));
                let least = least.map_or(String::new(), |it| format!(", not less than {it}"));
                let counts: String =
                    counts.iter().map(|it| format!(", not less than {}", it.words())).collect();
                format!("a number{most}{least}{counts}, without quotes")
            }
            Wanted::SameAs(path) => format!("the same as `{path}`"),
            Wanted::AnyMap => "a map, without quotes".to_owned(),
            Wanted::ShortList(most) => format!("a list of at most {most} items, without quotes"),
            // These have a mark for each of their parts.
            Wanted::Items(..) | Wanted::Members(_) => String::new(),
        }
    }

    /// A value that does what the mark says, in a document whose other marks are filled in.
    pub(super) fn sample(&self, document: &Node) -> Node {
        match &self.wanted {
            Wanted::Text(..) => Node::text(SAMPLE),
            Wanted::Path => Node::text(SAMPLE_PATH),
            Wanted::Lines => Node::text(SAMPLE_LINES),
            Wanted::Agent => Node::text(SAMPLE_AGENT),
            Wanted::Time => Node::text(SAMPLE_TIME),
            Wanted::Word(words) => Node::text(words.first().map_or("", String::as_str)),
            // Where a check that failed is refused, this finds it out.
            Wanted::TrueOrFalse => Node::Bool(false),
            Wanted::Literal(node) => node.clone(),
            Wanted::Number { least, counts, .. } => {
                let body = Body::of(document);
                let n_items = counts.iter().map(|it| it.n_in(&body)).max().unwrap_or(0);
                let n_items = u64::try_from(n_items).unwrap_or(u64::MAX);
                Node::count(n_items.max(least.map_or(0, u64::from)))
            }
            Wanted::SameAs(path) => {
                Body::of(document).at(path).cloned().unwrap_or_else(|| Node::text(SAMPLE))
            }
            Wanted::AnyMap => Node::map([("note", Node::text(SAMPLE))]),
            Wanted::ShortList(_) => Node::List(Vec::new()),
            Wanted::Items(n, each) => Node::List(vec![each.sample(document); *n]),
            Wanted::Members(members) => {
                let member = |(key, it): &(String, FieldMark)| (key.clone(), it.sample(document));
                Node::Map(members.iter().map(member).collect())
            }
        }
    }
}

impl TextKind {
    fn words(self) -> &'static str {
        match self {
            TextKind::Any => "text",
            TextKind::Summary => {
                "text of 1 to 3 sentences, at most 600 characters, with names, numbers or paths"
            }
            TextKind::Specific => "text that names files, functions, numbers or results",
            TextKind::Measurable => {
                "text that can be checked, with a number, a command or a result"
            }
            TextKind::NoSecret => "text without a key, a token or a password",
            TextKind::NoPerson => "text without the address or number of a person",
            TextKind::NoOrders => "text without orders to its reader",
        }
    }
}

/// What filling in a mark as it says would give, for a mark that came back as it was.
pub(super) fn sample_of_mark(mark: &str) -> Node {
    let inside = mark.trim_start_matches('<');
    let begins = |head: &str| inside.starts_with(head);
    if begins("true, ") {
        Node::Bool(true)
    } else if begins("false") || begins("true or false") {
        Node::Bool(false)
    } else if begins("null") {
        Node::Null
    } else if begins("a number") {
        Node::count(least_of_mark(inside))
    } else if begins("a map") {
        Node::map([("note", Node::text(SAMPLE))])
    } else if begins("a list") {
        Node::List(Vec::new())
    } else if begins("one of") || begins("the word") {
        Node::text(inside.split('`').nth(1).unwrap_or_default())
    } else if begins("a path") {
        Node::text(SAMPLE_PATH)
    } else if begins("a range") {
        Node::text(SAMPLE_LINES)
    } else if begins("the id of an agent") {
        Node::text(SAMPLE_AGENT)
    } else if begins("a time") {
        Node::text(SAMPLE_TIME)
    } else {
        Node::text(SAMPLE)
    }
}

/// The least value that the mark of a number names.
fn least_of_mark(inside: &str) -> u64 {
    let said = inside.split(": ").next().unwrap_or_default().split(", not less than ").skip(1);
    said.filter_map(|it| it.split(',').next()?.parse().ok()).max().unwrap_or(0)
}

fn quoted(words: &[String], between: &str) -> String {
    let words: Vec<String> = words.iter().map(|it| format!("`{it}`")).collect();
    words.join(between)
}

/// Enough to recognize a refused text by.
const MOST_EXCERPT: usize = 160;

fn excerpt(text: &str) -> String {
    let line: Vec<&str> = text.split_whitespace().collect();
    let line = line.join(" ");
    if line.len() <= MOST_EXCERPT {
        return line;
    }
    format!("{}…", &line[..line.floor_char_boundary(MOST_EXCERPT)])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_mark_is_known_as_one_until_it_is_filled_in() {
        let words = |words: &[&str]| words.iter().map(|it| (*it).to_owned()).collect::<Vec<_>>();
        let kinds = [
            TextKind::Any,
            TextKind::Summary,
            TextKind::Specific,
            TextKind::Measurable,
            TextKind::NoSecret,
            TextKind::NoPerson,
            TextKind::NoOrders,
        ];
        let count = ItemCount { list: "issues".to_owned(), only: None };
        let mut wanted: Vec<Wanted> =
            kinds.into_iter().map(|it| Wanted::Text(it, Vec::new())).collect();
        wanted.extend([
            Wanted::Text(TextKind::Any, words(&["false"])),
            Wanted::Path,
            Wanted::Lines,
            Wanted::Word(words(&["a"])),
            Wanted::Word(words(&["a", "b"])),
            Wanted::TrueOrFalse,
            Wanted::Literal(Node::Bool(true)),
            Wanted::Literal(Node::Bool(false)),
            Wanted::Literal(Node::Null),
            Wanted::Number { least: None, most: None, counts: Vec::new() },
            Wanted::Number { least: None, most: Some(0), counts: vec![count] },
            Wanted::Number { least: Some(1), most: Some(65535), counts: Vec::new() },
            Wanted::Agent,
            Wanted::Time,
            Wanted::SameAs("a.b".to_owned()),
            Wanted::AnyMap,
            Wanted::ShortList(2),
        ]);
        for wanted in wanted {
            let mark = FieldMark::new(wanted, "a/b = \"c\"").instead_of("x < y\nand\ty > z");
            let Node::Text(text) = mark.shown() else { panic!("{mark:?}") };
            assert!(is_mark(&text), "{text}");
            let sample = mark.sample(&Node::map([]));
            assert!(!sample.as_text().is_some_and(is_mark), "{sample:?}");
        }
        for own in ["<text>", "<text field='a: b'/>", "text: a", "<a: b>", "<numbers: 1>"] {
            assert!(!is_mark(own), "{own}");
        }
    }
}
