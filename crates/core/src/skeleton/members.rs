//! The parts of a list or a map. A contract names them between backticks in its `about`: "each with
//! `id` and `rationale`"; some lists have parts that the linter asks for.

use super::fields::text_kind;
use super::mark::{FieldMark, TextKind, Wanted};
use crate::lint::nature::{FieldNature, PRIORITIES, words_of_member};

/// In front of the names of the parts that each item of a list has.
const EACH_WITH: &[&str] = &[", each with ", " each with ", ", with its "];

/// One item of the list at a path, counted from the fields of a document.
pub(super) fn item(nature: FieldNature, list: &str, about: &str) -> FieldMark {
    let (what, named) = split(about);
    let usual: &[&str] = match nature {
        FieldNature::Artifacts => &["path"],
        FieldNature::Questions => &["question", "priority"],
        FieldNature::Decisions => &["decision", "rationale"],
        FieldNature::Files => return FieldMark::new(Wanted::Path, about),
        FieldNature::Ranges => return FieldMark::new(Wanted::Lines, about),
        FieldNature::Summary
        | FieldNature::Context
        | FieldNature::Measured
        | FieldNature::Reason
        | FieldNature::Time
        | FieldNature::Plain => &[],
    };
    let mut names = named;
    for (index, name) in usual.iter().enumerate() {
        if !names.contains(name) {
            names.insert(index.min(names.len()), name);
        }
    }
    if names.is_empty() {
        return FieldMark::text(text_kind(nature), about);
    }
    // The list's own words stand where its items say what they are.
    let main = usual.first().filter(|it| names.contains(it)).or(names.first()).copied();
    let mark = |name: &&str| {
        let mark = member_of(list, name);
        let mark =
            if Some(*name) == main { FieldMark { about: what.clone(), ..mark } } else { mark };
        ((*name).to_owned(), mark)
    };
    FieldMark::new(Wanted::Members(names.iter().map(mark).collect()), about)
}

/// A map with the members that its contract names.
pub(super) fn map(about: &str) -> FieldMark {
    let names = names(about);
    if names.is_empty() {
        return FieldMark::new(Wanted::AnyMap, about);
    }
    let are_lists = about.contains("lists `");
    let mark = |name: &&str| {
        let mark = if are_lists {
            let about = format!("one of the `{name}`; an empty list says that there are none");
            let item = FieldMark::text(TextKind::Any, about.clone());
            FieldMark::new(Wanted::Items(1, Box::new(item)), about)
        } else {
            member(name)
        };
        ((*name).to_owned(), mark)
    };
    FieldMark::new(Wanted::Members(names.iter().map(mark).collect()), about)
}

/// A member of the items of a list: some have words of their own.
pub(super) fn member_of(list: &str, name: &str) -> FieldMark {
    let mark = member(name);
    match words_of_member(list, name) {
        Some(words) => FieldMark { wanted: Wanted::words(words), ..mark },
        None => mark,
    }
}

/// A member, by the names that are in use.
fn member(name: &str) -> FieldMark {
    let text = |about: &str| FieldMark::text(TextKind::Any, about);
    match name {
        "path" | "file" => FieldMark::new(Wanted::Path, "where it is"),
        "priority" => FieldMark::new(Wanted::words(PRIORITIES), "how urgent it is"),
        "severity" => {
            FieldMark::new(Wanted::words(&["critical", "important", "suggestion"]), "how bad it is")
        }
        "id" => text("a short name for it, such as D-1"),
        "decision" => text("what was decided"),
        "rationale" => text("why this and nothing else"),
        "question" => text("what is open"),
        "location" => text("where it is, as file and line"),
        "type" => text("what kind it is"),
        "sha" => text("the hash of the commit"),
        "description" => text("what it is"),
        "resolution" => text("what would clear it"),
        name => text(&format!("the `{name}`")),
    }
}

/// The words about a list, and the names of what each of its items has.
fn split(about: &str) -> (String, Vec<&str>) {
    let start = EACH_WITH.iter().filter_map(|it| about.find(it)).min();
    let Some(start) = start else { return (about.to_owned(), Vec::new()) };
    let end = about[start..].find(';').map_or(about.len(), |at| start + at);
    let names = names(&about[start..end]);
    if names.is_empty() {
        return (about.to_owned(), names);
    }
    (format!("{}{}", &about[..start], &about[end..]), names)
}

/// What stands between backticks, as far as it is a name.
fn names(about: &str) -> Vec<&str> {
    let is_name = |it: &&str| {
        let is_part = |it: char| it.is_ascii_alphanumeric() || matches!(it, '_' | '-');
        !it.is_empty() && it.chars().all(is_part)
    };
    let mut names = Vec::new();
    for name in about.split('`').skip(1).step_by(2).filter(is_name) {
        if !names.contains(&name) {
            names.push(name);
        }
    }
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_parts_of_an_item_are_named_in_the_words_about_the_list() {
        for (about, what, names) in [
            ("the files", "the files", &[][..]),
            ("what was read, as `path:start-end`", "what was read, as `path:start-end`", &[]),
            ("the commits, each with its `sha`", "the commits", &["sha"]),
            (
                "what was decided, each with `id`, `decision` and `rationale`",
                "what was decided",
                &["id", "decision", "rationale"],
            ),
            (
                "what is open, each with its `priority`; an empty list says that nothing is",
                "what is open; an empty list says that nothing is",
                &["priority"],
            ),
            ("the ways, each with what it costs", "the ways, each with what it costs", &[]),
        ] {
            assert_eq!(split(about), (what.to_owned(), names.to_vec()), "{about}");
        }
    }
}
