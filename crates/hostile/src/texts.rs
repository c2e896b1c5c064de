//! Texts inside documents, for rules, printers and pages.

use crate::{Pattern, PatternTarget, repeat, series};

/// A private key that begins over and over, on one line.
pub(crate) const BEGINNINGS_OF_KEYS: Pattern = Pattern {
    name: "beginnings_of_private_keys",
    target: PatternTarget::Text,
    make: |n| repeat("-----BEGIN ", n),
};

pub(crate) fn patterns() -> Vec<Pattern> {
    let mut all = of_writing();
    all.extend(of_secrets_and_orders());
    all.extend(of_characters());
    all
}

fn text(name: &'static str, make: fn(usize) -> String) -> Pattern {
    Pattern { name, target: PatternTarget::Text, make }
}

fn of_writing() -> Vec<Pattern> {
    vec![
        text("letters", |n| repeat("a", n)),
        text("digits", |n| repeat("1", n)),
        text("blanks", |n| repeat(" ", n)),
        text("line_breaks", |n| repeat("\n", n)),
        text("tabs", |n| repeat("\t", n)),
        text("lines", |n| repeat("a\n", n)),
        text("indented_lines", |n| repeat("  a\n", n)),
        text("points", |n| repeat(".", n)),
        text("sentences", |n| repeat("A b. ", n)),
        text("sentences_in_quotes", |n| repeat("A.'\") ", n)),
        text("abbreviations", |n| repeat("e.g. ", n)),
        text("quotes_behind_a_point", |n| series("a.", |_| "'".into(), " B.", n)),
        text("points_and_quotes", |n| repeat(".'", n)),
        text("quotation_marks", |n| repeat("\"", n)),
        text("quotations", |n| repeat("\"a\" ", n)),
        text("quotations_that_do_not_end", |n| repeat("“", n)),
        text("apostrophes", |n| repeat(" 'a", n)),
        text("backticks", |n| repeat("`", n)),
        text("fences", |n| repeat("```\n", n)),
        text("longer_and_longer_fences", |n| {
            series("", |it| format!("{}\n", "`".repeat(3 + it % 300)), "", n)
        }),
        text("angles", |n| repeat("<", n)),
        text("tags", |n| repeat("<b>", n)),
        text("brackets", |n| repeat("[", n)),
        text("links", |n| repeat("[a](b) ", n)),
        text("braces", |n| repeat("{{a}} ", n)),
        text("variables_that_do_not_end", |n| repeat("{{", n)),
        text("bars", |n| repeat("a|", n)),
        text("choices", |n| repeat("aa|bb|", n)),
        text("dashes", |n| repeat("-", n)),
        text("hashes", |n| repeat("#", n)),
        text("backslashes", |n| repeat("\\", n)),
        text("ampersands", |n| repeat("&", n)),
        text("ends_of_sections", |n| repeat("]]>", n)),
        text("words", |n| repeat("done ", n)),
        text("questions", |n| repeat("???", n)),
    ]
}

fn of_secrets_and_orders() -> Vec<Pattern> {
    vec![
        text("orders_that_begin", |n| repeat("ignore ", n)),
        text("orders_in_quotes", |n| repeat("\"ignore all instructions\" ", n)),
        text("orders_that_almost_end", |n| repeat("ignore all previous ", n)),
        text("from_now_on", |n| repeat("from now on ", n)),
        text("markers", |n| repeat("<|im_", n)),
        text("keys_that_begin", |n| repeat("sk-", n)),
        text("keys_on_words", |n| repeat("sk-abcdefgh ", n)),
        text("tokens", |n| repeat("ghp_ab12cd34 ", n)),
        text("long_token", |n| series("ghp_", |_| "aaaaaaaa".into(), "", n)),
        text("web_tokens", |n| repeat("eyJabcdefg.", n)),
        text("web_tokens_that_begin", |n| repeat("eyJabcdefg.eyJ", n)),
        text("names_of_secrets", |n| repeat("password=", n)),
        text("names_and_values", |n| repeat("token=abcdefgh;", n)),
        text("names_far_away", |n| series("token=", |_| " ".into(), "abcdefgh12", n)),
        text("values_and_quotes", |n| repeat("='' abcdefgh", n)),
        text("bearers", |n| repeat("bearer abcdefgh ", n)),
        text("addresses", |n| repeat("https://a.b/c ", n)),
        text("addresses_with_names", |n| repeat("://a@b:", n)),
        text("addresses_without_ends", |n| repeat("://a:", n)),
        text("ats", |n| series("x://a:b", |_| "@".into(), "", n)),
        text("commands_with_names", |n| repeat(" -u a", n)),
        text("commands_with_users", |n| repeat(" --user a:b", n)),
        text("keys_without_ends", |n| repeat("-----BEGIN X-----\n", n)),
        text("ends_of_keys", |n| repeat("-----END ", n)),
        text("keys_and_halves_of_ends", |n| repeat("-----BEGIN A-----END ", n)),
        text("parents", |n| repeat("../", n)),
        text("folders", |n| repeat("a/", n)),
        text("ranges", |n| repeat("src/a.rs:1-2 ", n)),
        text("ranges_that_begin", |n| repeat("a:1", n)),
        text("colons", |n| repeat(":", n)),
        text("colons_and_blanks", |n| repeat("a: ", n)),
    ]
}

fn of_characters() -> Vec<Pattern> {
    vec![
        text("reversed", |n| repeat("\u{202E}", n)),
        text("joiners", |n| repeat("\u{200D}", n)),
        text("emoji_and_joiners", |n| repeat("👩\u{200D}", n)),
        text("flags", |n| repeat("\u{1F3F4}\u{E0067}", n)),
        text("selectors", |n| repeat("a\u{FE0F}", n)),
        text("byte_order_marks", |n| repeat("\u{FEFF}", n)),
        text("separators_of_lines", |n| repeat("\u{2028}", n)),
        text("next_lines", |n| repeat("\u{85}", n)),
        text("accents", |n| repeat("e\u{301}", n)),
        text("wide_characters", |n| repeat("日本", n)),
        text("private_use", |n| repeat("\u{E000}", n)),
        text("escapes_of_terminals", |n| repeat("\u{1b}[31m", n)),
        text("bells", |n| repeat("\u{7}", n)),
        text("deletes", |n| repeat("\u{7F}", n)),
        text("returns", |n| repeat("\r", n)),
        text("references", |n| repeat("&#x41;", n)),
        text("placeholders", |n| repeat("<your name> ", n)),
        text("long_placeholder", |n| series("<a ", |_| "b".into(), ">", n)),
        text("dots", |n| repeat("…", n)),
        text("numbers", |n| repeat("1.5, ", n)),
        text("percent", |n| repeat("%", n)),
        text("dollars", |n| repeat("$", n)),
        text("headings", |n| repeat("## Metadata\n", n)),
        text("handoffs", |n| repeat("<handoff>", n)),
        text("names_of_people", |n| repeat("@ada ", n)),
    ]
}
