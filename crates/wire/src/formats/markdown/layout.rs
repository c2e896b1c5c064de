//! Everything in a Markdown text but the metadata itself.

use baton_core::document::Node;

use super::{MetadataPlace, find, front_matter};
use crate::json;

/// The prose, and the fence where it differs from ours.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct MarkdownLayout {
    pub(super) before: String,
    /// The opening line; without one there are a heading and our own.
    pub(super) open: Option<String>,
    pub(super) close: Option<String>,
    pub(super) after: String,
}

impl MarkdownLayout {
    pub(super) fn of(text: &str, place: &MetadataPlace, metadata: &Node) -> Self {
        let [fence_open, content, fence_close] = place.parts();
        let sign = sign_around(&text[content.clone()], metadata);
        let left = &text[..content.start];
        let (before, open) = match left.strip_suffix(our_open(&sign).as_str()) {
            Some(before) => (before, None),
            None => (&text[..fence_open.start], Some(text[fence_open].to_owned())),
        };
        let right = &text[content.end..];
        let (after, close) = match right.strip_prefix(our_close(&sign).as_str()) {
            Some(after) => (after, None),
            None => (&text[fence_close.end..], Some(text[fence_close].to_owned())),
        };
        Self { before: before.to_owned(), open, close, after: after.to_owned() }
    }

    pub(super) fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    pub(super) fn print(&self, metadata: &Node) -> String {
        let json = match &self.open {
            Some(open) if front_matter::is_rule(open) => front_matter::print(metadata),
            Some(_) | None => json::print_pretty(metadata),
        };
        let sign = "`".repeat(fence_length(&json));
        // A fence in a list item stays in it only while every line is as far to the right.
        let indent = " ".repeat(self.open.as_deref().map_or(0, n_before_sign));
        let json = match indent.as_str() {
            "" => json,
            indent => format!("{indent}{}", json.replace('\n', &format!("\n{indent}"))),
        };
        let mut text = self.before.clone();
        match &self.open {
            Some(open) => text.push_str(open),
            None => text.push_str(&our_open(&sign)),
        }
        // Other tools dislike mixed line endings in one file.
        if text.ends_with("\r\n") {
            text.push_str(&json.replace('\n', "\r\n"));
            text.push_str("\r\n");
        } else {
            text.push_str(&json);
            text.push('\n');
        }
        match &self.close {
            Some(close) => text.push_str(close),
            None => text.push_str(&our_close(&sign)),
        }
        text.push_str(&self.after);
        text
    }

    /// True where the printed text would be read as this same layout.
    pub(super) fn is_faithful(&self, metadata: &Node) -> bool {
        let text = self.print(metadata);
        let Some((place, read)) = find(&text) else { return false };
        read.as_ref() == Ok(metadata) && Self::of(&text, &place, metadata) == *self
    }
}

/// How many characters of an opening line stand before the fence itself.
fn n_before_sign(open: &str) -> usize {
    open.find(['`', '~']).map_or(0, |it| open[..it].chars().count())
}

fn our_open(sign: &str) -> String {
    format!("## Metadata\n\n{sign}json\n")
}

fn our_close(sign: &str) -> String {
    format!("{sign}\n")
}

fn sign_around(content: &str, metadata: &Node) -> String {
    let may_hold_fence = content.contains('`') || content.contains("\\u0060");
    let length = if may_hold_fence { fence_length(&json::print(metadata)) } else { 3 };
    "`".repeat(length)
}

/// Longer than every fence inside, for readers that do not match whole lines.
fn fence_length(json: &str) -> usize {
    let longest = json.split(|it| it != '`').map(str::len).max().unwrap_or(0);
    (longest + 1).max(3)
}
