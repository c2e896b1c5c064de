//! The four formats of a document, and their names; `baton-wire` parses and prints them.

use serde::{Deserialize, Serialize};

use crate::named::named;

named! {
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
    #[serde(rename_all = "snake_case")]
    pub enum Format {
        Json = "json",
        Xml = "xml",
        Yaml = "yaml",
        Markdown = "markdown",
    }
}

impl Format {
    /// The name of the format in a sentence.
    pub fn title(self) -> &'static str {
        match self {
            Format::Json => "JSON",
            Format::Xml => "XML",
            Format::Yaml => "YAML",
            Format::Markdown => "Markdown",
        }
    }

    pub fn media_type(self) -> &'static str {
        match self {
            Format::Json => "application/json",
            Format::Xml => "application/xml",
            Format::Yaml => "application/yaml",
            Format::Markdown => "text/markdown",
        }
    }

    /// File extensions, without the dot; the usual one first.
    pub fn extensions(self) -> &'static [&'static str] {
        match self {
            Format::Json => &["json"],
            Format::Xml => &["xml"],
            Format::Yaml => &["yaml", "yml"],
            Format::Markdown => &["md", "markdown"],
        }
    }

    /// Parses a name or an extension: `yaml`, `yml`, `md`.
    pub fn parse(name: &str) -> Option<Self> {
        let is_it = |it: &Self| it.name() == name || it.extensions().contains(&name);
        Self::ALL.into_iter().find(is_it)
    }

    /// Parses a media type from a header: parameters and case are ignored, and older names are
    /// accepted too.
    pub fn of_media_type(media_type: &str) -> Option<Self> {
        let essence = media_type.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
        match essence.as_str() {
            "application/json" | "text/json" => Some(Self::Json),
            "application/xml" | "text/xml" => Some(Self::Xml),
            "application/yaml" | "application/x-yaml" | "text/yaml" | "text/x-yaml" => {
                Some(Self::Yaml)
            }
            "text/markdown" | "text/x-markdown" => Some(Self::Markdown),
            _ if essence.ends_with("+json") => Some(Self::Json),
            _ if essence.ends_with("+xml") => Some(Self::Xml),
            _ if essence.ends_with("+yaml") => Some(Self::Yaml),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_word_for_a_format_names_it() {
        for format in Format::ALL {
            assert_eq!(Format::parse(format.name()), Some(format));
            assert_eq!(Format::of_media_type(format.media_type()), Some(format));
            for extension in format.extensions() {
                assert_eq!(Format::parse(extension), Some(format));
            }
        }
        assert_eq!(Format::parse("toml"), None);
        assert_eq!(Format::parse(""), None);
    }

    #[test]
    fn a_media_type_is_read_as_headers_have_it() {
        for (media_type, format) in [
            ("Application/JSON; charset=utf-8", Some(Format::Json)),
            ("text/xml", Some(Format::Xml)),
            ("application/x-yaml", Some(Format::Yaml)),
            ("application/problem+json", Some(Format::Json)),
            ("text/plain", None),
            ("", None),
        ] {
            assert_eq!(Format::of_media_type(media_type), format, "{media_type}");
        }
    }
}
