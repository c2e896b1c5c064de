//! Characters that are invisible, or that reorder or join their neighbours: the one table, and
//! where in a text they are legitimate.
//!
//! Names may contain none of them. Prose may: between the letters of many scripts, inside an emoji.
//! [`hidden`] finds the others, which may carry a message that a reader cannot see.

use std::cmp::Ordering;

/// `Default_Ignorable_Code_Point` of Unicode 18.0, and other invisible characters: controls, line
/// and paragraph separators, the empty braille cell, marks of interlinear annotation.
const TABLE: &[(char, char)] = &[
    ('\u{0}', '\u{1F}'),
    ('\u{7F}', '\u{9F}'),
    ('\u{AD}', '\u{AD}'),
    ('\u{34F}', '\u{34F}'),
    ('\u{61C}', '\u{61C}'),
    ('\u{115F}', '\u{1160}'),
    ('\u{17B4}', '\u{17B5}'),
    ('\u{180B}', '\u{180F}'),
    ('\u{200B}', '\u{200F}'),
    ('\u{2028}', '\u{202E}'),
    ('\u{2060}', '\u{206F}'),
    ('\u{2800}', '\u{2800}'),
    ('\u{3164}', '\u{3164}'),
    ('\u{FE00}', '\u{FE0F}'),
    ('\u{FEFF}', '\u{FEFF}'),
    ('\u{FFA0}', '\u{FFA0}'),
    ('\u{FFF0}', '\u{FFFB}'),
    ('\u{1BCA0}', '\u{1BCA3}'),
    ('\u{1D173}', '\u{1D17A}'),
    ('\u{E0000}', '\u{E0FFF}'),
];

/// Tags that follow this spell out a flag: England's is a black flag and six of them.
const BLACK_FLAG: char = '\u{1F3F4}';
const CANCEL_TAG: char = '\u{E007F}';
/// A country and its part, as in `gbeng`.
const MOST_TAGS: usize = 6;

const JOINERS: [char; 2] = ['\u{200C}', '\u{200D}'];
const EMOJI_STYLE: char = '\u{FE0F}';
const KEYCAP: char = '\u{20E3}';

pub fn is_invisible(it: char) -> bool {
    if it.is_ascii() {
        return it.is_ascii_control();
    }
    let place = |&(first, last): &(char, char)| {
        if last < it {
            Ordering::Less
        } else if it < first {
            Ordering::Greater
        } else {
            Ordering::Equal
        }
    };
    TABLE.binary_search_by(place).is_ok()
}

/// Controls, joiners and marks of direction: the characters that the format printers escape.
///
/// This set is older than the table above. It must not change, because stored documents that were
/// printed with it must be read, and printed identically, for ever.
pub fn is_formatting(it: char) -> bool {
    it.is_control()
        || matches!(it, '\u{200B}'..='\u{200F}' | '\u{2028}'..='\u{202E}' | '\u{2060}'..='\u{206F}')
        || matches!(it, '\u{FEFF}' | '\u{061C}' | '\u{180E}' | '\u{E0000}'..='\u{E007F}')
}

/// The invisible characters of a text that are not legitimate at their position, each with its byte
/// offset. Line feeds and tabs are layout, and are not reported.
pub fn hidden(text: &str) -> impl Iterator<Item = (usize, char)> + '_ {
    let mut before = None;
    let mut end_of_flag = 0;
    text.char_indices().filter(move |&(at, it)| {
        let after = &text[at + it.len_utf8()..];
        if it == BLACK_FLAG {
            end_of_flag = at + it.len_utf8() + flag_tags(after);
        }
        let is_hidden =
            is_invisible(it) && at >= end_of_flag && !belongs(it, before, after.chars().next());
        // A hidden character does not make its neighbour legitimate.
        before = if is_hidden { None } else { Some(it) };
        is_hidden
    })
}

/// Replaces every hidden character of a text with the result of `spell`.
pub fn spelled(text: &str, spell: impl Fn(char) -> String) -> String {
    let mut spelled = String::with_capacity(text.len());
    let mut done = 0;
    for (at, it) in hidden(text) {
        spelled.push_str(&text[done..at]);
        spelled.push_str(&spell(it));
        done = at + it.len_utf8();
    }
    spelled.push_str(&text[done..]);
    spelled
}

