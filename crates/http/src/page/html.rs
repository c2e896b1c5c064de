//! Builds pages so that no user's text can become markup: markup comes only from this program's
//! literals, everything else is escaped.

use std::fmt::Write as _;

use baton_core::invisible::hidden;
use baton_core::story::Story;
use jiff::Timestamp;

#[derive(Default)]
pub(crate) struct Html(String);

impl Html {
    pub(crate) fn into_string(self) -> String {
        self.0
    }

    /// Markup. The lifetime is the guard: text from outside the program is not `'static`.
    pub(crate) fn raw(&mut self, markup: &'static str) -> &mut Self {
        self.0.push_str(markup);
        self
    }

    pub(crate) fn add(&mut self, part: Html) -> &mut Self {
        self.0.push_str(&part.0);
        self
    }

    /// Untrusted text. Invisible and bidirectional control characters are spelled out; line breaks
    /// and tabs stay, and matter only in `<pre>`.
    pub(crate) fn text(&mut self, text: &str) -> &mut Self {
        let mut hidden = hidden(text).peekable();
        for (at, it) in text.char_indices() {
            match it {
                '\n' | '\t' => self.0.push(it),
                it if hidden.next_if_eq(&(at, it)).is_some() => {
                    // Writing to a string cannot fail.
                    let _ = write!(self.0, "<span class=\"hidden\">U+{:04X}</span>", it as u32);
                }
                it => self.escaped(it),
            }
        }
        self
    }

    /// Untrusted text inside a pair of double quotes.
    pub(crate) fn attribute(&mut self, text: &str) -> &mut Self {
        let mut hidden = hidden(text).peekable();
        for (at, it) in text.char_indices() {
            match it {
                '\n' | '\t' => self.0.push(' '),
                it if hidden.next_if_eq(&(at, it)).is_some() => {
                    let _ = write!(self.0, "U+{:04X}", it as u32);
                }
                it => self.escaped(it),
            }
        }
        self
    }

    /// Untrusted text where markup is not parsed, as in `<title>`.
    pub(crate) fn plain(&mut self, text: &str) -> &mut Self {
        self.attribute(shortened(text))
    }

    /// A name: shortened, because it may be older than the bound on names.
    pub(crate) fn name(&mut self, text: &str) -> &mut Self {
        let short = shortened(text);
        self.raw("<bdi>").text(short);
        if short.len() < text.len() {
            self.raw("…");
        }
        self.raw("</bdi>")
    }

    /// As [`Html::text`], with its text direction isolated from that of its surroundings.
    pub(crate) fn words(&mut self, text: &str) -> &mut Self {
        self.raw("<bdi>").text(text).raw("</bdi>")
    }

    /// Text whose parts between backticks are code.
    pub(crate) fn with_code(&mut self, text: &str) -> &mut Self {
        for (n, part) in text.split('`').enumerate() {
            if n % 2 == 1 {
                self.raw("<code>").text(part).raw("</code>");
            } else {
                self.text(part);
            }
        }
        self
    }

    pub(crate) fn number(&mut self, number: impl Into<u64>) -> &mut Self {
        let _ = write!(self.0, "{}", number.into());
        self
    }

    /// A time that is readable without the script, which makes it local and adds how long ago it
    /// was.
    pub(crate) fn time(&mut self, at: Timestamp) -> &mut Self {
        let _ = write!(self.0, "<time datetime=\"{at:.3}\">");
        let _ = write!(self.0, "{}", at.strftime("%Y-%m-%d %H:%M:%S UTC"));
        self.raw("</time>")
    }

    /// A sentence of Baton's own, with the instants in it as times like all others of the page.
    pub(crate) fn sentence(&mut self, text: &str) -> &mut Self {
        self.raw("<bdi>");
        for (n, word) in text.split(' ').enumerate() {
            if n > 0 {
                self.raw(" ");
            }
            let bare = word.trim_end_matches([',', ';', '.']);
            match bare.parse::<Timestamp>() {
                Ok(at) => {
                    self.raw("<span class=\"times\">").time(at).raw("</span>");
                    self.text(&word[bare.len()..]);
                }
                Err(_) => _ = self.text(word),
            }
        }
        self.raw("</bdi>")
    }

    fn escaped(&mut self, it: char) {
        match it {
            '&' => self.0.push_str("&amp;"),
            '<' => self.0.push_str("&lt;"),
            '>' => self.0.push_str("&gt;"),
            '"' => self.0.push_str("&quot;"),
            '\'' => self.0.push_str("&#39;"),
            it => self.0.push(it),
        }
    }
}

/// The beginning of a name that is longer than names may be now.
fn shortened(text: &str) -> &str {
    &text[..text.floor_char_boundary(Story::MOST_TITLE)]
}

#[cfg(test)]
mod tests {
    use baton_hostile::{PatternTarget, Steep, patterns_for};

    use super::*;

    #[track_caller]
    fn check(text: &str, expected: &str) {
        let mut html = Html::default();
        html.text(text);
        assert_eq!(html.into_string(), expected);
    }

    #[test]
    fn text_is_never_markup() {
        check("<script>alert('1')</script>", "&lt;script&gt;alert(&#39;1&#39;)&lt;/script&gt;");
        check("a & b \"c\"", "a &amp; b &quot;c&quot;");
        check("&lt;", "&amp;lt;");
        check("line\n\ttab", "line\n\ttab");
    }

    #[test]
    fn what_cannot_be_seen_is_spelled_out() {
        check("a\u{202E}b", "a<span class=\"hidden\">U+202E</span>b");
        check("\u{7}", "<span class=\"hidden\">U+0007</span>");
        check("\u{E0041}", "<span class=\"hidden\">U+E0041</span>");
        check("a\u{E0151}", "a<span class=\"hidden\">U+E0151</span>");
        // Ordinary right-to-left text is not escaped.
        check("שלום", "שלום");
        check("❤\u{FE0F}", "❤\u{FE0F}");
        let mut html = Html::default();
        html.plain("<a>\u{202E}");
        assert_eq!(html.into_string(), "&lt;a&gt;U+202E");
        let mut html = Html::default();
        html.name(&"x".repeat(1000));
        assert_eq!(html.into_string(), format!("<bdi>{}…</bdi>", "x".repeat(500)));
        let mut html = Html::default();
        html.attribute("\u{202E}\n\" onload=\"x");
        assert_eq!(html.into_string(), "U+202E &quot; onload=&quot;x");
    }

    #[test]
    fn a_page_is_linear_in_its_texts() {
        let mut steep = Steep::default();
        for pattern in patterns_for(PatternTarget::Text) {
            let html = |text: &String| {
                let mut html = Html::default();
                html.text(text).attribute(text);
                html.into_string()
            };
            steep.look(pattern.name, |n| pattern.text(n), html);
        }
        steep.assert_none();
    }
}
