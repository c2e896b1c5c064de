//! The Markdown of our own error pages, as HTML: headings, paragraphs, lists and code. Links stay
//! text, because they lead to files of the repository.

use super::html::Html;

pub(crate) fn render(html: &mut Html, markdown: &str) {
    let mut open = Block::None;
    for line in markdown.lines() {
        if let Block::Code = open {
            if line.starts_with("```") {
                open = open.end(html);
            } else {
                html.text(line).raw("\n");
            }
        } else if line.starts_with("```") {
            open.end(html);
            html.raw("<pre tabindex=\"0\">");
            open = Block::Code;
        } else if let Some(heading) = line.strip_prefix('#') {
            open = open.end(html);
            html.raw("<h2>").with_code(heading.trim_start_matches('#').trim()).raw("</h2>");
        } else if line.trim().is_empty() {
            open = open.end(html);
        } else if let Some(item) = line.strip_prefix("- ") {
            if open != Block::List {
                open.end(html);
                html.raw("<ul class=\"plain\">");
                open = Block::List;
            }
            html.raw("<li>").with_code(item).raw("</li>");
        } else {
            if open != Block::Paragraph {
                open.end(html);
                html.raw("<p>");
                open = Block::Paragraph;
            }
            html.with_code(line).raw("\n");
        }
    }
    open.end(html);
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Block {
    None,
    Paragraph,
    List,
    Code,
}

impl Block {
    fn end(self, html: &mut Html) -> Self {
        html.raw(match self {
            Block::None => "",
            Block::Paragraph => "</p>",
            Block::List => "</ul>",
            Block::Code => "</pre>",
        });
        Block::None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_are_closed_and_text_is_never_markup() {
        let mut html = Html::default();
        render(&mut html, "# `a` <b>\n\none\ntwo\n- x\n- `y`\n\n```sh\n# no <i>\n```\nend");
        assert_eq!(
            html.into_string(),
            "<h2><code>a</code> &lt;b&gt;</h2><p>one\ntwo\n</p><ul class=\"plain\"><li>x</li>\
             <li><code>y</code></li></ul><pre tabindex=\"0\"># no &lt;i&gt;\n</pre><p>end\n</p>"
        );
    }
}
