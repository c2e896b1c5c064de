//! Texts that begin with a dash, such as a Markdown list or `--total is missing`: the parser takes every argument with a
//! dash for an option.

use std::ffi::{OsStr, OsString};

/// The same arguments, with such a text attached to the option before it: `--reason=- the test fails`. A text is told from an
/// option by its blank, which no name of an option has.
pub(crate) fn with_dashed_texts(args: impl Iterator<Item = OsString>) -> Vec<OsString> {
    let mut joined: Vec<OsString> = Vec::new();
    let mut is_text_only = false;
    for arg in args {
        match joined.last_mut() {
            Some(option) if !is_text_only && is_dashed_text(&arg) && takes_value(option) => {
                option.push("=");
                option.push(arg);
            }
            Some(_) | None => {
                is_text_only |= arg == "--";
                joined.push(arg);
            }
        }
    }
    joined
}

fn is_dashed_text(arg: &OsStr) -> bool {
    let Some(arg) = arg.to_str() else { return false };
    let name = arg.split_once('=').map_or(arg, |(name, _)| name);
    arg.starts_with('-') && name.contains(char::is_whitespace)
}

/// Whether a value may follow: `--reason`, and not `--reason=TEXT`.
fn takes_value(option: &OsStr) -> bool {
    let option = option.to_str().unwrap_or_default();
    option.len() > 2 && option.starts_with("--") && !option.contains('=')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(typed: &[&str], expected: &[&str]) {
        let joined = with_dashed_texts(typed.iter().map(OsString::from));
        assert_eq!(joined, expected.iter().map(OsString::from).collect::<Vec<_>>());
    }

    #[test]
    fn a_text_that_begins_with_a_dash_belongs_to_the_option_before_it() {
        let list = "- one\n- two";
        check(&["reject", "1", "--reason", list], &["reject", "1", &format!("--reason={list}")]);
        check(&["--acceptance", "--total N = 3 holds"], &["--acceptance=--total N = 3 holds"]);
    }

    #[test]
    fn options_stay_options() {
        for typed in [
            &["--reason", "--dry-run"][..],
            &["--json", "--title=a b"],
            &["--title=a", "- b"],
            &["--", "--x", "- b"],
            &["-p", "- b"],
            &["--payload", "-"],
        ] {
            check(typed, typed);
        }
    }
}
