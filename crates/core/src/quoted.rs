//! A JSON string in double quotes. Every package is read, printed and hashed in this form, so the
//! scan handles eight bytes at a time.

/// Writes a text with its quotes. Stretches without escapes are copied at once: most texts are one
/// such stretch.
pub fn write(text: &str, out: &mut String) {
    out.push('"');
    let mut rest = text;
    loop {
        // Each special character is a single byte in UTF-8, so this never splits a character.
        let (plain, special) = rest.split_at(n_plain(rest.as_bytes()));
        out.push_str(plain);
        let Some(byte) = special.bytes().next() else { break };
        match byte {
            b'"' => out.push_str("\\\""),
            b'\\' => out.push_str("\\\\"),
            0x08 => out.push_str("\\b"),
            b'\t' => out.push_str("\\t"),
            b'\n' => out.push_str("\\n"),
            0x0c => out.push_str("\\f"),
            b'\r' => out.push_str("\\r"),
            control => out.push_str(&format!("\\u{control:04x}")),
        }
        rest = &special[1..];
    }
    out.push('"');
}

/// The number of bytes before the first quote, backslash or control character.
pub fn n_plain(bytes: &[u8]) -> usize {
    let (words, rest) = bytes.as_chunks::<8>();
    for (index, word) in words.iter().enumerate() {
        let found = special_in(u64::from_le_bytes(*word));
        if found != 0 {
            return index * 8 + found.trailing_zeros() as usize / 8;
        }
    }
    let is_special = |it: &u8| matches!(it, b'"' | b'\\' | 0..=0x1f);
    words.len() * 8 + rest.iter().position(is_special).unwrap_or(rest.len())
}

/// The highest bit of each special byte; beyond the first one there may be false positives.
///
/// A byte is below `n` where subtracting `n` borrows into a highest bit that was not set.
fn special_in(word: u64) -> u64 {
    const EACH: u64 = u64::from_le_bytes([1; 8]);
    let below = |word: u64, n: u64| word.wrapping_sub(EACH * n) & !word;
    let is = |byte: u8| below(word ^ (EACH * u64::from(byte)), 1);
    (below(word, 0x20) | is(b'"') | is(b'\\')) & (EACH * 0x80)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn every_byte_is_known_at_every_place() {
        for byte in 0..=u8::MAX {
            let is_special = byte < b' ' || byte == b'"' || byte == b'\\';
            for at in 0..20 {
                let mut bytes = [b'x'; 20];
                bytes[at] = byte;
                let expected = if is_special { at } else { 20 };
                assert_eq!(n_plain(&bytes), expected, "{byte} at {at}");
            }
        }
    }

    proptest! {
        #[test]
        fn it_finds_what_a_look_at_each_byte_finds(bytes: Vec<u8>) {
            let is_special = |it: &u8| *it < b' ' || *it == b'"' || *it == b'\\';
            let expected = bytes.iter().position(is_special).unwrap_or(bytes.len());
            prop_assert_eq!(n_plain(&bytes), expected);
        }
    }
}
