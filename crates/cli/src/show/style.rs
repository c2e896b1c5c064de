//! Colours, as few as possible and never the only sign. `anstream` drops them where they would not
//! be visible: no terminal, or `NO_COLOR`.

use anstyle::{AnsiColor, Style};

pub(crate) fn bold(text: &str) -> String {
    styled(Style::new().bold(), text)
}

pub(crate) fn dim(text: &str) -> String {
    styled(Style::new().dimmed(), text)
}

pub(crate) fn good(text: &str) -> String {
    styled(AnsiColor::Green.on_default(), text)
}

pub(crate) fn warn(text: &str) -> String {
    styled(AnsiColor::Yellow.on_default(), text)
}

pub(crate) fn bad(text: &str) -> String {
    styled(AnsiColor::Red.on_default().bold(), text)
}

/// What the reader should see first.
pub(crate) fn mark(text: &str) -> String {
    styled(AnsiColor::Cyan.on_default().bold(), text)
}

fn styled(style: Style, text: &str) -> String {
    format!("{style}{text}{style:#}")
}
