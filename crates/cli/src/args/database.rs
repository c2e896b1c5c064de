//! `--database-url`: a password in it is in no message of the argument parser, and not for long in the
//! list of processes.

use std::ffi::OsString;
use std::fmt;
use std::path::Path;

use baton_wire::database_url::DatabaseUrl;

use crate::failure::Failure;

/// The variable that names the database of a project.
pub(crate) const VARIABLE: &str = "BATON_DATABASE_URL";

/// The value of the option that stands for [`VARIABLE`].
pub(crate) const OF_ENVIRONMENT: &str = "env";

/// An address as it was typed, whatever it is: the parser repeats values that it refuses.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct TypedDatabase(String);

impl TypedDatabase {
    pub(crate) fn new(text: &str) -> Self {
        Self(text.to_owned())
    }

    pub(crate) fn url(&self) -> Result<DatabaseUrl, Failure> {
        if self.0 == OF_ENVIRONMENT {
            return url_in_environment()?.ok_or_else(|| {
                Failure::Usage(format!("`--database-url {OF_ENVIRONMENT}` needs {VARIABLE}"))
            });
        }
        DatabaseUrl::parse(&self.0)
            .map_err(|error| Failure::Usage(format!("`--database-url`: {error}")))
    }

    /// The folder, where this is no address: for options that take either.
    pub(crate) fn folder(&self) -> Option<&Path> {
        let is_address = self.0 == OF_ENVIRONMENT || self.0.contains("://");
        (!is_address).then(|| Path::new(&self.0))
    }

    /// For commands in messages.
    pub(crate) fn pasted(&self) -> String {
        match DatabaseUrl::parse(&self.0) {
            Ok(url) if !url.has_password() => self.0.clone(),
            Ok(_) | Err(_) => OF_ENVIRONMENT.to_owned(),
        }
    }
}

impl fmt::Debug for TypedDatabase {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("TypedDatabase(..)")
    }
}

/// The database that the environment names.
#[expect(clippy::disallowed_methods, reason = "where the database is may be in the environment")]
pub(crate) fn url_in_environment() -> Result<Option<DatabaseUrl>, Failure> {
    let given = std::env::var(VARIABLE).ok().filter(|it| !it.trim().is_empty());
    let url = given.map(|it| DatabaseUrl::parse(&it)).transpose();
    url.map_err(|error| Failure::Usage(format!("{VARIABLE}: {error}")))
}

/// The same arguments with the typed address in the environment: every user of a machine can read the
/// arguments of a process, and only its owner the environment. `None` where there is no password.
pub(crate) fn moved_to_environment(
    args: &[OsString],
    typed: &[(&str, &TypedDatabase)],
) -> Option<(Vec<OsString>, String)> {
    let has_password = |text: &str| DatabaseUrl::parse(text).is_ok_and(|it| it.has_password());
    let (option, TypedDatabase(text)) = typed.iter().find(|(_, it)| has_password(&it.0))?;
    let mut moved = args.to_vec();
    let joined = OsString::from(format!("{option}={text}"));
    for at in 0..args.len() {
        let is_value = at > 0 && args[at - 1] == **option && args[at].to_str() == Some(text);
        if is_value {
            moved[at] = OF_ENVIRONMENT.into();
        } else if args[at] == joined {
            moved[at] = format!("{option}={OF_ENVIRONMENT}").into();
        }
    }
    (moved != args).then(|| (moved, text.clone()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_typed_password_leaves_the_arguments() {
        let secret = "postgres://ada:geheim@h/db";
        let typed = TypedDatabase::new(secret);
        assert!(!format!("{typed:?}").contains("geheim"));
        let args = |text: &str| text.split(' ').map(OsString::from).collect::<Vec<_>>();
        for (line, expected) in [
            ("--database-url postgres://ada:geheim@h/db status", "--database-url env status"),
            ("status --database-url=postgres://ada:geheim@h/db", "status --database-url=env"),
        ] {
            let moved = moved_to_environment(&args(line), &[("--database-url", &typed)]);
            assert_eq!(moved, Some((args(expected), secret.to_owned())));
        }
        let plain = TypedDatabase::new("postgres://ada@h/db");
        let line = args("--database-url postgres://ada@h/db status");
        assert_eq!(moved_to_environment(&line, &[("--database-url", &plain)]), None);
        assert_eq!(moved_to_environment(&line, &[]), None);
    }
}
