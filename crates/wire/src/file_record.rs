//! What is known of a file that a runner sent back, as it is stored beside its bytes; and bytes as a text.

use baton_core::hash::Hash;
use serde::{Deserialize, Serialize};

/// The text with what is known of a file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileRecord {
    /// `output.txt`, or the path of a file below the workspace.
    pub name: String,
    /// Of the bytes; none where they were left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sha256: Option<Hash>,
    #[serde(default)]
    pub encoding: BytesEncoding,
    /// What was cut, or why it was left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

/// How the bytes of a file are kept as a text.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum BytesEncoding {
    /// They are that text.
    #[default]
    Text,
    /// In hexadecimal digits: they are no text that a database takes.
    Hex,
}

impl FileRecord {
    pub fn encode(&self) -> String {
        match serde_json::to_string(self) {
            Ok(text) => text,
            Err(error) => unreachable!("our own types always encode: {error}"),
        }
    }

    /// `None` where the text says no such thing: it was redacted.
    pub fn decode(text: &str) -> Option<Self> {
        serde_json::from_str(text).ok()
    }
}

/// Bytes as a text that every store takes.
pub fn as_text(bytes: &[u8]) -> (BytesEncoding, String) {
    match std::str::from_utf8(bytes) {
        Ok(text) if !text.contains('\0') => (BytesEncoding::Text, text.to_owned()),
        Ok(_) | Err(_) => (BytesEncoding::Hex, hex::encode(bytes)),
    }
}

/// The bytes of a stored text; `None` where it is not what was stored.
pub fn as_bytes(encoding: BytesEncoding, text: &str) -> Option<Vec<u8>> {
    match encoding {
        BytesEncoding::Text => Some(text.as_bytes().to_vec()),
        BytesEncoding::Hex => hex::decode(text).ok(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_byte_comes_back_and_no_store_sees_a_nul() {
        for bytes in [&b""[..], b"hello\n", "\u{e9}\u{1F600}".as_bytes(), b"a\0b", &[0xff, 0xfe, 0]]
        {
            let (encoding, text) = as_text(bytes);
            assert!(!text.contains('\0'));
            assert_eq!(as_bytes(encoding, &text).unwrap(), bytes);
        }
        assert_eq!(as_text(b"hello").0, BytesEncoding::Text);
        assert_eq!(as_bytes(BytesEncoding::Hex, "[redacted]"), None);
    }

    #[test]
    fn a_record_is_read_as_it_was_written() {
        let sha256 = Some(Hash::of(b"hello"));
        let (name, encoding) = ("output.txt".to_owned(), BytesEncoding::Text);
        let record = FileRecord { name, sha256, encoding, note: Some("cut".to_owned()) };
        assert_eq!(FileRecord::decode(&record.encode()), Some(record));
        let stored = r#"{"name":"a.bin","encoding":"hex"}"#;
        assert_eq!(FileRecord::decode(stored).unwrap().encoding, BytesEncoding::Hex, "for ever");
        assert_eq!(FileRecord::decode("[redacted]"), None);
    }
}
