//! What was probably meant by a command that there is not.

use baton_wire::suggest::nearest;
use clap::Command;
use clap::Error;
use clap::error::{ContextKind, ContextValue, ErrorKind};

/// The error with the nearest command alone: the parser lists everything that is somehow alike, and the
/// nearest not first.
pub(crate) fn nearest_first(mut error: Error) -> Error {
    if error.kind() == ErrorKind::InvalidSubcommand {
        name_command(&mut error);
    }
    if error.kind() == ErrorKind::UnknownArgument {
        name_option(&mut error);
    }
    error
}

/// Where the word is a command of a group, that is meant; else the nearest one, if people may use it.
fn name_command(error: &mut Error) {
    let Some(ContextValue::String(word)) = error.get(ContextKind::InvalidSubcommand) else {
        return;
    };
    let root = super::root();
    let is_top = usage_of(error).contains("baton [OPTIONS] <COMMAND>");
    let groups = root.get_subcommands().filter(|it| is_top && !it.is_hide_set());
    let within = groups.flat_map(|group| {
        let verbs = group.get_subcommands().filter(|it| it.get_name() == word && !it.is_hide_set());
        verbs.map(|it| format!("{} {}", group.get_name(), it.get_name()))
    });
    let mut near: Vec<String> = within.collect();
    if near.is_empty()
        && let Some(ContextValue::Strings(alike)) = error.get(ContextKind::SuggestedSubcommand)
    {
        let is_hidden = |it: &str| root.find_subcommand(it).is_some_and(Command::is_hide_set);
        let alike: Vec<&str> =
            alike.iter().map(String::as_str).filter(|it| !(is_top && is_hidden(it))).collect();
        near.extend(nearest(word, &alike).map(str::to_owned));
    }
    error.remove(ContextKind::SuggestedSubcommand);
    if !near.is_empty() {
        error.insert(ContextKind::SuggestedSubcommand, ContextValue::Strings(near));
    }
}

/// Options of other programs, and what is typed here instead.
fn name_option(error: &mut Error) {
    let Some(ContextValue::String(option)) = error.get(ContextKind::InvalidArg) else { return };
    let usage = usage_of(error);
    let is_of = |commands: &[&str]| commands.iter().any(|it| usage.contains(it));
    let tip = match option.as_str() {
        "--file"
            if is_of(&[
                "baton done",
                "handoff complete",
                "handoff delegate",
                "handoff return",
                "baton modify",
            ]) =>
        {
            "a package in a file is given as '--payload @FILE'"
        }
        "--port" if is_of(&["baton serve", "baton demo"]) => {
            "the address is given with its port, as '--listen 127.0.0.1:PORT'"
        }
        _ => return,
    };
    error.insert(ContextKind::Suggested, ContextValue::StyledStrs(vec![tip.into()]));
}

fn usage_of(error: &Error) -> String {
    let Some(ContextValue::StyledStr(usage)) = error.get(ContextKind::Usage) else {
        return String::new();
    };
    usage.to_string()
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

    #[track_caller]
    fn check_tip(typed: &[&str], expected: &str) {
        let error = crate::args::root().try_get_matches_from(typed).unwrap_err();
        let said = nearest_first(error).to_string();
        let tip = said.lines().find(|it| it.contains("tip:")).unwrap_or_default();
        assert_eq!(tip.trim(), expected, "{said}");
    }

    #[test]
    fn a_tip_names_what_can_be_typed() {
        check_tip(&["baton", "say"], "tip: a similar subcommand exists: 'run say'");
        check_tip(&["baton", "plai"], "");
        check_tip(
            &["baton", "done", "--file", "x"],
            "tip: a package in a file is given as '--payload @FILE'",
        );
        check_tip(
            &["baton", "serve", "--port", "4999"],
            "tip: the address is given with its port, as '--listen 127.0.0.1:PORT'",
        );
    }
}
