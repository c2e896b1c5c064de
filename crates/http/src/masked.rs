//! Credentials of this server in texts that come in. An agent may repeat its token in a message or a
//! package; what is stored is read by others, so it is masked before anything else is done with the text.

use std::borrow::Cow;

use axum::http::{HeaderMap, Uri};

use crate::credential::{ATTEMPT, RUNNER, RunnerKey};
use crate::problem::ApiProblem;

/// In the place of the rest of a credential. Plain letters: they mean the same in every format.
const MASK: &str = "masked";

/// A text with a mark in the place of each credential. One that is spelled with escapes is refused: what is
/// around it cannot be kept as it was written.
pub(crate) fn masked(key: &RunnerKey, text: String) -> Result<String, ApiProblem> {
    let masked = without_credentials(key, &text);
    if let Some(plain) = unescaped(&masked)
        && has_credential(key, &plain)
    {
        return Err(in_text("the body"));
    }
    Ok(match masked {
        Cow::Owned(masked) => masked,
        Cow::Borrowed(_) => text,
    })
}

/// Names are refused instead: another name would be another thing.
pub(crate) fn check_names(
    key: &RunnerKey,
    uri: &Uri,
    headers: &HeaderMap,
) -> Result<(), ApiProblem> {
    let address = uri.path_and_query().map_or("", |it| it.as_str());
    let is_escaped = || address.contains('%') && has_credential(key, &percent_decoded(address));
    if has_credential(key, address) || is_escaped() {
        return Err(in_text("the address"));
    }
    // What is stored of the others is nothing.
    for name in ["idempotency-key", "baton-as"] {
        let values = headers.get_all(name).iter();
        if values.into_iter().any(|it| has_credential(key, it.to_str().unwrap_or_default())) {
            return Err(in_text(&format!("the header `{name}`")));
        }
    }
    Ok(())
}

fn in_text(place: &str) -> ApiProblem {
    let message = format!(
        "{place} contains the token of an attempt or the credential of a runner, which others could then read; \
         leave it out: it belongs into `Authorization` alone"
    );
    ApiProblem::malformed("credential_in_text", message)
}

fn has_credential(key: &RunnerKey, text: &str) -> bool {
    matches!(without_credentials(key, text), Cow::Owned(_))
}

fn without_credentials<'a>(key: &RunnerKey, text: &'a str) -> Cow<'a, str> {
    if next_prefix(text).is_none() {
        return Cow::Borrowed(text);
    }
    let mut masked = String::new();
    let mut rest = text;
    while let Some((at, prefix)) = next_prefix(rest) {
        let after = at + prefix.len();
        let length = length_after(prefix, &rest[after..]);
        let found = length.filter(|it| key.read(&rest[at..after + it]).is_some());
        masked += &rest[..after];
        rest = &rest[after..];
        if let Some(length) = found {
            masked += MASK;
            rest = &rest[length..];
        }
    }
    masked += rest;
    // What is not a credential is put together again as it was.
    if masked == text { Cow::Borrowed(text) } else { Cow::Owned(masked) }
}

fn next_prefix(text: &str) -> Option<(usize, &'static str)> {
    let mut from = 0;
    loop {
        let at = from + text.get(from..)?.find("baton-")?;
        let found = [ATTEMPT, RUNNER].into_iter().find(|it| text[at..].starts_with(it));
        if let Some(prefix) = found {
            return Some((at, prefix));
        }
        from = at + 1;
    }
}

/// The length of what could be a credential after its prefix: `AGENT.ID.FENCE.HASH`, or a hash.
fn length_after(prefix: &str, text: &str) -> Option<usize> {
    const HASH: usize = 64;
    let is_hash = |it: &str| it.len() == HASH && it.bytes().all(|it| it.is_ascii_hexdigit());
    if prefix == RUNNER {
        return text.get(..HASH).filter(|it| is_hash(it)).map(|_| HASH);
    }
    // A name has at most 64 characters, an id 32, and a fence 10.
    let near = text.get(..text.len().min(64 + 1 + 32 + 1 + 10 + 1 + HASH)).unwrap_or(text);
    let mut fields = near.splitn(4, '.');
    let (agent, id, fence) = (fields.next()?, fields.next()?, fields.next()?);
    fields.next()?.get(..HASH).filter(|it| is_hash(it))?;
    Some(agent.len() + 1 + id.len() + 1 + fence.len() + 1 + HASH)
}

/// The text with `\u0062`, `\x62`, `&#98;` and `&#x62;` as the characters that they stand for; `None`
/// where it has none of them.
fn unescaped(text: &str) -> Option<String> {
    if !text.contains("\\u") && !text.contains("\\x") && !text.contains("&#") {
        return None;
    }
    let mut plain = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(['\\', '&']) {
        plain += &rest[..at];
        rest = &rest[at..];
        let (character, length) = escape(rest).unwrap_or((rest.chars().next()?, 1));
        plain.push(character);
        rest = &rest[length..];
    }
    plain += rest;
    Some(plain)
}

