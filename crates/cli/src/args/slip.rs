//! What was probably meant by a command that there is not.

use baton_wire::suggest::nearest;
use clap::Error;
use clap::error::{ContextKind, ContextValue};

/// The error with the nearest command alone: the parser lists everything that is somehow alike, and the
/// nearest not first.
pub(crate) fn nearest_first(mut error: Error) -> Error {
    let Some(ContextValue::String(word)) = error.get(ContextKind::InvalidSubcommand) else {
        return error;
    };
    let Some(ContextValue::Strings(alike)) = error.get(ContextKind::SuggestedSubcommand) else {
        return error;
    };
    let alike: Vec<&str> = alike.iter().map(String::as_str).collect();
    if let Some(near) = nearest(word, &alike) {
        let near = ContextValue::Strings(vec![near.to_owned()]);
        error.insert(ContextKind::SuggestedSubcommand, near);
    }
    error
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mistyped_command_is_told_the_nearest_one() {
        for (typed, meant) in [("stauts", "'status'"), ("aprove", "'approve'")] {
            let error = crate::args::root().try_get_matches_from(["baton", typed]).unwrap_err();
            let said = nearest_first(error).to_string();
            let tip = said.lines().find(|it| it.contains("tip:")).unwrap_or_default();
            assert!(tip.ends_with(meant), "{said}");
        }
    }
}
