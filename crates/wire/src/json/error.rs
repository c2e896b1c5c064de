//! Why a text is not JSON.

use super::MOST_DEPTH;

/// Why a text is not JSON, and where it stops being so.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("line {line}, column {column}: {fault}")]
pub struct JsonError {
    pub line: usize,
    pub column: usize,
    pub fault: JsonFault,
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum JsonFault {
    #[error("the text has {n_bytes} bytes; the most is {most}")]
    TooLarge { n_bytes: usize, most: usize },
    #[error("lists and maps are nested more than {MOST_DEPTH} deep")]
    TooDeep,
    #[error("the text ends where {expected} should follow")]
    Ends { expected: &'static str },
    #[error("found `{found}` where {expected} should stand")]
    Unexpected { found: String, expected: &'static str },
    #[error("the key `{key}` stands here a second time")]
    DuplicateKey { key: String },
    #[error("the character U+0000 is refused everywhere")]
    Nul,
    #[error("`\\u{code:04X}` is half of a surrogate pair without its other half")]
    LoneSurrogate { code: u16 },
    #[error(
        "`\\{found}` is not an escape; use one of `\\\"`, `\\\\`, `\\/`, `\\b`, `\\f`, `\\n`, `\\r`, `\\t`, `\\uXXXX`"
    )]
    BadEscape { found: String },
    #[error("the control character U+{code:04X} must be written as an escape inside text")]
    ControlCharacter { code: u8 },
    #[error("`{found}` is not a number")]
    BadNumber { found: String },
}

impl JsonError {
    /// Stable: programs match on it.
    pub fn code(&self) -> &'static str {
        self.fault.code()
    }
}

impl JsonFault {
    pub fn code(&self) -> &'static str {
        match self {
            JsonFault::TooLarge { .. } => "json_too_large",
            JsonFault::TooDeep => "json_too_deep",
            JsonFault::DuplicateKey { .. } => "json_duplicate_key",
            JsonFault::Nul => "json_nul",
            JsonFault::LoneSurrogate { .. } => "json_lone_surrogate",
            JsonFault::Ends { .. }
            | JsonFault::Unexpected { .. }
            | JsonFault::BadEscape { .. }
            | JsonFault::ControlCharacter { .. }
            | JsonFault::BadNumber { .. } => "json_syntax",
        }
    }
}
