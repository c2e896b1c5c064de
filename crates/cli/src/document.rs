//! A document in a file, in any format.

use std::path::Path;

use baton_core::document::Node;
use baton_core::package::Format;
use baton_wire::formats;

use crate::failure::Failure;
use crate::payload;

/// The advice of commands that have a `--from` option.
pub(crate) const SAY_FROM: &str = "say it with `--from`";

/// A text and its format.
pub(crate) struct InputDocument {
    /// The path as typed.
    pub(crate) file: String,
    pub(crate) format: Format,
    pub(crate) text: String,
}

impl InputDocument {
    /// Reads a file, or stdin for `-`. The advice says how to name its format.
    pub(crate) fn read(file: &str, said: Option<Format>, advice: &str) -> Result<Self, Failure> {
        let text = payload::file(file)?;
        let format = said.or_else(|| by_name(file));
        let format = format.or_else(|| formats::guess(&text)).ok_or_else(|| {
            let message = "it is not clear what the document is written in";
            Failure::Usage(format!("`{file}`: {message}; {advice}"))
        })?;
        Ok(Self { file: file.to_owned(), format, text })
    }

    pub(crate) fn tree(&self) -> Result<Node, Failure> {
        formats::decode(self.format, &self.text)
            .map_err(|error| Failure::Document { file: self.file.clone(), error })
    }
}

pub(crate) fn by_name(file: &str) -> Option<Format> {
    Format::parse(&Path::new(file).extension()?.to_str()?.to_ascii_lowercase())
}
