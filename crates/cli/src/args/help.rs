//! What `--help` adds to the texts beside the arguments: groups of commands, examples, and which global
//! options mean something where.

mod examples;

use anstyle::Style;
use clap::{Command, CommandFactory as _};

use self::examples::EXAMPLES;
use super::Cli;

/// Every command that is shown, under the heading where a reader looks for it.
const GROUPS: &[(&str, &[&str])] = &[
    ("Start here", &["demo", "do", "init", "status", "open"]),
    ("The work", &["story", "run", "workflow", "agent", "decision", "context"]),
    ("Handing off", &["take", "done", "handoff", "prompt", "evidence", "question"]),
    ("People", &["inbox", "approve", "delegate", "reject", "modify", "answer"]),
    ("Files", &["lint", "extract", "convert", "schema"]),
    (
        "Data",
        &[
            "doctor", "insights", "verify", "audit", "backup", "restore", "recover", "migrate",
            "archive",
        ],
    ),
    ("Server", &["serve", "watch", "push"]),
    ("Running agents", &["runner", "trust", "workspace"]),
    ("More", &["explain", "completions", "help"]),
];

/// The global options that a command has no use for: it takes them, and does not show them.
const MEANINGLESS: &[(&[&str], &[&str])] = &[
    (
        &["convert", "schema", "explain", "completions"],
        &["project", "data", "database_url", "server", "principal", "json"],
    ),
    (&["extract"], &["project", "data", "database_url", "server", "principal"]),
    (&["lint", "workflow", "agent"], &["data", "database_url", "server", "principal"]),
    (&["migrate"], &["project", "data", "database_url", "server", "principal"]),
    (&["push"], &["server", "principal"]),
    (&["init", "demo", "do", "serve", "restore", "recover"], &["server", "principal"]),
    (&["doctor", "verify", "backup", "trust"], &["server", "principal"]),
    (&["runner", "workspace"], &["principal"]),
];

const HELP_ABOUT: &str = "Print help for a command";

const NEXT: &str = "`baton COMMAND --help` says more about a command, with examples.";

const LONG: &str = "\
Handoffs can be named by number (12), by label within a run (3/HO-002), by id, by the id that their
sender gave them, or by story for the one that is open there (shop:12).

Environment:
  BATON_URL            the server to ask, as `--server` has it
  BATON_DATABASE_URL   the PostgreSQL database with the data, as `--database-url` has it
  NO_COLOR             no colours
  TZ                   the time zone in which times are shown

Exit codes:
  0  done                                 3  what was named does not exist
  1  refused by a rule, or found broken   4  another state than the command needs
  2  not a command that Baton knows       5  the data or the server cannot be reached";

/// The command line with everything that its help shows.
pub(crate) fn root() -> Command {
    let command = Cli::command();
    let template = format!(
        "{{about-with-newline}}\n{{usage-heading}} baton <COMMAND> [OPTIONS]\n\n{}\n{}\n{{options}}{{after-help}}",
        groups(&command),
        heading(super::GLOBAL)
    );
    let globals: Vec<clap::Arg> =
        command.get_arguments().filter(|it| it.is_global_set()).cloned().collect();
    command
        .after_help(NEXT)
        .after_long_help(format!("{LONG}\n\n{NEXT}"))
        .help_template(template)
        .mut_subcommands(|it| {
            let meaningless =
                MEANINGLESS.iter().filter(|(names, _)| names.contains(&it.get_name()));
            let ids: Vec<&str> = meaningless.flat_map(|(_, ids)| ids.iter().copied()).collect();
            let hidden = globals.iter().filter(|arg| ids.contains(&arg.get_id().as_str()));
            let it = it.args(hidden.map(|arg| arg.clone().hide(true)));
            with_examples(it, "")
        })
}

/// What `baton` says when nothing is asked of it.
pub(crate) fn greeting() -> String {
    let command = Cli::command();
    let about = command.get_about().map(ToString::to_string).unwrap_or_default();
    let begin = [
        ("baton demo --once", "watch agents do real work"),
        ("baton init", "make this folder a project"),
        ("baton story add KEY --title \"...\"", "add a piece of work"),
        ("baton run start", "hand it to the first agent"),
        ("baton status", "see who has the baton"),
    ];
    let begin = begin.map(|(line, about)| format!("  {line:<36}{about}\n")).concat();
    format!("{about}\n\n{}\n{begin}\n{}\n{NEXT}", heading("To begin"), groups(&command))
}

