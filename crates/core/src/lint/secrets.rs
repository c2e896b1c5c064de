//! Keys, tokens and passwords in a text. They are found by their form, and never printed.

use std::ops::Range;

use super::marks::CharMarks;
use super::rule::LintRule;
use super::sink::Sink;
use super::texts::Trail;

/// Prefixes of the keys of well-known services, and the minimum number of characters after each.
const PREFIXES: &[(&str, usize)] = &[
    ("sk-", 20),
    ("sk_live_", 16),
    ("rk_live_", 16),
    ("ghp_", 36),
    ("gho_", 36),
    ("ghu_", 36),
    ("ghs_", 36),
    ("ghr_", 36),
    ("github_pat_", 22),
    ("glpat-", 20),
    ("xoxb-", 20),
    ("xoxp-", 20),
    ("xoxa-", 20),
    ("xoxs-", 20),
    ("npm_", 36),
    ("pypi-", 40),
    ("AIza", 35),
    ("hf_", 30),
    ("AKIA", 16),
    ("ASIA", 16),
];

/// The first letters of the prefixes; a test keeps it in step.
const PREFIX_LETTERS: &[u8] = b"srgxnpAh";

/// Names whose value is a secret, as in `password=...`, without regard to case.
const NAMES: &[&str] = &[
    "password",
    "passwd",
    "pwd",
    "secret",
    "token",
    "api_key",
    "apikey",
    "api-key",
    "access_key",
    "secret_key",
    "client_secret",
    "auth_token",
    "access_token",
    "private_key",
];

/// Placeholders for a secret.
const STAND_INS: &[&str] =
    &["example", "redacted", "changeme", "placeholder", "your", "dummy", "xxxx"];

/// Longer than any token; it also bounds the work.
const MOST_VALUE: usize = 512;

/// A private key's header line fits in this many bytes.
const MOST_HEADING: usize = 100;

/// A shorter text cannot hold a key of any kind.
const LEAST_BYTES: usize = 12;

pub(super) fn check(text: &str, marks: CharMarks, trail: &Trail<'_>, sink: &mut Sink) {
    if let Some(what) = found(text, marks) {
        sink.say(LintRule::Secret, trail.to_string(), format!("holds {what}"));
    } else if marks.has(CharMarks::DIGIT) && is_name(trail.key()) && is_random(text.trim(), 12) {
        sink.say(LintRule::Secret, trail.to_string(), "holds what its name calls a secret");
    }
}

/// A key of a map that is or holds a secret. It is never repeated: [`Trail`] shows it as `?`.
pub(super) fn check_key(key: &str, trail: &Trail<'_>, sink: &mut Sink) {
    if let Some(what) = in_key(key) {
        sink.say(LintRule::Secret, trail.to_string(), format!("is a key that holds {what}"));
    }
}

/// What secret a key of a map holds.
pub(super) fn in_key(key: &str) -> Option<&'static str> {
    found(key, CharMarks::of(key))
}

/// What secret a text holds. Of each kind it is known which marks it cannot do without, and most
/// texts have none of them.
fn found(text: &str, marks: CharMarks) -> Option<&'static str> {
    if text.len() < LEAST_BYTES {
        return None;
    }
    (marks.has(CharMarks::DASH).then(|| private_key(text)).flatten())
        .or_else(|| marks.has(CharMarks::DIGIT).then(|| token(text)).flatten())
        .or_else(|| {
            marks.has(CharMarks::COLON | CharMarks::AT).then(|| password_in_address(text))?
        })
        .or_else(|| {
            marks.has(CharMarks::COLON | CharMarks::DASH).then(|| password_in_command(text))?
        })
        .map(|(_, what)| what)
}

/// The text with every secret redacted.
pub fn redacted(text: &str) -> String {
    let mut clean = text.to_owned();
    for finder in FINDERS {
        clean = replaced(&clean, finder);
    }
    clean
}

