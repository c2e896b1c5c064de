//! A person's address or number in a reason. Reasons are shown to everyone and kept for good.

use super::rule::LintRule;
use super::sink::Sink;
use super::texts::Trail;

/// The fields that hold reasons.
pub(super) const REASONS: &[&str] = &["reason", "rejection_reason", "feedback"];

/// Accounts that belong to no person, and domains that are used in examples.
const ROLE_NAMES: &[&str] = &["git", "noreply", "no-reply", "root", "admin", "support", "security"];
const NOWHERE: &[&str] = &["example.com", "example.org", "example.net", "localhost"];
const NOWHERE_ENDS: &[&str] = &[".example", ".test", ".invalid", ".localhost", ".local"];

/// Fewer digits are a build or a ticket number rather than a telephone number.
const LEAST_DIGITS: usize = 9;

pub(super) fn check(text: &str, trail: &Trail<'_>, sink: &mut Sink) {
    let what = if text.split(is_around).any(is_address) {
        "an e-mail address"
    } else if has_telephone(text) {
        "a telephone number"
    } else {
        return;
    };
    sink.say(LintRule::PersonalData, trail.to_string(), format!("holds {what}"));
}

fn is_around(it: char) -> bool {
    it.is_whitespace()
        || matches!(it, '<' | '>' | '(' | ')' | '[' | ']' | ',' | ';' | '"' | '\'' | '`')
}

fn is_address(word: &str) -> bool {
    let word = word.trim_end_matches(['.', ':', '!', '?']).trim_start_matches("mailto:");
    let Some((name, domain)) = word.split_once('@') else { return false };
    let is_name = |it: char| it.is_alphanumeric() || matches!(it, '.' | '_' | '+' | '-');
    let is_domain = |it: char| it.is_alphanumeric() || matches!(it, '.' | '-');
    let Some((host, end)) = domain.rsplit_once('.') else { return false };
    let domain = domain.to_ascii_lowercase();
    !name.is_empty()
        && name.chars().all(is_name)
        && !host.is_empty()
        && domain.chars().all(is_domain)
        && end.len() >= 2
        && end.chars().all(char::is_alphabetic)
        && !ROLE_NAMES.iter().any(|it| it.eq_ignore_ascii_case(name))
        && !NOWHERE.contains(&domain.as_str())
        && !NOWHERE_ENDS.iter().any(|it| domain.ends_with(it))
}

/// A number in the international form: `+46 70 123 45 67`.
fn has_telephone(text: &str) -> bool {
    text.match_indices('+').any(|(at, _)| {
        let starts = !text[..at].ends_with(|it: char| it.is_alphanumeric());
        let rest = &text[at + 1..];
        let is_part = |it: char| it.is_ascii_digit() || matches!(it, ' ' | '-' | '(' | ')' | '/');
        let (number, after) = rest.split_at(rest.find(|it| !is_part(it)).unwrap_or(rest.len()));
        let n_digits = number.bytes().filter(u8::is_ascii_digit).count();
        starts
            && rest.starts_with(|it: char| it.is_ascii_digit())
            && (LEAST_DIGITS..=15).contains(&n_digits)
            && !after.starts_with(|it: char| it.is_alphanumeric())
            && !is_date(number.trim_end())
    })
}

/// A day in a year of more than four digits, as ISO 8601 writes it: `+275760-09-13`.
fn is_date(number: &str) -> bool {
    let fields: Vec<&str> = number.split('-').collect();
    let is_number = |it: &&str| it.bytes().all(|it| it.is_ascii_digit());
    matches!(fields.as_slice(), [year, month, day] if year.len() == 6 && month.len() == 2 && day.len() == 2)
        && fields.iter().all(is_number)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn people_are_told_from_machines_and_examples() {
        for person in
            ["ask petra.l@kontor.de", "<j+x@mail.org>", "mailto:a@b.io.", "+46 70 123 45 67"]
        {
            assert!(person.split(is_around).any(is_address) || has_telephone(person), "{person}");
        }
        for text in [
            "git@github.com:acme/shop",
            "noreply@github.com",
            "user@example.com",
            "a@b",
            "@types/node",
            "left-pad@1.3.0",
            "+1 to this",
            "c++ 20240101",
            "1+12345678",
            "@acme/forms 3.2.0",
            "+12 tests",
            "build +20260402",
            "a Date ends at +275760-09-13",
            "new Date(\"+275361-01-01T00:00:00Z\")",
        ] {
            assert!(!text.split(is_around).any(is_address) && !has_telephone(text), "{text}");
        }
    }
}