/// Whether an invisible character has a function between its neighbours. A character that could be
/// repeated, or follow any character, could carry a message: it is never legitimate.
fn belongs(it: char, before: Option<char>, after: Option<char>) -> bool {
    let is_behind = |of: fn(char) -> bool| before.is_some_and(of);
    let is_before = |of: fn(char) -> bool| after.is_some_and(of);
    match it {
        '\n' | '\t' => true,
        '\u{200C}' | '\u{200D}' => {
            is_behind(is_joined) && after.is_none_or(|it| !it.is_ascii() && !is_invisible(it))
        }
        EMOJI_STYLE if after == Some(KEYCAP) => is_behind(|it| "0123456789#*".contains(it)),
        '\u{FE0E}' | EMOJI_STYLE => is_behind(is_pictograph),
        // Registered variants of a character; the later selectors are used to smuggle text.
        '\u{FE00}'..='\u{FE02}' | '\u{E0100}'..='\u{E011F}' => is_behind(is_ideograph),
        '\u{180B}'..='\u{180F}' => is_behind(|it| matches!(it, '\u{1820}'..='\u{18AA}')),
        // Syllable fillers of old Hangul.
        '\u{115F}' => is_before(|it| matches!(it, '\u{1161}'..='\u{11A7}')),
        '\u{1160}' => is_behind(|it| matches!(it, '\u{1100}'..='\u{115E}')),
        '\u{2800}' => {
            let is_braille = |it| matches!(it, '\u{2801}'..='\u{28FF}');
            is_behind(is_braille) || is_before(is_braille)
        }
        _ => false,
    }
}

/// Letters that are not ASCII, and emoji: a joiner may follow these.
fn is_joined(it: char) -> bool {
    !it.is_ascii() && (it == EMOJI_STYLE || !is_invisible(it)) && !JOINERS.contains(&it)
}

/// The blocks of the characters that have both a plain and a coloured form.
fn is_pictograph(it: char) -> bool {
    matches!(it, '\u{A9}' | '\u{AE}' | '\u{203C}' | '\u{2049}' | '\u{2122}' | '\u{2139}')
        || matches!(it, '\u{2194}'..='\u{21AA}' | '\u{231A}'..='\u{23FF}' | '\u{24C2}')
        || matches!(it, '\u{25AA}'..='\u{25FE}' | '\u{2600}'..='\u{27BF}' | '\u{2934}'..='\u{2935}')
        || matches!(it, '\u{2B05}'..='\u{2B55}' | '\u{3030}' | '\u{303D}' | '\u{3297}' | '\u{3299}')
        || matches!(it, '\u{1F000}'..='\u{1FAFF}')
}

fn is_ideograph(it: char) -> bool {
    matches!(it, '\u{3400}'..='\u{4DBF}' | '\u{4E00}'..='\u{9FFF}' | '\u{F900}'..='\u{FAFF}')
        || matches!(it, '\u{20000}'..='\u{3FFFD}')
}

/// How many bytes at the start of a text are the tags of a flag; 0 if they spell none.
fn flag_tags(text: &str) -> usize {
    let is_tag = |it: &char| matches!(it, '\u{E0030}'..='\u{E0039}' | '\u{E0061}'..='\u{E007A}');
    let n_tags = text.chars().take(MOST_TAGS + 1).take_while(is_tag).count();
    let n_bytes = n_tags * CANCEL_TAG.len_utf8();
    let is_flag = (3..=MOST_TAGS).contains(&n_tags) && text[n_bytes..].starts_with(CANCEL_TAG);
    if is_flag { n_bytes + CANCEL_TAG.len_utf8() } else { 0 }
}

#[cfg(test)]
mod tests {
    use regex_syntax::hir::{Class, HirKind};

    use super::*;

    /// Compared with the Unicode tables of another crate.
    #[test]
    fn whatever_a_renderer_may_ignore_is_invisible() {
        let hir = regex_syntax::parse(r"\p{Default_Ignorable_Code_Point}").unwrap();
        let HirKind::Class(Class::Unicode(class)) = hir.kind() else { panic!("{hir:?}") };
        let mut n_seen = 0;
        for it in class.ranges().iter().flat_map(|it| it.start()..=it.end()) {
            assert!(is_invisible(it), "U+{:04X}", it as u32);
            n_seen += 1;
        }
        assert!(n_seen > 4000, "{n_seen}");
        let is_known = |it: char| class.ranges().iter().any(|r| r.start() <= it && it <= r.end());
        let mut ours: Vec<u32> = ('\u{80}'..=char::MAX)
            .filter(|it| is_invisible(*it) && !is_known(*it))
            .map(u32::from)
            .collect();
        ours.retain(|it| *it > 0x9F);
        assert_eq!(ours, [0x2028, 0x2029, 0x2800, 0xFFF9, 0xFFFA, 0xFFFB]);
    }