type Found = (Range<usize>, &'static str);
const FINDERS: [fn(&str) -> Option<Found>; 4] =
    [private_key, token, password_in_address, password_in_command];

fn replaced(text: &str, finder: fn(&str) -> Option<Found>) -> String {
    let mut clean = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((place, _)) = finder(rest) {
        clean.push_str(&rest[..place.start]);
        clean.push_str("[redacted]");
        rest = &rest[place.end..];
    }
    clean.push_str(rest);
    clean
}

fn private_key(text: &str) -> Option<Found> {
    for (start, _) in text.match_indices("-----BEGIN ") {
        let head = &text[start..];
        // Cut before the search: there may be many of these on one long line.
        let line = &head[..head.floor_char_boundary(MOST_HEADING)];
        let line = &line[..line.find('\n').unwrap_or(line.len())];
        if !line.contains("PRIVATE KEY") {
            continue;
        }
        let end = head.find("-----END ").and_then(|at| Some(at + head[at..].find("KEY-----")? + 8));
        return Some((start..start + end.unwrap_or(head.len()), "a private key"));
    }
    None
}

/// A run of key characters, classified by its prefix and by the text before it.
fn token(text: &str) -> Option<Found> {
    let bytes = text.as_bytes();
    let mut at = 0;
    while at < bytes.len() {
        if !is_part(bytes[at]) {
            at += 1;
            continue;
        }
        let start = at;
        while at < bytes.len() && is_part(bytes[at]) {
            at += 1;
        }
        if at - start < 8 {
            continue;
        }
        if let Some((end, what)) = judge(text, start, at) {
            return Some((start..end, what));
        }
    }
    None
}

fn is_part(it: u8) -> bool {
    it.is_ascii_alphanumeric() || it == b'_' || it == b'-'
}

fn judge(text: &str, start: usize, end: usize) -> Option<(usize, &'static str)> {
    let run = &text[start..end];
    let is_key = |(prefix, least): &(&str, usize)| {
        run.strip_prefix(prefix).is_some_and(|it| it.len() >= *least && is_random(it, 0))
    };
    if PREFIX_LETTERS.contains(&run.as_bytes()[0])
        && PREFIXES.iter().any(is_key)
        && !is_stand_in(run)
    {
        return Some((end, "a key or token"));
    }
    if run.starts_with("eyJ") && run.len() >= 10 {
        return web_token(text, end).map(|end| (end, "a signed token"));
    }
    // `token=…`, `"password": "…"` and `Bearer …`: the text before the value says what it is.
    let before = text[..start].trim_end_matches(['"', '\'', ' ']);
    if let Some(name) = before.strip_suffix(['=', ':']) {
        let end = start + value_length(&text[start..]);
        let is_secret = is_name(last_name(name)) && is_random(&text[start..end], 10);
        return is_secret.then_some((end, "a password or token"));
    }
    if before.ends_with(['r', 'R']) && ends_with_word(before, "bearer") {
        let end = start + value_length(&text[start..]);
        return is_random(&text[start..end], 20).then_some((end, "a bearer token"));
    }
    None
}

/// `DB_PASSWORD` out of `export DB_PASSWORD`.
fn last_name(text: &str) -> &str {
    let text = text.trim_end_matches(['"', '\'', ' ']);
    let is_part = |it: char| it.is_ascii_alphanumeric() || matches!(it, '_' | '-');
    text.rfind(|it| !is_part(it)).map_or(text, |at| {
        let after = text[at..].chars().next().map_or(0, char::len_utf8);
        &text[at + after..]
    })
}

/// The length of a value: base 64 has more characters than a key.
fn value_length(text: &str) -> usize {
    let is_value = |it: char| {
        it.is_ascii_alphanumeric() || matches!(it, '_' | '-' | '.' | '+' | '/' | '=' | '~' | '!')
    };
    let text = &text[..text.floor_char_boundary(MOST_VALUE)];
    text.find(|it| !is_value(it)).unwrap_or(text.len())
}

/// `eyJ….eyJ….…`
fn web_token(text: &str, end: usize) -> Option<usize> {
    let rest = text[end..].strip_prefix(".eyJ")?;
    let n_payload = rest.bytes().take_while(|it| is_part(*it)).count();
    let signature = rest[n_payload..].strip_prefix('.')?;
    let n_signature = signature.bytes().take_while(|it| is_part(*it)).count();
    (n_payload >= 8 && n_signature >= 16).then(|| end + 4 + n_payload + 1 + n_signature)
}

/// `postgres://user:password@host`.
fn password_in_address(text: &str) -> Option<Found> {
    for (at, _) in text.match_indices("://") {
        let start = at + 3;
        let rest = &text[start..];
        let end = rest
            .find(|it: char| it.is_whitespace() || it == '/' || it == '"')
            .unwrap_or(rest.len());
        let Some((user, _)) = rest[..end].rsplit_once('@') else { continue };
        let Some((name, password)) = user.split_once(':') else { continue };
        let is_real = password.len() >= 4 && !password.starts_with(['$', '<', '*', '{', '%', '[']);
        if !name.is_empty() && is_real && !is_stand_in(password) && !is_name(password) {
            return Some((start + name.len() + 1..start + user.len(), "a password in an address"));
        }
    }
    None
}

/// `curl -u user:password`.
fn password_in_command(text: &str) -> Option<Found> {
    for flag in [" -u ", " --user "] {
        for (at, _) in text.match_indices(flag) {
            let start = at + flag.len();
            let rest = &text[start..text.floor_char_boundary(start + MOST_VALUE)];
            let word = rest.split(char::is_whitespace).next().unwrap_or_default();
            let Some((name, password)) = word.split_once(':') else { continue };
            if !name.is_empty() && is_random(password, 8) {
                let from = start + name.len() + 1;
                return Some((from..start + word.len(), "a password in a command"));
            }
        }
    }
    None
}

fn is_name(word: &str) -> bool {
    let is_it = |it: &&str| {
        let from = word.len().checked_sub(it.len());
        // `DB_PASSWORD` and `stripe_api_key` end with one.
        from.is_some_and(|from| {
            word.is_char_boundary(from)
                && word[from..].eq_ignore_ascii_case(it)
                && (from == 0 || matches!(word.as_bytes()[from - 1], b'_' | b'-'))
        })
    };
    NAMES.iter().any(is_it)
}

fn ends_with_word(text: &str, word: &str) -> bool {
    let Some(from) = text.len().checked_sub(word.len()) else { return false };
    text.is_char_boundary(from) && text[from..].eq_ignore_ascii_case(word)
}

/// Long enough, of letters and digits, and with enough different ones: not typed by hand.
fn is_random(value: &str, least: usize) -> bool {
    if value.len() < least || value.contains(char::is_whitespace) || is_stand_in(value) {
        return false;
    }
    let mut seen = [false; 256];
    let mut n_distinct = 0;
    for it in value.bytes() {
        n_distinct += usize::from(!std::mem::replace(&mut seen[usize::from(it)], true));
    }
    let has = |test: fn(&u8) -> bool| value.bytes().any(|it| test(&it));
    n_distinct >= 6 && has(u8::is_ascii_digit) && has(u8::is_ascii_alphabetic)
}

fn is_stand_in(value: &str) -> bool {
    let value = value.to_ascii_lowercase();
    STAND_INS.iter().any(|it| value.contains(it))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn first(text: &str) -> Option<Found> {
        FINDERS.iter().find_map(|it| it(text))
    }

    /// Put together from pieces, so that no scanner takes this file for a leak.
    fn key(prefix: &str) -> String {
        format!("{prefix}{}", "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8s9T0")
    }

    #[test]
    fn the_first_letters_are_those_of_the_table() {
        assert!(PREFIXES.iter().all(|(it, _)| PREFIX_LETTERS.contains(&it.as_bytes()[0])));
    }

    #[test]
    fn secrets_are_found_by_their_form() {
        let pem = format!("x -----BEGIN {0} KEY-----\nMC4CAQ\n-----END {0} KEY----- y", "PRIVATE");
        assert_eq!(redacted(&pem), "x [redacted] y");
        for prefix in ["sk-", "ghp_", "github_pat_", "glpat-", "xoxb-", "npm_", "hf_"] {
            let text = format!("use {} here", key(prefix));
            assert_eq!(redacted(&text), "use [redacted] here", "{prefix}");
        }
        let aws = format!("{}{}", "AKIA", "J4XK7PQ2M9ZL5T3W");
        assert_eq!(redacted(&aws), "[redacted]");
        let jwt = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.s5f6g7h8j9k0l1m2n3b4";
        assert_eq!(redacted(jwt), "[redacted]");
        for text in [
            "Authorization: Bearer 7c9e6679f7425d40b8a1de9f03aa",
            "DB_PASSWORD=hunter2hunter9x",
            "api_key: \"9f8e7d6c5b4a39281\"",
            "postgres://app:s3cr3tpw@db/shop",
            "curl -u deploy:Kx93vTq7Lm2p https://registry",
        ] {
            assert!(first(text).is_some(), "{text}");
            assert!(first(&redacted(text)).is_none(), "{}", redacted(text));
        }
    }

    #[test]
    fn what_only_looks_like_one_is_left_alone() {
        for text in [
            "keys begin with sk- and are masked",
            "sk-learn and sk-estimator-checks-are-not-keys",
            "merge 4be1f0c99a0d4e7cb2a8ff15c1d5f5a0a7be9d21",
            "sha256:9b74c9897bac770ffc029102a200c5de11f6a0c5b3f0a9a9a1f3d5d7c0e1b2a3",
            "0198a1de-7c11-7cc2-9a51-0d6f5a2b9c3e",
            "-----BEGIN PUBLIC KEY-----\nMCowBQ\n-----END PUBLIC KEY-----",
            "AKIAIOSFODNN7EXAMPLE",
            "password=$DB_PASSWORD and token=<your token>",
            "password: must have 12 characters",
            "postgres://app:$PASSWORD@db/shop",
            "https://github.com/acme/shop/pull/530",
            "token_bucket: a bucket per key",
            "the bearer of this handoff",
            "docker run -u 1000:1000 image",
            "curl -u \"$USER:$PASSWORD\" x",
            "feature/issue-123-user-authentication-with-tokens-2024",
        ] {
            assert_eq!(first(text), None, "{text}");
        }
    }
}
