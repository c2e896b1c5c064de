//! A document in a file, in whichever format.

use std::path::Path;

use baton_core::document::Node;
use baton_core::package::Format;
use baton_wire::formats;

use crate::args::FormatName;
use crate::failure::Failure;
use crate::payload;

/// For commands that can be told.
pub(crate) const SAY_FROM: &str = "say it with `--from`";

/// A text and what it is written in.
pub(crate) struct InputDocument {
    /// As it was named.
    pub(crate) file: String,
    pub(crate) format: Format,
    pub(crate) text: String,
}

impl InputDocument {
    /// Reads a file, or stdin for `-`. The advice is how to say what it is written in.
    pub(crate) fn read(
        file: &str,
        said: Option<FormatName>,
        advice: &str,
    ) -> Result<Self, Failure> {
        let text = payload::file(file)?;
        let format = said.map(Format::from).or_else(|| by_name(file));
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

fn by_name(file: &str) -> Option<Format> {
    Format::parse(&Path::new(file).extension()?.to_str()?.to_ascii_lowercase())
}