    #[test]
    fn the_table_is_in_order_and_holds_all_that_was_refused_before_it() {
        assert!(TABLE.is_sorted_by(|(_, last), (first, _)| last < first));
        for it in '\0'..=char::MAX {
            assert!(!is_formatting(it) || is_invisible(it), "U+{:04X}", it as u32);
        }
    }

    fn codes(text: &str) -> Vec<u32> {
        hidden(text).map(|(_, it)| it as u32).collect()
    }

    #[test]
    fn what_belongs_in_prose_is_not_hidden() {
        for text in [
            "plain\ttext\nof lines",
            "Grüße, 日本語, مرحبا",
            "I ❤\u{FE0F} it, ☎\u{FE0E} 1\u{FE0F}\u{20E3}",
            "❤\u{FE0F}\u{200D}🔥 👩\u{200D}💻 👩🏽\u{200D}🚀 🏳\u{FE0F}\u{200D}🌈",
            "🏴\u{E0067}\u{E0062}\u{E0065}\u{E006E}\u{E0067}\u{E007F} wins",
            "می\u{200C}خواهم",
            "क्\u{200D}ष and ক্\u{200C}ষ",
            "葛\u{E0100}城市",
            "ᠮᠣᠩᠭᠣᠯ\u{180B}",
            "⠓⠑\u{2800}⠇⠇⠕",
            "ᄀ\u{1160} \u{115F}ᅡ",
        ] {
            assert_eq!(codes(text), [0u32; 0], "{text:?}");
        }
    }

    #[test]
    fn what_could_carry_a_message_is_hidden() {
        for (text, expected) in [
            ("bell\u{7} and \r", &[0x7, 0xD][..]),
            ("admin\u{202E}nimda", &[0x202E]),
            ("pass\u{200B}word, a\u{200D}b", &[0x200B, 0x200D]),
            ("soft\u{AD}hyphen", &[0xAD]),
            ("a\u{FE0F}", &[0xFE0F]),
            ("1\u{FE0F}", &[0xFE0F]),
            // The first selects how the heart is drawn.
            ("❤\u{FE0F}\u{FE01}\u{FE0F}", &[0xFE01, 0xFE0F]),
            ("😀\u{E0158}\u{E0159}", &[0xE0158, 0xE0159]),
            ("葛\u{E0151}", &[0xE0151]),
            ("葛\u{E0100}\u{E0100}", &[0xE0100]),
            ("م\u{200C}\u{200D}\u{200C}م", &[0x200C, 0x200D, 0x200C]),
            ("hidden\u{E0041}", &[0xE0041]),
            // Not a valid flag.
            ("🏴\u{E0069}\u{E0067}\u{E006E}", &[0xE0069, 0xE0067, 0xE006E]),
            ("\u{3164}\u{FFA0}\u{34F}", &[0x3164, 0xFFA0, 0x34F]),
            ("\u{2800}\u{115F}\u{1160}", &[0x2800, 0x115F, 0x1160]),
            ("\u{17B4}\u{17B5}\u{180B}", &[0x17B4, 0x17B5, 0x180B]),
            ("\u{FFF9}x\u{FFFA}y\u{FFFB}", &[0xFFF9, 0xFFFA, 0xFFFB]),
            ("\u{1D173}\u{1BCA0}", &[0x1D173, 0x1BCA0]),
            ("\u{FEFF}a", &[0xFEFF]),
        ] {
            assert_eq!(codes(text), expected, "{text:?}");
        }
    }

    #[test]
    fn only_what_is_hidden_is_spelled_out() {
        let spell = |it: char| format!("[{:X}]", it as u32);
        assert_eq!(spelled("❤\u{FE0F} a\u{FE0F}\n", spell), "❤\u{FE0F} a[FE0F]\n");
    }
}
