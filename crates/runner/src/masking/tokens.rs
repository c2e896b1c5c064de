//! Credentials of Baton, which are known by their form.

use super::{SECRET, position};

pub(super) fn without_tokens(bytes: Vec<u8>) -> Vec<u8> {
    ["baton-attempt.", "baton-runner."].into_iter().fold(bytes, without_tokens_of)
}

fn without_tokens_of(bytes: Vec<u8>, prefix: &str) -> Vec<u8> {
    const DIGITS: usize = 64;
    let Some(mut at) = position(&bytes, prefix.as_bytes()) else { return bytes };
    let mut clean = Vec::with_capacity(bytes.len());
    let mut rest = bytes.as_slice();
    loop {
        let (before, token) = rest.split_at(at);
        clean.extend_from_slice(before);
        let is_part = |it: &u8| it.is_ascii_alphanumeric() || matches!(it, b'.' | b'-' | b'_');
        let length = token.iter().take_while(|it| is_part(it)).count();
        let (token, after) = token.split_at(length);
        let digits = token.rsplit(|it| *it == b'.').next().unwrap_or_default();
        let is_hash = digits.len() >= DIGITS && digits[..DIGITS].iter().all(u8::is_ascii_hexdigit);
        clean.extend_from_slice(if is_hash { SECRET.as_bytes() } else { token });
        rest = after;
        match position(rest, prefix.as_bytes()) {
            Some(next) => at = next,
            None => break,
        }
    }
    clean.extend_from_slice(rest);
    clean
}
