//! Commands in messages, ready to paste: with the `--project`, `--data` and `--database-url` that were
//! typed this time, and, where they answer something, with `--as`.

use std::path::Path;
use std::sync::OnceLock;

use baton_core::shell::shell_word;

use crate::args::{Cli, TypedDatabase};

static TYPED: OnceLock<TypedPlace> = OnceLock::new();

#[derive(Debug, Default)]
struct TypedPlace {
    /// Each with its value, quoted for the shell.
    options: Vec<(&'static str, String)>,
    /// The caller, likewise.
    caller: Option<String>,
}

/// Stores the typed options, for all messages that follow.
pub(crate) fn remember_place(cli: &Cli) {
    let database = cli.database_url.as_ref().map(TypedDatabase::pasted);
    // There is one command line per process.
    let place = TypedPlace::of(cli.project.as_deref(), cli.data.as_deref(), database.as_deref());
    let caller = cli.principal.as_deref().map(|it| format!(" --as {}", shell_word(it)));
    let _ = TYPED.set(TypedPlace { caller, ..place });
}

/// The command that answers something, as the caller has to type it.
pub(crate) fn as_caller(command: &str) -> String {
    TYPED.get().map_or_else(|| command.to_owned(), |it| it.with_caller(command))
}

/// A message with the options added to every `` `baton ...` `` command in it.
pub(crate) fn pasted(text: &str) -> String {
    TYPED.get().map_or_else(|| text.to_owned(), |it| it.put_into(text))
}

impl TypedPlace {
    fn of(project: Option<&Path>, data: Option<&Path>, database: Option<&str>) -> Self {
        let typed =
            [("--project", project), ("--data", data), ("--database-url", database.map(Path::new))];
        let option = |(name, path): (&'static str, Option<&Path>)| {
            Some((name, format!(" {name} {}", shell_word(&path?.to_string_lossy()))))
        };
        Self { options: typed.into_iter().filter_map(option).collect(), caller: None }
    }

    fn with_place(&self, command: &str) -> String {
        let is_new = |(name, _): &&(&str, String)| !command.split(' ').any(|it| it == *name);
        let options = self.options.iter().filter(is_new).map(|(_, option)| option.as_str());
        std::iter::once(command).chain(options).collect()
    }

    fn with_caller(&self, command: &str) -> String {
        let is_named = command.split(' ').any(|it| it == "--as");
        let caller = self.caller.as_deref().filter(|_| !is_named).unwrap_or_default();
        format!("{}{caller}", self.with_place(command))
    }

    fn put_into(&self, text: &str) -> String {
        let mut pasted = String::with_capacity(text.len());
        let mut rest = text;
        while let Some(at) = rest.find("`baton ") {
            let (before, command) = rest.split_at(at);
            let Some(end) = command[1..].find('`') else { break };
            let (command, after) = command.split_at(end + 1);
            pasted.push_str(before);
            pasted.push_str(&self.with_place(command));
            pasted.push('`');
            rest = after.get(1..).unwrap_or_default();
        }
        pasted + rest
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_command_has_what_was_typed() {
        let none = TypedPlace::default();
        let data = TypedPlace::of(None, Some(Path::new("/srv/my data")), None);
        let both = TypedPlace::of(Some(Path::new("shop")), Some(Path::new("d")), None);
        for (place, text, expected) in [
            (&none, "type `baton recover`", "type `baton recover`"),
            (&data, "type `baton recover`", "type `baton recover --data '/srv/my data'`"),
            (
                &both,
                "type `baton recover`, or `baton restore FILE`.",
                "type `baton recover --project shop --data d`, or `baton restore FILE --project shop --data d`.",
            ),
            (
                &both,
                "`baton init --project /x` makes it one",
                "`baton init --project /x --data d` makes it one",
            ),
            (&both, "`/d/baton.db` is missing", "`/d/baton.db` is missing"),
            (&both, "a `baton that never ends", "a `baton that never ends"),
            (&both, "", ""),
        ] {
            assert_eq!(place.put_into(text), expected);
        }
    }

    #[test]
    fn an_answer_is_typed_by_the_caller_who_asked_what_there_is() {
        let ana = TypedPlace { caller: Some(" --as ana".to_owned()), ..TypedPlace::default() };
        assert_eq!(ana.with_caller("baton approve 1/HO-002"), "baton approve 1/HO-002 --as ana");
        assert_eq!(ana.with_caller("baton approve 1 --as ben"), "baton approve 1 --as ben");
        assert_eq!(TypedPlace::default().with_caller("baton approve 1"), "baton approve 1");
    }
}
