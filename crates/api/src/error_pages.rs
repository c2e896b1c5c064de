//! The page of each error code, as `/errors/CODE` serves it and `baton explain CODE` prints it.

// `ERROR_PAGES`: each code with its page in Markdown, sorted.
include!(concat!(env!("OUT_DIR"), "/error_pages.rs"));

/// The page of a code, in Markdown.
pub fn error_page(code: &str) -> Option<&'static str> {
    ERROR_PAGES.iter().find(|(it, _)| *it == code).map(|(_, page)| *page)
}
