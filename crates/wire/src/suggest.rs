//! What a person probably meant to write.

/// `did you mean ...?`, or the whole list where nothing is near.
pub fn did_you_mean(word: &str, known: &[&str]) -> String {
    match nearest(word, known) {
        Some(it) => format!("did you mean `{it}`?"),
        None => {
            let known: Vec<String> = known.iter().map(|it| format!("`{it}`")).collect();
            format!("known: {}", known.join(", "))
        }
    }
}

/// The known word that was probably meant.
pub fn nearest<'a>(word: &str, known: &[&'a str]) -> Option<&'a str> {
    // Nothing that long is a typo.
    if word.len() > 64 {
        return None;
    }
    let word = plain(word);
    let distance = |it: &&'a str| strsim::osa_distance(&word, &plain(it));
    let (distance, nearest) = known.iter().map(|it| (distance(it), *it)).min()?;
    let is_near = distance <= 1 + nearest.len() / 4 && distance < nearest.len();
    is_near.then_some(nearest)
}

/// True where one word becomes the other by at most so many slips: a letter more, less, wrong or
/// exchanged with its neighbour.
pub fn is_slip(word: &str, known: &str, most: usize) -> bool {
    // Nothing that long is compared letter by letter.
    word.len() <= 256
        && known.len() <= 256
        && strsim::osa_distance(&plain(word), &plain(known)) <= most
}

/// Ignores differences that are easily mistyped: case, and the separator between words.
fn plain(word: &str) -> String {
    word.to_lowercase().replace(['-', ' '], "_")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slip_is_understood_and_nonsense_is_not() {
        let known = ["steps", "title", "work_within", "to"];
        for (word, expected) in [
            ("stpes", "did you mean `steps`?"),
            ("Title", "did you mean `title`?"),
            ("work-within", "did you mean `work_within`?"),
            ("workWithin", "did you mean `work_within`?"),
            ("t", "did you mean `to`?"),
            ("banana", "known: `steps`, `title`, `work_within`, `to`"),
            ("", "known: `steps`, `title`, `work_within`, `to`"),
        ] {
            assert_eq!(did_you_mean(word, &known), expected, "{word}");
        }
    }
}
