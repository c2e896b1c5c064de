//! Patterns for readers of XML.

use crate::{Pattern, PatternTarget, repeat, series};

/// Many attributes, and as many members whose keys could be one of them.
pub(crate) const ATTRIBUTES_AND_KEYS: Pattern = Pattern {
    name: "attributes_and_keys_of_attributes",
    target: PatternTarget::Xml,
    make: |n| {
        let head = series("<a", |it| format!(" a{it}=\"\""), ">", n / 3);
        series(&head, |it| format!("<i baton-key=\"@x{it}\"/>"), "</a>", n)
    },
};

pub(crate) fn patterns() -> Vec<Pattern> {
    let xml = |name, make| Pattern { name, target: PatternTarget::Xml, make };
    vec![
        xml("siblings", |n| series("<a>", |_| "<b/>".into(), "</a>", n)),
        xml("siblings_of_many_names", |n| series("<a>", |it| format!("<b{it}/>"), "</a>", n)),
        xml("siblings_in_turns", |n| series("<a>", |it| format!("<b{}/>", it % 2), "</a>", n)),
        xml("siblings_in_turns_of_many", |n| {
            series("<a>", |it| format!("<b{}/>", it % 1000), "</a>", n)
        }),
        xml("keys_of_order", |n| {
            series("<a>", |it| format!("<b{}/><i baton-key=\"#order\"/>", it % 2), "</a>", n)
        }),
        xml("attributes", |n| series("<a", |it| format!(" a{it}=\"x\""), "/>", n)),
        xml("the_same_attribute", |n| series("<a", |_| " a=\"x\"".into(), "/>", n)),
        xml("attributes_without_values", |n| series("<a", |it| format!(" a{it}"), "/>", n)),
        xml("attribute_without_an_end", |n| series("<a b=\"", |_| "x".into(), "", n)),
        xml("references_in_an_attribute", |n| series("<a b=\"", |_| "&lt;".into(), "\"/>", n)),
        xml("blanks_in_a_tag", |n| series("<a ", |_| "   \n".into(), "/>", n)),
        xml("references", |n| series("<a>", |_| "&amp;".into(), "</a>", n)),
        xml("numbers_of_characters", |n| series("<a>", |_| "&#x41;".into(), "</a>", n)),
        xml("ampersands", |n| series("<a>", |_| "&".into(), "</a>", n)),
        xml("reference_without_an_end", |n| series("<a>&", |_| "a".into(), "", n)),
        xml("sections", |n| series("<a>", |_| "<![CDATA[x]]>".into(), "</a>", n)),
        xml("section_without_an_end", |n| series("<a><![CDATA[", |_| "]]".into(), "", n)),
        xml("comments", |n| series("<a>", |_| "<!-- x -->".into(), "</a>", n)),
        xml("comment_without_an_end", |n| series("<a><!--", |_| "- -".into(), "", n)),
        xml("texts_between_elements", |n| series("<a>", |_| "x<b/>".into(), "</a>", n)),
        xml("blanks_between_elements", |n| series("<a>", |_| "    <b/>".into(), "</a>", n)),
        xml("depth_at_the_bound", |n| {
            let part = |_| "<a>".repeat(60) + &"</a>".repeat(60);
            series("<d>", part, "</d>", n)
        }),
        xml("depth_beyond_the_bound", |n| repeat("<a>", n)),
        xml("ends_without_beginnings", |n| series("<a>", |_| "</b>".into(), "</a>", n)),
        xml("brackets", |n| series("<a>", |_| "<".into(), "</a>", n)),
        xml("long_name", |n| format!("<{0}></{0}>", "a".repeat((n - 5) / 2))),
        xml("long_key", |n| series("<a><i baton-key=\"", |_| "k".into(), "\">x</i></a>", n)),
        xml("same_long_key", |n| {
            series("<a>", |_| format!("<i baton-key=\"{}\"/>", "k".repeat(400)), "</a>", n)
        }),
        xml("escaped_texts", |n| {
            series("<a>", |_| "<b baton-escaped=\"true\">\\u0001</b>".into(), "</a>", n)
        }),
        xml("escaped_text", |n| {
            series("<a baton-escaped=\"true\">", |_| "\\u0001".into(), "</a>", n)
        }),
        xml("lists_of_one", |n| {
            series("<a>", |it| format!("<b{it} baton-list=\"one\">x</b{it}>"), "</a>", n)
        }),
        xml("namespaces", |n| series("<a", |it| format!(" xmlns:p{it}=\"urn:x\""), "/>", n)),
        xml("declared_prefixes", |n| {
            let head = series("<a", |it| format!(" xmlns:p{it}=\"urn:x\""), ">", n / 2);
            series(&head, |it| format!("<p{it}:b/>"), "</a>", n)
        }),
        xml("types", |n| series("<a>", |_| "<b baton-type=\"number\">1</b>".into(), "</a>", n)),
        xml("instructions", |n| series("<a>", |_| "<?x y?>".into(), "</a>", n)),
        xml("document_type", |n| {
            series("<!DOCTYPE a [", |_| "<!ENTITY x 'y'>".into(), "]><a/>", n)
        }),
        xml("line_breaks", |n| series("<a>", |_| "\r\n".into(), "x</a>", n)),
        xml("wide_characters", |n| series("<a>", |_| "日本".into(), "</a>", n)),
        xml("fault_at_the_end", |n| series("<a>", |_| "<b>é</b>\n".into(), "<c></a>", n)),
    ]
}
