//! The reader: one pass. The depth is limited, so recursion is safe.

use baton_core::document::{Node, Number};
use baton_core::quoted::n_plain;

use super::{JsonError, JsonFault, MOST_DEPTH};
use crate::duplicates::first_duplicate;
use crate::position::TextPosition;
use crate::shown::shown;

pub(super) fn read(text: &str, most_bytes: usize) -> Result<Node, JsonError> {
    let reader = &mut JsonReader { text, at: 0 };
    if text.len() > most_bytes {
        return Err(reader.error(0, JsonFault::TooLarge { n_bytes: text.len(), most: most_bytes }));
    }
    if let Some(offset) = text.find('\0') {
        return Err(reader.error(offset, JsonFault::Nul));
    }
    let document = reader.value(0)?;
    reader.skip_blanks();
    if reader.at < text.len() {
        return Err(reader.unexpected("the end"));
    }
    Ok(document)
}

/// Most maps have no more.
const USUAL_MEMBERS: usize = 8;

struct JsonReader<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> JsonReader<'a> {
    /// A value inside of `depth` lists and maps.
    fn value(&mut self, depth: usize) -> Result<Node, JsonError> {
        self.skip_blanks();
        match self.peek() {
            Some(b'[' | b'{') if depth == MOST_DEPTH => {
                Err(self.error(self.at, JsonFault::TooDeep))
            }
            Some(b'{') => self.map(depth + 1),
            Some(b'[') => self.list(depth + 1),
            Some(b'"') => Ok(Node::Text(self.quoted()?)),
            Some(b'-' | b'0'..=b'9') => Ok(Node::Number(self.number()?)),
            Some(_) if self.take_word("null") => Ok(Node::Null),
            Some(_) if self.take_word("true") => Ok(Node::Bool(true)),
            Some(_) if self.take_word("false") => Ok(Node::Bool(false)),
            Some(_) | None => Err(self.unexpected("a value")),
        }
    }

    fn list(&mut self, depth: usize) -> Result<Node, JsonError> {
        self.at += 1;
        self.skip_blanks();
        let mut nodes = Vec::new();
        if self.take(b']') {
            return Ok(Node::List(nodes));
        }
        loop {
            nodes.push(self.value(depth)?);
            self.skip_blanks();
            if self.take(b']') {
                return Ok(Node::List(nodes));
            }
            if !self.take(b',') {
                return Err(self.unexpected("`,` or `]`"));
            }
        }
    }

    fn map(&mut self, depth: usize) -> Result<Node, JsonError> {
        self.at += 1;
        self.skip_blanks();
        if self.take(b'}') {
            return Ok(Node::Map(Vec::new()));
        }
        let mut members = Vec::with_capacity(USUAL_MEMBERS);
        let mut key_starts = Vec::with_capacity(USUAL_MEMBERS);
        let mut expected = "a key in double quotes or `}`";
        loop {
            self.skip_blanks();
            key_starts.push(self.at);
            let key = self.key(expected)?;
            members.push((key, self.value(depth)?));
            self.skip_blanks();
            if self.take(b'}') {
                self.refuse_duplicates(&members, &key_starts)?;
                return Ok(Node::Map(members));
            }
            if !self.take(b',') {
                return Err(self.unexpected("`,` or `}`"));
            }
            expected = "a key in double quotes";
        }
    }

    fn key(&mut self, expected: &'static str) -> Result<String, JsonError> {
        if self.peek() != Some(b'"') {
            return Err(self.unexpected(expected));
        }
        let key = self.quoted()?;
        self.skip_blanks();
        if !self.take(b':') {
            return Err(self.unexpected("`:`"));
        }
        Ok(key)
    }

    /// Checked once per map and not once per key: a map of 100,000 keys stays linear.
    fn refuse_duplicates(
        &self,
        members: &[(String, Node)],
        key_starts: &[usize],
    ) -> Result<(), JsonError> {
        let keys: Vec<&str> = members.iter().map(|(key, _)| key.as_str()).collect();
        match first_duplicate(&keys) {
            Some(index) => {
                let key = shown(&members[index].0);
                Err(self.error(key_starts[index], JsonFault::DuplicateKey { key }))
            }
            None => Ok(()),
        }
    }

    fn number(&mut self) -> Result<Number, JsonError> {
        let start = self.at;
        while matches!(self.peek(), Some(b'0'..=b'9' | b'+' | b'-' | b'.' | b'e' | b'E')) {
            self.at += 1;
        }
        let text = &self.text[start..self.at];
        Number::parse(text)
            .ok_or_else(|| self.error(start, JsonFault::BadNumber { found: shown(text) }))
    }

    fn quoted(&mut self) -> Result<String, JsonError> {
        self.at += 1;
        // Both ends of a plain stretch are beside ASCII characters, so this never splits a
        // character.
        let mut text = self.plain().to_owned();
        loop {
            match self.peek() {
                Some(b'"') => {
                    self.at += 1;
                    return Ok(text);
                }
                Some(b'\\') => text.push(self.escape()?),
                Some(code) => return Err(self.error(self.at, JsonFault::ControlCharacter { code })),
                None => return Err(self.unexpected("`\"`")),
            }
            text.push_str(self.plain());
        }
    }

    /// Reads the unescaped part of a string, up to the first character that needs handling.
    fn plain(&mut self) -> &'a str {
        let start = self.at;
        self.at += n_plain(&self.text.as_bytes()[start..]);
        &self.text[start..self.at]
    }

    fn escape(&mut self) -> Result<char, JsonError> {
        let start = self.at;
        self.at += 1;
        let Some(letter) = self.text[self.at..].chars().next() else {
            return Err(self.unexpected("the rest of an escape"));
        };
        self.at += letter.len_utf8();
        Ok(match letter {
            '"' | '\\' | '/' => letter,
            'b' => '\u{8}',
            'f' => '\u{C}',
            'n' => '\n',
            'r' => '\r',
            't' => '\t',
            'u' => return self.unicode_escape(start),
            other => {
                let found = shown(&other.to_string());
                return Err(self.error(start, JsonFault::BadEscape { found }));
            }
        })
    }

    /// The digits behind `\u`, and the second half of a pair where one is needed.
    fn unicode_escape(&mut self, start: usize) -> Result<char, JsonError> {
        let first = self.four_digits(start)?;
        if first == 0 {
            return Err(self.error(start, JsonFault::Nul));
        }
        if let Some(it) = char::from_u32(u32::from(first)) {
            return Ok(it);
        }
        let second_start = self.at;
        let second = if self.text[self.at..].starts_with("\\u") {
            self.at += 2;
            self.four_digits(second_start)?
        } else {
            0
        };
        let pair = char::decode_utf16([first, second]).next().and_then(Result::ok);
        // The position of an error is computed only once there is one: it scans the whole text.
        pair.ok_or_else(|| self.error(start, JsonFault::LoneSurrogate { code: first }))
    }

    fn four_digits(&mut self, start: usize) -> Result<u16, JsonError> {
        let digits = self.text.get(self.at..self.at + 4).unwrap_or_default();
        let is_hex = digits.len() == 4 && digits.bytes().all(|it| it.is_ascii_hexdigit());
        match u16::from_str_radix(digits, 16) {
            Ok(code) if is_hex => {
                self.at += 4;
                Ok(code)
            }
            Ok(_) | Err(_) => {
                let found: String = self.text[start + 1..].chars().take(5).collect();
                Err(self.error(start, JsonFault::BadEscape { found: shown(&found) }))
            }
        }
    }

    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn take(&mut self, byte: u8) -> bool {
        let is_next = self.peek() == Some(byte);
        self.at += usize::from(is_next);
        is_next
    }

    fn take_word(&mut self, word: &str) -> bool {
        let is_next = self.text.as_bytes()[self.at..].starts_with(word.as_bytes());
        self.at += if is_next { word.len() } else { 0 };
        is_next
    }

    fn skip_blanks(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\t' | b'\n' | b'\r')) {
            self.at += 1;
        }
    }

    fn unexpected(&self, expected: &'static str) -> JsonError {
        let rest = &self.text[self.at..];
        let is_wordy = |it: &char| it.is_alphanumeric() || *it == '_';
        let word: String = rest.chars().take_while(is_wordy).take(20).collect();
        let found = if word.is_empty() { rest.chars().take(1).collect() } else { word };
        let fault = if found.is_empty() {
            JsonFault::Ends { expected }
        } else {
            JsonFault::Unexpected { found: shown(&found), expected }
        };
        self.error(self.at, fault)
    }

    fn error(&self, offset: usize, fault: JsonFault) -> JsonError {
        let TextPosition { line, column } = TextPosition::of(self.text, offset);
        JsonError { line, column, fault }
    }
}
