//! Criteria and constraints that cannot be checked: "quickly", "good code", "works as expected".

use super::rule::LintRule;
use super::sink::Sink;
use super::tokens::{Table, is_word, unquoted, unquoted_words};
use super::vague::is_empty;
use crate::contract::{Body, items};
use crate::document::Node;

pub(super) const CRITERIA: &[&str] = &[
    "expectations.success_criteria",
    "success_criteria",
    "acceptance_criteria",
    "expectations.acceptance_criteria",
    "definition_of_done",
];
/// Both.
pub(super) const MEASURED: &[&str] = &[
    "expectations.success_criteria",
    "expectations.constraints",
    "success_criteria",
    "acceptance_criteria",
    "expectations.acceptance_criteria",
    "definition_of_done",
    "constraints",
];
pub(super) const CONSTRAINTS: &[&str] = &["expectations.constraints", "constraints"];

/// Words without an agreed meaning.
#[rustfmt::skip]
static VAGUE: Table = Table::new(&[
    "acceptable", "adequate", "adequately", "appropriate", "appropriately", "asap", "attractive",
    "beautiful", "best", "better", "bug-free", "clean", "cleaner", "cleanly", "correct",
    "correctly", "decent", "easily", "easy", "efficient", "efficiently", "elegant", "fast",
    "faster", "fine", "flexible", "good", "great", "high-quality", "intuitive", "lightweight",
    "maintainable", "modern", "nice", "nicely", "nicer", "noticeably", "optimal", "optimized",
    "performant", "pleasant", "pretty", "professional", "professionally", "proper", "properly",
    "quick", "quickly", "reasonable", "reasonably", "reliable", "responsive", "robust",
    "robustly", "scalable", "seamless", "seamlessly", "sensible", "seriously", "significantly",
    "simple", "slick", "smooth", "smoothly", "soon", "state-of-the-art", "suffer", "sufficient",
    "sufficiently", "user-friendly", "well",
]);

/// Words that announce an observable result.
static RESULTS: Table = Table::new(&[
    "pass", "passes", "passing", "fails", "returns", "rejects", "refuses", "compiles", "exits",
    "equals", "matches", "raises", "answers", "green", "zero", "without",
]);

/// A statement about each of them can be checked one by one.
const COUNTING: &[&str] = &["every", "each", "no", "none", "one"];

pub(super) fn check(body: &Body<'_>, sink: &mut Sink) {
    for path in CRITERIA {
        each(body, path, |text| is_unmeasurable(text) || is_empty_talk(text), sink);
    }
    for path in CONSTRAINTS {
        each(body, path, is_unmeasurable, sink);
    }
}

fn each(body: &Body<'_>, path: &str, is_bad: impl Fn(&str) -> bool, sink: &mut Sink) {
    let Some(node) = body.fields().at(path) else { return };
    let mut tell = |text: Option<&str>, path: &dyn Fn() -> String| {
        let text = text.map(str::trim).filter(|it| !it.is_empty());
        let text = text.filter(|it| !super::blanks::is_placeholder(it));
        if text.is_some_and(&is_bad) {
            sink.say(LintRule::Unmeasurable, path(), "cannot be measured");
        }
    };
    match items(node) {
        Some(items) => {
            for (index, item) in items.iter().enumerate() {
                tell(said(item), &|| format!("{}[{index}]", body.field_path(path)));
            }
        }
        None => tell(node.as_text(), &|| body.field_path(path)),
    }
}

/// A criterion may be a map with further fields.
fn said(item: &Node) -> Option<&str> {
    let named =
        || ["criterion", "constraint", "text", "description"].iter().find_map(|it| item.member(it));
    item.as_text().or_else(|| named()?.as_text())
}

fn is_unmeasurable(text: &str) -> bool {
    unquoted_words(text).any(|it| VAGUE.has(it)) && !is_measured(text)
}

fn is_empty_talk(text: &str) -> bool {
    let is_about_all = || unquoted_words(text).any(|it| is_word(it, COUNTING));
    is_empty(text) && !is_about_all() && !is_measured(text)
}

/// A number, a comparison, a literal quotation, or a result.
fn is_measured(text: &str) -> bool {
    text.bytes().any(|it| it.is_ascii_digit() || matches!(it, b'<' | b'>' | b'=' | b'%' | b'`'))
        || unquoted(text).count() > 1
        || unquoted_words(text).any(|it| RESULTS.has(it))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_can_be_measured_is_told_from_what_cannot() {
        for bad in [
            "Write good code",
            "Finish quickly",
            "The code should be clean and maintainable",
            "Works as expected",
            "It is done",
            "Handle errors properly",
            "Everything works",
            "User-friendly interface",
            "As fast as possible",
        ] {
            assert!(is_unmeasurable(bad) || is_empty_talk(bad), "{bad}");
        }
        for good in [
            "Unit tests > 80% coverage",
            "No OWASP Top 10 vulnerabilities",
            "Build passes in CI",
            "No unaddressed critical risks",
            "Every story has a part",
            "Focus on authentication and sensitive data",
            "Good means p99 under 20 ms",
            "Keep the text \"retry quickly\"",
            "All tests pass",
            "Answers fast: under 300 ms",
            "`cargo clippy` is clean",
        ] {
            assert!(!is_unmeasurable(good) && !is_empty_talk(good), "{good}");
        }
    }
}
