//! Fits a prompt into its budget: the least important sections go first, and the package is cut
//! only when no other section is left.

/// A part of a prompt.
pub(super) struct Section {
    /// Its name for people, reported when it is left out.
    pub(super) name: String,
    pub(super) text: String,
    pub(super) worth: Worth,
}

/// How much is lost with a section.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Worth {
    /// Repeats another part of the prompt.
    Repeated,
    /// Where the work comes from.
    Background,
    /// Prevents a mistake that was made before.
    Lesson,
    /// A message to the receiver.
    Word,
    /// Cut, but never left out.
    Package,
    /// The place that lists what is left out.
    Note,
    Needed,
}

impl Worth {
    /// Parses the word that templates use.
    pub(super) fn parse(word: &str) -> Option<Self> {
        Some(match word {
            "repeated" => Worth::Repeated,
            "background" => Worth::Background,
            "lesson" => Worth::Lesson,
            "word" => Worth::Word,
            "package" => Worth::Package,
            "note" => Worth::Note,
            "needed" => Worth::Needed,
            _ => return None,
        })
    }
}

pub(super) struct Fitted {
    pub(super) text: String,
    /// Names, in the order in which they were dropped.
    pub(super) left_out: Vec<String>,
}

/// How the budget shortens texts; implemented by the module that knows them.
pub(super) trait Shorten {
    /// The package, cut to at most so many characters.
    fn package(&self, most_chars: usize) -> String;

    /// Lists what is left out.
    fn note(&self, left_out: &[String]) -> String;
}

/// A rough but stable measure: four characters per token.
pub(super) fn tokens(text: &str) -> usize {
    text.chars().count().div_ceil(4)
}

pub(super) fn fit(
    mut sections: Vec<Section>,
    most_tokens: Option<u32>,
    shorten: &dyn Shorten,
) -> Fitted {
    sections.retain(|it| !it.text.is_empty() || it.worth == Worth::Note);
    let Some(most_tokens) = most_tokens else {
        return Fitted { text: join(&sections), left_out: Vec::new() };
    };
    let most_chars = most_tokens as usize * 4;
    let mut left_out: Vec<String> = Vec::new();
    while n_chars(&sections) > most_chars {
        let Some(index) = least(&sections) else { break };
        left_out.push(sections.remove(index).name);
        if let Some(note) = sections.iter_mut().find(|it| it.worth == Worth::Note) {
            note.text = shorten.note(&left_out);
        }
    }
    let n_all = n_chars(&sections);
    if n_all > most_chars
        && let Some(package) = sections.iter_mut().find(|it| it.worth == Worth::Package)
    {
        let empty = shorten.package(0).chars().count();
        let around = n_all - package.text.chars().count();
        package.text = shorten.package(most_chars.saturating_sub(around + empty));
        left_out.push("the end of the package".to_owned());
    }
    Fitted { text: join(&sections), left_out }
}

/// The least important section; of equals the longest, so that fewer have to go.
fn least(sections: &[Section]) -> Option<usize> {
    let droppable = sections.iter().enumerate().filter(|(_, it)| it.worth < Worth::Package);
    droppable
        .min_by_key(|(_, it)| (it.worth, std::cmp::Reverse(it.text.len())))
        .map(|(index, _)| index)
}

fn n_chars(sections: &[Section]) -> usize {
    join(sections).chars().count()
}

fn join(sections: &[Section]) -> String {
    let texts = sections.iter().filter(|it| !it.text.is_empty());
    let texts: Vec<&str> = texts.map(|it| it.text.trim_end_matches('\n')).collect();
    format!("{}\n", texts.join("\n\n"))
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Letters;

    impl Shorten for Letters {
        fn package(&self, most_chars: usize) -> String {
            format!("{}[cut]", "p".repeat(most_chars.min(40)))
        }

        fn note(&self, left_out: &[String]) -> String {
            format!("-{}", left_out.len())
        }
    }

    fn sections() -> Vec<Section> {
        let section = |name: &str, letter: &str, n, worth| Section {
            name: name.to_owned(),
            text: letter.repeat(n),
            worth,
        };
        vec![
            section("top", "t", 10, Worth::Needed),
            section("story", "s", 20, Worth::Background),
            section("package", "p", 40, Worth::Package),
            section("files", "f", 20, Worth::Repeated),
            section("context", "c", 30, Worth::Repeated),
            section("", "", 0, Worth::Note),
        ]
    }

    #[track_caller]
    fn check(most_tokens: Option<u32>, left_out: &[&str], text: &str) {
        let fitted = fit(sections(), most_tokens, &Letters);
        assert_eq!(fitted.left_out, left_out);
        let words: Vec<String> =
            fitted.text.split("\n\n").map(|it| it.trim_end().to_owned()).collect();
        let words: Vec<String> = words
            .iter()
            .map(|it| match it.find('[').unwrap_or(it.len()) {
                n if it.starts_with('-') => it[..n].to_owned(),
                n => format!("{}{}{}", &it[..1], n, &it[n..]),
            })
            .collect();
        assert_eq!(words.join(" "), text);
    }

    #[test]
    fn the_least_important_goes_first_and_the_package_is_cut_last() {
        check(None, &[], "t10 s20 p40 f20 c30");
        check(Some(100), &[], "t10 s20 p40 f20 c30");
        check(Some(30), &["context"], "t10 s20 p40 f20 -1");
        check(Some(22), &["context", "files"], "t10 s20 p40 -2");
        check(Some(18), &["context", "files", "story"], "t10 p40 -3");
        let all = ["context", "files", "story", "the end of the package"];
        check(Some(10), &all, "t10 p18[cut] -3");
        assert_eq!(tokens(&fit(sections(), Some(10), &Letters).text), 10);
    }

    #[test]
    fn what_is_needed_stays_even_where_it_does_not_fit() {
        let all = ["context", "files", "story", "the end of the package"];
        check(Some(1), &all, "t10 [0[cut] -3");
    }

    #[test]
    fn a_token_is_four_characters() {
        assert_eq!((tokens(""), tokens("abcd"), tokens("abcde"), tokens("üüüü")), (0, 1, 2, 1));
    }
}