fn with_examples(command: Command, above: &str) -> Command {
    let path = format!("{above} {}", command.get_name()).trim_start().to_owned();
    let examples = EXAMPLES.iter().find(|(it, _)| *it == path);
    let command = match examples {
        Some((_, lines)) => {
            command.after_long_help(format!("{}\n{}", heading("Examples"), indented(lines)))
        }
        None => command,
    };
    command.mut_subcommands(|it| with_examples(it, &path))
}

fn indented(lines: &[&str]) -> String {
    lines.iter().map(|it| format!("  {it}")).collect::<Vec<_>>().join("\n")
}

fn groups(command: &Command) -> String {
    let mut page = String::new();
    for (title, names) in GROUPS {
        page += &format!("{}\n", heading(title));
        for name in *names {
            let about = command.find_subcommand(name).and_then(Command::get_about);
            let about = about.map_or_else(|| HELP_ABOUT.to_owned(), ToString::to_string);
            page += &format!("  {name:<12} {about}\n");
        }
        page.push('\n');
    }
    page.trim_end().to_owned() + "\n"
}

fn heading(title: &str) -> String {
    let style = Style::new().bold().underline();
    format!("{style}{title}:{style:#}")
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    /// Each command below this one with its path, as it is once the globals have been handed down.
    fn each(command: &Command, path: &str, look: &mut dyn FnMut(&Command, &str)) {
        for it in command.get_subcommands().filter(|it| !it.is_hide_set()) {
            if it.get_name() == "help" {
                continue;
            }
            let path = format!("{path} {}", it.get_name());
            look(it, path.trim());
            each(it, &path, look);
        }
    }

    fn built() -> Command {
        let mut command = root();
        command.build();
        command
    }

    #[test]
    fn every_command_is_in_one_group() {
        let command = built();
        let shown: BTreeSet<&str> = (command.get_subcommands())
            .filter(|it| !it.is_hide_set())
            .map(Command::get_name)
            .collect();
        let grouped: Vec<&str> = GROUPS.iter().flat_map(|(_, it)| it.iter().copied()).collect();
        assert_eq!(grouped.len(), shown.len(), "none twice");
        assert_eq!(grouped.into_iter().collect::<BTreeSet<_>>(), shown);
    }

    #[test]
    fn everything_that_can_be_typed_has_a_text() {
        each(&built(), "", &mut |command, path| {
            assert!(command.get_about().is_some_and(|it| !it.to_string().is_empty()), "{path}");
            for arg in command.get_arguments() {
                let text = arg.get_help().map(ToString::to_string).unwrap_or_default();
                assert!(text.len() > 2 && !text.starts_with('['), "{path}: {}", arg.get_id());
            }
        });
    }

    #[test]
    fn a_short_description_fits_its_line() {
        for line in groups(&Cli::command()).lines() {
            assert!(anstream::adapter::strip_str(line).to_string().chars().count() <= 80, "{line}");
        }
    }

    #[test]
    fn every_example_is_a_command_that_baton_takes() {
        let mut with_examples = BTreeSet::new();
        each(&built(), "", &mut |command, path| {
            if EXAMPLES.iter().any(|(it, _)| *it == path) {
                assert!(command.get_after_long_help().is_some(), "{path}");
                with_examples.insert(path.to_owned());
            }
        });
        assert_eq!(with_examples.len(), EXAMPLES.len(), "each is of a command");
        for (path, lines) in EXAMPLES {
            for line in *lines {
                let line = line.split(" | ").last().unwrap();
                let line = line.split(" > ").next().unwrap();
                let line = line.split("  # ").next().unwrap().trim();
                let words = crate::commands::shell_words(line);
                let parsed = root().try_get_matches_from(&words);
                assert!(parsed.is_ok(), "{path}: {line}: {parsed:?}");
                assert!(line.starts_with("baton "), "{path}: {line}");
            }
        }
    }

    #[test]
    fn a_global_option_stands_under_its_own_heading_or_not_at_all() {
        let globals = ["project", "data", "database_url", "server", "principal", "json"];
        let mut n_hidden = 0;
        each(&built(), "", &mut |command, path| {
            for arg in command.get_arguments() {
                let is_global = globals.contains(&arg.get_id().as_str());
                let is_under = arg.get_help_heading() == Some(super::super::GLOBAL);
                assert_eq!(is_global, is_under, "{path}: {}", arg.get_id());
                n_hidden += usize::from(is_global && arg.is_hide_set());
            }
        });
        assert!(n_hidden > 30, "{n_hidden}");
    }
}
