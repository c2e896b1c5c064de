//! Patterns for readers of YAML.

use crate::{Pattern, PatternTarget, repeat, series};

pub(crate) fn patterns() -> Vec<Pattern> {
    let yaml = |name, make| Pattern { name, target: PatternTarget::Yaml, make };
    vec![
        yaml("items", |n| repeat("- a\n", n)),
        yaml("empty_items", |n| repeat("-\n", n)),
        yaml("keys", |n| series("", |it| format!("k{it}: v\n"), "", n)),
        yaml("the_same_key", |n| repeat("k: v\n", n)),
        yaml("the_same_key_at_the_end", |n| series("", |it| format!("k{it}: v\n"), "k0: v\n", n)),
        yaml("keys_without_values", |n| series("", |it| format!("k{it}:\n"), "", n)),
        yaml("flow_items", |n| series("[", |_| "a,".into(), "]", n)),
        yaml("flow_items_without_an_end", |n| series("[", |_| "a,".into(), "", n)),
        yaml("flow_keys", |n| series("{", |it| format!("k{it}: v, "), "}", n)),
        yaml("flow_keys_without_values", |n| series("{", |it| format!("k{it}, "), "}", n)),
        yaml("flow_pairs", |n| series("[", |_| "a: b,".into(), "]", n)),
        yaml("flow_over_lines", |n| series("[", |_| "a,\n".into(), "]", n)),
        yaml("flow_depth", |n| series("[", |_| "[".repeat(60) + &"]".repeat(60) + ",", "]", n)),
        yaml("colons", |n| series("a: ", |_| ":".into(), "\n", n)),
        yaml("colons_and_blanks", |n| repeat(": ", n)),
        yaml("questions", |n| repeat("? ", n)),
        yaml("questions_on_lines", |n| series("", |it| format!("? k{it}\n: v\n"), "", n)),
        yaml("dashes", |n| repeat("-", n)),
        yaml("dashes_and_blanks", |n| repeat("- ", n)),
        yaml("plain_text_over_lines", |n| series("a: b\n", |_| "  c\n".into(), "", n)),
        yaml("plain_text_with_blank_lines", |n| series("a: b\n", |_| "  c\n\n".into(), "", n)),
        yaml("quoted_over_lines", |n| series("a: \"", |_| "b\n  ".into(), "\"", n)),
        yaml("quoted_without_an_end", |n| series("a: \"", |_| "b c ".into(), "", n)),
        yaml("single_quotes", |n| series("a: '", |_| "''".into(), "'", n)),
        yaml("escapes", |n| series("a: \"", |_| "\\n".into(), "\"", n)),
        yaml("long_escapes", |n| series("a: \"", |_| "\\U0001F600".into(), "\"", n)),
        yaml("line_continuations", |n| series("a: \"", |_| "\\\n  ".into(), "\"", n)),
        yaml("literal", |n| series("a: |\n", |_| "  b\n".into(), "", n)),
        yaml("literal_of_blank_lines", |n| series("a: |\n", |_| "\n".into(), "  b\n", n)),
        yaml("literal_indented_ever_deeper", |n| {
            let deep = |it: usize| format!("{}b\n", " ".repeat(2 + it % 400));
            series("a: |\n", deep, "", n)
        }),
        yaml("folded", |n| series("a: >\n", |_| "  b\n".into(), "", n)),
        yaml("folded_of_blank_lines", |n| series("a: >\n", |_| "\n\n  b\n".into(), "", n)),
        yaml("literals", |n| series("", |it| format!("k{it}: |\n  b\n"), "", n)),
        yaml("comments", |n| repeat("# a\n", n)),
        yaml("comments_behind_values", |n| series("", |it| format!("k{it}: v # c\n"), "", n)),
        yaml("hashes", |n| series("a: ", |_| "#".into(), "\n", n)),
        yaml("blank_lines", |n| series("", |_| "\n".into(), "a: b\n", n)),
        yaml("blanks", |n| series("a:", |_| " ".into(), "b\n", n)),
        yaml("tabs", |n| series("a:", |_| "\t".into(), "b\n", n)),
        yaml("documents", |n| repeat("---\n", n)),
        yaml("directives", |n| repeat("%YAML 1.2\n", n)),
        yaml("anchors", |n| series("", |it| format!("- &a{it} b\n"), "", n)),
        yaml("aliases", |n| repeat("- *a\n", n)),
        yaml("tags", |n| repeat("- !a b\n", n)),
        yaml("numbers", |n| series("[", |_| "1.5e3,".into(), "]", n)),
        yaml("long_number", |n| series("a: ", |_| "9".into(), "\n", n)),
        yaml("long_key", |n| series("", |_| "k".into(), ": v\n", n)),
        yaml("long_keys", |n| series("", |it| format!("{}{it}: v\n", "k".repeat(900)), "", n)),
        yaml("long_quoted_key", |n| series("\"", |_| "k".into(), "\": v\n", n)),
        yaml("long_line", |n| series("a: ", |_| "b c ".into(), "\n", n)),
        yaml("depth", |n| {
            let part = |it: usize| {
                let line = |depth: usize| format!("{}k{it}:\n", " ".repeat(depth));
                (0..50).map(line).collect()
            };
            series("", part, "", n)
        }),
        yaml("depth_of_dashes", |n| series("", |_| "- ".repeat(50) + "a\n", "", n)),
        yaml("steps_back", |n| repeat("- a:\n    b:\n      c: d\n", n)),
        yaml("wide_characters", |n| series("a: ", |_| "日本".into(), "\n", n)),
        yaml("line_breaks_of_two", |n| repeat("- a\r\n", n)),
        yaml("fault_at_the_end", |n| series("", |it| format!("é{it}: v\n"), "]\n", n)),
    ]
}
