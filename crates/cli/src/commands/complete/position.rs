//! What stands at the end of a command line: a command, an option, or the value of an argument.

use clap::builder::ValueHint;
use clap::{Arg, Command};

use super::candidates::{OfferedWord, ValueRole};

#[derive(Debug, PartialEq, Eq)]
pub(super) enum LineEnd {
    Files,
    Words(Vec<OfferedWord>),
    /// Names of things in the project, behind a prefix such as `--workflow=`.
    Values {
        role: ValueRole,
        prefix: String,
    },
}

/// `before` begins with the program itself.
pub(super) fn position(root: &Command, before: &[String], current: &str) -> LineEnd {
    let mut root = root.clone();
    root.build();
    let mut command = &root;
    let mut n_positionals = 0;
    let mut is_only_values = false;
    let mut rest = before.iter().skip(1);
    while let Some(word) = rest.next() {
        if is_only_values {
            n_positionals += 1;
        } else if word == "--" {
            is_only_values = true;
        } else if let Some(arg) = option(command, word) {
            if takes_value(arg) && !word.contains('=') && rest.next().is_none() {
                return value_of(arg, String::new());
            }
        } else if word.starts_with('-') {
            // Not one of ours: nothing is known about what follows.
        } else if let Some(it) = command.find_subcommand(word) {
            (command, n_positionals) = (it, 0);
        } else {
            n_positionals += 1;
        }
    }
    if let Some((name, _)) = current.split_once('=')
        && let Some(arg) = option(command, name)
    {
        return value_of(arg, format!("{name}="));
    }
    if current.starts_with('-') && !is_only_values {
        return LineEnd::Words(options(command));
    }
    if command.has_subcommands() {
        return LineEnd::Words(subcommands(command));
    }
    let mut positionals = command.get_positionals();
    let last = command.get_positionals().last();
    let repeated = last.filter(|it| it.get_num_args().is_some_and(|n| n.max_values() > 1));
    match positionals.nth(n_positionals).or(repeated) {
        Some(arg) => value_of(arg, String::new()),
        None => LineEnd::Words(options(command)),
    }
}

fn option<'a>(command: &'a Command, word: &str) -> Option<&'a Arg> {
    let name = word.strip_prefix("--")?;
    let name = name.split_once('=').map_or(name, |(name, _)| name);
    command.get_arguments().find(|it| it.get_long() == Some(name))
}

fn takes_value(arg: &Arg) -> bool {
    arg.get_action().takes_values()
}

fn value_of(arg: &Arg, prefix: String) -> LineEnd {
    let values = arg.get_possible_values();
    if !values.is_empty() {
        let candidate = |it: &clap::builder::PossibleValue| OfferedWord {
            word: format!("{prefix}{}", it.get_name()),
            about: it.get_help().map(ToString::to_string).unwrap_or_default(),
        };
        return LineEnd::Words(values.iter().map(candidate).collect());
    }
    let names = arg.get_value_names().unwrap_or_default();
    let name = names.first().map_or("", |it| it.as_str());
    if let Some(role) = ValueRole::of(name) {
        return LineEnd::Values { role, prefix };
    }
    let is_path = matches!(arg.get_value_hint(), ValueHint::AnyPath | ValueHint::FilePath);
    if is_path || ["FILE", "DIR", "PATH"].contains(&name) {
        return LineEnd::Files;
    }
    LineEnd::Words(Vec::new())
}

fn subcommands(command: &Command) -> Vec<OfferedWord> {
    let shown = command.get_subcommands().filter(|it| !it.is_hide_set());
    let candidate = |it: &Command| OfferedWord {
        word: it.get_name().to_owned(),
        about: it.get_about().map(ToString::to_string).unwrap_or_default(),
    };
    shown.map(candidate).collect()
}

fn options(command: &Command) -> Vec<OfferedWord> {
    let shown = command.get_arguments().filter(|it| !it.is_hide_set());
    let candidate = |it: &Arg| {
        let word = format!("--{}", it.get_long()?);
        Some(OfferedWord {
            word,
            about: it.get_help().map(ToString::to_string).unwrap_or_default(),
        })
    };
    shown.filter_map(candidate).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::args;

    fn at(line: &str) -> LineEnd {
        let words = super::super::words::typed(line);
        let (current, before) = words.split_last().unwrap();
        position(&args::root(), before, current)
    }

    #[track_caller]
    fn check_role(line: &str, role: ValueRole, prefix: &str) {
        assert_eq!(at(line), LineEnd::Values { role, prefix: prefix.to_owned() }, "{line}");
    }

    #[track_caller]
    fn words(line: &str) -> Vec<String> {
        let LineEnd::Words(words) = at(line) else { panic!("{line} is not followed by words") };
        words.into_iter().map(|it| it.word).collect()
    }

    #[test]
    fn the_value_that_is_asked_for_is_known() {
        check_role("baton run start ", ValueRole::Story, "");
        check_role("baton run start shop:12 --workflow ", ValueRole::Workflow, "");
        check_role("baton run start --workflow=st", ValueRole::Workflow, "--workflow=");
        check_role("baton --json run show ", ValueRole::Run, "");
        check_role("baton --project /x run goto 3 im", ValueRole::Step, "");
        check_role("baton handoff create --from ", ValueRole::Agent, "");
        check_role("baton ho complete 7 --to ", ValueRole::Agent, "");
        check_role("baton handoff show ", ValueRole::Handoff, "");
        check_role("baton approve ", ValueRole::Handoff, "");
        check_role("baton take ", ValueRole::Story, "");
        check_role("baton workflow check ", ValueRole::Workflow, "");
        check_role("baton agent show ", ValueRole::Agent, "");
        check_role("baton explain ", ValueRole::Code, "");
        check_role("baton story edit shop:1 --depends-on ", ValueRole::Story, "");
    }

    #[test]
    fn commands_options_and_their_values_are_offered() {
        assert!(words("baton ").contains(&"status".to_owned()));
        assert!(!words("baton ").contains(&"__complete".to_owned()));
        assert!(words("baton handoff ").contains(&"accept".to_owned()));
        assert!(words("baton run start --").contains(&"--workflow".to_owned()));
        assert!(!words("baton completions --").contains(&"--server".to_owned()));
        assert_eq!(words("baton lint x --from "), ["json", "xml", "yaml", "markdown"]);
        assert!(words("baton handoff create --profile=").contains(&"--profile=strict".to_owned()));
        assert_eq!(words("baton story add "), [""; 0]);
        assert_eq!(at("baton convert "), LineEnd::Files);
        assert_eq!(at("baton lint a.json b"), LineEnd::Files);
        assert_eq!(at("baton --project "), LineEnd::Files);
        assert_eq!(words("baton nonsense --what "), words("baton "));
    }
}
