//! Damaged texts for every reader. The usual run is short and always the same; `cargo xtask fuzz`
//! makes the same run as long as one likes, from another seed.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::{Duration, Instant};

use baton_core::document::Node;
use baton_wire::extract::extract;
use baton_wire::formats::{self, Format};
use baton_wire::json::MOST_BYTES;

use crate::fixtures;

/// What is tried, by the name that `cargo xtask fuzz` knows.
#[derive(Clone, Copy)]
struct Target {
    name: &'static str,
    check: fn(&[u8]),
}

const TARGETS: [Target; 5] = [
    Target { name: "json", check: |bytes| check_reader(Format::Json, bytes) },
    Target { name: "xml", check: |bytes| check_reader(Format::Xml, bytes) },
    Target { name: "yaml", check: |bytes| check_reader(Format::Yaml, bytes) },
    Target { name: "markdown", check: |bytes| check_reader(Format::Markdown, bytes) },
    Target { name: "extract", check: check_extract },
];

/// Whatever is read can be printed in every format and comes back, and no text grows into a tree
/// that is much larger than itself.
fn check_reader(format: Format, bytes: &[u8]) {
    let Ok(document) = formats::decode_bytes(format, bytes) else { return };
    assert!(weight(&document) <= 8 * bytes.len() + 64, "the tree is larger than its text");
    for format in Format::ALL {
        let text = formats::encode(&document, format);
        if text.len() <= MOST_BYTES {
            assert_eq!(formats::decode(format, &text).as_ref(), Ok(&document), "{text}");
        }
    }
}

/// Whatever is found stands in the output, in order.
fn check_extract(bytes: &[u8]) {
    let output = String::from_utf8_lossy(bytes);
    let mut end = 0;
    for found in extract(&output) {
        assert!(found.span.start >= end, "two finds overlap");
        assert!(output.get(found.span.clone()).is_some(), "a find is cut within a character");
        end = found.span.end;
    }
}

/// About how many bytes a tree holds.
fn weight(node: &Node) -> usize {
    match node {
        Node::Null | Node::Bool(_) => 1,
        Node::Number(number) => 1 + number.as_str().len(),
        Node::Text(text) => 1 + text.len(),
        Node::List(items) => 1 + items.iter().map(weight).sum::<usize>(),
        Node::Map(members) => {
            1 + members.iter().map(|(key, it)| key.len() + weight(it)).sum::<usize>()
        }
    }
}

/// SplitMix64: small, fast, and the same everywhere.
struct Dice(u64);

impl Dice {
    fn roll(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut it = self.0;
        it = (it ^ (it >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        it = (it ^ (it >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        it ^ (it >> 31)
    }

    fn below(&mut self, most: usize) -> usize {
        usize::try_from(self.roll() % most.max(1) as u64).unwrap()
    }

    fn pick<'a, T>(&mut self, items: &'a [T]) -> &'a T {
        &items[self.below(items.len())]
    }
}

/// What the readers look for.
const PIECES: [&str; 44] = [
    "<",
    ">",
    "/>",
    "</",
    "<a>",
    "</a>",
    "<!--",
    "-->",
    "<![CDATA[",
    "]]>",
    "&lt;",
    "&#10;",
    "&#x1;",
    "&",
    " baton-type=\"number\"",
    " baton-key=\"a\\\\\"",
    " baton-list=\"one\"",
    "<handoff>",
    "</handoff>",
    "{",
    "}",
    "[",
    "]",
    "\"",
    "\\u0001",
    "\\",
    ":",
    ": ",
    "- ",
    "? ",
    "|\n",
    ">-\n",
    "#",
    "\"#order\":[\"a\"],",
    "\"#markdown\":{\"before\":\"x\\n\"},",
    "```json\n",
    "```\n",
    "~~~\n",
    "## Metadata\n",
    "\n",
    "\r\n",
    " ",
    "\t",
    "\u{FEFF}",
];

fn damaged(dice: &mut Dice, texts: &[Vec<u8>]) -> Vec<u8> {
    let mut bytes = dice.pick(texts).clone();
    for _ in 0..=dice.below(6) {
        let at = dice.below(bytes.len() + 1);
        let end = (at + dice.below(40)).min(bytes.len());
        match dice.below(7) {
            0 if at < bytes.len() => bytes[at] ^= 1 << dice.below(8),
            1 => _ = bytes.drain(at..end),
            2 => {
                let slice = bytes[at..end].to_vec();
                let to = dice.below(bytes.len() + 1);
                bytes.splice(to..to, slice);
            }
            3 => bytes.truncate(at),
            4 => {
                let other = dice.pick(texts);
                let from = dice.below(other.len() + 1);
                let slice = other[from..].iter().take(60).copied();
                bytes.splice(at..end, slice);
            }
            _ => {
                let piece = dice.pick(&PIECES).bytes();
                bytes.splice(at..at, piece);
            }
        }
    }
    bytes
}

/// The examples of a format, or of all of them.
fn texts(target: &str) -> Vec<Vec<u8>> {
    let is_wanted = |it: &fixtures::Fixture| target == "extract" || it.format.name() == target;
    let all: Vec<Vec<u8>> =
        fixtures::all().into_iter().filter(is_wanted).map(|it| it.text.into_bytes()).collect();
    assert!(!all.is_empty());
    all
}

/// Runs one target on damaged texts for as long as `goes_on`; gives how many there were.
fn run(target: Target, seed: u64, goes_on: impl Fn(u64) -> bool) -> u64 {
    let Target { name, check } = target;
    let texts = texts(name);
    let mut dice = Dice(seed);
    let mut n_texts = 0;
    while goes_on(n_texts) {
        let bytes = damaged(&mut dice, &texts);
        if catch_unwind(AssertUnwindSafe(|| check(&bytes))).is_err() {
            panic!("{name}, seed {seed}, text {n_texts}: {:?}", String::from_utf8_lossy(&bytes));
        }
        n_texts += 1;
    }
    n_texts
}

/// Enough to find what is often wrong; `cargo xtask fuzz` looks longer.
const N_TEXTS: u64 = 3_000;

#[test]
#[expect(clippy::print_stdout, reason = "of a long run somebody wants to see something")]
#[expect(clippy::disallowed_methods, reason = "`cargo xtask fuzz` has no other way to say it")]
fn damaged_examples_are_read_or_refused_and_never_worse() {
    let told = |name: &str| std::env::var(name).ok();
    let seconds = told("BATON_FUZZ_SECONDS").map(|it| Duration::from_secs(it.parse().unwrap()));
    let seed: u64 = told("BATON_FUZZ_SEED").map_or(1, |it| it.parse().unwrap());
    let only = told("BATON_FUZZ_TARGET");
    for target in TARGETS.into_iter().filter(|it| only.as_ref().is_none_or(|only| it.name == only))
    {
        println!("{}: seed {seed}", target.name);
        let start = Instant::now();
        let n_texts = run(target, seed, |n_texts| match seconds {
            Some(seconds) => start.elapsed() < seconds,
            None => n_texts < N_TEXTS,
        });
        println!("{}: {n_texts} texts, nothing found", target.name);
    }
}
