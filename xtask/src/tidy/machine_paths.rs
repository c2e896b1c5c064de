//! No file knows the machine it was written on: what works only there is broken everywhere else.

use std::path::Path;

use anyhow::Result;

use super::project::{self, File};

/// Paths that exist on one machine only. Put together from pieces, so that this file names none.
const PLACES: &[&str] = &[concat!("/wo", "rk/"), concat!("/ro", "ot/")];

pub(super) fn check() -> Result<Vec<String>> {
    let mut places: Vec<String> = PLACES.iter().map(|&it| it.to_owned()).collect();
    places.extend(std::env::home_dir().as_deref().and_then(home));
    Ok(project::kept_files()?.iter().flat_map(|it| problems(it, &places)).collect())
}

/// The home directory of the current user. One directly below the root, such as those of
/// containers, could be a word of ours as well, as in a route `/app/`.
fn home(dir: &Path) -> Option<String> {
    let dir = dir.to_str()?.trim_end_matches('/');
    (dir.matches('/').count() > 1).then(|| format!("{dir}/"))
}

fn problems(file: &File, places: &[String]) -> Vec<String> {
    let mut problems = Vec::new();
    for (number, line) in file.numbered_lines() {
        for place in places.iter().filter(|it| names_place(line, it)) {
            problems.push(format!("{}:{number}: `{place}` is a place on one machine", file.path));
        }
    }
    problems
}

/// Whether the line has the place as the beginning of a path, not as the middle of a longer one.
fn names_place(line: &str, place: &str) -> bool {
    let continues = |it: char| it.is_alphanumeric() || ".-_~*})]>".contains(it);
    line.match_indices(place).any(|(at, _)| !line[..at].ends_with(continues))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::project::file;

    #[test]
    fn no_file_knows_the_machine_it_was_written_on() {
        crate::tidy::assert_holds(check);
    }

    #[track_caller]
    fn check_line(line: &str, expected: &[&str]) {
        let places = ["/desk/".to_owned(), "/people/ada/".to_owned()];
        assert_eq!(problems(&file("a.md", line), &places), expected);
    }

    #[test]
    fn a_path_that_begins_at_such_a_place_is_a_problem() {
        check_line("see /desk/notes", &["a.md:1: `/desk/` is a place on one machine"]);
        check_line("`file:///desk/a`", &["a.md:1: `/desk/` is a place on one machine"]);
        check_line("\n\"/people/ada/b\"", &["a.md:2: `/people/ada/` is a place on one machine"]);
    }

    #[test]
    fn the_same_words_within_a_longer_path_are_not() {
        check_line("crates/desk/src ./desk/ {dir}/desk/ https://a.example/desk/ /desks/", &[]);
    }

    #[test]
    fn a_home_straight_below_the_root_is_too_short_to_look_for() {
        assert_eq!(home(Path::new("/people/ada")).as_deref(), Some("/people/ada/"));
        assert_eq!(home(Path::new("/app")), None);
        assert_eq!(home(Path::new("/")), None);
    }
}
