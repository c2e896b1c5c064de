//! Percent-encoding of names for URLs.

/// Text as a part of a URL: everything but RFC 3986's unreserved characters as `%XX`.
pub fn in_url(text: &str) -> String {
    let mut encoded = String::with_capacity(text.len());
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
            encoded.push(char::from(byte));
        } else {
            encoded.push_str(&format!("%{byte:02X}"));
        }
    }
    encoded
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_gets_nothing_that_means_something_in_it() {
        for (text, encoded) in [
            ("v0.1:1.1.1", "v0.1%3A1.1.1"),
            ("owner/repo#12", "owner%2Frepo%2312"),
            ("a&b=c d?e%f", "a%26b%3Dc%20d%3Fe%25f"),
            ("it's \"ü\"", "it%27s%20%22%C3%BC%22"),
        ] {
            assert_eq!(in_url(text), encoded);
        }
    }
}
