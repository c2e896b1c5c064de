//! Numbers that cannot be: a port above 65535, an issue number below 1, a coverage of 340 %.

use super::blanks::is_placeholder;
use super::rule::LintRule;
use super::sink::Sink;
use crate::contract::Body;
use crate::document::kind::DocumentKind;
use crate::view::read::text;

#[derive(Clone, Copy)]
enum NumberKind {
    /// 1 and up: the number of an issue.
    Ordinal,
    /// 0 and up.
    Count,
    /// 1 to 65535.
    Port,
    /// 0 to 100, with or without `%`.
    Percent,
}

/// Fields whose values are numbers in the XML handoff, and nothing else.
const XML: &[(&str, NumberKind)] = &[
    ("issue_number", NumberKind::Ordinal),
    ("pr_number", NumberKind::Ordinal),
    ("port", NumberKind::Port),
    ("critical_count", NumberKind::Count),
    ("important_count", NumberKind::Count),
    ("suggestion_count", NumberKind::Count),
    ("commits_added", NumberKind::Count),
    ("metrics.review_iterations", NumberKind::Count),
    ("metrics.total_commits", NumberKind::Count),
];

/// Those of them that there may be nothing for.
const OPTIONAL: &[&str] = &["pr_number", "port"];

/// What says so.
const NOTHING: &[&str] = &["none", "not applicable", "n/a"];

/// Fields of any document that may hold something else too; only a number is judged.
const ANY: &[(&str, NumberKind)] = &[
    ("files_changed", NumberKind::Count),
    ("tests_added", NumberKind::Count),
    ("metrics.tests_added", NumberKind::Count),
    ("learnings_added", NumberKind::Count),
    ("gotchas_added", NumberKind::Count),
    ("coverage", NumberKind::Percent),
    ("metrics.coverage", NumberKind::Percent),
    ("validation_summary.coverage", NumberKind::Percent),
    ("verification.coverage", NumberKind::Percent),
    ("verification.coverage_percent", NumberKind::Percent),
    ("context.verification.coverage_percent", NumberKind::Percent),
];

pub(super) fn check(body: &Body<'_>, kind: DocumentKind, sink: &mut Sink) {
    let of_xml = match kind {
        DocumentKind::XmlHandoff | DocumentKind::WorkflowComplete => XML,
        DocumentKind::MetadataBlock(_)
        | DocumentKind::YamlHandoff
        | DocumentKind::YamlGate
        | DocumentKind::Acknowledgement(_)
        | DocumentKind::Other(_)
        | DocumentKind::Payload => &[],
    };
    let judge = |path: &str, kind: NumberKind, other: Other, sink: &mut Sink| {
        let Some(word) = body.fields().at(path).and_then(text).map(str::trim) else { return };
        let is_nothing = OPTIONAL.contains(&path)
            && NOTHING.iter().any(|it| word.to_ascii_lowercase().starts_with(it));
        let is_judged = !word.is_empty() && !is_placeholder(word) && !is_nothing;
        if is_judged && !kind.holds(word, other) {
            sink.say_once(LintRule::ImpossibleNumber, body.field_path(path), kind.message());
        }
    };
    if !of_xml.is_empty() {
        addresses(body, sink);
    }
    for (path, kind) in of_xml {
        judge(path, *kind, Other::Wrong, sink);
    }
    for (path, kind) in ANY {
        judge(path, *kind, Other::Fine, sink);
    }
}

/// Each number that has the address of the same thing.
const ADDRESSES: &[(&str, &str)] = &[("issue_number", "issue_url"), ("pr_number", "pr_url")];

/// A number and the address of the same thing.
fn addresses(body: &Body<'_>, sink: &mut Sink) {
    for (number, address) in ADDRESSES {
        let at = |path: &str| body.fields().member(path).and_then(text).map(str::trim);
        let (Some(number_there), Some(address)) = (at(number), at(address)) else { continue };
        let Some(last) = last_number(address) else { continue };
        let plain = |it: &str| it.trim_start_matches('0').to_owned();
        if is_digits(number_there) && plain(last) != plain(number_there) {
            let message = "is not the number in its address";
            sink.say_once(LintRule::NumberMismatch, body.field_path(number), message);
        }
    }
}

fn is_digits(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|it| it.is_ascii_digit())
}

/// The digits at the end of an address.
fn last_number(address: &str) -> Option<&str> {
    let last = address.trim_end_matches('/').rsplit('/').next()?;
    is_digits(last).then_some(last)
}

/// The field with the address of what the field at a path numbers, and the number at its end.
pub(crate) fn number_in_address(
    body: &Body<'_>,
    path: &str,
) -> Option<(&'static str, Option<u32>)> {
    let (_, address) = ADDRESSES.iter().find(|(number, _)| *number == path)?;
    let there = body.fields().member(address).and_then(text).map(str::trim);
    Some((address, there.and_then(last_number).and_then(|it| it.parse().ok())))
}

/// The least and the greatest value of the number at a path, counted from the fields of a document.
pub(crate) fn bounds(path: &str) -> (Option<u32>, Option<u32>) {
    let kind = XML.iter().chain(ANY).find(|(field, _)| *field == path).map(|(_, kind)| *kind);
    match kind {
        Some(NumberKind::Ordinal) => (Some(1), None),
        Some(NumberKind::Port) => (Some(1), Some(65535)),
        Some(NumberKind::Percent) => (None, Some(100)),
        Some(NumberKind::Count) | None => (None, None),
    }
}

/// What a text means that is no number.
#[derive(Clone, Copy)]
enum Other {
    Fine,
    Wrong,
}

impl NumberKind {
    fn holds(self, word: &str, other: Other) -> bool {
        let digits = match self {
            NumberKind::Percent => word.trim_end_matches('%').trim_end(),
            NumberKind::Ordinal | NumberKind::Count | NumberKind::Port => word,
        };
        let Some(number) = digits.parse::<f64>().ok().filter(|it| it.is_finite()) else {
            return match other {
                Other::Fine => true,
                Other::Wrong => false,
            };
        };
        let is_whole = number.fract() == 0.0 && number < 1e15;
        match self {
            NumberKind::Ordinal => is_whole && number >= 1.0,
            NumberKind::Count => is_whole && number >= 0.0,
            NumberKind::Port => is_whole && (1.0..=65535.0).contains(&number),
            NumberKind::Percent => (0.0..=100.0).contains(&number),
        }
    }

    fn message(self) -> &'static str {
        match self {
            NumberKind::Ordinal => "is not a whole number above 0",
            NumberKind::Count => "is not a whole number of 0 or more",
            NumberKind::Port => "is not a port from 1 to 65535",
            NumberKind::Percent => "is not a share from 0 to 100 %",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_judged_by_what_they_count() {
        use NumberKind::{Count, Ordinal, Percent, Port};
        for (kind, good) in [(Ordinal, "123"), (Count, "0"), (Port, "3100"), (Percent, "96%")] {
            assert!(kind.holds(good, Other::Wrong), "{good}");
        }
        for (kind, bad) in [
            (Ordinal, "0"),
            (Ordinal, "-4.5"),
            (Ordinal, "abc"),
            (Count, "-1"),
            (Count, "2.5"),
            (Port, "99999999"),
            (Port, "0"),
            (Percent, "340"),
            (Percent, "-1 %"),
        ] {
            assert!(!kind.holds(bad, Other::Wrong), "{bad}");
        }
        assert!(Percent.holds("most of it", Other::Fine));
    }
}
