//! Patterns for readers of JSON and of Markdown.

use crate::{Pattern, PatternTarget, repeat, series};

const BLOCK: &str = "\n## Metadata\n\n```json\n{\"summary\": \"x\"}\n```\n";

pub(crate) fn patterns() -> Vec<Pattern> {
    let mut all = json();
    all.extend(markdown());
    all
}

fn json() -> Vec<Pattern> {
    let json = |name, make| Pattern { name, target: PatternTarget::Json, make };
    vec![
        json("items", |n| series("[1", |_| ",1".into(), "]", n)),
        json("items_without_an_end", |n| repeat("[1,1,1],", n)),
        json("keys", |n| series("{\"a\":1", |it| format!(",\"k{it}\":1"), "}", n)),
        json("the_same_key", |n| series("{\"a\":1", |_| ",\"a\":1".into(), "}", n)),
        json("the_same_key_at_the_end", |n| {
            series("{\"a\":1", |it| format!(",\"k{it}\":1"), ",\"a\":1}", n)
        }),
        json("long_keys_alike", |n| {
            series("{\"a\":1", |it| format!(",\"{}{it}\":1", "k".repeat(500)), "}", n)
        }),
        json("depth_at_the_bound", |n| {
            series("[1", |_| format!(",{}{}", "[".repeat(60), "]".repeat(60)), "]", n)
        }),
        json("maps_at_the_bound", |n| {
            let part = |_| format!(",{}1{}", "{\"a\":".repeat(60), "}".repeat(60));
            series("[1", part, "]", n)
        }),
        json("depth_beyond_the_bound", |n| repeat("[", n)),
        json("text", |n| series("[\"", |_| "a".into(), "\"]", n)),
        json("text_without_an_end", |n| series("[\"", |_| "a".into(), "", n)),
        json("escapes", |n| series("[\"", |_| "\\n".into(), "\"]", n)),
        json("long_escapes", |n| series("[\"", |_| "\\u00e9".into(), "\"]", n)),
        json("pairs_of_surrogates", |n| series("[\"", |_| "\\ud83d\\ude00".into(), "\"]", n)),
        json("backslashes", |n| series("[\"", |_| "\\\\".into(), "\"]", n)),
        json("long_number", |n| series("[1", |_| "1".into(), "]", n)),
        json("exponents", |n| series("[1", |_| ",1e999".into(), "]", n)),
        json("blanks", |n| series("[1", |_| " \n\t".into(), "]", n)),
        json("empty_texts", |n| series("[\"\"", |_| ",\"\"".into(), "]", n)),
        json("words", |n| series("[true", |_| ",null,false".into(), "]", n)),
        json("fault_at_the_end", |n| series("[1", |_| ",\n\"é\"".into(), ",]", n)),
        json("artifacts", |n| {
            let part = |it| format!(",{{\"path\":\"src/a{it}.rs\"}}");
            series("{\"summary\":\"x\",\"artifacts\":[{\"path\":\"a\"}", part, "]}", n)
        }),
        json("files", |n| {
            let part = |it| format!(",\"src/a{it}.rs:{it}-{}\"", it + 5);
            series("{\"context\":{\"artifacts\":[\"a\"", part, "]}}", n)
        }),
        json("steps_of_a_workflow", |n| {
            let part = |it| format!(",\"s{it}\"");
            let head = series("{\"workflow_state\":{\"completed_steps\":[\"a\"", part, "]", n / 2);
            series(
                &head,
                |it| {
                    if it == 0 {
                        ",\"remaining_steps\":[\"b\"".into()
                    } else {
                        format!(",\"t{it}\"")
                    }
                },
                "]}}",
                n,
            )
        }),
        json("findings", |n| {
            let part = |it| format!(",{{\"severity\":\"critical\",\"location\":\"f{it}\"}}");
            series("{\"critical_count\":1,\"findings\":[{}", part, "]}", n)
        }),
        json("questions", |n| {
            let part = |it| format!(",\"what is {it}?\"");
            series("{\"questions\":[\"a\"", part, "],\"blockers\":[]}", n)
        }),
        json("acceptance", |n| {
            let part = |it| format!(",\"criterion {it}\"");
            series("{\"expectations\":{\"acceptance_criteria\":[\"a\"", part, "]}}", n)
        }),
    ]
}

fn markdown() -> Vec<Pattern> {
    let markdown = |name, make| Pattern { name, target: PatternTarget::Markdown, make };
    vec![
        markdown("fences", |n| series("", |_| "```\na\n```\n".into(), BLOCK, n)),
        markdown("fences_without_an_end", |n| repeat("```json\n{\n", n)),
        markdown("longer_and_longer_fences", |n| {
            let part = |it: usize| format!("{0}\na\n{0}\n", "`".repeat(3 + it % 300));
            series("", part, BLOCK, n)
        }),
        markdown("shorter_and_shorter_fences", |n| {
            let part = |it: usize| format!("{0}\na\n{0}\n", "~".repeat(303 - it % 300));
            series("", part, BLOCK, n)
        }),
        markdown("headings", |n| series("", |_| "## Metadata\n\n".into(), BLOCK, n)),
        markdown("blocks", |n| series("", |_| BLOCK.into(), "", n)),
        markdown("blocks_that_do_not_read", |n| {
            series("", |_| "## Metadata\n```json\n{]\n```\n".into(), BLOCK, n)
        }),
        markdown("backticks", |n| series("", |_| "`".into(), BLOCK, n)),
        markdown("lines", |n| series("", |_| "a\n".into(), BLOCK, n)),
        markdown("blank_lines", |n| series("", |_| "\n".into(), BLOCK, n)),
        markdown("quotations", |n| series("", |_| "> ".into(), BLOCK, n)),
        markdown("long_line", |n| series("", |_| "a b ".into(), BLOCK, n)),
        markdown("line_breaks_of_two", |n| series("", |_| "a\r\n".into(), BLOCK, n)),
        markdown("backticks_in_the_block", |n| {
            series("## Metadata\n\n```json\n{\"a\": \"", |_| "`".into(), "\"}\n```\n", n)
        }),
        markdown("fences_in_the_block", |n| {
            series("## Metadata\n\n````json\n{\"a\": \"", |_| "```\\n".into(), "\"}\n````\n", n)
        }),
        markdown("prose_behind_the_block", |n| series(BLOCK, |_| "a b c\n".into(), "", n)),
        markdown("no_block", |n| repeat("# a\n", n)),
    ]
}
