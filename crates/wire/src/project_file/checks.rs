//! `[checks.NAME]` of a `baton.toml`: the commands with which the project builds and tests itself.
//! They are read and shown; nothing here runs them.

use baton_core::names::CheckName;
use jiff::SignedDuration;

use crate::fields::{FieldAt, Fields};
use crate::file_problem::Problems;

pub(crate) const CHECK_KEYS: &[&str] = &["run", "timeout"];

/// More checks, or words of a command, than a project has.
const MOST_CHECKS: usize = 50;
const MOST_WORDS: usize = 50;

const COMMAND: &str =
    "write the program and its arguments as a list, such as `[\"cargo\", \"test\"]`";

/// How long a check may take where the file says nothing else.
pub const DEFAULT_TIMEOUT: SignedDuration = SignedDuration::from_mins(10);

/// A command that checks the work: it passes where it exits with 0.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProjectCheck {
    pub name: CheckName,
    /// The program and its arguments, without a shell. Never empty.
    pub run: Vec<String>,
    pub timeout: SignedDuration,
}

pub(super) fn checks(field: &FieldAt<'_>, problems: &mut Problems) -> Vec<ProjectCheck> {
    let entries = field.entries(problems);
    if entries.len() > MOST_CHECKS {
        let message = format!("has {} checks; a project has at most {MOST_CHECKS}", entries.len());
        field.problem("too_many", message, problems);
        return Vec::new();
    }
    let checks = entries.iter().filter_map(|(member, field)| {
        let name = match CheckName::parse(&member.key) {
            Ok(name) => Some(name),
            Err(error) => {
                field.problem("bad_name", error.to_string(), problems);
                None
            }
        };
        let fields = Fields::open(field, CHECK_KEYS, problems)?;
        let run = fields.required("run", problems).and_then(|it| command(&it, problems));
        let timeout = match fields.get("timeout") {
            Some(it) => it.duration(problems),
            None => Some(DEFAULT_TIMEOUT),
        };
        Some(ProjectCheck { name: name?, run: run?, timeout: timeout? })
    });
    checks.collect()
}

/// The words of a command. They are shown in prompts, so each is one line.
fn command(field: &FieldAt<'_>, problems: &mut Problems) -> Option<Vec<String>> {
    if !field.is_list() {
        field.problem("wrong_type", COMMAND, problems);
        return None;
    }
    let words = field.items();
    if words.is_empty() || words.len() > MOST_WORDS {
        let message = format!("has {} words of at most {MOST_WORDS}: {COMMAND}", words.len());
        field.problem("bad_command", message, problems);
        return None;
    }
    words.iter().map(|it| it.line(problems)).collect()
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::*;
    use crate::project_file::parse;

    #[test]
    fn checks_are_read_with_their_commands_and_timeouts() {
        let text = "[checks.tests]\nrun = [\"cargo\", \"test\"]\ntimeout = \"90s\"\n[checks.lint]\nrun = [\"./lint.sh\"]\n";
        let check = |name: &str, run: &[&str], timeout| ProjectCheck {
            name: CheckName::parse(name).unwrap(),
            run: run.iter().map(|it| (*it).to_owned()).collect(),
            timeout,
        };
        assert_eq!(
            parse(text).unwrap().checks,
            [
                check("tests", &["cargo", "test"], SignedDuration::from_secs(90)),
                check("lint", &["./lint.sh"], DEFAULT_TIMEOUT),
            ]
        );
        assert_eq!(parse("[checks]\n").unwrap().checks, []);
    }

    #[test]
    fn what_is_no_check_is_told_with_its_place() {
        let text = "[checks.\"My Tests\"]\nrun = []\n[checks.lint]\ntimeout = \"soon\"\n[checks.types]\nrun = \"mypy\"\ncmd = 1\n";
        let lines: Vec<String> = parse(text).unwrap_err().iter().map(ToString::to_string).collect();
        expect![[r#"
            line 1, column 1: checks.My Tests: `My Tests` is not the name of a check: use 1 to 64 lower-case letters and digits, joined by `-` [bad_name]
            line 2, column 7: checks.My Tests.run: has 0 words of at most 50: write the program and its arguments as a list, such as `["cargo", "test"]` [bad_command]
            line 3, column 1: checks.lint.run: is missing [missing]
            line 4, column 11: checks.lint.timeout: must be a time span of at most a year, such as `30m`, `2h` or `90s` [wrong_duration]
            line 6, column 7: checks.types.run: write the program and its arguments as a list, such as `["cargo", "test"]` [wrong_type]
            line 7, column 1: checks.types.cmd: is not a key here; known: `run`, `timeout` [unknown_key]"#]].assert_eq(&lines.join("\n"));
    }
}
