//! Why a text is not a document of its format, and where it stops being one.

use baton_core::package::Format;

use super::MOST_DEPTH;
use crate::json::{JsonError, JsonFault};
use crate::position::TextPosition;

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("line {}, column {}: {fault}", at.line, at.column)]
pub struct FormatError {
    pub format: Format,
    pub at: TextPosition,
    pub fault: FormatFault,
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum FormatFault {
    #[error("{0}")]
    Json(JsonFault),
    #[error("the text has {n_bytes} bytes; the most is {most}")]
    TooLarge { n_bytes: usize, most: usize },
    #[error("lists and maps are nested more than {MOST_DEPTH} deep")]
    TooDeep,
    #[error("the bytes here are not UTF-8")]
    NotUtf8,
    #[error("the character U+0000 is refused everywhere")]
    Nul,
    #[error("{what} stands here a second time")]
    Duplicate { what: String },
    #[error("is not XML: {0}")]
    XmlSyntax(String),
    #[error("{0}")]
    XmlRefused(String),
    #[error("{0}")]
    XmlReserved(String),
    #[error("{0}")]
    YamlSyntax(String),
    #[error("{0}")]
    YamlRefused(String),
    #[error("{0}")]
    NoMetadata(String),
}

impl FormatError {
    /// The position is computed only here, once there is an error: it scans the text.
    pub(super) fn at(format: Format, text: &str, offset: usize, fault: FormatFault) -> Self {
        Self { format, at: TextPosition::of(text, offset), fault }
    }

    /// Stable: programs match on it.
    pub fn code(&self) -> &'static str {
        self.fault.code()
    }

    /// What is wrong, without the place.
    pub fn sentence(&self) -> String {
        self.fault.to_string()
    }
}

impl FormatFault {
    pub fn code(&self) -> &'static str {
        match self {
            Self::Json(fault) => fault.code(),
            Self::TooLarge { .. } => "document_too_large",
            Self::TooDeep => "document_too_deep",
            Self::NotUtf8 => "not_utf8",
            Self::Nul => "document_nul",
            Self::Duplicate { .. } => "document_duplicate",
            Self::XmlSyntax(_) => "xml_syntax",
            Self::XmlRefused(_) => "xml_refused",
            Self::XmlReserved(_) => "xml_reserved",
            Self::YamlSyntax(_) => "yaml_syntax",
            Self::YamlRefused(_) => "yaml_refused",
            Self::NoMetadata(_) => "no_metadata",
        }
    }
}

impl From<JsonError> for FormatError {
    fn from(error: JsonError) -> Self {
        let at = TextPosition { line: error.line, column: error.column };
        Self { format: Format::Json, at, fault: FormatFault::Json(error.fault) }
    }
}
