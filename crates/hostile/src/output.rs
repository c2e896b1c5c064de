//! Patterns for `extract`, which looks for handoffs in what an agent printed.

use crate::{Pattern, PatternTarget, repeat, series};

const END: &str = "\n<handoff><from>a</from></handoff>\n";

pub(crate) fn patterns() -> Vec<Pattern> {
    let output = |name, make| Pattern { name, target: PatternTarget::Output, make };
    vec![
        output("chatter", |n| series("", |_| "I am done.\n".into(), END, n)),
        output("beginnings", |n| series("", |_| "<handoff>".into(), END, n)),
        output("beginnings_on_lines", |n| series("", |_| "<handoff>\n".into(), END, n)),
        output("ends", |n| series("", |_| "</handoff>".into(), END, n)),
        output("empty_handoffs", |n| series("", |_| "<handoff></handoff>\n".into(), END, n)),
        output("handoffs_that_do_not_read", |n| {
            series("", |_| "<handoff><a></handoff>\n".into(), END, n)
        }),
        output("sections", |n| series("", |_| "<handoff><![CDATA[".into(), END, n)),
        output("comments", |n| series("", |_| "<!-- <handoff> ".into(), END, n)),
        output("attributes", |n| series("", |_| "<handoff a=\"".into(), END, n)),
        output("completions", |n| series("", |_| "<workflow_complete>".into(), END, n)),
        output("braces", |n| series("", |_| "{".into(), END, n)),
        output("braces_on_lines", |n| series("", |_| "{\n".into(), END, n)),
        output("objects", |n| series("", |_| "{\"handoff\":{}}\n".into(), END, n)),
        output("objects_that_do_not_end", |n| series("", |_| "{\"handoff\":{\n".into(), END, n)),
        output("texts_that_do_not_end", |n| series("", |_| "{\"a\": \"\n".into(), END, n)),
        output("fences", |n| series("", |_| "```json\n{}\n```\n".into(), END, n)),
        output("fences_that_do_not_end", |n| series("", |_| "```json\n{\n".into(), END, n)),
        output("fences_of_xml", |n| series("", |_| "```xml\n<handoff>\n```\n".into(), END, n)),
        output("fences_of_yaml", |n| {
            series("", |_| "```yaml\nhandoff:\n  a: [\n```\n".into(), END, n)
        }),
        output("longer_and_longer_fences", |n| {
            series("", |it| format!("{}json\n", "`".repeat(3 + it % 300)), END, n)
        }),
        output("yaml", |n| series("", |_| "handoff:\n  from: a\n".into(), END, n)),
        output("yaml_that_does_not_read", |n| series("", |_| "handoff:\n  a: [\n".into(), END, n)),
        output("yaml_documents", |n| series("", |_| "---\nhandoff:\n".into(), END, n)),
        output("fences_of_markdown", |n| {
            series("", |_| "```md\n> {\n<!-- a -->\n```\n".into(), END, n)
        }),
        output("quotes", |n| series("", |_| "> <handoff>\n".into(), END, n)),
        output("quotes_and_lines", |n| series("", |_| "> {\nx\n".into(), END, n)),
        output("quotes_in_quotes", |n| series("", |_| "> ".into(), END, n)),
        output("quotes_in_quotes_on_lines", |n| {
            series("", |it| format!("{}{{\n", "> ".repeat(it % 50)), END, n)
        }),
        output("list_items", |n| series("", |_| "- ```yaml\n  handoff:\n  ```\n".into(), END, n)),
        output("lists_in_lists", |n| series("", |_| "- ".into(), END, n)),
        output("lists_in_lists_on_lines", |n| {
            series("", |it| format!("{}- a\n", "  ".repeat(it % 50)), END, n)
        }),
        output("comments_on_lines", |n| series("", |_| "<!-- a\n".into(), END, n)),
        output("comments_that_end", |n| series("", |_| "<!-- {\n-->\n{\n".into(), END, n)),
        output("rules", |n| series("", |_| "---\na: b\n".into(), END, n)),
        output("rules_around_handoffs", |n| {
            series("", |_| "---\nfrom: a\nto: b\nnext_steps: c\n".into(), END, n)
        }),
        output("envelopes", |n| {
            series("", |_| "{\"result\":\"<handoff><a></handoff>\"}\n".into(), END, n)
        }),
        output("envelopes_of_lines", |n| {
            series("{\"result\":\"", |_| "<handoff>\\n{\\n> {\\n".into(), "\"}", n)
        }),
        output("envelopes_of_objects", |n| {
            series("{\"content\":[", |_| "{\"text\":\"{}\"},".into(), "{}]}", n)
        }),
        output("lists_of_envelopes", |n| series("[", |_| "{\"text\":\"> {}\"},".into(), "{}]", n)),
        output("escapes", |n| series("{\"text\":\"", |_| "\\\\\\\"".into(), "\"}", n)),
        output("headings", |n| series("", |_| "## Metadata\n".into(), END, n)),
        output("colours", |n| series("", |_| "\u{1b}[31ma\u{1b}[0m".into(), END, n)),
        output("colours_that_do_not_end", |n| series("", |_| "\u{1b}[".into(), END, n)),
        output("titles_that_do_not_end", |n| series("", |_| "\u{1b}]0;".into(), END, n)),
        output("carriage_returns", |n| series("", |_| "a\r".into(), END, n)),
        output("backspaces", |n| series("", |_| "a\u{8}".into(), END, n)),
        output("indented", |n| series("", |_| "    <handoff>\n".into(), END, n)),
        output("quoted", |n| repeat("> <handoff>\n> </handoff>\n", n)),
        output("brackets", |n| series("", |_| "<".into(), END, n)),
        output("long_line", |n| series("", |_| "a b ".into(), END, n)),
    ]
}