/// The character that a text begins with as an escape, and the length of that.
fn escape(text: &str) -> Option<(char, usize)> {
    let hex = |digits: &str| char::from_u32(u32::from_str_radix(digits, 16).ok()?);
    if let Some(digits) = text.strip_prefix("\\u").and_then(|it| it.get(..4)) {
        return Some((hex(digits)?, 6));
    }
    if let Some(digits) = text.strip_prefix("\\x").and_then(|it| it.get(..2)) {
        return Some((hex(digits)?, 4));
    }
    let near = text.get(..text.len().min(12)).unwrap_or(text);
    let (digits, _) = near.strip_prefix("&#")?.split_once(';')?;
    let character = match digits.strip_prefix('x') {
        Some(digits) => hex(digits)?,
        None => char::from_u32(digits.parse().ok()?)?,
    };
    Some((character, digits.len() + 3))
}

fn percent_decoded(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((first, after)) = rest.split_first() {
        let digits = after.get(..2).and_then(|it| std::str::from_utf8(it).ok());
        match digits.and_then(|it| u8::from_str_radix(it, 16).ok()).filter(|_| *first == b'%') {
            Some(byte) => {
                bytes.push(byte);
                rest = &after[2..];
            }
            None => {
                bytes.push(*first);
                rest = after;
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use baton_core::names::AgentId;
    use baton_core::run::HandoffId;
    use baton_engine::Attempt;
    use uuid::Uuid;

    use super::*;

    fn key() -> RunnerKey {
        RunnerKey::new([7; 32])
    }

    fn token(agent: &str, fence: u32) -> String {
        let agent = AgentId::parse(agent).unwrap();
        key().attempt_token(&Attempt { agent, handoff: HandoffId(Uuid::from_u128(7)), fence })
    }

    #[test]
    fn every_credential_of_this_server_is_masked_and_nothing_else() {
        let long = "a".repeat(64);
        for (text, expected) in [
            (token("analyst", 1), "baton-attempt.masked".to_owned()),
            (
                format!("it is {}. And {}!", token("a", 1), token(&long, u32::MAX)),
                "it is baton-attempt.masked. And baton-attempt.masked!".to_owned(),
            ),
            (format!("{}{}", token("a", 1), key().credential()), {
                "baton-attempt.maskedbaton-runner.masked".to_owned()
            }),
            (format!("baton-attempt.{}", token("a", 1)), {
                "baton-attempt.baton-attempt.masked".to_owned()
            }),
            (format!("é{}é", token("a", 1)), "ébaton-attempt.maskedé".to_owned()),
        ] {
            assert_eq!(masked(&key(), text.clone()).unwrap(), expected, "{text}");
        }
        let other = RunnerKey::new([8; 32]).credential();
        for text in [
            other.as_str(),
            "baton-attempt.TOKEN and baton-runner.KEY, baton- baton",
            "baton-attempt.a.b.c.é",
            "",
        ] {
            assert_eq!(masked(&key(), text.to_owned()).unwrap(), text);
        }
    }

    #[test]
    fn a_credential_that_is_spelled_with_escapes_is_refused() {
        let token = token("analyst", 1);
        for text in [
            token.replacen('b', "\\u0062", 1),
            token.replacen('-', "\\x2d", 1),
            token.replace('.', "&#46;"),
            token.replace('-', "&#x2D;"),
        ] {
            let refused = masked(&key(), format!("{{\"text\":\"{text}\"}}")).unwrap_err();
            assert_eq!(refused.code(), "credential_in_text", "{text}");
        }
        let plain = r"C:\users \u0041 & &#; \u00zz &#99999999; \";
        assert_eq!(masked(&key(), plain.to_owned()).unwrap(), plain);
    }

    #[test]
    fn a_credential_is_no_name() {
        let none = HeaderMap::new();
        let name = |text: &str| Uri::try_from(format!("/api/v1/stories/{text}")).unwrap();
        assert!(check_names(&key(), &name("s1"), &none).is_ok());
        assert!(check_names(&key(), &name(&token("a", 1)), &none).is_err());
        assert!(check_names(&key(), &name(&token("a", 1).replace('b', "%62")), &none).is_err());
        let mut headers = HeaderMap::new();
        headers.insert("authorization", token("a", 1).parse().unwrap());
        assert!(check_names(&key(), &name("s1"), &headers).is_ok());
        headers.insert("idempotency-key", token("a", 1).parse().unwrap());
        assert!(check_names(&key(), &name("s1"), &headers).is_err());
    }
}
